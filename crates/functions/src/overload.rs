//! The parameter lists of the functions, as data.

use plan::Function;
use types::{DataType, Value};

/// What a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Boolean,
    /// BIGINT, which every integer becomes.
    Integer,
    Double,
    /// DECIMAL as it is; integers become one.
    Decimal,
    /// DECIMAL without digits behind the point, and integers, of 38 digits: DuckDB's HUGEINT.
    Whole,
    /// Any integer as it is.
    AnyInteger,
    /// Any number as it is.
    Number,
    Text,
    Date,
    Timestamp,
    TimestampTz,
    Time,
    TimeTz,
    Interval,
    Bytea,
    /// INET, which CIDR becomes.
    Inet,
    /// CIDR alone.
    Cidr,
    /// BIT of any length, which BIT VARYING becomes.
    Bits,
    /// BIT VARYING of any length, which BIT becomes.
    Varbit,
    Uuid,
    /// Any type, cast to text.
    Printed,
    /// Any type as text, except that BOOLEAN stays what it is: it prints as `t`, its cast is `true`.
    Output,
    /// Any type as it is.
    Any,
}

/// What comes out.
#[derive(Clone, Copy)]
pub(crate) enum Outcome {
    Is(DataType),
    /// By the types that the arguments are cast to, and constants among them.
    Rule(fn(&[DataType], &[Option<Value>]) -> DataType),
}

/// One parameter list of a function.
pub(crate) struct Overload {
    pub parameters: &'static [Kind],
    /// Parameters that may not be left out.
    pub required: usize,
    /// Whether the last parameter may be repeated.
    pub variadic: bool,
    pub outcome: Outcome,
}

const fn fixed(parameters: &'static [Kind], result: DataType) -> Overload {
    optional(parameters, parameters.len(), result)
}

const fn optional(parameters: &'static [Kind], required: usize, result: DataType) -> Overload {
    Overload { parameters, required, variadic: false, outcome: Outcome::Is(result) }
}

const fn variadic(parameters: &'static [Kind], result: DataType) -> Overload {
    let required = parameters.len();
    Overload { parameters, required, variadic: true, outcome: Outcome::Is(result) }
}

const fn ruled(
    parameters: &'static [Kind],
    rule: fn(&[DataType], &[Option<Value>]) -> DataType,
) -> Overload {
    let required = parameters.len();
    Overload { parameters, required, variadic: false, outcome: Outcome::Rule(rule) }
}

use crate::{float, scale};
use Kind::{
    Any, AnyInteger, Bits, Boolean, Bytea, Cidr, Date, Decimal, Double, Inet, Integer, Interval,
    Number, Output, Printed, Text, Time, TimeTz, Timestamp, TimestampTz, Uuid, Varbit, Whole,
};

const BOOLEAN: DataType = DataType::Boolean;
const INTEGER: DataType = DataType::Integer;
const DOUBLE: DataType = DataType::Double;
const TEXT: DataType = DataType::Text;
const DATE: DataType = DataType::Date;
const TIMESTAMP: DataType = DataType::Timestamp;
const TIMESTAMPTZ: DataType = DataType::TimestampTz;
const TIME: DataType = DataType::Time;
const TIMETZ: DataType = DataType::TimeTz;
const INTERVAL: DataType = DataType::Interval;
const BYTEA: DataType = DataType::Bytea;
const BIGINT: DataType = DataType::BigInt;
const BITS: DataType = DataType::Bits(types::Bits::Any);
const INET: DataType = DataType::Network(types::Network::Inet);
const CIDR: DataType = DataType::Network(types::Network::Cidr);
const VARBIT: DataType = DataType::Bits(types::Bits::AnyVarying);
/// The widest whole number.
const HUGE: DataType = DataType::Decimal { precision: 38, scale: 0 };

/// The parameter lists of a function in order of preference; none for functions whose arguments share one type.
pub(crate) fn overloads(function: Function) -> &'static [Overload] {
    let families = [
        floats, exact, bits, networks, texts, patterns, moments, zoned, intervals, series, bytes,
        of_duckdb, others,
    ];
    let mut lists = families.iter().map(|it| it(function));
    lists.find(|it| !it.is_empty()).unwrap_or(&[])
}

