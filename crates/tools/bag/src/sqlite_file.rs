//! Reads the SQLite files of rosbag2, of all versions of its tables.
//!
//! A hostile file can have views and computed columns instead of tables, so that a query never
//! ends. It can have pages that refer to each other, with more rows than the file has bytes, and
//! there can be journals next to the file. So only tables are read, the size of the file limits the
//! steps of a query, and the caller can interrupt a query.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use feros_sync::{AtomicU64, Mutex, Ordering};
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, params};

use crate::error::ReadError;
use crate::interrupt::Interrupt;
use crate::message::{BagMessage, BagTopic, MessageFilter};
use crate::metadata::{TimeRange, TopicMetadata};
use crate::qos;
use crate::unpacking::unpack_to;
use crate::yaml::Node;
use feros_message::Schema;

/// The limit on bytes of messages that are read at once.
const BATCH_BYTES: usize = 16 << 20;
/// The limit on messages that are read at once.
const BATCH_MESSAGES: usize = 1024;
/// The number of SQLite's steps between two checks for an interrupt.
const STEPS: i32 = 10_000;
/// The steps that any query may take; each byte of the file adds `STEPS_OF_A_BYTE`. A message has
/// at least 20 bytes in the file, and reading it takes fewer than 40 steps.
const STEPS_IN_ANY_CASE: u64 = 10_000_000;
const STEPS_OF_A_BYTE: u64 = 64;
/// A row may always have this many bytes; a larger row may have at most as many bytes as its file.
const ROW_IN_ANY_CASE: u64 = 1 << 20;

/// An open file.
pub(crate) struct SqliteFile {
    database: Arc<Database>,
    limit: usize,
    topics: HashMap<i64, (Arc<BagTopic>, u64)>,
    pub(crate) time: Option<TimeRange>,
    /// Whether the file has an index of the messages in order of time, which recorders create.
    is_in_order: bool,
}

/// A file that SQLite reads.
struct Database {
    path: PathBuf,
    connection: Mutex<Connection>,
    interrupt: Interrupt,
    /// The steps that a query may take; `steps` counts those that are left.
    most_steps: u64,
    steps: Arc<AtomicU64>,
}

impl Database {
    /// Opens an uncompressed file.
    fn open(path: &Path, interrupt: &Interrupt) -> Result<Self, ReadError> {
        let io = |error: std::io::Error| ReadError::io(path, &error);
        // SQLite reports missing and locked files with the same error, and would block on a pipe.
        let bytes = feros_files::open(path).and_then(|file| file.metadata()).map_err(io)?.len();
        for end in ["-journal", "-wal", "-shm"] {
            let mut beside = path.as_os_str().to_owned();
            beside.push(end);
            let beside = Path::new(&beside);
            if beside.exists() {
                feros_files::open(beside).map_err(|error| ReadError::io(beside, &error))?;
            }
        }
        Self::new(path, connect(path).map_err(|error| failed(path, &error))?, bytes, interrupt)
    }

    /// Unpacks the file into a temporary one, which is unlinked as soon as SQLite has opened it.
    fn unpack(path: &Path, interrupt: &Interrupt) -> Result<Self, ReadError> {
        let io = |error: std::io::Error| ReadError::io(path, &error);
        let (file, name) = tempfile::NamedTempFile::new().map_err(io)?.into_parts();
        let connection = connect(&name).map_err(|error| failed(path, &error))?;
        name.close().map_err(io)?;
        unpack_to(path, &file, interrupt)?;
        without_journal(&file).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        Self::new(path, connection, bytes, interrupt)
    }

    fn new(
        path: &Path,
        connection: Connection,
        bytes: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, ReadError> {
        let most_steps = bytes.saturating_mul(STEPS_OF_A_BYTE).saturating_add(STEPS_IN_ANY_CASE);
        let steps = Arc::new(AtomicU64::new(most_steps));
        let (left, ended) = (steps.clone(), interrupt.clone());
        connection.progress_handler(
            STEPS,
            Some(move || {
                let took = STEPS.unsigned_abs().into();
                let took = |left: u64| left.checked_sub(took);
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, took).is_err()
                    || ended.is_set()
            }),
        );
        let row_bytes = i32::try_from(bytes.max(ROW_IN_ANY_CASE)).unwrap_or(i32::MAX);
        let set = connection
            .set_limit(Limit::SQLITE_LIMIT_LENGTH, row_bytes)
            .and_then(|_| connection.execute_batch(CAREFUL));
        set.map_err(|error| failed(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            connection: Mutex::new(connection),
            interrupt: interrupt.clone(),
            most_steps,
            steps,
        })
    }

