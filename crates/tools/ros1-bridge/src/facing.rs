//! Detects bridges that wait for each other. If two masters have a bridge in one domain, each
//! bridge waits for endpoints of ROS 2 and does not count the endpoints of the other bridge. This
//! bridge warns about the topics concerned, with a cure.
//!
//! Each bridge announces, on a hidden topic, the topics that have subscribers under its master but
//! no publisher in ROS 2. If another bridge's master has a publisher for such a topic, that bridge
//! knows that both bridges wait.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use feros::msgs::std_msgs::msg::String as Text;
use feros::{CreateError, Gid, MessageInfo, Node, Publisher, QosProfile, Subscription};
use feros_sync::Mutex;

/// The hidden topic, which tools and other bridges ignore.
const TOPIC: &str = "/_feros_ros1_bridge/wanted";
/// The limits on stored topics of another bridge, and on stored bridges.
const MOST_TOPICS: usize = 1024;
const MOST_BRIDGES: usize = 64;
/// How many topics the warning names.
const NAMED_TOPICS: usize = 3;

/// The other bridges in the domain, and the announcement of this bridge.
pub(crate) struct Facing {
    others: Arc<Mutex<BTreeMap<Gid, Wanted>>>,
    /// The publisher of the announcement, created when it is first needed.
    publisher: Option<Publisher<Text>>,
    _subscription: Subscription<Text>,
    told: Wanted,
    has_said: bool,
}

/// The topics that have subscribers under a master.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The master's own URI.
    pub(crate) master: String,
    pub(crate) topics: BTreeSet<String>,
}

impl Wanted {
    fn to_text(&self) -> String {
        let topics = self.topics.iter().take(MOST_TOPICS).map(String::as_str);
        let lines: Vec<&str> = std::iter::once(&*self.master).chain(topics).collect();
        lines.join("\n")
    }

    fn of_text(text: &str) -> Self {
        let mut lines = text.lines();
        let master = lines.next().unwrap_or_default().to_owned();
        Self { master, topics: lines.take(MOST_TOPICS).map(str::to_owned).collect() }
    }
}

fn qos() -> QosProfile {
    QosProfile::keep_last(1).transient_local()
}

impl Facing {
    pub(crate) fn new(ros2: &Node) -> Result<Self, CreateError> {
        let others: Arc<Mutex<BTreeMap<Gid, Wanted>>> = Arc::default();
        let heard = others.clone();
        let hear = move |message: Text, info: MessageInfo| {
            let mut others = heard.lock();
            if others.len() < MOST_BRIDGES || others.contains_key(&info.publisher_gid) {
                others.insert(info.publisher_gid, Wanted::of_text(&message.data));
            }
        };
        let options = feros::SubscriptionOptions::from(qos()).ignore_local_publications();
        let subscription = ros2.create_subscription(TOPIC, options, hear)?;
        Ok(Self {
            others,
            publisher: None,
            _subscription: subscription,
            told: Wanted::default(),
            has_said: false,
        })
    }

    /// Announces these topics to other bridges if they have changed.
    pub(crate) fn tell(&mut self, ros2: &Node, wanted: Wanted) {
        if wanted.topics == self.told.topics {
            return;
        }
        if self.publisher.is_none() {
            match ros2.create_publisher(TOPIC, qos()) {
                Ok(publisher) => self.publisher = Some(publisher),
                Err(error) => return tracing::debug!("{TOPIC}: {error}"),
            }
        }
        if let Some(publisher) = &self.publisher {
            match publisher.publish(Text { data: wanted.to_text() }) {
                Ok(()) => self.told = wanted,
                Err(error) => tracing::debug!("{TOPIC}: {error}"),
            }
        }
    }

    /// Returns a warning, only once, if there are topics that are published under this master
    /// (`offered`) and wanted under another master.
    pub(crate) fn warning(
        &mut self,
        ros2: &Node,
        master: &str,
        offered: impl Fn(&str) -> bool,
    ) -> Option<String> {
        if self.has_said {
            return None;
        }
        let graph = ros2.context().graph();
        let mut others = self.others.lock();
        others.retain(|gid, _| graph.endpoints.iter().any(|endpoint| endpoint.gid == *gid));
        let wanted: BTreeSet<&str> = others
            .values()
            .filter(|wanted| wanted.master != master)
            .flat_map(|wanted| wanted.topics.iter().map(String::as_str))
            .filter(|topic| offered(topic))
            .collect();
        if wanted.is_empty() {
            return None;
        }
        self.has_said = true;
        let mut named: Vec<&str> = wanted.iter().copied().take(NAMED_TOPICS).collect();
        let more = format!("{} more", wanted.len().saturating_sub(NAMED_TOPICS));
        if wanted.len() > NAMED_TOPICS {
            named.push(&more);
        }
        Some(format!(
            "published under this ROS 1 master and subscribed to under that of another bridge: {}; a bridge does not \
             count another bridge as a subscriber, so nothing is bridged: start this bridge with \
             --bridge-all-1to2-topics, and also the other one for the opposite direction",
            named.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_list_of_wanted_topics_is_read_back() {
        let topics = ["/a", "/b/c"].map(str::to_owned).into();
        let wanted = Wanted { master: "http://robot:11311/".to_owned(), topics };
        assert_eq!(Wanted::of_text(&wanted.to_text()), wanted);
        assert_eq!(Wanted::of_text(""), Wanted::default());
        let many = (0..5000).map(|number| format!("/t{number}\n")).collect::<String>();
        assert_eq!(Wanted::of_text(&format!("m\n{many}")).topics.len(), MOST_TOPICS);
    }
}