fn floats(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        it if float::is_unary(it) => const { &[fixed(&[Double], DOUBLE)] },
        F::Atan2 | F::Atan2d | F::Nanvl | F::Power => const { &[fixed(&[Double, Double], DOUBLE)] },
        F::Log => const { &[fixed(&[Double], DOUBLE), fixed(&[Double, Double], DOUBLE)] },
        F::Pi | F::Random => const { &[fixed(&[], DOUBLE)] },
        F::Float4Send | F::Float8Send => const { &[fixed(&[Double], BYTEA)] },
        F::IsNan => const { &[fixed(&[Double], BOOLEAN)] },
        _ => &[],
    }
}

fn networks(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::Host | F::Abbrev => const { &[fixed(&[Inet], TEXT)] },
        F::AbbrevOfCidr => const { &[fixed(&[Cidr], TEXT)] },
        F::Family | F::Masklen => const { &[fixed(&[Inet], INTEGER)] },
        F::SetMasklen => const { &[fixed(&[Inet, Integer], INET), fixed(&[Cidr, Integer], CIDR)] },
        F::Netmask | F::Hostmask | F::Broadcast | F::InetNot => const { &[fixed(&[Inet], INET)] },
        F::Network => const { &[fixed(&[Inet], CIDR)] },
        F::InetSameFamily | F::InetOverlaps => const { &[fixed(&[Inet, Inet], BOOLEAN)] },
        F::InetMerge => const { &[fixed(&[Inet, Inet], CIDR)] },
        F::InetWithin => const { &[fixed(&[Inet, Inet, Boolean], BOOLEAN)] },
        F::InetAnd | F::InetOr => const { &[fixed(&[Inet, Inet], INET)] },
        F::InetAdd | F::InetSubtract => const { &[fixed(&[Inet, Integer], INET)] },
        F::InetDifference => const { &[fixed(&[Inet, Inet], BIGINT)] },
        _ => &[],
    }
}

fn others(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::ArrowMetadata => const { &[fixed(&[Any, Text], TEXT)] },
        F::ArrowTypeof => const { &[fixed(&[Any], TEXT)] },
        F::CastToType | F::TryCastToType => const { &[ruled(&[Any, Any], scale::second)] },
        F::InputError => const { &[fixed(&[Text, Any], DataType::Array(types::Element::Text))] },
        F::WithMetadata => {
            const {
                &[Overload {
                    parameters: &[Any, Text, Text],
                    required: 3,
                    variadic: true,
                    outcome: Outcome::Rule(scale::first),
                }]
            }
        }
        F::Nextval | F::Currval => const { &[fixed(&[Text], BIGINT)] },
        F::Lastval => const { &[fixed(&[], BIGINT)] },
        F::Setval => const { &[optional(&[Text, Integer, Boolean], 2, BIGINT)] },
        F::PgAdvisoryUnlockAll => const { &[fixed(&[], TEXT)] },
        F::PgAdvisoryLock
        | F::PgAdvisoryLockShared
        | F::PgAdvisoryXactLock
        | F::PgAdvisoryXactLockShared => {
            const { &[fixed(&[Integer], TEXT), fixed(&[Integer, Integer], TEXT)] }
        }
        it if it.is_advisory() => {
            const { &[fixed(&[Integer], BOOLEAN), fixed(&[Integer, Integer], BOOLEAN)] }
        }
        F::PgSleep => const { &[fixed(&[Double], TEXT)] },
        F::PgNotify => const { &[fixed(&[Text, Text], TEXT)] },
        F::PgCancelBackend => const { &[fixed(&[Integer], BOOLEAN)] },
        F::PgTerminateBackend => const { &[optional(&[Integer, Integer], 1, BOOLEAN)] },
        F::SetConfig => const { &[fixed(&[Text, Text, Boolean], TEXT)] },
        F::RaiseCardinality => const { &[fixed(&[], DataType::Null)] },
        F::RaiseDomain => const { &[fixed(&[Text, Text], DataType::Null)] },
        F::RaiseUnknown => const { &[fixed(&[Text, Text], DataType::Null)] },
        F::RaiseRow => const { &[fixed(&[Text, Text, Text], BOOLEAN)] },
        F::Version => const { &[fixed(&[], TEXT)] },
        F::Uuid => const { &[fixed(&[], DataType::Uuid)] },
        F::UuidV7 => const { &[fixed(&[TimestampTz], DataType::Uuid)] },
        F::UuidVersion => const { &[fixed(&[Uuid], DataType::SmallInt)] },
        F::UuidTimestamp => const { &[fixed(&[Uuid], TIMESTAMPTZ)] },
        F::RandomNormal => const { &[optional(&[Double, Double], 0, DOUBLE)] },
        _ => &[],
    }
}

