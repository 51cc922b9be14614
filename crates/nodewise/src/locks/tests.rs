//! Who is in whose way.

use super::*;

const TABLE: TableId = TableId(1);

fn writer(locks: &Arc<Locks>, session: u64) -> Owner {
    locks.owner(session, HolderKind::Writer)
}

fn row(id: u64) -> Lock {
    ((TABLE, Locked::Row, id), LockMode::ForUpdate)
}

fn seen(locks: &Locks, owner: &Owner) -> Other {
    locks.inside.lock().seen(owner.number())
}

#[test]
fn several_share_a_row_and_whose_strength_excludes_waits() {
    let locks = Arc::new(Locks::default());
    let [a, b, c] = [1, 2, 3].map(|it| locks.owner(it, HolderKind::Writer));
    let shared = ((TABLE, Locked::Row, 7), LockMode::ForShare);
    let updated = ((TABLE, Locked::Row, 7), LockMode::ForNoKeyUpdate);
    let key = ((TABLE, Locked::Row, 7), LockMode::ForKeyShare);
    assert_eq!(locks.take(a.number(), &[shared]), Ok(()));
    assert_eq!(locks.take(b.number(), &[shared]), Ok(()));
    assert_eq!(locks.take(c.number(), &[updated]), Err(seen(&locks, &a)));
    assert_eq!(locks.take(a.number(), &[updated]), Err(seen(&locks, &b)), "b shares it");
    assert_eq!(locks.rows_of_others(c.number(), TABLE, LockMode::ForUpdate), [7]);
    assert!(locks.rows_of_others(c.number(), TABLE, LockMode::ForShare).is_empty());
    drop(b);
    assert_eq!(locks.take(a.number(), &[updated]), Ok(()));
    assert_eq!(locks.take(c.number(), &[key]), Ok(()));
    assert_eq!(locks.take(c.number(), &[shared]), Err(seen(&locks, &a)));
    let seen = locks.list();
    let seen: Vec<_> = seen.iter().map(|it| (it.session, it.mode)).collect();
    let of_a = [(1, LockMode::ForShare), (1, LockMode::ForNoKeyUpdate)];
    assert_eq!(seen, [of_a[0], of_a[1], (3, LockMode::ForKeyShare)]);
    drop((a, c));
    assert!(locks.list().is_empty() && locks.owners().is_empty());
}

#[test]
fn locks_are_taken_all_or_none_and_go_with_their_owner() {
    let locks = Arc::new(Locks::default());
    let (a, b) = (writer(&locks, 1), writer(&locks, 2));
    assert_eq!(locks.take(a.number(), &[row(1), row(2)]), Ok(()));
    assert_eq!(locks.take(a.number(), &[row(1), row(3)]), Ok(()));
    assert_eq!(locks.take(b.number(), &[row(4), row(3)]), Err(seen(&locks, &a)));
    assert_eq!(locks.take(a.number(), &[row(4)]), Ok(()), "b has none");
    assert_eq!(
        locks.take(b.number(), &[((TABLE, Locked::Key(0), 1), LockMode::ForUpdate)]),
        Ok(())
    );
    assert!(locks.wait(b.number(), seen(&locks, &a), None).unwrap().is_some());
    assert_eq!(locks.wait(a.number(), seen(&locks, &b), None).err().unwrap().state.0, "40P01");
    locks.stop_waiting(b.number(), false);
    assert!(locks.wait(a.number(), seen(&locks, &b), None).unwrap().is_some());
    let gone = seen(&locks, &a);
    drop(a);
    assert!(locks.wait(b.number(), gone, None).unwrap().is_none());
    assert_eq!(locks.take(b.number(), &[row(1), row(4)]), Ok(()));
    drop(b);
    assert!(locks.inside.lock().held.is_empty() && locks.inside.lock().holders.is_empty());
}

