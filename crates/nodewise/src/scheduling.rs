//! The settings that say how statements are scheduled (P-HANA 5 and 6, P-SNC 2.6): of a session.

use execution::ExchangeMode;
use hardware::NodeId;
use scheduler::{Binding, MorselSize, Policy, ScanSharing, StealingScope, Strategy};
use stdx::Nanos;
use types::{SqlError, SqlResult, SqlState};

use crate::setting::Setting;

/// What a session asks for.
#[derive(Clone, Debug)]
pub struct Scheduling {
    strategy: Strategy,
    stealing: Option<StealingScope>,
    /// The strategy's own if `None`.
    binding: Option<Binding>,
    bulk: u32,
    nodes: Vec<NodeId>,
    morsels: MorselSize,
    scan_sharing: ScanSharing,
    /// When joins send rows to the nodes of their keys.
    pub join_exchange: ExchangeMode,
    trace: bool,
    /// How long a statement may run; zero for any time.
    pub statement_timeout: Nanos,
    /// How long a statement may wait for its turn; zero for any time.
    pub queue_timeout: Nanos,
    /// How long a statement may wait until it may change tables; zero for any time.
    pub lock_timeout: Nanos,
    /// How long a transaction may do nothing; zero for any time.
    pub idle_timeout: Nanos,
    /// How long a session may do nothing outside of a transaction; zero for any time.
    pub session_timeout: Nanos,
    /// How old the tables may be that a transaction sees; zero for any time.
    pub snapshot_timeout: Nanos,
}

impl Default for Scheduling {
    fn default() -> Self {
        Self {
            strategy: Strategy::default(),
            stealing: None,
            binding: None,
            bulk: 1,
            nodes: Vec::new(),
            morsels: MorselSize::Source,
            scan_sharing: ScanSharing::Auto,
            join_exchange: ExchangeMode::Auto,
            trace: false,
            statement_timeout: Nanos(0),
            queue_timeout: Nanos(60_000_000_000),
            lock_timeout: Nanos(0),
            idle_timeout: Nanos(0),
            session_timeout: Nanos(0),
            snapshot_timeout: Nanos(0),
        }
    }
}

const STRATEGY: &str = "strategy";
const STEALING: &str = "stealing";
const BINDING: &str = "binding";
const BULK: &str = "bulk";
const NODES: &str = "nodes";
const MORSEL_ROWS: &str = "morsel_rows";
const SCAN_SHARING: &str = "scan_sharing";
const JOIN_EXCHANGE: &str = "join_exchange";
const TRACE: &str = "trace";
const STATEMENT_TIMEOUT: &str = "statement_timeout";
const QUEUE_TIMEOUT: &str = "queue_timeout";
const LOCK_TIMEOUT: &str = "lock_timeout";

const IDLE_TIMEOUT: &str = "idle_in_transaction_session_timeout";
const SESSION_TIMEOUT: &str = "idle_session_timeout";
const SNAPSHOT_TIMEOUT: &str = "old_snapshot_timeout";

const KNOWN: [&str; 15] = [
    STRATEGY,
    STEALING,
    BINDING,
    BULK,
    NODES,
    MORSEL_ROWS,
    SCAN_SHARING,
    JOIN_EXCHANGE,
    TRACE,
    STATEMENT_TIMEOUT,
    QUEUE_TIMEOUT,
    LOCK_TIMEOUT,
    IDLE_TIMEOUT,
    SESSION_TIMEOUT,
    SNAPSHOT_TIMEOUT,
];

impl Scheduling {
    /// Whether a setting is one of these.
    pub fn knows(name: &str) -> bool {
        KNOWN.contains(&name)
    }

