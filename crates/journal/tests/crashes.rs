//! The log against a disk that tears, reorders and loses what was not synced.

use std::path::Path;

use hardware::{Folder, Machine, samples};
use journal::{Journal, JournalError, Lsn, Record, read_sealed, write_sealed};
use simulator::{DiskImage, SimulatedMachine};
use stdx::Bytes;
use stdx::prng::Prng;
use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stdx::sync::{Arc, thread};

fn machine(image: DiskImage) -> Arc<SimulatedMachine> {
    SimulatedMachine::after_crash(samples::by_name("laptop").unwrap(), 1, image)
}

fn folder(machine: &SimulatedMachine) -> Arc<dyn Folder> {
    machine.open_folder(Path::new("/d")).unwrap().into()
}

type Read = Vec<(Lsn, Vec<u8>)>;

fn open(machine: &SimulatedMachine, after: Lsn) -> Result<(Journal, Read), JournalError> {
    let mut read = Vec::new();
    let journal = Journal::open(folder(machine), after, 7, &mut |lsn, held| {
        read.push((lsn, held.to_vec()));
        Ok::<_, JournalError>(())
    })?;
    Ok((journal, read))
}

fn record(prng: &mut Prng) -> Vec<u8> {
    let length = [1, 30, 600, 5000][prng.below(4) as usize];
    (0..1 + prng.below(length)).map(|_| prng.next_u64() as u8).collect()
}

fn append(journal: &Journal, held: &[u8]) -> Result<Lsn, JournalError> {
    let mut record = Record::default();
    record.extend(held);
    journal.append(record)
}

#[test]
fn what_was_synced_is_there_after_any_crash_and_the_rest_is_a_beginning_of_it() {
    for seed in 0..150 {
        let mut prng = Prng::new(seed);
        let mut image = DiskImage::default();
        let (mut written, mut synced): (Read, usize) = (Vec::new(), 0);
        let mut after = Lsn(0);
        for round in 0..4 {
            let machine = machine(image);
            let (journal, read) = open(&machine, after).unwrap();
            let known = written.iter().filter(|it| it.0 > after).cloned().collect::<Read>();
            let sure = written[..synced].iter().filter(|it| it.0 > after).count();
            assert!(read.len() >= sure, "seed {seed}, round {round}: {} < {sure}", read.len());
            assert_eq!(read, known[..read.len()], "seed {seed}, round {round}");
            written.truncate(written.len() - known.len() + read.len());
            for _ in 0..prng.below(12) {
                let held = record(&mut prng);
                let lsn = append(&journal, &held).unwrap();
                written.push((lsn, held));
                match prng.below(8) {
                    0..3 => {
                        journal.sync_to(lsn).unwrap();
                        synced = written.len();
                    }
                    3 => {
                        let last = journal.rotate(seed).unwrap();
                        assert_eq!(last, lsn);
                        (after, synced) = (last, written.len());
                        if prng.below(2) == 0 {
                            journal.remove_up_to(after).unwrap();
                        }
                    }
                    _ => {}
                }
            }
            synced = synced.min(written.len());
            image = machine.crash(prng.next_u64());
        }
    }
}

