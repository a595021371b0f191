//! The messages that the demo's processes said and heard: the events that they report, and the
//! totals.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The topic of the demo, which the talkers and listeners of ROS 2 also use.
pub(super) const TOPIC: &str = "chatter";

/// An event that a process of the demo reports, as a line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event {
    /// The process's node is ready.
    Ready,
    /// The process published a message.
    Said {
        /// The message.
        text: String,
    },
    /// The process published all its messages.
    Done,
    /// The process received a message.
    Heard {
        /// The message.
        text: String,
        /// The time from publishing to the callback, by the clock of the host; `None` if the
        /// message has no source timestamp.
        latency_us: Option<f64>,
    },
}

/// The coordinator's command to a talker: `go COUNT LISTENERS RATE`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Start {
    /// The number of messages; 0 continues forever.
    pub(super) count: u64,
    /// The talker first waits for this many subscriptions.
    pub(super) listeners: usize,
    /// Messages per second.
    pub(super) rate_hz: f64,
}

impl Start {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("go ")?.split(' ');
        let go = Self {
            count: words.next()?.parse().ok()?,
            listeners: words.next()?.parse().ok()?,
            rate_hz: words
                .next()?
                .parse()
                .ok()
                .filter(|rate: &f64| rate.is_finite() && *rate > 0.0)?,
        };
        words.next().is_none().then_some(go)
    }
}

impl std::fmt::Display for Start {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "go {} {} {}", self.count, self.listeners, self.rate_hz)
    }
}

/// A process of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Participant {
    /// Publishes with Feros.
    Talker,
    /// Receives with Feros.
    Listener,
    /// Does both with stock ROS 2.
    Ros2,
}

impl Participant {
    const ALL: [Self; 3] = [Self::Talker, Self::Listener, Self::Ros2];

    /// The name of its node, which its messages contain.
    pub(super) fn node(self) -> &'static str {
        match self {
            Self::Talker => "feros_talker",
            Self::Listener => "feros_listener",
            Self::Ros2 => "ros2_node",
        }
    }

    /// Whether the participant publishes.
    pub(super) fn publishes(self) -> bool {
        self != Self::Listener
    }

    /// Whether the participant subscribes.
    pub(super) fn subscribes(self) -> bool {
        self != Self::Talker
    }

    /// The participant that said this; `None` if another node on the topic said it.
    pub(super) fn who_said(text: &str) -> Option<Self> {
        let (_, name) = text.rsplit_once(" from ")?;
        Self::ALL.into_iter().find(|participant| participant.node() == name)
    }
}

/// The message that a node says.
pub(super) fn hello(number: u64, node: &str) -> String {
    format!("Hello {number} from {node}")
}

/// The messages that were said and heard so far.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    said: BTreeMap<Participant, u64>,
    heard: BTreeMap<(Participant, Participant), Heard>,
    other_node_messages: u64,
}

/// The messages that a participant heard from another.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Heard {
    pub(super) count: u64,
    total_us: f64,
    timed: u64,
}

impl Heard {
    /// Returns the mean latency, if there is a message with a latency.
    pub(super) fn mean_us(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.total_us / self.timed as f64)
    }
}

impl Conversation {
    pub(super) fn say(&mut self, participant: Participant) {
        *self.said.entry(participant).or_default() += 1;
    }

    pub(super) fn hear(&mut self, listener: Participant, text: &str, latency_us: Option<f64>) {
        let Some(talker) = Participant::who_said(text) else {
            self.other_node_messages += 1;
            return;
        };
        let heard = self.heard.entry((talker, listener)).or_default();
        heard.count += 1;
        if let Some(latency_us) = latency_us {
            heard.timed += 1;
            heard.total_us += latency_us;
        }
    }

    pub(super) fn said(&self, participant: Participant) -> u64 {
        self.said.get(&participant).copied().unwrap_or(0)
    }

    pub(super) fn heard(&self, talker: Participant, listener: Participant) -> Heard {
        self.heard.get(&(talker, listener)).copied().unwrap_or_default()
    }

    /// The number of messages from nodes that do not belong to the demo.
    pub(super) fn other_node_messages(&self) -> u64 {
        self.other_node_messages
    }

