//! The same statements on Nodewise and on a peer.

use crate::case::{self, Case};
use crate::compare::{self, Tolerance};
use crate::differences;
use crate::kind::Kind;
use crate::peers::nodewise::Nodewise;
use crate::peers::reply::{Peer, Reply};
use crate::reduce::Check;
use crate::stage::Stage;
use crate::verdict::Verdict;
use crate::world::World;

/// Nodewise beside a peer.
pub struct Differ<P: Peer> {
    pub ours: Stage<Nodewise>,
    pub theirs: Stage<P>,
    /// Whether the peer's errors have SQLSTATEs.
    pub states: bool,
}

/// Both answers to a case.
pub struct Answers {
    pub ours: Reply,
    pub theirs: Reply,
}

impl<P: Peer> Differ<P> {
    /// Makes the tables of a world on both sides.
    pub fn load(&mut self, world: &World) -> Result<(), Verdict> {
        if let Err((sql, reply)) = self.theirs.load(world) {
            return Err(Verdict::PeerRefuses(format!("{} for {sql:.60}", reply.describe())));
        }
        self.ours.load(world).map_err(|(sql, ours)| {
            judge_error(&ours).unwrap_or(Verdict::Wrong(format!("{sql} ends with no row count")))
        })
    }

    /// Runs a case on both sides.
    pub fn answers(&mut self, case: &Case) -> Result<Answers, Verdict> {
        self.load(&case.world)?;
        let sql = case.query.to_string();
        let theirs = self.theirs.peer.run(&sql);
        let ours = self.ours.peer.run(&sql);
        if ours == Reply::Stuck {
            self.ours.forget();
        }
        Ok(Answers { ours, theirs })
    }
}

impl<P: Peer> Check for Differ<P> {
    fn verdict(&mut self, case: &Case) -> Verdict {
        match self.answers(case) {
            Ok(answers) => judge(case, &answers, self.states),
            Err(verdict) => verdict,
        }
    }
}

/// What two answers say.
pub fn judge(case: &Case, answers: &Answers, states: bool) -> Verdict {
    let Answers { ours, theirs } = answers;
    if let Some(broken @ Verdict::Broken(_)) = judge_error(ours) {
        return broken;
    }
    let meant = differences::meant(&case.query, ours, theirs);
    match (ours, theirs) {
        (Reply::Rows(our_rows), Reply::Rows(their_rows)) => {
            let real = differences::names(&case.query, |kind| kind == Kind::Real);
            let near = if real { Tolerance::REAL } else { Tolerance::DOUBLE };
            let ordered = case::is_ordered(&case.query);
            match compare::difference(our_rows, their_rows, ordered, near) {
                None => Verdict::Same,
                Some(what) => meant.map_or(Verdict::Wrong(what), Verdict::Meant),
            }
        }
        _ if let Some(reason) = meant => Verdict::Meant(reason),
        (Reply::Error { state, .. }, Reply::Error { state: other, message }) => {
            let class = |state: &str| state.get(..2).map(str::to_owned);
            let both_values = ours.is_value_error() && (theirs.is_value_error() || !states);
            if class(state) == class(other) || both_values || !states {
                Verdict::SameError
            } else {
                Verdict::PeerRefuses(format!("{other} {message}, and we {state}"))
            }
        }
        (Reply::Error { state, message }, _) if ours.is_value_error() => {
            if differences::computes_all(&case.query) {
                return Verdict::Wrong(format!("only here: ERROR {state}: {message}"));
            }
            Verdict::ErrorOrder(format!("{state} only here"))
        }
        (Reply::Error { state, message }, _) => {
            Verdict::Refused { state: state.clone(), sentence: message.clone() }
        }
        (_, Reply::Error { state, message }) if theirs.is_value_error() => {
            if differences::computes_all(&case.query) {
                return Verdict::Wrong(format!("only there: ERROR {state}: {message}"));
            }
            Verdict::ErrorOrder(format!("{state} only there"))
        }
        (_, Reply::Error { state, message }) => Verdict::PeerRefuses(format!("{state} {message}")),
        _ => Verdict::Wrong(format!("{} against {}", ours.describe(), theirs.describe())),
    }
}

/// What an error of ours says by itself.
fn judge_error(ours: &Reply) -> Option<Verdict> {
    match ours {
        Reply::Stuck => Some(Verdict::Broken("the statement did not end".to_owned())),
        Reply::Error { state, message } if state.starts_with("XX") => {
            Some(Verdict::Broken(message.clone()))
        }
        Reply::Error { state, message } => {
            Some(Verdict::Refused { state: state.clone(), sentence: message.clone() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::reply::{Rows, Shown};

    fn verdict(ours: Reply, theirs: Reply) -> Verdict {
        let case = Case { world: World { tables: Vec::new() }, query: case::contents("t") };
        let mut case = case;
        if let crate::ast::Body::Select(select) = &mut case.query.body {
            select.distinct = true;
        }
        judge(&case, &Answers { ours, theirs }, true)
    }

    fn rows(cells: &[&str]) -> Reply {
        let rows = cells.iter().map(|it| vec![Some((*it).to_owned())]).collect();
        Reply::Rows(Rows { shown: vec![Shown::Exact], rows })
    }

    fn error(state: &str) -> Reply {
        Reply::Error { state: state.to_owned(), message: "because".to_owned() }
    }

    #[test]
    fn a_planted_difference_is_wrong() {
        assert_eq!(verdict(rows(&["1", "2"]), rows(&["2", "1"])), Verdict::Same);
        assert!(verdict(rows(&["1", "2"]), rows(&["2", "2"])).is_failure());
        assert!(verdict(error("XX000"), rows(&[])).is_failure());
        assert!(verdict(error("XX000"), error("22012")).is_failure());
        assert!(verdict(Reply::Stuck, rows(&[])).is_failure());
    }

    #[test]
    fn errors_are_counted_by_who_met_them() {
        assert_eq!(verdict(error("22012"), error("22003")), Verdict::SameError);
        assert_eq!(verdict(error("42703"), error("42803")), Verdict::SameError);
        assert!(matches!(verdict(error("22012"), rows(&[])), Verdict::ErrorOrder(_)));
        assert!(matches!(verdict(rows(&["1"]), error("22012")), Verdict::ErrorOrder(_)));
        // Of no row nothing may be wrong here.
        assert!(matches!(verdict(rows(&[]), error("22012")), Verdict::Meant(_)));
        assert!(matches!(verdict(error("0A000"), rows(&[])), Verdict::Refused { .. }));
        assert!(matches!(verdict(rows(&[]), error("42883")), Verdict::PeerRefuses(_)));
    }
}
