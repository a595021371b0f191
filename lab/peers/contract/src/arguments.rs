//! The arguments that the laboratory appends to a peer's program, and the payloads and stamps,
//! which depend only on them.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use crate::time::{compute, now_nanos, wait_for_end_of_input};
use crate::words::{
    Durability, Executor, Fill, History, MessageType, Placement, PublishMode, Reliability, Role,
    Topology, one_of,
};

/// An argument that only this peer has.
#[derive(Debug, Clone, Copy)]
pub struct Extra<'a> {
    /// The name, with its dashes.
    pub name: &'a str,
    /// The allowed values; if empty, any value is allowed.
    pub allowed: &'a [&'a str],
    /// The default value.
    pub default: &'a str,
}

/// The arguments of a run.
#[derive(Debug, Clone)]
pub struct Arguments {
    /// The role of this program.
    pub role: Role,
    /// The placement of the publisher relative to the subscriptions.
    pub placement: Placement,
    /// The topic; for a relay and a chain, the topic that it receives from.
    pub topic: String,
    /// The topic on which a relay publishes.
    pub to: String,
    /// The message type.
    pub payload: MessageType,
    /// The size of a payload, in octets or characters.
    pub size_bytes: usize,
    /// The publishing rate in messages per second; 0 means without pause.
    pub rate_hz: f64,
    /// The number of messages after the warm-up.
    pub count: u64,
    /// If not 0, the program sends as many messages as this time allows, instead of `count`.
    pub seconds: f64,
    /// The number of messages before the measured ones.
    pub warm_up: u64,
    /// Whether lost messages are sent again.
    pub reliability: Reliability,
    /// Whether late subscriptions get earlier messages.
    pub durability: Durability,
    /// Which messages are kept for delivery.
    pub history: History,
    /// The depth of [`History::KeepLast`].
    pub depth: usize,
    /// The deadline that is offered and requested.
    pub deadline: Option<Duration>,
    /// The thread that sends.
    pub publish: PublishMode,
    /// The time at which this program must end, on the clock of [`now_nanos`].
    pub end_nanos: u64,
    /// Whether samples are reported, instead of only counts.
    pub keeps_samples: bool,
    /// The part of each payload that is written before it is published.
    pub fill: Fill,
    /// The processor time that each callback uses.
    pub work: Duration,
    /// The executor that runs callbacks.
    pub executor: Executor,
    /// The number of subscriptions that a talker waits for.
    pub matched: usize,
    /// The index among several listeners, relays or members.
    pub index: usize,
    /// The number of subscriptions of a pair.
    pub subscriptions: usize,
    /// The number of nodes of a chain or of `nodes`, or of all members of a robot.
    pub nodes: usize,
    /// The topics that join the members of a robot.
    pub topology: Topology,
    /// The number of entities of an executor that are never ready.
    pub idle: usize,
    extras: BTreeMap<String, String>,
}

fn parse<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("{name} {text}: {error}"))
}

fn number(name: &str, text: &str, most: f64) -> Result<f64, String> {
    let value = parse::<f64>(name, text)?;
    if (0.0..=most).contains(&value) {
        return Ok(value);
    }
    Err(format!("{name} {text}: it takes a number from 0 to {most}"))
}

