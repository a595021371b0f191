//! The log file of a launch. It is created when the first line is written.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) struct LogFile {
    path: Option<PathBuf>,
    file: Option<File>,
}

impl LogFile {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self { path, file: None }
    }

    /// Adds a line.
    ///
    /// # Errors
    /// Fails once, with the reason why the log ends here. Later lines are ignored.
    pub(super) fn line(&mut self, name: &str, line: &[u8]) -> Result<(), String> {
        let Some(path) = &self.path else { return Ok(()) };
        let opened = match self.file.take() {
            Some(file) => Ok(file),
            None => path
                .parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| File::create(path)),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let written = opened.and_then(|mut file| {
            let mut text =
                format!("{}.{:09} [{name}] ", now.as_secs(), now.subsec_nanos()).into_bytes();
            text.extend(line);
            text.push(b'\n');
            file.write_all(&text).map(|()| file)
        });
        match written {
            Ok(file) => {
                self.file = Some(file);
                Ok(())
            }
            Err(error) => {
                let problem = format!(
                    "{} cannot be written, so nothing more is logged to it: {error}",
                    path.display()
                );
                self.path = None;
                Err(problem)
            }
        }
    }
}
