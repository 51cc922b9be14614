//! What `SET` changes and `SHOW` shows.

use binder::Isolation;
use plan::{NullOrder, OrderDefaults};
use std::collections::BTreeMap;

use stdx::Bytes;
use stdx::sync::Arc;
use storage::{COMPRESS_FROM, Placement};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use crate::client_settings::ClientSettings;
use crate::roles::ChosenRoles;
use crate::scheduling::Scheduling;
use crate::setting::Setting;

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Workers that a query of this session may use; `None` for all.
    pub workers: Option<usize>,
    /// Query class: the lower goes first.
    pub priority: u8,
    /// How statements are scheduled.
    pub scheduling: Scheduling,
    /// Whether an observer outside of the machine is told to count accesses.
    pub access_counting: bool,
    /// Whether a statement whose text was planned before runs with that plan.
    pub plan_cache: bool,
    /// Whether the optimizer does more than a query needs in order to run.
    pub optimizer: bool,
    /// Which texts of the tables that this session makes are compressed.
    pub text_compression: TextCompression,
    /// Whether the steps of pipelines are measured.
    pub profile: bool,
    /// How tables that this session makes are placed where it says nothing else.
    pub default_placement: Placement,
    /// Bytes that a statement may hold for its work; what is free when not given.
    pub memory_limit: Option<Bytes>,
    /// The isolation level of transactions that do not name one.
    pub isolation: Isolation,
    /// Whether a commit is answered when it is durable, and not before.
    pub synchronous_commit: bool,
    /// What SET VARIABLE has said, by names in lower case.
    pub(crate) variables: Arc<BTreeMap<String, (Value, DataType)>>,
    /// What ORDER BY means where it says nothing.
    pub order: OrderDefaults,
    /// What clients of PostgreSQL say.
    pub(crate) client: ClientSettings,
    /// Who the session has become.
    pub(crate) roles: ChosenRoles,
}

/// Which near-unique texts are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextCompression {
    /// Those of columns large enough that the memory matters.
    Auto,
    /// None.
    Off,
    /// All that become much smaller.
    All,
}

impl TextCompression {
    const NAMES: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("off", Self::Off), ("all", Self::All)];

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1)
    }

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|it| it.1 == self).map_or("", |it| it.0)
    }

    /// Bytes of texts from which on a column is compressed.
    pub(crate) fn least_bytes(self) -> usize {
        match self {
            Self::Auto => COMPRESS_FROM,
            Self::Off => usize::MAX,
            Self::All => 0,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workers: None,
            priority: scheduler::class::NORMAL,
            text_compression: TextCompression::Auto,
            default_placement: Placement::Auto,
            scheduling: Scheduling::default(),
            access_counting: false,
            plan_cache: true,
            optimizer: true,
            profile: false,
            memory_limit: None,
            isolation: Isolation::default(),
            synchronous_commit: true,
            variables: Arc::default(),
            order: OrderDefaults::default(),
            client: ClientSettings::default(),
            roles: ChosenRoles::default(),
        }
    }
}

const WORKERS: &str = "workers";
const PRIORITY: &str = "priority";
const ACCESS_COUNTING: &str = "access_counting";
const PLAN_CACHE: &str = "plan_cache";
const OPTIMIZER: &str = "optimizer";
const TEXT_COMPRESSION: &str = "text_compression";
const PROFILE: &str = "profile";
const DEFAULT_PLACEMENT: &str = "default_placement";
const MEMORY_LIMIT: &str = "memory_limit";
const ISOLATION: &str = "default_transaction_isolation";
const SYNCHRONOUS_COMMIT: &str = "synchronous_commit";
const NULL_ORDER: &str = "default_null_order";
const ORDER: &str = "default_order";

/// The words of DuckDB for where NULL stands; the first of a row is what is shown.
const NULL_ORDERS: [(NullOrder, &[&str]); 4] = [
    (NullOrder::Greatest, &["nulls_last_on_asc_first_on_desc", "postgres"]),
    (NullOrder::Least, &["nulls_first_on_asc_last_on_desc", "sqlite", "mysql"]),
    (NullOrder::First, &["nulls_first", "nulls first", "null first", "first"]),
    (NullOrder::Last, &["nulls_last", "nulls last", "null last", "last"]),
];

fn null_order_named(word: &str) -> Option<NullOrder> {
    let has = |row: &&(NullOrder, &[&str])| row.1.iter().any(|it| it.eq_ignore_ascii_case(word));
    NULL_ORDERS.iter().find(has).map(|it| it.0)
}

fn null_order_name(order: NullOrder) -> String {
    let row = NULL_ORDERS.iter().find(|it| it.0 == order);
    row.map_or_else(String::new, |it| it.1[0].to_owned())
}

