//! What pipelines did, in the words of EXPLAIN ANALYZE.

use execution::PipelineReport;
use plan::PipelineActuals;

/// The report of a pipeline as EXPLAIN prints it.
pub fn actuals(report: &PipelineReport) -> PipelineActuals {
    PipelineActuals {
        rows: report.rows,
        nanos: report.time.0,
        morsels: report.morsels,
        stolen: report.stolen,
        local_bytes: report.bytes_local,
        remote_bytes: report.bytes_remote,
        source: report.source.clone(),
    }
}
