//! Who a client is: by the socket it came through, or by a password.

use bytes::{Bytes as Message, BytesMut};
use nodewise::{SqlError, SqlState};
use pgwire::messages::startup::Authentication;
use tokio::io::AsyncWriteExt;
use types::Charset;

use crate::replies::put;
use crate::requests::{Body, Request, next, violation};
use crate::scram::{Exchange, MECHANISM, Verifier};
use crate::shared::Shared;
use crate::startup::Refused;
use crate::stream::{Bytes, Origin, read_some};

/// Bytes of a message from somebody unknown.
const BYTES_MAX: usize = 10_000;

/// Asks a client for its password unless it is trusted, and tells which. What it is told at the end is left in `out`.
pub async fn authenticate(
    shared: &Shared,
    stream: &mut dyn Bytes,
    input: &mut BytesMut,
    (user, origin): (&str, Origin),
    out: &mut BytesMut,
) -> Result<bool, Refused> {
    let trusted = shared.trusts(origin);
    if !trusted {
        scram(shared, stream, input, user, out).await?;
    }
    put(&Authentication::Ok, out);
    Ok(trusted)
}

async fn scram(
    shared: &Shared,
    stream: &mut dyn Bytes,
    input: &mut BytesMut,
    user: &str,
    out: &mut BytesMut,
) -> Result<(), Refused> {
    let known = shared.verifier(user);
    let is_known = known.is_some();
    let verifier = known.unwrap_or_else(|| Verifier::of_nobody(user, &shared.secret));
    put(&Authentication::SASL(vec![MECHANISM.to_owned()]), out);
    let mut first = Body(asked(stream, input, out).await?, Charset::UTF8);
    let mechanism = first.text()?;
    if mechanism != MECHANISM {
        return Err(violation("client selected an invalid SASL authentication mechanism").into());
    }
    let message = first.value()?.ok_or_else(|| violation("malformed SCRAM message"))?;
    let (exchange, answer) = Exchange::begin(&Charset::UTF8.decode(&message)?, verifier)?;
    put(&Authentication::SASLContinue(answer.into()), out);
    let last = asked(stream, input, out).await?;
    match exchange.finish(&Charset::UTF8.decode(&last)?)? {
        Some(answer) if is_known => {
            put(&Authentication::SASLFinal(answer.into()), out);
            Ok(())
        }
        _ => {
            let message = format!("password authentication failed for user \"{user}\"");
            Err(SqlError::new(SqlState("28P01"), message).into())
        }
    }
}

/// Sends what there is, and waits for the client's answer.
async fn asked(
    stream: &mut dyn Bytes,
    input: &mut BytesMut,
    out: &mut BytesMut,
) -> Result<Message, Refused> {
    stream.write_all(out).await?;
    stream.flush().await?;
    out.clear();
    loop {
        match next(input, BYTES_MAX, Charset::UTF8)? {
            Some(Request::Password(message)) => return Ok(message),
            Some(_) => return Err(violation("expected SASL response").into()),
            None => {
                if !read_some(stream, input).await? {
                    return Err(Refused::Broken);
                }
            }
        }
    }
}
