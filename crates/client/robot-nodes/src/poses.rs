//! Which transforms to publish for a message with joint states, and when: the rules of
//! `robot_state_publisher` (`robot_state_publisher.cpp`, `callbackJointState`).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;

use feros::Time;
use feros::msgs::geometry_msgs::msg::TransformStamped;
use feros::msgs::sensor_msgs::msg::JointState;
use feros::msgs::std_msgs::msg::Header;
use feros::msgs::tf2_msgs::msg::TFMessage;

use crate::description::{Robot, beginning};

/// The limit on the remembered sets of joint names. Usually each publisher of joint states has one
/// set.
const MOST_SELECTIONS: usize = 8;
/// The limit on the names of unknown joints that are reported.
const MOST_UNKNOWN: usize = 100;
/// The limit on the length of such a name.
const LONGEST_NAME: usize = 80;

/// How to treat the stamps of joint states.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// The least time between two publications of a joint.
    pub(crate) interval: Duration,
    /// Publish whatever the stamp is.
    pub(crate) ignore_timestamp: bool,
}

impl Rules {
    /// Rules for a frequency in Hz; 0 means that every message is published. As in stock, the
    /// interval has whole milliseconds, so that messages at exactly this frequency are not skipped.
    pub(crate) fn new(publish_frequency: f64, ignore_timestamp: bool) -> Self {
        let milliseconds =
            if publish_frequency > 0.0 { (1000.0 / publish_frequency).min(1e12) } else { 0.0 };
        Self { interval: Duration::from_millis(milliseconds as u64), ignore_timestamp }
    }
}

/// Something in a message that the user should know.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Note {
    /// The clock went back, as when a bag is played again.
    MovedBack,
    /// The message has names, but no positions.
    NoPositions { joint: String },
    /// The number of positions differs from the number of names.
    Lengths { names: usize, positions: usize },
    /// The robot has no joints of these names.
    Unknown { joints: Vec<String>, is_last: bool },
    /// The message has no stamp.
    NoStamp,
    /// A position is infinite or not a number.
    NotFinite { joint: String },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MovedBack => {
                write!(f, "the time went back, so all joints are published again")
            }
            Self::NoPositions { joint } => write!(
                f,
                "a message with joint states, of {} and so on, has no positions: it is ignored; this \
                 is reported once",
                shown(joint)
            ),
            Self::Lengths { names, positions } => write!(
                f,
                "a message with joint states has {names} names, but {positions} positions: it is \
                 ignored; this is reported once"
            ),
            Self::Unknown { joints, is_last } => {
                let joints: Vec<String> = joints.iter().map(|joint| shown(joint)).collect();
                let further = if *is_last { "; further ones are not reported" } else { "" };
                write!(
                    f,
                    "the robot has no joints of these names: {}; they are ignored{further}",
                    joints.join(", ")
                )
            }
            Self::NoStamp => write!(
                f,
                "joint states without a stamp are not published: their publisher has to set \
                 header.stamp, or set the parameter ignore_timestamp; this is reported once"
            ),
            Self::NotFinite { joint } => write!(
                f,
                "the position of the joint {} is not a finite number, so its transform is not \
                 published; this is reported once",
                shown(joint)
            ),
        }
    }
}

/// A name from a message as the log shows it.
fn shown(name: &str) -> String {
    format!("\"{}\"", beginning(name, LONGEST_NAME))
}

/// What to do about a message.
#[derive(Debug)]
pub(crate) struct Update<'a> {
    /// The transforms to publish.
    pub(crate) transforms: Option<Cow<'a, TFMessage>>,
    pub(crate) notes: Vec<Note>,
}

/// The transforms of a robot's joints over time.
pub(crate) struct Poses {
    robot: Robot,
    prefix: String,
    /// The stamp of the last publication of each joint, in nanoseconds; 0 before the first.
    published: Vec<i64>,
    /// The time of the last message.
    last: Time,
    selections: Vec<Selection>,
    /// The selection that is replaced next.
    oldest: usize,
    /// The joints that others mimic, which need not be joints of the robot.
    mimicked: HashSet<String>,
    /// The unknown joints that have been reported.
    unknown: HashSet<String>,
    reported: Reported,
}

/// The notes that are made only once, and whether they have been made.
#[derive(Default)]
struct Reported {
    no_positions: bool,
    lengths: bool,
    no_stamp: bool,
    not_finite: bool,
}

