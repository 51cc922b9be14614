use arrow_array::RecordBatch;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, StringArray,
};
use arrow_schema::Schema;
use nodewise::QueryProfile;
use stdx::sync::Arc;

use super::*;

fn answer(columns: Vec<(&str, ArrayRef)>) -> Answer {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap();
    Answer {
        tag: format!("SELECT {}", batch.num_rows()),
        schema: batch.schema(),
        types: Vec::new(),
        origins: Vec::new(),
        batches: vec![batch],
        profile: QueryProfile::default(),
    }
}

fn sample() -> Answer {
    let prices = vec![Some(12_345), Some(-5), None];
    let prices = Decimal128Array::from(prices).with_precision_and_scale(15, 2).unwrap();
    answer(vec![
        ("id", Arc::new(Int64Array::from(vec![1, 20, 300]))),
        ("name", Arc::new(StringArray::from(vec![Some("a,\"b\""), Some(""), None]))),
        ("price", Arc::new(prices)),
        ("day", Arc::new(Date32Array::from(vec![Some(0), None, Some(19_782)]))),
        ("ok", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ("x", Arc::new(Float64Array::from(vec![0.5, f64::NAN, 1e20]))),
    ])
}

fn plain(format: Format) -> OutputOptions {
    OutputOptions::plain(Look::new(format))
}

fn written(answer: &Answer, options: &OutputOptions) -> String {
    let mut out = Vec::new();
    write_answer(&mut out, answer, options, &Interrupt::default()).unwrap();
    String::from_utf8(out).unwrap()
}

/// Boxes in ASCII, for the eye.
fn ascii(text: &str) -> String {
    let plain = |it| match it {
        '\u{2500}' => '-',
        '\u{2502}' => '|',
        '\u{2026}' => '~',
        '\u{2510}'..='\u{253c}' | '\u{250c}' => '+',
        other => other,
    };
    text.chars().map(plain).collect()
}

#[test]
fn lines_tell_null_from_a_text_of_these_letters() {
    let names = StringArray::from(vec![Some("NULL"), None, Some("left out")]);
    let answer =
        answer(vec![("id", Arc::new(Int64Array::from(vec![1, 2, 3]))), ("name", Arc::new(names))]);
    let options = OutputOptions { rows_max: Some(2), ..plain(Format::Line) };
    let expected = "  id = 1\nname = NULL\n\n  id = 2\nname is NULL\n";
    assert_eq!(written(&answer, &options), expected);
}

#[test]
fn a_box_aligns_numbers_to_the_right() {
    let options = OutputOptions { footer: true, ..plain(Format::Box) };
    let expected = "\
+-----+-------+--------+------------+-------+-------+
| id  | name  | price  | day        | ok    | x     |
+-----+-------+--------+------------+-------+-------+
|   1 | a,\"b\" | 123.45 | 1970-01-01 | true  |   0.5 |
|  20 |       |  -0.05 | NULL       | false |   NaN |
| 300 | NULL  |   NULL | 2024-02-29 | NULL  | 1e+20 |
+-----+-------+--------+------------+-------+-------+
(3 rows)
";
    let expected = expected
        .replace("| id  |", "|  id |")
        .replace("| price  |", "|  price |")
        .replace("| x     |", "|     x |");
    assert_eq!(ascii(&written(&sample(), &options)), expected);
}

#[test]
fn csv_tells_null_from_an_empty_text() {
    let expected = "\
id,name,price,day,ok,x
1,\"a,\"\"b\"\"\",123.45,1970-01-01,true,0.5
20,\"\",-0.05,,false,NaN
300,,,2024-02-29,,1e+20
";
    assert_eq!(written(&sample(), &plain(Format::Csv)), expected);
}

#[test]
fn json_has_proper_types() {
    let expected = "\
[{\"id\":1,\"name\":\"a,\\\"b\\\"\",\"price\":123.45,\"day\":\"1970-01-01\",\"ok\":true,\"x\":0.5},
{\"id\":20,\"name\":\"\",\"price\":-0.05,\"day\":null,\"ok\":false,\"x\":null},
{\"id\":300,\"name\":null,\"price\":null,\"day\":\"2024-02-29\",\"ok\":null,\"x\":1e+20}]
";
    let json = written(&sample(), &plain(Format::Json));
    assert_eq!(json, expected);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value.as_array().unwrap().len(), 3);
}

#[test]
fn no_rows_are_shown_as_such() {
    let empty = answer(vec![("a", Arc::new(Int64Array::from(Vec::<i64>::new())))]);
    assert_eq!(written(&empty, &plain(Format::Csv)), "a\n");
    assert_eq!(written(&empty, &plain(Format::Json)), "[]\n");
    let boxed = ascii(&written(&empty, &plain(Format::Box)));
    assert_eq!(boxed, "+---+\n| a |\n+---+\n+---+\n");
    let nothing = Answer { schema: Arc::new(Schema::empty()), batches: Vec::new(), ..empty };
    assert!(!nothing.has_rows());
}

#[test]
fn long_results_are_cut_with_a_note() {
    let long = answer(vec![("n", Arc::new(Int64Array::from_iter_values(0..100)))]);
    let options = OutputOptions { rows_max: Some(2), footer: true, ..plain(Format::Box) };
    let expected = "+---+\n| n |\n+---+\n| 0 |\n| 1 |\n+---+\n(2 of 100 rows shown)\n";
    assert_eq!(ascii(&written(&long, &options)), expected);
}

#[test]
fn wide_results_fit_the_terminal() {
    let text = |it: &str| -> ArrayRef { Arc::new(StringArray::from(vec![it])) };
    let options = OutputOptions { footer: true, width: Some(20), ..plain(Format::Box) };
    let one = answer(vec![("t", text("a text that is much too long"))]);
    let expected = "\
+------------------+
| t                |
+------------------+
| a text that is ~ |
+------------------+
(1 row)
";
    assert_eq!(ascii(&written(&one, &options)), expected);
    let names: Vec<String> = (0..9).map(|it| format!("c{it}")).collect();
    let many = answer(names.iter().map(|it| (it.as_str(), text("x"))).collect());
    let shown = ascii(&written(&many, &options));
    assert!(shown.lines().take(5).all(|it| it.chars().count() <= 20), "{shown}");
    assert!(
        shown.contains("| c0 |") && shown.contains("| ~ |") && shown.contains("| c8 |"),
        "{shown}"
    );
    assert!(shown.ends_with("(1 row, 3 of 9 columns)\n"), "{shown}");
}

#[test]
fn wide_letters_and_line_feeds_keep_the_box() {
    let texts = StringArray::from(vec!["\u{4f60}\u{597d}", "e\u{301}", "a\nb\u{1b}"]);
    let odd = answer(vec![("t", Arc::new(texts))]);
    let boxed = ascii(&written(&odd, &plain(Format::Box)));
    let rows: Vec<&str> = boxed.lines().skip(3).take(3).collect();
    assert_eq!(rows[0], format!("| \u{4f60}\u{597d}{} |", " ".repeat(6)));
    assert_eq!(rows[1], format!("| e\u{301}{} |", " ".repeat(9)));
    assert_eq!(rows[2], "| a\\nb\\u{1b} |");
}

#[test]
fn a_plan_is_shown_without_a_box() {
    let plan = answer(vec![("QUERY PLAN", Arc::new(StringArray::from(vec!["scan", "  sum"])))]);
    let plan = Answer { tag: "EXPLAIN".into(), ..plan };
    assert_eq!(written(&plan, &plain(Format::Box)), "scan\n  sum\n");
}

/// Two rows with what each format must escape.
fn odd() -> Answer {
    let texts = StringArray::from(vec![Some("a|b<c>_'d'\\"), None]);
    answer(vec![("n_1", Arc::new(Int64Array::from(vec![-1, 2]))), ("t", Arc::new(texts))])
}

#[test]
fn formats_for_texts_escape_what_means_something_there() {
    let markdown = "| n_1 | t |\n| ---: | --- |\n| -1 | a\\|b<c>_'d'\\ |\n| 2 |  |\n";
    assert_eq!(written(&odd(), &plain(Format::Markdown)), markdown);
    let html = written(&odd(), &plain(Format::Html));
    assert!(html.contains("<td>a|b&lt;c&gt;_'d'\\</td>"), "{html}");
    assert!(html.starts_with("<table>\n<tr><th>n_1</th><th>t</th></tr>\n"), "{html}");
    let latex = written(&odd(), &plain(Format::Latex));
    assert!(
        latex.contains("n\\_1 & t \\\\\n\\hline\n-1 & a|b<c>\\_'d'\\textbackslash{} \\\\"),
        "{latex}"
    );
}

#[test]
fn inserts_read_back() {
    let look = Look { table: "My table".to_owned(), ..Look::new(Format::Insert) };
    let inserts = written(&odd(), &OutputOptions::plain(look.clone()));
    let expected =
        "INSERT INTO \"My table\" (n_1, t) VALUES\n  (-1, 'a|b<c>_''d''\\'),\n  (2, NULL);\n";
    assert_eq!(inserts, expected);
    let words =
        answer(vec![("x", Arc::new(Float64Array::from(vec![0.5, f64::NAN, f64::INFINITY])))]);
    let inserts = written(&words, &OutputOptions::plain(look.clone()));
    assert!(inserts.contains("(0.5),\n  ('NaN'),\n  ('Infinity');"), "{inserts}");
    let none = answer(vec![("x", Arc::new(Int64Array::from(Vec::<i64>::new())))]);
    assert_eq!(written(&none, &OutputOptions::plain(look)), "");
}

#[test]
fn the_user_chooses_null_names_and_letters_of_the_frame() {
    let look = Look { null: Some("-".to_owned()), headers: false, ..Look::new(Format::Table) };
    let table = written(&odd(), &OutputOptions::plain(look));
    let expected = "+-----+-------------+\n|  -1 | a|b<c>_'d'\\ |\n|   2 | -           |\n+-----+-------------+\n";
    assert_eq!(table, expected);
    let look = Look { null: Some("\\N".to_owned()), headers: false, ..Look::new(Format::Tsv) };
    assert_eq!(written(&odd(), &OutputOptions::plain(look)), "-1\ta|b<c>_'d'\\\n2\t\\N\n");
    assert_eq!(written(&sample(), &plain(Format::Jsonl)).lines().count(), 3);
}

#[test]
fn null_is_fainter_than_a_text_of_its_letters() {
    let names = StringArray::from(vec![Some("NULL"), None]);
    let options = OutputOptions { faint_null: true, ..plain(Format::Box) };
    let shown = written(&answer(vec![("t", Arc::new(names))]), &options);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        !lines[3].contains('\u{1b}') && lines[4].contains("\u{1b}[2mNULL\u{1b}[22m"),
        "{shown}"
    );
}