    /// Runs a query with all its steps available again.
    fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T, ReadError> {
        self.interrupt.check(&self.path)?;
        self.steps.store(self.most_steps, Ordering::Relaxed);
        read(&self.connection.lock()).map_err(|error| {
            let is_ended = error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted);
            match (is_ended, self.interrupt.check(&self.path)) {
                (true, Err(interrupted)) => interrupted,
                (true, Ok(())) => ReadError::malformed(
                    &self.path,
                    format!(
                        "a query took {} steps, more than a file of its size can need: no recorder \
                         writes such a file",
                        self.most_steps
                    ),
                ),
                (false, _) => failed(&self.path, &error),
            }
        })
    }

    /// Returns the columns of a table; an empty list if the table does not exist. A view or a
    /// virtual table of this name is an error.
    fn columns_of(&self, table: &str) -> Result<Vec<String>, ReadError> {
        let is_table = |row: &Row<'_>| {
            let (kind, root): (String, i64) = (row.get(0)?, row.get(1)?);
            Ok(kind == "table" && root > 0)
        };
        let (entries, columns) = self.read(|connection| {
            let query = "SELECT type, rootpage FROM sqlite_schema WHERE lower(name) = ?1";
            let mut statement = connection.prepare(query)?;
            let entries = statement.query_map([table], is_table)?.collect::<Result<Vec<_>, _>>()?;
            let query = "SELECT name, hidden FROM pragma_table_xinfo(?1)";
            let mut statement = connection.prepare(query)?;
            let column = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
            let columns = statement.query_map([table], column)?.collect::<Result<Vec<_>, _>>()?;
            Ok((entries, columns))
        })?;
        if entries.iter().all(|is_table| *is_table) && columns.iter().all(|column| column.1 == 0) {
            return Ok(columns.into_iter().map(|(name, _)| name).collect());
        }
        let reason = format!(
            "`{table}` is not a plain table, but a view or a computed table: no recorder writes \
             such a file"
        );
        Err(ReadError::malformed(&self.path, reason))
    }
}

/// Settings for hostile files: their schemas may call no functions, pages are checked, and a file
/// that shrinks does not crash the process, since it is not mapped.
const CAREFUL: &str = "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;";

fn failed(path: &Path, error: &rusqlite::Error) -> ReadError {
    ReadError::malformed(path, error)
}

fn connect(path: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
}

/// Changes the header of a file that was written with a write-ahead log (WAL), so that SQLite reads
/// it without the log.
fn without_journal(file: &File) -> std::io::Result<()> {
    /// The position in the header of the two versions, for writing and for reading.
    const VERSIONS_AT: u64 = 18;
    let mut versions = [0; 2];
    match file.read_exact_at(&mut versions, VERSIONS_AT) {
        Ok(()) if versions == [2, 2] => file.write_all_at(&[1, 1], VERSIONS_AT),
        _ => Ok(()),
    }
}

