//! Finds programs of this host that are not discovered here because they are in another domain.

use std::collections::{BTreeMap, BTreeSet};

use feros_engine::SessionOptions;
use feros_monitor::{DomainProgram, Program, listed};

use super::finding::Finding;

const AREA: &str = "domains";

pub(super) fn examine() -> Vec<Finding> {
    match SessionOptions::from_variables(|name| std::env::var_os(name)) {
        Ok(options) => findings(options.domain_id, feros_monitor::domain_programs()),
        // The finding about the environment reports this error.
        Err(_) => Vec::new(),
    }
}

fn findings(own: u32, programs: Vec<DomainProgram>) -> Vec<Finding> {
    let here: BTreeSet<Program> = programs
        .iter()
        .filter(|found| found.domain_id == own)
        .map(|found| found.program.clone())
        .collect();
    let mut elsewhere: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for DomainProgram { domain_id, program } in programs {
        if domain_id == own {
            continue;
        }
        // A bridge is in both domains. A program that inherited the sockets of the node that
        // started it, as can happen with Fast DDS, appears to be in both domains as well.
        let too =
            if here.contains(&program) { format!(", also in domain {own}") } else { String::new() };
        elsewhere.entry(domain_id).or_default().push(match program {
            Program::Process { pid, name } => format!("{name} ({pid}{too})"),
            Program::OfUser(user) => format!("programs of user {user}"),
        });
    }
    let finding = |(domain, programs): (u32, Vec<String>)| {
        let text = format!(
            "programs in domain {domain}, while this shell is in domain {own}: {}",
            listed(&programs)
        );
        let cure = format!(
            "to see them here: export ROS_DOMAIN_ID={domain} in this shell, or start \
             them with ROS_DOMAIN_ID={own}"
        );
        Finding::warning(AREA, text, cure)
    };
    elsewhere.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_other_domains_are_named() {
        let program = |domain_id, pid, name: &str| {
            let program = Program::Process { pid, name: name.to_owned() };
            DomainProgram { domain_id, program }
        };
        let other = DomainProgram { domain_id: 9, program: Program::OfUser(1000) };
        let here = vec![program(7, 1, "talker"), program(7, 2, "bridge")];
        assert_eq!(findings(7, here.clone()), []);
        let there = vec![program(9, 2, "bridge"), program(9, 3, "listener"), other];
        let found = findings(7, [here, there].concat());
        assert_eq!(
            found,
            [Finding::warning(
                AREA,
                "programs in domain 9, while this shell is in domain 7: bridge (2, also in \
                 domain 7), listener (3), programs of user 1000",
                "to see them here: export ROS_DOMAIN_ID=9 in this shell, or start them \
                 with ROS_DOMAIN_ID=7"
            )]
        );
    }
}
