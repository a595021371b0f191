//! The programs of this host, and the DDS domains that they are in.
//!
//! The ports on which a participant listens reveal its domain (DDSI-RTPS 2.5, 9.6.2.3): the ports
//! of domain `d` begin at 7400 + 250 d. The system lists the ports in use, so this module need not
//! join any domain.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::ops::RangeInclusive;

use procfs::net::UdpNetEntry;
use procfs::process::{FDTarget, Process};

use crate::program_name::program_name;

const FIRST_PORT: u16 = 7400;
const PORTS_OF_A_DOMAIN: u16 = 250;
/// The first port of a domain's participants, counted from the domain's first port. Each
/// participant has two ports, one for discovery and one for messages.
const FIRST_OF_PARTICIPANTS: u16 = 10;
/// The limit on other sockets at ports that the system assigned, for each socket of a program at a
/// port of a domain that the system may have assigned as well. A participant sends from a few such
/// ports. Of `n` sockets at random ports of Linux's usual range, about `n * n / 59_000` pairs look
/// like those of a participant.
const MOST_OTHERS: usize = 4;

/// A program that takes part in a domain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DomainProgram {
    /// The domain.
    pub domain_id: u32,
    /// The program.
    pub program: Program,
}

/// A program, as far as this user may inspect it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// A process of this user (of all users, for root).
    Process {
        /// Its id.
        pid: u32,
        /// The name that people know the process by.
        name: String,
    },
    /// A process of another user; only that user's number is known.
    OfUser(u32),
}

/// The programs of this host (of this network namespace) that use DDS, sorted by domain. This
/// process is left out, and so are programs on other protocols, such as Zenoh, which do not use
/// these ports.
pub fn domain_programs() -> Vec<DomainProgram> {
    programs_but(std::process::id())
}

/// The programs of this host that use DDS, without the process that has this id.
fn programs_but(left_out: u32) -> Vec<DomainProgram> {
    let tables = [procfs::net::udp(), procfs::net::udp6()];
    let sockets = tables.into_iter().flatten().flatten().filter(may_be_of_participant);
    let mut sockets: BTreeMap<u64, UdpNetEntry> =
        sockets.map(|socket| (socket.inode, socket)).collect();
    let given_out = given_out_ports();
    let mut found = BTreeSet::new();
    let mut note = |program: &Program, sockets: &BTreeSet<SocketAddr>| {
        found.extend(domains(sockets, &given_out).into_iter().map(|domain_id| {
            let program = program.clone();
            DomainProgram { domain_id, program }
        }));
    };
    for id in oldest_first() {
        if sockets.is_empty() {
            break;
        }
        let Ok(process) = Process::new(id) else { continue };
        let Ok(descriptors) = process.fd() else { continue };
        let inodes = descriptors.flatten().filter_map(|descriptor| match descriptor.target {
            FDTarget::Socket(inode) => Some(inode),
            _ => None,
        });
        let own: BTreeSet<SocketAddr> = inodes
            .filter_map(|inode| sockets.remove(&inode))
            .map(|socket| socket.local_address)
            .collect();
        let pid = id.unsigned_abs();
        if !own.is_empty() && pid != left_out {
            note(&Program::Process { pid, name: name(&process) }, &own);
        }
    }
    let mut of_users: BTreeMap<u32, BTreeSet<SocketAddr>> = BTreeMap::new();
    for socket in sockets.values() {
        of_users.entry(socket.uid).or_default().insert(socket.local_address);
    }
    for (user, sockets) in of_users {
        note(&Program::OfUser(user), &sockets);
    }
    found.into_iter().collect()
}

/// Whether a participant may listen on this socket: a participant hears all senders.
fn may_be_of_participant(socket: &UdpNetEntry) -> bool {
    socket.remote_address.port() == 0 && domain_of(socket.local_address.port()).is_some()
}

/// The ids of all processes, the oldest first: a child is younger than its parent, from which it
/// may have inherited sockets. A [`Process`] holds a descriptor, and a host may have more processes
/// than a program may have descriptors.
fn oldest_first() -> Vec<i32> {
    let all = procfs::process::all_processes().into_iter().flatten().flatten();
    let mut all: Vec<(u64, i32)> =
        all.filter_map(|process| Some((process.stat().ok()?.starttime, process.pid))).collect();
    all.sort_unstable();
    all.into_iter().map(|(_, id)| id).collect()
}

fn name(process: &Process) -> String {
    program_name(&process.cmdline().unwrap_or_default())
}

/// The ports that the system assigns to programs that ask for no particular port.
fn given_out_ports() -> RangeInclusive<u16> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let ends = text.ok().and_then(|text| {
        let mut ends = text.split_whitespace().map(str::parse);
        Some(ends.next()?.ok()?..=ends.next()?.ok()?)
    });
    ends.unwrap_or(32_768..=60_999)
}

