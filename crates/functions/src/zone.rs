//! Points of time in time zones.

use arrow_array::{ArrayRef, StringArray};
use types::{DataType, SqlResult, Zone};

use crate::calendar;
use crate::call::Call;
use crate::error::timestamp_range;

/// The zones that an argument names. The one of the row before is kept: names are constants, or nearly.
pub(crate) struct Zones<'a> {
    names: &'a StringArray,
    read: fn(&str) -> SqlResult<Zone>,
    last: Option<(&'a str, Zone)>,
}

impl<'a> Zones<'a> {
    /// The zones of names; numbers count to the west.
    pub fn new(names: &'a StringArray) -> Self {
        Self { names, read: Zone::of_value, last: None }
    }

    /// The zones of names; numbers count to the east, as those behind a time do.
    pub fn east(names: &'a StringArray) -> Self {
        Self { names, read: Zone::of_time, last: None }
    }

    /// The zone of a row. Errors: 22023.
    pub fn zone(&mut self, row: usize) -> SqlResult<&Zone> {
        let name = self.names.value(row);
        if self.last.as_ref().is_none_or(|it| it.0 != name) {
            self.last = Some((name, (self.read)(name)?));
        }
        match &self.last {
            Some((_, zone)) => Ok(zone),
            None => unreachable!("invariant: it was set"),
        }
    }
}

/// The time that the clocks of a zone show at a moment; or, where a moment is wanted, the one at which they show a time.
pub(crate) fn timezone(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (names, moments) = (call.texts(0)?, call.any_moments(1)?);
    let mut zones = Zones::new(names);
    call.map_moments(moments, |row| {
        let zone = zones.zone(row)?;
        let (days, micros) = moments.at(row);
        let given = calendar::timestamp(days, micros)?;
        let told = match call.result {
            DataType::TimestampTz => zone.moment(given),
            _ => zone.local(given),
        };
        calendar::timestamp(0, told.ok_or_else(timestamp_range)?)
    })
}
