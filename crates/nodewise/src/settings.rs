//! What `SET` changes and `SHOW` shows.

use scheduler::Affinity;
use storage::Placement;
use types::{SqlError, SqlResult, SqlState};

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Workers that a query of this session may use; `None` for all.
    pub workers: Option<usize>,
    /// Query class: the lower goes first.
    pub priority: u8,
    /// How tasks are tied to nodes.
    pub strategy: Strategy,
    /// Whether an observer outside of the machine is told to count accesses.
    pub access_counting: bool,
    /// How tables that this session makes are placed where it says nothing else.
    pub default_placement: Placement,
}

/// How tasks are tied to the nodes of their rows (P-HANA 6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// Not at all: any worker takes any morsel.
    Os,
    /// Workers of the node come first, others may steal.
    Target,
    /// Only workers of the node.
    Bound,
}

impl Strategy {
    const ALL: [(&'static str, Self); 3] =
        [("os", Self::Os), ("target", Self::Target), ("bound", Self::Bound)];

    /// What it means for a job.
    pub fn affinity(self) -> Affinity {
        match self {
            Self::Os => Affinity::None,
            Self::Target => Affinity::Soft,
            Self::Bound => Affinity::Hard,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1)
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|it| it.1 == self).expect("invariant: each has a name").0
    }
}

/// A setting as the views show it.
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// What it does.
    pub description: &'static str,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workers: None,
            priority: scheduler::class::NORMAL,
            strategy: Strategy::Target,
            access_counting: false,
            default_placement: Placement::Auto,
        }
    }
}

const WORKERS: &str = "workers";
const PRIORITY: &str = "priority";
const STRATEGY: &str = "strategy";
const ACCESS_COUNTING: &str = "access_counting";
const DEFAULT_PLACEMENT: &str = "default_placement";

impl Settings {
    /// Changes a setting; `None` gives it back its default.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> SqlResult<()> {
        let Some(value) = value else { return self.reset(name) };
        let invalid = |wanted: &str| {
            SqlError::new(
                SqlState::INVALID_PARAMETER,
                format!("setting {name} cannot be \"{value}\""),
            )
            .with_hint(format!("it takes {wanted}"))
        };
        match name.to_ascii_lowercase().as_str() {
            WORKERS => match value.parse() {
                Ok(workers @ 1..) => self.workers = Some(workers),
                _ => return Err(invalid("a number from 1 on, or DEFAULT for all")),
            },
            PRIORITY => {
                self.priority = value.parse().map_err(|_| invalid("a number from 0 to 255"))?;
            }
            STRATEGY => {
                self.strategy =
                    Strategy::named(value).ok_or_else(|| invalid("os, target or bound"))?;
            }
            ACCESS_COUNTING => {
                self.access_counting = match value.to_ascii_lowercase().as_str() {
                    "on" | "true" => true,
                    "off" | "false" => false,
                    _ => return Err(invalid("on or off")),
                };
            }
            DEFAULT_PLACEMENT => {
                self.default_placement = placement_named(value)
                    .ok_or_else(|| invalid("auto, rr, ivp, pp, interleave or os"))?;
            }
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    fn reset(&mut self, name: &str) -> SqlResult<()> {
        let defaults = Self::default();
        match name.to_ascii_lowercase().as_str() {
            WORKERS => self.workers = defaults.workers,
            PRIORITY => self.priority = defaults.priority,
            STRATEGY => self.strategy = defaults.strategy,
            ACCESS_COUNTING => self.access_counting = defaults.access_counting,
            DEFAULT_PLACEMENT => self.default_placement = defaults.default_placement,
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    /// All settings of the session.
    pub fn list(&self) -> Vec<Setting> {
        vec![
            Setting {
                name: WORKERS,
                value: self.workers.map_or_else(|| "all".to_owned(), |it| it.to_string()),
                description: "workers that a query of this session may use",
            },
            Setting {
                name: PRIORITY,
                value: self.priority.to_string(),
                description: "query class, the lower number is served first",
            },
            Setting {
                name: STRATEGY,
                value: self.strategy.name().to_owned(),
                description: "how tasks are tied to nodes: os, target, bound",
            },
            Setting {
                name: ACCESS_COUNTING,
                value: if self.access_counting { "on" } else { "off" }.to_owned(),
                description: "has the access counter of the lab count what workers read and write",
            },
            Setting {
                name: DEFAULT_PLACEMENT,
                value: self.default_placement.name().to_owned(),
                description: "how new tables are placed: auto, rr, ivp, pp, interleave, os",
            },
        ]
    }

    /// One setting.
    pub fn get(&self, name: &str) -> SqlResult<String> {
        let found = self.list().into_iter().find(|it| it.name.eq_ignore_ascii_case(name));
        found.map(|it| it.value).ok_or_else(|| unknown(name))
    }
}

/// The placement over all nodes with a name.
fn placement_named(name: &str) -> Option<Placement> {
    let all = Vec::new;
    let known = [
        Placement::Auto,
        Placement::RoundRobin(all()),
        Placement::IndexVector(all()),
        Placement::Parts(all()),
        Placement::Interleaved(all()),
        Placement::Os,
    ];
    known.into_iter().find(|it| it.name().eq_ignore_ascii_case(name))
}

fn unknown(name: &str) -> SqlError {
    SqlError::new(SqlState("42704"), format!("there is no setting {name}"))
        .with_hint("SELECT * FROM nodewise.settings lists them")
}