/// Tells threads to end, also where what they are beside fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Committers at once, beside one that makes checkpoints: each image of the disk, taken at any moment between their steps, opens
/// and holds all that was acknowledged before it was taken, without a gap. The images wait for checkpoints and commits to come
/// between them, so that no order in which threads happen to run leaves any of it out.
#[test]
fn any_image_amid_committers_and_checkpoints_opens_with_what_was_acknowledged() {
    let rounds = std::env::var("NODEWISE_JOURNAL_ROUNDS").map_or(12, |it| it.parse().unwrap());
    let (mut images, mut cut) = (0, 0);
    for seed in 0..rounds {
        let machine = machine(DiskImage::default());
        let folder = folder(&machine);
        let journal =
            Journal::open(folder.clone(), Lsn(0), 7, &mut |_, _| Ok::<_, JournalError>(()));
        let journal = journal.unwrap();
        let (acknowledged, ended) = (AtomicU64::new(0), AtomicBool::new(false));
        let checkpoints = AtomicU64::new(0);
        thread::scope(|scope| {
            let _ends = Ends(&ended);
            for writer in 0..3 {
                let (journal, acknowledged, ended) = (&journal, &acknowledged, &ended);
                scope.spawn(move || {
                    let mut prng = Prng::new(seed * 10 + writer);
                    while !ended.load(Ordering::Relaxed) {
                        let lsn = append(journal, &record(&mut prng)).unwrap();
                        if prng.below(4) > 0 {
                            journal.sync_to(lsn).unwrap();
                            acknowledged.fetch_max(lsn.0, Ordering::SeqCst);
                        }
                    }
                });
            }
            let (journal, ended, checkpoints) = (&journal, &ended, &checkpoints);
            let checkpointer = scope.spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    let lsn = journal.rotate(seed).unwrap();
                    write_sealed(&*folder, "manifest", &lsn.0.to_le_bytes()).unwrap();
                    checkpoints.fetch_add(1, Ordering::SeqCst);
                    journal.remove_up_to(lsn).unwrap();
                }
            });
            let mut prng = Prng::new(seed);
            for image in 0..20 {
                while checkpoints.load(Ordering::SeqCst) < image / 4 {
                    assert!(!checkpointer.is_finished(), "seed {seed}: no more checkpoints come");
                    thread::yield_now();
                }
                let known = acknowledged.load(Ordering::SeqCst);
                let again = self::machine(machine.crash(prng.next_u64()));
                let named = read_sealed(&*self::folder(&again), "manifest").unwrap();
                let after = named.map_or(0, |it| u64::from_le_bytes(it.try_into().unwrap()));
                let (opened, read) = open(&again, Lsn(after)).unwrap_or_else(|error| {
                    panic!("seed {seed}: {error} ({after} in the checkpoint, {known} known)")
                });
                let found: Vec<u64> = read.iter().map(|it| it.0.0).collect();
                // What has no bytes is a mark, and not shown.
                assert!(found.is_sorted() && found.first().is_none_or(|it| *it > after));
                assert!(opened.last().0 >= known, "seed {seed}: {known} was acknowledged");
                (images, cut) = (images + 1, cut + usize::from(after > 0));
            }
        });
    }
    assert!(images >= rounds * 20 && cut > 0, "{images} images, {cut} behind a checkpoint");
}

