//! What the columns on the way through a plan are called.
//!
//! Key decision: a plan knows columns by place, people by name. A stored column keeps its name; a computed value is called
//! by its text, or, where that is long, by a label that stands behind the text where it is computed.

/// The longest text that stands for a value wherever it is used.
const TEXT_MAX: usize = 48;

/// A column in a layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Name {
    text: String,
    /// The table that it comes from.
    table: Option<String>,
}

/// The columns of a layout, in order.
pub(super) type Layout = Vec<Name>;

impl Name {
    /// A column of a table.
    pub fn of_table(table: &str, column: &str) -> Self {
        Self { text: identifier(column), table: Some(identifier(table)) }
    }

    /// Anything else.
    pub fn of_value(text: impl Into<String>) -> Self {
        Self { text: text.into(), table: None }
    }
}

/// Labels of values whose texts are long.
#[derive(Default)]
pub(super) struct Labels(usize);

impl Labels {
    /// What a computed value is called from here on, and how it stands where it is computed.
    pub fn name(&mut self, text: String) -> (Name, String) {
        if text.chars().count() <= TEXT_MAX {
            return (Name::of_value(text.clone()), text);
        }
        self.label(text)
    }

    /// The same under a label, however short its text is: of a value that another look would not give again.
    pub fn label(&mut self, text: String) -> (Name, String) {
        self.0 += 1;
        let label = format!("expr{}", self.0);
        let shown = format!("{text} as {label}");
        (Name::of_value(label), shown)
    }
}

/// The columns of a layout under names that tell them apart: where two are called alike, with their tables, and where
/// that is not enough, with their number.
pub(super) fn distinct(layout: &[Name]) -> Vec<String> {
    let qualified = |it: &Name| match &it.table {
        Some(table) => format!("{table}.{}", it.text),
        None => it.text.clone(),
    };
    let named = |it: &Name| {
        let alone = layout.iter().filter(|other| other.text == it.text).count() == 1;
        if alone { it.text.clone() } else { qualified(it) }
    };
    let names: Vec<String> = layout.iter().map(named).collect();
    let number = |place: usize| names[..place].iter().filter(|it| **it == names[place]).count();
    let numbered = |place: usize| match number(place) {
        0 => names[place].clone(),
        before => format!("{}:{}", names[place], before + 1),
    };
    (0..names.len()).map(numbered).collect()
}

/// A name as SQL spells it.
pub(super) fn identifier(name: &str) -> String {
    let plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    match name.chars().all(plain) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_told_apart() {
        let layout = [
            Name::of_table("x", "k"),
            Name::of_table("y", "k"),
            Name::of_table("y", "v"),
            Name::of_table("y", "k"),
            Name::of_table("y", "Big One"),
            Name::of_value("sum(v)"),
            Name::of_value("sum(v)"),
        ];
        let wanted = ["x.k", "y.k", "v", "y.k:2", "\"Big One\"", "sum(v)", "sum(v):2"];
        assert_eq!(distinct(&layout), wanted);
    }

    #[test]
    fn long_texts_get_labels() {
        let mut labels = Labels::default();
        assert_eq!(labels.name("a + b".into()), (Name::of_value("a + b"), "a + b".into()));
        let long = "x".repeat(TEXT_MAX + 1);
        assert_eq!(labels.name(long.clone()).1, format!("{long} as expr1"));
        assert_eq!(labels.name(long).0, Name::of_value("expr2"));
    }
}
