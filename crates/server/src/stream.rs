//! A connection as bytes, whatever carries them.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

/// Bytes in both directions.
pub trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// Bytes that are read at once.
const READ_BYTES: usize = 16 << 10;

/// Where a client comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The Unix socket, as the user who runs the server.
    Socket,
    /// TCP on this machine.
    Loopback,
    /// TCP from elsewhere.
    Network,
}

/// Appends what has come; false when nothing comes any more.
pub async fn read_some(
    reader: &mut (impl AsyncRead + Unpin + ?Sized),
    input: &mut BytesMut,
) -> io::Result<bool> {
    input.reserve(READ_BYTES);
    Ok(reader.read_buf(input).await? > 0)
}
