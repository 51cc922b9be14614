//! What a query reads in the place of a table: a file by its name, or a call of a function that reads files.

use sqlparser::ast;
use sqlparser::tokenizer::{Token, Tokenizer};
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::data_types;
use crate::dialect::Postgres;
use crate::file_calls::FUNCTIONS;
use sqlparser::parser::Parser;

/// What a query reads in the place of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileReference {
    /// The function, in lower case; `None` for a file by its name.
    pub function: Option<String>,
    /// The names of files, or patterns.
    pub paths: Vec<String>,
    /// Named arguments, by lower-case name.
    pub options: Vec<(String, FileOption)>,
}

/// The value of a named argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileOption {
    /// A text, number or word.
    Text(String),
    /// `[a, b]`
    List(Vec<String>),
    /// `{'a': b}`
    Map(Vec<(String, String)>),
}

impl FileReference {
    /// Reads the name of a table in single quotes, as [`crate::files::files_in`] gives it.
    ///
    /// # Errors
    /// 42601 for arguments that are no constants.
    pub fn parse(name: &str) -> SqlResult<Self> {
        let function = name.split_once('(').map(|it| it.0);
        match function.filter(|it| FUNCTIONS.contains(it)) {
            None => Ok(Self { function: None, paths: vec![name.to_owned()], options: Vec::new() }),
            Some(function) => Self::call(function, &name[function.len()..]),
        }
    }

    fn call(function: &str, arguments: &str) -> SqlResult<Self> {
        let tokens = Tokenizer::new(&Postgres::of(0), arguments).tokenize();
        let tokens = tokens.map_err(|it| crate::syntax::syntax(&it.into()))?;
        let tokens: Vec<Token> =
            tokens.into_iter().filter(|it| !matches!(it, Token::Whitespace(_))).collect();
        let wrong = |what: &str| {
            let message = format!("syntax error: {function} takes {what}");
            SqlError::new(SqlState::SYNTAX, message)
                .with_hint(format!("{function}('file', name = value, ..)"))
        };
        let [Token::LParen, arguments @ .., Token::RParen] = &tokens[..] else {
            return Err(wrong("arguments in brackets"));
        };
        let mut call =
            Self { function: Some(function.to_owned()), paths: Vec::new(), options: Vec::new() };
        for (place, argument) in separated(arguments).into_iter().enumerate() {
            match argument {
                [Token::Word(name), Token::Eq, value @ ..] => {
                    let name = name.value.to_lowercase();
                    if call.options.iter().any(|it| it.0 == name) {
                        return Err(wrong(&format!("{name} once")));
                    }
                    let value =
                        option(value).ok_or_else(|| wrong(&format!("a constant for {name}")))?;
                    call.options.push((name, value));
                }
                value if place == 0 => match option(value) {
                    Some(FileOption::Text(path))
                        if matches!(value, [Token::SingleQuotedString(_)]) =>
                    {
                        call.paths.push(path);
                    }
                    Some(FileOption::List(paths)) if !paths.is_empty() => call.paths = paths,
                    _ => return Err(wrong("the name of a file, or a list of names")),
                },
                _ => return Err(wrong("arguments by name behind the first")),
            }
        }
        match call.paths.is_empty() {
            true => Err(wrong("the name of a file")),
            false => Ok(call),
        }
    }
}

/// The parts between commas, where no brackets are open.
fn separated(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0_i32;
    let parts = tokens.split(|it| {
        match it {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth -= 1,
            _ => {}
        }
        depth == 0 && *it == Token::Comma
    });
    parts.filter(|it| !it.is_empty()).collect()
}

fn option(tokens: &[Token]) -> Option<FileOption> {
    match tokens {
        [Token::LBracket, list @ .., Token::RBracket] => {
            let values = separated(list).into_iter().map(text);
            values.collect::<Option<_>>().map(FileOption::List)
        }
        [Token::LBrace, list @ .., Token::RBrace] => {
            let pair = |it: &[Token]| match it {
                [name, Token::Colon, value @ ..] => {
                    Some((text(std::slice::from_ref(name))?, text(value)?))
                }
                _ => None,
            };
            separated(list).into_iter().map(pair).collect::<Option<_>>().map(FileOption::Map)
        }
        single => text(single).map(FileOption::Text),
    }
}

fn text(tokens: &[Token]) -> Option<String> {
    match tokens {
        [Token::SingleQuotedString(it)] | [Token::Number(it, _)] => Some(it.clone()),
        [Token::Word(it)] => Some(it.value.clone()),
        [Token::Minus, Token::Number(it, _)] => Some(format!("-{it}")),
        _ => None,
    }
}

/// The type of a name, as in CREATE TABLE.
///
/// # Errors
/// 42601 for what is no type, 0A000 for one that there is not.
pub fn named_type(name: &str) -> SqlResult<DataType> {
    data_types::data_type(&written_type(name)?)
}

/// A type as it is written, of whoever made it.
pub(crate) fn written_type(name: &str) -> SqlResult<ast::DataType> {
    let dialect = Postgres::of(name.len());
    let parser = Parser::new(&dialect).try_with_sql(name);
    let parsed = parser.and_then(|mut it| {
        let data_type = it.parse_data_type()?;
        it.expect_token(&Token::EOF).map(|_| data_type)
    });
    parsed.map_err(|it| crate::syntax::syntax(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_file_and_a_call_has_arguments() {
        let file = FileReference::parse("a (1).csv").unwrap();
        assert_eq!((file.function, file.paths), (None, vec!["a (1).csv".to_owned()]));
        let text = |it: &str| FileOption::Text(it.to_owned());
        let call = "read_csv(['a', 'b'], header = true, columns = {'x': 'INT', y: 'DECIMAL(4, 2)'}, skip = -1)";
        let call = FileReference::parse(call).unwrap();
        assert_eq!(call.function.as_deref(), Some("read_csv"));
        assert_eq!(call.paths, ["a", "b"]);
        assert_eq!(call.options[0], ("header".to_owned(), text("true")));
        let map = vec![("x", "INT"), ("y", "DECIMAL(4, 2)")];
        let map = map.into_iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        assert_eq!(call.options[1], ("columns".to_owned(), FileOption::Map(map)));
        assert_eq!(call.options[2], ("skip".to_owned(), text("-1")));
        for wrong in [
            "read_csv()",
            "read_csv([])",
            "read_csv(1)",
            "read_csv('a', 'b')",
            "read_csv('a', b = 1 + 1)",
            "read_csv('a', b = 1, b = 2)",
            "read_csv(b = 1)",
        ] {
            assert_eq!(FileReference::parse(wrong).unwrap_err().state, SqlState::SYNTAX, "{wrong}");
        }
    }

    #[test]
    fn types_have_their_names() {
        assert_eq!(named_type("BIGINT"), Ok(DataType::BigInt));
        assert_eq!(named_type("decimal(4, 2)"), Ok(DataType::Decimal { precision: 4, scale: 2 }));
        assert!(named_type("1 + 1").is_err());
    }
}
