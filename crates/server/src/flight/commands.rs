//! Commands and schemas as bytes, and tickets for rows.

use arrow_flight::sql::{
    Any, Command, CommandStatementQuery, ProstMessageExt, TicketStatementQuery,
};
use arrow_flight::{IpcMessage, SchemaAsIpc};
use arrow_ipc::writer::IpcWriteOptions;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use prost::Message;
use tonic::Status;

use super::caller::{ID_BYTES, new_id};

/// The command of a descriptor.
pub fn command_of(bytes: &[u8]) -> Result<Command, Status> {
    let wrong = || Status::invalid_argument("this is no command of Flight SQL");
    Command::try_from(Any::decode(bytes).map_err(|_| wrong())?).map_err(|_| wrong())
}

/// The ticket for the rows of a command: the command, and for a statement a number of its own.
pub fn ticket_of(command: Command) -> Result<Bytes, Status> {
    let any = match command {
        Command::CommandStatementQuery(query) => {
            let handle = [new_id()?.as_slice(), &query.encode_to_vec()].concat();
            TicketStatementQuery { statement_handle: handle.into() }.as_any()
        }
        other => other.into_any(),
    };
    Ok(any.encode_to_vec().into())
}

/// A statement that does nothing.
pub fn nothing() -> Command {
    Command::CommandStatementQuery(CommandStatementQuery::default())
}

/// The command of a ticket.
pub fn command_of_ticket(ticket: &[u8]) -> Result<Command, Status> {
    let command = command_of(ticket)?;
    let Command::TicketStatementQuery(it) = command else { return Ok(command) };
    let wrong = || Status::invalid_argument("the ticket is none of this server");
    let bytes = it.statement_handle.get(ID_BYTES..).ok_or_else(wrong)?;
    let query = CommandStatementQuery::decode(bytes).map_err(|_| wrong())?;
    Ok(Command::CommandStatementQuery(query))
}

/// A schema as Arrow writes it.
pub fn written(schema: &SchemaRef) -> Result<Bytes, Status> {
    let message = IpcMessage::try_from(SchemaAsIpc::new(schema, &IpcWriteOptions::default()));
    let message = message.map_err(|it| Status::internal(format!("a schema as Arrow: {it}")))?;
    Ok(message.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_commands_again() {
        let query = CommandStatementQuery { query: "SELECT 1".into(), transaction_id: None };
        let command = Command::CommandStatementQuery(query);
        let (one, other) =
            (ticket_of(command.clone()).unwrap(), ticket_of(command.clone()).unwrap());
        assert_ne!(one, other);
        assert_eq!(command_of_ticket(&one).unwrap(), command);
        let short = TicketStatementQuery { statement_handle: Bytes::from_static(b"x") };
        let short = short.as_any().encode_to_vec();
        for wrong in [&b"\xff"[..], b"x", &short] {
            assert!(command_of_ticket(wrong).is_err());
        }
    }
}
