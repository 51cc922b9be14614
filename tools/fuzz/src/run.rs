//! Runs what the command line asks for.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::arguments::{Arguments, Command, Run};
use crate::bytes::Mutations;
use crate::campaign::{Campaign, Plan};
use crate::case::{self, Case};
use crate::changes;
use crate::differ::Differ;
use crate::kind::{Class, Kind};
use crate::limits::Limits;
use crate::logic;
use crate::logic::rule::RuleCheck;
use crate::logic::settings::{Optimizer, Shapes, has_optimizer};
use crate::peers::duckdb::DuckDb;
use crate::peers::nodewise::{Host, Nodewise};
use crate::peers::postgres::Postgres;
use crate::peers::reply::{Peer, Reply};
use crate::reduce::{Budget, Check};
use crate::replay;
use crate::stage::{Layout, Stage};
use crate::verdict::Verdict;

/// Why a run ended before its cases.
pub enum Ended {
    /// The peer cannot be reached.
    NoPeer(String),
    Failed(String),
}

impl From<String> for Ended {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

/// Runs a command; true if no case failed.
pub fn run(arguments: &Arguments) -> Result<bool, Ended> {
    match &arguments.command {
        Command::Show { run } => show(run),
        Command::Differ { run, duckdb: Some(python), .. } => {
            differ(run, DuckDb::start(python).map_err(Ended::NoPeer)?, false)
        }
        Command::Differ { run, postgres, .. } => {
            differ(run, Postgres::connect(postgres).map_err(Ended::NoPeer)?, true)
        }
        Command::Replay { postgres, files } => {
            let mut peer = Postgres::connect(postgres).map_err(Ended::NoPeer)?;
            Ok(replay::replay(files, &mut peer)?)
        }
        Command::Changes { run, postgres } => {
            changes(run, Postgres::connect(postgres).map_err(Ended::NoPeer)?)
        }
        Command::Logic { run } => logic(run),
        Command::Limits { run } => limits(run),
        Command::Bytes { run, records } => bytes(run, records),
    }
}

/// Types that Nodewise has; a type that it lacks, or that is not wanted, is told and left out of all tables.
fn kinds(ours: &mut Nodewise, run: &Run) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Class::ALL.iter().flat_map(|class| class.kinds()).copied().collect();
    kinds.sort();
    kinds.dedup();
    kinds.retain(|kind| {
        if run.without.iter().any(|it| kind.to_string().starts_with(it)) {
            println!("left out: columns of {kind}");
            return false;
        }
        let reply = ours.run(&format!("CREATE TABLE probe (c {kind})"));
        if reply == Reply::Done {
            ours.run("DROP TABLE probe");
        } else {
            println!("no columns of {kind}: {}", reply.describe());
        }
        reply == Reply::Done
    });
    kinds
}

fn plan(name: &'static str, run: &Run) -> Plan {
    Plan {
        name,
        depth: run.depth,
        until: run.seconds.map(|it| Instant::now() + Duration::from_secs(it)),
        reductions: run.reductions,
        budget: Budget { checks: 2000, time: Duration::from_secs(run.reduction_seconds) },
        refusals: run.refusals,
        folder: run.folder.clone(),
    }
}

/// All cases of a run, in order, until its time is over.
fn each(run: &Run, plan: &Plan, mut body: impl FnMut(u64, u64)) {
    for seed in run.seeds.0..=run.seeds.1 {
        let numbers = match run.only {
            Some(number) => number..number + 1,
            None => 0..run.queries,
        };
        for number in numbers {
            if plan.until.is_some_and(|until| Instant::now() > until) {
                return;
            }
            if let Some(journal) = &run.journal
                && let Err(error) =
                    std::fs::write(journal, format!("--seeds {seed} --only {number}\n"))
            {
                eprintln!("the journal cannot be written: {error}");
            }
            body(seed, number);
        }
    }
}

fn show(run: &Run) -> Result<bool, Ended> {
    let kinds: Vec<Kind> = Class::ALL.iter().flat_map(|class| class.kinds()).copied().collect();
    let mut last = None;
    each(run, &plan("show", run), |seed, number| {
        let world = case::world(seed, number, &kinds);
        if last != Some((seed, number / case::PER_WORLD)) {
            print!("{}", world.script());
            last = Some((seed, number / case::PER_WORLD));
        }
        println!("{};", case::query(seed, number, &world, &kinds, run.depth));
    });
    Ok(true)
}

fn differ(run: &Run, peer: impl Peer, states: bool) -> Result<bool, Ended> {
    let started = Instant::now();
    let mut ours = Nodewise::open(Host::Threads(2))?;
    let kinds = kinds(&mut ours, run);
    let plan = plan("differ", run);
    let mut differ = Differ {
        ours: Stage::new(ours, Layout::Changed),
        theirs: Stage::new(peer, Layout::Plain),
        states,
    };
    let mut campaign = Campaign::default();
    let mut world = None;
    each(run, &plan, |seed, number| {
        let place = (seed, number / case::PER_WORLD);
        let fresh = world.as_ref().is_none_or(|(known, _)| *known != place);
        if fresh {
            let mut made = case::world(seed, number, &kinds);
            if let Err(verdict) = differ.load(&made) {
                let case = Case { world: made.clone(), query: case::contents("t0") };
                campaign.take(&plan, &mut differ, (seed, number), (&case, verdict), both);
                made = made.without_far_timestamps();
            }
            world = Some((place, made));
        }
        let Some((_, world)) = &world else { return };
        let mut queries = Vec::new();
        if fresh {
            queries.extend(world.tables.iter().map(|table| case::contents(&table.name)));
        }
        queries.push(case::query(seed, number, world, &kinds, plan.depth));
        for query in queries {
            let case = Case { world: world.clone(), query };
            let verdict = differ.verdict(&case);
            campaign.take(&plan, &mut differ, (seed, number), (&case, verdict), both);
        }
    });
    campaign.print("differ", started);
    Ok(campaign.failures == 0)
}