fn exact(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::Abs => const { &[ruled(&[Number], scale::first)] },
        F::IsZero => const { &[fixed(&[Number], BOOLEAN)] },
        F::MinScale | F::Scale => const { &[fixed(&[Decimal], INTEGER)] },
        F::WidthBucket => {
            const {
                &[
                    fixed(&[Decimal, Decimal, Decimal, Integer], INTEGER),
                    fixed(&[Double, Double, Double, Integer], INTEGER),
                ]
            }
        }
        F::SeriesLength => const { &[fixed(&[Decimal, Decimal, Decimal], BIGINT)] },
        F::Sign => {
            const {
                &[
                    fixed(&[Double], DOUBLE),
                    fixed(&[Decimal], DataType::Decimal { precision: 1, scale: 0 }),
                ]
            }
        }
        F::Ceil | F::Floor => {
            const { &[fixed(&[Double], DOUBLE), ruled(&[Decimal], scale::rounded)] }
        }
        F::Round => {
            const {
                &[
                    fixed(&[Double], DOUBLE),
                    ruled(&[Decimal], scale::rounded),
                    ruled(&[Decimal, Integer], scale::rounded),
                    fixed(&[Double, Integer], DOUBLE),
                ]
            }
        }
        F::Trunc => {
            const {
                &[
                    fixed(&[Double], DOUBLE),
                    ruled(&[Decimal], scale::truncated),
                    ruled(&[Decimal, Integer], scale::truncated),
                    fixed(&[Double, Integer], DOUBLE),
                ]
            }
        }
        F::Lcm => {
            const {
                &[
                    ruled(&[AnyInteger, AnyInteger], scale::wider_integer),
                    ruled(&[Decimal, Decimal], scale::multiple),
                ]
            }
        }
        F::Mod | F::Gcd => {
            const {
                &[
                    ruled(&[AnyInteger, AnyInteger], scale::wider_integer),
                    ruled(&[Decimal, Decimal], scale::common),
                ]
            }
        }
        F::Div => const { &[ruled(&[Decimal, Decimal], scale::quotient)] },
        F::Factorial => {
            const { &[fixed(&[Integer], DataType::Decimal { precision: 38, scale: 0 })] }
        }
        _ => &[],
    }
}

fn bits(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::BitwiseAnd | F::BitwiseOr | F::BitwiseXor => {
            const {
                &[
                    ruled(&[AnyInteger, AnyInteger], scale::wider_integer),
                    fixed(&[Whole, Whole], HUGE),
                    fixed(&[Bits, Bits], BITS),
                ]
            }
        }
        F::BitwiseNot => {
            const { &[ruled(&[AnyInteger], scale::first), fixed(&[Whole], HUGE), fixed(&[Bits], BITS)] }
        }
        F::ShiftLeft | F::ShiftRight => {
            const {
                &[
                    ruled(&[AnyInteger, AnyInteger], scale::first),
                    fixed(&[Whole, Whole], HUGE),
                    fixed(&[Bits, Integer], BITS),
                ]
            }
        }
        F::GetBitOfBits => const { &[fixed(&[Bits, Integer], INTEGER)] },
        F::SetBitOfBits => const { &[fixed(&[Bits, Integer, Integer], BITS)] },
        F::BitCountOfBits => const { &[fixed(&[Bits], BIGINT)] },
        F::BitPosition => const { &[fixed(&[Bits, Bits], INTEGER)] },
        F::Bitstring => const { &[fixed(&[Text, Integer], VARBIT)] },
        _ => &[],
    }
}

