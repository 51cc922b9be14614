//! Reference answers of benchmarks, and the rule by which an answer counts as right.
//!
//! An answer file was made by another database over exactly the rows that our generator makes (`tools/bench-compare/reference.py`).
//! The format is described in `queries/tpch/answers/README.md`.
//!
//! - Invariant: text and dates compare exactly; a number never passes that is off by more than its column allows.
//! - Invariant: rows may change places only where ORDER BY leaves it open.

use arrow_array::RecordBatch;

use crate::text::Cells;

/// How the values of one column are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Character by character; dates too.
    Text,
    /// Integers and decimals: a relative difference of 1e-9, for engines that print them as doubles.
    Exact,
    /// Averages and ratios: a relative difference of 1e-6, because engines differ in the digits they keep.
    Approx,
}

impl Kind {
    fn tolerance(self) -> Option<f64> {
        match self {
            Kind::Text => None,
            Kind::Exact => Some(1e-9),
            Kind::Approx => Some(1e-6),
        }
    }
}

/// One reference answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The columns' names, as DuckDB shows them.
    pub names: Vec<String>,
    /// The columns' rules.
    pub kinds: Vec<Kind>,
    /// The columns (from 0) of the ORDER BY keys; what they leave equal may come in any order.
    pub order: Vec<usize>,
    /// Rows of the whole answer.
    pub row_count: usize,
    /// Checksum over all rows; only where `rows` holds no more than the head of the answer.
    pub checksum: Option<u64>,
    /// The rows, NULL as `NULL`.
    pub rows: Vec<Vec<String>>,
}

