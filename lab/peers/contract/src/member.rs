//! The endpoints of the members of a robot, for the roles `member` and `newcomer`.

use std::time::Duration;

use crate::arguments::Arguments;
use crate::words::Topology;

/// The number of publishers of a member, which is also the number of its subscriptions.
const ENDPOINTS: usize = 5;
/// The next member of a ring subscribes to this many topics of a member, the previous member to the
/// rest. So each topic of a ring has one publisher and one subscription.
const FOR_THE_NEXT: usize = 3;
/// All members together look this many times per second whether their matches are complete, so that
/// looking costs the same with any number of members.
const LOOKS_PER_SECOND: u64 = 2000;

/// The endpoints of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// The topics of its publishers.
    pub published: Vec<String>,
    /// The topics of its subscriptions.
    pub subscribed: Vec<String>,
    /// The number of matches that each of these endpoints has in the end.
    pub matches: usize,
}

impl Arguments {
    /// The endpoints of this member.
    pub fn endpoints(&self) -> Endpoints {
        let count = self.nodes.max(1);
        match self.topology {
            Topology::Ring => {
                let topic = |member: usize, own: usize| format!("{}_{member}_{own}", self.topic);
                let (previous, next) = ((self.index + count - 1) % count, (self.index + 1) % count);
                let from_previous = (0..FOR_THE_NEXT).map(|own| topic(previous, own));
                let from_next = (FOR_THE_NEXT..ENDPOINTS).map(|own| topic(next, own));
                Endpoints {
                    published: (0..ENDPOINTS).map(|own| topic(self.index, own)).collect(),
                    subscribed: from_previous.chain(from_next).collect(),
                    matches: 1,
                }
            }
            Topology::OneTopic => Endpoints {
                published: vec![self.topic.clone(); ENDPOINTS],
                subscribed: vec![self.topic.clone(); ENDPOINTS],
                matches: ENDPOINTS * count,
            },
        }
    }

    /// The topic on which member 0 keeps one message for newcomers (transient local).
    pub fn greeting_topic(&self) -> String {
        format!("{}_greeting", self.topic)
    }

    /// The interval at which a member looks whether its matches are complete.
    pub fn look_interval(&self) -> Duration {
        Duration::from_nanos(1_000_000_000 / LOOKS_PER_SECOND * self.nodes.max(2) as u64)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn member(topology: &str, nodes: usize, index: usize) -> Arguments {
        let line = format!(
            "--role member --topic t --topology {topology} --nodes {nodes} --index {index}"
        );
        Arguments::parse(line.split_whitespace().map(str::to_owned), &[]).unwrap()
    }

    /// Each topic with its publishers and subscriptions, over all members.
    fn topics(topology: &str, nodes: usize) -> BTreeMap<String, (usize, usize)> {
        let mut all = BTreeMap::new();
        for index in 0..nodes {
            let endpoints = member(topology, nodes, index).endpoints();
            assert_eq!((endpoints.published.len(), endpoints.subscribed.len()), (5, 5));
            for topic in endpoints.published {
                all.entry(topic).or_insert((0, 0)).0 += 1;
            }
            for topic in endpoints.subscribed {
                all.entry(topic).or_insert((0, 0)).1 += 1;
            }
        }
        all
    }

    #[test]
    fn every_topic_of_a_ring_joins_one_publisher_and_one_subscription() {
        for nodes in [1, 2, 3, 10] {
            let all = topics("ring", nodes);
            assert_eq!(all.len(), 5 * nodes, "{nodes}");
            assert!(all.values().all(|ends| *ends == (1, 1)), "{nodes}: {all:?}");
            assert_eq!(member("ring", nodes, 0).endpoints().matches, 1);
        }
        let endpoints = member("ring", 4, 0).endpoints();
        assert_eq!(endpoints.subscribed, ["t_3_0", "t_3_1", "t_3_2", "t_1_3", "t_1_4"]);
    }

    #[test]
    fn one_topic_joins_all_with_all() {
        for nodes in [1, 7] {
            let all = topics("one_topic", nodes);
            assert_eq!(all, BTreeMap::from([("t".to_owned(), (5 * nodes, 5 * nodes))]));
            assert_eq!(member("one_topic", nodes, 0).endpoints().matches, 5 * nodes);
        }
    }

    #[test]
    fn all_members_together_look_equally_often() {
        for nodes in [2, 25, 400] {
            let interval = member("ring", nodes, 0).look_interval();
            assert!((nodes as f64 / interval.as_secs_f64() - 2000.0).abs() < 1e-6, "{nodes}");
        }
        assert_eq!(member("ring", 1, 0).look_interval(), Duration::from_millis(1));
    }
}
