//! Malicious files, as small as possible. Code makes each of them, so that its content can be read
//! here. Tests of the library and of the command read them.

use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::{Connection, params};

/// The number of topics of [`many_topics`]: more than a query may have parameters.
pub(crate) const MANY_TOPICS: usize = 40_000;
/// The unpacked size of [`endless_chunk`] and similar files.
pub(crate) const UNPACKED_BYTES: usize = 200 << 20;
/// The number of chunks of [`many_chunks`].
pub(crate) const MANY_CHUNKS: usize = 40;
/// The largest block of zstd.
const BLOCK_BYTES: usize = 128 << 10;
const PAGE_BYTES: usize = 512;

/// A file, and words that the error message contains.
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) said: &'static str,
}

/// Creates all files that readers refuse, below a folder.
pub(crate) fn all(folder: &Path) -> Vec<Input> {
    let of = |path, said| Input { path, said };
    let computed = "not a plain table";
    vec![
        of(view_of_messages(folder), computed),
        of(view_of_topics(folder), computed),
        of(computed_messages(folder), computed),
        of(pages_in_a_circle(folder), "a query took"),
        of(pipe(folder, "pipe", "pipe_0.mcap"), "not a regular file"),
        of(pipe(folder, "pipe_of_sqlite", "pipe_0.db3"), "not a regular file"),
        of(pipe_beside(folder), "not a regular file"),
    ]
}

fn database(folder: &Path, name: &str) -> (PathBuf, Connection) {
    let path = folder.join(name);
    let connection = Connection::open(&path).unwrap();
    (path, connection)
}

const TOPICS: &str = "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, \
     serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL); \
     INSERT INTO topics VALUES (1, '/endless', 'std_msgs/msg/String', 'cdr', '');";
const MESSAGES: &str = "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, \
     timestamp INTEGER NOT NULL, data BLOB NOT NULL);";
const ENDLESS: &str =
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id";

fn view_of_messages(folder: &Path) -> PathBuf {
    let (path, connection) = database(folder, "view_of_messages.db3");
    let view = format!(
        "CREATE VIEW messages AS {ENDLESS}, 1 AS topic_id, x AS timestamp, zeroblob(1000000) AS data FROM n;"
    );
    connection.execute_batch(&(TOPICS.to_owned() + &view)).unwrap();
    path
}

fn view_of_topics(folder: &Path) -> PathBuf {
    let (path, connection) = database(folder, "view_of_topics.db3");
    let view = format!(
        "CREATE VIEW topics AS {ENDLESS}, hex(zeroblob(1000000)) AS name, 'a/msg/B' AS type, \
         'cdr' AS serialization_format, '' AS offered_qos_profiles FROM n;"
    );
    connection.execute_batch(&(MESSAGES.to_owned() + &view)).unwrap();
    path
}

/// A file whose messages are computed: a billion bytes each, which are not in the file.
fn computed_messages(folder: &Path) -> PathBuf {
    let (path, connection) = database(folder, "computed.db3");
    let table = "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, \
         data BLOB GENERATED ALWAYS AS (zeroblob(1000000000)) VIRTUAL); \
         INSERT INTO messages(topic_id, timestamp) VALUES (1, 1), (1, 2);";
    connection.execute_batch(&(TOPICS.to_owned() + table)).unwrap();
    path
}

/// A table whose pages each refer to the next page sixty times, fifteen levels deep: it has more
/// rows than can ever be counted.
fn pages_in_a_circle(folder: &Path) -> PathBuf {
    const DEPTH: usize = 15;
    const CELLS: usize = 60;
    let (path, connection) = database(folder, "pages.db3");
    let filled = format!(
        "PRAGMA page_size={PAGE_BYTES}; {TOPICS} {MESSAGES} INSERT INTO messages VALUES (1, 1, 1, zeroblob(16)); \
         CREATE TABLE filling(data); INSERT INTO filling VALUES (zeroblob({}));",
        PAGE_BYTES * (DEPTH + 4)
    );
    connection.execute_batch(&filled).unwrap();
    let query = "SELECT rootpage FROM sqlite_schema WHERE name = 'messages'";
    let messages: usize = connection.query_row(query, [], |row| row.get(0)).unwrap();
    drop(connection);
    let mut file = std::fs::read(&path).unwrap();
    let page = |number: usize| (number - 1) * PAGE_BYTES..number * PAGE_BYTES;
    let leaf = file[page(messages)].to_vec();
    // The last pages contain padding, which no test reads.
    let first = file.len() / PAGE_BYTES - DEPTH;
    let interior = |next: usize| {
        let mut page = vec![0; PAGE_BYTES];
        let next = u32::try_from(next).unwrap().to_be_bytes();
        let content = PAGE_BYTES - CELLS * 5;
        page[0] = 5;
        page[3..5].copy_from_slice(&(CELLS as u16).to_be_bytes());
        page[5..7].copy_from_slice(&(content as u16).to_be_bytes());
        page[8..12].copy_from_slice(&next);
        for cell in 0..CELLS {
            let at = content + cell * 5;
            page[12 + cell * 2..][..2].copy_from_slice(&(at as u16).to_be_bytes());
            page[at..at + 4].copy_from_slice(&next);
            page[at + 4] = 1;
        }
        page
    };
    file[page(messages)].copy_from_slice(&interior(first));
    for depth in 0..DEPTH {
        file[page(first + depth)].copy_from_slice(&interior(first + depth + 1));
    }
    file[page(first + DEPTH)].copy_from_slice(&leaf);
    std::fs::write(&path, file).unwrap();
    path
}

