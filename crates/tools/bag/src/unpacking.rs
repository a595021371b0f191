//! Limits for unpacking, since a few bytes can unpack to any number of bytes.
//!
//! Files that are compressed as a whole are unpacked into the folder of temporary files, into a
//! file without a name: nothing remains in the folder, however the process ends.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::ReadError;
use crate::interrupt::Interrupt;

/// The default limit on a chunk or message that is held at once, in bytes.
pub(crate) const DEFAULT_MAX_CHUNK_BYTES: usize = 1 << 30;
/// Packed bytes may grow by this factor; only repetitive bytes have a higher ratio.
const MOST_TIMES: u64 = 256;
/// Unpacking to this size is always allowed, since a black picture packs to a few bytes.
const IN_ANY_CASE: u64 = 64 << 20;
/// The size that is always allowed for a whole file, and for all chunks of a file together that are
/// unpacked to count their messages. These are not held in memory.
const FILE_IN_ANY_CASE: u64 = 1 << 30;
/// Bytes that are unpacked between two checks for an interrupt.
const STEP_BYTES: u64 = 1 << 20;

/// Returns the limit on the size that this many bytes may unpack to, if a reader holds at most
/// `limit`.
pub(crate) fn most_unpacked(packed_bytes: u64, limit: usize) -> usize {
    let most = packed_bytes.saturating_mul(MOST_TIMES).max(IN_ANY_CASE);
    usize::try_from(most).unwrap_or(usize::MAX).min(limit)
}

/// Describes the error of content that unpacks to more than this limit.
pub(crate) fn too_far(packed_bytes: u64, bytes: u64) -> String {
    format!(
        "{packed_bytes} packed bytes would unpack to {bytes} bytes; the limit is {MOST_TIMES} times the packed size or \
         {IN_ANY_CASE} bytes, whichever is larger. `mcap decompress` unpacks a file that you trust"
    )
}

/// Returns the limit on the size that a whole file of this size may unpack to.
pub(crate) fn most_of_file(packed_bytes: u64) -> u64 {
    packed_bytes.saturating_mul(MOST_TIMES).max(FILE_IN_ANY_CASE)
}

/// Describes the chunks whose messages are counted without unpacking.
pub(crate) fn counted_packed(chunks: u64, limit: u64) -> String {
    format!(
        "it has no index, and its chunks unpack to more than {limit} bytes; the limit for counting messages is \
         {MOST_TIMES} times the size of the file or {FILE_IN_ANY_CASE} bytes, whichever is larger. The counts of \
         {chunks} chunks are those of their message indexes, which are not checked. `feros bag reindex` writes the \
         index of the file"
    )
}

/// Describes the error of a chunk whose messages can be counted neither in the chunk nor in its
/// message index.
pub(crate) fn not_counted(limit: u64) -> String {
    format!(
        "with the chunks before it, it unpacks to more than {limit} bytes; the limit for counting messages is \
         {MOST_TIMES} times the size of the file or {FILE_IN_ANY_CASE} bytes, whichever is larger, and the chunk has \
         no message index, or one with unknown topics. `mcap recover` writes the index of a file that you trust"
    )
}

/// A file of a bag, which can be opened repeatedly.
#[derive(Clone)]
pub(crate) struct Source {
    path: PathBuf,
    /// Its unpacked content, if the file is compressed as a whole.
    unpacked: Option<Arc<File>>,
    pub(crate) interrupt: Interrupt,
}

impl Source {
    /// An uncompressed file.
    pub(crate) fn new(path: &Path, interrupt: &Interrupt) -> Self {
        Self { path: path.to_owned(), unpacked: None, interrupt: interrupt.clone() }
    }

    /// Unpacks a file that is compressed as a whole.
    pub(crate) fn unpack(path: &Path, interrupt: &Interrupt) -> Result<Self, ReadError> {
        let unpacked = tempfile::tempfile().map_err(|error| ReadError::io(path, &error))?;
        unpack_to(path, &unpacked, interrupt)?;
        Ok(Self { unpacked: Some(Arc::new(unpacked)), ..Self::new(path, interrupt) })
    }

    /// The path, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The size of the file itself, even if it is compressed as a whole.
    pub(crate) fn packed_bytes(&self) -> Result<u64, ReadError> {
        let metadata = std::fs::metadata(&self.path);
        Ok(metadata.map_err(|error| ReadError::io(&self.path, &error))?.len())
    }

