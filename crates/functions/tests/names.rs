//! No name that DataFusion's library gave is lost: it resolves, or the table of refusals says why not.

use functions::{lookup, names, refusal};

/// All names and aliases of datafusion-functions 55.2 with the features that were on.
const REACHABLE: &str = "\
    abs acos acosh arrow_cast arrow_field arrow_metadata arrow_try_cast arrow_typeof ascii asin asinh atan atan2 atanh \
    bit_length btrim cast_to_type cbrt ceil char_length character_length chr coalesce concat concat_ws contains cos cosh \
    cot current_date current_time current_timestamp date_bin date_format date_part date_trunc datepart datetrunc degrees \
    ends_with exp factorial file_row_index find_in_set floor from_unixtime gcd get_field greatest ifnull initcap \
    input_file_name instr isnan iszero lcm least left length levenshtein ln log log10 log2 lower lpad ltrim make_date \
    make_time named_struct nanvl now nullif nvl nvl2 octet_length overlay pi position pow power radians rand random \
    regexp_count regexp_instr regexp_like regexp_match regexp_replace repeat replace reverse right round row rpad rtrim \
    signum sin sinh split_part sqrt starts_with strpos struct substr substr_index substring substring_index tan tanh \
    to_char to_date to_hex to_local_time to_time to_timestamp to_timestamp_micros to_timestamp_millis \
    to_timestamp_nanos to_timestamp_seconds to_unixtime today translate trim trunc try_cast_to_type union_extract \
    union_tag upper uuid version with_metadata";

#[test]
fn every_name_resolves_or_is_refused_with_a_reason() {
    for name in REACHABLE.split_whitespace() {
        let (found, refused) = (lookup(name), refusal(name));
        assert!(found.is_some() != refused.is_some(), "{name}: {found:?}, {refused:?}");
    }
    assert_eq!(lookup("raise_cardinality"), None, "only the binder calls it");
    assert_eq!(lookup("raise_domain"), None, "only the binder calls it");
    assert_eq!(lookup("ABS"), None, "names come in lower case");
}

#[test]
fn suggestions_are_names_that_resolve() {
    let all: Vec<&str> = names().collect();
    let mut distinct = all.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), all.len(), "no name stands twice");
    assert!(all.iter().all(|it| lookup(it).is_some()));
}
