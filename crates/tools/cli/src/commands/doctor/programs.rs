//! Programs of stock ROS 2 on this host: those that run on Feros's transports, and those that
//! should.

use std::collections::BTreeMap;

use feros_monitor::{RmwProgram, listed};

use super::finding::Finding;

const AREA: &str = "programs";
const OURS: &str = "rmw_feros";

pub(super) fn examine() -> Vec<Finding> {
    findings(&feros_monitor::rmw_programs())
}

fn findings(programs: &[RmwProgram]) -> Vec<Finding> {
    let mut by_rmw = BTreeMap::<&str, Vec<&RmwProgram>>::new();
    for program in programs {
        by_rmw.entry(&program.rmw).or_default().push(program);
    }
    let mut findings = Vec::new();
    for (rmw, programs) in by_rmw {
        let runs = if programs.len() == 1 { "program runs" } else { "programs run" };
        let names = names(&programs);
        findings.push(Finding::ok(AREA, format!("{} {runs} on {rmw}: {names}", programs.len())));
    }
    let astray = programs.iter().filter_map(|program| {
        let wanted = program.wanted.as_ref().filter(|wanted| **wanted != program.rmw)?;
        let RmwProgram { pid, name, rmw, .. } = program;
        let cure = if wanted == OURS {
            "install librmw_feros.so where the program finds it: pip install feros_rmw beside the \
             wheels of ROS 2, or scripts/install_rmw.sh PREFIX and source PREFIX/local_setup.bash"
                .to_owned()
        } else {
            format!("install {wanted}, or unset RMW_IMPLEMENTATION")
        };
        let text = format!("{name} ({pid}) runs on {rmw}, but RMW_IMPLEMENTATION names {wanted}");
        Some(Finding::warning(AREA, text, cure))
    });
    findings.extend(astray);
    findings
}

fn names(programs: &[&RmwProgram]) -> String {
    let named = |program: &&RmwProgram| format!("{} ({})", program.name, program.pid);
    listed(&programs.iter().map(named).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(pid: u32, rmw: &str, wanted: Option<&str>) -> RmwProgram {
        let wanted = wanted.map(str::to_owned);
        RmwProgram { pid, name: "talker".to_owned(), rmw: rmw.to_owned(), wanted }
    }

    #[test]
    fn programs_are_told_by_what_they_run_on() {
        let stock = "rmw_fastrtps_cpp";
        let mut programs: Vec<_> = (1..=7).map(|pid| program(pid, OURS, Some(OURS))).collect();
        programs.extend([program(8, stock, None), program(9, stock, Some(OURS))]);
        let findings = findings(&programs);
        let texts: Vec<_> = findings.iter().map(|finding| finding.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "2 programs run on rmw_fastrtps_cpp: talker (8), talker (9)",
                "7 programs run on rmw_feros: talker (1), talker (2), talker (3), talker (4), talker (5) and 2 more",
                "talker (9) runs on rmw_fastrtps_cpp, but RMW_IMPLEMENTATION names rmw_feros",
            ]
        );
        let cures = findings.iter().filter_map(|finding| finding.cure.as_deref());
        assert!(cures.eq([
            "install librmw_feros.so where the program finds it: pip install feros_rmw beside the \
            wheels of ROS 2, or scripts/install_rmw.sh PREFIX and source PREFIX/local_setup.bash"
        ]));
    }

    #[test]
    fn nothing_is_said_where_no_stock_program_runs() {
        assert_eq!(findings(&[]), []);
    }
}
