//! A socket in the hands of one thread, which waits in its reads and writes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use bytes::{Buf, BytesMut};

/// Bytes that are read at once: a message of a statement that is prepared is short.
const READ_BYTES: usize = 4 << 10;

/// A socket that no runtime watches.
pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// What a wait for a socket came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// Something was read, or all was written.
    Done,
    /// It took too long.
    TooLong,
    /// The client has gone.
    Gone,
}

impl Socket {
    /// From now on reads and writes wait, for so long at most.
    pub fn wait_at_most(&self, time: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(it) => {
                it.set_read_timeout(Some(time))?;
                it.set_write_timeout(Some(time))?;
                it.set_nonblocking(false)
            }
            Self::Unix(it) => {
                it.set_read_timeout(Some(time))?;
                it.set_write_timeout(Some(time))?;
                it.set_nonblocking(false)
            }
        }
    }

    /// Appends what comes next.
    pub fn read_some(&mut self, input: &mut BytesMut) -> Waited {
        let mut bytes = [0; READ_BYTES];
        let read = match self {
            Self::Tcp(it) => it.read(&mut bytes),
            Self::Unix(it) => it.read(&mut bytes),
        };
        match read {
            Ok(0) => Waited::Gone,
            Ok(count) => {
                input.extend_from_slice(&bytes[..count]);
                Waited::Done
            }
            Err(error) => waited(&error),
        }
    }

    /// Writes all there is; what is written is taken off.
    pub fn write(&mut self, output: &mut BytesMut) -> Waited {
        while !output.is_empty() {
            let written = match self {
                Self::Tcp(it) => it.write(output),
                Self::Unix(it) => it.write(output),
            };
            match written {
                Ok(0) => return Waited::Gone,
                Ok(count) => output.advance(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return waited(&error),
            }
        }
        Waited::Done
    }
}

fn waited(error: &io::Error) -> Waited {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => Waited::TooLong,
        _ => Waited::Gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_for_a_while_and_sees_that_a_client_has_gone() {
        let (client, server) = UnixStream::pair().unwrap();
        let (mut client, mut server) = (Socket::Unix(client), Socket::Unix(server));
        server.wait_at_most(Duration::from_millis(5)).unwrap();
        client.wait_at_most(Duration::from_millis(5)).unwrap();
        let mut input = BytesMut::from("so far ");
        assert_eq!(server.read_some(&mut input), Waited::TooLong);
        let mut output = BytesMut::from("and more");
        assert_eq!(client.write(&mut output), Waited::Done);
        assert_eq!(server.read_some(&mut input), Waited::Done);
        assert_eq!(&input[..], b"so far and more");
        // A client that takes nothing: what is left is not lost.
        let mut much = BytesMut::zeroed(8 << 20);
        assert_eq!(server.write(&mut much), Waited::TooLong);
        assert!(!much.is_empty() && much.len() < 8 << 20);
        drop(client);
        assert_eq!(server.write(&mut much), Waited::Gone);
    }
}