fn texts(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::CharacterLength => {
            const {
                &[
                    fixed(&[Text], INTEGER),
                    fixed(&[Bytea], INTEGER),
                    fixed(&[Bytea, Text], INTEGER),
                    fixed(&[Bits], INTEGER),
                ]
            }
        }
        F::Ascii | F::BitLength | F::OctetLength => const { &[fixed(&[Text], INTEGER)] },
        F::Reverse => const { &[fixed(&[Text], TEXT), fixed(&[Bytea], BYTEA)] },
        F::Btrim | F::Ltrim | F::Rtrim => {
            const { &[optional(&[Text, Text], 1, TEXT), fixed(&[Bytea, Bytea], BYTEA)] }
        }
        F::Concat => const { &[variadic(&[Output], TEXT)] },
        F::Format => {
            const {
                &[Overload {
                    parameters: &[Text, Output],
                    required: 1,
                    variadic: true,
                    outcome: Outcome::Is(TEXT),
                }]
            }
        }
        F::ConcatWs => const { &[variadic(&[Text, Output], TEXT)] },
        F::ConcatOperator => {
            const {
                &[
                    fixed(&[Text, Printed], TEXT),
                    fixed(&[Printed, Text], TEXT),
                    fixed(&[Bytea, Bytea], BYTEA),
                    fixed(&[Varbit, Varbit], VARBIT),
                ]
            }
        }
        F::Contains | F::EndsWith | F::StartsWith => const { &[fixed(&[Text, Text], BOOLEAN)] },
        F::Strpos => const { &[fixed(&[Text, Text], INTEGER), fixed(&[Bytea, Bytea], INTEGER)] },
        F::FindInSet | F::Levenshtein => const { &[fixed(&[Text, Text], INTEGER)] },
        F::Left | F::Right | F::Repeat => const { &[fixed(&[Text, Integer], TEXT)] },
        F::Lpad | F::Rpad => const { &[optional(&[Text, Integer, Text], 2, TEXT)] },
        F::Overlay => {
            const {
                &[
                    optional(&[Text, Text, Integer, Integer], 3, TEXT),
                    optional(&[Bytea, Bytea, Integer, Integer], 3, BYTEA),
                    optional(&[Bits, Bits, Integer, Integer], 3, BITS),
                ]
            }
        }
        F::Replace | F::Translate => const { &[fixed(&[Text, Text, Text], TEXT)] },
        F::SplitPart | F::SubstringIndex => const { &[fixed(&[Text, Text, Integer], TEXT)] },
        F::Substring => {
            const {
                &[
                    optional(&[Text, Integer, Integer], 2, TEXT),
                    fixed(&[Text, Text], TEXT),
                    optional(&[Bytea, Integer, Integer], 2, BYTEA),
                    optional(&[Bits, Integer, Integer], 2, BITS),
                ]
            }
        }
        F::ToHex | F::ToBin | F::ToOct => const { &[fixed(&[AnyInteger], TEXT)] },
        _ => letters(function),
    }
}

/// Of letters, of digests, and of texts as they stand in SQL.
fn letters(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::Initcap | F::Lower | F::Upper => const { &[fixed(&[Text], TEXT)] },
        F::Chr => const { &[fixed(&[Integer], TEXT)] },
        F::Md5 | F::QuoteIdent => const { &[fixed(&[Text], TEXT)] },
        F::QuoteLiteral | F::QuoteNullable => const { &[fixed(&[Printed], TEXT)] },
        F::Casefold | F::Unistr => const { &[fixed(&[Text], TEXT)] },
        F::Normalize => const { &[optional(&[Text, Text], 1, TEXT)] },
        F::IsNormalized => const { &[optional(&[Text, Text], 1, BOOLEAN)] },
        F::ParseIdent => {
            const { &[optional(&[Text, Boolean], 1, DataType::Array(types::Element::Text))] }
        }
        _ => &[],
    }
}

