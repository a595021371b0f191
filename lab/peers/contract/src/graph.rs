//! Graphs for the role `graph` that a file of `lab/graphs` describes: the steps of their nodes,
//! what each does with a message, and the figures of the whole. How messages travel is up to the
//! peer.

mod figures;

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::time::Duration;

pub use self::figures::Figures;
use crate::time::now_nanos;

const DRIVING: &str = include_str!("../../../graphs/driving.txt");

/// The limits on a description.
const MOST_STEPS: usize = 1000;
const MOST_BYTES: usize = 1 << 20;
const MOST_WORK: u64 = 1 << 24;
const MOST_MILLIS: u64 = 60_000;

/// The kind of work of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Publishes at its period.
    Sensor,
    /// Publishes for each message.
    Transform,
    /// Publishes once it has a message of each input.
    Fusion,
    /// Publishes at its period, from the latest messages.
    Cyclic,
    /// Publishes for each message; its node has several such steps.
    Intersection,
    /// Ends a chain.
    Command,
}

impl Kind {
    const WORDS: [(&'static str, Self); 6] = [
        ("sensor", Self::Sensor),
        ("transform", Self::Transform),
        ("fusion", Self::Fusion),
        ("cyclic", Self::Cyclic),
        ("intersection", Self::Intersection),
        ("command", Self::Command),
    ];

    /// Whether a step of this kind with such inputs makes sense.
    fn allows(self, inputs: usize, has_period: bool, has_output: bool) -> bool {
        match self {
            Self::Sensor => inputs == 0 && has_period && has_output,
            Self::Transform | Self::Intersection => inputs == 1 && !has_period && has_output,
            Self::Fusion => inputs >= 2 && !has_period && has_output,
            Self::Cyclic => inputs >= 1 && has_period && has_output,
            Self::Command => inputs == 1 && !has_period && !has_output,
        }
    }
}

/// A callback of a node, with its topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The kind of work.
    pub kind: Kind,
    /// The name of its node.
    pub node: String,
    /// The number up to which it looks for primes.
    pub work: u64,
    /// The period of its timer, if it has one.
    pub period: Option<Duration>,
    /// The topic that it publishes on.
    pub output: Option<String>,
    /// The topics that it receives from.
    pub inputs: Vec<String>,
}

/// A graph of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// The size of each message.
    pub message_bytes: usize,
    /// The steps of all nodes.
    pub steps: Vec<Step>,
    /// The topics where the chain begins whose latency counts.
    pub path_from: Vec<String>,
    /// The topic where this chain ends.
    pub path_to: String,
}

impl Graph {
    /// The names of all graphs.
    pub const NAMES: &'static [&'static str] = &["driving"];

    /// The graph with this name.
    ///
    /// # Errors
    /// If there is no such graph.
    pub fn named(name: &str) -> Result<Self, String> {
        match name {
            "driving" => Self::parse(DRIVING),
            _ => Err(format!("there is no graph {name}; there are: {}", Self::NAMES.join(", "))),
        }
    }

    /// Reads a description.
    ///
    /// # Errors
    /// If it is wrong; the sentence names the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut bytes, mut path, mut steps) = (None, None, Vec::new());
        for (index, line) in text.lines().enumerate() {
            let wrong = |what: String| format!("line {}: {what}", index + 1);
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                [comment, ..] if comment.starts_with('#') => {}
                ["message_bytes", number] => {
                    let least = Head::BYTES as u64;
                    let read = whole(number, least, MOST_BYTES as u64).map_err(wrong)?;
                    bytes = Some(read as usize);
                }
                ["path", to, from @ ..] if !from.is_empty() => path = Some((*to, from.to_vec())),
                [kind, node, work, period, output, inputs @ ..] => {
                    steps.push(step(kind, node, [*work, *period, *output], inputs).map_err(wrong)?);
                }
                _ => {
                    return Err(wrong(
                        "too few words for a kind, a node, its work, its period, its \
                                      output and its inputs"
                            .to_owned(),
                    ));
                }
            }
            if steps.len() > MOST_STEPS {
                return Err(format!("more than {MOST_STEPS} steps"));
            }
        }
        let (Some(message_bytes), Some((path_to, path_from))) = (bytes, path) else {
            return Err("`message_bytes` or `path` is missing".to_owned());
        };
        let path_from = path_from.into_iter().map(str::to_owned).collect();
        Self { message_bytes, steps, path_from, path_to: path_to.to_owned() }.checked()
    }

    /// Refuses topics that no step publishes, and that several publish.
    fn checked(self) -> Result<Self, String> {
        let mut published = BTreeSet::new();
        for output in self.steps.iter().filter_map(|step| step.output.as_deref()) {
            if !published.insert(output) {
                return Err(format!("several steps publish on {output}"));
            }
        }
        let received = self.steps.iter().flat_map(|step| &step.inputs);
        let named = received.chain(&self.path_from).chain([&self.path_to]);
        for topic in named {
            if !published.contains(topic.as_str()) {
                return Err(format!("no step publishes on {topic}"));
            }
        }
        Ok(self)
    }

    /// The number of subscriptions to each topic.
    pub fn subscriptions(&self) -> BTreeMap<&str, usize> {
        let mut found = BTreeMap::new();
        for topic in self.steps.iter().flat_map(|step| &step.inputs) {
            *found.entry(topic.as_str()).or_default() += 1;
        }
        found
    }

    /// The worker of a step.
    pub fn worker(&self, step: &Step, figures: &Figures) -> Worker {
        let output = step.output.as_ref();
        Worker {
            kind: step.kind,
            work: step.work,
            begins_path: output.is_some_and(|topic| self.path_from.contains(topic)),
            ends_path: output == Some(&self.path_to),
            sequence: 0,
            waiting: vec![None; step.inputs.len()],
            next: vec![None; step.inputs.len()],
            figures: figures.clone(),
        }
    }
}

