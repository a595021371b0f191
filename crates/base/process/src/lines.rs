//! The lines of a process's output.

use std::io::{self, ErrorKind, Read};
use std::thread::{self, JoinHandle};

/// The bytes that a thread reads at once.
const READ_BYTES: usize = 64 << 10;

/// Makes lines of the pieces in which output arrives.
#[derive(Debug)]
pub struct Lines {
    longest_bytes: usize,
    begun: Vec<u8>,
}

impl Lines {
    /// A line of at least `longest_bytes` without a line break counts as complete, so that a
    /// process that never ends its line does not fill the memory.
    pub fn new(longest_bytes: usize) -> Self {
        Self { longest_bytes, begun: Vec::new() }
    }

    /// Adds bytes of the output, and calls `line` with each complete line, without its line break.
    pub fn add(&mut self, bytes: &[u8], mut line: impl FnMut(&[u8])) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend(piece);
            if piece.ends_with(b"\n") || self.begun.len() >= self.longest_bytes {
                let text = self.begun.strip_suffix(b"\n").unwrap_or(&self.begun);
                line(text.strip_suffix(b"\r").unwrap_or(text));
                self.begun.clear();
            }
        }
    }

    /// Calls `line` with a last line that has no line break.
    pub fn finish(&mut self, line: impl FnOnce(&[u8])) {
        if !self.begun.is_empty() {
            line(&self.begun);
            self.begun.clear();
        }
    }
}

/// Starts a thread that reads a stream to its end. It calls `line` with each line, in which bytes
/// that are not UTF-8 are replaced, and with `None` at the end.
///
/// # Errors
/// If the thread cannot be started.
pub fn read_lines(
    thread: &str,
    mut stream: impl Read + Send + 'static,
    longest_bytes: usize,
    mut line: impl FnMut(Option<String>) + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let read = move || {
        let (mut lines, mut bytes) = (Lines::new(longest_bytes), vec![0; READ_BYTES]);
        let mut text = |text: &[u8]| line(Some(String::from_utf8_lossy(text).into_owned()));
        loop {
            match stream.read(&mut bytes) {
                Ok(count @ 1..) => lines.add(&bytes[..count], &mut text),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
            }
        }
        lines.finish(text);
        line(None);
    };
    thread::Builder::new().name(thread.to_owned()).spawn(read)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::sync::mpsc::{Receiver, sync_channel};
    use std::time::Instant;

    use feros_test_support::WATCHDOG;

    use super::*;
    use crate::ChildGroup;

    #[test]
    fn lines_arrive_in_pieces_and_have_any_end() {
        let (mut lines, mut seen) = (Lines::new(5), Vec::new());
        for piece in ["a\r\nb", "c\n\n12345", "678\nla", "st"] {
            lines.add(piece.as_bytes(), |line| seen.push(line.to_vec()));
        }
        lines.finish(|line| seen.push(line.to_vec()));
        lines.finish(|_| panic!("nothing is left"));
        assert_eq!(seen, [&b"a"[..], b"bc", b"", b"12345", b"678", b"last"]);
    }

    /// The lines of a command, of which a few wait to be received.
    fn lines_of(command: &str) -> (ChildGroup, Receiver<Option<String>>, JoinHandle<()>) {
        let mut shell = Command::new("sh");
        let mut child =
            ChildGroup::spawn(shell.args(["-c", command]).stdout(Stdio::piped())).unwrap();
        let (_, output, _) = child.take_pipes();
        let (sender, received) = sync_channel(4);
        let send = move |line| drop(sender.send(line));
        let reader = read_lines("reader", output.unwrap(), 1000, send).unwrap();
        (child, received, reader)
    }

    #[test]
    fn a_flood_of_lines_waits_and_is_read_to_the_end_of_its_source() {
        let (mut child, received, reader) = lines_of("yes");
        assert!(received.iter().take(10_000).all(|line| line.as_deref() == Some("y")));
        assert!(!reader.is_finished() && child.status().is_none());
        child.kill().unwrap();
        assert!(received.iter().any(|line| line.is_none()), "the end is reported");
        reader.join().unwrap();
    }

    #[test]
    fn a_line_without_end_comes_in_parts() {
        let (_child, received, _reader) = lines_of("head -c 3000000 /dev/zero; printf '\\377'");
        let lines: Vec<String> = received.iter().flatten().collect();
        assert!(lines.iter().all(|line| line.len() <= 1000 + READ_BYTES));
        let text = lines.concat();
        assert_eq!(text.trim_start_matches('\0'), "\u{fffd}");
        assert_eq!(text.len(), 3_000_000 + 3);
    }

    #[test]
    fn output_that_nobody_wants_is_read_nevertheless() {
        let (mut child, received, reader) = lines_of("yes | head -n 100000");
        drop(received);
        reader.join().unwrap();
        let status = child.wait_until(Instant::now() + WATCHDOG).unwrap();
        assert!(status.unwrap().success());
    }
}