impl SqliteFile {
    /// Opens a file, and counts its messages by topic.
    pub(crate) fn open(
        path: &Path,
        is_packed: bool,
        limit: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, ReadError> {
        let database = match is_packed {
            true => Database::unpack(path, interrupt)?,
            false => Database::open(path, interrupt)?,
        };
        let columns = database.columns_of("topics")?;
        if columns.is_empty() || database.columns_of("messages")?.is_empty() {
            let reason = "it has no table of topics or messages, so it is not a bag";
            return Err(ReadError::malformed(path, reason));
        }
        let has_schemas = !database.columns_of("message_definitions")?.is_empty();
        let schemas = if has_schemas { database.read(read_schemas)? } else { HashMap::new() };
        let counts = database.read(read_counts)?;
        let mut topics = HashMap::new();
        for (id, metadata) in database.read(|connection| read_topics(connection, &columns))? {
            let schema = schemas.get(&metadata.type_name).cloned().unwrap_or_default();
            let count = counts.get(&id).copied().unwrap_or(0);
            topics.insert(id, (Arc::new(BagTopic { metadata, schema }), count));
        }
        let time = database.read(|connection| {
            connection.query_row("SELECT min(timestamp), max(timestamp) FROM messages", [], |row| {
                Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
            })
        })?;
        let time = time.0.zip(time.1).map(|(start, end)| TimeRange { start, end });
        let is_in_order = database.read(is_in_order)?;
        Ok(Self { database: Arc::new(database), limit, topics, time, is_in_order })
    }

    /// The topics with the number of their messages, by name.
    pub(crate) fn topics(&self) -> Vec<(Arc<BagTopic>, u64)> {
        let mut topics: Vec<_> = self.topics.values().cloned().collect();
        topics.sort_by(|a, b| a.0.metadata.name.cmp(&b.0.metadata.name));
        topics
    }

    pub(crate) fn message_count(&self) -> u64 {
        self.topics.values().map(|(_, count)| count).sum()
    }

    /// The messages that pass a filter, in the order of time.
    pub(crate) fn messages(&self, filter: &MessageFilter) -> Result<SqliteMessages, ReadError> {
        if !self.is_in_order {
            self.database.read(|connection| connection.execute_batch(PUT_IN_ORDER))?;
        }
        let topics = self.topics.iter();
        let wanted = topics.filter(|(_, (topic, _))| filter.has_topic(&topic.metadata.name));
        let topics: HashMap<_, _> = wanted.map(|(id, (topic, _))| (*id, topic.clone())).collect();
        let numbers: Vec<String> = topics.keys().map(i64::to_string).collect();
        Ok(SqliteMessages {
            database: self.database.clone(),
            limit: self.limit,
            query: if self.is_in_order { QUERY } else { QUERY_IN_ORDER },
            topics,
            numbers: format!("[{}]", numbers.join(",")),
            after: (filter.start.unwrap_or(i64::MIN), i64::MIN),
            end: filter.end.unwrap_or(i64::MAX),
            batch: Vec::new().into_iter(),
            is_at_end: false,
        })
    }
}

// The topics are a JSON list, so that one statement serves any number of topics.
const QUERY: &str = "SELECT id, topic_id, timestamp, length(data), data FROM messages \
     WHERE timestamp >= ?1 AND (timestamp > ?1 OR id > ?2) AND timestamp <= ?3 \
     AND topic_id IN (SELECT value FROM json_each(?4)) ORDER BY timestamp, id";
/// The same query for a file without an index by time. It uses a temporary table with the order,
/// since sorting all messages would otherwise repeat for each batch.
const QUERY_IN_ORDER: &str = "SELECT m.id, m.topic_id, m.timestamp, length(m.data), m.data \
     FROM temp.in_order AS o CROSS JOIN main.messages AS m ON m.rowid = o.row \
     WHERE o.time >= ?1 AND (o.time > ?1 OR o.number > ?2) AND o.time <= ?3 \
     AND m.topic_id IN (SELECT value FROM json_each(?4)) ORDER BY o.time, o.number";
const PUT_IN_ORDER: &str = "CREATE TEMP TABLE IF NOT EXISTS in_order AS \
     SELECT rowid AS row, timestamp AS time, id AS number FROM main.messages; \
     CREATE INDEX IF NOT EXISTS temp.by_time ON in_order(time, number);";

fn is_in_order(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let query = "SELECT count(*) FROM pragma_index_list('messages') AS list \
         JOIN pragma_index_info(list.name) AS info \
         WHERE info.seqno = 0 AND info.name = 'timestamp' AND list.partial = 0";
    connection.query_row(query, [], |row| Ok(row.get::<_, i64>(0)? > 0))
}

/// The messages of a file; they are read in batches, so that no statement stays open.
pub(crate) struct SqliteMessages {
    database: Arc<Database>,
    limit: usize,
    query: &'static str,
    topics: HashMap<i64, Arc<BagTopic>>,
    /// The numbers of the topics, as a JSON list.
    numbers: String,
    /// The time and row of the last message that was read.
    after: (i64, i64),
    end: i64,
    batch: std::vec::IntoIter<BagMessage>,
    is_at_end: bool,
}

impl SqliteMessages {
    /// The next message; `None` at the end and after an error.
    pub(crate) fn next_message(&mut self) -> Option<Result<BagMessage, ReadError>> {
        loop {
            if let Some(message) = self.batch.next() {
                return Some(Ok(message));
            }
            if self.is_at_end || self.topics.is_empty() {
                return None;
            }
            match self.read_batch() {
                Ok(batch) => self.batch = batch.into_iter(),
                Err(error) => {
                    self.is_at_end = true;
                    return Some(Err(error));
                }
            }
        }
    }

