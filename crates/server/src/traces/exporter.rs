//! Sends spans, on a thread of its own: neither statements nor sockets of clients wait for it.

use std::io;
use std::time::Duration;

use stdx::sync::Arc;
use stdx::sync::thread::{self, JoinHandle};
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::time::sleep;
use tonic::{Code, Status};

use super::Traces;
use super::collector::Connection;
use super::messages::{ExportRequest, Resource, ResourceSpans, Scope, ScopeSpans, Span, text};

/// How long spans wait for others, at most.
const PERIOD: Duration = Duration::from_secs(1);
/// How long it waits before it tries again; as often as that with one batch, then the batch is dropped.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

/// The thread that sends.
pub struct Exporter {
    thread: JoinHandle<()>,
    /// How long it may still take, once it is to end.
    ends: watch::Sender<Option<Duration>>,
}

impl Exporter {
    /// Begins to send; `None` where that cannot be, which is told.
    pub fn begin(traces: &Arc<Traces>) -> Option<Self> {
        // Statements are worth more than what is told of them.
        let failed = |error| (traces.options.tell)(&format!("there are no traces: {error}"));
        Self::new(traces.clone()).map_err(failed).ok()
    }

    fn new(traces: Arc<Traces>) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let (ends, mut ending) = watch::channel(None);
        let thread = thread::spawn(move || {
            runtime.block_on(async move {
                let connection = traces.options.collector.connection();
                let mut sending = Sending { traces, connection, is_reached: None };
                let mut ends = ending.clone();
                tokio::select! {
                    () = sending.run(&mut ending) => {}
                    () = passed(&mut ends) => {}
                }
            });
            // A name that is still looked up keeps nobody.
            runtime.shutdown_background();
        });
        Ok(Self { thread, ends })
    }

    /// Sends what there is, for so long at most, and ends.
    pub fn end(self, within: Duration) {
        self.ends.send_replace(Some(within));
        // Had it panicked, there would be nothing left to send.
        let _ = self.thread.join();
    }
}

/// How long it may take until all is sent, once that is known.
type Ending = watch::Receiver<Option<Duration>>;

struct Sending {
    traces: Arc<Traces>,
    connection: Connection,
    /// Whether the last batch has reached the collector.
    is_reached: Option<bool>,
}

impl Sending {
    async fn run(&mut self, ending: &mut Ending) {
        loop {
            let traces = self.traces.clone();
            let waiting = async {
                tokio::select! {
                    () = sleep(PERIOD) => {}
                    () = traces.queue.filled() => {}
                }
            };
            let is_last = before_end(waiting, ending).await.is_none();
            let mut is_lost = false;
            loop {
                let batch = self.traces.queue.take();
                if batch.is_empty() {
                    break;
                }
                if is_lost {
                    self.traces.queue.count_dropped(batch.len());
                    continue;
                }
                self.send(batch, ending).await;
                // The end waits once for who does not answer.
                is_lost = is_last && self.is_reached != Some(true);
            }
            if is_last {
                return;
            }
        }
    }

    /// Sends a batch, again after a while where that may help, and counts what became of it.
    async fn send(&mut self, batch: Vec<Span>, ending: &mut Ending) {
        let count = batch.len();
        // One that could not be reached is given one try for each batch.
        let pauses = if self.is_reached == Some(false) { &[][..] } else { &PAUSES };
        for pause in pauses {
            match before_end(self.try_once(batch.clone()), ending).await {
                None => break,
                Some(Err(error)) if may_help(&error) => {}
                Some(sent) => return self.sent(count, sent),
            }
            if before_end(sleep(*pause), ending).await.is_none() {
                break;
            }
        }
        let sent = self.try_once(batch).await;
        self.sent(count, sent);
    }

    /// Counts what became of a batch.
    fn sent(&mut self, count: usize, sent: Result<u64, Status>) {
        match sent {
            Ok(rejected) => self.took(count, rejected),
            Err(error) => self.failed(count, &error),
        }
    }

    async fn try_once(&mut self, spans: Vec<Span>) -> Result<u64, Status> {
        let attributes = vec![
            text("service.name", &*self.traces.options.service),
            text("service.version", env!("CARGO_PKG_VERSION")),
        ];
        let scope =
            Scope { name: "nodewise".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
        let scope_spans = vec![ScopeSpans { scope: Some(scope), spans }];
        let resource = Some(Resource { attributes });
        let request =
            ExportRequest { resource_spans: vec![ResourceSpans { resource, scope_spans }] };
        self.connection.send(request).await
    }

    fn took(&mut self, count: usize, rejected: u64) {
        let rejected = usize::try_from(rejected).unwrap_or(count).min(count);
        self.traces.queue.count_exported(count - rejected);
        self.traces.queue.count_dropped(rejected);
        if self.is_reached.replace(true) == Some(false) {
            let url = self.traces.options.collector.url();
            (self.traces.options.tell)(&format!("traces reach {url} again"));
        }
    }

    fn failed(&mut self, count: usize, error: &Status) {
        self.traces.queue.count_dropped(count);
        if self.is_reached.replace(false) != Some(false) {
            let url = self.traces.options.collector.url();
            let message = format!("traces do not reach {url} and are dropped: {}", cause(error));
            (self.traces.options.tell)(&message);
        }
    }
}

/// Does something unless all is to end; nothing comes of it then.
async fn before_end<T>(work: impl Future<Output = T>, ending: &mut Ending) -> Option<T> {
    tokio::select! {
        biased;
        _ = ending.wait_for(Option::is_some) => None,
        done = work => Some(done),
    }
}

/// Waits until the time has passed that is left when all is to end.
async fn passed(ending: &mut Ending) {
    let left = ending.wait_for(Option::is_some).await.ok().and_then(|it| *it);
    sleep(left.unwrap_or_default()).await;
}

/// Whether another try may help, as OTLP has it.
fn may_help(error: &Status) -> bool {
    use Code::{Aborted, Cancelled, DataLoss, DeadlineExceeded, OutOfRange, Unavailable};
    // What cannot be connected is told as unknown.
    let codes =
        [Aborted, Cancelled, DataLoss, DeadlineExceeded, OutOfRange, Unavailable, Code::Unknown];
    codes.contains(&error.code())
}

/// What an error says, down to what it comes from.
fn cause(error: &Status) -> String {
    let mut said = error.message().to_owned();
    let mut inner = std::error::Error::source(error);
    while let Some(it) = inner {
        let text = it.to_string();
        if !said.contains(&text) {
            said = format!("{said}: {text}");
        }
        inner = it.source();
    }
    said
}
