//! Unnesting against the meaning of dependent joins: an interpreter that evaluates the right side for each left row.

mod cases;
pub(crate) mod generator;
pub(crate) mod interpreter;

use plan::relation::{Query, Rel};
use stdx::prng::Prng;

use super::unnest;
use generator::Generator;
use interpreter::{Raised, answer};

fn has_apply(query: &Query) -> bool {
    let mut found = false;
    let all = query.shared.iter().chain(query.scalars.iter().map(|it| &it.rel));
    for rel in all.chain([&query.root]) {
        rel.visit(&mut |it| found |= matches!(it, Rel::Apply(_)));
    }
    found
}

/// The answers with dependent joins and without, each sorted.
fn both(query: &Query) -> [Result<Vec<String>, Raised>; 2] {
    let expected = answer(query);
    let mut unnested = query.clone();
    unnest(&mut unnested, &mut crate::Outsides::default(), &types::Interrupt::default())
        .expect("every query can be unnested");
    assert!(!has_apply(&unnested), "{unnested:#?}");
    for rel in unnested.shared.iter().chain([&unnested.root]) {
        assert!(rel.free_attrs().is_empty(), "{rel:#?}");
    }
    [expected, answer(&unnested)]
}

/// Random nests of every operator and every kind of dependent join.
#[test]
fn random_nests_mean_the_same_without_dependent_joins() {
    let (mut raised, mut full) = (0, 0);
    let count = std::env::var("NODEWISE_UNNEST_CASES").ok().and_then(|it| it.parse().ok());
    let first = std::env::var("NODEWISE_UNNEST_SEED").ok().and_then(|it| it.parse().ok());
    let first: u64 = first.unwrap_or(0);
    for seed in first..first + count.unwrap_or(4000) {
        let mut generator = Generator::new(Prng::new(seed));
        let query = generator.query();
        let [expected, found] = both(&query);
        full += u64::from(expected.as_ref().is_ok_and(|it| !it.is_empty()));
        if generator.may_raise && (expected.is_err() || found.is_err()) {
            raised += 1;
            continue;
        }
        let mut unnested = query.clone();
        unnest(&mut unnested, &mut crate::Outsides::default(), &types::Interrupt::default())
            .expect("every query can be unnested");
        assert_eq!(expected, found, "seed {seed}\n{query:#?}\n\n{unnested:#?}");
    }
    assert!(full > raised, "{full} answers with rows, {raised} errors");
}