/// The transforms that follow from a message with certain joint names. It is kept, since the next
/// messages usually have the same names, and then need no search and no allocation.
struct Selection {
    names: Vec<String>,
    /// The joints whose publications count for the frequency: those among the names, and those that
    /// mimic an unknown joint.
    known: Vec<usize>,
    moves: Vec<Move>,
    /// A transform for each move, with its frames.
    message: TFMessage,
}

/// How a transform follows a position of the message.
struct Move {
    joint: usize,
    /// The place in the message.
    source: usize,
    multiplier: f64,
    offset: f64,
}

impl Poses {
    /// The poses of a robot, whose frames get a prefix.
    pub(crate) fn new(robot: Robot, prefix: &str) -> Self {
        let mimics = robot.joints().iter().filter_map(|joint| joint.mimic.as_ref());
        Self {
            mimicked: mimics.map(|mimic| mimic.joint.clone()).collect(),
            published: vec![0; robot.joints().len()],
            robot,
            prefix: prefix.to_owned(),
            last: Time::ZERO,
            selections: Vec::new(),
            oldest: 0,
            unknown: HashSet::new(),
            reported: Reported::default(),
        }
    }

    /// Returns the transforms to publish for a message that arrived at the time `now`.
    pub(crate) fn update(&mut self, state: &JointState, now: Time, rules: Rules) -> Update<'_> {
        let mut notes = Vec::new();
        let (names, positions) = (state.name.len(), state.position.len());
        if names != positions {
            self.note_lengths(state, &mut notes);
            return Update { transforms: None, notes };
        }
        if now < self.last {
            notes.push(Note::MovedBack);
            self.published.fill(0);
        }
        self.last = now;
        let place = self.selection(&state.name, &mut notes);
        let stamp = state.header.stamp.to_nanos();
        if !self.is_due(place, stamp, now, rules) {
            if stamp == 0 && !std::mem::replace(&mut self.reported.no_stamp, true) {
                notes.push(Note::NoStamp);
            }
            return Update { transforms: None, notes };
        }
        for joint in &self.selections[place].known {
            self.published[*joint] = stamp;
        }
        Update { transforms: self.transforms(place, state, &mut notes), notes }
    }

    fn note_lengths(&mut self, state: &JointState, notes: &mut Vec<Note>) {
        let (names, positions) = (state.name.len(), state.position.len());
        if positions == 0
            && let Some(joint) = state.name.first()
        {
            if !std::mem::replace(&mut self.reported.no_positions, true) {
                notes.push(Note::NoPositions { joint: joint.clone() });
            }
        } else if !std::mem::replace(&mut self.reported.lengths, true) {
            notes.push(Note::Lengths { names, positions });
        }
    }

    /// Whether the joint of the message that was published least recently is to be published again.
    fn is_due(&self, place: usize, stamp: i64, now: Time, rules: Rules) -> bool {
        let known = &self.selections[place].known;
        let Some(last) = known.iter().map(|joint| self.published[*joint]).min() else {
            return false;
        };
        let now = now.as_nanos();
        // A stamp from the future must not stop all later messages.
        let corrects = last > now && stamp < last;
        let interval = i64::try_from(rules.interval.as_nanos()).unwrap_or(i64::MAX);
        rules.ignore_timestamp || corrects || stamp >= last.min(now).saturating_add(interval)
    }

    /// Finds or makes the selection for these names.
    fn selection(&mut self, names: &[String], notes: &mut Vec<Note>) -> usize {
        if let Some(place) = self.selections.iter().position(|known| known.names == names) {
            return place;
        }
        self.note_unknown(names, notes);
        let selection = Selection::new(&self.robot, &self.prefix, names);
        if self.selections.len() < MOST_SELECTIONS {
            self.selections.push(selection);
            return self.selections.len() - 1;
        }
        self.oldest = (self.oldest + 1) % MOST_SELECTIONS;
        self.selections[self.oldest] = selection;
        self.oldest
    }

    fn note_unknown(&mut self, names: &[String], notes: &mut Vec<Note>) {
        let mut joints = Vec::new();
        for name in names {
            if self.unknown.len() >= MOST_UNKNOWN {
                break;
            }
            if self.robot.place(name).is_none()
                && !self.mimicked.contains(name)
                && self.unknown.insert(name.chars().take(LONGEST_NAME).collect())
            {
                joints.push(name.clone());
            }
        }
        if !joints.is_empty() {
            notes.push(Note::Unknown { joints, is_last: self.unknown.len() >= MOST_UNKNOWN });
        }
    }

    /// Sets the transforms of a selection to the positions of the message.
    fn transforms(
        &mut self,
        place: usize,
        state: &JointState,
        notes: &mut Vec<Note>,
    ) -> Option<Cow<'_, TFMessage>> {
        let Selection { moves, message, .. } = &mut self.selections[place];
        let mut wrong = Vec::new();
        for (index, (moved, transform)) in moves.iter().zip(&mut message.transforms).enumerate() {
            let position = state.position[moved.source] * moved.multiplier + moved.offset;
            let pose = self.robot.joints()[moved.joint].pose(position);
            if !(position.is_finite() && pose.translation.is_finite() && pose.rotation.is_finite())
            {
                wrong.push(index);
                continue;
            }
            transform.header.stamp = state.header.stamp.clone();
            transform.transform = pose.into();
        }
        if let Some(first) = wrong.first()
            && !std::mem::replace(&mut self.reported.not_finite, true)
        {
            let joint = self.robot.joints()[moves[*first].joint].name.clone();
            notes.push(Note::NotFinite { joint });
        }
        if moves.len() == wrong.len() {
            return None;
        }
        if wrong.is_empty() {
            return Some(Cow::Borrowed(message));
        }
        let kept = message.transforms.iter().enumerate().filter(|(at, _)| !wrong.contains(at));
        let transforms = kept.map(|(_, transform)| transform.clone()).collect();
        Some(Cow::Owned(TFMessage { transforms }))
    }
}