    /// The pairs of talker and listener among the participants.
    pub(super) fn pairs(participants: &[Participant]) -> Vec<(Participant, Participant)> {
        let talkers = participants.iter().filter(|participant| participant.publishes());
        talkers
            .flat_map(|talker| {
                let listeners = participants
                    .iter()
                    .filter(move |participant| participant.subscribes() && *participant != talker);
                listeners.map(move |listener| (*talker, *listener))
            })
            .collect()
    }

    /// Whether every listener heard every message.
    pub(super) fn is_complete(&self, participants: &[Participant]) -> bool {
        let heard_all =
            |&(talker, listener)| self.heard(talker, listener).count >= self.said(talker);
        Self::pairs(participants).iter().all(heard_all)
    }

    /// The pairs in which the listener heard nothing from the talker.
    pub(super) fn silent_pairs(
        &self,
        participants: &[Participant],
    ) -> Vec<(Participant, Participant)> {
        let mut pairs = Self::pairs(participants);
        pairs.retain(|&(talker, listener)| self.heard(talker, listener).count == 0);
        pairs
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const PARTICIPANTS: [Participant; 3] =
        [Participant::Listener, Participant::Talker, Participant::Ros2];

    #[test]
    fn participants_are_known_by_what_they_say() {
        for participant in Participant::ALL {
            assert_eq!(Participant::who_said(&hello(3, participant.node())), Some(participant));
        }
        for text in ["Hello World: 1", "", " from ", "Hello 1 from somebody", "from feros_talker"] {
            assert_eq!(Participant::who_said(text), None, "{text}");
        }
    }

    #[test]
    fn nobody_has_to_hear_itself() {
        assert_eq!(
            Conversation::pairs(&PARTICIPANTS),
            [
                (Participant::Talker, Participant::Listener),
                (Participant::Talker, Participant::Ros2),
                (Participant::Ros2, Participant::Listener)
            ]
        );
        assert_eq!(
            Conversation::pairs(&PARTICIPANTS[..2]),
            [(Participant::Talker, Participant::Listener)]
        );
    }

    #[test]
    fn conversation_is_complete_when_all_was_heard() {
        let mut conversation = Conversation::default();
        let participants = &PARTICIPANTS[..2];
        for number in 1..=2 {
            conversation.say(Participant::Talker);
            assert!(!conversation.is_complete(participants));
            conversation.hear(
                Participant::Listener,
                &hello(number, "feros_talker"),
                Some(100.0 * number as f64),
            );
        }
        assert!(
            conversation.is_complete(participants)
                && conversation.silent_pairs(participants).is_empty()
        );
        assert_eq!(
            conversation.heard(Participant::Talker, Participant::Listener).mean_us(),
            Some(150.0)
        );
        conversation.say(Participant::Ros2);
        assert_eq!(
            conversation.silent_pairs(&PARTICIPANTS),
            [(Participant::Talker, Participant::Ros2), (Participant::Ros2, Participant::Listener)]
        );
    }

    #[test]
    fn messages_of_other_nodes_are_counted_apart() {
        let mut conversation = Conversation::default();
        conversation.hear(Participant::Listener, "Hello World: 1", None);
        assert_eq!(conversation.other_node_messages(), 1);
        assert_eq!(conversation.silent_pairs(&PARTICIPANTS).len(), 3);
    }

    #[test]
    fn orders_are_read_as_they_are_written() {
        let go = Start { count: 3, listeners: 2, rate_hz: 0.5 };
        assert_eq!(Start::parse(&go.to_string()), Some(go));
        for line in ["", "go", "go 1 2", "go 1 2 0", "go 1 2 nan", "go 1 2 3 4", "go x 2 3"] {
            assert_eq!(Start::parse(line), None, "{line}");
        }
    }

    /// The Python node formats these lines by hand.
    #[test]
    fn events_of_the_python_node_are_understood() {
        let heard =
            r#"{"event": "heard", "text": "Hello 1 from feros_talker", "latency_us": null}"#;
        let Event::Heard { text, latency_us } = serde_json::from_str(heard).unwrap() else {
            panic!()
        };
        assert_eq!((text.as_str(), latency_us), ("Hello 1 from feros_talker", None));
        assert_eq!(serde_json::from_str::<Event>(r#"{"event": "ready"}"#).unwrap(), Event::Ready);
    }
}
