//! When a result is the expected one.

use md5::{Digest, Md5};
use regex::Regex;

use super::cells::{Flavour, Rows};
use super::script::Sort;

/// Compares rows with the expected lines. The error says in a few words, without any value, how they differ.
///
/// Where `ordered` says no, the rows have no order that the statement asked for, and none is compared.
pub fn compare(
    rows: &mut Rows,
    expected: &[&str],
    types: &str,
    sort: Sort,
    flavour: Flavour,
    ordered: &dyn Fn() -> bool,
) -> Result<(), &'static str> {
    let columns = rows.columns.max(1);
    sort_values(&mut rows.values, sort, columns);
    if let [line] = expected
        && let Some((count, wanted)) = hash_of(line)
    {
        return match () {
            () if count != rows.values.len() => Err("number of values"),
            () if hash(&rows.values) != wanted => Err("hash of the values"),
            () => Ok(()),
        };
    }
    let letters = if types.is_empty() { columns } else { types.len() };
    let mut wanted = split(expected, letters, rows, flavour)?;
    if wanted.len() != rows.values.len() {
        return Err("number of rows");
    }
    if letters != columns && !wanted.is_empty() {
        return Err("number of columns");
    }
    if matches(&rows.values, &wanted, flavour) {
        return Ok(());
    }
    let unit = if sort == Sort::Values { 1 } else { columns };
    let mut ours = rows.values.clone();
    sort_rows(&mut ours, unit);
    sort_rows(&mut wanted, unit);
    match matches(&ours, &wanted, flavour) {
        false => Err("values"),
        true if sort == Sort::Nothing && ordered() => Err("order of the rows"),
        true => Ok(()),
    }
}

/// Sorts as text, rows or single values.
pub fn sort_values(values: &mut Vec<String>, sort: Sort, columns: usize) {
    match sort {
        Sort::Nothing => {}
        Sort::Values => values.sort_unstable(),
        Sort::Rows => sort_rows(values, columns),
    }
}

fn sort_rows<T: Ord + Clone>(values: &mut Vec<T>, columns: usize) {
    if columns == 1 {
        values.sort_unstable();
        return;
    }
    let mut rows: Vec<&[T]> = values.chunks(columns).collect();
    rows.sort_unstable();
    *values = rows.concat();
}

/// The MD5 over all values, each with a line feed, as 32 hexadecimal digits.
pub fn hash(values: &[String]) -> String {
    let mut context = Md5::new();
    for value in values {
        context.update(value.as_bytes());
        context.update(b"\n");
    }
    context.finalize().iter().map(|it| format!("{it:02x}")).collect()
}

/// Count and hash of a line `N values hashing to HASH`.
fn hash_of(line: &str) -> Option<(usize, &str)> {
    let (count, hash) = line.split_once(" values hashing to ")?;
    Some((count.parse().ok()?, hash.trim()))
}

/// The expected values, from lines of values or of rows.
fn split<'a>(
    lines: &[&'a str],
    letters: usize,
    rows: &Rows,
    flavour: Flavour,
) -> Result<Vec<&'a str>, &'static str> {
    if flavour == Flavour::Postgres {
        return words(lines, rows);
    }
    let tabs = |line: &&str| line.contains('\t');
    let by_row = letters > 1 && (lines.len() == rows.count() || lines.iter().all(tabs));
    if flavour == Flavour::Sqlite || !by_row {
        return Ok(lines.to_vec());
    }
    // Tabs beside each other are one: an empty text is written `(empty)`.
    let cells = |line: &&'a str| line.split('\t').filter(|it| !it.is_empty());
    let values: Vec<&str> = lines.iter().flat_map(cells).collect();
    let even = values.len() == lines.len() * letters;
    if even { Ok(values) } else { Err("number of columns") }
}

/// Rows in which nothing tells where a column ends are taken apart at blanks: as many words as each of our values has.
fn words<'a>(lines: &[&'a str], rows: &Rows) -> Result<Vec<&'a str>, &'static str> {
    if rows.columns <= 1 {
        return Ok(lines.to_vec());
    }
    if lines.len() != rows.count() {
        return Err("number of rows");
    }
    let mut values = Vec::new();
    for (line, ours) in lines.iter().zip(rows.values.chunks(rows.columns)) {
        let mut rest = line.trim();
        for (at, our) in ours.iter().enumerate() {
            let mut end = rest.len();
            if at + 1 < ours.len() {
                let blanks = our.trim().matches(' ').count();
                let all = rest.match_indices(' ').map(|it| it.0);
                end = all.clone().nth(blanks).unwrap_or(rest.len());
            }
            let (value, tail) = rest.split_at(end);
            values.push(value.trim());
            rest = tail.trim_start();
        }
    }
    Ok(values)
}

fn matches<S: AsRef<str>>(ours: &[String], wanted: &[S], flavour: Flavour) -> bool {
    ours.iter().zip(wanted).all(|(ours, wanted)| same(ours, wanted.as_ref(), flavour))
}

