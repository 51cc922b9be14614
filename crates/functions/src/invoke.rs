//! From a function to its kernel.

use arrow_array::{Array, ArrayRef, StringArray, new_null_array};
use arrow_schema::DataType as ArrowType;
use plan::Function;
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::call::{Call, arrow_type};
use crate::{
    array, bit_strings, bits, bucket, bytes, cast, choice, duckdb, exact, field, float, from_text,
    interval, json, jsonpath, like, moment, networks, number, random, ranges, regexp, rows, series,
    strftime, structs, text, time_tz, to_char, to_char_interval, to_char_number, to_number, uuid,
    zone,
};

/// Calls a function on arrays of `rows` rows each, of the types that its signature named; the result has `rows` rows of
/// the Arrow form of `result`. Errors are those of SQL: 22003, 22012, 2201E, 22023, 54000 and so on.
pub fn invoke(
    function: Function,
    arguments: &[ArrayRef],
    rows: usize,
    result: DataType,
) -> SqlResult<ArrayRef> {
    let bare_null = arguments.iter().any(|it| it.data_type() == &ArrowType::Null);
    if bare_null && is_strict(function) {
        return Ok(new_null_array(&arrow_type(result), rows));
    }
    kernel(&Call::new(function, arguments, rows, result))
}

/// Whether a NULL argument makes the result NULL, whatever the others are.
fn is_strict(function: Function) -> bool {
    use Function as F;
    !matches!(
        function,
        F::Concat
            | F::ConcatWs
            | F::Format
            | F::QuoteNullable
            | F::Coalesce
            | F::Greatest
            | F::Least
            | F::Nullif
            | F::Nvl
            | F::Nvl2
            | F::ArrowTypeof
            | F::WithMetadata
            | F::StructOf
    ) && !array::takes_null(function)
        && !json::takes_null(function)
        && !structs::map_takes_null(function)
        && !ranges::takes_null(function)
}

fn kernel(call: &Call<'_>) -> SqlResult<ArrayRef> {
    use Function as F;
    if array::is_of_arrays(call.function) {
        return array::kernel(call);
    }
    if structs::is_of_structs(call.function) {
        return structs::kernel(call);
    }
    if structs::is_of_maps(call.function) {
        return structs::map_kernel(call);
    }
    if let Some(made) = json::kernel(call) {
        return made;
    }
    if let Some(made) = jsonpath::kernel(call) {
        return made;
    }
    if let Some(made) = number::kernel(call) {
        return made;
    }
    match call.function {
        it if float::is_unary(it) => float::unary(call),
        F::Log if call.count() == 1 => float::unary(call),
        F::Atan2 | F::Atan2d | F::Log | F::Nanvl | F::Power => float::binary(call),
        F::Float4Send | F::Float8Send => float::sent(call),
        F::IsNan => float::is_nan(call),
        F::Pi => float::pi(call),
        F::Abs | F::Ceil | F::Floor | F::Round | F::Sign | F::Trunc => exact::rounding(call),
        F::Div | F::Gcd | F::Lcm | F::Mod => exact::division(call),
        F::BitwiseAnd
        | F::BitwiseNot
        | F::BitwiseOr
        | F::BitwiseXor
        | F::ShiftLeft
        | F::ShiftRight => exact::bits(call),
        F::Factorial => exact::factorial(call),
        F::IsZero => exact::is_zero(call),
        F::Random => random::random(call),
        F::RandomNormal => random::normal(call),
        F::Uuid => random::uuid(call),
        F::UuidV7 => uuid::of_moment(call),
        it if it.is_of_sequences() => Err(call.broken("no sequences")),
        F::Coalesce | F::Greatest | F::Least | F::Nullif | F::Nvl | F::Nvl2 => choice::choose(call),
        F::ArrowCast | F::ArrowTryCast | F::CastToType | F::TryCastToType | F::InputError => {
            Err(call.broken("a conversion in its place"))
        }
        F::ArrowMetadata => Ok(new_null_array(&ArrowType::Utf8, call.rows)),
        F::ArrowTypeof => cast::type_of(call),
        F::WithMetadata => call.argument(0).map(Arc::clone),
        F::Version => call.map_texts(|_, out| out.push(VERSION)),
        F::UnicodeVersion => {
            let (major, minor, _) = char::UNICODE_VERSION;
            call.map_texts(|_, out| out.push(&format!("{major}.{minor}")))
        }
        F::RaiseCardinality => more_than_one_row(call),
        F::RaiseDomain => no_value_of_domain(call),
        F::RaiseRow => no_row(call),
        F::RaiseUnknown => nothing_named(call),
        _ => pattern_or_bytes(call),
    }
}

