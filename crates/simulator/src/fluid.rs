//! Max-min fair sharing by progressive filling: all flows grow alike until a resource is full or a flow has all that it
//! can take; these stay, the others grow on.
//!
//! Key decision: flows that use the same resources in the same way are one class with a count, so the work depends on
//! the pairs of nodes that talk and not on the threads that do.

/// What one byte per second of a flow takes of a resource.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Use {
    /// The resource, by index.
    pub resource: usize,
    /// Units of its capacity.
    pub weight: f64,
}

/// Flows that are alike.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowClass {
    /// How many there are.
    pub count: f64,
    /// What each could take if it were alone, in bytes per second.
    pub cap: f64,
    /// What they use.
    pub uses: Vec<Use>,
}

/// Works out shares; keeps its tables from one time to the next.
#[derive(Debug, Default)]
pub struct Filling {
    rates: Vec<f64>,
    frozen: Vec<bool>,
    /// Classes with flows, the smallest cap first.
    by_cap: Vec<usize>,
    /// Per resource: capacity that frozen flows leave, what growing flows take of it per byte and second, how many
    /// classes grow.
    left: Vec<f64>,
    taken: Vec<f64>,
    growing: Vec<u32>,
    /// The classes that use a resource lie in `users` from its number in `starts` on.
    starts: Vec<usize>,
    users: Vec<usize>,
}

impl Filling {
    /// The bytes per second of each flow of each class. A class without flows has none; a flow that uses nothing has
    /// its cap.
    pub fn share(&mut self, capacities: &[f64], classes: &[FlowClass]) -> &[f64] {
        self.begin(capacities, classes);
        let mut next = 0;
        loop {
            let (full, level) = self.tightest();
            // Who can take no more than that is done; it leaves more for the others, so the level stays a lower bound.
            let mut capped = false;
            while let Some(&class) = self.by_cap.get(next) {
                if !self.frozen[class] {
                    if classes[class].cap > level {
                        break;
                    }
                    self.freeze(class, &classes[class], classes[class].cap);
                    capped = true;
                }
                next += 1;
            }
            if next == self.by_cap.len() {
                return &self.rates;
            }
            if !capped {
                let full =
                    full.expect("invariant: without a full resource every class meets its cap");
                for user in self.starts[full]..self.starts[full + 1] {
                    let class = self.users[user];
                    if !self.frozen[class] {
                        self.freeze(class, &classes[class], level);
                    }
                }
            }
        }
    }

    fn begin(&mut self, capacities: &[f64], classes: &[FlowClass]) {
        fn renew<T: Clone>(table: &mut Vec<T>, length: usize, value: T) {
            table.clear();
            table.resize(length, value);
        }
        renew(&mut self.rates, classes.len(), 0.0);
        renew(&mut self.frozen, classes.len(), false);
        renew(&mut self.taken, capacities.len(), 0.0);
        renew(&mut self.growing, capacities.len(), 0);
        self.left.clear();
        self.left.extend_from_slice(capacities);
        self.by_cap.clear();
        self.by_cap.extend((0..classes.len()).filter(|&it| classes[it].count > 0.0));
        for &class in &self.by_cap {
            for used in &classes[class].uses {
                self.taken[used.resource] += classes[class].count * used.weight;
                self.growing[used.resource] += 1;
            }
        }
        renew(&mut self.starts, 1, 0);
        for &count in &self.growing {
            self.starts.push(self.starts[self.starts.len() - 1] + count as usize);
        }
        renew(&mut self.users, self.starts[capacities.len()], 0);
        let mut ends = self.starts.clone();
        for &class in &self.by_cap {
            for used in &classes[class].uses {
                self.users[ends[used.resource]] = class;
                ends[used.resource] += 1;
            }
        }
        self.by_cap.sort_by(|&a, &b| classes[a].cap.total_cmp(&classes[b].cap));
    }

    /// The resource that is full first, and the rate at which it is.
    fn tightest(&self) -> (Option<usize>, f64) {
        let mut tightest = (None, f64::INFINITY);
        for (resource, &growing) in self.growing.iter().enumerate() {
            if growing > 0 {
                let level = (self.left[resource] / self.taken[resource]).max(0.0);
                if level < tightest.1 {
                    tightest = (Some(resource), level);
                }
            }
        }
        tightest
    }

