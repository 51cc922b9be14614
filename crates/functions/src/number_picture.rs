//! Pictures of numbers, as `to_char` and `to_number` take them: `FM999G990D00`, `9.99EEEE`, `RN`.
//!
//! Reading order: [`Picture`], then `parse`, which cuts a text into [`Token`]s and counts what they ask for.

use types::{SqlError, SqlResult, SqlState};

/// A piece of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    /// `9`: a digit, left out where it is a leading zero.
    Nine,
    /// `0`: a digit.
    Zero,
    /// `.` or `D`.
    Point,
    Comma,
    /// `G`, which is a comma as well, but reads one only where there is one.
    Group,
    /// `L`: the symbol of a currency, which the locale C has not.
    Currency,
    Minus,
    Plus,
    /// `SG`.
    Signs,
    /// `RN` in capitals or not.
    Roman(bool),
    /// `TH` in capitals or not.
    Ordinal(bool),
    /// What only says something of the whole picture: `FM`, `S`, `PR`, `V`, `EEEE`, and `B`, `C`, `SP`.
    Mark,
    /// Any other character.
    Literal(char),
}

/// Where the sign of `S` stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Anchor {
    Before,
    Behind,
}

/// A picture, and what its tokens ask for together.
#[derive(Clone, Default, Debug)]
pub(crate) struct Picture {
    pub tokens: Vec<Token>,
    /// Digits before the point.
    pub before: usize,
    /// Digits behind the point.
    pub behind: usize,
    /// Digits behind `V`: powers of ten by which a number is multiplied.
    pub shifted: usize,
    /// Digits before the first `0`.
    pub zero_start: Option<usize>,
    /// Digits up to the last `0`.
    pub zero_end: usize,
    pub has_point: bool,
    pub has_shift: bool,
    /// `FM`: without blanks.
    pub is_plain: bool,
    pub anchor: Option<Anchor>,
    /// Digits before `S`.
    digits_before_sign: usize,
    pub has_minus: bool,
    pub has_plus: bool,
    /// `PR`.
    pub has_brackets: bool,
    pub is_roman: bool,
    pub is_scientific: bool,
    is_blank: bool,
}

/// The words of a picture and what they are. Of those that begin alike the longer one comes first.
const WORDS: [(&str, Word); 21] = [
    (",", Word::Token(Token::Comma)),
    (".", Word::Token(Token::Point)),
    ("0", Word::Token(Token::Zero)),
    ("9", Word::Token(Token::Nine)),
    ("B", Word::Blank),
    ("C", Word::Token(Token::Mark)),
    ("D", Word::Token(Token::Point)),
    ("EEEE", Word::Scientific),
    ("FM", Word::Plain),
    ("G", Word::Token(Token::Group)),
    ("L", Word::Token(Token::Currency)),
    ("MI", Word::Token(Token::Minus)),
    ("PL", Word::Token(Token::Plus)),
    ("PR", Word::Brackets),
    ("RN", Word::Roman),
    ("SG", Word::Token(Token::Signs)),
    ("SP", Word::Token(Token::Mark)),
    ("S", Word::Sign),
    ("TH", Word::Ordinal),
    ("V", Word::Shift),
    ("\\\"", Word::Quote),
];

#[derive(Clone, Copy)]
enum Word {
    Token(Token),
    Blank,
    Scientific,
    Plain,
    Brackets,
    Roman,
    Sign,
    Ordinal,
    Shift,
    Quote,
}

fn refused(message: &str) -> SqlError {
    SqlError::new(SqlState::SYNTAX, message)
}

impl Picture {
    /// Reads a picture.
    ///
    /// # Errors
    /// 42601 where its tokens do not go together.
    pub fn parse(text: &str) -> SqlResult<Self> {
        let mut picture = Self::default();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if first == '"' {
                rest = picture.quoted(&rest[1..]);
                continue;
            }
            let word = WORDS.iter().find_map(|&(name, word)| {
                let given = rest.get(..name.len())?;
                let lower = given.bytes().all(|it| !it.is_ascii_uppercase());
                let matches = given == name || lower && given.eq_ignore_ascii_case(name);
                matches.then_some((name, word, given == name))
            });
            match word {
                Some((name, word, capital)) => {
                    picture.word(word, capital)?;
                    rest = &rest[name.len()..];
                }
                None => {
                    picture.tokens.push(Token::Literal(first));
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        if picture.anchor == Some(Anchor::Before) && picture.before == picture.digits_before_sign {
            picture.anchor = Some(Anchor::Behind);
        }
        Ok(picture)
    }

    /// Characters up to a quotation mark; what is behind it.
    fn quoted<'a>(&mut self, text: &'a str) -> &'a str {
        let mut characters = text.chars();
        while let Some(it) = characters.next() {
            match it {
                '"' => break,
                '\\' => self.tokens.extend(characters.next().map(Token::Literal)),
                other => self.tokens.push(Token::Literal(other)),
            }
        }
        characters.as_str()
    }