    /// Changes a setting that it knows, by its name in lower case; `None` gives it back its default.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> SqlResult<()> {
        let Some(value) = value else {
            let text = Self::default().value(name);
            return self.set(name, Some(&text));
        };
        let wrong = |wanted: &str| invalid(name, value, wanted);
        match name {
            STRATEGY => {
                self.strategy = value.parse().map_err(|()| words(name, value, Strategy::WORDS))?
            }
            STEALING if is_default(value) => self.stealing = None,
            STEALING => {
                let scope = value.parse().map_err(|()| words(name, value, StealingScope::WORDS))?;
                self.stealing = Some(scope);
            }
            BINDING if is_default(value) => self.binding = None,
            BINDING => {
                let binding = value.parse().map_err(|()| words(name, value, Binding::WORDS))?;
                self.binding = Some(binding);
            }
            BULK => {
                let bulk = value.parse().ok().filter(|it| (1..=1024).contains(it));
                self.bulk = bulk.ok_or_else(|| wrong("a number from 1 to 1024"))?;
            }
            NODES => {
                let wanted = "numbers of nodes, as in '0, 2-3', or 'all'";
                self.nodes = node_list(value).ok_or_else(|| wrong(wanted))?;
            }
            MORSEL_ROWS => {
                let size = morsel_size(value);
                self.morsels = size.ok_or_else(|| {
                    wrong("a number of rows from 1024 on, 'static' for a piece per worker, or DEFAULT")
                })?;
            }
            SCAN_SHARING => {
                let sharing = value.parse().map_err(|()| words(name, value, ScanSharing::WORDS))?;
                self.scan_sharing = sharing;
            }
            JOIN_EXCHANGE => {
                let mode = value.parse().map_err(|()| words(name, value, &ExchangeMode::WORDS))?;
                self.join_exchange = mode;
            }
            TRACE => {
                self.trace = match value.to_ascii_lowercase().as_str() {
                    "on" | "true" => true,
                    "off" | "false" => false,
                    _ => return Err(wrong("on or off")),
                };
            }
            _ => {
                let wanted = "a time in milliseconds, or as in '10s' and '5min'; 0 for any time";
                let span = span(value).ok_or_else(|| wrong(wanted))?;
                match name {
                    STATEMENT_TIMEOUT => self.statement_timeout = span,
                    LOCK_TIMEOUT => self.lock_timeout = span,
                    IDLE_TIMEOUT => self.idle_timeout = span,
                    SESSION_TIMEOUT => self.session_timeout = span,
                    SNAPSHOT_TIMEOUT => self.snapshot_timeout = span,
                    _ => self.queue_timeout = span,
                }
            }
        }
        Ok(())
    }

    fn value(&self, name: &str) -> String {
        match name {
            STRATEGY => self.strategy.to_string(),
            STEALING => self.stealing.map_or_else(|| "default".to_owned(), |it| it.to_string()),
            BINDING => self.binding.map_or_else(|| "default".to_owned(), |it| it.to_string()),
            BULK => self.bulk.to_string(),
            NODES => node_text(&self.nodes),
            MORSEL_ROWS => match self.morsels {
                MorselSize::Source => "default".to_owned(),
                MorselSize::Static => "static".to_owned(),
                MorselSize::Rows(rows) => rows.to_string(),
            },
            SCAN_SHARING => self.scan_sharing.to_string(),
            JOIN_EXCHANGE => self.join_exchange.to_string(),
            TRACE => if self.trace { "on" } else { "off" }.to_owned(),
            STATEMENT_TIMEOUT => span_text(self.statement_timeout),
            LOCK_TIMEOUT => span_text(self.lock_timeout),
            IDLE_TIMEOUT => span_text(self.idle_timeout),
            SESSION_TIMEOUT => span_text(self.session_timeout),
            SNAPSHOT_TIMEOUT => span_text(self.snapshot_timeout),
            _ => span_text(self.queue_timeout),
        }
    }

    /// All of them.
    pub fn list(&self) -> Vec<Setting> {
        let described = [
            (STRATEGY, "how tasks are tied to nodes: os, target, bound or adaptive"),
            (STEALING, "how far workers steal: none, neighbours (of the socket) or all"),
            (
                BINDING,
                "when workers are confined to hardware threads: none, preferred, opportunistic or always",
            ),
            (BULK, "morsels that a worker takes at a time when it steals"),
            (NODES, "the nodes whose workers may run queries of this session"),
            (MORSEL_ROWS, "rows of a morsel of a table; 'static' divides evenly among the workers"),
            (
                SCAN_SHARING,
                "queries that read the same memory at a time are served together: off, on, or auto (where it is too much for a cache)",
            ),
            (
                JOIN_EXCHANGE,
                "joins send the rows of both sides to the node of their key: off, on, or auto (where that costs less than remote looks)",
            ),
            (TRACE, "whether every morsel is written to nodewise.trace"),
            (STATEMENT_TIMEOUT, "how long a statement may run; 0 for any time"),
            (QUEUE_TIMEOUT, "how long a statement may wait for its turn; 0 for any time"),
            (
                LOCK_TIMEOUT,
                "how long a statement may wait until it may change tables; 0 for any time",
            ),
            (
                IDLE_TIMEOUT,
                "how long a transaction may do nothing before it is rolled back; 0 for any time",
            ),
            (
                SESSION_TIMEOUT,
                "how long a session may do nothing outside of a transaction before it is ended; 0 for any time",
            ),
            (
                SNAPSHOT_TIMEOUT,
                "how old the tables may be that a transaction sees before it is rolled back; 0 for any time",
            ),
        ];
        let setting = |(name, description)| Setting { name, value: self.value(name), description };
        described.into_iter().map(setting).collect()
    }

    /// The policy of a statement.
    pub fn policy(&self, class: u8, max_workers: Option<usize>) -> Policy {
        Policy {
            class,
            affinity: self.strategy.affinity(),
            stealing: self.stealing,
            binding: self.binding.unwrap_or(self.strategy.binding()),
            bulk: self.bulk,
            max_workers,
            nodes: self.nodes.clone(),
            morsels: self.morsels,
            sharing: self.scan_sharing,
            traced: self.trace,
            times: None,
        }
    }

    /// Changes the policy of a running statement as SET would change that of the next.
    pub fn change(policy: &mut Policy, name: &str, value: &str) -> SqlResult<()> {
        let mut wanted = Self::default();
        wanted.set(name, Some(value).filter(|it| !is_default(it)))?;
        match name {
            STRATEGY => {
                policy.affinity = wanted.strategy.affinity();
                policy.binding = wanted.strategy.binding();
            }
            STEALING => policy.stealing = wanted.stealing,
            BINDING => policy.binding = wanted.binding.unwrap_or_default(),
            BULK => policy.bulk = wanted.bulk,
            NODES => policy.nodes = wanted.nodes,
            MORSEL_ROWS => policy.morsels = wanted.morsels,
            SCAN_SHARING => policy.sharing = wanted.scan_sharing,
            TRACE => policy.traced = wanted.trace,
            _ => {
                let message = format!("setting {name} cannot be changed while a statement runs");
                return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
            }
        }
        Ok(())
    }
}

