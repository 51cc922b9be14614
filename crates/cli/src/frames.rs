//! Messages on a pipe: eight bytes with a length, and as many bytes.

use std::io::{self, ErrorKind, Read, Write};

/// Writes a message.
pub fn write(out: &mut dyn Write, message: &[u8]) -> io::Result<()> {
    out.write_all(&(message.len() as u64).to_le_bytes())?;
    out.write_all(message)?;
    out.flush()
}

/// Reads a message; nothing where the pipe ends before one.
pub fn read(input: &mut dyn Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 8];
    match input.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u64::from_le_bytes(length);
    // Whatever the length says, memory is taken for what comes.
    let mut message = Vec::new();
    match input.take(length).read_to_end(&mut message)? as u64 == length {
        true => Ok(Some(message)),
        false => Err(ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_through_and_torn_ones_do_not() {
        let mut pipe = Vec::new();
        for message in [&b"one"[..], b"", b"three"] {
            write(&mut pipe, message).unwrap();
        }
        let mut input = &pipe[..];
        for message in [&b"one"[..], b"", b"three"] {
            assert_eq!(read(&mut input).unwrap().unwrap(), message);
        }
        assert!(read(&mut input).unwrap().is_none());
        assert!(read(&mut &pipe[..9]).is_err());
        assert!(read(&mut &[255; 20][..]).is_err());
    }
}