/// The UDP ports on which nodes of a domain listen, if they follow from the number of the domain;
/// `None` if the domain has no ports.
pub fn ports_of_domain(domain_id: u32) -> Option<RangeInclusive<u16>> {
    let beyond = domain_id.checked_mul(u32::from(PORTS_OF_A_DOMAIN))?;
    let first = u16::try_from(beyond.checked_add(u32::from(FIRST_PORT))?).ok()?;
    Some(first..=first.saturating_add(PORTS_OF_A_DOMAIN - 1))
}

/// A port's domain, and its position among the domain's ports.
fn domain_of(port: u16) -> Option<(u32, u16)> {
    let beyond = port.checked_sub(FIRST_PORT)?;
    Some((u32::from(beyond / PORTS_OF_A_DOMAIN), beyond % PORTS_OF_A_DOMAIN))
}

/// The domains of a program that listens on these sockets. A program belongs to a domain if it
/// listens on the port for the multicast announcements of participants, or on both ports of one
/// participant. A single port that the system may have assigned proves nothing: two such ports must
/// belong together, and the program may not have so many that this could be chance.
fn domains(sockets: &BTreeSet<SocketAddr>, given_out: &RangeInclusive<u16>) -> BTreeSet<u32> {
    let mut domains = BTreeSet::new();
    // The sockets at ports that the system may have assigned: those of each domain, and the others.
    let (mut of_domains, mut others) = (BTreeMap::<u32, usize>::new(), 0);
    for socket in sockets {
        let is_given_out = given_out.contains(&socket.port());
        match domain_of_place(socket, sockets) {
            Some(domain) if is_given_out => *of_domains.entry(domain).or_default() += 1,
            Some(domain) => {
                domains.insert(domain);
            }
            None if is_given_out => others += 1,
            None => {}
        }
    }
    let is_no_chance = |count: usize| count > 1 && others <= count * MOST_OTHERS;
    domains.extend(of_domains.into_iter().filter(|(_, count)| is_no_chance(*count)).map(|it| it.0));
    domains
}

