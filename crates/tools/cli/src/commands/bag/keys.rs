//! Reads the keys that a user presses while a bag is recorded or played, without an echo.

use std::io::{IsTerminal as _, Read as _};
use std::sync::mpsc::{Receiver, sync_channel};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// A key that has a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Space,
    Up,
    Down,
    Right,
    Left,
}

/// Reads the keys that are pressed; dropping it restores the terminal.
pub(super) struct Keys {
    keys: Receiver<Key>,
    before: Termios,
}

impl Keys {
    /// Begins to read keys; `None` if there is no terminal for them.
    pub(super) fn read() -> Option<Self> {
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            return None;
        }
        let before = tcgetattr(&stdin).ok()?;
        let mut modes = before.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Now, &modes).ok()?;
        let (sender, keys) = sync_channel(16);
        // The thread ends with the process: nothing ends its wait for a key.
        let thread = std::thread::Builder::new().name("feros-bag-keys".into()).spawn(move || {
            let mut sequence = Vec::new();
            for byte in std::io::stdin().lock().bytes().map_while(Result::ok) {
                if let Some(key) = decode(&mut sequence, byte)
                    && sender.send(key).is_err()
                {
                    return;
                }
            }
        });
        let this = Self { keys, before };
        thread.is_ok().then_some(this)
    }

    /// The next key that was pressed, if any.
    pub(super) fn next(&self) -> Option<Key> {
        self.keys.try_recv().ok()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// The key that this byte completes, together with the bytes before it.
fn decode(sequence: &mut Vec<u8>, byte: u8) -> Option<Key> {
    if byte == 0x1b {
        *sequence = vec![byte];
        return None;
    }
    sequence.push(byte);
    let key = match sequence[..] {
        [b' '] => Some(Key::Space),
        [0x1b, b'['] => return None,
        [0x1b, b'[', b'A'] => Some(Key::Up),
        [0x1b, b'[', b'B'] => Some(Key::Down),
        [0x1b, b'[', b'C'] => Some(Key::Right),
        [0x1b, b'[', b'D'] => Some(Key::Left),
        _ => None,
    };
    sequence.clear();
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_keys() {
        let mut sequence = Vec::new();
        let keys: Vec<Key> = b" x\x1b[A\x1b[D\x1bq \x1b[Z\x1b\x1b[C"
            .iter()
            .filter_map(|byte| decode(&mut sequence, *byte))
            .collect();
        assert_eq!(keys, [Key::Space, Key::Up, Key::Left, Key::Space, Key::Right]);
    }
}