    fn read_batch(&mut self) -> Result<Vec<BagMessage>, ReadError> {
        let database = self.database.clone();
        let mut too_large = None;
        let batch = database.read(|connection| {
            let mut statement = connection.prepare_cached(self.query)?;
            let bounds = params![self.after.0, self.after.1, self.end, self.numbers];
            let mut rows = statement.query(bounds)?;
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while bytes < BATCH_BYTES && batch.len() < BATCH_MESSAGES {
                let Some(row) = rows.next()? else {
                    self.is_at_end = true;
                    break;
                };
                let length = u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0);
                if length > self.limit as u64 {
                    too_large = Some(length);
                    break;
                }
                let (message, id) = self.message(row)?;
                self.after = (message.log_time, id);
                bytes += message.data.len();
                batch.push(message);
            }
            Ok(batch)
        })?;
        let too_large = too_large.map(|bytes| {
            let path = database.path.clone();
            ReadError::TooLarge { path, bytes, limit: self.limit }
        });
        too_large.map_or(Ok(batch), Err)
    }

    fn message(&self, row: &Row<'_>) -> Result<(BagMessage, i64), rusqlite::Error> {
        let topic: i64 = row.get(1)?;
        let log_time = row.get(2)?;
        let message = BagMessage {
            topic: self.topics[&topic].clone(),
            log_time,
            publish_time: log_time,
            sequence: 0,
            data: row.get(4)?,
        };
        Ok((message, row.get(0)?))
    }
}

fn read_topics(
    connection: &Connection,
    columns: &[String],
) -> Result<Vec<(i64, TopicMetadata)>, rusqlite::Error> {
    let optional = |column| if columns.iter().any(|known| known == column) { column } else { "''" };
    let query = format!(
        "SELECT id, name, type, serialization_format, {}, {} FROM topics",
        optional("offered_qos_profiles"),
        optional("type_description_hash")
    );
    let mut statement = connection.prepare(&query)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, topic_of(row)?)))?;
    rows.collect()
}

fn topic_of(row: &Row<'_>) -> Result<TopicMetadata, rusqlite::Error> {
    let profiles: String = row.get(4)?;
    Ok(TopicMetadata {
        name: row.get(1)?,
        type_name: row.get(2)?,
        serialization_format: row.get(3)?,
        offered_qos_profiles: qos::read_profiles(&Node::Scalar(profiles)).unwrap_or_default(),
        type_description_hash: row.get(5)?,
    })
}

/// Returns the definitions by type; files contain them since ROS 2 Iron.
fn read_schemas(connection: &Connection) -> Result<HashMap<String, Schema>, rusqlite::Error> {
    let query = "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions";
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, Schema { encoding: row.get(1)?, text: row.get(2)? }))
    })?;
    rows.collect()
}

fn read_counts(connection: &Connection) -> Result<HashMap<i64, u64>, rusqlite::Error> {
    let query = "SELECT topic_id, count(*) FROM messages GROUP BY topic_id";
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map([], |row| {
        let count: i64 = row.get(1)?;
        Ok((row.get(0)?, u64::try_from(count).unwrap_or(0)))
    })?;
    rows.collect()
}
