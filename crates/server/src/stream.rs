//! A connection as bytes, whatever carries them.

use std::io;
use std::net::SocketAddr;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, DuplexStream};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::server::TlsStream;

use crate::socket::Socket;

/// Bytes in both directions.
pub trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {
    /// The socket, out of the runtime's hands, where its bytes are those that are meant; else itself. Errors break the
    /// connection.
    fn into_socket(self: Box<Self>) -> io::Result<Result<Socket, Box<dyn Bytes>>>;
}

impl Bytes for TcpStream {
    fn into_socket(self: Box<Self>) -> io::Result<Result<Socket, Box<dyn Bytes>>> {
        Ok(Ok(Socket::Tcp(self.into_std()?)))
    }
}

impl Bytes for UnixStream {
    fn into_socket(self: Box<Self>) -> io::Result<Result<Socket, Box<dyn Bytes>>> {
        Ok(Ok(Socket::Unix(self.into_std()?)))
    }
}

impl Bytes for TlsStream<Box<dyn Bytes>> {
    fn into_socket(self: Box<Self>) -> io::Result<Result<Socket, Box<dyn Bytes>>> {
        Ok(Err(self))
    }
}

impl Bytes for DuplexStream {
    fn into_socket(self: Box<Self>) -> io::Result<Result<Socket, Box<dyn Bytes>>> {
        Ok(Err(self))
    }
}

/// Gives a socket into the hands of the runtime that runs.
pub fn watched(socket: Socket) -> io::Result<Box<dyn Bytes>> {
    Ok(match socket {
        Socket::Tcp(it) => {
            it.set_nonblocking(true)?;
            Box::new(TcpStream::from_std(it)?)
        }
        Socket::Unix(it) => {
            it.set_nonblocking(true)?;
            Box::new(UnixStream::from_std(it)?)
        }
    })
}

/// Bytes that are read at once.
const READ_BYTES: usize = 16 << 10;

/// Where a client comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The Unix socket, as the user who runs the server.
    Socket,
    /// TCP on this machine.
    Loopback(SocketAddr),
    /// TCP from elsewhere.
    Network(SocketAddr),
}

impl Origin {
    /// The address, where it has one.
    pub fn address(self) -> Option<SocketAddr> {
        match self {
            Self::Socket => None,
            Self::Loopback(it) | Self::Network(it) => Some(it),
        }
    }
}

/// Appends what has come; false when nothing comes any more.
pub async fn read_some(
    reader: &mut (impl AsyncRead + Unpin + ?Sized),
    input: &mut BytesMut,
) -> io::Result<bool> {
    input.reserve(READ_BYTES);
    Ok(reader.read_buf(input).await? > 0)
}
