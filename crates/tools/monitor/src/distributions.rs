//! The distributions of ROS 2 in a domain, as far as announcements show them.
//!
//! No participant announces its distribution. But distributions announce their nodes, their types
//! and their libraries in different ways, and each comes with versions of its own of Fast DDS and
//! Cyclone DDS:
//!
//! | distribution | nodes | types | Fast DDS | Cyclone DDS |
//! |---|---|---|---|---|
//! | Humble | in a form of its own | without hashes | 2.6 | 0.10 |
//! | Jazzy, and Iron before it | in the form since Iron | with hashes | before 3.0 | 0.10 |
//! | Kilted | as Jazzy | as Jazzy | 3.0 to 3.2 | 0.10 |
//! | Lyrical or later | as Jazzy | some with buffer backends | 3.3 or newer | 11 or newer |
//!
//! A user may of course run another version of a library.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use feros_engine::dds::library::{Library, LibraryVersion};
use feros_engine::{DiscoveryForm, Gid, GraphSnapshot, NodeName, ParticipantInfo};

/// A distribution of ROS 2, or Feros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distribution {
    /// Feros, programs of stock ROS 2 on `rmw_feros` among them.
    Feros,
    /// ROS 2 Humble.
    Humble,
    /// ROS 2 Jazzy, or Iron, which announces the same.
    Jazzy,
    /// ROS 2 Kilted.
    Kilted,
    /// ROS 2 Lyrical, or a later distribution.
    LyricalOrLater,
}

use Distribution::{Feros, Humble, Jazzy, Kilted, LyricalOrLater};

impl Distribution {
    /// The name for programs, in lower case.
    pub fn id(self) -> &'static str {
        match self {
            Feros => "feros",
            Humble => "humble",
            Jazzy => "jazzy",
            Kilted => "kilted",
            LyricalOrLater => "lyrical_or_later",
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Feros => "Feros",
            Humble => "Humble",
            Jazzy => "Jazzy",
            Kilted => "Kilted",
            LyricalOrLater => "Lyrical or later",
        })
    }
}

/// The participants on one protocol whose announcements leave the same distributions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistributionGroup {
    /// The distributions that the announcements leave, in the order of their release. It is empty
    /// if the announcements show nothing, as those of programs without ROS 2.
    pub may_be: &'static [Distribution],
    /// Whether the participants are on DDS. The others are on Zenoh, or nodes of ROS 1.
    pub is_on_dds: bool,
    /// The number of participants.
    pub participants: usize,
    /// The number of participants that announce their nodes in the form of Humble.
    pub in_form_of_humble: usize,
    /// Their libraries.
    pub libraries: BTreeSet<Library>,
    /// Their nodes, sorted by name.
    pub nodes: BTreeSet<NodeName>,
}

impl DistributionGroup {
    /// The distributions in words, such as `Jazzy or Kilted`, or `unknown`.
    pub fn name(&self) -> String {
        let names =
            |of: &[Distribution]| of.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match self.may_be {
            [] => "unknown".to_owned(),
            [one] => one.to_string(),
            [.., LyricalOrLater] => names(self.may_be),
            [others @ .., last] => format!("{} or {last}", names(others)),
        }
    }
}

/// The distributions in a domain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Distributions {
    /// The participants in groups: Feros, then the distributions in the order of their release,
    /// then the unknown. A program on two engines may see a distribution on both, in two groups.
    pub groups: Vec<DistributionGroup>,
    /// Whether this process announces its nodes in the form of Humble.
    pub is_own_form_of_humble: bool,
}