impl Selection {
    fn new(robot: &Robot, prefix: &str, names: &[String]) -> Self {
        let mut places = HashMap::new();
        for (place, name) in names.iter().enumerate() {
            // The first of two values of a joint counts, as in stock.
            places.entry(name.as_str()).or_insert(place);
        }
        let movable =
            robot.joints().iter().enumerate().filter(|(_, joint)| joint.kind.is_movable());
        let moves: Vec<Move> = movable
            .filter_map(|(joint, _)| {
                let (source, multiplier, offset) =
                    source(robot, joint, |name| places.get(name).copied())?;
                Some(Move { joint, source, multiplier, offset })
            })
            .collect();
        let transforms = moves.iter().map(|moved| {
            let joint = &robot.joints()[moved.joint];
            TransformStamped {
                header: Header {
                    frame_id: format!("{prefix}{}", joint.parent),
                    ..Default::default()
                },
                child_frame_id: format!("{prefix}{}", joint.child),
                ..Default::default()
            }
        });
        let is_unknown = |moved: &&Move| robot.place(&names[moved.source]).is_none();
        let by_unknown = moves.iter().filter(is_unknown).map(|moved| moved.joint);
        Self {
            message: TFMessage { transforms: transforms.collect() },
            known: names.iter().filter_map(|name| robot.place(name)).chain(by_unknown).collect(),
            names: names.to_vec(),
            moves,
        }
    }
}

/// The place in a message that determines a joint's position, with the factor and the offset. It is
/// the joint's own place, or the place of the next joint that it mimics.
fn source(
    robot: &Robot,
    joint: usize,
    place: impl Fn(&str) -> Option<usize>,
) -> Option<(usize, f64, f64)> {
    let (mut multiplier, mut offset) = (1.0, 0.0);
    let mut joint = &robot.joints()[joint];
    if let Some(place) = place(&joint.name) {
        return Some((place, multiplier, offset));
    }
    // The description has no loop of joints that mimic each other.
    loop {
        let mimic = joint.mimic.as_ref()?;
        offset += multiplier * mimic.offset;
        multiplier *= mimic.multiplier;
        if let Some(place) = place(&mimic.joint) {
            return Some((place, multiplier, offset));
        }
        joint = &robot.joints()[robot.place(&mimic.joint)?];
    }
}

/// The transforms of the joints that do not move.
pub(crate) fn fixed_transforms(robot: &Robot, prefix: &str, now: Time) -> TFMessage {
    let fixed = robot.joints().iter().filter(|joint| joint.kind.is_static());
    let transforms = fixed.map(|joint| {
        let (parent, child) =
            (format!("{prefix}{}", joint.parent), format!("{prefix}{}", joint.child));
        joint.origin.to_stamped(&parent, &child, now)
    });
    TFMessage { transforms: transforms.collect() }
}

#[cfg(test)]
mod tests;
