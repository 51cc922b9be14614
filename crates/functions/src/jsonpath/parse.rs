//! A text as a path.

use types::numeric::Arithmetic;
use types::numeric::number::Number;
use types::{SqlError, SqlResult, SqlState};

use super::lexer::{Placed, Token, tokens, wrong};
use super::moment::Kind;
use super::path::{Chain, Compare, LAST_LEVEL, MOMENTS, Method, Path, RegexFlags, Step};

/// Steps that a path may have, and brackets inside of one another.
const STEPS_MAX: usize = 4_000;
const NESTING_MAX: usize = 250;

/// Reads a path.
///
/// # Errors
/// 42601 and 22P02 for what is none, 54001 for one that is too long.
pub(super) fn parse(text: &str) -> SqlResult<Path> {
    let tokens = tokens(text)?;
    if tokens.len() == 1 {
        let message = format!("invalid input syntax for type jsonpath: \"{text}\"");
        return Err(SqlError::new(SqlState::INVALID_TEXT, message));
    }
    if tokens.len() > STEPS_MAX {
        return Err(too_deep());
    }
    let size = tokens.len();
    let mut parser = Parser { text, tokens, at: 0, depth: 0, filters: 0, subscripts: 0 };
    let lax = match parser.word() {
        Some("strict") => {
            parser.at += 1;
            false
        }
        Some("lax") => {
            parser.at += 1;
            true
        }
        _ => true,
    };
    let found = parser.any_of()?;
    match parser.peek() {
        Token::End => Ok(Path { lax, chain: found.chain, size }),
        _ => Err(parser.unexpected()),
    }
}

fn too_deep() -> SqlError {
    SqlError::new(SqlState("54001"), "stack depth limit exceeded")
}

/// What was read: a value, or a condition, which stands only where one is asked for.
struct Found {
    chain: Chain,
    is_condition: bool,
    /// Whether it is a condition in brackets, or `exists`: what `!` takes.
    is_closed: bool,
}

impl Found {
    fn value(chain: Chain) -> Self {
        Self { chain, is_condition: false, is_closed: false }
    }

