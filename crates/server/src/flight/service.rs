//! The calls of Flight, and what they ask.
//!
//! Key decision: a ticket is the command that it stands for, and a number by which it can be ended. So nothing is kept between the call
//! that tells of rows and the one that takes them, and a client that never takes them leaves nothing behind.

use arrow_flight::flight_service_server::FlightService;
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightEndpoint, FlightInfo,
    HandshakeRequest, HandshakeResponse, PollInfo, PutResult, SchemaResult, Ticket,
};
use arrow_schema::Schema;
use bytes::Bytes;
use futures_util::stream;
use stdx::sync::Arc;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status, Streaming, async_trait};

use super::access::cookie;
use super::caller::{Caller, new_id};
use super::commands::{command_of, nothing, ticket_of, written};
use super::door::Door;
use super::queries::Told;
use super::rows::Messages;
use super::{actions, changes, queries};

/// Answers the calls of a connection.
#[derive(Clone)]
pub struct Service(Arc<Door>);

impl Service {
    pub fn new(door: Arc<Door>) -> Self {
        Self(door)
    }

    /// Who calls. A client that names no session is told of one: if it keeps cookies, its next call is of that.
    async fn caller(&self, fields: &MetadataMap) -> Result<(Caller, Option<String>), Status> {
        let caller = self.0.caller(fields).await?;
        let told = match caller.session {
            None => Some(cookie(&new_id()?)),
            Some(_) => None,
        };
        Ok((caller, told))
    }

    async fn info(
        &self,
        caller: &Caller,
        descriptor: FlightDescriptor,
    ) -> Result<FlightInfo, Status> {
        let command = command_of(&descriptor.cmd)?;
        let told = queries::told(&self.0, caller, &command, true).await?;
        let (schema, total_records, command) = match told {
            Told::Rows(schema) => (schema, -1, command),
            // There is nothing left to do for the ticket.
            Told::Done(rows) => (Arc::new(Schema::empty()), rows, nothing()),
        };
        let ticket = ticket_of(command)?;
        let endpoint = FlightEndpoint { ticket: Some(Ticket { ticket }), ..Default::default() };
        Ok(FlightInfo {
            schema: written(&schema)?,
            flight_descriptor: Some(descriptor),
            endpoint: vec![endpoint],
            total_records,
            total_bytes: -1,
            ordered: true,
            app_metadata: Bytes::new(),
        })
    }
}

/// An answer, with what its client is told of its session.
fn answer<T>(body: T, told: Option<String>) -> Response<T> {
    let mut response = Response::new(body);
    if let Some(field) = told.and_then(|it| it.parse().ok()) {
        response.metadata_mut().insert("set-cookie", field);
    }
    response
}

fn one<T: Send + 'static>(item: T) -> Messages<T> {
    Box::pin(stream::iter([Ok(item)]))
}

fn no_such(what: &str) -> Status {
    Status::unimplemented(format!("{what} is no call of Flight SQL on this server"))
}

#[async_trait]
impl FlightService for Service {
    type HandshakeStream = Messages<HandshakeResponse>;
    type ListFlightsStream = Messages<FlightInfo>;
    type DoGetStream = Messages<FlightData>;
    type DoPutStream = Messages<PutResult>;
    type DoActionStream = Messages<arrow_flight::Result>;
    type ListActionsStream = Messages<ActionType>;
    type DoExchangeStream = Messages<FlightData>;

    async fn handshake(
        &self,
        request: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        Ok(self.0.handshake(request.metadata()).await?.map(one))
    }

    async fn get_flight_info(
        &self,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        let (caller, told) = self.caller(request.metadata()).await?;
        Ok(answer(self.info(&caller, request.into_inner()).await?, told))
    }

    async fn poll_flight_info(
        &self,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<PollInfo>, Status> {
        let (caller, told) = self.caller(request.metadata()).await?;
        // Rows are made as they are taken, so there is nothing to wait for.
        let info = Some(self.info(&caller, request.into_inner()).await?);
        let progress = Some(1.0);
        Ok(answer(PollInfo { info, progress, ..Default::default() }, told))
    }

    async fn get_schema(
        &self,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<SchemaResult>, Status> {
        let (caller, told) = self.caller(request.metadata()).await?;
        let command = command_of(&request.into_inner().cmd)?;
        let schema = match queries::told(&self.0, &caller, &command, false).await? {
            Told::Rows(schema) => schema,
            Told::Done(_) => Arc::new(Schema::empty()),
        };
        Ok(answer(SchemaResult { schema: written(&schema)? }, told))
    }

    async fn do_get(
        &self,
        request: Request<Ticket>,
    ) -> Result<Response<Self::DoGetStream>, Status> {
        let (caller, told) = self.caller(request.metadata()).await?;
        let ticket = request.into_inner().ticket;
        Ok(answer(queries::rows(&self.0, &caller, ticket).await?, told))
    }

    async fn do_put(
        &self,
        request: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoPutStream>, Status> {
        let (caller, told) = self.caller(request.metadata()).await?;
        let app_metadata = changes::put(&self.0, &caller, request.into_inner()).await?;
        Ok(answer(one(PutResult { app_metadata }), told))
    }

    async fn do_action(
        &self,
        request: Request<Action>,
    ) -> Result<Response<Self::DoActionStream>, Status> {
        let (caller, told) = self.caller(request.metadata()).await?;
        // A client that hangs up drops its call; a transaction that has begun or ended is known to have done so all the same.
        let (door, action) = (self.0.clone(), request.into_inner());
        let acted = tokio::spawn(async move { actions::act(&door, &caller, action).await }).await;
        let body = acted.map_err(|_| Status::internal("the call was lost"))??;
        let results = body.map(|body| Ok(arrow_flight::Result { body }));
        Ok(answer(Box::pin(stream::iter(results)), told))
    }

    async fn list_actions(
        &self,
        request: Request<Empty>,
    ) -> Result<Response<Self::ListActionsStream>, Status> {
        self.caller(request.metadata()).await?;
        let all = actions::NAMES.map(|(name, what)| {
            Ok(ActionType { r#type: name.to_owned(), description: what.to_owned() })
        });
        Ok(Response::new(Box::pin(stream::iter(all))))
    }

    async fn list_flights(
        &self,
        request: Request<Criteria>,
    ) -> Result<Response<Self::ListFlightsStream>, Status> {
        self.caller(request.metadata()).await?;
        Err(no_such("ListFlights"))
    }

    async fn do_exchange(
        &self,
        request: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoExchangeStream>, Status> {
        self.caller(request.metadata()).await?;
        Err(no_such("DoExchange"))
    }
}