/// The domain of a socket that is where a participant of this domain listens. A participant listens
/// on the port for announcements, which may be alone; on the next port, for the multicast of
/// messages; and on its own two ports.
fn domain_of_place(socket: &SocketAddr, sockets: &BTreeSet<SocketAddr>) -> Option<u32> {
    let (domain, number) = domain_of(socket.port())?;
    let is_beside = |port: Option<u16>| {
        port.is_some_and(|port| sockets.contains(&SocketAddr::new(socket.ip(), port)))
    };
    let is_there = match number {
        0 => true,
        1 => is_beside(socket.port().checked_sub(1)),
        2..FIRST_OF_PARTICIPANTS => false,
        _ if number.is_multiple_of(2) => is_beside(socket.port().checked_add(1)),
        _ => is_beside(socket.port().checked_sub(1)),
    };
    is_there.then_some(domain)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;

    /// The domains of a program with these ports, where the system gives out Linux's usual ones.
    fn of(ports: &[u16]) -> Vec<u32> {
        let sockets = ports.iter().map(|port| SocketAddr::from((Ipv4Addr::UNSPECIFIED, *port)));
        domains(&sockets.collect(), &(32_768..=60_999)).into_iter().collect()
    }

    const NONE: [u32; 0] = [];

    #[test]
    fn ports_say_the_domain() {
        assert_eq!(of(&[7400]), [0], "multicast of domain 0");
        assert_eq!(of(&[7400 + 250 * 7 + 10, 7400 + 250 * 7 + 11]), [7]);
        assert_eq!(of(&[7400 + 250 * 7 + 12, 7400 + 250 * 9]), [9], "half a pair says nothing");
        assert_eq!(of(&[7400 + 250 * 7 + 1]), NONE);
        assert_eq!(of(&[7400 + 250 * 7 + 11, 7400 + 250 * 7 + 12]), NONE, "of two participants");
        assert_eq!(of(&[7400 + 250 * 232 + 10, 7400 + 250 * 232 + 11]), [232]);
        assert_eq!(of(&[65_534, 65_535]), [232], "its last participant");
        assert_eq!(of(&[53, 5353, 7399, 7401, 7411, 65_535]), NONE);
    }

    #[test]
    fn a_domain_has_its_own_ports() {
        assert_eq!(ports_of_domain(0), Some(7400..=7649));
        assert_eq!(ports_of_domain(7), Some(9150..=9399));
        assert_eq!(ports_of_domain(232), Some(65_400..=65_535));
        assert_eq!([233, u32::MAX].map(ports_of_domain), [None, None]);
        for domain in 0..=232 {
            let ports = ports_of_domain(domain).unwrap();
            for port in [*ports.start(), *ports.end()] {
                assert_eq!(domain_of(port).unwrap().0, domain, "port {port}");
            }
        }
    }

    #[test]
    fn ports_that_the_system_gives_out_say_the_domain_where_they_belong_together() {
        let first = 7400 + 250 * 150;
        // Cyclone DDS without and with multicast, and Fast DDS; each sends from some more ports.
        assert_eq!(of(&[first + 10, first + 11, 40_001]), [150]);
        assert_eq!(of(&[first, first + 1, 40_001, 50_000, 50_002]), [150]);
        assert_eq!(of(&[first, first + 12, first + 13, 40_001, 50_000]), [150]);
        let bridge = [first + 10, first + 11, 40_001, first + 260, first + 261, 40_003];
        assert_eq!(of(&bridge), [150, 151]);
        assert_eq!(of(&[first]), NONE, "the system may have assigned it");
        assert_eq!(of(&[first, first + 10]), NONE);
        assert_eq!(of(&[first + 1, first + 2]), NONE);
        assert_eq!(of(&[first + 11, first + 12]), NONE, "of two participants");
        let of_two_addresses =
            [(Ipv4Addr::UNSPECIFIED, first + 10), (Ipv4Addr::LOCALHOST, first + 11)];
        let sockets = of_two_addresses.map(SocketAddr::from);
        assert_eq!(domains(&sockets.into(), &(32_768..=60_999)), BTreeSet::new());
    }

    #[test]
    fn a_program_with_many_assigned_ports_is_in_no_domain_by_chance() {
        // A linear congruential generator gives ports as the system does. Its seeds are fixed.
        let mut state: u64 = 1;
        let mut assigned = |count: usize| -> Vec<u16> {
            let port = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                32_768 + u16::try_from((state >> 33) % 28_232).unwrap()
            };
            (0..count).map(port).collect()
        };
        for count in [30, 100, 1000, 5000] {
            for _ in 0..20 {
                let mut ports = assigned(count);
                let first = 7400 + 250 * 150;
                // These two belong together by chance.
                ports.extend([first + 40, first + 41]);
                assert_eq!(of(&ports), NONE, "{count} ports");
                ports.extend([7400 + 250 * 9 + 10, 7400 + 250 * 9 + 11]);
                assert_eq!(of(&ports), [9], "{count} ports, and two that it chose");
            }
        }
    }

    #[test]
    fn a_process_with_many_assigned_ports_is_not_named() {
        let sockets: Vec<_> =
            (0..400).map(|_| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap()).collect();
        let given_out = given_out_ports();
        let is_given_out = |found: &DomainProgram| {
            given_out.contains(&(FIRST_PORT + 250 * u16::try_from(found.domain_id).unwrap()))
        };
        // Other tests of this process may be in domains below.
        let own = std::process::id();
        let found = programs_but(0);
        let named = found
            .iter()
            .filter(|found| is_given_out(found))
            .find(|found| matches!(&found.program, Program::Process { pid, .. } if *pid == own));
        assert_eq!(named, None, "{} sockets", sockets.len());
    }

    #[test]
    fn the_list_of_processes_holds_no_process_open() {
        let processes = oldest_first();
        let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let open = descriptors
            .filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok())
            .filter(|target| target.starts_with("/proc/"))
            .count();
        // Other tests of this process may have some open.
        assert!(open < processes.len().max(20), "{open} of {}", processes.len());
    }

    #[test]
    fn connected_sockets_say_nothing() {
        let first = 7400 + 250 * 97;
        let pair =
            [first + 230, first + 231].map(|port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port)));
        // If another program has a port, this test cannot use it.
        let [Ok(discovery), Ok(messages)] = pair else { return };
        let own = std::process::id();
        let is_in_97 = || {
            programs_but(0).iter().any(|found| {
                found.domain_id == 97
                    && matches!(&found.program, Program::Process { pid, .. } if *pid == own)
            })
        };
        assert!(is_in_97());
        messages.connect(discovery.local_addr().unwrap()).unwrap();
        assert!(!is_in_97());
    }

    #[test]
    fn this_process_is_left_out() {
        let port = 7400 + 250 * 99;
        // If another program has the port, this test cannot use it.
        let Ok(_socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)) else { return };
        let own = std::process::id();
        let is_own = |found: &DomainProgram| matches!(&found.program, Program::Process { pid, .. } if *pid == own);
        assert!(!domain_programs().iter().any(is_own));
    }
}
