//! The names that a user may write, and those that DataFusion's library had and this one refuses.

use plan::Function;

/// Names beside those of [`Function::name`].
const ALIASES: &[(&str, Function)] = &[
    ("array_distinct", Function::ListDistinct),
    ("ceiling", Function::Ceil),
    ("char_length", Function::CharacterLength),
    ("current_time", Function::LocalTime),
    ("current_timestamp", Function::Now),
    ("datepart", Function::DatePart),
    ("datetrunc", Function::DateTrunc),
    ("gen_random_uuid", Function::Uuid),
    ("ifnull", Function::Nvl),
    ("instr", Function::Strpos),
    ("list_append", Function::ArrayAppend),
    ("list_cat", Function::ArrayCat),
    ("list_concat", Function::ArrayCat),
    ("list_position", Function::ArrayPosition),
    ("list_prepend", Function::ArrayPrepend),
    ("list_reverse", Function::ArrayReverse),
    ("list_sort", Function::ArraySort),
    ("length", Function::CharacterLength),
    ("position", Function::Strpos),
    ("pow", Function::Power),
    ("rand", Function::Random),
    ("signum", Function::Sign),
    ("statement_timestamp", Function::Now),
    ("substr", Function::Substring),
    ("substr_index", Function::SubstringIndex),
    ("today", Function::CurrentDate),
    ("transaction_timestamp", Function::Now),
    ("trim", Function::Btrim),
    ("uuidv4", Function::Uuid),
];

/// Functions that only operators and the binder call.
const UNNAMED: &[Function] = &[
    Function::AddInterval,
    Function::AddIntervals,
    Function::AddToTime,
    Function::ArrayAny,
    Function::ArrayContains,
    Function::ArrayFit,
    Function::ArrayIntervalKeys,
    Function::ArrayItem,
    Function::ArrayOf,
    Function::ArrayOverlap,
    Function::ArraySetItem,
    Function::ArraySlice,
    Function::ArrayStack,
    Function::BitwiseAnd,
    Function::BitwiseNot,
    Function::BitwiseOr,
    Function::BitwiseXor,
    Function::CheckedRows,
    Function::ConcatOperator,
    Function::DivideInterval,
    Function::FitInterval,
    Function::IntervalDays,
    Function::IntervalKey,
    Function::IntervalMicros,
    Function::IntervalMonths,
    Function::IntervalOfParts,
    Function::IsJson,
    Function::JsonArrayLength,
    Function::JsonBuildArray,
    Function::JsonBuildObject,
    Function::JsonConcat,
    Function::JsonContains,
    Function::JsonDelete,
    Function::JsonDeleteKey,
    Function::JsonDeletePath,
    Function::JsonElements,
    Function::JsonElementsText,
    Function::JsonGet,
    Function::JsonGetText,
    Function::JsonHasAllKeys,
    Function::JsonHasAnyKey,
    Function::JsonHasKey,
    Function::JsonInsert,
    Function::JsonKey,
    Function::JsonKeys,
    Function::JsonMember,
    Function::JsonObject,
    Function::JsonOfArray,
    Function::JsonOfMembers,
    Function::JsonOfText,
    Function::JsonPath,
    Function::JsonPathText,
    Function::JsonPretty,
    Function::JsonSet,
    Function::JsonStripNulls,
    Function::JsonTypeof,
    Function::JsonValues,
    Function::JsonValuesText,
    Function::Like,
    Function::Md5OfBytes,
    Function::MomentsBetween,
    Function::MultiplyInterval,
    Function::NegateInterval,
    Function::RaiseCardinality,
    Function::SeriesLength,
    Function::SeriesMoment,
    Function::SeriesMoments,
    Function::ShiftLeft,
    Function::ShiftRight,
    Function::SimilarParts,
    Function::ToCharInZone,
    Function::ToCharInterval,
    Function::ToCharNumber,
];

/// Names that DataFusion's library has and that are refused, with the reason (the table in the head of the crate).
pub const REFUSED: &[(&str, &str)] = &[
    ("arrow_field", "its result is a struct"),
    ("file_row_index", "no file lies behind a row"),
    ("get_field", "its argument is a struct"),
    ("input_file_name", "no file lies behind a row"),
    ("named_struct", "its result is a struct"),
    ("row", "its result is a struct"),
    ("struct", "its result is a struct"),
    ("to_time", "a cast to TIME reads texts"),
    ("union_extract", "its argument is a union"),
    ("union_tag", "its argument is a union"),
];

/// The function of a name in lower case, aliases included.
pub fn lookup(name: &str) -> Option<Function> {
    if let Some(function) = Function::from_name(name) {
        return (!UNNAMED.contains(&function)).then_some(function);
    }
    ALIASES.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// All names that [`lookup`] knows, for suggestions.
pub fn names() -> impl Iterator<Item = &'static str> {
    let named = Function::ALL.iter().filter(|it| !UNNAMED.contains(it));
    named.map(|it| it.name()).chain(ALIASES.iter().map(|it| it.0))
}

/// Why a name of DataFusion's library is refused.
pub fn refusal(name: &str) -> Option<&'static str> {
    REFUSED.iter().find(|it| it.0 == name).map(|it| it.1)
}
