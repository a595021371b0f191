//! The meaning of the screen's keys.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The action of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    Quit,
    Up,
    Down,
    PageUp,
    PageDown,
    /// Shows the other table.
    Switch,
    /// Sorts by the next column.
    Sort,
    /// Shows or hides hidden names.
    Hidden,
    /// Opens or closes the selected line.
    Open,
    /// Closes the open line.
    Back,
}

pub(super) fn command(key: KeyEvent) -> Option<Command> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char('c') if is_control => Command::Quit,
        _ if is_control => return None,
        KeyCode::Char('q') => Command::Quit,
        KeyCode::Up | KeyCode::Char('k') => Command::Up,
        KeyCode::Down | KeyCode::Char('j') => Command::Down,
        KeyCode::PageUp => Command::PageUp,
        KeyCode::PageDown => Command::PageDown,
        KeyCode::Tab | KeyCode::BackTab => Command::Switch,
        KeyCode::Char('s') => Command::Sort,
        KeyCode::Char('h') => Command::Hidden,
        KeyCode::Enter => Command::Open,
        KeyCode::Esc => Command::Back,
        _ => return None,
    })
}
