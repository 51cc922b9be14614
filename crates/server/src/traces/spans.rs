//! A statement as spans, named and described by the conventions of OpenTelemetry for databases.

use std::net::SocketAddr;

use nodewise::{EndedStatement, PipelineWork};
use stdx::Nanos;
use stdx::prng::Prng;

use super::messages::{KeyValue, Span, SpanStatus, number, text};
use super::parent::Parent;
use crate::stream::Origin;

/// What a span is: a part of a program, or the answer to a client.
const INTERNAL: i32 = 1;
const SERVER: i32 = 2;
/// How a span ended that failed.
const ERROR: i32 = 2;
/// That a span is traced; that it is said whether its parent is elsewhere, and that it is.
const SAMPLED: u32 = 1;
const HAS_REMOTE: u32 = 1 << 8;
const IS_REMOTE: u32 = 1 << 9;

/// Whose statements they are.
pub struct Client {
    pub user: String,
    /// Where it comes from; not of a Unix socket.
    pub address: Option<SocketAddr>,
}

/// The place of a statement among all spans.
pub(super) struct Place {
    pub trace: [u8; 16],
    pub span: [u8; 8],
    pub parent: Option<Parent>,
    /// Numbers for the spans below it.
    pub numbers: Prng,
}

impl Client {
    pub fn new(user: &str, origin: Origin) -> Self {
        Self { user: user.to_owned(), address: origin.address() }
    }
}

/// What turns times of the machine into those of the world.
pub(super) struct Clock {
    /// The same moment as both have it, in nanoseconds.
    pub machine: u64,
    pub world: u64,
}

/// The spans of a statement, its own first.
pub(super) fn spans_of(
    ended: &EndedStatement,
    mut place: Place,
    client: &Client,
    clock: &Clock,
) -> Vec<Span> {
    let mut spans = vec![whole(ended, &place, client, clock)];
    for step in &ended.steps {
        let id = (place.numbers.next_u64() | 1).to_be_bytes();
        spans.push(Span {
            trace_id: place.trace.to_vec(),
            span_id: id.to_vec(),
            parent_span_id: place.span.to_vec(),
            name: step.name.clone(),
            kind: INTERNAL,
            start_time_unix_nano: clock.of(step.began),
            end_time_unix_nano: clock.of(step.ended),
            attributes: step.pipeline.as_ref().map(of_pipeline).unwrap_or_default(),
            status: None,
            flags: SAMPLED | HAS_REMOTE,
        });
    }
    spans
}

fn whole(ended: &EndedStatement, place: &Place, client: &Client, clock: &Clock) -> Span {
    let remote = if place.parent.is_some() { IS_REMOTE } else { 0 };
    let status = ended
        .error
        .as_ref()
        .map(|it| SpanStatus { message: format!("SQLSTATE {}", it.0), code: ERROR });
    Span {
        trace_id: place.trace.to_vec(),
        span_id: place.span.to_vec(),
        parent_span_id: place.parent.map_or_else(Vec::new, |it| it.span.to_vec()),
        name: name_of(ended),
        kind: SERVER,
        start_time_unix_nano: clock.of(ended.began),
        end_time_unix_nano: clock.of(ended.ended),
        attributes: of_statement(ended, client),
        status,
        flags: SAMPLED | HAS_REMOTE | remote,
    }
}

/// What it does, and in which database.
fn name_of(ended: &EndedStatement) -> String {
    match operation(ended) {
        Some(operation) => format!("{operation} {}", ended.database),
        None => ended.database.clone(),
    }
}

fn operation(ended: &EndedStatement) -> Option<String> {
    (ended.kind != "other").then(|| ended.kind.to_ascii_uppercase())
}

fn of_statement(ended: &EndedStatement, client: &Client) -> Vec<KeyValue> {
    let mut facts = vec![
        text("db.system.name", "nodewise"),
        text("db.namespace", &*ended.database),
        text("db.query.text", &*ended.text),
        text("user.name", &*client.user),
        number("nodewise.worked_ns", ended.worked.0),
    ];
    facts.extend(operation(ended).map(|it| text("db.operation.name", it)));
    if let Some(rows) = ended.rows.filter(|_| ended.error.is_none()) {
        let key = match ended.kind {
            "select" => "db.response.returned_rows",
            _ => "nodewise.changed_rows",
        };
        facts.push(number(key, rows));
    }
    match client.address {
        Some(address) => {
            facts.push(text("client.address", address.ip().to_canonical().to_string()));
            facts.push(number("client.port", address.port().into()));
            facts.push(text("network.transport", "tcp"));
        }
        None => facts.push(text("network.transport", "unix")),
    }
    if let Some(state) = &ended.error {
        facts.push(text("db.response.status_code", state.0));
        facts.push(text("error.type", state.0));
    }
    facts
}

fn of_pipeline(work: &PipelineWork) -> Vec<KeyValue> {
    vec![
        number("nodewise.pipeline.number", work.number.into()),
        number("nodewise.pipeline.rows", work.rows),
        number("nodewise.pipeline.morsels", work.morsels),
        number("nodewise.pipeline.stolen", work.stolen),
        number("nodewise.pipeline.bytes_local", work.bytes_local),
        number("nodewise.pipeline.bytes_remote", work.bytes_remote),
        number("nodewise.pipeline.bytes_spilled", work.spilled),
    ]
}

impl Clock {
    /// Nanoseconds from 1970-01-01.
    fn of(&self, moment: Nanos) -> u64 {
        let before = i128::from(self.machine) - i128::from(moment.0);
        u64::try_from(i128::from(self.world) - before).unwrap_or(0)
    }
}