pub(crate) fn invalid(name: &str, value: &str, wanted: &str) -> SqlError {
    let message = format!("setting {name} cannot be \"{value}\"");
    SqlError::new(SqlState::INVALID_PARAMETER, message).with_hint(format!("it takes {wanted}"))
}

fn words(name: &str, value: &str, words: &[&str]) -> SqlError {
    invalid(name, value, &format!("one of {}", words.join(", ")))
}

pub(crate) fn is_default(value: &str) -> bool {
    value.eq_ignore_ascii_case("default")
}

fn morsel_size(text: &str) -> Option<MorselSize> {
    match text.to_ascii_lowercase().as_str() {
        "default" => Some(MorselSize::Source),
        "static" => Some(MorselSize::Static),
        rows => rows.parse().ok().filter(|it| *it >= 1024).map(MorselSize::Rows),
    }
}

/// `0, 2-3` as nodes; `all` as none in particular.
pub(crate) fn node_list(text: &str) -> Option<Vec<NodeId>> {
    if text.trim().eq_ignore_ascii_case("all") {
        return Some(Vec::new());
    }
    let mut nodes = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u16, u16) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last).then_some(())?;
        nodes.extend((first..=last).map(NodeId));
    }
    nodes.sort_unstable();
    nodes.dedup();
    Some(nodes)
}

