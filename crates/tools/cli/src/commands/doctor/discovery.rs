//! What discovery costs: the other participants, by how this process has found them, what it has
//! received until it knew them, and what it receives afterwards.

use std::collections::{BTreeMap, HashMap};
use std::thread;
use std::time::{Duration, Instant};

use feros::shm::{Announced, Announcement, HostId};
use feros_engine::dds::library::Library;
use feros_engine::{Gid, GraphSnapshot, ParticipantInfo, Session, Traffic};

use super::super::top::bytes;
use super::finding::Finding;

const AREA: &str = "discovery";
/// The variable with which a process finds those of its host by the network.
const NEIGHBOURS: &str = "FEROS_NEIGHBOURS";
/// How long to count what arrives while nothing changes.
const REST: Duration = Duration::from_secs(1);
/// The longest wait between two looks at whether the user has interrupted.
const STEP: Duration = Duration::from_millis(50);
/// More participants than this, found by the network, are a warning: 60 processes that start
/// together send 51,000 packets, and 100 send 219,000 (`docs/measurements/0024-many-processes.md`).
const MANY_BY_NETWORK: usize = 50;
/// More datagrams than this in a second, while nothing changes, are a warning. A hundred processes
/// without neighbours send 1,400, all of them together (the same measurement).
const MANY_PER_SECOND: f64 = 500.0;

/// The state of this process when the graph seemed complete.
pub(super) struct Joined {
    others: Others,
    received: Traffic,
    at: Instant,
}

impl Joined {
    /// `own` are the participants of this process. Returns `None` if the engine does not count what
    /// it receives.
    pub(super) fn new(graph: &GraphSnapshot, own: &[Gid], session: &dyn Session) -> Option<Self> {
        let (received, at) = (session.received()?, Instant::now());
        let others = Others::of(graph, own, Place::of_this_process());
        Some(Self { others, received, at })
    }

    /// Waits until the rest has been long enough. Returns `None` if the user interrupts that.
    fn costs(&self, session: &dyn Session, is_ending: &dyn Fn() -> bool) -> Option<Costs> {
        while let Some(left) = REST.checked_sub(self.at.elapsed()) {
            if is_ending() {
                return None;
            }
            thread::sleep(left.min(STEP));
        }
        let received = session.received()?;
        Some(Costs::new(self.received, received, self.at.elapsed()))
    }
}

/// The findings. Without `session`, they do not tell what arrives: it would include the messages
/// that this process receives.
pub(super) fn examine(
    joined: &Joined,
    session: Option<&dyn Session>,
    is_ending: &dyn Fn() -> bool,
) -> Vec<Finding> {
    let costs = session.and_then(|session| joined.costs(session, is_ending));
    let is_off = std::env::var_os(NEIGHBOURS).is_some_and(|value| value == "0");
    findings(&joined.others, costs.as_ref(), is_off)
}

/// Where a process runs, and as which user.
#[derive(Clone, Copy)]
struct Place {
    host: HostId,
    uid: u32,
}

impl Place {
    fn of_this_process() -> Option<Self> {
        let host = HostId::of_this_process()?;
        Some(Self { host, uid: rustix::process::geteuid().as_raw() })
    }
}

/// Why the network has found a participant of Feros that is on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    OtherEngine,
    OtherUser,
    OtherSharedMemory,
    /// Its announcements do not show the reason.
    NotShown,
}

impl Why {
    /// Returns `None` unless the participant is known to be on this host.
    fn of(participant: &ParticipantInfo, there: &Announcement, here: Place) -> Option<Self> {
        let host = there.host.filter(|host| host.boot == here.host.boot)?;
        let user = |host: HostId, uid| (host.user_namespace, uid);
        Some(if participant.library?.vendor != Library::ECLIPSE {
            Self::OtherEngine
        } else if user(host, there.uid) != user(here.host, here.uid) {
            Self::OtherUser
        } else if host.dev_shm != here.host.dev_shm {
            Self::OtherSharedMemory
        } else {
            Self::NotShown
        })
    }