    fn condition(step: Step) -> Self {
        Self { chain: vec![step], is_condition: true, is_closed: false }
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Placed>,
    at: usize,
    depth: usize,
    /// How many filters stand around, and subscripts.
    filters: usize,
    subscripts: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |it| &it.token)
    }

    /// The word that comes next; words of the language are those of any case.
    fn word(&self) -> Option<&str> {
        match self.peek() {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    fn is_word(&self, word: &str) -> bool {
        self.word().is_some_and(|it| it.eq_ignore_ascii_case(word))
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(it) if *it == sign)
    }

    /// Steps over a sign, if it comes next.
    fn takes(&mut self, sign: &str) -> bool {
        let is_there = self.is_sign(sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, sign: &str) -> SqlResult<()> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> SqlError {
        let near = self.tokens.get(self.at).and_then(|it| self.text.get(it.start..it.end));
        wrong("syntax error", near.unwrap_or(""))
    }

    fn inside<T>(&mut self, read: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err(too_deep());
        }
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn condition_of(&self, found: Found) -> SqlResult<Chain> {
        if found.is_condition { Ok(found.chain) } else { Err(self.unexpected()) }
    }

    fn value_of(&self, found: Found) -> SqlResult<Chain> {
        if found.is_condition { Err(self.unexpected()) } else { Ok(found.chain) }
    }

    fn value(&mut self) -> SqlResult<Chain> {
        let found = self.any_of()?;
        self.value_of(found)
    }

    /// Conditions between `||`, or a value.
    fn any_of(&mut self) -> SqlResult<Found> {
        self.inside(|this| {
            let mut left = this.all_of()?;
            while this.is_sign("||") {
                let a = this.condition_of(left)?;
                this.at += 1;
                let right = this.all_of()?;
                let b = this.condition_of(right)?;
                left = Found::condition(Step::Or(a, b));
            }
            Ok(left)
        })
    }

    fn all_of(&mut self) -> SqlResult<Found> {
        let mut left = self.not()?;
        while self.is_sign("&&") {
            let a = self.condition_of(left)?;
            self.at += 1;
            let right = self.not()?;
            let b = self.condition_of(right)?;
            left = Found::condition(Step::And(a, b));
        }
        Ok(left)
    }

    fn not(&mut self) -> SqlResult<Found> {
        if !self.takes("!") {
            return self.compared();
        }
        let of = self.primary()?;
        match of.is_closed {
            true => Ok(Found::condition(Step::Not(of.chain))),
            false => Err(self.unexpected()),
        }
    }

    fn compared(&mut self) -> SqlResult<Found> {
        let left = self.sum()?;
        let compare = match self.peek() {
            Token::Sign("==") => Compare::Equal,
            Token::Sign("!=" | "<>") => Compare::NotEqual,
            Token::Sign("<") => Compare::Less,
            Token::Sign("<=") => Compare::LessEqual,
            Token::Sign(">") => Compare::Greater,
            Token::Sign(">=") => Compare::GreaterEqual,
            _ if self.is_word("starts") => return self.starts_with(left),
            _ if self.is_word("like_regex") => return self.like_regex(left),
            _ => return Ok(left),
        };
        let left = self.value_of(left)?;
        self.at += 1;
        let right = self.sum()?;
        let right = self.value_of(right)?;
        Ok(Found::condition(Step::Compare(compare, left, right)))
    }

    fn starts_with(&mut self, left: Found) -> SqlResult<Found> {
        let left = self.value_of(left)?;
        self.at += 1;
        if !self.takes_word("with") {
            return Err(self.unexpected());
        }
        let initial = match self.peek().clone() {
            Token::Quoted(text) => Step::Text(text),
            Token::Variable(name) => Step::Variable(name),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(Found::condition(Step::StartsWith(left, vec![initial])))
    }

    fn like_regex(&mut self, left: Found) -> SqlResult<Found> {
        let of = self.value_of(left)?;
        self.at += 1;
        let Token::Quoted(pattern) = self.peek().clone() else { return Err(self.unexpected()) };
        self.at += 1;
        let mut flags = RegexFlags::default();
        if self.takes_word("flag") {
            let Token::Quoted(letters) = self.peek().clone() else {
                return Err(self.unexpected());
            };
            self.at += 1;
            for letter in letters.chars() {
                match letter {
                    'i' => flags.fold = true,
                    's' => flags.dot_all = true,
                    'm' => flags.lines = true,
                    'x' => flags.expanded = true,
                    'q' => flags.literal = true,
                    other => {
                        let message = "invalid input syntax for type jsonpath";
                        let detail = format!(
                            "Unrecognized flag character \"{other}\" in LIKE_REGEX predicate."
                        );
                        return Err(SqlError::new(SqlState::SYNTAX, message).with_detail(detail));
                    }
                }
            }
        }
        super::regex::compiled(&pattern, flags)?;
        Ok(Found::condition(Step::LikeRegex { of, pattern, flags }))
    }

    fn sum(&mut self) -> SqlResult<Found> {
        let operations = [("+", Arithmetic::Add), ("-", Arithmetic::Subtract)];
        self.chained(&operations, Self::product)
    }

    fn product(&mut self) -> SqlResult<Found> {
        let operations =
            [("*", Arithmetic::Multiply), ("/", Arithmetic::Divide), ("%", Arithmetic::Modulo)];
        self.chained(&operations, Self::signed)
    }

    /// Operands with signs between them, which bind from the left.
    fn chained(
        &mut self,
        operations: &[(&str, Arithmetic)],
        operand: fn(&mut Self) -> SqlResult<Found>,
    ) -> SqlResult<Found> {
        let mut left = operand(self)?;
        while let Some((_, operation)) = operations.iter().find(|it| self.is_sign(it.0)) {
            let a = self.value_of(left)?;
            self.at += 1;
            let right = operand(self)?;
            let b = self.value_of(right)?;
            left = Found::value(vec![Step::Arithmetic(*operation, a, b)]);
        }
        Ok(left)
    }

    fn signed(&mut self) -> SqlResult<Found> {
        let negative = self.is_sign("-");
        if !negative && !self.is_sign("+") {
            return self.primary();
        }
        self.at += 1;
        let of = self.inside(Self::signed)?;
        let mut of = self.value_of(of)?;
        Ok(Found::value(match &mut of[..] {
            [Step::Number(number)] => {
                if negative {
                    *number = number.negated();
                }
                of
            }
            _ => vec![Step::Signed { negative, of }],
        }))
    }

    /// A value without operators, or a condition in brackets, and what is done with it.
    fn primary(&mut self) -> SqlResult<Found> {
        if self.takes("(") {
            let inner = self.any_of()?;
            self.expect(")")?;
            if inner.is_condition && self.is_word("is") {
                self.at += 1;
                return match self.takes_word("unknown") {
                    true => Ok(Found::condition(Step::IsUnknown(inner.chain))),
                    false => Err(self.unexpected()),
                };
            }
            let known = inner.chain.len();
            let chain = self.accessors(inner.chain)?;
            let is_condition = inner.is_condition && chain.len() == known;
            return Ok(Found { chain, is_condition, is_closed: is_condition });
        }
        if self.is_word("exists") {
            self.at += 1;
            self.expect("(")?;
            let of = self.value()?;
            self.expect(")")?;
            let chain = vec![Step::Exists(of)];
            return Ok(Found { chain, is_condition: true, is_closed: true });
        }
        let first = self.first()?;
        self.at += 1;
        self.accessors(vec![first]).map(Found::value)
    }

    fn first(&mut self) -> SqlResult<Step> {
        Ok(match self.peek() {
            Token::Quoted(text) => Step::Text(text.clone()),
            Token::Variable(name) => Step::Variable(name.clone()),
            Token::Number(digits, _) => Step::Number(Number::parse(digits)?),
            Token::Sign("$") => Step::Root,
            Token::Sign("@") if self.filters == 0 => {
                let message = "@ is not allowed in root expressions";
                return Err(SqlError::new(SqlState::SYNTAX, message));
            }
            Token::Sign("@") => Step::Current,
            Token::Word(word) => match &**word {
                "null" => Step::Null,
                "true" => Step::Boolean(true),
                "false" => Step::Boolean(false),
                it if it.eq_ignore_ascii_case("last") => {
                    if self.subscripts == 0 {
                        let message = "LAST is allowed only in array subscripts";
                        return Err(SqlError::new(SqlState::SYNTAX, message));
                    }
                    Step::Last
                }
                _ => return Err(self.unexpected()),
            },
            _ => return Err(self.unexpected()),
        })
    }

    /// What is done with a value, one behind the other.
    fn accessors(&mut self, mut chain: Chain) -> SqlResult<Chain> {
        loop {
            if self.takes(".") {
                chain.push(self.member()?);
            } else if self.takes("[") {
                chain.push(self.subscript()?);
            } else if self.takes("?") {
                self.expect("(")?;
                self.filters += 1;
                let condition = self.any_of()?;
                self.filters -= 1;
                let condition = self.condition_of(condition)?;
                self.expect(")")?;
                chain.push(Step::Filter(condition));
            } else {
                return Ok(chain);
            }
        }
    }

    /// What stands behind a point.
    fn member(&mut self) -> SqlResult<Step> {
        if self.takes("*") {
            return Ok(Step::AnyKey);
        }
        if self.takes("**") {
            return self.levels();
        }
        let (name, is_word) = match self.peek().clone() {
            Token::Word(name) => (name, true),
            Token::Quoted(name) => (name, false),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        if !is_word || !self.is_sign("(") {
            return Ok(Step::Key(name));
        }
        self.method(&name)
    }

    fn method(&mut self, name: &str) -> SqlResult<Step> {
        let lower = name.to_ascii_lowercase();
        if let Some((_, method)) = Method::ALL.iter().find(|it| it.0 == lower) {
            self.at += 1;
            self.expect(")")?;
            return Ok(Step::Method(*method));
        }
        match &*lower {
            "decimal" => {
                self.at += 1;
                let mut digits = [None, None];
                let mut count = 0;
                while !self.takes(")") {
                    if count > 0 {
                        self.expect(",")?;
                    }
                    let place = digits.get_mut(count);
                    let sign = if self.takes("-") { -1 } else { 1 };
                    if sign == 1 {
                        self.takes("+");
                    }
                    match (self.peek(), place) {
                        (Token::Number(said, true), Some(place)) => {
                            let of = |it: &str| it.replace('_', "").parse::<i32>();
                            let number = of(said).map_err(|_| out_of_range(count))?;
                            *place = Some(i64::from(number) * sign);
                        }
                        _ => return Err(self.unexpected()),
                    }
                    self.at += 1;
                    count += 1;
                }
                Ok(Step::Decimal(digits[0], digits[1]))
            }
            "datetime" => {
                self.at += 1;
                let template = match self.peek().clone() {
                    Token::Quoted(template) => {
                        self.at += 1;
                        Some(template)
                    }
                    _ => None,
                };
                self.expect(")")?;
                Ok(Step::DateTime(template))
            }
            _ => {
                let Some((_, kind)) = MOMENTS.iter().find(|it| it.0 == lower) else {
                    return Err(self.unexpected());
                };
                self.at += 1;
                let digits = match self.peek() {
                    Token::Number(said, true) if *kind != Kind::Date => {
                        let digits = said.replace('_', "").parse::<i32>();
                        let digits = digits.map_err(|_| digits_out_of_range(&lower))?;
                        self.at += 1;
                        Some(i64::from(digits))
                    }
                    _ => None,
                };
                self.expect(")")?;
                Ok(Step::Moment(*kind, digits))
            }
        }
    }

    fn levels(&mut self) -> SqlResult<Step> {
        if !self.takes("{") {
            return Ok(Step::Levels(0, LAST_LEVEL));
        }
        let first = self.level()?;
        let last = match self.takes_word("to") {
            true => self.level()?,
            false => first,
        };
        self.expect("}")?;
        Ok(Step::Levels(first, last))
    }

    fn level(&mut self) -> SqlResult<u32> {
        let level = match self.peek() {
            Token::Number(said, true) => said.parse::<i32>().ok().and_then(|it| it.try_into().ok()),
            _ if self.is_word("last") => Some(LAST_LEVEL),
            _ => None,
        };
        let level = level.ok_or_else(|| self.unexpected())?;
        self.at += 1;
        Ok(level)
    }

    /// What stands in square brackets.
    fn subscript(&mut self) -> SqlResult<Step> {
        if self.takes("*") {
            self.expect("]")?;
            return Ok(Step::AnyElement);
        }
        self.subscripts += 1;
        let mut all = Vec::new();
        loop {
            let from = self.value()?;
            let to = match self.takes_word("to") {
                true => Some(self.value()?),
                false => None,
            };
            all.push((from, to));
            if !self.takes(",") {
                break;
            }
        }
        self.subscripts -= 1;
        self.expect("]")?;
        Ok(Step::Elements(all))
    }
}

fn digits_out_of_range(method: &str) -> SqlError {
    let message = format!(
        "time precision of jsonpath item method .{method}() is out of range for type integer"
    );
    SqlError::new(SqlState("22036"), message)
}

fn out_of_range(count: usize) -> SqlError {
    let what = if count == 0 { "precision" } else { "scale" };
    let message =
        format!("{what} of jsonpath item method .decimal() is out of range for type integer");
    SqlError::new(SqlState("22036"), message)
}
