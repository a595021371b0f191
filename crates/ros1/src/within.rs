//! A connection whose whole answer has to arrive within a time. The time limit of a socket is that
//! of one read: a peer that sends a byte now and then would hold its reader forever.

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
    /// Connects; the time starts now.
    pub(crate) fn connect(address: &Address, patience: Duration) -> io::Result<Self> {
        let deadline = Instant::now() + patience;
        Ok(Self { stream: address.connect(patience)?, deadline, patience })
    }

    /// The connection without a limit.
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
        let what = format!("no whole answer within {} s", self.patience.as_secs());
        io::Error::new(io::ErrorKind::TimedOut, what)
    }

    /// Turns a socket's own time limit, which it reports as "would block", into the error of this
    /// limit.
    fn said<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => self.late(),
            _ => error,
        })
    }
}

impl Read for Within {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        let done = self.stream.read(buffer);
        self.said(done)
    }
}

impl Write for Within {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        let done = self.stream.write(bytes);
        self.said(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