fn changes(run: &Run, peer: impl Peer) -> Result<bool, Ended> {
    let started = Instant::now();
    let mut ours = Nodewise::open(Host::Threads(2))?;
    let kinds = kinds(&mut ours, run);
    let plan = plan("changes", run);
    let theirs = Stage::new(peer, Layout::Plain);
    let mut differ = Differ { ours: Stage::new(ours, Layout::Changed), theirs, states: true };
    let mut campaign = Campaign::default();
    each(run, &plan, |seed, number| {
        let world = case::world(seed, number, &kinds).without_far_timestamps();
        let Some(change) = changes::change(seed, number, &world, &kinds, plan.depth) else {
            *campaign.counts.entry("not determined".to_owned()).or_default() += 1;
            return;
        };
        let verdict = changes::verdict(&mut differ, &world, &change);
        *campaign.counts.entry(verdict.label()).or_default() += 1;
        campaign.failures += usize::from(verdict.is_failure());
        if verdict.is_failure() || run.refusals && matches!(verdict, Verdict::PeerRefuses(_)) {
            let what = match &verdict {
                Verdict::Wrong(it) | Verdict::Broken(it) | Verdict::PeerRefuses(it) => it,
                _ => return,
            };
            let repeat = format!("--seeds {seed} --only {number} --depth {}", plan.depth);
            println!("-- {what}\n-- cargo run --release -p fuzz -- changes {repeat}");
            println!(
                "{}{}{};",
                world.script(),
                change.before.iter().map(|it| format!("{it};\n")).collect::<String>(),
                change.sql
            );
        }
    });
    campaign.print("changes", started);
    Ok(campaign.failures == 0)
}

/// Queries of each number that are asked on all machines and layouts: one of so many.
const SHAPED: u64 = 4;

fn logic(run: &Run) -> Result<bool, Ended> {
    let started = Instant::now();
    let mut ours = Nodewise::open(Host::Threads(2))?;
    let kinds = kinds(&mut ours, run);
    let plan = plan("logic", run);
    let mut stage = Stage::new(ours, Layout::Plain);
    let optimizer = has_optimizer(&mut stage);
    if !optimizer {
        println!("skipped: the optimiser on and off: there is no setting optimizer");
    }
    let mut shapes = Shapes::open(run.seeds.0)?;
    let mut campaign = Campaign::default();
    let mut world = None;
    each(run, &plan, |seed, number| {
        let place = (seed, number / case::PER_WORLD);
        if world.as_ref().is_none_or(|(known, _)| *known != place) {
            let mut made = case::world(seed, number, &kinds);
            if stage.load(&made).is_err() {
                made = made.without_far_timestamps();
            }
            world = Some((place, made));
        }
        let Some((_, world)) = &world else { return };
        let at = (seed, number);
        for (part, query) in [
            case::query(seed, number, world, &kinds, plan.depth),
            case::filtered(seed, number, world, &kinds, plan.depth),
        ]
        .into_iter()
        .enumerate()
        {
            let case = Case { world: world.clone(), query };
            for rule in logic::rules().filter(|rule| (rule.make)(&case.query).is_some()) {
                let mut check = RuleCheck { stage: &mut stage, rule };
                let verdict = check.verdict(&case);
                campaign.take(&plan, &mut check, at, (&case, verdict), RuleCheck::describe);
            }
            if optimizer {
                let mut check = Optimizer(&mut stage);
                let verdict = check.verdict(&case);
                campaign.take(&plan, &mut check, at, (&case, verdict), Optimizer::describe);
            }
            if part == 0 && number % SHAPED == 0 {
                let verdict = shapes.verdict(&case);
                campaign.take(&plan, &mut shapes, at, (&case, verdict), Shapes::describe);
            }
        }
    });
    campaign.print("logic", started);
    Ok(campaign.failures == 0)
}

fn limits(run: &Run) -> Result<bool, Ended> {
    let started = Instant::now();
    let mut limits = Limits::open()?;
    let mut failed = None;
    each(run, &plan("limits", run), |seed, number| {
        if failed.is_none() {
            failed = limits.statement(seed, number, run.depth).err();
        }
    });
    limits.counts.print("limits", started);
    match failed {
        Some(message) => Err(Ended::Failed(message)),
        None => Ok(limits.counts.failures == 0),
    }
}

fn bytes(run: &Run, records: &Path) -> Result<bool, Ended> {
    let started = Instant::now();
    let mut mutations = Mutations::open(records, run.folder.clone())?;
    mutations.left_out().iter().for_each(|it| println!("left out: {it}"));
    let mut broken = None;
    each(run, &plan("bytes", run), |seed, number| {
        if broken.is_none() {
            broken = mutations.run(seed, number).err();
        }
    });
    mutations.print(started);
    match broken {
        Some(message) => Err(Ended::Failed(message)),
        None => Ok(mutations.failures == 0),
    }
}

/// Both answers of a case, for its script.
fn both<P: Peer>(differ: &mut Differ<P>, case: &Case) -> Vec<String> {
    match differ.answers(case) {
        Ok(answers) => vec![
            format!("{}: {}", differ.ours.peer.name(), answers.ours.describe()),
            format!("{}: {}", differ.theirs.peer.name(), answers.theirs.describe()),
        ],
        Err(verdict) => vec![verdict.label()],
    }
}