    /// The reason in words, and the cure. `is_off` tells whether this process has no neighbours.
    fn words(self, is_off: bool) -> (&'static str, &'static str) {
        match self {
            Self::OtherEngine => (
                "another engine than Cyclone DDS",
                "start all processes on Cyclone DDS: unset FEROS_ENGINE",
            ),
            Self::OtherUser => ("another user", "run all processes of this host as one user"),
            Self::OtherSharedMemory => (
                "another /dev/shm, as containers have",
                "start the containers with --ipc=host --network=host \
                 (docs/book/pages/deployment.md)",
            ),
            Self::NotShown if is_off => (
                "FEROS_NEIGHBOURS=0 is set here",
                "unset FEROS_NEIGHBOURS, here and for all processes of this host",
            ),
            Self::NotShown => (
                "other settings of discovery, another network namespace, or FEROS_NEIGHBOURS=0",
                "give all processes of this host the same ROS_AUTOMATIC_DISCOVERY_RANGE, \
                 ROS_STATIC_PEERS, FEROS_MEETING_POINTS and CYCLONEDDS_URI, one network namespace, and no \
                 FEROS_NEIGHBOURS=0",
            ),
        }
    }
}

/// The participants of other processes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Others {
    /// Those that were found in shared memory.
    neighbours: usize,
    /// Those that were found by the network.
    by_network: usize,
    /// Those of `by_network` that do not run Feros.
    stock: usize,
    /// Those of `by_network` that run Feros on this host.
    astray: BTreeMap<Why, usize>,
}

impl Others {
    /// `here` is `None` if it is not known which participants are on this host.
    fn of(graph: &GraphSnapshot, own: &[Gid], here: Option<Place>) -> Self {
        let mut announced = HashMap::new();
        for endpoint in &graph.endpoints {
            if let Announced::Feros(it) = Announced::read(endpoint.announcement.as_deref()) {
                announced.entry(endpoint.gid.participant_prefix()).or_insert(it);
            }
        }
        let mut others = Self::default();
        for participant in &graph.participants {
            if own.iter().any(|own| participant.gid.is_of_session_of(own)) {
                continue;
            }
            if participant.is_neighbour {
                others.neighbours += 1;
                continue;
            }
            others.by_network += 1;
            others.stock += usize::from(!participant.is_feros);
            let there = announced.get(&participant.gid.participant_prefix());
            let why = there.zip(here).and_then(|(there, here)| Why::of(participant, there, here));
            if let Some(why) = why {
                *others.astray.entry(why).or_default() += 1;
            }
        }
        others
    }
}

/// The datagrams that this process has received.
struct Costs {
    /// Until it knew the graph.
    joining: Traffic,
    /// Afterwards, in a second.
    datagrams_per_second: f64,
    bytes_per_second: f64,
}

impl Costs {
    fn new(joining: Traffic, later: Traffic, elapsed: Duration) -> Self {
        let rate =
            |earlier: u64, later: u64| later.saturating_sub(earlier) as f64 / elapsed.as_secs_f64();
        Self {
            joining,
            datagrams_per_second: rate(joining.datagrams, later.datagrams),
            bytes_per_second: rate(joining.bytes, later.bytes),
        }
    }

    fn per_second(&self) -> String {
        datagrams(self.datagrams_per_second, self.bytes_per_second)
    }
}

fn datagrams(count: f64, size_bytes: f64) -> String {
    let count = format!("{count:.0}");
    let word = if count == "1" { "datagram" } else { "datagrams" };
    format!("{count} {word} ({})", bytes(size_bytes))
}

fn findings(others: &Others, costs: Option<&Costs>, is_off: bool) -> Vec<Finding> {
    let mut findings = vec![Finding::ok(AREA, summary(others, costs))];
    findings.extend(others.astray.iter().map(|(why, count)| {
        let (reason, cure) = why.words(is_off);
        let participants = if *count == 1 { "participant" } else { "participants" };
        let text = format!(
            "the network, and not shared memory, has found {count} {participants} of Feros on this \
             host: {reason}"
        );
        Finding::warning(AREA, text, cure)
    }));
    if others.by_network > MANY_BY_NETWORK {
        let text = format!(
            "the network has found {} participants: each of them sends all that it announces to \
             each other one",
            others.by_network
        );
        findings.push(Finding::warning(AREA, text, fewer(others)));
    }
    if let Some(costs) = costs.filter(|costs| costs.datagrams_per_second > MANY_PER_SECOND) {
        let text = format!(
            "{} arrive in a second, although this command subscribes to nothing: discovery, or \
             messages by multicast",
            costs.per_second()
        );
        let cure = format!(
            "{}; to send no messages by multicast: export CYCLONEDDS_URI='<General>\
             <AllowMulticast>spdp</AllowMulticast></General>'",
            fewer(others)
        );
        findings.push(Finding::warning(AREA, text, cure));
    }
    findings
}

