//! The types of the parameters of a statement.

use std::collections::BTreeMap;

use stdx::sync::Arc;
use types::DataType;

/// The types of the parameters of a statement.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ParameterTypes {
    /// Those that were given, and what the surroundings tell of the others; `None` where nothing tells any.
    pub types: Vec<Option<DataType>>,
    /// The domains, with their schemas, of those that a cast to one or a column of one has told. A value is of the type above.
    pub domains: BTreeMap<usize, Arc<str>>,
}

impl ParameterTypes {
    /// Those that are given; `None` for one that takes its type from where it stands.
    pub fn of(given: &[Option<DataType>]) -> Self {
        Self { types: given.to_vec(), domains: BTreeMap::new() }
    }

    /// The type of a parameter, where it is known.
    pub(super) fn get(&self, number: usize) -> Option<DataType> {
        self.types.get(number).copied().flatten()
    }

    /// A place for a type, known or not.
    pub(super) fn entry(&mut self, number: usize) -> &mut Option<DataType> {
        if number >= self.types.len() {
            self.types.resize(number + 1, None);
        }
        &mut self.types[number]
    }

    /// Takes over what is found of those of which nothing was known.
    pub fn learn(&mut self, found: Self) {
        self.types.resize(self.types.len().max(found.types.len()), None);
        for (number, domain) in found.domains {
            self.put_domain(number, &domain);
        }
        self.types.iter_mut().zip(found.types).for_each(|(known, found)| *known = known.or(found));
    }

    pub(super) fn put_domain(&mut self, number: usize, domain: &str) {
        if self.get(number).is_none() {
            self.domains.entry(number).or_insert_with(|| domain.into());
        }
    }
}
