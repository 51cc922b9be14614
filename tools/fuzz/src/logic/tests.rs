//! The rules: each applies to some queries, and changes their text.

use std::collections::BTreeMap;

use crate::case;
use crate::kind::{Class, Kind};
use crate::logic::{self, rule};
use crate::peers::nodewise::{Host, Nodewise};
use crate::reduce::Check;
use crate::stage::{Layout, Stage};
use crate::verdict::Verdict;

#[test]
fn every_rule_applies_to_some_queries() {
    let kinds: Vec<Kind> = Class::ALL.iter().flat_map(|class| class.kinds()).copied().collect();
    let mut applied: BTreeMap<&str, usize> = BTreeMap::new();
    for number in 0..500 {
        let world = case::world(1, number, &kinds);
        let queries = [
            case::query(1, number, &world, &kinds, 3),
            case::filtered(1, number, &world, &kinds, 3),
        ];
        for rule in logic::rules() {
            for equation in queries.iter().filter_map(|query| (rule.make)(query)) {
                *applied.entry(rule.name).or_default() += 1;
                let texts = |queries: &[crate::ast::Query]| {
                    queries.iter().map(ToString::to_string).collect::<Vec<_>>()
                };
                assert_ne!(texts(&equation.left), texts(&equation.right), "{}", rule.name);
            }
        }
    }
    for rule in logic::rules() {
        assert!(applied.get(rule.name).is_some_and(|it| *it > 3), "{}: {applied:?}", rule.name);
    }
}

#[test]
fn a_rule_that_does_not_hold_is_found() {
    static FALSE_RULE: rule::Rule = rule::Rule {
        name: "all rows are no rows",
        make: |query| {
            let none = rule::with_select(query, |select| {
                select.filter = Some(crate::ast::Expr::literal("FALSE", Kind::Boolean));
            });
            rule::Equation::between(query, none)
        },
    };
    let peer = Nodewise::open(Host::Modelled("laptop", 1)).expect("the database opens");
    let mut stage = Stage::new(peer, Layout::Plain);
    let kinds = [Kind::Integer, Kind::Text];
    let world = (0..50)
        .map(|number| case::world(1, number * case::PER_WORLD, &kinds))
        .find(|world| !world.tables[0].rows.is_empty())
        .expect("a table with rows");
    let case = case::Case { world, query: case::contents("t0") };
    let mut check = rule::RuleCheck { stage: &mut stage, rule: &FALSE_RULE };
    assert!(matches!(check.verdict(&case), Verdict::Wrong(_)));
    assert!(check.describe(&case).iter().any(|line| line.contains("FALSE")));
}