/// What only DuckDB has.
fn of_duckdb(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::DamerauLevenshtein | F::Hamming => const { &[fixed(&[Text, Text], BIGINT)] },
        F::Jaccard => const { &[fixed(&[Text, Text], DOUBLE)] },
        F::JaroSimilarity | F::JaroWinkler => {
            const { &[optional(&[Text, Text, Double], 2, DOUBLE)] }
        }
        F::Binomial => const { &[fixed(&[Integer, Integer], HUGE)] },
        F::NextAfter => const { &[fixed(&[Double, Double], DOUBLE)] },
        F::ParseBytes => const { &[fixed(&[Text], BIGINT)] },
        F::ParseDirname | F::ParseDirpath => const { &[optional(&[Text, Text], 1, TEXT)] },
        F::ParseFilename => {
            const { &[optional(&[Text, Text], 1, TEXT), optional(&[Text, Boolean, Text], 2, TEXT)] }
        }
        F::TextSlice => const { &[fixed(&[Text, Integer, Integer], TEXT)] },
        F::ParsePath => {
            const { &[optional(&[Text, Text], 1, DataType::Array(types::Element::Text))] }
        }
        F::DateDiff | F::DateSub => const { &[fixed(&[Text, Timestamp, Timestamp], BIGINT)] },
        F::Strptime | F::TryStrptime => const { &[fixed(&[Text, Text], TIMESTAMP)] },
        F::TimeBucket => const { &[optional(&[Interval, Timestamp, Timestamp], 2, TIMESTAMP)] },
        F::Strftime => const { &[fixed(&[Timestamp, Text], TEXT)] },
        _ => &[],
    }
}

fn patterns(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::Like => const { &[fixed(&[Text, Text, Text, Boolean], BOOLEAN)] },
        F::RegexLike => const { &[optional(&[Text, Text, Text], 2, BOOLEAN)] },
        F::RegexpCount => const { &[optional(&[Text, Text, Integer, Text], 2, INTEGER)] },
        F::RegexpInstr => {
            const {
                &[
                    optional(&[Text, Text, Integer, Integer, Integer, Text, Integer], 2, INTEGER),
                    // As DataFusion orders them.
                    optional(&[Text, Text, Integer, Integer, Text, Integer], 5, INTEGER),
                ]
            }
        }
        F::RegexpReplace => {
            const {
                &[
                    optional(&[Text, Text, Text, Text], 3, TEXT),
                    optional(&[Text, Text, Text, Integer, Integer, Text], 4, TEXT),
                ]
            }
        }
        F::RegexpMatch | F::RegexpSplit => {
            const { &[optional(&[Text, Text, Text], 2, DataType::Array(types::Element::Text))] }
        }
        F::RegexpMatches => {
            const { &[optional(&[Text, Text, Text], 2, DataType::Array(types::Element::Text))] }
        }
        F::RegexpExtractAll => {
            const { &[optional(&[Text, Text, Integer, Text], 2, DataType::Array(types::Element::Text))] }
        }
        F::RegexpSubstr => {
            const { &[optional(&[Text, Text, Integer, Integer, Text, Integer], 2, TEXT)] }
        }
        F::SimilarParts | F::SimilarToEscape => const { &[optional(&[Text, Text], 1, TEXT)] },
        _ => &[],
    }
}

fn series(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::SeriesMoments => {
            const {
                &[
                    fixed(&[Timestamp, Timestamp, Interval], BIGINT),
                    fixed(&[TimestampTz, TimestampTz, Interval, Text], BIGINT),
                ]
            }
        }
        F::SeriesMoment => {
            const {
                &[
                    fixed(&[Timestamp, Integer, Interval], TIMESTAMP),
                    fixed(&[TimestampTz, Integer, Interval, Text], TIMESTAMPTZ),
                ]
            }
        }
        _ => &[],
    }
}

