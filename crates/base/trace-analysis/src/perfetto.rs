//! A trace as Chrome's trace events in JSON, which ui.perfetto.dev opens: a track for each thread,
//! a slice for each piece of work, an arrow from each publication to its callbacks.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::merge::Trace;
use feros_trace::{EndpointName, Event, Point, ThreadEvents};

use crate::read::Process;

/// The pieces of work: the point where each begins, the point where it ends, and its name.
const SLICES: [(Point, Point, &str); 8] = [
    (Point::Publish, Point::PublishEnd, "publish"),
    (Point::SerializeBegin, Point::SerializeEnd, "serialize"),
    (Point::WriteBegin, Point::WriteEnd, "write"),
    (Point::Received, Point::Announced, "receive"),
    (Point::TurnBegin, Point::Taken, "take"),
    (Point::DeserializeBegin, Point::Callback, "deserialize"),
    (Point::Callback, Point::CallbackEnd, "callback"),
    (Point::Found, Point::TurnBegin, "queue"),
];

impl Trace {
    /// Writes the trace as Chrome's trace events.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn write_perfetto(&self, out: impl Write) -> io::Result<()> {
        let mut out = List { out, has_any: false };
        let first = self.events().map(|(_, event, _)| event.at_nanos).min().unwrap_or(0);
        out.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
        for process in &self.processes {
            let name = json!({"ph": "M", "name": "process_name", "pid": process.process, "args": {"name": process.program}});
            out.push(&name)?;
            for (index, thread) in process.threads.iter().enumerate() {
                Track { process, number: track_number(thread, index), thread, first }
                    .write(&mut out)?;
            }
        }
        self.arrows(first, &mut out)?;
        out.out.write_all(b"\n]}\n")?;
        out.out.flush()
    }

    /// Writes an arrow from each publication to each of its callbacks.
    fn arrows(&self, first: u64, out: &mut List<impl Write>) -> io::Result<()> {
        let mut begins = HashMap::new();
        let mut ends = Vec::new();
        for process in &self.processes {
            for (index, thread) in process.threads.iter().enumerate() {
                let place = (process.process, track_number(thread, index));
                for event in &thread.events {
                    let key = (event.message.publisher, event.message.stamp);
                    match event.point {
                        Point::Publish => drop(begins.insert(key, (place, event.at_nanos))),
                        Point::Callback => ends.push((key, place, event.at_nanos)),
                        _ => {}
                    }
                }
            }
        }
        for (id, (key, (process, thread), at)) in ends.into_iter().enumerate() {
            let Some(((from_process, from_thread), begin)) = begins.get(&key) else { continue };
            let common = |ph, process, thread, at| json!({"ph": ph, "id": id, "cat": "message", "name": "message", "pid": process, "tid": thread, "ts": micros(at, first)});
            out.push(&common("s", *from_process, *from_thread, *begin))?;
            let mut end = common("f", process, thread, at);
            end["bp"] = "e".into(); // to the enclosing slice, not the next
            out.push(&end)?;
        }
        Ok(())
    }
}

/// The track's number, which is the thread's id; a thread without a known id gets a number of its
/// own.
fn track_number(thread: &ThreadEvents, index: usize) -> u64 {
    if thread.thread > 0 { thread.thread } else { 1 << 32 | index as u64 }
}

fn micros(at: u64, first: u64) -> f64 {
    at.saturating_sub(first) as f64 / 1000.0
}

struct Track<'a> {
    process: &'a Process,
    number: u64,
    thread: &'a ThreadEvents,
    first: u64,
}

impl Track<'_> {
    fn write(&self, out: &mut List<impl Write>) -> io::Result<()> {
        let Self { process, number, thread, .. } = self;
        let name = json!({"ph": "M", "name": "thread_name", "pid": process.process, "tid": number, "args": {"name": thread.name}});
        out.push(&name)?;
        let mut open: HashMap<_, &Event> = HashMap::new();
        for event in &thread.events {
            let endpoint = process.endpoints.get(&event.endpoint);
            let key = |slice: usize| {
                (
                    slice,
                    event.message.publisher,
                    event.message.stamp,
                    event.endpoint,
                    event.transport,
                )
            };
            let mut is_slice = false;
            for (slice, (begin, end, name)) in SLICES.into_iter().enumerate() {
                if event.point == begin {
                    open.insert(key(slice), event);
                    is_slice = true;
                } else if event.point == end
                    && let Some(begin) = open.remove(&key(slice))
                {
                    out.push(&self.slice(name, begin, event.at_nanos, endpoint))?;
                    is_slice = true;
                }
            }
            if !is_slice {
                out.push(&self.instant(event, endpoint))?;
            }
        }
        Ok(())
    }

    fn slice(&self, name: &str, begin: &Event, end: u64, endpoint: Option<&EndpointName>) -> Value {
        let mut slice = self.instant(begin, endpoint);
        let topic = endpoint.map_or("", |endpoint| endpoint.topic.as_str());
        slice["ph"] = "X".into();
        slice["name"] = format!("{name} {topic}").trim_end().into();
        slice["dur"] = micros(end, begin.at_nanos).into();
        slice
    }

    fn instant(&self, event: &Event, endpoint: Option<&EndpointName>) -> Value {
        json!({
            "ph": "i",
            "s": "t",
            "cat": event.transport.map_or("client", |transport| transport.name()),
            "name": event.point.name(),
            "pid": self.process.process,
            "tid": self.number,
            "ts": micros(event.at_nanos, self.first),
            "args": {
                "topic": endpoint.map(|endpoint| &endpoint.topic),
                "number": event.message.number,
                "stamp": event.message.stamp.to_string(),
            },
        })
    }
}

/// Writes the elements of a JSON list.
struct List<W> {
    out: W,
    has_any: bool,
}

impl<W: Write> List<W> {
    fn push(&mut self, element: &Value) -> io::Result<()> {
        if std::mem::replace(&mut self.has_any, true) {
            self.out.write_all(b",\n")?;
        }
        serde_json::to_writer(&mut self.out, element).map_err(io::Error::from)
    }
}