impl Distributions {
    /// The distributions that a graph shows, without the participants `own` of this process.
    pub fn of(graph: &GraphSnapshot, own: &[Gid]) -> Self {
        let mut nodes: HashMap<Gid, Vec<&NodeName>> = HashMap::new();
        for node in &graph.nodes {
            nodes.entry(node.participant).or_default().push(&node.name);
        }
        let mut groups: BTreeMap<(bool, &'static [Distribution], bool), DistributionGroup> =
            BTreeMap::new();
        let mut is_own_form_of_humble = false;
        for participant in &graph.participants {
            let is_humble = participant.form == Some(DiscoveryForm::Humble);
            if own.iter().any(|own| participant.gid.is_of_session_of(own)) {
                is_own_form_of_humble |= is_humble;
                continue;
            }
            let (may_be, is_on_dds) = (may_be(participant), participant.library.is_some());
            let group = groups.entry((may_be.is_empty(), may_be, !is_on_dds));
            let group = group.or_insert(DistributionGroup {
                may_be,
                is_on_dds,
                participants: 0,
                in_form_of_humble: 0,
                libraries: BTreeSet::new(),
                nodes: BTreeSet::new(),
            });
            group.participants += 1;
            group.in_form_of_humble += usize::from(is_humble);
            group.libraries.extend(participant.library);
            let names = nodes.remove(&participant.gid).into_iter().flatten().cloned();
            group.nodes.extend(names);
        }
        Self { groups: groups.into_values().collect(), is_own_form_of_humble }
    }

    /// The group to which a node belongs; if several nodes share the name, the group of one of
    /// them.
    pub fn of_node(&self, node: &NodeName) -> Option<&DistributionGroup> {
        self.groups.iter().find(|group| group.nodes.contains(node))
    }
}

/// The distributions that a participant's announcements leave.
fn may_be(of: &ParticipantInfo) -> &'static [Distribution] {
    if of.is_feros {
        return &[Feros];
    }
    if of.form == Some(DiscoveryForm::Humble) {
        return &[Humble];
    }
    if of.has_buffer_backends {
        return &[LyricalOrLater];
    }
    if of.form.is_none() && !of.has_type_hashes {
        return &[];
    }
    match of.library {
        Some(Library { vendor: Library::EPROSIMA, version }) => match version {
            LibraryVersion::Named([major, minor, _]) if (major, minor) >= (3, 3) => {
                &[LyricalOrLater]
            }
            LibraryVersion::Named([3, ..]) => &[Kilted],
            LibraryVersion::Named(_) | LibraryVersion::NotNamed => &[Jazzy],
            LibraryVersion::Unknown => &[Jazzy, Kilted, LyricalOrLater],
        },
        Some(Library { vendor: Library::ECLIPSE, version }) => match version {
            LibraryVersion::Named([major, ..]) if major >= 11 => &[LyricalOrLater],
            LibraryVersion::Named(_) | LibraryVersion::NotNamed => &[Jazzy, Kilted],
            LibraryVersion::Unknown => &[Jazzy, Kilted, LyricalOrLater],
        },
        _ => &[Jazzy, Kilted, LyricalOrLater],
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros_engine::NodeInfo;

    use super::*;

    fn participant(number: u8) -> ParticipantInfo {
        ParticipantInfo::new(Gid([number; 16]))
    }

    fn since_iron(number: u8, library: &str) -> ParticipantInfo {
        ParticipantInfo {
            form: Some(DiscoveryForm::SinceIron),
            library: Library::parse(library),
            has_type_hashes: true,
            ..participant(number)
        }
    }

    fn humble(number: u8) -> ParticipantInfo {
        ParticipantInfo {
            form: Some(DiscoveryForm::Humble),
            library: Library::parse("01.0f"),
            ..participant(number)
        }
    }

    fn distributions(participants: Vec<ParticipantInfo>, own: &[Gid]) -> Distributions {
        let nodes = participants.iter().map(|participant| NodeInfo {
            name: NodeName::new("/", &format!("n{}", participant.gid.0[0])).unwrap(),
            enclave: "/".into(),
            participant: participant.gid,
        });
        let nodes = nodes.collect();
        let graph = GraphSnapshot { participants, nodes, ..GraphSnapshot::default() };
        Distributions::of(&graph, own)
    }

    fn name(of: ParticipantInfo) -> String {
        distributions(vec![of], &[]).groups[0].name()
    }

    #[test]
    fn announcements_leave_one_distribution_or_several() {
        for (library, expected) in [
            ("01.0f", "Jazzy"),
            ("01.0f 2.14.5.0", "Jazzy"),
            ("01.0f 3.2.2.0", "Kilted"),
            ("01.0f 3.6.1.0", "Lyrical or later"),
            ("01.0f 4.0.0.0", "Lyrical or later"),
            ("01.10 robot/0.10.5/Linux/Linux", "Jazzy or Kilted"),
            ("01.10 robot/11.0.1/Linux/Linux", "Lyrical or later"),
            ("01.10", "Jazzy or Kilted"),
            ("01.01", "Jazzy, Kilted, Lyrical or later"),
        ] {
            assert_eq!(name(since_iron(1, library)), expected, "{library}");
        }
        let mut prefix = [1; 12];
        for vendor in [Library::EPROSIMA, Library::ECLIPSE] {
            prefix[..2].copy_from_slice(&vendor);
            let library = Some(Library::of_guid_prefix(prefix));
            let of = ParticipantInfo { library, ..since_iron(1, "") };
            assert_eq!(name(of), "Jazzy, Kilted, Lyrical or later", "the engine tells no version");
        }
    }

    #[test]
    fn what_is_said_outright_counts_more_than_the_library() {
        let kilted = || since_iron(1, "01.0f 3.2.2.0");
        assert_eq!(name(humble(1)), "Humble");
        assert_eq!(name(ParticipantInfo { is_feros: true, ..humble(1) }), "Feros");
        assert_eq!(name(ParticipantInfo { is_feros: true, ..kilted() }), "Feros");
        let backends = ParticipantInfo { has_buffer_backends: true, ..kilted() };
        assert_eq!(name(backends), "Lyrical or later");
        let library = kilted().library;
        assert_eq!(name(ParticipantInfo { library, ..participant(1) }), "unknown");
        let hash = ParticipantInfo { library, has_type_hashes: true, ..participant(1) };
        assert_eq!(name(hash), "Kilted", "its nodes are not announced yet");
        let zenoh = ParticipantInfo { library: None, ..kilted() };
        assert_eq!(name(zenoh), "Jazzy, Kilted, Lyrical or later");
    }

    #[test]
    fn participants_are_counted_in_groups_with_their_nodes_and_libraries() {
        let feros = |number| ParticipantInfo { is_feros: true, ..humble(number) };
        let of = vec![
            participant(1),
            since_iron(2, "01.0f 3.2.2.0"),
            since_iron(3, "01.0f 3.2.0.0"),
            humble(4),
            feros(5),
            feros(6),
        ];
        let found = distributions(of, &[Gid([6; 16])]);
        let names: Vec<_> = found.groups.iter().map(DistributionGroup::name).collect();
        assert_eq!(names, ["Feros", "Humble", "Kilted", "unknown"]);
        let counts: Vec<_> =
            found.groups.iter().map(|of| (of.participants, of.in_form_of_humble)).collect();
        assert_eq!(counts, [(1, 1), (1, 1), (2, 0), (1, 0)]);
        let libraries = found.groups[2].libraries.iter().map(ToString::to_string);
        assert_eq!(libraries.collect::<Vec<_>>(), ["Fast DDS 3.2.0", "Fast DDS 3.2.2"]);
        let nodes = found.groups[2].nodes.iter().map(ToString::to_string);
        assert_eq!(nodes.collect::<Vec<_>>(), ["/n2", "/n3"]);
        assert!(found.is_own_form_of_humble);
        let node = |name| NodeName::new("/", name).unwrap();
        assert_eq!(found.of_node(&node("n4")).unwrap().name(), "Humble");
        assert_eq!(found.of_node(&node("n6")), None, "this process is left out");
    }

    #[test]
    fn a_distribution_on_dds_and_on_zenoh_is_in_two_groups() {
        let on_zenoh = ParticipantInfo { library: None, ..humble(2) };
        let found = distributions(vec![on_zenoh, humble(1)], &[]);
        let shown: Vec<_> = found.groups.iter().map(|of| (of.name(), of.is_on_dds)).collect();
        assert_eq!(shown, [("Humble".to_owned(), true), ("Humble".to_owned(), false)]);
    }

    #[test]
    fn an_empty_domain_has_no_groups() {
        assert_eq!(distributions(Vec::new(), &[]), Distributions::default());
        let own = distributions(vec![since_iron(1, "01.10")], &[Gid([1; 16])]);
        assert_eq!(own, Distributions::default());
    }
}