    fn word(&mut self, word: Word, capital: bool) -> SqlResult<()> {
        if self.is_scientific && !matches!(word, Word::Scientific | Word::Quote) {
            return Err(refused("\"EEEE\" must be the last pattern used"));
        }
        let token = match word {
            Word::Token(token) => {
                self.token(token)?;
                token
            }
            Word::Quote => Token::Literal('"'),
            Word::Ordinal => Token::Ordinal(capital),
            Word::Roman => {
                if self.is_roman {
                    return Err(refused("cannot use \"RN\" twice"));
                }
                self.is_roman = true;
                Token::Roman(capital)
            }
            other => {
                self.mark(other)?;
                Token::Mark
            }
        };
        self.tokens.push(token);
        let others = self.has_point || self.anchor.is_some() || self.has_minus || self.has_plus;
        let others = others || self.has_brackets || self.has_shift || self.zero_start.is_some();
        if self.is_roman && (others || self.is_scientific || self.is_blank) {
            return Err(refused("\"RN\" is incompatible with other formats"));
        }
        Ok(())
    }

    /// What a token asks for.
    fn token(&mut self, token: Token) -> SqlResult<()> {
        let has_sign = self.anchor.is_some();
        match token {
            Token::Nine | Token::Zero if self.has_brackets => {
                let shown = if token == Token::Nine { '9' } else { '0' };
                return Err(refused(&format!("\"{shown}\" must be ahead of \"PR\"")));
            }
            Token::Nine if self.has_shift => self.shifted += 1,
            Token::Nine | Token::Zero => {
                if token == Token::Zero && self.zero_start.is_none() && !self.has_point {
                    self.zero_start = Some(self.before);
                }
                *(if self.has_point { &mut self.behind } else { &mut self.before }) += 1;
                if token == Token::Zero {
                    self.zero_end = self.before + self.behind;
                }
            }
            Token::Point if self.has_point => return Err(refused("multiple decimal points")),
            Token::Point if self.has_shift => {
                return Err(refused("cannot use \"V\" and decimal point together"));
            }
            Token::Point => self.has_point = true,
            Token::Minus | Token::Plus | Token::Signs if has_sign => {
                return Err(refused("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together"));
            }
            Token::Minus | Token::Plus | Token::Signs => {
                self.has_minus |= token != Token::Plus;
                self.has_plus |= token != Token::Minus;
            }
            _ => {}
        }
        Ok(())
    }

    fn mark(&mut self, word: Word) -> SqlResult<()> {
        let has_others = self.has_minus || self.has_plus;
        match word {
            Word::Blank => self.is_blank |= self.before + self.behind == 0,
            Word::Plain => self.is_plain = true,
            Word::Sign if self.anchor.is_some() => return Err(refused("cannot use \"S\" twice")),
            Word::Sign if has_others || self.has_brackets => {
                return Err(refused("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together"));
            }
            Word::Sign if self.has_point => self.anchor = Some(Anchor::Behind),
            Word::Sign => {
                self.anchor = Some(Anchor::Before);
                self.digits_before_sign = self.before;
            }
            Word::Brackets if self.anchor.is_some() || has_others => {
                let message = "cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together";
                return Err(refused(message));
            }
            Word::Brackets => self.has_brackets = true,
            Word::Shift if self.has_point => {
                return Err(refused("cannot use \"V\" and decimal point together"));
            }
            Word::Shift => self.has_shift = true,
            Word::Scientific if self.is_scientific => {
                return Err(refused("cannot use \"EEEE\" twice"));
            }
            Word::Scientific => {
                let signs = self.anchor.is_some() || self.has_brackets || has_others;
                if signs || self.is_blank || self.is_plain || self.is_roman || self.has_shift {
                    return Err(refused("\"EEEE\" is incompatible with other formats"));
                }
                self.is_scientific = true;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The picture of the row before: they are constants, or nearly.
#[derive(Default)]
pub(crate) struct Pictures<'a> {
    last: Option<(&'a str, Picture)>,
}

impl<'a> Pictures<'a> {
    /// The picture that a text is.
    ///
    /// # Errors
    /// As [`Picture::parse`].
    pub fn get(&mut self, text: &'a str) -> SqlResult<&Picture> {
        if self.last.as_ref().is_none_or(|it| it.0 != text) {
            self.last = Some((text, Picture::parse(text)?));
        }
        match &self.last {
            Some((_, picture)) => Ok(picture),
            None => Err(SqlError::internal("no picture of a number")),
        }
    }
}
