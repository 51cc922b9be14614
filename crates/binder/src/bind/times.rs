//! Points of time, times of day and intervals: operators, and functions that see what the clocks of a time zone show.

use plan::build::{compare, unary};
use plan::relation::combine;
use plan::{BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use sqlparser::ast;
use types::numeric::{datetime, interval_text};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::coercion::fold_cast;
use super::errors::{at, unsupported};

use DataType::{Date, Interval, Null, Time, TimeTz, Timestamp, TimestampTz};

/// Whether a type is of points of time.
pub(super) fn is_moment(it: DataType) -> bool {
    matches!(it, Date | Timestamp | TimestampTz)
}

/// Whether a point of time is neither before nor behind all others.
pub(super) fn is_finite(moment: Expr) -> Expr {
    let ((first, last), (least, greatest)) = (datetime::INFINITE_DAYS, datetime::INFINITE_MICROS);
    let list = match moment.data_type {
        Date => vec![Value::Date(first), Value::Date(last)],
        _ => vec![Value::Timestamp(least), Value::Timestamp(greatest)],
    };
    let kind = ExprKind::InList { operand: Box::new(moment), list, negated: true };
    Expr { kind, data_type: DataType::Boolean }
}

/// The types of two operands, where a constant of unknown type is what the other one asks for.
fn decided(operator: BinaryOperator, a: DataType, b: DataType) -> (DataType, DataType) {
    use BinaryOperator::{Add, Divide, Multiply, Subtract};
    match (operator, a, b) {
        // Of two times in zones there is no difference; what is added may be a day, too.
        (Subtract, TimeTz, Null) => (TimeTz, Interval),
        (Subtract, it @ (Timestamp | TimestampTz | Time | Interval), Null) => (it, it),
        (Subtract, Null, it @ (Timestamp | TimestampTz | Time | Interval)) => (it, it),
        (Add, it @ (Timestamp | TimestampTz | Time | Interval), Null) => (it, Interval),
        (Add, Null, it @ (Timestamp | TimestampTz | Time | Interval)) => (Interval, it),
        (Multiply, Null, Interval) => (DataType::Double, Interval),
        (Multiply | Divide, Interval, Null) => (Interval, DataType::Double),
        _ => (a, b),
    }
}

/// What of the distance of a zone from UTC a field tells.
#[derive(Clone, Copy)]
enum ZoneUnit {
    Whole,
    Hour,
    Minute,
}

/// The unit of a field of a zone; `None` of another field.
fn zone_unit(field: &str) -> Option<ZoneUnit> {
    match field {
        "timezone" => Some(ZoneUnit::Whole),
        "timezone_h" | "timezone_hour" => Some(ZoneUnit::Hour),
        "timezone_m" | "timezone_minute" => Some(ZoneUnit::Minute),
        _ => None,
    }
}

impl<'a> Binder<'a> {
    /// The name of the session's time zone, as a constant; a plan with it is one of that zone.
    pub(super) fn session_zone(&mut self) -> Expr {
        self.is_stable = false;
        zone(&self.environment.session.zone().value_name())
    }

    /// An operator on a point of time, a time of day or an interval; `None` for operands of other types, and where there is no
    /// such operator.
    pub(super) fn with_times(
        &mut self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Option<Expr>> {
        use BinaryOperator::{Add, Divide, Multiply, Subtract};
        let types = (left.data_type, right.data_type);
        let is_known =
            |it: DataType| matches!(it, Timestamp | TimestampTz | Time | TimeTz | Interval);
        if !is_known(types.0) && !is_known(types.1) {
            return Ok(None);
        }
        let (a, b) = decided(operator, types.0, types.1);
        let mut known = |side: &Expr, to: DataType| match side.data_type {
            Null if to != Null => self.coerce_unknown(side.clone(), to).map_err(|it| at(it, whole)),
            _ => Ok(side.clone()),
        };
        let (left, right) = (known(left, a)?, known(right, b)?);
        let result = match (operator, a, b) {
            (Add, _, Interval) if is_moment(a) => self.later(left, right)?,
            (Add, Interval, _) if is_moment(b) => self.later(right, left)?,
            (Subtract, _, Interval) if is_moment(a) => {
                let back = self.negated_interval(right)?;
                self.later(left, back)?
            }
            (Add | Subtract, Time | TimeTz, _) => {
                return self.with_time_of_day(operator, left, right);
            }
            // A sum is the same in the other order.
            (Add, _, Time | TimeTz) => return self.with_time_of_day(Add, right, left),
            (Subtract, _, _) if is_moment(a) && is_moment(b) => {
                let meet =
                    if a == TimestampTz || b == TimestampTz { TimestampTz } else { Timestamp };
                let both = vec![fold_cast(left, meet), fold_cast(right, meet)];
                self.fold_call(Function::MomentsBetween, both, Interval)?
            }
            (Add, Interval, Interval) => {
                self.fold_call(Function::AddIntervals, vec![left, right], Interval)?
            }
            (Subtract, Interval, Interval) => {
                let back = self.negated_interval(right)?;
                self.fold_call(Function::AddIntervals, vec![left, back], Interval)?
            }
            (Multiply, Interval, it) if it.is_numeric() => {
                self.scaled(Function::MultiplyInterval, left, right)?
            }
            (Multiply, it, Interval) if it.is_numeric() => {
                self.scaled(Function::MultiplyInterval, right, left)?
            }
            (Divide, Interval, it) if it.is_numeric() => {
                self.scaled(Function::DivideInterval, left, right)?
            }
            _ => return Ok(None),
        };
        Ok(Some(result))
    }

    /// A sum or a difference of a time of day and something else; `None` where there is none.
    fn with_time_of_day(
        &mut self,
        operator: BinaryOperator,
        time: Expr,
        other: Expr,
    ) -> SqlResult<Option<Expr>> {
        use BinaryOperator::{Add, Subtract};
        let of = time.data_type;
        Ok(Some(match (operator, of, other.data_type) {
            (Add, Time, Date) => self.later(other, fold_cast(time, Interval))?,
            (Add, TimeTz, Date) => {
                self.fold_call(Function::MomentOfTimeTz, vec![other, time], TimestampTz)?
            }
            (Subtract, Time, Time) => {
                let back = self.negated_interval(fold_cast(other, Interval))?;
                let both = vec![fold_cast(time, Interval), back];
                self.fold_call(Function::AddIntervals, both, Interval)?
            }
            // In a sum with a time in a zone a time without one is a span.
            (Add, Time, TimeTz) => return self.with_time_of_day(Add, other, time),
            (Add, TimeTz, Time) | (Subtract, TimeTz, Time) | (_, _, Interval) => {
                let span = fold_cast(other, Interval);
                let span = if operator == Add { span } else { self.negated_interval(span)? };
                let function =
                    if of == TimeTz { Function::AddToTimeTz } else { Function::AddToTime };
                self.fold_call(function, vec![time, span], of)?
            }
            _ => return Ok(None),
        }))
    }

    fn scaled(&mut self, function: Function, span: Expr, by: Expr) -> SqlResult<Expr> {
        self.fold_call(function, vec![span, fold_cast(by, DataType::Double)], Interval)
    }

    /// A point of time some span after a date or another.
    pub(super) fn later(&mut self, moment: Expr, span: Expr) -> SqlResult<Expr> {
        let (mut arguments, mut result) = (vec![moment, span], Timestamp);
        if arguments[0].data_type == TimestampTz {
            arguments.push(self.session_zone());
            result = TimestampTz;
        }
        self.fold_call(Function::AddInterval, arguments, result)
    }

    /// An interval in the other direction.
    pub(super) fn negated_interval(&mut self, span: Expr) -> SqlResult<Expr> {
        self.fold_call(Function::NegateInterval, vec![span], Interval)
    }

    /// What the clocks of a zone show at a moment.
    fn shown_in(&mut self, zone: Expr, moment: Expr) -> SqlResult<Expr> {
        self.fold_call(Function::Timezone, vec![zone, moment], Timestamp)
    }

    /// `moment AT TIME ZONE zone`.
    pub(super) fn at_time_zone(
        &mut self,
        moment: &'a ast::Expr,
        zone: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (moment, zone) = (self.expr(moment)?, self.expr(zone)?);
        let moment = match moment.data_type {
            Null => self.coerce_unknown(moment, TimestampTz).map_err(|it| at(it, whole))?,
            Date => fold_cast(moment, TimestampTz),
            _ => moment,
        };
        self.invoke(Function::Timezone, vec![zone, moment], whole)
    }

    /// `timezone` of a zone that is an interval, or of a time of day; the arguments come back where neither is.
    fn timezone(
        &mut self,
        mut arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Result<Expr, Vec<Expr>>> {
        let [zone, time] = &mut arguments[..] else { return Ok(Err(arguments)) };
        if zone.data_type == Interval {
            let name = self.invoke(Function::ZoneOfInterval, vec![zone.clone()], whole)?;
            let arguments = vec![name, time.clone()];
            return self.invoke(Function::Timezone, arguments, whole).map(Ok);
        }
        if !matches!(time.data_type, Time | TimeTz) {
            return Ok(Err(arguments));
        }
        let now = self.invoke(Function::Now, Vec::new(), whole)?;
        arguments.push(now);
        self.invoke(Function::TimezoneOfTimeTz, arguments, whole).map(Ok)
    }

    /// `(a, b) OVERLAPS (c, d)`: whether two spans of time have a point in common, each of two ends in any order, or of a
    /// beginning and a length.
    pub(super) fn overlaps(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        use BinaryOperator::{Equal, Greater, Less, Or};
        let mut ends = Vec::with_capacity(4);
        for side in [left, right] {
            let ast::Expr::Tuple(parts) = side else {
                return Err(unsupported("OVERLAPS but of two pairs", whole));
            };
            let [first, last] = &parts[..] else {
                let message = "wrong number of parameters on either side of OVERLAPS expression";
                return Err(at(SqlError::new(SqlState::SYNTAX, message), whole));
            };
            let (first, mut last) = (self.expr(first)?, self.expr(last)?);
            if last.data_type == Interval {
                let end = self.with_times(BinaryOperator::Add, &first, &last, whole)?;
                last = end.ok_or_else(|| {
                    super::comparison::no_operator("+", first.data_type, Interval, whole)
                })?;
            }
            ends.extend([first, last]);
        }
        if !ends.iter().all(super::is_repeatable) {
            return Err(unsupported("OVERLAPS of what is volatile", whole));
        }
        self.unify(&mut ends, "OVERLAPS").map_err(|it| at(it, whole))?;
        let mut spans = Vec::with_capacity(2);
        for pair in ends.chunks(2) {
            let least = self.invoke(Function::Least, pair.to_vec(), whole)?;
            let greatest = self.invoke(Function::Greatest, pair.to_vec(), whole)?;
            let data_type = greatest.data_type;
            let known = pair.iter().map(|it| unary(UnaryOperator::IsNotNull, it.clone()));
            let both = combine(BinaryOperator::And, known.collect())
                .ok_or_else(|| SqlError::internal("a span without ends"))?;
            let kind = ExprKind::Case { branches: vec![(both, greatest)], otherwise: None };
            spans.push((least, Expr { kind, data_type }));
        }
        let [(first, end), (other, other_end)] =
            spans.try_into().map_err(|_| SqlError::internal("OVERLAPS of two spans"))?;
        let is = |operator, a: &Expr, b: &Expr| compare(operator, a.clone(), b.clone());
        let is_open = Expr::predicate(
            Or,
            unary(UnaryOperator::IsNull, end.clone()),
            unary(UnaryOperator::IsNull, other_end.clone()),
        );
        let truth = |it: bool| Expr::literal(Value::Boolean(it), DataType::Boolean);
        let unknown = || plan::build::null(DataType::Boolean);
        let choice = |branches, otherwise: Expr| {
            let kind = ExprKind::Case { branches, otherwise: Some(Box::new(otherwise)) };
            Expr { kind, data_type: DataType::Boolean }
        };
        let within = |is_in: Expr| {
            choice(vec![(is_in, truth(true)), (is_open.clone(), unknown())], truth(false))
        };
        Ok(choice(
            vec![
                (is(Greater, &first, &other), within(is(Less, &first, &other_end))),
                (is(Less, &first, &other), within(is(Less, &other, &end))),
                (
                    is(Equal, &first, &other),
                    choice(vec![(is_open.clone(), unknown())], truth(true)),
                ),
            ],
            unknown(),
        ))
    }

    /// A function of a moment that sees what the clocks of a zone show: by the same function of points of time without zone.
    /// The arguments come back where the function is none of these.
    pub(super) fn by_clocks(
        &mut self,
        function: Function,
        mut arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Result<Expr, Vec<Expr>>> {
        // A date is a moment there: PostgreSQL prefers these.
        let of_date = arguments.get(1).is_some_and(|it| it.data_type == Date);
        if function == Function::DateTrunc && of_date && (2..=3).contains(&arguments.len()) {
            return self.truncated_date(arguments, whole).map(Ok);
        }
        let of_time = arguments.get(1).is_some_and(|it| it.data_type == TimeTz);
        match function {
            Function::Timezone => return self.timezone(arguments, whole),
            Function::Extract if of_time => {
                return self.invoke(Function::ExtractOfTimeTz, arguments, whole).map(Ok);
            }
            Function::DatePart if of_time => {
                return self.invoke(Function::DatePartOfTimeTz, arguments, whole).map(Ok);
            }
            _ => {}
        }
        let Some(place) = arguments.iter().position(|it| it.data_type == TimestampTz) else {
            return Ok(Err(arguments));
        };
        match function {
            Function::DateTrunc if arguments.len() <= 3 && place == 1 => {
                self.truncated_moment(arguments, whole).map(Ok)
            }
            Function::Extract | Function::DatePart if place == 1 => {
                self.field_by_clocks(function, arguments, whole).map(Ok)
            }
            Function::ToChar if place == 0 && arguments.len() == 2 => {
                arguments.push(self.session_zone());
                self.invoke(Function::ToCharInZone, arguments, whole).map(Ok)
            }
            Function::ToChar
            | Function::DateDiff
            | Function::DateFormat
            | Function::DateSub
            | Function::Strftime
            | Function::ToDate
            | Function::Age => {
                for argument in &mut arguments {
                    if matches!(argument.data_type, TimestampTz) {
                        let clocks = self.session_zone();
                        *argument = self.shown_in(clocks, argument.clone())?;
                    }
                }
                self.invoke(function, arguments, whole).map(Ok)
            }
            Function::ToUnixtime => {
                arguments[place] = self.shown_in(zone("UTC"), arguments[place].clone())?;
                self.invoke(function, arguments, whole).map(Ok)
            }
            _ => Ok(Err(arguments)),
        }
    }

    /// A field of a moment, as the clocks of the session show it, or of their distance from UTC.
    fn field_by_clocks(
        &mut self,
        function: Function,
        mut arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let field = match super::constant(&arguments[0]) {
            Some(Value::Text(field)) => field.to_lowercase(),
            _ => String::new(),
        };
        let moment = arguments[1].clone();
        let clocks = if field == "epoch" { zone("UTC") } else { self.session_zone() };
        arguments[1] = self.shown_in(clocks, moment.clone())?;
        let Some(unit) = zone_unit(&field) else {
            return self.invoke(function, arguments, whole);
        };
        let utc = self.shown_in(zone("UTC"), moment)?;
        let both = vec![arguments[1].clone(), utc];
        arguments[1] = self.fold_call(Function::MomentsBetween, both, Interval)?;
        arguments[0] = Expr::literal(Value::Text("epoch".into()), DataType::Text);
        let seconds = self.invoke(function, arguments, whole)?;
        let whole = DataType::Decimal { precision: 10, scale: 0 };
        let wanted = if seconds.data_type.is_float() { DataType::Double } else { whole };
        let distance = self.in_unit(fold_cast(seconds, DataType::Integer), unit)?;
        Ok(fold_cast(distance, wanted))
    }

    /// A distance from UTC in seconds, or its hours or minutes.
    fn in_unit(&mut self, seconds: Expr, unit: ZoneUnit) -> SqlResult<Expr> {
        use BinaryOperator::{Divide, Modulo};
        let steps: &[(BinaryOperator, i64)] = match unit {
            ZoneUnit::Whole => &[],
            ZoneUnit::Hour => &[(Divide, 3_600)],
            ZoneUnit::Minute => &[(Divide, 60), (Modulo, 60)],
        };
        steps.iter().try_fold(seconds, |distance, (operator, by)| {
            let by = Expr::literal(Value::Integer(*by), DataType::Integer);
            let made = self.calculate(*operator, distance, by);
            made.unwrap_or_else(|| Err(SqlError::internal("seconds are no numbers")))
        })
    }

    /// The beginning of a part of time that the midnight of a day is in.
    fn truncated_date(
        &mut self,
        mut arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let day = arguments[1].clone();
        if arguments.len() == 3 {
            arguments[1] = fold_cast(day, TimestampTz);
            return self.truncated_moment(arguments, whole);
        }
        arguments[1] = fold_cast(day, Timestamp);
        let cut = self.invoke(Function::DateTrunc, arguments, whole)?;
        let zone = self.session_zone();
        self.fold_call(Function::Timezone, vec![zone, cut], TimestampTz)
    }

    /// The beginning of a part of time that a moment is in, as the clocks of a zone, or of the session, show it.
    fn truncated_moment(
        &mut self,
        mut arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let zone = match arguments.len() {
            3 => arguments.pop(),
            _ => None,
        };
        let zone = match zone {
            Some(zone) if zone.data_type == Null => self.coerce_unknown(zone, DataType::Text)?,
            Some(zone) => zone,
            None => self.session_zone(),
        };
        let again = self.copy(&zone)?;
        let moment = arguments[1].clone();
        let is_short = within_an_hour(&arguments[0]);
        let asked = self.copy(&moment)?;
        let local = self.shown_in(zone, asked)?;
        arguments[1] = self.copy(&local)?;
        let cut = self.invoke(Function::DateTrunc, arguments, whole)?;
        // Of an hour that there is twice it stays the one that it was.
        if is_short {
            let finite = is_finite(self.copy(&moment)?);
            let whole = self.copy(&moment)?;
            let span = self.fold_call(Function::MomentsBetween, vec![cut, local], Interval)?;
            let shifted = vec![moment, span, again];
            let shifted = self.fold_call(Function::AddInterval, shifted, TimestampTz)?;
            let (branches, otherwise) = (vec![(finite, shifted)], Some(Box::new(whole)));
            let kind = ExprKind::Case { branches, otherwise };
            return Ok(Expr { kind, data_type: TimestampTz });
        }
        self.fold_call(Function::Timezone, vec![again, cut], TimestampTz)
    }

    /// Functions whose result is a moment, by what the clocks show; and those of one name that have several kernels.
    pub(super) fn of_times(
        &mut self,
        function: Function,
        mut bound: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match (function, bound.first().map(|it| it.data_type)) {
            (Function::ToTimestamp, Some(first)) if first != TimestampTz => {
                let clocks = if first.is_numeric() { zone("UTC") } else { self.session_zone() };
                let local = self.invoke(function, bound, whole)?;
                self.fold_call(Function::Timezone, vec![clocks, local], TimestampTz)
            }
            (Function::MakeTimestampTz, _) if bound.len() == 6 => {
                bound.push(self.session_zone());
                self.invoke(function, bound, whole)
            }
            (Function::Age, Some(_)) if bound.len() == 1 => {
                let today = self.invoke(Function::CurrentDate, Vec::new(), whole)?;
                bound.insert(0, fold_cast(today, Timestamp));
                self.invoke(function, bound, whole)
            }
            (Function::ToChar, Some(first)) if first.is_numeric() => {
                self.invoke(Function::ToCharNumber, bound, whole)
            }
            (Function::ToChar, Some(Time | Interval)) => {
                let span = fold_cast(bound.remove(0), Interval);
                bound.insert(0, span);
                self.invoke(Function::ToCharInterval, bound, whole)
            }
            (Function::Md5, Some(DataType::Bytea)) => {
                self.invoke(Function::Md5OfBytes, bound, whole)
            }
            // A byte is held as a character.
            (Function::OctetLength, Some(DataType::Bytea)) => {
                self.invoke(Function::CharacterLength, bound, whole)
            }
            (Function::BitLength, Some(DataType::Bytea)) => {
                let bytes = self.invoke(Function::CharacterLength, bound, whole)?;
                let eight = Expr::literal(Value::Integer(3), DataType::Integer);
                self.invoke(Function::ShiftLeft, vec![bytes, eight], whole)
            }
            _ => self.invoke(function, bound, whole),
        }
    }
}

/// The name of a zone as a constant.
fn zone(name: &str) -> Expr {
    Expr::literal(Value::Text(name.into()), DataType::Text)
}

/// Whether a field cuts no more than an hour off.
fn within_an_hour(field: &Expr) -> bool {
    use interval_text::Unit;
    let unit = match super::constant(field) {
        Some(Value::Text(name)) => Unit::of_field(name),
        _ => None,
    };
    let short = [Unit::Microsecond, Unit::Millisecond, Unit::Second, Unit::Minute, Unit::Hour];
    unit.is_some_and(|it| short.contains(&it))
}