#[test]
fn who_writes_alone_waits_for_those_who_write_and_lets_nobody_begin() {
    let locks = Arc::new(Locks::default());
    let [a, b, c] = [1, 2, 3].map(|it| locks.owner(it, HolderKind::Writer));
    assert_eq!(locks.take(a.number(), &[row(1)]), Ok(()));
    assert_eq!(locks.take_alone(b.number()), Err(seen(&locks, &a)));
    assert_eq!(locks.take(c.number(), &[row(9)]), Err(seen(&locks, &b)));
    assert_eq!(locks.take_alone(c.number()), Err(seen(&locks, &b)));
    assert_eq!(locks.take(a.number(), &[row(2)]), Ok(()), "who has begun goes on");
    locks.stop_waiting(b.number(), true);
    assert_eq!(locks.take(c.number(), &[row(9)]), Ok(()), "nobody waits any more");
    assert_eq!(locks.take_alone(b.number()), Err(seen(&locks, &a)));
    drop(a);
    assert_eq!(locks.take_alone(b.number()), Err(seen(&locks, &c)));
    drop(c);
    let c = writer(&locks, 3);
    assert_eq!(locks.take_alone(b.number()), Ok(()));
    assert_eq!(locks.take(b.number(), &[row(1)]), Ok(()));
    assert_eq!(locks.take(c.number(), &[row(9)]), Err(seen(&locks, &b)));
    drop(b);
    assert_eq!(locks.take_alone(c.number()), Ok(()));
}

fn number(number: u64) -> Lock {
    ((TableId(0), Locked::Advisory(false), number), LockMode::Exclusive)
}

#[test]
fn holders_of_a_session_are_one_to_others() {
    let locks = Arc::new(Locks::default());
    let own = [HolderKind::Writer, HolderKind::Transaction, HolderKind::Session];
    let [a, light, session] = own.map(|it| locks.owner(1, it));
    let b = locks.owner(2, HolderKind::Transaction);
    assert_eq!(locks.take(session.number(), &[number(5)]), Ok(()));
    assert_eq!(locks.take(light.number(), &[number(5)]), Ok(()));
    assert_eq!(locks.take(a.number(), &[row(1)]), Ok(()));
    assert_eq!(locks.take(b.number(), &[number(5)]), Err(seen(&locks, &session)));
    assert_eq!(locks.take(b.number(), &[number(6)]), Ok(()));
    assert!(locks.wait(b.number(), seen(&locks, &session), Some(number(5))).unwrap().is_some());
    let error = locks.wait(a.number(), seen(&locks, &b), None).err().unwrap();
    assert_eq!(error.state.0, "40P01", "b waits for the session of a");
    let gate = locks.wait(b.number(), seen(&locks, &session), Some(number(5))).unwrap().unwrap();
    assert!(gate.try_enter().is_none());
    locks.release(session.number(), number(5));
    assert!(gate.try_enter().is_some(), "who waits looks again");
    assert_eq!(locks.take(b.number(), &[number(5)]), Err(seen(&locks, &light)));
    drop(light);
    assert_eq!(locks.take(b.number(), &[number(5)]), Ok(()));
    let alone = writer(&locks, 3);
    assert_eq!(locks.take_alone(alone.number()), Err(seen(&locks, &a)));
    drop(a);
    assert_eq!(locks.take_alone(alone.number()), Ok(()), "numbers are no rows");
    assert_eq!(locks.take(session.number(), &[number(7)]), Ok(()));
}

#[test]
fn what_was_taken_behind_a_mark_is_let_go() {
    let locks = Arc::new(Locks::default());
    let (a, b) = (writer(&locks, 1), writer(&locks, 2));
    let shared = ((TABLE, Locked::Row, 1), LockMode::ForKeyShare);
    assert_eq!(locks.take(a.number(), &[shared]), Ok(()));
    let mark = locks.mark(a.number());
    assert_eq!(locks.take(a.number(), &[row(1), row(2), row(1)]), Ok(()));
    assert_eq!(locks.take(b.number(), &[row(2)]), Err(seen(&locks, &a)));
    let gate = locks.wait(b.number(), seen(&locks, &a), None).unwrap().unwrap();
    locks.release_behind(a.number(), mark);
    assert!(gate.try_enter().is_some());
    assert_eq!(locks.take(b.number(), &[row(2)]), Ok(()));
    assert_eq!(locks.take(b.number(), &[shared]), Ok(()));
    assert_eq!(locks.take(b.number(), &[row(1)]), Err(seen(&locks, &a)), "it was shared before");
    drop((a, b));
    assert!(locks.list().is_empty() && locks.owners().is_empty());
}