fn intervals(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::Age | F::MomentsBetween => {
            const {
                &[
                    fixed(&[Timestamp, Timestamp], INTERVAL),
                    fixed(&[TimestampTz, TimestampTz], INTERVAL),
                ]
            }
        }
        F::AddInterval => {
            const {
                &[
                    fixed(&[Date, Interval], TIMESTAMP),
                    fixed(&[Timestamp, Interval], TIMESTAMP),
                    fixed(&[TimestampTz, Interval, Text], TIMESTAMPTZ),
                ]
            }
        }
        F::Timezone => {
            const { &[fixed(&[Text, TimestampTz], TIMESTAMP), fixed(&[Text, Timestamp], TIMESTAMPTZ)] }
        }
        F::StatementTimestamp | F::ClockTimestamp => const { &[fixed(&[], TIMESTAMPTZ)] },
        F::LocalTimestamp => const { &[fixed(&[], TIMESTAMP)] },
        F::LocalTime => const { &[fixed(&[], TIME)] },
        F::DateTrunc => {
            const { &[fixed(&[Text, Timestamp], TIMESTAMP), fixed(&[Text, Interval], INTERVAL)] }
        }
        F::CheckedRows => const { &[fixed(&[Integer, Text], BIGINT)] },
        F::IntervalKey => {
            const { &[fixed(&[Interval], DataType::Decimal { precision: 21, scale: 0 })] }
        }
        F::IntervalDays | F::IntervalMicros | F::IntervalMonths => {
            const { &[fixed(&[Interval], BIGINT)] }
        }
        F::IntervalOfParts => const { &[fixed(&[Integer, Integer, Integer], INTERVAL)] },
        F::NegateInterval | F::JustifyDays | F::JustifyHours | F::JustifyInterval => {
            const { &[fixed(&[Interval], INTERVAL)] }
        }
        F::AddIntervals => const { &[fixed(&[Interval, Interval], INTERVAL)] },
        F::MultiplyInterval | F::DivideInterval => {
            const { &[fixed(&[Interval, Double], INTERVAL)] }
        }
        F::FitInterval => const { &[fixed(&[Interval, Text, Integer], INTERVAL)] },
        F::FitTime => {
            const {
                &[
                    fixed(&[Timestamp, Integer], TIMESTAMP),
                    fixed(&[TimestampTz, Integer], TIMESTAMPTZ),
                    fixed(&[Time, Integer], TIME),
                    fixed(&[TimeTz, Integer], TIMETZ),
                ]
            }
        }
        F::AddToTime => const { &[fixed(&[Time, Interval], TIME)] },
        F::MakeInterval => {
            const {
                &[optional(
                    &[Integer, Integer, Integer, Integer, Integer, Integer, Double],
                    0,
                    INTERVAL,
                )]
            }
        }
        F::MakeTime => const { &[fixed(&[Integer, Integer, Double], TIME)] },
        _ => &[],
    }
}

fn bytes(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::Encode => const { &[fixed(&[Bytea, Text], TEXT)] },
        F::Decode => const { &[fixed(&[Text, Text], BYTEA)] },
        F::ConvertTo => const { &[fixed(&[Text, Text], BYTEA)] },
        F::ConvertFrom => const { &[fixed(&[Bytea, Text], TEXT)] },
        F::GetByte => const { &[fixed(&[Bytea, Integer], INTEGER)] },
        F::SetByte => const { &[fixed(&[Bytea, Integer, Integer], BYTEA)] },
        F::GetBit => const { &[fixed(&[Bytea, Integer], INTEGER)] },
        F::SetBit => const { &[fixed(&[Bytea, Integer, Integer], BYTEA)] },
        F::BitCount => const { &[fixed(&[Bytea], BIGINT), fixed(&[AnyInteger], INTEGER)] },
        F::SizeBytes => const { &[fixed(&[Text], BIGINT)] },
        F::UnicodeAssigned => const { &[fixed(&[Text], BOOLEAN)] },
        F::UnicodeVersion => const { &[fixed(&[], TEXT)] },
        F::Crc32 | F::Crc32c => const { &[fixed(&[Bytea], BIGINT)] },
        F::Md5OfBytes => const { &[fixed(&[Bytea], TEXT)] },
        F::Sha224 | F::Sha256 | F::Sha384 | F::Sha512 => const { &[fixed(&[Bytea], BYTEA)] },
        _ => &[],
    }
}

