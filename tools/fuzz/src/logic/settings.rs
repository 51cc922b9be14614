//! One query on several machines and layouts of the tables, and with the optimiser on and off.

use crate::case::{self, Case};
use crate::compare::{self, Tolerance};
use crate::differences;
use crate::kind::Kind;
use crate::logic::rule::of_error;
use crate::peers::nodewise::{Host, Nodewise};
use crate::peers::reply::{Peer, Reply};
use crate::reduce::Check;
use crate::stage::{Layout, Stage};
use crate::verdict::Verdict;

/// Nodewise in several shapes; the first is what the others are compared with.
pub struct Shapes {
    stages: Vec<(String, Stage<Nodewise>)>,
}

impl Shapes {
    /// Plain and hashed tables, one and two workers, and two modelled machines with a schedule of a seed.
    pub fn open(seed: u64) -> Result<Self, String> {
        let shapes = [
            (Host::Threads(2), Layout::Plain),
            (Host::Threads(1), Layout::Changed),
            (Host::Threads(2), Layout::Hashed),
            (Host::Modelled("four_sockets", seed), Layout::Hashed),
            (Host::Modelled("sub_numa", seed), Layout::Plain),
        ];
        let open = |(host, layout)| {
            let name = format!("{host:?}, {layout:?}");
            Nodewise::open(host).map(|peer| (name, Stage::new(peer, layout)))
        };
        Ok(Self { stages: shapes.into_iter().map(open).collect::<Result<_, _>>()? })
    }

    /// The answer of each shape.
    fn replies(&mut self, case: &Case) -> Vec<(String, Reply)> {
        let sql = case.query.to_string();
        let mut replies = Vec::new();
        for (name, stage) in &mut self.stages {
            let reply = match stage.load(&case.world) {
                Ok(()) => stage.peer.run(&sql),
                Err((_, reply)) => reply,
            };
            if reply == Reply::Stuck {
                stage.forget();
            }
            replies.push((name.clone(), reply));
        }
        replies
    }

    /// All answers, for a person.
    pub fn describe(&mut self, case: &Case) -> Vec<String> {
        let shown = |(name, reply): (String, Reply)| format!("{name}: {}", reply.describe());
        self.replies(case).into_iter().map(shown).collect()
    }
}

impl Check for Shapes {
    fn verdict(&mut self, case: &Case) -> Verdict {
        let replies = self.replies(case);
        let (first, others) = replies.split_first().expect("invariant: there are shapes");
        let mut verdict = Verdict::Same;
        for (name, other) in others {
            match agree(case, &first.1, other) {
                Verdict::Wrong(what) => return Verdict::Wrong(format!("{name}: {what}")),
                Verdict::Broken(what) => return Verdict::Broken(what),
                Verdict::Same => {}
                other => verdict = other,
            }
        }
        verdict
    }
}

/// Whether two answers of Nodewise to one text are the same.
fn agree(case: &Case, one: &Reply, other: &Reply) -> Verdict {
    match (one, other) {
        (Reply::Rows(left), Reply::Rows(right)) => {
            let real = differences::names(&case.query, |kind| kind == Kind::Real);
            let near = if real { Tolerance::REAL } else { Tolerance::DOUBLE };
            match compare::difference(left, right, case::is_ordered(&case.query), near) {
                None => Verdict::Same,
                Some(what) => Verdict::Wrong(what),
            }
        }
        (Reply::Rows(_), error) | (error, Reply::Rows(_)) => match of_error(error) {
            Verdict::Skipped(state) => Verdict::ErrorOrder(format!("{state} in one shape")),
            Verdict::Refused { state, sentence } => {
                Verdict::Wrong(format!("refused in one shape: {state} {sentence}"))
            }
            other => other,
        },
        (error, other) => match (of_error(error), of_error(other)) {
            (Verdict::Broken(what), _) | (_, Verdict::Broken(what)) => Verdict::Broken(what),
            (Verdict::Skipped(_), Verdict::Skipped(_)) => Verdict::SameError,
            (verdict, _) => verdict,
        },
    }
}

/// Whether a setting of the name `optimizer` can be shown.
pub fn has_optimizer(stage: &mut Stage<Nodewise>) -> bool {
    matches!(stage.peer.run("SHOW optimizer"), Reply::Rows(_))
}

/// A query with the optimiser on and off.
pub struct Optimizer<'a>(pub &'a mut Stage<Nodewise>);

impl Optimizer<'_> {
    fn replies(&mut self, case: &Case) -> Result<[Reply; 2], Reply> {
        self.0.load(&case.world).map_err(|it| it.1)?;
        let sql = case.query.to_string();
        let mut ask = |switch: &str| {
            let set = self.0.peer.run(&format!("SET optimizer = {switch}"));
            if set != Reply::Done { set } else { self.0.peer.run(&sql) }
        };
        let replies = [ask("off"), ask("on")];
        if replies.contains(&Reply::Stuck) {
            self.0.forget();
        }
        Ok(replies)
    }

    /// Both answers, for a person.
    pub fn describe(&mut self, case: &Case) -> Vec<String> {
        match self.replies(case) {
            Err(reply) => vec![reply.describe()],
            Ok([off, on]) => {
                vec![format!("off: {}", off.describe()), format!("on: {}", on.describe())]
            }
        }
    }
}

impl Check for Optimizer<'_> {
    fn verdict(&mut self, case: &Case) -> Verdict {
        match self.replies(case) {
            Err(reply) => of_error(&reply),
            Ok([off, on]) => agree(case, &off, &on),
        }
    }
}
