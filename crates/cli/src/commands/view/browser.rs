//! Opens the user's browser, where there is a screen.

use std::process::{Command, Stdio};

use crate::notices;

/// Shows a page; where that fails, the link that was printed is what is left.
pub(super) fn open(link: &str) {
    let has = |variable| std::env::var_os(variable).is_some_and(|value| !value.is_empty());
    if !has("DISPLAY") && !has("WAYLAND_DISPLAY") {
        return;
    }
    let mut command = Command::new("xdg-open");
    command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = command.spawn().and_then(|mut browser| {
        // Some wait for the browser to end, which nobody here does.
        let waiting = std::thread::Builder::new().name("browser".into());
        waiting.spawn(move || browser.wait()).map(drop)
    });
    if let Err(error) = started {
        notices::note(format!("the browser is not opened (xdg-open: {error})"));
    }
}