#[test]
fn a_flipped_bit_is_an_error_or_changes_nothing() {
    let first = machine(DiskImage::default());
    let (journal, _) = open(&first, Lsn(0)).unwrap();
    let mut prng = Prng::new(3);
    let mut written = Vec::new();
    for _ in 0..20 {
        let held = record(&mut prng);
        written.push((append(&journal, &held).unwrap(), held));
        journal.sync_to(journal.last()).unwrap();
    }
    journal.mark().unwrap();
    let (mut found, mut right) = (0, 0);
    for seed in 0..600 {
        let mut image = first.crash(0);
        image.flip(seed).unwrap();
        match open(&machine(image), Lsn(0)) {
            Ok((_, read)) => {
                assert_eq!(read, written, "seed {seed}");
                right += 1;
            }
            Err(JournalError::Damaged { path, .. }) => {
                assert!(path.ends_with("log-0000000000000001"), "{}", path.display());
                found += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    // Most of the file is zeros that were written ahead.
    assert!(found > 5 && right > 300, "{found} found, {right} right");
}

#[test]
fn a_failure_is_final() {
    let machine = machine(DiskImage::default());
    let (journal, _) = open(&machine, Lsn(0)).unwrap();
    let durable = append(&journal, b"first").unwrap();
    journal.sync_to(durable).unwrap();
    machine.set_syncs(Some(0));
    let lost = append(&journal, b"lost").unwrap();
    assert!(matches!(journal.sync_to(lost), Err(JournalError::Disk(_))));
    machine.set_syncs(None);
    assert!(matches!(journal.sync_to(lost), Err(JournalError::Stopped { .. })), "not tried again");
    assert!(matches!(append(&journal, b"more"), Err(JournalError::Stopped { .. })));
    assert!(journal.sync_to(durable).is_ok() && journal.failure().is_some());
    drop(journal);
    let again = self::machine(machine.crash(4));
    let (_, read) = open(&again, Lsn(0)).unwrap();
    assert_eq!(read[0].1, b"first");
}

#[test]
fn a_full_disk_stops_writing_and_not_before() {
    let machine = machine(DiskImage::default());
    machine.set_disk(Bytes(10_000), None);
    let (journal, _) = open(&machine, Lsn(0)).unwrap();
    let mut count = 0;
    let error = loop {
        match append(&journal, &[1; 1000]) {
            Ok(lsn) => journal.sync_to(lsn).unwrap(),
            Err(error) => break error,
        }
        count += 1;
    };
    assert_eq!(count, 9, "all the room is used, none of it for zeros");
    assert!(error.to_string().starts_with("no space is left for /d/log-"), "{error}");
    drop(journal);
    let (_, read) = open(&self::machine(machine.crash(0)), Lsn(0)).unwrap();
    assert_eq!(read.len(), 9);
}

#[test]
fn a_sealed_file_is_the_old_one_or_the_new_one() {
    for seed in 0..100 {
        let first = machine(DiskImage::default());
        let folder = folder(&first);
        assert_eq!(read_sealed(&*folder, "m").unwrap(), None);
        write_sealed(&*folder, "m", &[1; 3000]).unwrap();
        first.set_syncs(Some(seed % 2));
        let replaced = write_sealed(&*folder, "m", &[2; 3000]);
        assert!(replaced.is_err());
        let again = machine(first.crash(seed));
        let found = read_sealed(&*self::folder(&again), "m").unwrap().unwrap();
        assert!(found == [1; 3000] || (found == [2; 3000] && seed % 2 == 1), "seed {seed}");
        let mut image = first.crash(seed);
        let (path, _) = image.flip(seed).unwrap();
        let again = machine(image);
        let damaged = read_sealed(&*self::folder(&again), "m");
        assert!(damaged.is_err() || path.ends_with("m.new") || damaged == Ok(Some(found)));
    }
}

/// What a write that was cut short has left is never taken for the file, whenever the next write is cut short.
#[test]
fn what_was_left_of_a_sealed_file_never_takes_its_place() {
    let mut images = 0;
    for seed in 0..60 {
        let first = machine(DiskImage::default());
        write_sealed(&*folder(&first), "m", &[1; 3000]).unwrap();
        first.set_syncs(Some(0));
        assert!(write_sealed(&*folder(&first), "m", &[2; 3000]).is_err());
        let again = machine(first.crash(seed));
        again.keep_pictures();
        write_sealed(&*folder(&again), "m", &[3; 3000]).unwrap();
        for picture in again.take_pictures() {
            for draw in 0..10 {
                let image = machine(picture.crash(seed * 10 + draw));
                let found = read_sealed(&*folder(&image), "m").unwrap().unwrap();
                assert!(found == [1; 3000] || found == [3; 3000], "seed {seed}, {draw}");
                images += 1;
            }
        }
    }
    assert!(images > 2000, "{images}");
}

#[test]
fn a_log_of_an_older_format_is_gone_on_with_only_when_a_checkpoint_has_all_of_it() {
    let machine = machine(DiskImage::default());
    let (journal, _) = open(&machine, Lsn(0)).unwrap();
    let last = append(&journal, b"what").unwrap();
    journal.sync_to(last).unwrap();
    drop(journal);
    let logs = || {
        let names = folder(&machine).list().unwrap().into_iter();
        names.filter(|it| it.starts_with("log-")).collect::<Vec<_>>()
    };
    {
        let [name] = &logs()[..] else { panic!("one file") };
        let file = folder(&machine).open(name).unwrap();
        let mut head = vec![0; 24];
        file.read_at(0, &mut head).unwrap();
        head[8] = 1;
        head.extend(crc32c::crc32c(&head).to_le_bytes());
        file.write_at(0, &head).unwrap();
    }
    let refused = open(&machine, Lsn(0)).map(|_| ());
    assert!(matches!(refused, Err(JournalError::Older { version: 1, .. })), "{refused:?}");
    let (journal, read) = open(&machine, last).unwrap();
    assert_eq!(read, []);
    let next = append(&journal, b"ever").unwrap();
    journal.sync_to(next).unwrap();
    drop(journal);
    assert_eq!(logs().len(), 2, "what comes next is in a file of its own");
    assert_eq!(open(&machine, last).unwrap().1, [(next, b"ever".to_vec())]);
}
