//! More functions of DuckDB that are short in SQL, for [`crate::written_in_sql`].

/// What calls of a function of DuckDB stand for, each form with the number of its arguments.
pub(crate) fn forms(name: &str) -> Option<&'static [(usize, &'static str)]> {
    of_lists(name)
        .or_else(|| of_texts(name))
        .or_else(|| of_numbers(name))
        .or_else(|| of_times(name))
}

fn of_lists(name: &str) -> Option<&'static [(usize, &'static str)]> {
    Some(match name {
        "array_pop_back" => &[(1, "(({1})[1:cardinality({1}) - 1])")],
        "array_pop_front" => &[(1, "(({1})[2:])")],
        "array_push_front" => &[(2, "array_prepend({2}, {1})")],
        // Lists of lists are arrays of several dimensions here, of which these are all items.
        "flatten" => &[(
            1,
            "(CASE WHEN ({1}) IS NOT NULL THEN \
             ARRAY(SELECT \"the item\" FROM unnest({1}) AS \"the items\"(\"the item\")) END)",
        )],
        "list_grade_up" | "array_grade_up" | "grade_up" => &[(
            1,
            "(CASE WHEN ({1}) IS NOT NULL THEN ARRAY(SELECT \"the place\" FROM unnest({1}) \
             WITH ORDINALITY AS \"the items\"(\"the item\", \"the place\") \
             ORDER BY \"the item\" ASC NULLS LAST, \"the place\") END)",
        )],
        "list_resize" | "array_resize" => &[
            (
                2,
                "((({1}) || array_fill(({1})[0], ARRAY[greatest(({2}) - cardinality({1}), 0)]))[1:({2})])",
            ),
            (
                3,
                "((({1}) || array_fill(coalesce({3}, ({1})[0]), ARRAY[greatest(({2}) - cardinality({1}), 0)]))[1:({2})])",
            ),
        ],
        _ => return None,
    })
}

fn of_texts(name: &str) -> Option<&'static [(usize, &'static str)]> {
    Some(match name {
        "nfc_normalize" => &[(1, "normalize({1}, NFC)")],
        // The marks that stand above and below letters.
        "strip_accents" => &[(
            1,
            "normalize(regexp_replace(normalize({1}, NFD), '[\\u0300-\\u036f]', '', 'g'), NFC)",
        )],
        "url_encode" => &[(
            1,
            "(CASE WHEN ({1}) IS NOT NULL THEN (SELECT coalesce(string_agg(\
             CASE WHEN \"the letter\" ~ '^[A-Za-z0-9_.~-]$' THEN \"the letter\" ELSE upper(regexp_replace(\
             encode(convert_to(\"the letter\", 'UTF8'), 'hex'), '(..)', '%\\1', 'g')) END, \
             '' ORDER BY \"the place\"), '') FROM regexp_split_to_table({1}, '') \
             WITH ORDINALITY AS \"the letters\"(\"the letter\", \"the place\")) END)",
        )],
        "regexp_escape" => &[(1, "regexp_replace({1}, '([^[:alnum:]_])', '\\\\\\1', 'g')")],
        "unhex" | "from_hex" => &[(1, "decode(repeat('0', length({1}) % 2) || ({1}), 'hex')")],
        "json_quote" => &[(1, "(json_build_array({1}) -> 0)")],
        _ => return None,
    })
}

fn of_numbers(name: &str) -> Option<&'static [(usize, &'static str)]> {
    Some(match name {
        "greatest_common_divisor" => &[(2, "gcd({1}, {2})")],
        "least_common_multiple" => &[(2, "lcm({1}, {2})")],
        "even" => &[(
            1,
            "(sign(CAST({1} AS DOUBLE PRECISION)) * ceil(abs(CAST({1} AS DOUBLE PRECISION)) / 2) * 2)",
        )],
        "signbit" => &[(1, "(left(CAST(CAST({1} AS DOUBLE PRECISION) AS TEXT), 1) = '-')")],
        "bin" => &[(1, "to_bin(CAST({1} AS BIGINT))")],
        _ => return None,
    })
}

fn of_times(name: &str) -> Option<&'static [(usize, &'static str)]> {
    Some(match name {
        "epoch" => &[(1, "date_part('epoch', {1})")],
        "julian" => &[(1, "date_part('julian', {1})")],
        "era" => &[(
            1,
            "(CASE WHEN extract(year FROM {1}) > 0 THEN 1 WHEN extract(year FROM {1}) < 0 THEN 0 END)",
        )],
        "timezone_hour" => &[(1, "CAST(extract(timezone_hour FROM {1}) AS BIGINT)")],
        "timezone_minute" => &[(1, "CAST(extract(timezone_minute FROM {1}) AS BIGINT)")],
        "current_localtime" => &[(0, "LOCALTIME")],
        "current_localtimestamp" => &[(0, "LOCALTIMESTAMP")],
        "make_timestamp" => &[(1, "(TIMESTAMP '1970-01-01' + ({1}) * INTERVAL '1 microsecond')")],
        "make_timestamp_ms" => {
            &[(1, "(TIMESTAMP '1970-01-01' + ({1}) * INTERVAL '1 millisecond')")]
        }
        "make_timestamp_ns" => &[(
            1,
            "(TIMESTAMP '1970-01-01' + CAST(floor(CAST({1} AS NUMERIC) / 1000) AS BIGINT) * INTERVAL '1 microsecond')",
        )],
        _ => return None,
    })
}