impl Arguments {
    /// Reads pairs of a name and a value.
    ///
    /// # Errors
    /// If an argument is unknown or wrong; the sentence names it and, if it is wrong, the allowed
    /// values.
    pub fn parse(
        words: impl IntoIterator<Item = String>,
        extras: &[Extra<'_>],
    ) -> Result<Self, String> {
        let mut found = Self {
            role: Role::Talker,
            placement: Placement::Local,
            topic: "feros_lab".into(),
            to: "feros_lab_to".into(),
            payload: MessageType::Bytes,
            size_bytes: 256,
            rate_hz: 100.0,
            count: 100,
            seconds: 0.0,
            warm_up: 10,
            reliability: Reliability::Reliable,
            durability: Durability::Volatile,
            history: History::KeepLast,
            depth: 10,
            deadline: None,
            publish: PublishMode::Default,
            end_nanos: now_nanos() + 60_000_000_000,
            keeps_samples: true,
            fill: Fill::None,
            work: Duration::ZERO,
            executor: Executor::Default,
            matched: 1,
            index: 0,
            subscriptions: 1,
            nodes: 3,
            topology: Topology::Ring,
            idle: 0,
            extras: extras
                .iter()
                .map(|extra| (extra.name.to_owned(), extra.default.to_owned()))
                .collect(),
        };
        let mut words = words.into_iter();
        let mut has_role = false;
        while let Some(name) = words.next() {
            let value = words.next().ok_or_else(|| format!("{name}: its value is missing"))?;
            has_role |= name == "--role";
            match extras.iter().find(|extra| extra.name == name) {
                Some(extra)
                    if !extra.allowed.is_empty() && !extra.allowed.contains(&value.as_str()) =>
                {
                    return Err(format!("{name} {value}: {}", one_of(extra.allowed)));
                }
                Some(_) => drop(found.extras.insert(name, value)),
                None => found.take(&name, &value)?,
            }
        }
        if !has_role {
            return Err("--role is needed".into());
        }
        found.check()
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "--role" => self.role = parse(name, value)?,
            "--placement" => self.placement = parse(name, value)?,
            "--topic" => value.clone_into(&mut self.topic),
            "--to" => value.clone_into(&mut self.to),
            "--type" => self.payload = parse(name, value)?,
            "--size" => self.size_bytes = parse(name, value)?,
            "--rate" => self.rate_hz = number(name, value, 1e7)?,
            "--count" => self.count = parse(name, value)?,
            "--seconds" => self.seconds = number(name, value, 1e6)?,
            "--warm-up" => self.warm_up = parse(name, value)?,
            "--reliability" => self.reliability = parse(name, value)?,
            "--durability" => self.durability = parse(name, value)?,
            "--history" => self.history = parse(name, value)?,
            "--depth" => self.depth = parse(name, value)?,
            "--deadline-ms" => {
                let millis = number(name, value, 1e9)?;
                self.deadline = (millis > 0.0).then(|| Duration::from_secs_f64(millis / 1000.0));
            }
            "--publish" => self.publish = parse(name, value)?,
            "--timeout" => self.end_nanos = now_nanos() + (number(name, value, 1e6)? * 1e9) as u64,
            "--samples" => {
                self.keeps_samples = match value {
                    "all" => true,
                    "none" => false,
                    _ => return Err(format!("{name} {value}: {}", one_of(&["all", "none"]))),
                }
            }
            "--fill" => self.fill = parse(name, value)?,
            "--work-micros" => self.work = Duration::from_micros(parse(name, value)?),
            "--executor" => self.executor = parse(name, value)?,
            "--matched" => self.matched = parse(name, value)?,
            "--index" => self.index = parse(name, value)?,
            "--subscriptions" => self.subscriptions = parse(name, value)?,
            "--nodes" => self.nodes = parse(name, value)?,
            "--topology" => self.topology = parse(name, value)?,
            "--idle" => self.idle = parse(name, value)?,
            _ => return Err(format!("{name}: this argument is not known")),
        }
        Ok(())
    }

    fn check(mut self) -> Result<Self, String> {
        let is_sent = !matches!(
            self.role,
            Role::Nodes | Role::Graph | Role::Executor | Role::Member | Role::Newcomer
        );
        if is_sent && self.size_bytes < self.stamp_bytes() {
            return Err(format!(
                "--size {}: the payload has no room for the stamp",
                self.size_bytes
            ));
        }
        if self.size_bytes > 1 << 30 {
            return Err(format!("--size {}: it takes a number up to {}", self.size_bytes, 1 << 30));
        }
        let least_nodes = if self.role == Role::Chain { 2 } else { 1 };
        if self.nodes < least_nodes || self.subscriptions == 0 || self.depth == 0 {
            return Err(format!(
                "--nodes takes {least_nodes} or more, --subscriptions and --depth 1 or more"
            ));
        }
        if self.role == Role::Member && self.index >= self.nodes {
            return Err(format!(
                "--index {}: there are {} members, and the first has the index 0",
                self.index, self.nodes
            ));
        }
        // Samples come from the listener at the end of a chain.
        self.keeps_samples &= self.role != Role::Relay;
        Ok(self)
    }

    /// The value of an argument that only this peer has; empty if it was not declared.
    pub fn extra(&self, name: &str) -> &str {
        self.extras.get(name).map_or("", String::as_str)
    }

