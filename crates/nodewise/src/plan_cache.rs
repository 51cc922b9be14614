//! Plans of statements that were planned before, by text.
//!
//! Key decision: the key is the exact text, the version of the catalog, and what planning may do. Planning depends on these
//! alone (an invariant of `optimizer`); whatever setting comes to change plans has to be part of the key.
//! Plans hold no tables, so a cached plan keeps nothing alive.

use std::collections::HashMap;

use arrow_schema::SchemaRef;
use optimizer::Options;
use plan::Plan;
use stdx::sync::{Arc, Mutex};

/// Plans kept at most.
const PLANS_MAX: usize = 512;

/// Bytes of the longest text that is kept.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// A plan that may run again as long as the catalog has its version.
#[derive(Clone, Debug)]
pub(crate) struct CachedPlan {
    /// The version of the catalog that it was planned on.
    pub version: u64,
    /// What planning was allowed to do.
    pub options: Options,
    /// The plan.
    pub plan: Arc<Plan>,
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
    /// The plan of a text on a version of the catalog, made under these options.
    pub fn get(&self, text: &str, version: u64, options: Options) -> Option<CachedPlan> {
        let mut entries = self.0.lock();
        entries.clock += 1;
        let now = entries.clock;
        let (used, cached) = entries.plans.get_mut(text)?;
        *used = now;
        (cached.version == version && cached.options == options).then(|| cached.clone())
    }

    /// Keeps a plan, in the place of the one that the text had on another version or under other options.
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
    use super::*;

    fn cached(version: u64) -> CachedPlan {
        let plan = Arc::new(Plan { pipelines: Vec::new(), output: Vec::new() });
        let (options, schema) = (Options::default(), Arc::new(arrow_schema::Schema::empty()));
        CachedPlan { version, options, plan, schema }
    }

    #[test]
    fn a_plan_is_for_one_version_and_the_oldest_goes() {
        let cache = PlanCache::default();
        let get = |text: &str, version| cache.get(text, version, Options::default());
        cache.put("a", cached(1));
        assert!(get("a", 1).is_some() && get("a", 2).is_none());
        assert!(cache.get("a", 1, Options { rewrites: false }).is_none());
        cache.put("a", cached(2));
        assert!(get("a", 1).is_none() && get("a", 2).is_some());
        for number in 0..PLANS_MAX {
            cache.put(&number.to_string(), cached(2));
            assert!(get("a", 2).is_some(), "what is used stays");
        }
        assert!(get("0", 2).is_none() && get("1", 2).is_some());
        cache.put(&"x".repeat(TEXT_BYTES_MAX + 1), cached(2));
        assert_eq!(cache.0.lock().plans.len(), PLANS_MAX);
    }
}