/// Who was woken has the lock before it says that it waits no more: it is in no circle with who let go and asks again.
#[test]
fn who_is_woken_waits_for_nobody() {
    let locks = Arc::new(Locks::default());
    let [a, b] = [1, 2].map(|it| locks.owner(it, HolderKind::Session));
    let ways: [fn(&Locks, u64); 2] =
        [|locks, of| locks.release(of, number(7)), |locks, of| locks.release_behind(of, 0)];
    for lets_go in ways {
        assert_eq!(locks.take(a.number(), &[number(7)]), Ok(()));
        let before = seen(&locks, &a);
        assert_eq!(locks.take(b.number(), &[number(7)]), Err(before));
        assert!(locks.wait(b.number(), before, Some(number(7))).unwrap().is_some());
        lets_go(&locks, a.number());
        assert_eq!(locks.take(b.number(), &[number(7)]), Ok(()));
        assert_eq!(locks.take(a.number(), &[number(7)]), Err(seen(&locks, &b)));
        assert!(locks.wait(a.number(), seen(&locks, &b), Some(number(7))).unwrap().is_some());
        locks.stop_waiting(b.number(), false);
        locks.stop_waiting(a.number(), false);
        locks.release(b.number(), number(7));
    }
}

/// Who lets go between another's look and its wait would never wake it.
#[test]
fn nobody_begins_to_wait_for_who_has_let_go_meanwhile() {
    let locks = Arc::new(Locks::default());
    let [a, b] = [1, 2].map(|it| locks.owner(it, HolderKind::Session));
    assert_eq!(locks.take(a.number(), &[number(7)]), Ok(()));
    let before = locks.take(b.number(), &[number(7)]).unwrap_err();
    locks.release(a.number(), number(7));
    assert!(locks.wait(b.number(), before, Some(number(7))).unwrap().is_none());
    assert_eq!(locks.take(b.number(), &[number(7)]), Ok(()));
}

/// Of three that wait for the same row, the second is not woken when the first has it, and waits for that one; one that wants another
/// row is.
#[test]
fn who_is_first_takes_over_those_who_wait_for_it_now() {
    let locks = Arc::new(Locks::default());
    let [a, b, c, d] = [1, 2, 3, 4].map(|it| writer(&locks, it));
    let wait = |owner: &Owner, other: &Owner, lock: Lock| {
        let in_the_way = locks.take(owner.number(), &[lock]).unwrap_err();
        assert_eq!(in_the_way, seen(&locks, other));
        locks.wait(owner.number(), in_the_way, None).unwrap().unwrap()
    };
    assert_eq!(locks.take(a.number(), &[row(1), row(2)]), Ok(()));
    let gate = wait(&b, &a, row(1));
    assert!(Arc::ptr_eq(&gate, &wait(&c, &a, row(1))));
    drop(a);
    let pass = gate.try_enter().unwrap();
    assert_eq!(locks.take(b.number(), &[row(1)]), Ok(()));
    locks.hand_over(b.number(), &gate, pass);
    locks.stop_waiting(b.number(), false);
    assert!(gate.try_enter().is_none(), "c sleeps on");
    let waits: Vec<_> = locks.owners().iter().map(|it| it.waits_for).collect();
    assert_eq!(waits, [None, Some(b.number()), None]);
    let error = locks.wait(b.number(), seen(&locks, &c), None).err().unwrap();
    assert_eq!(error.state.0, "40P01", "c waits for b");
    assert_eq!(locks.take(b.number(), &[row(2)]), Ok(()));
    assert!(Arc::ptr_eq(&gate, &wait(&d, &b, row(2))));
    drop(b);
    let pass = gate.try_enter().unwrap();
    assert_eq!(locks.take(c.number(), &[row(1)]), Ok(()));
    locks.hand_over(c.number(), &gate, pass);
    locks.stop_waiting(c.number(), false);
    assert!(gate.try_enter().is_some(), "d wants another row");
    assert_eq!(locks.take(d.number(), &[row(2)]), Ok(()));
}
