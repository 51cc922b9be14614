//! Times of many statements: counts by time, in steps of a sixteenth.

use stdx::Nanos;

/// Steps between a time and its double.
const STEPS: u32 = 16;

/// How often something took about how long.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    counts: Vec<u64>,
    longest: Nanos,
}

impl Latencies {
    /// One more.
    pub fn add(&mut self, time: Nanos) {
        let place = place_of(time.0);
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
        self.longest = self.longest.max(time);
    }

    /// All of others, too.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(it, more)| *it += more);
        self.longest = self.longest.max(other.longest);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The time that a share of all took at most, to a sixteenth; of all, 1, exactly. Zero where there are none.
    pub fn quantile(&self, share: f64) -> Nanos {
        if share >= 1.0 {
            return self.longest;
        }
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut before = 0;
        for (place, count) in self.counts.iter().enumerate() {
            before += count;
            if before >= wanted && *count > 0 {
                return Nanos(end_of(place)).min(self.longest);
            }
        }
        self.longest
    }
}

/// The place of a time: exact below 16, then sixteen for each power of two.
fn place_of(time: u64) -> usize {
    let Some(power) = time.checked_ilog2().filter(|it| *it >= STEPS.ilog2()) else {
        return time as usize;
    };
    let shift = power - STEPS.ilog2();
    (shift * STEPS) as usize + (time >> shift) as usize
}

/// The greatest time of a place.
fn end_of(place: usize) -> u64 {
    let steps = STEPS as usize;
    if place < 2 * steps {
        return place as u64;
    }
    let shift = place / steps - 1;
    let first = (place - shift * steps) as u64;
    ((first + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_to_a_sixteenth() {
        for time in (0..100_000).chain([1 << 40, u64::MAX >> 1]) {
            let end = end_of(place_of(time));
            assert!(end >= time && end - time <= time / 16, "{time}: {end}");
        }
        let mut all = Latencies::default();
        assert_eq!((all.count(), all.quantile(0.5)), (0, Nanos(0)));
        for time in 1..=1000 {
            let mut one = Latencies::default();
            one.add(Nanos(time));
            all.merge(&one);
        }
        let median = all.quantile(0.5).0;
        assert!((500..=532).contains(&median), "{median}");
        assert_eq!((all.count(), all.quantile(1.0)), (1000, Nanos(1000)));
        assert!(all.quantile(0.99).0 >= 990);
    }
}
