//! The programs of this host, and the DDS domains that they are in.
//!
//! The ports on which a participant listens reveal its domain (DDSI-RTPS 2.5, 9.6.2.3): the ports
//! of domain `d` begin at 7400 + 250 d. The system lists the ports in use, so this module need not
//! join any domain.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use procfs::net::UdpNetEntry;
use procfs::process::{FDTarget, Process};

use crate::program_name::program_name;

const FIRST_PORT: u16 = 7400;
const PORTS_OF_A_DOMAIN: u16 = 250;
/// The first port of a domain's participants, counted from the domain's first port. Each
/// participant has two ports, one for discovery and one for messages.
const FIRST_OF_PARTICIPANTS: u16 = 10;

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
    let tables = [procfs::net::udp(), procfs::net::udp6()];
    let sockets: Vec<_> = tables.into_iter().flatten().flatten().collect();
    let sockets = sockets.into_iter().filter(|socket| domain_of(port(socket)).is_some());
    let mut sockets: BTreeMap<u64, UdpNetEntry> =
        sockets.map(|socket| (socket.inode, socket)).collect();
    let given_out = given_out_ports();
    let mut found = BTreeSet::new();
    let mut note = |program: &Program, ports: &BTreeSet<u16>| {
        found.extend(domains(ports, &given_out).into_iter().map(|domain_id| {
            let program = program.clone();
            DomainProgram { domain_id, program }
        }));
    };
    for process in oldest_first() {
        if sockets.is_empty() {
            break;
        }
        let Ok(descriptors) = process.fd() else { continue };
        let inodes = descriptors.flatten().filter_map(|descriptor| match descriptor.target {
            FDTarget::Socket(inode) => Some(inode),
            _ => None,
        });
        let ports = inodes.filter_map(|inode| sockets.remove(&inode)).map(|socket| port(&socket));
        let ports: BTreeSet<u16> = ports.collect();
        let pid = process.pid.unsigned_abs();
        if !ports.is_empty() && pid != std::process::id() {
            note(&Program::Process { pid, name: name(&process) }, &ports);
        }
    }
    let mut of_users: BTreeMap<u32, BTreeSet<u16>> = BTreeMap::new();
    for socket in sockets.values() {
        of_users.entry(socket.uid).or_default().insert(port(socket));
    }
    for (user, ports) in of_users {
        note(&Program::OfUser(user), &ports);
    }
    found.into_iter().collect()
}

/// All processes, the oldest first: a child is younger than its parent, from which it may have
/// inherited sockets.
fn oldest_first() -> Vec<Process> {
    let all = procfs::process::all_processes().into_iter().flatten().flatten();
    let mut all: Vec<(u64, Process)> =
        all.filter_map(|process| Some((process.stat().ok()?.starttime, process))).collect();
    all.sort_by_key(|(started, process)| (*started, process.pid));
    all.into_iter().map(|(_, process)| process).collect()
}

fn port(socket: &UdpNetEntry) -> u16 {
    socket.local_address.port()
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

/// A port's domain, and its position among the domain's ports.
fn domain_of(port: u16) -> Option<(u32, u16)> {
    let beyond = port.checked_sub(FIRST_PORT)?;
    Some((u32::from(beyond / PORTS_OF_A_DOMAIN), beyond % PORTS_OF_A_DOMAIN))
}

/// The domains of a program that listens on these ports. A program belongs to a domain if it
/// listens on the port for the multicast announcements of participants, or on both ports of one
/// participant. Ports that the system assigns prove nothing.
fn domains(ports: &BTreeSet<u16>, given_out: &RangeInclusive<u16>) -> BTreeSet<u32> {
    let domain = |port: &u16| {
        let (domain, number) = domain_of(*port)?;
        let is_pair = number >= FIRST_OF_PARTICIPANTS
            && number.is_multiple_of(2)
            && ports.contains(&port.checked_add(1)?);
        (number == 0 || is_pair && !given_out.contains(port)).then_some(domain)
    };
    ports.iter().filter_map(domain).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;

    #[test]
    fn ports_say_the_domain() {
        let of = |ports: &[u16]| {
            let domains = domains(&ports.iter().copied().collect(), &(32_768..=60_999));
            domains.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(of(&[7400]), [0], "multicast of domain 0");
        assert_eq!(of(&[7400 + 250 * 7 + 10, 7400 + 250 * 7 + 11]), [7]);
        assert_eq!(of(&[7400 + 250 * 7 + 12, 7400 + 250 * 9]), [9], "half a pair says nothing");
        assert_eq!(of(&[7400 + 250 * 232 + 10, 7400 + 250 * 232 + 11]), [232]);
        let none: [u32; 0] = [];
        assert_eq!(of(&[7400 + 250 * 150 + 10, 7400 + 250 * 150 + 11]), none, "given out");
        assert_eq!(of(&[7400 + 250 * 150]), [150]);
        assert_eq!(of(&[53, 5353, 7399, 7401, 7411, 65_535]), none);
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
