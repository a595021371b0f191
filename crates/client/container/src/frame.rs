//! Frames between a container and its child processes: length, kind and content.

use std::io::{self, Read, Write};

/// The limit on the bytes of a frame, which suffices because parameters are not larger than a
/// message.
const MAX_FRAME_BYTES: u32 = 64 << 20;

/// Writes a frame whose content consists of these parts.
pub(crate) fn write(to: &mut impl Write, kind: u8, parts: &[&[u8]]) -> io::Result<()> {
    let bytes = parts.iter().map(|part| part.len()).sum::<usize>();
    let length = u32::try_from(bytes).ok().filter(|length| *length <= MAX_FRAME_BYTES);
    let length = length
        .ok_or_else(|| io::Error::other(format!("{bytes} bytes are too many for one frame")))?;
    to.write_all(&[&length.to_le_bytes()[..], &[kind], &parts.concat()].concat())
}

/// Reads the kind and the content of the next frame; returns `None` when the other side has ended.
pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut head = [0; 5];
    match from.read_exact(&mut head) {
        Ok(()) => {}
        // The socket is reset if the other process dies without reading all data in it.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    }
    let [a, b, c, d, kind] = head;
    let length = u32::from_le_bytes([a, b, c, d]);
    if length > MAX_FRAME_BYTES {
        return Err(io::Error::other(format!(
            "a frame has {length} bytes, but at most {MAX_FRAME_BYTES} are allowed"
        )));
    }
    let mut content = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut content)?;
    Ok((content.len() == length as usize).then_some((kind, content)))
}

/// The error for a kind that no side sends.
pub(crate) fn unknown_kind(kind: u8) -> io::Error {
    io::Error::other(format!("a frame has the unknown kind {kind}"))
}