fn whole(text: &str, least: u64, most: u64) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("{text} is not a number from {least} to {most}")),
    }
}

fn step(
    kind: &str,
    node: &str,
    [work, period, output]: [&str; 3],
    inputs: &[&str],
) -> Result<Step, String> {
    let known = Kind::WORDS.into_iter().find(|(word, _)| *word == kind);
    let Some((_, kind)) = known else { return Err(format!("there is no kind {kind}")) };
    let work = whole(work, 0, MOST_WORK)?;
    let millis = whole(period, 0, MOST_MILLIS)?;
    if !kind.allows(inputs.len(), millis > 0, output != "-") {
        return Err(format!("the period, output or inputs of {node} do not fit its kind"));
    }
    Ok(Step {
        kind,
        node: node.to_owned(),
        work,
        period: (millis > 0).then(|| Duration::from_millis(millis)),
        output: (output != "-").then(|| output.to_owned()),
        inputs: inputs.iter().map(|topic| (*topic).to_owned()).collect(),
    })
}

/// The beginning of each message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The time when the chain whose latency counts began; 0 if the message is not of that chain.
    pub at: u64,
    /// The number that the message had at the beginning of the chain.
    pub number: u64,
    /// The number of the message among those of its topic.
    pub sequence: u64,
}

impl Head {
    /// The number of bytes.
    pub const BYTES: usize = 24;

    /// Writes the head to the beginning of a message, if there is room for it.
    pub fn write(self, message: &mut [u8]) {
        let words = [self.at, self.number, self.sequence];
        for (place, word) in message.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }

    /// Reads the head of a message; `None` if the message is too short.
    pub fn read(message: &[u8]) -> Option<Self> {
        let word = |index: usize| {
            let bytes = message.get(8 * index..)?.first_chunk()?;
            Some(u64::from_le_bytes(*bytes))
        };
        Some(Self { at: word(0)?, number: word(1)?, sequence: word(2)? })
    }
}

/// A step at work. Its methods compute as long as the step has to.
#[derive(Debug)]
pub struct Worker {
    kind: Kind,
    work: u64,
    begins_path: bool,
    ends_path: bool,
    sequence: u64,
    /// The latest message of each input.
    waiting: Vec<Option<Head>>,
    /// The number that the next message of each input must have if none is lost.
    next: Vec<Option<u64>>,
    figures: Figures,
}

impl Worker {
    /// A message came on an input. Returns the head of the message to publish, if there is one.
    pub fn receive(&mut self, input: usize, head: Head) -> Option<Head> {
        self.count(input, head);
        *self.waiting.get_mut(input)? = Some(head);
        match self.kind {
            Kind::Transform | Kind::Intersection => self.compute(),
            Kind::Fusion if self.waiting.iter().all(Option::is_some) => self.compute(),
            Kind::Command => {
                crunch(self.work);
                None
            }
            Kind::Fusion | Kind::Sensor | Kind::Cyclic => None,
        }
    }

    /// The timer of the step is due. Returns the head of the message to publish.
    pub fn tick(&mut self) -> Option<Head> {
        let now = now_nanos();
        if self.kind == Kind::Cyclic {
            self.figures.tick(now);
            return self.compute();
        }
        let at = if self.begins_path { now } else { 0 };
        let sequence = self.numbered();
        Some(Head { at, number: sequence, sequence })
    }

    /// Counts messages that did not come. A fusion and a cyclic node may leave out messages by
    /// design; a transform may not.
    fn count(&mut self, input: usize, head: Head) {
        let Some(next) = self.next.get_mut(input) else { return };
        let missed = next.map_or(0, |next| head.sequence.saturating_sub(next));
        *next = Some(head.sequence.saturating_add(1));
        if matches!(self.kind, Kind::Transform | Kind::Intersection) {
            self.figures.received(missed);
        }
    }

    /// Computes from the messages that wait; the result is as old as the oldest of them.
    fn compute(&mut self) -> Option<Head> {
        crunch(self.work);
        let of_path = self.waiting.iter().flatten().filter(|head| head.at > 0);
        let oldest = of_path.min_by_key(|head| head.at).copied();
        self.waiting.fill(None);
        let (at, number) = oldest.map_or((0, 0), |head| (head.at, head.number));
        if self.ends_path && at > 0 {
            self.figures.arrived(number, now_nanos().saturating_sub(at));
        }
        let sequence = self.numbered();
        Some(Head { at, number, sequence })
    }

    fn numbered(&mut self) -> u64 {
        let sequence = self.sequence;
        self.sequence += 1;
        sequence
    }
}

/// Looks for the primes from 3 to a number, by trial division; returns how many there are.
fn crunch(most: u64) -> u64 {
    let mut found = 0;
    for number in (3..=most).step_by(2) {
        let mut divisor = 3;
        while divisor * divisor <= number && !number.is_multiple_of(divisor) {
            divisor += 2;
        }
        found += u64::from(divisor * divisor > number);
    }
    black_box(found)
}

#[cfg(test)]
mod tests;