impl Answer {
    /// Reads an answer file. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Answer, String> {
        let (head, body) = text.split_once('\n').ok_or("an answer file has a head line")?;
        let mut row_count = None;
        let mut checksum = None;
        let mut order = Vec::new();
        for fact in head.trim_start_matches('#').split(',') {
            let (name, value) =
                fact.trim().split_once(' ').ok_or("a fact is a name and a value")?;
            match name {
                "rows" => row_count = value.parse().ok(),
                "checksum" => {
                    let value = u64::from_str_radix(value, 16);
                    checksum = Some(value.map_err(|_| "a checksum is hexadecimal")?);
                }
                "order" if value != "none" => {
                    for key in value.split(' ') {
                        let key: usize = key.parse().map_err(|_| "a key is a column's number")?;
                        order.push(key.checked_sub(1).ok_or("columns are counted from 1")?);
                    }
                }
                _ => {}
            }
        }
        let mut rows = parse_csv(body)?;
        if rows.is_empty() {
            return Err("an answer file names its columns".to_owned());
        }
        let mut names = Vec::new();
        let mut kinds = Vec::new();
        for column in rows.remove(0) {
            let (name, kind) = column.rsplit_once(':').ok_or("a column has a kind")?;
            names.push(name.to_owned());
            kinds.push(match kind {
                "text" => Kind::Text,
                "exact" => Kind::Exact,
                "approx" => Kind::Approx,
                other => return Err(format!("no column kind `{other}`")),
            });
        }
        if rows.iter().any(|row| row.len() != kinds.len()) {
            return Err("a row has another number of columns than the head".to_owned());
        }
        if order.iter().any(|&key| key >= kinds.len()) {
            return Err("an ORDER BY key is not a column".to_owned());
        }
        let row_count = row_count.ok_or("an answer file states its rows")?;
        if checksum.is_none() && row_count != rows.len() {
            return Err(format!("{} rows stored, {row_count} stated", rows.len()));
        }
        Ok(Answer { names, kinds, order, row_count, checksum, rows })
    }

    /// Compares the rows of a query with this answer; the error says where they differ.
    pub fn check_batches(&self, batches: &[RecordBatch]) -> Result<(), String> {
        let mut rows = Vec::new();
        for batch in batches {
            let columns: Vec<Cells> = batch.columns().iter().map(Cells::new).collect();
            let text = |it: &Cells, row| it.text(row).unwrap_or_else(|| "NULL".into());
            rows.extend(
                (0..batch.num_rows()).map(|row| columns.iter().map(|it| text(it, row)).collect()),
            );
        }
        self.check(&rows)
    }

    /// Compares a result with this answer; the error names the first row and column that differ.
    pub fn check(&self, result: &[Vec<String>]) -> Result<(), String> {
        if result.len() != self.row_count {
            return Err(format!("{} rows instead of {}", result.len(), self.row_count));
        }
        if let Some(row) = result.iter().find(|row| row.len() != self.kinds.len()) {
            return Err(format!("{} columns instead of {}", row.len(), self.kinds.len()));
        }
        let mut start = 0;
        while start < self.rows.len() {
            let key = self.key(&self.rows[start]);
            let run = self.rows[start..].iter().take_while(|row| self.key(row) == key).count();
            let end = start + run;
            self.check_run(start, &self.rows[start..end], &result[start..end])?;
            start = end;
        }
        match self.checksum {
            Some(sum) if sum != checksum(result, &self.kinds) => {
                Err("the checksum over all rows differs".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The normalised ORDER BY keys of a row.
    fn key(&self, row: &[String]) -> Vec<String> {
        self.order.iter().map(|&key| normal(&row[key], self.kinds[key])).collect()
    }

    /// Rows that ORDER BY does not tell apart, matched by their exact columns.
    fn check_run(
        &self,
        first: usize,
        want: &[Vec<String>],
        got: &[Vec<String>],
    ) -> Result<(), String> {
        let sorted = |rows: &[Vec<String>]| {
            let mut keyed: Vec<_> =
                rows.iter().map(|row| (stable_columns(row, &self.kinds), row.clone())).collect();
            keyed.sort();
            keyed
        };
        for (offset, (want, got)) in sorted(want).iter().zip(&sorted(got)).enumerate() {
            for (column, kind) in self.kinds.iter().enumerate() {
                let (want, got) = (&want.1[column], &got.1[column]);
                if !values_match(want, got, *kind) {
                    return Err(format!(
                        "row {}, column {}: `{got}` instead of `{want}`",
                        first + offset + 1,
                        self.names[column]
                    ));
                }
            }
        }
        Ok(())
    }
}

fn values_match(want: &str, got: &str, kind: Kind) -> bool {
    if normal(want, kind) == normal(got, kind) {
        return true;
    }
    let Some(tolerance) = kind.tolerance() else { return false };
    match (want.parse::<f64>(), got.parse::<f64>()) {
        (Ok(want), Ok(got)) => (want - got).abs() <= tolerance * want.abs().max(got.abs()),
        _ => false,
    }
}

/// An exact number without sign of zero and trailing zeros, so that `1.50` and `1.5` are one text.
fn normal(text: &str, kind: Kind) -> String {
    if kind != Kind::Exact || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return text.to_owned();
    }
    let cut = if text.contains('.') && !text.contains(['e', 'E']) {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    };
    if cut.trim_start_matches('-').bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        return "0".to_owned();
    }
    cut.to_owned()
}

fn stable_columns(row: &[String], kinds: &[Kind]) -> Vec<String> {
    let columns = row.iter().zip(kinds).filter(|(_, kind)| **kind != Kind::Approx);
    columns.map(|(text, kind)| normal(text, *kind)).collect()
}

/// The sum, modulo 2^64, of each row's FNV-1a hash, hence independent of the order of rows.
pub fn checksum(rows: &[Vec<String>], kinds: &[Kind]) -> u64 {
    rows.iter().fold(0u64, |total, row| {
        let text = stable_columns(row, kinds).join("\x1f");
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        total.wrapping_add(hash)
    })
}

/// CSV as RFC 4180 has it; a last line may lack its line break.
fn parse_csv(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    if quoted {
        return Err("a quote is never closed".to_owned());
    }
    if !row.is_empty() || !field.is_empty() {
        row.push(field);
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Answer {
        Answer::parse(text).unwrap()
    }

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|&field| field.to_owned()).collect()).collect()
    }

    #[test]
    fn each_kind_has_its_own_tolerance() {
        let a = answer("# rows 1, order none\nt:text,e:exact,a:approx\nx,100.00,2.5\n");
        a.check(&rows(&[&["x", "100", "2.500001"]])).unwrap();
        a.check(&rows(&[&["x", "100.00000001", "2.5"]])).unwrap();
        assert!(a.check(&rows(&[&["x", "100.01", "2.5"]])).is_err());
        assert!(a.check(&rows(&[&["x", "100", "2.50001"]])).is_err());
        assert!(a.check(&rows(&[&["x ", "100", "2.5"]])).is_err());
        assert!(a.check(&rows(&[&["x", "NULL", "2.5"]])).is_err());
        assert!(a.check(&rows(&[&["x", "100"]])).is_err());
        assert!(a.check(&[]).is_err());
    }

    #[test]
    fn order_matters_exactly_where_order_by_says() {
        let a = answer("# rows 3, order 1\nk:exact,v:text\n1,a\n1,b\n2,c\n");
        a.check(&rows(&[&["1", "b"], &["1", "a"], &["2", "c"]])).unwrap();
        assert!(a.check(&rows(&[&["1", "b"], &["2", "c"], &["1", "a"]])).is_err());
        let free = answer("# rows 2, order none\nv:approx,w:text\n1.5,x\n2.5,y\n");
        free.check(&rows(&[&["2.5", "y"], &["1.5", "x"]])).unwrap();
        assert!(free.check(&rows(&[&["2.5", "x"], &["1.5", "y"]])).is_err());
    }

    #[test]
    fn a_checksum_guards_the_rows_that_are_not_stored() {
        let all = rows(&[&["1.50"], &["2"], &["2"]]);
        let sum = checksum(&all, &[Kind::Exact]);
        let two = checksum(&rows(&[&["2.0", "y"], &["1.5", "x"]]), &[Kind::Exact, Kind::Text]);
        assert_eq!(two, 0x9e3c84c114e54683, "the script's sum of the same rows");
        let a = answer(&format!("# rows 3, order 1, checksum {sum:016x}\nk:exact\n1.5\n"));
        a.check(&all).unwrap();
        a.check(&rows(&[&["1.5"], &["2.0"], &["2"]])).unwrap();
        assert!(a.check(&rows(&[&["1.5"], &["2"], &["3"]])).unwrap_err().contains("checksum"));
        assert!(a.check(&rows(&[&["1.5"], &["2"]])).is_err());
    }

    #[test]
    fn zero_has_one_spelling() {
        for zero in ["0", "-0", "0.00", "-0.0"] {
            assert_eq!(normal(zero, Kind::Exact), "0");
        }
        assert_eq!(normal("100", Kind::Exact), "100");
        assert_eq!(normal("-1.20", Kind::Exact), "-1.2");
        assert_eq!(normal("1e10", Kind::Exact), "1e10");
        assert_eq!(normal("NULL", Kind::Exact), "NULL");
    }

    #[test]
    fn quotes_commas_and_line_breaks_survive_csv() {
        let parsed = parse_csv("a,\"b,\"\"c\"\"\nd\"\n,\nlast").unwrap();
        assert_eq!(parsed, rows(&[&["a", "b,\"c\"\nd"], &["", ""], &["last"]]));
        assert!(parse_csv("\"open").is_err());
    }

    #[test]
    fn a_broken_file_is_named_not_believed() {
        let broken = [
            "",
            "# rows 1\n",
            "# rows 2\na:text\nx\n",
            "# rows 1\na:number\nx\n",
            "# rows 1\na:text\nx,y\n",
            "# rows 1, order 2\na:text\nx\n",
            "# rows 1, order 0\na:text\nx\n",
            "# rows 1, checksum zz\na:text\nx\n",
        ];
        for text in broken {
            assert!(Answer::parse(text).is_err(), "{text:?}");
        }
    }
}