/// Whether a value is the expected one: as text, as a number, as a truth value, or by a pattern.
fn same(ours: &str, wanted: &str, flavour: Flavour) -> bool {
    if ours == wanted {
        return true;
    }
    for (prefix, inside) in [("<REGEX>:", true), ("<!REGEX>:", false)] {
        if let Some(pattern) = wanted.strip_prefix(prefix) {
            let pattern = Regex::new(&format!("(?s)^(?:{pattern})$"));
            return pattern.is_ok_and(|it| it.is_match(ours) == inside);
        }
    }
    match (ours, wanted) {
        ("true", "t" | "1" | "True") | ("false", "f" | "0" | "False") => return true,
        ("1", "true" | "True" | "t") | ("0", "false" | "False" | "f") => {
            return flavour != Flavour::Sqlite;
        }
        _ => {}
    }
    let (Ok(a), Ok(b)) = (ours.trim().parse::<f64>(), wanted.trim().parse::<f64>()) else {
        return ours.trim_end() == wanted.trim_end();
    };
    if !ours.contains(['.', 'e', 'E', 'n']) && !wanted.contains(['.', 'e', 'E', 'n']) {
        return ours.trim() == wanted.trim();
    }
    // Places of quotients and averages, and of three places of a float, are a matter of taste.
    let tolerance = match flavour {
        Flavour::Sqlite => 0.001_000_1,
        Flavour::DuckDb => 1e-4 * a.abs().max(b.abs()),
        Flavour::Postgres => 1e-6 * a.abs().max(b.abs()).max(1.0),
    };
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(columns: usize, values: &[&str]) -> Rows {
        Rows { columns, values: values.iter().map(|it| (*it).to_owned()).collect() }
    }

    #[test]
    fn values_and_rows_per_line() {
        let ours = || rows(2, &["1", "a b", "2", "NULL"]);
        let check = |lines: &[&str], flavour| {
            compare(&mut ours(), lines, "IT", Sort::Nothing, flavour, &|| true)
        };
        assert_eq!(check(&["1", "a b", "2", "NULL"], Flavour::Sqlite), Ok(()));
        assert_eq!(check(&["1", "a b", "2", "NULL"], Flavour::DuckDb), Ok(()));
        assert_eq!(check(&["1\ta b", "2\tNULL"], Flavour::DuckDb), Ok(()));
        assert_eq!(check(&["1 a b", "2  NULL"], Flavour::Postgres), Ok(()));
        assert_eq!(check(&["1", "a b"], Flavour::Sqlite), Err("number of rows"));
        assert_eq!(check(&["1 a b"], Flavour::Postgres), Err("number of rows"));
        assert_eq!(check(&["1", "a b", "2", "0"], Flavour::Sqlite), Err("values"));
        assert_eq!(check(&["2", "NULL", "1", "a b"], Flavour::Sqlite), Err("order of the rows"));
        assert_eq!(check(&["1\ta\tb", "2\tNULL\t3"], Flavour::DuckDb), Err("number of columns"));
    }

    #[test]
    fn sorts_and_hashes() {
        let values = ["2", "b", "10", "a"];
        let sorted = |sort| {
            let mut values = rows(2, &values).values;
            sort_values(&mut values, sort, 2);
            values
        };
        assert_eq!(sorted(Sort::Nothing), values);
        assert_eq!(sorted(Sort::Rows), ["10", "a", "2", "b"]);
        assert_eq!(sorted(Sort::Values), ["10", "2", "a", "b"]);
        // As `printf '1\n2\n' | md5sum` says.
        let line = "2 values hashing to 6ddb4095eb719e2a9f0a3f95677d24e0";
        let check = |values: &[&str], line: &str| {
            let mut ours = rows(1, values);
            compare(&mut ours, &[line], "I", Sort::Rows, Flavour::Sqlite, &|| true)
        };
        assert_eq!(check(&["2", "1"], line), Ok(()));
        assert_eq!(check(&["2", "3"], line), Err("hash of the values"));
        assert_eq!(check(&["2"], line), Err("number of values"));
    }

    #[test]
    fn an_order_that_nobody_asked_for_does_not_count() {
        let check = |ordered| {
            let mut ours = rows(1, &["2", "1"]);
            compare(&mut ours, &["1", "2"], "I", Sort::Nothing, Flavour::DuckDb, &|| ordered)
        };
        assert_eq!(check(false), Ok(()));
        assert_eq!(check(true), Err("order of the rows"));
    }

    #[test]
    fn numbers_truth_and_patterns() {
        for (ours, wanted, flavour, equal) in [
            ("1.500", "1.5", Flavour::DuckDb, true),
            ("0.33333333333333333333", "0.333333", Flavour::DuckDb, true),
            ("1000001", "1000002", Flavour::DuckDb, false),
            ("true", "1", Flavour::DuckDb, true),
            ("true", "t", Flavour::Postgres, true),
            ("true", "f", Flavour::Postgres, false),
            ("0.667", "0.666", Flavour::Sqlite, true),
            ("0.669", "0.666", Flavour::Sqlite, false),
            ("NaN", "nan", Flavour::DuckDb, true),
            ("inf", "Infinity", Flavour::DuckDb, true),
            ("Hello there", "<REGEX>:.*there", Flavour::DuckDb, true),
            ("Hello", "<REGEX>:.*there", Flavour::DuckDb, false),
            ("Hello", "<!REGEX>:.*there", Flavour::DuckDb, true),
            ("NULL", "0", Flavour::Sqlite, false),
        ] {
            assert_eq!(same(ours, wanted, flavour), equal, "{ours} against {wanted}");
        }
    }
}
