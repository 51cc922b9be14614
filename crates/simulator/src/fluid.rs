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

/// The bytes per second of each flow of each class. A class without flows has none; a flow that uses nothing has its
/// cap.
pub fn share(capacities: &[f64], classes: &[FlowClass]) -> Vec<f64> {
    let mut filling = Filling::new(capacities, classes);
    let mut by_cap: Vec<usize> = (0..classes.len()).filter(|&it| classes[it].count > 0.0).collect();
    by_cap.sort_by(|&a, &b| classes[a].cap.total_cmp(&classes[b].cap));
    let mut next = 0;
    loop {
        let (full, level) = filling.tightest();
        // Who can take no more than that is done; it leaves more for the others, so the level stays a lower bound.
        let mut capped = false;
        while next < by_cap.len() {
            let class = by_cap[next];
            if filling.rates[class].is_none() {
                if classes[class].cap > level {
                    break;
                }
                filling.freeze(class, classes[class].cap);
                capped = true;
            }
            next += 1;
        }
        if next == by_cap.len() {
            break;
        }
        if !capped {
            let full = full.expect("invariant: without a full resource every class meets its cap");
            filling.freeze_users(full, level);
        }
    }
    filling.rates.into_iter().map(|it| it.unwrap_or(0.0)).collect()
}

struct Filling<'a> {
    classes: &'a [FlowClass],
    rates: Vec<Option<f64>>,
    /// Per resource: capacity that frozen flows leave, what growing flows take of it per byte and second, who uses it.
    left: Vec<f64>,
    taken: Vec<f64>,
    users: Vec<Vec<usize>>,
    growing: Vec<u32>,
}

impl<'a> Filling<'a> {
    fn new(capacities: &[f64], classes: &'a [FlowClass]) -> Self {
        let mut taken = vec![0.0; capacities.len()];
        let mut users = vec![Vec::new(); capacities.len()];
        let mut growing = vec![0; capacities.len()];
        for (class, it) in classes.iter().enumerate().filter(|(_, it)| it.count > 0.0) {
            for used in &it.uses {
                taken[used.resource] += it.count * used.weight;
                users[used.resource].push(class);
                growing[used.resource] += 1;
            }
        }
        let rates = vec![None; classes.len()];
        Self { classes, rates, left: capacities.to_vec(), taken, users, growing }
    }

    /// The resource that is full first, and the rate at which it is.
    fn tightest(&self) -> (Option<usize>, f64) {
        let mut tightest = (None, f64::INFINITY);
        for resource in (0..self.left.len()).filter(|&it| self.growing[it] > 0) {
            let level = (self.left[resource] / self.taken[resource]).max(0.0);
            if level < tightest.1 {
                tightest = (Some(resource), level);
            }
        }
        tightest
    }

    fn freeze(&mut self, class: usize, rate: f64) {
        self.rates[class] = Some(rate);
        let it = &self.classes[class];
        for used in &it.uses {
            let weight = it.count * used.weight;
            self.left[used.resource] -= weight * rate;
            self.taken[used.resource] -= weight;
            self.growing[used.resource] -= 1;
        }
    }

    fn freeze_users(&mut self, resource: usize, rate: f64) {
        for class in std::mem::take(&mut self.users[resource]) {
            if self.rates[class].is_none() {
                self.freeze(class, rate);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
