//! The scalar functions by id: what a call in a plan names.
//!
//! - Invariant: one list makes the variants, [`Function::ALL`], [`Function::name`] and [`Function::from_name`], so that they cannot drift.
//!   Signatures and kernels live elsewhere; here nothing runs.
//! - Invariant: a name is that of a plan, unique and stable. What a user may write is decided where names are looked up.

functions! {
    // Numbers.
    /// The absolute value.
    Abs = "abs",
    /// The inverse cosine, in radians.
    Acos = "acos",
    /// The inverse hyperbolic cosine.
    Acosh = "acosh",
    /// The inverse sine, in radians.
    Asin = "asin",
    /// The inverse hyperbolic sine.
    Asinh = "asinh",
    /// The inverse tangent, in radians.
    Atan = "atan",
    /// The angle of the point (second argument, first argument), in radians.
    Atan2 = "atan2",
    /// The inverse hyperbolic tangent.
    Atanh = "atanh",
    /// The cube root.
    Cbrt = "cbrt",
    /// The nearest whole number that is not less.
    Ceil = "ceil",
    /// The cosine of radians.
    Cos = "cos",
    /// The hyperbolic cosine.
    Cosh = "cosh",
    /// The cotangent of radians.
    Cot = "cot",
    /// Radians as degrees.
    Degrees = "degrees",
    /// The quotient of two exact numbers, cut towards zero to a whole number.
    Div = "div",
    /// e to the power of the argument.
    Exp = "exp",
    /// n!
    Factorial = "factorial",
    /// The nearest whole number that is not greater.
    Floor = "floor",
    /// A number of any scale without the zeros at its end: the key by which it is compared.
    TrimScale = "trim_scale",
    /// The greatest common divisor.
    Gcd = "gcd",
    /// The error function.
    Erf = "erf",
    /// One less the error function.
    Erfc = "erfc",
    /// The gamma function.
    Gamma = "gamma",
    /// The natural logarithm of the magnitude of the gamma function.
    Lgamma = "lgamma",
    /// The inverse cosine, in degrees.
    Acosd = "acosd",
    /// The inverse sine, in degrees.
    Asind = "asind",
    /// The inverse tangent, in degrees.
    Atand = "atand",
    /// The angle of the point (second argument, first argument), in degrees.
    Atan2d = "atan2d",
    /// The cosine of degrees.
    Cosd = "cosd",
    /// The cotangent of degrees.
    Cotd = "cotd",
    /// The sine of degrees.
    Sind = "sind",
    /// The tangent of degrees.
    Tand = "tand",
    /// The bytes of a REAL as they are sent, the highest first.
    Float4Send = "float4send",
    /// The bytes of a DOUBLE PRECISION as they are sent.
    Float8Send = "float8send",
    /// Digits after the point that a number needs.
    MinScale = "min_scale",
    /// Digits after the point that a number has.
    Scale = "scale",
    /// The number of the bucket in which a number lies, of so many that are as wide between two bounds.
    WidthBucket = "width_bucket",
    /// Whether a float is not a number.
    IsNan = "isnan",
    /// Whether a number is zero.
    IsZero = "iszero",
    /// The least common multiple.
    Lcm = "lcm",
    /// The natural logarithm.
    Ln = "ln",
    /// The logarithm to base 10 of one argument; of two, that of the second to the base of the first.
    Log = "log",
    /// The logarithm to base 10.
    Log10 = "log10",
    /// The logarithm to base 2.
    Log2 = "log2",
    /// The remainder of a division, with the sign of the dividend.
    Mod = "mod",
    /// The first argument, or the second where the first is not a number.
    Nanvl = "nanvl",
    /// The number pi.
    Pi = "pi",
    /// The first argument to the power of the second.
    Power = "power",
    /// Degrees as radians.
    Radians = "radians",
    /// A number from 0 (included) to 1 (excluded), drawn anew for each row.
    Random = "random",
    /// A number of the normal distribution: mean and deviation (0 and 1 when not given), drawn anew for each row.
    RandomNormal = "random_normal",
    /// Rounded to so many digits after the point (0 when not given); exact numbers half away from zero, floats half to even.
    Round = "round",
    /// How many numbers a series has: first, last, step.
    SeriesLength = "series_length",
    /// -1, 0 or 1.
    Sign = "sign",
    /// The sine of radians.
    Sin = "sin",
    /// The hyperbolic sine.
    Sinh = "sinh",
    /// The square root.
    Sqrt = "sqrt",
    /// The tangent of radians.
    Tan = "tan",
    /// The hyperbolic tangent.
    Tanh = "tanh",
    /// Cut towards zero to so many digits after the point (0 when not given, negative: before it).
    Trunc = "trunc",

    // Text.
    /// The code point of the first character, 0 for the empty text.
    Ascii = "ascii",
    /// The length in bits.
    BitLength = "bit_length",
    /// Without the given characters (blanks when not given) at both ends.
    Btrim = "btrim",
    /// The length in characters; of CHAR(n) without trailing blanks.
    CharacterLength = "character_length",
    /// The character of a code point.
    Chr = "chr",
    /// All arguments as one text; NULL counts as the empty text. Never NULL.
    Concat = "concat",
    /// `||`: two texts as one; NULL when either is.
    ConcatOperator = "concat_operator",
    /// The arguments after the first as one text, with the first between them; NULL ones are left out.
    ConcatWs = "concat_ws",
    /// Whether the second text is part of the first.
    Contains = "contains",
    /// Whether the first text ends with the second.
    EndsWith = "ends_with",
    /// The place, from 1, of a text in a list with commas; 0 when it is not there.
    FindInSet = "find_in_set",
    /// Arguments put into a text with places for them. NULL counts as the empty text.
    Format = "format",
    /// A name as SQL spells it.
    QuoteIdent = "quote_ident",
    /// A text as SQL spells it.
    QuoteLiteral = "quote_literal",
    /// The same, and NULL as a word.
    QuoteNullable = "quote_nullable",
    /// A whole number in binary digits, two's complement.
    ToBin = "to_bin",
    /// A whole number in octal digits, two's complement.
    ToOct = "to_oct",
    /// Words in lower case with a first letter in upper case.
    Initcap = "initcap",
    /// The first n characters; for a negative n all but the last -n.
    Left = "left",
    /// How many characters must be inserted, deleted or replaced to make one text of another.
    Levenshtein = "levenshtein",
    /// In lower case.
    Lower = "lower",
    /// Filled up on the left to a length with a text (a blank when not given), or cut on the right to it.
    Lpad = "lpad",
    /// Without the given characters (blanks when not given) at the left.
    Ltrim = "ltrim",
    /// The length in bytes.
    OctetLength = "octet_length",
    /// A text with a part replaced: text, replacement, first character, characters (or those of the replacement).
    Overlay = "overlay",
    /// A text n times.
    Repeat = "repeat",
    /// A text with every occurrence of the second argument replaced by the third.
    Replace = "replace",
    /// Characters in the opposite order.
    Reverse = "reverse",
    /// The last n characters; for a negative n all but the first -n.
    Right = "right",
    /// Filled up on the right to a length with a text (a blank when not given), or cut on the right to it.
    Rpad = "rpad",
    /// Without the given characters (blanks when not given) at the right.
    Rtrim = "rtrim",
    /// The n-th field of a text cut at a separator; counted from the end when n is negative.
    SplitPart = "split_part",
    /// Whether the first text begins with the second.
    StartsWith = "starts_with",
    /// The place, in characters from 1, of the second text in the first; 0 when it is not there.
    Strpos = "strpos",
    /// A part of a text: text, first character, characters (or all that follow); or the match of a pattern.
    Substring = "substring",
    /// What stands before the n-th separator; after it, counted from the end, when n is negative.
    SubstringIndex = "substring_index",
    /// A whole number in hexadecimal digits, two's complement.
    ToHex = "to_hex",
    /// Characters of the second argument become those at the same place of the third, or vanish where it is shorter.
    Translate = "translate",
    /// In upper case.
    Upper = "upper",
    /// A random UUID of version 4 as text, drawn anew for each row.
    Uuid = "uuid",
    /// A UUID of version 7 of a moment, drawn anew for each row.
    UuidV7 = "uuid_of_moment",
    /// The version of a UUID of RFC 9562; NULL of others.
    UuidVersion = "uuid_extract_version",
    /// The moment that a UUID of version 1 or 7 tells; NULL of others.
    UuidTimestamp = "uuid_extract_timestamp",
    /// A text in which case does not count.
    Casefold = "casefold",
    /// A text in a normal form of Unicode, NFC when none is named.
    Normalize = "normalize",
    /// Whether a text is in a normal form, NFC when none is named.
    IsNormalized = "is_normalized",
    /// A text with characters by number in it.
    Unistr = "unistr",
    /// The parts of a name between points, as an array: name, and whether nothing may stand behind it.
    ParseIdent = "parse_ident",

    // Arrays.
    /// An array of its arguments, all of one type: items, of which each may be NULL. Never NULL.
    ArrayOf = "array_of",
    /// An array of one dimension more than its arguments, arrays of the same dimensions. Never NULL.
    ArrayStack = "array_stack",
    /// The item at subscripts, one for each dimension; NULL where there is none.
    ArrayItem = "array_item",
    /// The items between a lower and an upper bound of each dimension; subscripts from 1 on.
    ArraySlice = "array_slice_of",
    /// The items of two arrays, the second behind the first. Where one is NULL, the other.
    ArrayCat = "array_cat",
    /// An array with a value, which may be NULL, behind its items. An array that is NULL has none.
    ArrayAppend = "array_append",
    /// The same with the value before the items.
    ArrayPrepend = "array_prepend",
    /// Items of a dimension.
    ArrayLength = "array_length",
    /// Items of all dimensions.
    Cardinality = "cardinality",
    /// How many dimensions.
    ArrayNdims = "array_ndims",
    /// The bounds of the dimensions as a text.
    ArrayDims = "array_dims",
    /// The subscript of the first item of a dimension.
    ArrayLower = "array_lower",
    /// The subscript of the last item of a dimension.
    ArrayUpper = "array_upper",
    /// The subscript of the first item that is not distinct from a value, from a subscript on if one is given.
    ArrayPosition = "array_position",
    /// The subscripts of all such items.
    ArrayPositions = "array_positions",
    /// An array without the items that are not distinct from a value.
    ArrayRemove = "array_remove",
    /// An array with such items replaced by another value.
    ArrayReplace = "array_replace",
    /// The texts of the items with a text between them, and one for NULL if it is given.
    ArrayToString = "array_to_string",
    /// The parts of a text between separators, all characters where that is NULL; a text that stands for NULL may be given.
    StringToArray = "string_to_array",
    /// An array of a value that is everywhere the same: value, lengths of the dimensions, lower bounds.
    ArrayFill = "array_fill",
    /// An array without so many items at its end.
    TrimArray = "trim_array",
    /// An array with its first dimension the other way round.
    ArrayReverse = "array_reverse",
    /// An array in order of its first dimension: array, whether descending, whether NULL comes first.
    ArraySort = "array_sort",
    /// An array with the rows of its first dimension in a drawn order.
    ArrayShuffle = "array_shuffle",
    /// So many rows of the first dimension of an array, drawn.
    ArraySample = "array_sample",
    /// An array with each item once, in order: DuckDB's.
    ListDistinct = "list_distinct",
    /// A list of values: one of lists is refused.
    ListFlat = "list_flat",
    /// `@>`: whether each item of the second array is one of the first. NULL is none.
    ArrayContains = "array_contains_all",
    /// `&&`: whether an item of one array is one of the other. NULL is none.
    ArrayOverlap = "array_overlaps",
    /// `value = ANY (array)`: NULL where no item is equal and one, or the value, is NULL.
    ArrayAny = "equals_any",
    /// An array with another item: array, item, and one subscript for each dimension; a list grows as far as is needed.
    ArraySetItem = "array_set_item",
    /// An array with other items in a slice: the array, the items, and of each subscript both bounds and which of them are said.
    ArraySetSlice = "array_set_slice",
    /// An array of texts as a column of arrays with a limit of length stores it: what is too long is an error.
    ArrayFit = "array_fit",
    /// What intervals that are equal have in common, of each item.
    ArrayIntervalKeys = "array_interval_keys",

    // Structs, rows and maps.
    /// A struct, or row, of the values of its fields in order. Never NULL.
    StructOf = "struct_of",
    /// The field at a place, from 1 on.
    StructField = "struct_field",
    /// A map of keys and values by turns; never NULL.
    MapOf = "map_of",
    /// A map of an array of keys and one of values.
    MapOfLists = "map_of_lists",
    /// The value that a map has for a key.
    MapItem = "map_item",
    /// The value that a map has for a key as an array, which is empty where it has none.
    MapExtract = "map_extract",
    /// Whether a map has a key.
    MapContains = "map_contains",
    /// The entries of several maps, of which the last one counts; NULL has none.
    MapConcat = "map_concat",
    /// The keys of a map as an array.
    MapKeys = "map_keys",
    /// The values of a map as an array.
    MapValues = "map_values",
    /// What structs, and arrays of them, that are equal have in common where they are not equal as they are held.
    NestedKey = "nested_key",
    /// A struct, a map or an array of them as a column with limits of length stores it: what is too long is an error.
    NestedFit = "nested_fit",
    /// A struct, a map or an array of them as JSON of either kind.
    NestedJson = "nested_json",

    // JSON. Which kind comes out follows from the type of the call.
    /// `->`: the value of a key (TEXT), or at a place from 0 on (BIGINT; from the end when negative).
    JsonGet = "json_get",
    /// `->>`: the same as a text: of a string its characters, NULL of `null`.
    JsonGetText = "json_get_text",
    /// `#>`: the value at the end of a path of keys and places, an array of texts.
    JsonPath = "json_path",
    /// `#>>`: the same as a text.
    JsonPathText = "json_path_text",
    /// `@>`: whether the first JSONB holds all of the second.
    JsonContains = "jsonb_contains",
    /// `?`: whether a text is a key, or a string among the elements.
    JsonHasKey = "jsonb_exists",
    /// `?|`: whether one of several texts is.
    JsonHasAnyKey = "jsonb_exists_any",
    /// `?&`: whether all of several texts are.
    JsonHasAllKeys = "jsonb_exists_all",
    /// `||` of two JSONBs.
    JsonConcat = "jsonb_concat",
    /// `-`: a JSONB without several keys (an array of texts) or the element at a place (BIGINT).
    JsonDelete = "jsonb_delete",
    /// `-`: a JSONB without a key.
    JsonDeleteKey = "jsonb_delete_key",
    /// `#-`: a JSONB without what stands at the end of a path.
    JsonDeletePath = "jsonb_delete_path",
    /// A JSONB with another value at the end of a path: JSONB, path, value, whether what is not there is made.
    JsonSet = "jsonb_set",
    /// A JSONB with a value put in at the end of a path: JSONB, path, value, whether behind what is there.
    JsonInsert = "jsonb_insert",
    /// JSON without the members that are `null`; with TRUE behind it, without such elements, too.
    JsonStripNulls = "json_strip_nulls",
    /// A JSONB in lines, as a text.
    JsonPretty = "jsonb_pretty",
    /// The part of a JSON at the end of a path of DuckDB's. JSON.
    JsonExtract = "json_extract",
    /// The same; a string without its quotes. TEXT.
    JsonExtractString = "json_extract_string",
    /// What a JSON is, or its part at the end of a path, in the words of DuckDB.
    JsonKind = "json_type",
    /// The keys of an object as an array, perhaps of one at the end of a path.
    JsonKeysAt = "json_keys_at",
    /// How many elements an array at the end of a path has. BIGINT.
    JsonLengthAt = "json_length_at",
    /// A JSON with a value at the end of a path.
    JsonPut = "json_set",
    /// The same, where there is none.
    JsonPutNew = "json_insert",
    /// The same, where there is one.
    JsonPutOld = "json_replace",
    /// A JSON without its part at the end of a path.
    JsonRemove = "json_remove",
    /// A JSON with the members of another in it: those that are null go.
    JsonMergePatch = "json_merge_patch",
    /// A JSON with the members of another in it: those that are null leave what is there.
    JsonDeepMerge = "json_deep_merge",
    /// What json_merge_patch makes the second JSON of the first with.
    JsonPatchBetween = "json_merge_patch_diff",
    /// Whether a JSON is a part of another, or of a part of it. BOOLEAN.
    JsonHolds = "json_contains",
    /// A JSON with the members of its objects by their keys.
    JsonNormal = "json_normalize",
    /// What the values of a JSON are of, in the place of them. JSON.
    JsonStructure = "json_structure",
    /// What JSON is, as a word.
    JsonTypeof = "json_typeof",
    /// A JSON that has to be an object, for a function of a name; NULL of `null`.
    JsonObjectOf = "json_object_of_record",
    /// A JSON; NULL of `null`.
    JsonNotNull = "json_not_null",
    /// The elements of an array, and of arrays in it, as an array of texts; with TRUE as JSON. NULL of `null`.
    JsonArrayItems = "json_array_items",
    /// A JSON as the text of a value: of a string its characters. NULL of `null`.
    JsonScalarText = "json_scalar_text",
    /// How many elements an array has.
    JsonArrayLength = "json_array_length",
    /// The elements of an array, as an array.
    JsonElements = "json_elements",
    /// The same as texts.
    JsonElementsText = "json_elements_text",
    /// The keys of an object, as an array of texts.
    JsonKeys = "json_keys",
    /// The values of an object, as an array in the order of the keys.
    JsonValues = "json_values",
    /// The same as texts.
    JsonValuesText = "json_values_text",
    /// The text of a value as JSON: the second argument says what it is the text of (`number`, `string` and so on).
    JsonOfText = "json_of_text",
    /// An array as JSON: its items as texts or JSON, what they are the text of, and what stands between elements.
    JsonOfArray = "json_of_array",
    /// A JSON array of JSONs; NULL is `null`. Never NULL.
    JsonBuildArray = "json_array_of",
    /// A JSON object: what stands between key and value and between members, then keys and JSONs by turns.
    JsonBuildObject = "json_object_of",
    /// A JSONB with another value at the end of a path of subscripts, whose steps are made where they are not there.
    JsonSetItem = "json_set_item",
    /// An object of keys and values by turns behind a word: `a` leaves NULLs out, `u` refuses a key that comes twice.
    JsonMembers = "json_members",
    /// An array of the values that are not NULL.
    JsonPresentItems = "json_present_items",
    /// A JSON of which no object has a key twice; with TRUE that is asked of the outermost alone.
    JsonUniqueKeys = "json_unique_keys",
    /// A member of an object as a text: key, and JSON, which may be NULL. NULL without a key.
    JsonMember = "json_member",
    /// A JSON object of an array of members.
    JsonOfMembers = "json_of_members",
    /// A JSON object of an array of texts: keys and values by turns, or in two columns; or of an array of each.
    JsonObject = "json_object",
    /// A path of SQL/JSON as PostgreSQL shows it. TEXT.
    JsonPathNormal = "jsonpath",
    /// Whether a path of a JSONB gives anything: JSONB, path, variables, whether errors make it NULL. BOOLEAN.
    JsonPathExists = "jsonb_path_exists",
    /// The truth that such a path gives. BOOLEAN.
    JsonPathMatch = "jsonb_path_match",
    /// All values that such a path gives, as an array.
    JsonPathItems = "jsonb_path_items",
    /// The same as JSON of an array. JSONB.
    JsonPathArray = "jsonb_path_query_array",
    /// The first value that such a path gives. JSONB.
    JsonPathFirst = "jsonb_path_query_first",
    /// The one value that such a path gives, in a mode: JSONB, path, variables, whether errors make it NULL, mode. JSONB.
    JsonSingle = "json_single",
    /// Whether there is one: 1, 0 of nothing, -1 of an error. INTEGER.
    JsonSingleState = "json_single_state",
    /// A text that is equal and in order where JSONBs are.
    JsonKey = "jsonb_key",
    /// Whether a text is JSON: of which kind (`value`, `array`, `object` or `scalar`), and whether keys must be unique.
    IsJson = "is_json",

    /// How many sets of so many things there are among others: number of all, number of a set. DECIMAL(38, 0).
    Binomial = "binom",
    /// The float that follows one in the direction of another. DOUBLE.
    NextAfter = "nextafter",
    /// How many bytes a text with a unit says (`1.5 KB`, `2 MiB`). BIGINT.
    ParseBytes = "parse_formatted_bytes",
    /// Insertions, deletions, substitutions and swaps that make one text of another. BIGINT.
    DamerauLevenshtein = "damerau_levenshtein",
    /// How many characters of two texts of one length differ. BIGINT.
    Hamming = "hamming",
    /// The share of the characters of two texts that both have. DOUBLE.
    Jaccard = "jaccard",
    /// How much two texts are alike, from 0 to 1, and perhaps from which likeness on it counts. DOUBLE.
    JaroSimilarity = "jaro_similarity",
    /// The same; texts that begin alike are more alike. DOUBLE.
    JaroWinkler = "jaro_winkler_similarity",
    /// The first folder of a path, and perhaps what parts folders.
    ParseDirname = "parse_dirname",
    /// The folders of a path, and perhaps what parts folders.
    ParseDirpath = "parse_dirpath",
    /// The name of the file of a path, perhaps whether without extension, and perhaps what parts folders.
    ParseFilename = "parse_filename",
    /// The folders and the file of a path as an array, and perhaps what parts folders.
    ParsePath = "parse_path",
    /// A text from one character to another, those below zero counted from the end.
    TextSlice = "text_slice",

    // Patterns.
    /// LIKE with any pattern: text, pattern, escape (one character or none), whether case does not count. BOOLEAN.
    Like = "like",
    /// Whether a regular expression matches somewhere, `~`: text, pattern, flags (may be left out). BOOLEAN.
    RegexLike = "regexp_like",
    /// How often a regular expression matches: text, pattern, start, flags (the last two may be left out).
    RegexpCount = "regexp_count",
    /// The place of a match: text, pattern, start, n-th match, 1 for the place behind it, flags, subexpression.
    RegexpInstr = "regexp_instr",
    /// A text with matches replaced: text, pattern, replacement, flags; or start, n-th match, flags.
    RegexpReplace = "regexp_replace",
    /// The text of a match: text, pattern, start, n-th match, flags, subexpression. NULL when there is none.
    RegexpSubstr = "regexp_substr",
    /// The subexpressions of the first match of a regular expression as an array, or the match where it has none.
    RegexpMatch = "regexp_match",
    /// The subexpressions of the first match, or with the flag g of all, each as the text of an array: text, pattern, flags.
    RegexpMatches = "regexp_matches_texts",
    /// All matches of a regular expression as an array: text, pattern, subexpression, flags (the last two may be left out).
    RegexpExtractAll = "regexp_extract_all",
    /// The parts of a text between matches of a regular expression, as an array.
    RegexpSplit = "regexp_split_to_array",
    /// The regular expression that a pattern of SIMILAR TO stands for: pattern, escape (a backslash when left out).
    SimilarToEscape = "similar_to_escape",
    /// The regular expression that a pattern of the standard stands for, whose second part SUBSTRING gives.
    SimilarParts = "similar_parts",

    // Dates and times.
    /// A date or timestamp plus months (INTEGER), days (INTEGER) and microseconds (BIGINT), in this order: a month that
    /// is too short clamps the day. TIMESTAMP.
    AddInterval = "add_interval",
    /// How often a field of the calendar changes between two points of time: field, first, second. BIGINT.
    DateDiff = "date_diff",
    /// How many whole spans of a unit lie between two points of time: unit, first, second. BIGINT.
    DateSub = "date_sub",
    /// A point of time by a format of `%` and a letter, as DuckDB writes it. TEXT.
    Strftime = "strftime",
    /// A text as a point of time by such a format. TIMESTAMP.
    Strptime = "strptime",
    /// The same; NULL for what does not fit.
    TryStrptime = "try_strptime",
    /// When the span of a width begins that a point of time lies in: width, point of time, perhaps when one begins. TIMESTAMP.
    TimeBucket = "time_bucket",
    /// The day at the start of the statement.
    CurrentDate = "current_date",
    /// The time of day of the statement's start, in the time zone of the session.
    LocalTime = "localtime",
    /// The statement's start as the clocks of the session's time zone show it.
    LocalTimestamp = "localtimestamp",
    /// The time of the day that the clocks of the session show when the statement begins, in its zone.
    CurrentTime = "current_time",
    /// The time at which the statement began; other functions of the time tell of its transaction.
    StatementTimestamp = "statement_timestamp",
    /// What the clocks of a time zone show at a moment, or the moment at which they show a time.
    Timezone = "timezone",
    /// From one point of time to another in years, months, days and time.
    Age = "age",
    /// From one point of time to another in days and time: the operator.
    MomentsBetween = "moments_between",
    /// A number of rows of LIMIT or OFFSET (its second argument) that must not be negative.
    CheckedRows = "checked_rows",
    /// The bits that two whole numbers have: the operator.
    BitwiseAnd = "bitwise_and",
    /// The bits that one of two whole numbers has: the operator.
    BitwiseOr = "bitwise_or",
    /// The bits in which two whole numbers differ: the operator.
    BitwiseXor = "bitwise_xor",
    /// The bits that a whole number has not: the operator.
    BitwiseNot = "bitwise_not",
    /// The bits of a whole number moved up by so many places, modulo its width: the operator.
    ShiftLeft = "shift_left",
    /// The bits of a whole number moved down, with copies of its sign: the operator.
    ShiftRight = "shift_right",
    /// What intervals that are equal have in common: a month is thirty days, and a day 24 hours.
    IntervalKey = "interval_key",
    /// The months of an interval.
    IntervalMonths = "interval_months",
    /// The days of an interval.
    IntervalDays = "interval_days",
    /// The microseconds of an interval.
    IntervalMicros = "interval_micros",
    #[doc = "The interval of months, days and microseconds."] IntervalOfParts = "interval_of_parts",
    #[doc = "The interval in the other direction: the operator."] NegateInterval = "negate_interval",
    #[doc = "The sum of two intervals: the operator."] AddIntervals = "add_intervals",
    #[doc = "An interval times a number: the operator."] MultiplyInterval = "multiply_interval",
    #[doc = "An interval divided by a number: the operator."] DivideInterval = "divide_interval",
    #[doc = "An interval as a type with fields holds it: interval, its last field or an empty text, digits of seconds."] FitInterval = "fit_interval",
    #[doc = "A point of time or a time of day as a type with digits holds it: time, digits of seconds."] FitTime = "fit_time",
    #[doc = "Why a text is no value of the type of the second argument: message, detail, hint and SQLSTATE, or NULLs."] InputError = "input_error",
    #[doc = "A number as a NUMERIC of so many digits, and so many of them behind the point, holds it."] FitNumber = "fit_number",
    #[doc = "A time of day plus an interval: the operator."] AddToTime = "add_to_time",
    #[doc = "A time of day in a zone plus an interval: the operator."] AddToTimeTz = "add_to_time_tz",
    #[doc = "The moment of a day and a time of day in a zone: the operator."] MomentOfTimeTz = "moment_of_time_tz",
    #[doc = "A time of day in a zone by the clocks of another one, as they are at the moment of the third argument."] TimezoneOfTimeTz = "timezone_of_time_tz",
    #[doc = "A field of a time of day in a zone as DOUBLE PRECISION."] DatePartOfTimeTz = "date_part_of_time_tz",
    #[doc = "A field of a time of day in a zone as an exact number."] ExtractOfTimeTz = "extract_of_time_tz",
    #[doc = "The name of the time zone that is an interval ahead of UTC."] ZoneOfInterval = "zone_of_interval",
    #[doc = "Thirty days as a month."] JustifyDays = "justify_days",
    #[doc = "24 hours as a day."] JustifyHours = "justify_hours",
    #[doc = "Both, and all parts of one sign."] JustifyInterval = "justify_interval",
    #[doc = "An interval of years, months, weeks, days, hours, minutes and seconds; those that are left out are none."] MakeInterval = "make_interval",
    #[doc = "A time of day of hour, minute and seconds."] MakeTime = "make_time",
    #[doc = "Bytes as a text in hex, base64 or escape."] Encode = "encode",
    #[doc = "The bytes of a text in hex, base64 or escape."] Decode = "decode",
    #[doc = "The bytes of a text in an encoding."] ConvertTo = "convert_to",
    #[doc = "The text that bytes are in an encoding."] ConvertFrom = "convert_from",
    #[doc = "The byte at a place, from 0."] GetByte = "get_byte",
    #[doc = "The bytes with another one at a place, from 0."] SetByte = "set_byte",
    #[doc = "The bit at a place, from 0, the lowest of each byte first."] GetBit = "get_bit",
    #[doc = "The bytes with another bit at a place, from 0."] SetBit = "set_bit",
    #[doc = "How many bits are set."] BitCount = "bit_count",
    #[doc = "The bit of a string of bits at a place, from 0 on the left."] GetBitOfBits = "get_bit_of_bits",
    #[doc = "A string of bits with another one at a place, from 0 on the left."] SetBitOfBits = "set_bit_of_bits",
    #[doc = "How many bits of a string of bits are set."] BitCountOfBits = "bit_count_of_bits",
    #[doc = "Where bits begin in a string of bits, from 1 on; 0 where they are not."] BitPosition = "bit_position",
    #[doc = "The bits that a text of digits spells, with zeros before them up to a length."] Bitstring = "bitstring",
    #[doc = "An address without its mask."] Host = "host",
    #[doc = "An address in short."] Abbrev = "abbrev",
    #[doc = "A network in short, without the bytes behind its mask."] AbbrevOfCidr = "abbrev_of_cidr",
    #[doc = "The version of an address: 4 or 6."] Family = "family",
    #[doc = "Bits of the network of an address."] Masklen = "masklen",
    #[doc = "An address with another mask."] SetMasklen = "set_masklen",
    #[doc = "The bits of a network."] Netmask = "netmask",
    #[doc = "The bits that are none of a network."] Hostmask = "hostmask",
    #[doc = "The last address of a network."] Broadcast = "broadcast",
    #[doc = "The network of an address."] Network = "network",
    #[doc = "Whether two addresses are of one version."] InetSameFamily = "inet_same_family",
    #[doc = "The smallest network that has two addresses."] InetMerge = "inet_merge",
    #[doc = "Whether an address is in the network of another one; the third argument tells whether that network itself counts."] InetWithin = "inet_within",
    #[doc = "Whether one of two networks is in the other."] InetOverlaps = "inet_overlaps",
    #[doc = "An address of which each bit is the other one."] InetNot = "inet_not",
    #[doc = "The bits that two addresses have."] InetAnd = "inet_and",
    #[doc = "The bits that one of two addresses has."] InetOr = "inet_or",
    #[doc = "The address so many behind another one."] InetAdd = "inet_add",
    #[doc = "The address so many before another one."] InetSubtract = "inet_subtract",
    #[doc = "How many addresses one is behind another."] InetDifference = "inet_difference",
    #[doc = "The range between two values, NULL for no bound; the third argument says which bounds are in it."] RangeOf = "range_of",
    #[doc = "The set of all that is in some range, or set, of an array."] RangesOf = "ranges_of",
    #[doc = "What is in all ranges, or sets, of an array."] RangesIntersect = "ranges_intersect",
    #[doc = "The ranges of a set as an array."] RangeItems = "range_items",
    #[doc = "The lower bound of a range or a set."] RangeLower = "range_lower",
    #[doc = "The upper bound of a range or a set."] RangeUpper = "range_upper",
    #[doc = "Whether nothing is in a range or a set."] RangeIsEmpty = "isempty",
    #[doc = "Whether the lower bound is in a range or a set."] LowerInc = "lower_inc",
    #[doc = "Whether the upper bound is in a range or a set."] UpperInc = "upper_inc",
    #[doc = "Whether a range or a set has no lower bound."] LowerInf = "lower_inf",
    #[doc = "Whether a range or a set has no upper bound."] UpperInf = "upper_inf",
    #[doc = "The least range around two ranges, or around a set."] RangeMerge = "range_merge",
    #[doc = "Whether all that is in the second range or set is in the first."] RangeContains = "range_contains",
    #[doc = "Whether a value is in a range or a set."] RangeContainsItem = "range_contains_elem",
    #[doc = "Whether something is in two ranges or sets."] RangeOverlaps = "range_overlaps",
    #[doc = "Whether one range or set ends before another begins."] RangeBefore = "range_before",
    #[doc = "Whether one range or set does not go on behind another."] RangeOverleft = "range_overleft",
    #[doc = "Whether one range or set does not begin before another."] RangeOverright = "range_overright",
    #[doc = "Whether one of two ranges or sets begins where the other ends."] RangeAdjacent = "range_adjacent",
    #[doc = "What is in either of two ranges or sets."] RangeUnion = "range_union",
    #[doc = "What is in one range or set and not in another."] RangeMinus = "range_minus",
    #[doc = "What is in both of two ranges or sets."] RangeIntersect = "range_intersect",
    /// The checksum of bytes by the polynomial of Ethernet.
    Crc32 = "crc32",
    /// The checksum of bytes by that of Castagnoli.
    Crc32c = "crc32c",
    /// The number of bytes that a text such as `1.5 GB` says.
    SizeBytes = "pg_size_bytes",
    /// Whether Unicode says of each character of a text what it is.
    UnicodeAssigned = "unicode_assigned",
    /// The version of Unicode whose letters have an upper and a lower case here.
    UnicodeVersion = "unicode_version",
    /// The digest of a text, in hexadecimal digits.
    Md5 = "md5",
    /// The digest of bytes, in hexadecimal digits.
    Md5OfBytes = "md5_of_bytes",
    /// A digest of bytes.
    Sha224 = "sha224",
    /// A digest of bytes.
    Sha256 = "sha256",
    /// A digest of bytes.
    Sha384 = "sha384",
    /// A digest of bytes.
    Sha512 = "sha512",
    /// A date or timestamp as text by a format of `%` and a letter.
    DateFormat = "date_format",
    /// A field of a date or timestamp, named by the first argument, as DOUBLE PRECISION.
    DatePart = "date_part",
    /// A date or timestamp cut to the unit that the first argument names. TIMESTAMP.
    DateTrunc = "date_trunc",
    /// A field of a date or timestamp, named by the first argument, as an exact number.
    Extract = "extract",
    /// The point of time so many seconds after 1970-01-01.
    FromUnixtime = "from_unixtime",
    /// The date of a year, month and day.
    MakeDate = "make_date",
    /// The point of time of a year, month, day, hour, minute and seconds with a fraction.
    MakeTimestamp = "make_timestamp",
    /// A moment of the numbers that the clocks of a time zone show.
    MakeTimestampTz = "make_timestamptz",
    /// The beginning of the span that a point of time is in, of spans side by side from an origin on.
    DateBin = "date_bin",
    /// The point of time at the start of the statement, in UTC.
    Now = "now",
    /// How many points of time a series has: first, last, and the step in months, days and microseconds.
    SeriesMoments = "series_moments",
    /// A point of time of a series: first, how many steps on, and the step in months, days and microseconds.
    SeriesMoment = "series_moment",
    /// A date or timestamp as text by a template.
    ToChar = "to_char",
    /// A moment as text by a template, as the clocks of a time zone show it.
    ToCharInZone = "to_char_in_zone",
    /// A number as text by a template.
    ToCharNumber = "to_char_number",
    /// An interval as text by a template.
    ToCharInterval = "to_char_interval",
    /// The number that a text holds by a template.
    ToNumber = "to_number",
    /// A text as a date: by a template, or as a date is written.
    ToDate = "to_date",
    /// A timestamp without its zone: as it is, since none has one.
    ToLocalTime = "to_local_time",
    /// Seconds since 1970-01-01, or a text (by a template, or as a timestamp is written), as a timestamp.
    ToTimestamp = "to_timestamp",
    /// Microseconds since 1970-01-01, or a text, as a timestamp.
    ToTimestampMicros = "to_timestamp_micros",
    /// Milliseconds since 1970-01-01, or a text, as a timestamp.
    ToTimestampMillis = "to_timestamp_millis",
    /// Nanoseconds since 1970-01-01, or a text, as a timestamp.
    ToTimestampNanos = "to_timestamp_nanos",
    /// Seconds since 1970-01-01, or a text, as a timestamp of whole seconds.
    ToTimestampSeconds = "to_timestamp_seconds",
    /// Whole seconds from 1970-01-01 to a date, timestamp, or text that spells one.
    ToUnixtime = "to_unixtime",

    // Choices.
    /// The first argument that is not NULL.
    Coalesce = "coalesce",
    /// The greatest argument that is not NULL.
    Greatest = "greatest",
    /// The least argument that is not NULL.
    Least = "least",
    /// NULL where both arguments are equal, else the first.
    Nullif = "nullif",
    /// The first argument, or the second where the first is NULL.
    Nvl = "nvl",
    /// The second argument, or the third where the first is NULL.
    Nvl2 = "nvl2",

    // Types and the system.
    /// The first argument cast to the type that a constant names in Arrow's words.
    ArrowCast = "arrow_cast",
    /// The metadata of an argument under a key: always NULL, since nothing has any.
    ArrowMetadata = "arrow_metadata",
    /// The first argument cast to the type that a constant names in Arrow's words; NULL where that fails.
    ArrowTryCast = "arrow_try_cast",
    /// What Arrow calls the type of the argument, which may be NULL.
    ArrowTypeof = "arrow_typeof",
    /// The first argument cast to the type of the second, which may be NULL.
    CastToType = "cast_to_type",
    /// The number that nextval gave last in this session for a sequence.
    Currval = "currval",
    /// The number that nextval gave last in this session.
    Lastval = "lastval",
    /// The next number of a sequence, once for each row.
    Nextval = "nextval",
    /// Takes an advisory lock for its session, and waits for it.
    PgAdvisoryLock = "pg_advisory_lock",
    /// The same, beside others that share it.
    PgAdvisoryLockShared = "pg_advisory_lock_shared",
    /// Lets go of an advisory lock of its session, once; whether it had it.
    PgAdvisoryUnlock = "pg_advisory_unlock",
    /// Lets go of all advisory locks of its session.
    PgAdvisoryUnlockAll = "pg_advisory_unlock_all",
    /// Lets go of a shared advisory lock of its session, once; whether it had it.
    PgAdvisoryUnlockShared = "pg_advisory_unlock_shared",
    /// Takes an advisory lock to the end of the transaction, and waits for it.
    PgAdvisoryXactLock = "pg_advisory_xact_lock",
    /// The same, beside others that share it.
    PgAdvisoryXactLockShared = "pg_advisory_xact_lock_shared",
    /// Ends what the session with a number runs; whether there is such a session.
    PgCancelBackend = "pg_cancel_backend",
    /// Says a text to a channel when the transaction commits.
    PgNotify = "pg_notify",
    /// What clocks show when it is called.
    ClockTimestamp = "clock_timestamp",
    /// Waits for so many seconds.
    PgSleep = "pg_sleep",
    /// Ends the session with a number; whether there is one.
    PgTerminateBackend = "pg_terminate_backend",
    /// Takes an advisory lock for its session if nobody is in the way; whether it has it.
    PgTryAdvisoryLock = "pg_try_advisory_lock",
    /// The same, beside others that share it.
    PgTryAdvisoryLockShared = "pg_try_advisory_lock_shared",
    /// Takes an advisory lock to the end of the transaction if nobody is in the way; whether it has it.
    PgTryAdvisoryXactLock = "pg_try_advisory_xact_lock",
    /// The same, beside others that share it.
    PgTryAdvisoryXactLockShared = "pg_try_advisory_xact_lock_shared",
    /// Sets a setting, of the transaction alone where the third argument is true; its value.
    SetConfig = "set_config",
    /// Sets a sequence to a number; the third argument tells whether it counts as given out (true when not given).
    Setval = "setval",
    /// Raises 21000: a subquery used as an expression has more than one row. Without arguments, of any type.
    RaiseCardinality = "raise_cardinality",
    /// Raises 23514: a value of the domain of the first argument breaks the constraint of the second; 23502 where that is empty. Of any type.
    RaiseDomain = "raise_domain",
    /// Raises 23502: a row of the first argument's table has NULL in the second's column; 23514 where that is NULL: the third's CHECK.
    RaiseRow = "raise_row",
    /// Raises 42P01, or 42704 for what is no relation: there is nothing of the kind of the first argument that the second names. NULL of NULL.
    RaiseUnknown = "raise_unknown",
    /// The first argument cast to the type of the second, which may be NULL; NULL where the cast fails.
    TryCastToType = "try_cast_to_type",
    /// The name and version of the database.
    Version = "version",
    /// The first argument; the keys and values after it are for other readers of Arrow.
    WithMetadata = "with_metadata",
}
