//! Reads the SQLite files of rosbag2, of all versions of its tables.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags, Row, params_from_iter, types::Value};

use crate::error::ReadError;
use crate::message::{BagMessage, BagTopic, MessageFilter};
use crate::metadata::{TimeRange, TopicMetadata};
use crate::qos;
use crate::yaml::Node;
use feros_message::Schema;

/// Bytes of messages that are read at once.
const BATCH_BYTES: usize = 16 << 20;
/// Messages that are read at once.
const BATCH_MESSAGES: usize = 1024;

/// An open file.
pub(crate) struct SqliteFile {
    path: PathBuf,
    limit: usize,
    topics: HashMap<i64, (Arc<BagTopic>, u64)>,
    pub(crate) time: Option<TimeRange>,
}

fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> ReadError + '_ {
    move |error| ReadError::malformed(path, error)
}

fn connect(path: &Path) -> Result<Connection, ReadError> {
    // SQLite would say the same of a missing file and of a locked one.
    std::fs::File::open(path).map_err(|error| ReadError::io(path, &error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(failed(path))
}

impl SqliteFile {
    /// Opens a file, and counts its messages by topic.
    pub(crate) fn open(path: &Path, limit: usize) -> Result<Self, ReadError> {
        let connection = connect(path)?;
        let columns = columns_of(&connection, "topics").map_err(failed(path))?;
        if columns.is_empty() {
            return Err(ReadError::malformed(path, "it has no table of topics: it is no bag"));
        }
        let schemas = read_schemas(&connection).map_err(failed(path))?;
        let counts = read_counts(&connection).map_err(failed(path))?;
        let optional = |column: &str| {
            if columns.iter().any(|known| known == column) {
                column.to_owned()
            } else {
                "''".into()
            }
        };
        let query = format!(
            "SELECT id, name, type, serialization_format, {}, {} FROM topics",
            optional("offered_qos_profiles"),
            optional("type_description_hash")
        );
        let mut statement = connection.prepare(&query).map_err(failed(path))?;
        let rows = statement
            .query_map([], |row| Ok((row.get::<_, i64>(0)?, topic_of(row)?)))
            .map_err(failed(path))?;
        let mut topics = HashMap::new();
        for row in rows {
            let (id, metadata) = row.map_err(failed(path))?;
            let schema = schemas.get(&metadata.type_name).cloned().unwrap_or_default();
            let count = counts.get(&id).copied().unwrap_or(0);
            topics.insert(id, (Arc::new(BagTopic { metadata, schema }), count));
        }
        let time = connection
            .query_row("SELECT min(timestamp), max(timestamp) FROM messages", [], |row| {
                Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
            })
            .map_err(failed(path))?;
        let time = time.0.zip(time.1).map(|(start, end)| TimeRange { start, end });
        Ok(Self { path: path.to_owned(), limit, topics, time })
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
        let topics = self.topics.iter();
        let wanted = topics.filter(|(_, (topic, _))| filter.has_topic(&topic.metadata.name));
        Ok(SqliteMessages {
            connection: connect(&self.path)?,
            path: self.path.clone(),
            limit: self.limit,
            topics: wanted.map(|(id, (topic, _))| (*id, topic.clone())).collect(),
            after: (filter.start.unwrap_or(i64::MIN), i64::MIN),
            end: filter.end.unwrap_or(i64::MAX),
            batch: Vec::new().into_iter(),
            is_at_end: false,
        })
    }
}

/// The messages of a file, one after the other; read in batches, so that no statement stays open.
pub(crate) struct SqliteMessages {
    connection: Connection,
    path: PathBuf,
    limit: usize,
    topics: HashMap<i64, Arc<BagTopic>>,
    /// Time and row of the last message that was read.
    after: (i64, i64),
    end: i64,
    batch: std::vec::IntoIter<BagMessage>,
    is_at_end: bool,
}

impl SqliteMessages {
    /// The next message; `None` at the end. After an error there is nothing.
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
        let places = vec!["?"; self.topics.len()].join(",");
        let query = format!(
            "SELECT id, topic_id, timestamp, length(data), data FROM messages \
             WHERE (timestamp > ?1 OR (timestamp = ?1 AND id > ?2)) AND timestamp <= ?3 \
             AND topic_id IN ({places}) ORDER BY timestamp, id"
        );
        let bounds = [self.after.0, self.after.1, self.end];
        let numbers = bounds.into_iter().chain(self.topics.keys().copied()).map(Value::Integer);
        let path = self.path.clone();
        let mut statement = self.connection.prepare_cached(&query).map_err(failed(&path))?;
        let mut rows = statement.query(params_from_iter(numbers)).map_err(failed(&path))?;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES && batch.len() < BATCH_MESSAGES {
            let Some(row) = rows.next().map_err(failed(&path))? else {
                self.is_at_end = true;
                break;
            };
            let length: i64 = row.get(3).map_err(failed(&path))?;
            let length = u64::try_from(length).unwrap_or(0);
            if length > self.limit as u64 {
                let limit = self.limit;
                return Err(ReadError::TooLarge { path, bytes: length, limit });
            }
            let (message, id) = self.message(row).map_err(failed(&path))?;
            self.after = (message.log_time, id);
            bytes += message.data.len();
            batch.push(message);
        }
        Ok(batch)
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

fn columns_of(connection: &Connection, table: &str) -> Result<Vec<String>, rusqlite::Error> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let columns = statement.query_map([table], |row| row.get(0))?;
    columns.collect()
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

/// Definitions by type, which files have since ROS 2 Iron.
fn read_schemas(connection: &Connection) -> Result<HashMap<String, Schema>, rusqlite::Error> {
    if columns_of(connection, "message_definitions")?.is_empty() {
        return Ok(HashMap::new());
    }
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