/// Functions of points of time that know a time zone or an interval, and templates of other values.
fn zoned(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::CurrentTime => const { &[fixed(&[], TIMETZ)] },
        F::AddToTimeTz => const { &[fixed(&[TimeTz, Interval], TIMETZ)] },
        F::MomentOfTimeTz => const { &[fixed(&[Date, TimeTz], TIMESTAMPTZ)] },
        F::TimezoneOfTimeTz => const { &[fixed(&[Text, TimeTz, TimestampTz], TIMETZ)] },
        F::ZoneOfInterval => const { &[fixed(&[Interval], TEXT)] },
        F::ToCharInZone => const { &[fixed(&[TimestampTz, Text, Text], TEXT)] },
        F::ToCharNumber => const { &[fixed(&[Number, Text], TEXT)] },
        F::ToCharInterval => const { &[fixed(&[Interval, Text], TEXT)] },
        F::ToNumber => const { &[ruled(&[Text, Text], scale::of_picture)] },
        F::MakeTimestampTz => {
            const { &[fixed(&[Integer, Integer, Integer, Integer, Integer, Double, Text], TIMESTAMPTZ)] }
        }
        F::DateBin => {
            const {
                &[
                    fixed(&[Interval, Timestamp, Timestamp], TIMESTAMP),
                    fixed(&[Interval, TimestampTz, TimestampTz], TIMESTAMPTZ),
                ]
            }
        }
        _ => &[],
    }
}

fn moments(function: Function) -> &'static [Overload] {
    use Function as F;
    match function {
        F::CurrentDate => const { &[fixed(&[], DATE)] },
        F::Now => const { &[fixed(&[], TIMESTAMPTZ)] },
        F::DatePart => {
            const {
                &[
                    fixed(&[Text, Timestamp], DOUBLE),
                    fixed(&[Text, Time], DOUBLE),
                    fixed(&[Text, Interval], DOUBLE),
                ]
            }
        }
        F::Extract => {
            const {
                &[
                    ruled(&[Text, Timestamp], scale::field),
                    ruled(&[Text, Date], scale::field),
                    ruled(&[Text, Time], scale::field),
                    ruled(&[Text, Interval], scale::field),
                ]
            }
        }
        F::DatePartOfTimeTz => const { &[fixed(&[Text, TimeTz], DOUBLE)] },
        F::ExtractOfTimeTz => const { &[ruled(&[Text, TimeTz], scale::field)] },
        F::FromUnixtime => const { &[fixed(&[Integer], TIMESTAMP)] },
        F::MakeDate => const { &[fixed(&[Integer, Integer, Integer], DATE)] },
        F::MakeTimestamp => {
            const { &[fixed(&[Integer, Integer, Integer, Integer, Integer, Double], TIMESTAMP)] }
        }
        F::ToChar | F::DateFormat => const { &[fixed(&[Timestamp, Text], TEXT)] },
        F::ToDate => {
            const {
                &[
                    optional(&[Text, Text], 1, DATE),
                    fixed(&[Date], DATE),
                    fixed(&[Timestamp], DATE),
                    fixed(&[Integer], DATE),
                ]
            }
        }
        F::ToLocalTime => const { &[fixed(&[Timestamp], TIMESTAMP)] },
        F::ToTimestamp
        | F::ToTimestampMicros
        | F::ToTimestampMillis
        | F::ToTimestampNanos
        | F::ToTimestampSeconds => {
            const {
                &[
                    fixed(&[Integer], TIMESTAMP),
                    fixed(&[Double], TIMESTAMP),
                    optional(&[Text, Text], 1, TIMESTAMP),
                    fixed(&[Timestamp], TIMESTAMP),
                ]
            }
        }
        F::ToUnixtime => {
            const {
                &[
                    fixed(&[Timestamp], BIGINT),
                    optional(&[Text, Text], 1, BIGINT),
                    fixed(&[Integer], BIGINT),
                    fixed(&[Double], BIGINT),
                ]
            }
        }
        _ => &[],
    }
}