    /// Opens the file at its beginning.
    pub(crate) fn open(&self) -> Result<File, ReadError> {
        self.interrupt.check(&self.path)?;
        let opened = match &self.unpacked {
            Some(file) => {
                feros_files::open(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))
            }
            None => feros_files::open(&self.path),
        };
        opened.map_err(|error| ReadError::io(&self.path, &error))
    }
}

/// Unpacks a file that is compressed as a whole. A tenth of the free space stays free.
pub(crate) fn unpack_to(
    path: &Path,
    unpacked: &File,
    interrupt: &Interrupt,
) -> Result<(), ReadError> {
    let io = |error: std::io::Error| ReadError::io(path, &error);
    let room = rustix::fs::fstatvfs(unpacked).map_err(|error| io(error.into()))?;
    let free_bytes = room.f_bavail.saturating_mul(room.f_frsize);
    let packed = feros_files::open(path).map_err(io)?;
    let packed_bytes = packed.metadata().map_err(io)?.len();
    let limits = (free_bytes / 10 * 9, most_of_file(packed_bytes));
    unpack_within(path, packed, unpacked, limits, interrupt)
}

fn unpack_within(
    path: &Path,
    packed: impl Read,
    mut unpacked: impl Write,
    (room_bytes, most): (u64, u64),
    interrupt: &Interrupt,
) -> Result<(), ReadError> {
    let malformed = |error| ReadError::malformed(path, error);
    let mut decoder = zstd::stream::Decoder::new(packed).map_err(malformed)?;
    let mut bytes = 0;
    loop {
        interrupt.check(path)?;
        let step = decoder.by_ref().take(STEP_BYTES);
        let got = std::io::copy(&mut { step }, &mut unpacked).map_err(malformed)?;
        bytes += got;
        if bytes > room_bytes {
            let (folder, limit_bytes) = (std::env::temp_dir(), room_bytes);
            return Err(ReadError::NoRoom { path: path.to_owned(), folder, limit_bytes });
        }
        if bytes > most {
            let reason = format!(
                "it unpacks to more than {most} bytes; the limit is {MOST_TIMES} times the size of the file or \
                 {FILE_IN_ANY_CASE} bytes, whichever is larger. `zstd -d` unpacks a file that you trust"
            );
            return Err(ReadError::malformed(path, reason));
        }
        if got < STEP_BYTES {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_file_unpacks_to_the_room_that_there_is_and_no_further() {
        let content = vec![7; 3 << 20];
        let packed = zstd::encode_all(&content[..], 0).unwrap();
        let interrupt = Interrupt::default();
        let unpack = |limits| {
            let (path, mut unpacked) = (Path::new("a.zstd"), Vec::new());
            unpack_within(path, &packed[..], &mut unpacked, limits, &interrupt).map(|()| unpacked)
        };
        assert_eq!(unpack((3 << 20, 3 << 20)).unwrap(), content);
        let error = unpack(((3 << 20) - 1, 3 << 20)).unwrap_err();
        assert!(matches!(error, ReadError::NoRoom { limit_bytes: 3_145_727, .. }), "{error}");
        assert!(error.to_string().contains("TMPDIR"), "{error}");
        let error = unpack((3 << 20, 1 << 20)).unwrap_err();
        assert!(error.to_string().contains("256 times"), "{error}");
        interrupt.set();
        assert!(matches!(unpack((3 << 20, 3 << 20)), Err(ReadError::Interrupted { .. })));
    }

    #[test]
    fn an_unpacked_file_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mcap.zstd");
        std::fs::write(&path, zstd::encode_all(&b"content"[..], 0).unwrap()).unwrap();
        let source = Source::unpack(&path, &Interrupt::default()).unwrap();
        for _ in 0..2 {
            assert_eq!(std::io::read_to_string(source.open().unwrap()).unwrap(), "content");
        }
        let own = source.unpacked.as_ref().unwrap().as_raw_fd();
        let name = std::fs::read_link(format!("/proc/self/fd/{own}")).unwrap();
        assert!(!name.exists(), "{}", name.display());
    }

    #[test]
    fn little_unpacks_to_little() {
        assert_eq!(most_unpacked(33_000, 1 << 30), 64 << 20);
        assert_eq!(most_unpacked(1 << 20, 1 << 30), 256 << 20);
        assert_eq!(most_unpacked(1 << 20, 1000), 1000);
        assert_eq!(most_unpacked(u64::MAX, 1 << 30), 1 << 30);
    }
}
