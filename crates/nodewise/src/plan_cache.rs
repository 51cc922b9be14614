//! Plans of statements that were planned before, by text.
//!
//! Key decision: the key is the exact text, the tables that it names as they were, and what planning may do. Planning depends on
//! these alone (an invariant of `optimizer`); whatever setting comes to change plans has to be part of the key.
//! Plans hold no tables, so a cached plan keeps no rows alive. Changes of other tables leave a plan right.

use std::collections::HashMap;

use arrow_schema::SchemaRef;
use binder::bind::Asked;
use optimizer::Options;
use plan::Plan;
use stdx::sync::{Arc, Mutex};
use storage::CatalogSnapshot;
use types::TableId;

use crate::basis::Basis;
use crate::search_path::SearchPath;

/// Plans kept at most.
const PLANS_MAX: usize = 512;

/// Bytes of the longest text that is kept.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// A plan that may run again as long as the tables that it was planned on are there.
#[derive(Clone, Debug)]
pub(crate) struct CachedPlan {
    /// The tables that it was planned on.
    pub basis: Arc<Basis>,
    /// What planning was allowed to do.
    pub options: Options,
    /// The plan.
    pub plan: Arc<Plan>,
    /// The tables of which its scans do not tell all that is read.
    pub unknown: Vec<TableId>,
    /// The rights that it needs, asked at each run.
    pub asked: Arc<Asked>,
    /// Names and types of its rows.
    pub schema: SchemaRef,
}

/// Plans by text, the least recently used of which goes when there are too many.
#[derive(Debug, Default)]
pub(crate) struct PlanCache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    plans: HashMap<String, (u64, CachedPlan)>,
    clock: u64,
}

impl PlanCache {
    /// Whether there is a plan of a text, on whatever tables.
    pub fn knows(&self, text: &str) -> bool {
        self.0.lock().plans.contains_key(text)
    }

    /// The plan of a text on some tables, made under these options.
    pub fn get(
        &self,
        text: &str,
        tables: &CatalogSnapshot,
        options: Options,
        path: &SearchPath,
    ) -> Option<CachedPlan> {
        let cached = {
            let mut entries = self.0.lock();
            entries.clock += 1;
            let now = entries.clock;
            let (used, cached) = entries.plans.get_mut(text)?;
            *used = now;
            cached.clone()
        };
        (cached.options == options && cached.basis.holds(tables, path)).then_some(cached)
    }

    /// Keeps a plan, in the place of the one that the text had on other tables or under other options.
    pub fn put(&self, text: &str, plan: CachedPlan) {
        if text.len() > TEXT_BYTES_MAX {
            return;
        }
        let mut entries = self.0.lock();
        if entries.plans.len() >= PLANS_MAX && !entries.plans.contains_key(text) {
            let oldest = entries.plans.iter().min_by_key(|it| it.1.0).map(|it| it.0.clone());
            oldest.and_then(|it| entries.plans.remove(&it));
        }
        entries.clock += 1;
        let now = entries.clock;
        entries.plans.insert(text.to_owned(), (now, plan));
    }
}

#[cfg(test)]
mod tests {
    use hardware::samples;
    use simulator::SimulatedMachine;

    use super::*;
    use crate::{Database, DatabaseOptions};

    #[test]
    fn a_plan_is_for_its_tables_and_the_oldest_goes() {
        let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
        let database = Database::open(machine, DatabaseOptions::default()).unwrap();
        let mut session = database.session();
        session.execute("CREATE TABLE t (i INTEGER); CREATE TABLE u (i INTEGER)").unwrap();
        let mut after = |sql: &str| {
            session.execute(sql).unwrap();
            database.catalog.snapshot()
        };
        let cached = |tables: &CatalogSnapshot, names: &[&str]| {
            let asked: Vec<_> = names.iter().map(|it| tables.get(it).unwrap().id).collect();
            let plan = Arc::new(Plan {
                pipelines: Vec::new(),
                output: Vec::new(),
                recursions: Vec::new(),
            });
            let (options, schema) = (Options::default(), Arc::new(arrow_schema::Schema::empty()));
            let (basis, unknown) = (Arc::new(Basis::new(tables, &asked)), Vec::new());
            let asked = Arc::default();
            CachedPlan { basis, options, plan, unknown, asked, schema }
        };
        let cache = PlanCache::default();
        let get =
            |text: &str, tables| cache.get(text, tables, Options::default(), &SearchPath::usual());
        let first = after("INSERT INTO t VALUES (1)");
        cache.put("a", cached(&first, &["t"]));
        assert!(get("a", &first).is_some());
        assert!(
            cache
                .get(
                    "a",
                    &first,
                    Options { rewrites: false, ..Options::default() },
                    &SearchPath::usual()
                )
                .is_none()
        );
        let other = after("INSERT INTO u VALUES (1)");
        assert!(get("a", &other).is_some(), "of another table it knows nothing");
        let second = after("INSERT INTO t VALUES (2)");
        assert!(get("a", &second).is_none() && get("a", &first).is_some());
        let dropped = after("DROP TABLE t");
        assert!(get("a", &dropped).is_none());
        cache.put("a", cached(&second, &["t", "u"]));
        assert!(get("a", &first).is_none() && get("a", &second).is_some());
        for number in 0..PLANS_MAX {
            cache.put(&number.to_string(), cached(&second, &[]));
            assert!(get("a", &second).is_some(), "what is used stays");
        }
        assert!(get("0", &second).is_none() && get("1", &second).is_some());
        cache.put(&"x".repeat(TEXT_BYTES_MAX + 1), cached(&second, &[]));
        assert_eq!(cache.0.lock().plans.len(), PLANS_MAX);
    }
}
