//! A connection on which a complete answer must arrive within a time limit. The time limit of a
//! socket applies only to each single read, so a program that sends a byte from time to time could
//! keep the reader waiting forever.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::address::Address;

/// Reads and writes until the deadline.
pub(crate) struct Within {
    stream: TcpStream,
    deadline: Instant,
    patience: Duration,
}

impl Within {
    /// Connects. The time limit begins with this call.
    pub(crate) fn connect(address: &Address, patience: Duration) -> io::Result<Self> {
        let deadline = Instant::now() + patience;
        Ok(Self { stream: address.connect(patience)?, deadline, patience })
    }

    /// Returns the connection without a time limit.
    pub(crate) fn into_stream(self) -> io::Result<TcpStream> {
        self.stream.set_read_timeout(None)?;
        self.stream.set_write_timeout(None)?;
        Ok(self.stream)
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(self.late()) } else { Ok(left) }
    }

    fn late(&self) -> io::Error {
        let what = format!("no complete answer arrived within {} s", self.patience.as_secs());
        io::Error::new(io::ErrorKind::TimedOut, what)
    }

    /// Repeats a read or write that a signal has interrupted. If a socket has a time limit, the
    /// system does not repeat it by itself (signal(7)).
    fn repeat<T>(
        &mut self,
        mut once: impl FnMut(&mut TcpStream, Duration) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            let left = self.left()?;
            match once(&mut self.stream, left) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return self.said(done),
            }
        }
    }

    /// Replaces the error that the socket's own time limit causes, which may be "would block", with
    /// an error that names this time limit.
    fn said<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => self.late(),
            _ => error,
        })
    }
}

impl Read for Within {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.repeat(|stream, left| {
            stream.set_read_timeout(Some(left))?;
            stream.read(buffer)
        })
    }
}

impl Write for Within {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.repeat(|stream, left| {
            stream.set_write_timeout(Some(left))?;
            stream.write(bytes)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