/// What is called where a subquery has more rows than one, on those alone.
fn more_than_one_row(call: &Call<'_>) -> SqlResult<ArrayRef> {
    match call.rows {
        0 => Ok(new_null_array(&arrow_type(call.result), 0)),
        _ => Err(SqlError::new(
            SqlState::CARDINALITY_VIOLATION,
            "more than one row returned by a subquery used as an expression",
        )),
    }
}

/// The error of values that a domain does not have.
fn no_value_of_domain(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (domains, constraints) = (call.texts(0)?, call.texts(1)?);
    if call.rows == 0 {
        return Ok(new_null_array(&arrow_type(call.result), 0));
    }
    let text = |of: &StringArray| of.is_valid(0).then(|| of.value(0).to_owned());
    let domain = text(domains).unwrap_or_default();
    Err(match text(constraints).filter(|it| !it.is_empty()) {
        Some(constraint) => SqlError::outside_domain(&domain, &constraint),
        None => SqlError::null_of_domain(&domain),
    })
}

/// The error of rows that a table does not have.
fn no_row(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = [call.texts(0)?, call.texts(1)?, call.texts(2)?];
    if call.rows == 0 {
        return Ok(new_null_array(&arrow_type(call.result), 0));
    }
    let [table, column, check] = texts.map(|of| of.is_valid(0).then(|| of.value(0).to_owned()));
    let table = table.unwrap_or_default();
    Err(match column {
        Some(column) => SqlError::null_in(&column, Some(&table)),
        None => SqlError::broken_check(&table, &check.unwrap_or_default()),
    })
}

/// The error of a name that nothing has.
fn nothing_named(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (kinds, names) = (call.texts(0)?, call.texts(1)?);
    let Some(row) = (0..call.rows).find(|row| names.is_valid(*row)) else {
        return Ok(new_null_array(&arrow_type(call.result), call.rows));
    };
    let (kind, name) = (kinds.value(row), names.value(row));
    Err(match kind {
        "relation" => {
            SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))
        }
        "function" => SqlError::new(
            SqlState::UNDEFINED_FUNCTION,
            format!("function \"{name}\" does not exist"),
        ),
        "setting" => SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("unrecognized configuration parameter \"{name}\""),
        ),
        kind => {
            SqlError::new(SqlState::UNDEFINED_OBJECT, format!("{kind} \"{name}\" does not exist"))
        }
    })
}

fn pattern_or_bytes(call: &Call<'_>) -> SqlResult<ArrayRef> {
    use Function as F;
    match call.function {
        F::Like => like::like(call),
        F::RegexLike => regexp::like(call),
        F::RegexpCount => regexp::count(call),
        F::RegexpInstr => regexp::instr(call),
        F::RegexpReplace => regexp::replace(call),
        F::RegexpSubstr => regexp::substr(call),
        F::RegexpMatch => regexp::first_match(call),
        F::RegexpSplit => regexp::split(call),
        F::RegexpExtractAll => regexp::all_matches(call),
        F::RegexpMatches => regexp::every_match(call),
        F::SimilarParts | F::SimilarToEscape => regexp::similar_to_escape(call),
        F::CurrentDate
        | F::CurrentTime
        | F::LocalTime
        | F::LocalTimestamp
        | F::Now
        | F::StatementTimestamp => Err(call.broken("no constant in its place")),
        F::Encode => bytes::encode(call),
        F::Decode => bytes::decode(call),
        F::ConvertTo | F::ConvertFrom => bytes::convert(call),
        F::GetByte => bytes::get_byte(call),
        F::SetByte => bytes::set_byte(call),
        F::Casefold => text::casefold(call),
        F::Normalize | F::IsNormalized => text::normalize(call),
        F::Unistr => text::unistr(call),
        F::UnicodeAssigned => text::unicode_assigned(call),
        F::SizeBytes => text::size_bytes(call),
        F::ParseIdent => text::parse_ident(call),
        it if bit_strings::is_of_bits(it) => bit_strings::kernel(call),
        it if networks::is_of_networks(it) => networks::kernel(call),
        it if ranges::is_of_ranges(it) => ranges::kernel(call),
        F::GetBit => bits::get(call),
        F::SetBit => bits::set(call),
        F::BitCount => bits::count(call),
        F::Crc32 | F::Crc32c => bits::checksum(call),
        F::UuidVersion | F::UuidTimestamp => uuid::part(call),
        F::Md5 | F::Md5OfBytes | F::Sha224 | F::Sha256 | F::Sha384 | F::Sha512 => {
            bytes::digest(call)
        }
        _ => text_or_moment(call),
    }
}