/// Makes a pipe; a process that opens it waits for a writer.
fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn pipe(folder: &Path, bag: &str, name: &str) -> PathBuf {
    let path = folder.join(bag);
    std::fs::create_dir(&path).unwrap();
    make_pipe(&path.join(name));
    path
}

/// A valid file whose journal is a pipe.
fn pipe_beside(folder: &Path) -> PathBuf {
    let (path, connection) = database(folder, "pipe_beside.db3");
    connection.execute_batch(&(TOPICS.to_owned() + MESSAGES)).unwrap();
    make_pipe(&folder.join("pipe_beside.db3-journal"));
    path
}

/// A file with an unusual number of topics, with one message each. It is read like any other.
pub(crate) fn many_topics(folder: &Path) -> PathBuf {
    let (path, mut connection) = database(folder, "many_topics.db3");
    connection.execute_batch(&(TOPICS.to_owned() + MESSAGES)).unwrap();
    let all = connection.transaction().unwrap();
    for number in 2..=MANY_TOPICS {
        let topic = "INSERT INTO topics VALUES (?1, '/t' || ?1, 'std_msgs/msg/Empty', 'cdr', '')";
        all.execute(topic, [number]).unwrap();
        let message = "INSERT INTO messages VALUES (?1, ?1, ?1, ?2)";
        all.execute(message, params![number, [0_u8, 1, 0, 0, 0]]).unwrap();
    }
    all.commit().unwrap();
    path
}

/// Bytes that zstd unpacks to `begin` followed by this many zeros; each packed block takes four
/// bytes.
pub(crate) fn packed_zeros(begin: &[u8], zeros: usize) -> Vec<u8> {
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];
    let mut block = |kind: u32, size: usize, is_last: bool, content: &[u8]| {
        let head = u32::try_from(size).unwrap() << 3 | kind << 1 | u32::from(is_last);
        packed.extend_from_slice(&head.to_le_bytes()[..3]);
        packed.extend_from_slice(content);
    };
    let blocks = zeros.div_ceil(BLOCK_BYTES);
    block(0, begin.len(), blocks == 0, begin);
    for number in 0..blocks {
        let size = (zeros - number * BLOCK_BYTES).min(BLOCK_BYTES);
        block(1, size, number + 1 == blocks, &[0]);
    }
    packed
}

/// A file that is compressed as a whole, of about 34 KB, which unpacks to more than 1 GiB.
pub(crate) fn endless_file(folder: &Path) -> PathBuf {
    let path = folder.join("endless.mcap.zstd");
    std::fs::write(&path, packed_zeros(b"\x89MCAP0\r\n", (1 << 30) + 1)).unwrap();
    path
}

/// A file that is compressed as a whole and takes a moment to unpack; its content is not a bag.
pub(crate) fn long_file(folder: &Path) -> PathBuf {
    let path = folder.join("long.mcap.zstd");
    std::fs::write(&path, packed_zeros(b"", 900 << 20)).unwrap();
    path
}

/// A file without an index, of about 7 KB, with one chunk of [`UNPACKED_BYTES`]: a message of
/// zeros.
pub(crate) fn endless_chunk(folder: &Path) -> PathBuf {
    packed_chunks(folder.join("endless_chunk.mcap"), 1, UNPACKED_BYTES)
}

/// A file without an index, of about 80 KB. Each of its [`MANY_CHUNKS`] chunks unpacks to 60 MiB,
/// which a chunk may, and all of them to more than 2 GiB.
pub(crate) fn many_chunks(folder: &Path) -> PathBuf {
    packed_chunks(folder.join("many_chunks.mcap"), MANY_CHUNKS, 60 << 20)
}

/// A file without an index, with chunks that unpack to this many bytes: a message of zeros. A
/// message index follows each chunk.
fn packed_chunks(path: PathBuf, chunks: usize, bytes: usize) -> PathBuf {
    let mut file = b"\x89MCAP0\r\n".to_vec();
    let mut record = |opcode: u8, body: &[u8]| {
        file.push(opcode);
        file.extend_from_slice(&(body.len() as u64).to_le_bytes());
        file.extend_from_slice(body);
    };
    let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    record(1, &[text("ros2"), text("")].concat());
    record(
        3,
        &[&1_u16.to_le_bytes()[..], &text("std_msgs/msg/String"), &text(""), &text("")].concat(),
    );
    let channel = [&[1, 0, 1, 0][..], &text("/endless"), &text("cdr"), &text("")].concat();
    record(4, &channel);
    // The message's head: channel, number and two time stamps, after an opcode and a length.
    let message = [&[5][..], &(bytes as u64 - 9).to_le_bytes(), &[1, 0]].concat();
    let packed = packed_zeros(&message, bytes - message.len());
    let sizes = [&[0; 16][..], &(bytes as u64).to_le_bytes(), &[0; 4]].concat();
    let packed = [&(packed.len() as u64).to_le_bytes()[..], &packed].concat();
    let chunk = [&sizes[..], &text("zstd"), &packed].concat();
    // The channel, and an entry of 16 bytes with the message's time and position.
    let message_index = [&[1, 0][..], &16_u32.to_le_bytes(), &[0; 16]].concat();
    for _ in 0..chunks {
        record(6, &chunk);
        record(7, &message_index);
    }
    std::fs::write(&path, file).unwrap();
    path
}
