//! Where traces go, and of which statements.

use super::Collector;

/// Is told, in a sentence, when the collector cannot be reached any more, and when it can again.
pub type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// Where traces go, and of which statements.
pub struct TraceOptions {
    /// Who takes the spans.
    pub collector: Collector,
    /// What the collector calls this server.
    pub service: String,
    /// The share of statements that are traced, from 0 to 1, of those whose clients do not say.
    pub ratio: f64,
    /// Who is told whether the collector can be reached.
    pub tell: Tell,
}

impl TraceOptions {
    /// All statements, under the name of the program.
    pub fn new(collector: Collector) -> Self {
        let service = "nodewise".to_owned();
        Self { collector, service, ratio: 1.0, tell: Box::new(|_| ()) }
    }
}

impl std::fmt::Debug for TraceOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("TraceOptions");
        shown.field("collector", &self.collector).field("service", &self.service);
        shown.field("ratio", &self.ratio).finish_non_exhaustive()
    }
}
