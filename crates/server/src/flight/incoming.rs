//! Rows on their way in: the messages of a call as batches.

use std::panic::AssertUnwindSafe;

use arrow_array::RecordBatch;
use arrow_flight::FlightData;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::error::FlightError;
use arrow_schema::SchemaRef;
use futures_util::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use tonic::{Status, Streaming};

/// The rows that a call brings.
pub struct Incoming(FlightRecordBatchStream);

impl Incoming {
    /// Those of a call whose first message was read, as it says what the call is.
    pub fn new(first: FlightData, rest: Streaming<FlightData>) -> Self {
        Self(FlightRecordBatchStream::new_from_flight_data(all(first, rest)))
    }

    /// The next batch; `None` when all have come. What is malformed fails the call, whatever the decoder makes of it.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>, Status> {
        let next = AssertUnwindSafe(self.0.next()).catch_unwind().await;
        match next {
            Ok(batch) => batch.transpose().map_err(|error| match error {
                FlightError::Tonic(status) => *status,
                other => Status::invalid_argument(format!("the rows cannot be read: {other}")),
            }),
            Err(_) => Err(Status::invalid_argument("the rows cannot be read")),
        }
    }

    /// The columns, which are known with the first batch at the latest.
    pub fn schema(&self) -> Option<&SchemaRef> {
        self.0.schema()
    }

    /// All rows, where they are few; more bytes than those of a message are refused.
    pub async fn few(&mut self, bytes_max: usize) -> Result<Vec<RecordBatch>, Status> {
        let (mut all, mut bytes) = (Vec::new(), 0);
        while let Some(batch) = self.next().await? {
            bytes += batch.get_array_memory_size();
            if bytes > bytes_max {
                return Err(Status::resource_exhausted("these are too many values at once"));
            }
            all.push(batch);
        }
        Ok(all)
    }
}

fn all(
    first: FlightData,
    rest: Streaming<FlightData>,
) -> impl Stream<Item = Result<FlightData, FlightError>> + Send + 'static {
    let has_rows = !first.data_header.is_empty();
    let first = stream::iter(has_rows.then_some(Ok(first)));
    first.chain(rest.map_err(|it| FlightError::Tonic(Box::new(it))))
}
