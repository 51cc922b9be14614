//! Those who wait for one who has ended, when the first of them has its locks: where all the others would wait for that one now, they
//! do, and go on sleeping.

use scheduler::{Admission, Admitted};
use stdx::sync::Arc;

use super::{End, Locks, Queued, Wait, address_of};

impl Locks {
    /// Somebody has come through the gate of an end, and has all that it wanted. Those behind it, in the order in which they came, wait
    /// for its end in the place of the other, if each of them wants something that it has now. Else the next looks.
    pub(crate) fn hand_over(&self, owner: u64, gate: &Arc<Admission>, pass: Admitted) {
        let mut inside = self.inside.lock();
        let (session, address) = (inside.session_of(owner), address_of(gate));
        let is_behind = |it: &(&u64, &Queued)| *it.0 != session && it.1.gate == address;
        let behind: Vec<(u64, Queued)> =
            inside.queued.iter().filter(is_behind).map(|it| (*it.0, *it.1)).collect();
        let waits_for_it = |(session, _): &(u64, Queued)| {
            let refused = inside.refused.get(session);
            refused.is_some_and(|it| inside.is_in_the_way(owner, *session, it))
        };
        let has_end = inside.holders.get(&owner).is_none_or(|it| it.end.is_some());
        if behind.is_empty() || has_end || !behind.iter().all(waits_for_it) {
            drop(inside);
            drop(pass);
            return;
        }
        for (session, Queued { owner: waiting, wanted, .. }) in behind {
            inside.waits.insert(session, Wait { owner: waiting, other: owner, wanted });
        }
        if let Some(holder) = inside.holders.get_mut(&owner) {
            holder.end = Some(End { gate: gate.clone(), _place: Some(pass) });
        }
    }
}