    fn freeze(&mut self, class: usize, it: &FlowClass, rate: f64) {
        self.rates[class] = rate;
        self.frozen[class] = true;
        for used in &it.uses {
            let weight = it.count * used.weight;
            self.left[used.resource] -= weight * rate;
            self.taken[used.resource] -= weight;
            self.growing[used.resource] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn share(capacities: &[f64], classes: &[FlowClass]) -> Vec<f64> {
        Filling::default().share(capacities, classes).to_vec()
    }

    fn class(count: f64, cap: f64, uses: &[(usize, f64)]) -> FlowClass {
        let uses = uses.iter().map(|&(resource, weight)| Use { resource, weight }).collect();
        FlowClass { count, cap, uses }
    }

    #[test]
    fn equal_flows_share_evenly_and_capped_ones_leave_the_rest() {
        assert_eq!(share(&[12.0], &[class(3.0, 100.0, &[(0, 1.0)])]), [4.0]);
        let rates = share(&[12.0], &[class(1.0, 2.0, &[(0, 1.0)]), class(2.0, 9.0, &[(0, 1.0)])]);
        assert_eq!(rates, [2.0, 5.0]);
        assert_eq!(share(&[], &[class(5.0, 7.0, &[]), class(0.0, 7.0, &[])]), [7.0, 0.0]);
        assert_eq!(share(&[1.0], &[]), [] as [f64; 0]);
    }

    #[test]
    fn a_flow_stopped_by_one_link_leaves_the_other_to_its_neighbour() {
        let flows = [
            class(1.0, 99.0, &[(0, 1.0)]),
            class(1.0, 99.0, &[(0, 1.0), (1, 1.0)]),
            class(1.0, 99.0, &[(1, 1.0)]),
        ];
        assert_eq!(share(&[10.0, 4.0], &flows), [8.0, 2.0, 2.0]);
    }

    fn network() -> impl Strategy<Value = (Vec<f64>, Vec<FlowClass>)> {
        let capacities = prop::collection::vec(1.0..100.0_f64, 1..6);
        let uses = prop::collection::btree_map(0..6_usize, 0.1..3.0_f64, 0..4);
        let class = (0..6_u32, 0.5..80.0_f64, uses);
        (capacities, prop::collection::vec(class, 0..12)).prop_map(|(capacities, classes)| {
            let within = |it: std::collections::BTreeMap<usize, f64>| -> Vec<Use> {
                let uses = it.into_iter().filter(|it| it.0 < capacities.len());
                uses.map(|(resource, weight)| Use { resource, weight }).collect()
            };
            let classes = classes.into_iter().map(|(count, cap, uses)| FlowClass {
                count: f64::from(count),
                cap,
                uses: within(uses),
            });
            let classes = classes.collect();
            (capacities, classes)
        })
    }

    proptest! {
        /// Nothing above its capacity or cap; and who has less than its cap is stopped by a full resource on which
        /// nobody has more. That is what max-min fairness means.
        #[test]
        fn shares_are_max_min_fair((capacities, classes) in network()) {
            let rates = share(&capacities, &classes);
            let mut load = vec![0.0; capacities.len()];
            for (it, rate) in classes.iter().zip(&rates) {
                prop_assert!(*rate <= it.cap * (1.0 + 1e-9));
                it.uses.iter().for_each(|used| load[used.resource] += it.count * used.weight * rate);
            }
            for (load, capacity) in load.iter().zip(&capacities) {
                prop_assert!(*load <= capacity * (1.0 + 1e-9), "{load} of {capacity}");
            }
            for (index, it) in classes.iter().enumerate().filter(|(_, it)| it.count > 0.0) {
                if rates[index] >= it.cap * (1.0 - 1e-9) {
                    continue;
                }
                let stopped = it.uses.iter().any(|used| {
                    let full = load[used.resource] >= capacities[used.resource] * (1.0 - 1e-9);
                    let highest = classes.iter().zip(&rates).filter(|(other, _)| {
                        other.count > 0.0 && other.uses.iter().any(|it| it.resource == used.resource)
                    });
                    full && highest.map(|it| *it.1).all(|it| it <= rates[index] * (1.0 + 1e-9))
                });
                prop_assert!(stopped, "class {index} could have more");
            }
        }
    }
}
