//! The reducer on planted failures.

use super::*;
use crate::ast::{Form, Query};
use crate::kind::{Class, Kind};
use crate::walk;

/// Fails where a query has an expression of a form.
struct Planted(fn(&Form) -> bool, usize);

impl Check for Planted {
    fn verdict(&mut self, case: &Case) -> Verdict {
        self.1 += 1;
        let rows: usize = case.world.tables.iter().map(|it| it.rows.len()).sum();
        let read = walk::tables(&case.query).iter().all(|name| {
            !name.starts_with('t') || case.world.tables.iter().any(|it| it.name == *name)
        });
        if walk::any(&case.query, |expr| self.0(&expr.form)) && rows > 0 && read {
            Verdict::Wrong("planted".to_owned())
        } else {
            Verdict::Same
        }
    }
}

fn reduced(form: fn(&Form) -> bool) -> Vec<Case> {
    let kinds: Vec<Kind> = Class::ALL.iter().flat_map(|class| class.kinds()).copied().collect();
    let mut small = Vec::new();
    for number in 0..400 {
        let world = case::world(5, number, &kinds);
        let query = case::query(5, number, &world, &kinds, 3);
        let case = Case { world, query };
        let mut check = Planted(form, 0);
        let verdict = check.verdict(&case);
        if verdict.is_failure() {
            small.push(reduce(&mut check, &case, &verdict, Budget::default()));
        }
    }
    small
}

fn nodes(query: &Query) -> usize {
    let mut count = 0;
    walk::query(&mut query.clone(), &mut |_, _| count += 1);
    count
}

#[test]
fn a_planted_failure_becomes_a_line() {
    let small = reduced(|form| matches!(form, Form::Between { negated: true }));
    assert!(small.len() > 5);
    for case in small {
        assert!(nodes(&case.query) <= 12, "{}", case.query);
        let rows: usize = case.world.tables.iter().map(|it| it.rows.len()).sum();
        assert_eq!(rows, 1, "{}", case.world.script());
    }
}

#[test]
fn what_a_reduced_case_gives_still_follows_from_its_tables() {
    for case in reduced(|form| matches!(form, Form::Scalar)) {
        assert!(case::is_determined(&case.query), "{}", case.query);
    }
}

#[test]
fn a_budget_ends_the_search() {
    let kinds: Vec<Kind> = vec![Kind::Integer];
    let world = case::world(5, 0, &kinds);
    let case = Case { query: case::contents("t0"), world };
    let mut check = Planted(|_| true, 0);
    let budget = Budget { checks: 3, time: Duration::from_secs(60) };
    reduce(&mut check, &case, &Verdict::Wrong(String::new()), budget);
    assert!(check.1 <= 3);
}