pub(crate) fn node_text(nodes: &[NodeId]) -> String {
    match nodes {
        [] => "all".to_owned(),
        some => some.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
    }
}

/// A span in milliseconds, or with its unit.
fn span(text: &str) -> Option<Nanos> {
    let text = text.trim();
    let digits = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "us" => 1_000,
        "" | "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit).map(Nanos)
}

/// A span in the largest unit of which it is a whole number.
fn span_text(span: Nanos) -> String {
    const UNITS: [(u64, &str); 5] = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "min"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
    ];
    match UNITS.iter().find(|it| span.0.is_multiple_of(it.0)) {
        _ if span.0 == 0 => "0".to_owned(),
        Some((unit, name)) => format!("{}{name}", span.0 / unit),
        None => format!("{}us", span.0 / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::Affinity;

    #[test]
    fn every_setting_takes_its_words_and_its_own_value_back() {
        let mut settings = Scheduling::default();
        let changes = [
            (STRATEGY, "Bound"),
            (STEALING, "neighbours"),
            (BINDING, "opportunistic"),
            (BULK, "8"),
            (NODES, "3, 0-1"),
            (MORSEL_ROWS, "static"),
            (TRACE, "on"),
            (STATEMENT_TIMEOUT, "10s"),
            (QUEUE_TIMEOUT, "250"),
            (LOCK_TIMEOUT, "50"),
        ];
        for (name, value) in changes {
            settings.set(name, Some(value)).unwrap();
            let shown = settings.value(name);
            settings.set(name, Some(&shown)).unwrap();
            assert_eq!(settings.value(name), shown);
        }
        let policy = settings.policy(7, Some(3));
        assert_eq!((policy.class, policy.max_workers, policy.bulk), (7, Some(3), 8));
        assert_eq!((policy.affinity, policy.binding), (Affinity::Hard, Binding::Opportunistic));
        assert_eq!(policy.nodes, [NodeId(0), NodeId(1), NodeId(3)]);
        assert_eq!(settings.statement_timeout, Nanos(10_000_000_000));
        assert_eq!(settings.queue_timeout, Nanos(250_000_000));
        for (name, _) in changes {
            settings.set(name, None).unwrap();
            assert_eq!(settings.value(name), Scheduling::default().value(name));
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_changes_nothing() {
        let mut settings = Scheduling::default();
        for (name, value) in [
            (STRATEGY, "fast"),
            (STEALING, ""),
            (BINDING, "tight"),
            (BULK, "0"),
            (BULK, "-1"),
            (NODES, "1-"),
            (NODES, "3-1"),
            (NODES, "70000"),
            (MORSEL_ROWS, "10"),
            (TRACE, "maybe"),
            (STATEMENT_TIMEOUT, "soon"),
            (STATEMENT_TIMEOUT, "99999999999999999999"),
            (STATEMENT_TIMEOUT, "99999999999999h"),
        ] {
            let error = settings.set(name, Some(value)).unwrap_err();
            assert_eq!(error.state, SqlState::INVALID_PARAMETER, "{name} = {value}");
            assert!(error.hint.is_some());
            assert_eq!(settings.value(name), Scheduling::default().value(name));
        }
    }

    #[test]
    fn the_os_strategy_unbinds_unless_told_otherwise() {
        let mut settings = Scheduling::default();
        settings.set(STRATEGY, Some("os")).unwrap();
        assert_eq!(settings.policy(0, None).binding, Binding::None);
        settings.set(BINDING, Some("always")).unwrap();
        assert_eq!(settings.policy(0, None).binding, Binding::Always);
        let mut policy = settings.policy(0, None);
        Scheduling::change(&mut policy, STRATEGY, "adaptive").unwrap();
        assert_eq!((policy.affinity, policy.binding), (Affinity::Adaptive, Binding::Always));
        assert!(Scheduling::change(&mut policy, STATEMENT_TIMEOUT, "1").is_err());
    }
}