    /// The same arguments, but with counts instead of samples, for relays within a chain.
    pub fn without_samples(&self) -> Self {
        Self { keeps_samples: false, ..self.clone() }
    }

    /// The number of messages of this run, if it is known in advance.
    pub fn messages(&self) -> Option<u64> {
        (self.seconds == 0.0).then_some(self.warm_up + self.count)
    }

    /// Whether standard input has ended or the time is over; if so, the program ends with the
    /// samples that it has.
    pub fn is_stopped(&self) -> bool {
        self.wait_stopped(Duration::ZERO)
    }

    /// Waits up to this long for [`Self::is_stopped`].
    pub fn wait_stopped(&self, patience: Duration) -> bool {
        let left = self.end_nanos.saturating_sub(now_nanos());
        wait_for_end_of_input((patience.as_nanos() as u64).min(left))
            || now_nanos() >= self.end_nanos
    }

    /// Waits until `is_met`, for at most `most`, and no longer if the program must stop.
    pub fn wait_until(&self, most: Duration, is_met: impl Fn() -> bool) {
        let until = now_nanos() + most.as_nanos() as u64;
        while !is_met() && now_nanos() < until && !self.wait_stopped(Duration::from_millis(2)) {}
    }

    pub(crate) fn work(&self) {
        compute(self.work.as_nanos() as u64);
    }

    fn stamp_bytes(&self) -> usize {
        match self.payload {
            MessageType::Bytes => 16,
            MessageType::String => 32,
        }
    }

    /// The value of each byte of a message with [`Fill::Each`], except for its stamp.
    fn filling(&self, number: u64) -> u8 {
        match self.payload {
            MessageType::Bytes => number as u8,
            MessageType::String => b'a' + (number % 26) as u8,
        }
    }

    /// Whether the last byte of a payload is the byte that its talker must write; true if payloads
    /// are not filled.
    pub fn is_filled(&self, payload: &[u8], number: u64) -> bool {
        let is_checked = self.fill == Fill::Each && payload.len() > self.stamp_bytes();
        !is_checked || payload.last() == Some(&self.filling(number))
    }

    /// Makes a payload; with [`Fill::None`], only the stamp changes later.
    pub fn payload(&self) -> Vec<u8> {
        vec![if self.payload == MessageType::String { b'z' } else { 0x5a }; self.size_bytes]
    }

    /// Makes a payload as a string, for the type `string`.
    pub fn text_payload(&self) -> String {
        "z".repeat(self.size_bytes)
    }

    /// Fills the payload if the arguments ask for it, writes the stamp and returns its time. The
    /// publish call follows directly.
    ///
    /// # Panics
    /// If the payload is shorter than a stamp. Payloads of [`Self::payload`] never are.
    pub fn stamp(&self, payload: &mut [u8], number: u64) -> u64 {
        self.fill(payload, number);
        let now = now_nanos();
        self.write_stamp(payload, number, now);
        now
    }

    /// Like [`Self::stamp`], for memory that was requested at the time `asked`: requesting memory
    /// is part of publishing, filling it is not.
    ///
    /// # Panics
    /// If the payload is shorter than a stamp.
    pub fn stamp_loan(&self, loan: &mut [u8], number: u64, asked: u64) -> u64 {
        if self.fill == Fill::Each {
            return self.stamp(loan, number);
        }
        self.write_stamp(loan, number, asked);
        asked
    }

    fn fill(&self, payload: &mut [u8], number: u64) {
        if self.fill == Fill::Each {
            payload.fill(self.filling(number));
        }
    }

    fn write_stamp(&self, payload: &mut [u8], number: u64, now: u64) {
        match self.payload {
            MessageType::Bytes => {
                payload[..8].copy_from_slice(&now.to_le_bytes());
                payload[8..16].copy_from_slice(&number.to_le_bytes());
            }
            MessageType::String => {
                payload[..32].copy_from_slice(format!("{now:016x}{number:016x}").as_bytes());
            }
        }
    }

