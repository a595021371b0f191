//! The unprocessed output of a cell's programs: `raw/NAME.log` while the cell runs,
//! `raw/NAME.log.gz` after it.
//!
//! Each line has the seconds since the cell began, the program, `out` or `err`, and the text,
//! separated by tabs.

use std::fs::File;
use std::io::{BufWriter, Error, Read as _, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;

/// The extension of a file whose cell is running.
const UNDER_WAY: &str = "log";

/// A cell's raw file while the cell runs.
pub(super) struct RawFile {
    path: PathBuf,
    file: BufWriter<File>,
    began: Instant,
}

impl RawFile {
    /// Creates the file; if the same cell was interrupted before, its file is kept under another
    /// name.
    pub(super) fn create(folder: &Path, name: &str, about: &str) -> std::io::Result<Self> {
        let path = folder.join(format!("{name}.{UNDER_WAY}"));
        let mut file = BufWriter::new(feros_files::create(&path)?);
        writeln!(file, "# {about}")?;
        Ok(Self { path, file, began: Instant::now() })
    }

    /// Adds a line, which is passed to the system immediately.
    pub(super) fn line(&mut self, program: &str, stream: &str, said: &str) -> std::io::Result<()> {
        let seconds = self.began.elapsed().as_secs_f64();
        writeln!(self.file, "{seconds:.3}\t{program}\t{stream}\t{said}")?;
        self.file.flush()
    }

    /// Compresses the file and returns its name.
    pub(super) fn finish(mut self) -> std::io::Result<String> {
        self.file.flush()?;
        compress(&self.path, &self.path.with_extension("log.gz"))
    }
}

/// Keeps the files of interrupted cells under names that mark them, and returns the number of these
/// files.
pub(super) fn keep_interrupted(folder: &Path) -> std::io::Result<usize> {
    let mut kept = 0;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == UNDER_WAY) {
            let target = (1..)
                .map(|number| path.with_extension(format!("interrupted-{number}.log.gz")))
                .find(|target| !target.exists());
            compress(&path, &target.unwrap_or_else(|| path.with_extension("log.gz")))?;
            kept += 1;
        }
    }
    Ok(kept)
}

/// Replaces a file with a compressed one; on failure, the file stays as before.
fn compress(from: &Path, to: &Path) -> std::io::Result<String> {
    if let Err(error) = write_compressed(from, to) {
        // The written part is useless, and may have filled the disk.
        let _ = std::fs::remove_file(to);
        return Err(error);
    }
    std::fs::remove_file(from)?;
    Ok(to.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

fn write_compressed(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut source = feros_files::open(from)
        .map_err(|error| Error::new(error.kind(), format!("{}: {error}", from.display())))?;
    let mut encoder = GzEncoder::new(BufWriter::new(feros_files::create(to)?), Compression::fast());
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = source.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        encoder.write_all(&buffer[..length])?;
    }
    let file = encoder.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    file.sync_all()
}