fn summary(others: &Others, costs: Option<&Costs>) -> String {
    let Others { neighbours, by_network, .. } = others;
    let participants = match neighbours + by_network {
        // What has arrived then came from this process.
        0 => return "no other participants".to_owned(),
        1 => "1 other participant".to_owned(),
        count => format!("{count} other participants"),
    };
    let found =
        format!("{participants}: {neighbours} in shared memory, {by_network} by the network");
    let Some(costs) = costs else { return found };
    let Traffic { datagrams: count, bytes } = costs.joining;
    let joining = datagrams(count as f64, bytes as f64);
    format!("{found}; joining took {joining}, staying takes {} a second", costs.per_second())
}

/// How to have fewer participants that the network finds.
fn fewer(others: &Others) -> String {
    let stock = if others.stock == 0 {
        ""
    } else {
        "start the stock nodes of this host with RMW_IMPLEMENTATION=rmw_feros \
         (docs/book/pages/rmw.md); "
    };
    format!(
        "{stock}compose nodes into fewer processes (feros container); give each robot its own \
         ROS_DOMAIN_ID"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros::shm::format_version;
    use feros_engine::{EndpointInfo, EndpointKind, NodeName};

    use super::*;
    use crate::commands::doctor::finding::Status;

    const HERE: Place = Place {
        host: HostId { boot: 1, user_namespace: 2, pid_namespace: 3, dev_shm: 4 },
        uid: 1000,
    };

    /// A participant of Feros that the network has found.
    fn participant(number: u8) -> ParticipantInfo {
        let library = Library::parse("01.10 r/11.0.0/");
        ParticipantInfo { library, is_feros: true, ..ParticipantInfo::new(Gid([number; 16])) }
    }

    /// An endpoint of a participant. The place has the form of an announcement.
    fn endpoint(participant: u8, place: &str) -> EndpointInfo {
        let node = NodeName::new("/", "n").unwrap();
        let announcement = format!("{:x},{place},2b,8,a,phn,5", format_version());
        EndpointInfo {
            gid: Gid([participant; 16]),
            announcement: Some(announcement.into()),
            ..EndpointInfo::of_node(EndpointKind::Publisher, "/a", "std_msgs/msg/Bool", node)
        }
    }

    fn warnings(others: &Others, costs: Option<&Costs>, is_off: bool) -> Vec<(String, String)> {
        let all = findings(others, costs, is_off).into_iter();
        let warnings = all.filter(|finding| finding.status == Status::Warning);
        warnings.map(|finding| (finding.text, finding.cure.unwrap())).collect()
    }

    #[test]
    fn participants_are_counted_by_how_they_were_found() {
        let neighbour = ParticipantInfo { is_neighbour: true, ..participant(1) };
        let library = Library::parse("01.0f 3.2.2.0");
        let on_fast_dds = ParticipantInfo { library, ..participant(2) };
        let stock = ParticipantInfo { is_feros: false, library, ..participant(3) };
        let graph = GraphSnapshot {
            participants: [neighbour, on_fast_dds, stock]
                .into_iter()
                .chain((4..=9).map(participant))
                .collect(),
            endpoints: vec![
                endpoint(1, "1-2-3-4,3e8"),
                endpoint(2, "1-2-3-4,3e8"),
                endpoint(4, "1-2-3-4,3e9"),
                endpoint(5, "1-2-9-5,3e8"),
                endpoint(6, "1-2-9-4,3e8"),
                endpoint(6, "1-2-9-4,3e8"),
                endpoint(7, "ff-2-3-4,3e8"), // on another host
                endpoint(9, "1-2-3-4,3e8"),
            ],
            ..GraphSnapshot::default()
        };
        let own = [Gid([9; 16])];
        let astray = [Why::OtherEngine, Why::OtherUser, Why::OtherSharedMemory, Why::NotShown];
        let astray = astray.into_iter().map(|why| (why, 1)).collect();
        let expected = Others { neighbours: 1, by_network: 7, stock: 1, astray };
        assert_eq!(Others::of(&graph, &own, Some(HERE)), expected);
        let astray = BTreeMap::new();
        assert_eq!(Others::of(&graph, &own, None), Others { astray, ..expected });
    }

    #[test]
    fn numbers_are_told_and_few_need_no_cure() {
        let [joining, later] =
            [(96, 38_000), (102, 39_200)].map(|(datagrams, bytes)| Traffic { datagrams, bytes });
        let costs = Costs::new(joining, later, Duration::from_secs(2));
        let others = Others { neighbours: 98, by_network: 5, ..Others::default() };
        let text = "103 other participants: 98 in shared memory, 5 by the network; joining took 96 \
                    datagrams (38.0 KB), staying takes 3 datagrams (600 B) a second";
        assert_eq!(findings(&others, Some(&costs), true), [Finding::ok(AREA, text)]);
        let one = Others { neighbours: 1, ..Others::default() };
        let text = "1 other participant: 1 in shared memory, 0 by the network";
        assert_eq!(findings(&one, None, false), [Finding::ok(AREA, text)]);
        let nobody = Others::default();
        let text = "no other participants";
        assert_eq!(findings(&nobody, Some(&costs), false), [Finding::ok(AREA, text)]);
        assert_eq!(datagrams(1.4, 1234.0), "1 datagram (1.2 KB)");
    }

    #[test]
    fn what_is_much_is_a_warning() {
        let of = |by_network, stock| Others { by_network, stock, ..Others::default() };
        assert!(warnings(&of(MANY_BY_NETWORK, 1), None, false).is_empty());
        for (stock, names_rmw) in [(0, false), (1, true)] {
            let found = warnings(&of(MANY_BY_NETWORK + 1, stock), None, false);
            let [(text, cure)] = &found[..] else { panic!("{found:?}") };
            assert!(text.starts_with("the network has found 51 participants: "), "{text}");
            assert_eq!(cure.contains("RMW_IMPLEMENTATION=rmw_feros"), names_rmw, "{cure}");
            assert!(cure.contains("feros container") && cure.contains("ROS_DOMAIN_ID"), "{cure}");
        }
        let costs = |datagrams| {
            let later = Traffic { datagrams, bytes: 100 * datagrams };
            Costs::new(Traffic::default(), later, Duration::from_secs(1))
        };
        assert!(warnings(&of(1, 0), Some(&costs(500)), false).is_empty());
        let found = warnings(&of(1, 0), Some(&costs(501)), false);
        let [(text, cure)] = &found[..] else { panic!("{found:?}") };
        assert!(text.starts_with("501 datagrams (50.1 KB) arrive in a second, "), "{text}");
        assert!(cure.contains("<AllowMulticast>spdp<"), "{cure}");
    }

    #[test]
    fn participants_that_could_be_neighbours_are_told_with_the_reason() {
        let astray = [(Why::OtherUser, 1), (Why::NotShown, 2)].into();
        let others = Others { by_network: 3, astray, ..Others::default() };
        let found = warnings(&others, None, false);
        let [(user, as_one), (hidden, settings)] = &found[..] else { panic!("{found:?}") };
        let text = "the network, and not shared memory, has found 1 participant of Feros on this \
                    host: another user";
        assert_eq!(user, text);
        assert!(as_one.contains("as one user"), "{as_one}");
        assert!(hidden.contains("2 participants of Feros on this host: other set"), "{hidden}");
        assert!(settings.contains("CYCLONEDDS_URI"), "{settings}");
        let found = warnings(&others, None, true);
        let [_, (off, unset)] = &found[..] else { panic!("{found:?}") };
        assert!(off.ends_with("FEROS_NEIGHBOURS=0 is set here"), "{off}");
        assert!(unset.starts_with("unset FEROS_NEIGHBOURS"), "{unset}");
    }
}
