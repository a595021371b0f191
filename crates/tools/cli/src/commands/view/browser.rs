//! Opens the user's browser, if there is a screen.
//!
//! Every user of a machine can read the arguments of all processes, and a link may contain a token.
//! So the browser does not get such a link, but a file that leads there and that only its user can
//! read.

use std::fs::{OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::notices;

/// The file that the browser may still read; it is removed when this is dropped.
pub(super) struct Opened {
    _folder: Option<TempDir>,
}

/// Shows a page; if that fails, the user still has the printed link.
pub(super) fn open(link: &str, is_secret: bool) -> Opened {
    let has = |variable| std::env::var_os(variable).is_some_and(|value| !value.is_empty());
    let mut opened = Opened { _folder: None };
    if !has("DISPLAY") && !has("WAYLAND_DISPLAY") {
        return opened;
    }
    let mut command = Command::new("xdg-open");
    if is_secret {
        match leading_to(link) {
            Ok((folder, file)) => {
                command.arg(file);
                opened._folder = Some(folder);
            }
            Err(error) => {
                notices::note(format!(
                    "the browser is not opened, because its file cannot be written: {error}"
                ));
                return opened;
            }
        }
    } else {
        command.arg(link);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = command.spawn().and_then(|mut browser| {
        // A thread waits for the program, which may last as long as the browser.
        let waiting = std::thread::Builder::new().name("browser".into());
        waiting.spawn(move || browser.wait()).map(drop)
    });
    if let Err(error) = started {
        notices::note(format!(
            "the browser is not opened, because xdg-open cannot be started: {error}"
        ));
    }
    opened
}

/// A file that leads a browser to a link and that only this user can read, and its folder.
fn leading_to(link: &str) -> std::io::Result<(TempDir, PathBuf)> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let place = runtime.filter(|place| place.is_absolute() && place.is_dir());
    let folder = tempfile::Builder::new()
        .prefix("feros-view-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(place.unwrap_or_else(std::env::temp_dir))?;
    let path = folder.path().join("page.html");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let link = link.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    write!(
        file,
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" \
         content=\"no-referrer\">\n<meta http-equiv=\"refresh\" content=\"0; url={link}\">\n\
         <title>feros view</title>\n<a href=\"{link}\">feros view</a>\n"
    )?;
    Ok((folder, path))
}
