//! The placer on modelled machines with four and eight sockets, under P-HANA's skewed loads (6.2, 7).

use experiments::Settings;
use experiments::adaptive::{Load, follow};
use experiments::settings::Placing;
use stdx::Nanos;

/// Columns of two to three GB, so that a second is some tens of statements, and as few clients as keep all cores busy.
fn settings(machine: &str, placement: Placing) -> Settings {
    let (rows, columns, clients) = (100_000_000, 16, 128);
    Settings { machine: machine.into(), placement, rows, columns, clients, ..Settings::default() }
}

/// Statements a second between two seconds.
fn rate(per_second: &[u64], seconds: std::ops::Range<usize>) -> f64 {
    let count = seconds.len() as f64;
    per_second[seconds].iter().sum::<u64>() as f64 / count
}

/// The rate without a placer, after the first round of all clients.
fn fixed(machine: &str, placement: Placing, load: Load) -> f64 {
    let followed = follow(&settings(machine, placement), load, 15, 1, false).unwrap();
    assert!(followed.decisions.is_empty());
    rate(&followed.per_second, 5..15)
}

fn check(machine: &str, load: Load, over_rr: f64) {
    let dealt = fixed(machine, Placing::RoundRobin, load);
    let best = fixed(machine, Placing::IndexVector, load).max(dealt);
    let rr = settings(machine, Placing::RoundRobin);
    for seed in 1..3 {
        let followed = follow(&rr, load, 40, seed, true).unwrap();
        let reached = rate(&followed.per_second, 30..40);
        println!(
            "{machine} {load:?} seed {seed}: RR {dealt:.1}, best static {best:.1}, placer {reached:.1} statements/s, {} decisions",
            followed.decisions.len()
        );
        assert!(reached >= 0.95 * best, "{machine} {load:?} {seed}: {reached:.1} of {best:.1}");
        assert!(reached >= over_rr * dealt, "{machine} {load:?}: {reached:.1}, RR {dealt:.1}");
    }
}

#[test]
fn one_hot_column_on_four_and_eight_sockets() {
    check("4x-ivybridge-ex", Load::One, 2.0);
    check("8x-westmere-ex", Load::One, 2.0);
}

#[test]
fn two_hot_columns_of_one_node_on_four_and_eight_sockets() {
    check("4x-ivybridge-ex", Load::Two, 1.0);
    check("8x-westmere-ex", Load::Two, 1.0);
}

/// Another hot column every minute: each time 95 % of the best that lies still, from half a minute on.
fn check_moving(machine: &str, seeds: std::ops::Range<u64>) {
    let load = Load::Moving(Nanos(60_000_000_000));
    let turns = 3;
    let run = |placement, seed, adapts| {
        let settings = settings(machine, placement);
        follow(&settings, load, turns * 60, seed, adapts).unwrap().per_second
    };
    let span = |turn: usize| turn * 60 + 30..turn * 60 + 60;
    let (dealt, spread) = (run(Placing::RoundRobin, 0, false), run(Placing::IndexVector, 0, false));
    for seed in seeds {
        let placed = run(Placing::RoundRobin, seed, true);
        for turn in 0..turns as usize {
            let best = rate(&spread, span(turn)).max(rate(&dealt, span(turn)));
            let reached = rate(&placed, span(turn));
            let of_best = reached / best;
            println!("{machine} seed {seed} turn {turn}: {reached:.1} of {best:.1} statements/s");
            assert!(of_best >= 0.95, "{machine} seed {seed} turn {turn}: {of_best:.3}");
        }
    }
}

#[test]
fn a_hot_column_that_changes_every_minute_is_followed_on_four_sockets() {
    check_moving("4x-ivybridge-ex", 1..4);
}

#[test]
fn a_hot_column_that_changes_every_minute_is_followed_on_eight_sockets() {
    check_moving("8x-westmere-ex", 1..3);
}

#[test]
fn an_even_load_is_left_alone_for_an_hour() {
    // Ten times the rows, so that an hour is a tenth of the statements, and each column's turn comes less evenly.
    for (machine, seed) in [("4x-ivybridge-ex", 1), ("8x-westmere-ex", 2)] {
        let dealt = Settings { rows: 1_000_000_000, ..settings(machine, Placing::RoundRobin) };
        let off = follow(&dealt, Load::Even, 3600, seed, false).unwrap().per_second;
        let on = follow(&dealt, Load::Even, 3600, seed, true).unwrap();
        let (off, placed) = (rate(&off, 0..3600), rate(&on.per_second, 0..3600));
        println!("{machine} even load: off {off:.2}, on {placed:.2} statements/s");
        assert_eq!(on.decisions, []);
        assert!(placed >= 0.99 * off, "{machine}: {placed:.2} of {off:.2}");
    }
}