/// What `version()` answers.
const VERSION: &str = concat!("Nodewise ", env!("CARGO_PKG_VERSION"));

fn text_or_moment(call: &Call<'_>) -> SqlResult<ArrayRef> {
    use Function as F;
    match call.function {
        F::Ascii | F::BitLength | F::CharacterLength | F::OctetLength => text::measure(call),
        F::Btrim | F::Ltrim | F::Rtrim => text::trim(call),
        F::Chr => text::chr(call),
        F::Concat | F::ConcatOperator => text::concat(call),
        F::ConcatWs => text::concat_ws(call),
        F::Contains | F::EndsWith | F::StartsWith => text::search(call),
        F::FindInSet => text::find_in_set(call),
        F::Initcap => text::initcap(call),
        F::Left | F::Right => text::left_or_right(call),
        F::Levenshtein => text::levenshtein(call),
        F::Lower | F::Upper => text::change_case(call),
        F::Lpad | F::Rpad => text::pad(call),
        F::Overlay => text::overlay(call),
        F::Repeat => text::repeat(call),
        F::Replace => text::replace(call),
        F::Reverse => text::reverse(call),
        F::SplitPart => text::split_part(call),
        F::Strpos => text::strpos(call),
        F::Substring if call.is_text(1) => regexp::substring(call),
        F::Substring => text::substring(call),
        F::SubstringIndex => text::substring_index(call),
        F::ToHex | F::ToBin | F::ToOct => text::in_base(call),
        F::Format => text::format(call),
        F::QuoteIdent | F::QuoteLiteral | F::QuoteNullable => text::quote(call),
        F::Translate => text::translate(call),
        F::MinScale | F::Scale => exact::digits_behind(call),
        F::WidthBucket => bucket::width_bucket(call),
        F::SeriesLength => series::length(call),
        F::SeriesMoments => series::moments(call),
        F::SeriesMoment => series::moment(call),
        F::AddInterval => interval::add_to_moment(call),
        F::AddIntervals => interval::sum(call),
        F::AddToTime => interval::add_to_time(call),
        F::Age => interval::age(call),
        F::DivideInterval | F::MultiplyInterval => interval::scale(call),
        F::CheckedRows => rows::checked(call),
        F::FitInterval => interval::fit(call),
        F::FitTime => moment::fit(call),
        F::IntervalKey => interval::key(call),
        F::IntervalDays | F::IntervalMicros | F::IntervalMonths => interval::part(call),
        F::IntervalOfParts => interval::of_parts(call),
        F::JustifyDays | F::JustifyHours | F::JustifyInterval | F::NegateInterval => {
            interval::unary(call)
        }
        F::MakeInterval => interval::make(call),
        F::MakeTime => interval::make_time(call),
        F::MomentsBetween => interval::between(call),
        F::Timezone => zone::timezone(call),
        it if time_tz::is_of_zones(it) => time_tz::kernel(call),
        F::DatePart | F::DatePartOfTimeTz => field::date_part(call),
        F::DateTrunc if call.result == DataType::Interval => moment::truncated_interval(call),
        F::DateTrunc => moment::date_trunc(call),
        F::Extract | F::ExtractOfTimeTz => field::extract(call),
        F::FromUnixtime => moment::from_unixtime(call),
        F::MakeDate => moment::make_date(call),
        F::DateBin => moment::date_bin(call),
        F::MakeTimestamp | F::MakeTimestampTz => moment::make_timestamp(call),
        F::ToLocalTime => call.argument(0).map(Arc::clone),
        F::ToTimestamp
        | F::ToTimestampMicros
        | F::ToTimestampMillis
        | F::ToTimestampNanos
        | F::ToTimestampSeconds => moment::to_timestamp(call),
        F::ToUnixtime => moment::to_unixtime(call),
        _ => duckdb::kernel(call).unwrap_or_else(|| by_template(call)),
    }
}

/// Texts by templates, and what they say.
fn by_template(call: &Call<'_>) -> SqlResult<ArrayRef> {
    use Function as F;
    match call.function {
        F::DateFormat => strftime::date_format(call),
        F::ToChar | F::ToCharInZone => to_char::to_char(call),
        F::ToCharNumber => to_char_number::to_char(call),
        F::ToCharInterval => to_char_interval::to_char(call),
        F::ToNumber => to_number::to_number(call),
        F::ToDate => from_text::to_date(call),
        _ => Err(call.broken("no kernel")),
    }
}
