//! Macros as plain data: what calls of a name stand for, as DuckDB has them.
//!
//! Key decision: what a call stands for is SQL as it was written: names in it mean what they mean where it is called.

use serde::{Deserialize, Serialize};

use crate::names;

/// A macro: its calls stand for expressions, or in FROM for queries.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "KeptMacro", into = "KeptMacro")]
pub struct MacroDefinition {
    /// Its name ([`names::joined`]).
    pub name: String,
    /// Whether its calls are tables.
    pub is_table: bool,
    /// What calls stand for, by their arguments: the first form that takes them.
    pub forms: Vec<MacroForm>,
}

impl MacroDefinition {
    /// Whether it was made as a function, of types.
    pub fn is_function(&self) -> bool {
        self.forms.iter().any(|it| it.function.is_some())
    }

    /// Its name in its schema: what stands before its parameters in its body, and what a column is called that is a call.
    pub fn bare_name(&self) -> String {
        names::bare(&self.name)
    }
}

/// A macro as it is kept. Those that were made before macros had schemas say none.
#[derive(Serialize, Deserialize)]
struct KeptMacro {
    #[serde(default = "usual_schema", skip_serializing_if = "is_usual_schema")]
    schema: String,
    /// In its schema.
    name: String,
    is_table: bool,
    /// None are of one that was dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    forms: Vec<MacroForm>,
}

fn usual_schema() -> String {
    names::PUBLIC.to_owned()
}

fn is_usual_schema(schema: &str) -> bool {
    schema == names::PUBLIC
}

impl From<KeptMacro> for MacroDefinition {
    fn from(it: KeptMacro) -> Self {
        let KeptMacro { schema, name, is_table, forms } = it;
        Self { name: names::joined(&schema, &name), is_table, forms }
    }
}

impl From<MacroDefinition> for KeptMacro {
    fn from(it: MacroDefinition) -> Self {
        let MacroDefinition { name, is_table, forms } = it;
        let (schema, name) = names::split(&name);
        Self { schema, name, is_table, forms }
    }
}

/// What a call of some arguments stands for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MacroForm {
    /// The parameters, in order.
    pub parameters: Vec<MacroParameter>,
    /// An expression, or a query, as SQL; of a function always a query.
    pub body: String,
    /// What a function of PostgreSQL says besides; `None` of a macro.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<SqlFunction>,
}

/// What a function written in SQL says besides its parameters and its body.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SqlFunction {
    /// The types of its parameters, as SQL.
    pub types: Vec<String>,
    /// What it gives: one value of a type, or the columns of a table, with their names and types as SQL.
    pub returns: Vec<(String, String)>,
    /// Whether it gives NULL where an argument is NULL, without a look at its body.
    pub is_strict: bool,
    /// What it says of itself, and nobody asks.
    #[serde(default, skip_serializing_if = "SaidOfFunction::is_nothing")]
    pub said: SaidOfFunction,
}

/// What a function says of itself for those who look at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SaidOfFunction {
    /// How its result may change.
    pub volatility: Volatility,
    /// Whether processes may share it.
    pub parallel: Parallel,
    /// LEAKPROOF.
    pub is_leakproof: bool,
}

impl SaidOfFunction {
    /// Whether it says nothing.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// How the result of a function of the same arguments may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Volatility {
    /// With each call.
    #[default]
    Volatile,
    /// With each statement.
    Stable,
    /// Never.
    Immutable,
}

/// What PARALLEL says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Parallel {
    /// UNSAFE.
    #[default]
    Unsafe,
    /// RESTRICTED.
    Restricted,
    /// SAFE.
    Safe,
}

/// A word about how a function is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionWord {
    /// STRICT, or CALLED ON NULL INPUT.
    Strict(bool),
    /// IMMUTABLE and its kin.
    Volatility(Volatility),
    /// PARALLEL.
    Parallel(Parallel),
    /// LEAKPROOF, or NOT.
    Leakproof(bool),
}

impl SqlFunction {
    /// Has the function say a word.
    pub fn say(&mut self, word: FunctionWord) {
        match word {
            FunctionWord::Strict(it) => self.is_strict = it,
            FunctionWord::Volatility(it) => self.said.volatility = it,
            FunctionWord::Parallel(it) => self.said.parallel = it,
            FunctionWord::Leakproof(it) => self.said.is_leakproof = it,
        }
    }
}

/// A parameter of a macro.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MacroParameter {
    /// Its name.
    pub name: String,
    /// What it is where a call does not say it, as SQL.
    pub default: Option<String>,
}