impl Settings {
    /// Changes a setting; `None` gives it back its default.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> SqlResult<()> {
        let known = name.to_ascii_lowercase();
        if Scheduling::knows(&known) {
            return self.scheduling.set(&known, value);
        }
        if ClientSettings::knows(&known) {
            return self.client.set(&known, value);
        }
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
            ACCESS_COUNTING => {
                self.access_counting = switch(value).ok_or_else(|| invalid("on or off"))?;
            }
            PROFILE => self.profile = switch(value).ok_or_else(|| invalid("on or off"))?,
            PLAN_CACHE => {
                self.plan_cache = switch(value).ok_or_else(|| invalid("on or off"))?;
            }
            OPTIMIZER => self.optimizer = switch(value).ok_or_else(|| invalid("on or off"))?,
            TEXT_COMPRESSION => {
                self.text_compression =
                    TextCompression::named(value).ok_or_else(|| invalid("auto, off or all"))?;
            }
            DEFAULT_PLACEMENT => {
                self.default_placement = placement_named(value)
                    .ok_or_else(|| invalid("auto, rr, ivp, pp, interleave or os"))?;
            }
            MEMORY_LIMIT => {
                let limit = Bytes::of_setting(value).filter(|it| it.0 > 0);
                let wanted = "a size as 512MB or 4GB, or DEFAULT for what is free";
                self.memory_limit = Some(limit.ok_or_else(|| invalid(wanted))?);
            }
            ISOLATION => {
                let wanted = "read uncommitted, read committed, repeatable read or serializable";
                self.isolation = Isolation::named(value).ok_or_else(|| invalid(wanted))?;
            }
            SYNCHRONOUS_COMMIT => {
                self.synchronous_commit = switch(value).ok_or_else(|| invalid("on or off"))?;
            }
            NULL_ORDER => {
                let wanted = "nulls_first, nulls_last, postgres or sqlite";
                self.order.nulls = null_order_named(value).ok_or_else(|| invalid(wanted))?;
            }
            ORDER => {
                self.order.descending = match value.to_ascii_lowercase().as_str() {
                    "asc" | "ascending" => false,
                    "desc" | "descending" => true,
                    _ => return Err(invalid("asc or desc")),
                }
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
            ACCESS_COUNTING => self.access_counting = defaults.access_counting,
            PLAN_CACHE => self.plan_cache = defaults.plan_cache,
            OPTIMIZER => self.optimizer = defaults.optimizer,
            TEXT_COMPRESSION => self.text_compression = defaults.text_compression,
            PROFILE => self.profile = defaults.profile,
            DEFAULT_PLACEMENT => self.default_placement = defaults.default_placement,
            MEMORY_LIMIT => self.memory_limit = defaults.memory_limit,
            ISOLATION => self.isolation = defaults.isolation,
            SYNCHRONOUS_COMMIT => self.synchronous_commit = defaults.synchronous_commit,
            NULL_ORDER => self.order.nulls = defaults.order.nulls,
            ORDER => self.order.descending = defaults.order.descending,
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    /// What planning may do, and what it takes for granted.
    pub(crate) fn planning(&self) -> optimizer::Options {
        let styles = self.client.styles();
        optimizer::Options { rewrites: self.optimizer, order: self.order, styles }
    }

    /// What ORDER BY goes by.
    fn order_settings(&self) -> [Setting; 2] {
        [
            Setting {
                name: NULL_ORDER,
                value: null_order_name(self.order.nulls),
                description: "where NULL stands in an order that does not say it",
            },
            Setting {
                name: ORDER,
                value: if self.order.descending { "desc" } else { "asc" }.to_owned(),
                description: "the direction of an order that does not say it",
            },
        ]
    }

    /// All settings of the session.
    pub fn list(&self) -> Vec<Setting> {
        let mut all = vec![
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
                name: ACCESS_COUNTING,
                value: on_or_off(self.access_counting),
                description: "has the access counter of the lab count what workers read and write",
            },
            Setting {
                name: PLAN_CACHE,
                value: on_or_off(self.plan_cache),
                description: "statements whose text was planned before run with that plan",
            },
            Setting {
                name: OPTIMIZER,
                value: on_or_off(self.optimizer),
                description: "off plans a query as it is written, with no rewrite that it can do without",
            },
            Setting {
                name: TEXT_COMPRESSION,
                value: self.text_compression.name().to_owned(),
                description: "which near-unique texts of new tables are compressed: auto, off, all",
            },
            Setting {
                name: PROFILE,
                value: on_or_off(self.profile),
                description: "measures the steps of pipelines, as EXPLAIN ANALYZE does by itself",
            },
            Setting {
                name: DEFAULT_PLACEMENT,
                value: self.default_placement.name().to_owned(),
                description: "how new tables are placed: auto, rr, ivp, pp, interleave, os",
            },
            Setting {
                name: MEMORY_LIMIT,
                value: self.memory_limit.map_or_else(|| "none".to_owned(), Bytes::setting_text),
                description: "memory that a statement of this session may hold for its work",
            },
            Setting {
                name: ISOLATION,
                value: self.isolation.name().to_owned(),
                description: "isolation of transactions: read committed, repeatable read, serializable",
            },
            Setting {
                name: SYNCHRONOUS_COMMIT,
                value: on_or_off(self.synchronous_commit),
                description: "off answers a commit before it is durable: a loss of power may take the last ones",
            },
        ];
        all.extend(self.order_settings());
        all.extend(self.scheduling.list());
        all.extend(self.client.list());
        all
    }

    /// One setting.
    pub fn get(&self, name: &str) -> SqlResult<String> {
        if let Some(own) = self.client.own(name) {
            return Ok(own);
        }
        let found = self.list().into_iter().find(|it| it.name.eq_ignore_ascii_case(name));
        found.map(|it| it.value).ok_or_else(|| unknown(name))
    }
}

/// What a word for a switch says.
fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "true" => Some(true),
        "off" | "false" => Some(false),
        _ => None,
    }
}

fn on_or_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
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