    /// Like [`Self::stamp`], for a string.
    ///
    /// # Panics
    /// If the payload is shorter than a stamp. Payloads of [`Self::text_payload`] never are.
    pub fn stamp_text(&self, payload: &mut String, number: u64) -> u64 {
        if self.fill == Fill::Each {
            let mut bytes = std::mem::take(payload).into_bytes();
            self.fill(&mut bytes, number);
            // The bytes are one repeated letter.
            *payload = String::from_utf8(bytes).unwrap_or_default();
        }
        let now = now_nanos();
        payload.replace_range(..32, &format!("{now:016x}{number:016x}"));
        now
    }

    /// The time and number of a stamp; `None` if the payload is not from this run.
    pub fn read_stamp(&self, payload: &[u8]) -> Option<(u64, u64)> {
        if payload.len() != self.size_bytes {
            return None;
        }
        match self.payload {
            MessageType::Bytes => {
                let word = |at: usize| {
                    payload.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
                };
                Some((word(0)?, word(8)?))
            }
            MessageType::String => {
                let word = |at: usize| {
                    let digits = payload.get(at..at + 16)?;
                    u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
                };
                Some((word(0)?, word(16)?))
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Arguments, String> {
        let extras = [Extra { name: "--form", allowed: &["given", "built"], default: "given" }];
        Arguments::parse(line.split_whitespace().map(str::to_owned), &extras)
    }

    #[test]
    fn names_and_values_are_read_and_wrong_ones_refused() {
        let found =
            of("--role pair --size 64 --type string --form built --seconds 2 --count 0").unwrap();
        assert_eq!(
            (found.role, found.size_bytes, found.extra("--form")),
            (Role::Pair, 64, "built")
        );
        assert_eq!(found.messages(), None);
        for (line, said) in [
            ("--role pair --colour red", "--colour: this argument is not known"),
            ("--role pair --form bent", "given, built"),
            ("--role pair --size", "its value is missing"),
            ("--role singer", "talker, listener"),
            ("--role pair --size 8", "no room"),
            ("--role pair --rate -1", "0 to"),
            ("--role member --nodes 3 --index 3", "there are 3 members"),
            ("--role member --topology star", "ring, one_topic"),
            ("--size 64", "--role is needed"),
        ] {
            let text = of(line).unwrap_err();
            assert!(text.contains(said), "{line}: {text}");
        }
    }

    #[test]
    fn stamps_are_read_as_they_were_written() {
        for kind in ["bytes", "string"] {
            let arguments = of(&format!("--role pair --size 40 --type {kind}")).unwrap();
            let mut payload = arguments.payload();
            let at = arguments.stamp(&mut payload, 77);
            assert_eq!(arguments.read_stamp(&payload), Some((at, 77)));
            assert_eq!(arguments.read_stamp(&payload[1..]), None);
        }
        let arguments = of("--role pair --size 40 --type string").unwrap();
        let mut text = arguments.text_payload();
        let at = arguments.stamp_text(&mut text, 78);
        assert_eq!((arguments.read_stamp(text.as_bytes()), text.len()), (Some((at, 78)), 40));
    }

    #[test]
    fn a_payload_is_filled_anew_where_that_is_asked_for() {
        for kind in ["bytes", "string"] {
            let filling = of(&format!("--role pair --size 40 --type {kind} --fill each")).unwrap();
            let plain = of(&format!("--role pair --size 40 --type {kind}")).unwrap();
            let mut payload = plain.payload();
            plain.stamp(&mut payload, 7);
            assert!(plain.is_filled(&payload, 7));
            assert!(!filling.is_filled(&payload, 7), "it has its stamp alone");
            let asked = now_nanos();
            let at = filling.stamp_loan(&mut payload, 8, asked);
            assert!(at > asked, "filling is no part of publishing");
            assert_eq!(filling.read_stamp(&payload), Some((at, 8)));
            assert!(filling.is_filled(&payload, 8) && !filling.is_filled(&payload, 9));
            assert!(payload[32..].iter().all(|byte| *byte == payload[39]));
            assert_eq!(plain.stamp_loan(&mut payload, 9, asked), asked);
        }
        let filling = of("--role pair --size 40 --type string --fill each").unwrap();
        let mut text = filling.text_payload();
        let at = filling.stamp_text(&mut text, 9);
        assert_eq!((filling.read_stamp(text.as_bytes()), text.len()), (Some((at, 9)), 40));
        assert!(filling.is_filled(text.as_bytes(), 9), "{text}");
    }
}
