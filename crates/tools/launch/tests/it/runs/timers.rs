//! Tests delayed actions, also in simulated time, which runs slowly in the launcher of these tests.

use crate::launcher::{Launch, has, launch, shell};
use crate::workspace::Workspace;

#[test]
fn timers_do_their_actions_in_the_order_of_their_times() {
    let workspace = Workspace::new();
    let later = |period: &str, actions: &[String]| {
        format!("<timer period='{period}'>{}</timer>", actions.concat())
    };
    let say = |text: &str| format!("<log message='{text}'/>");
    let text = launch(&[
        later("0.4", &[say("second")]),
        later("0.2", &[shell("late", "echo here", ""), say("first")]),
        shell("early", "echo here", ""),
    ]);
    let (code, lines) = Launch::start(&workspace, &text).end();
    assert_eq!(code, 0);
    let at = |line: &str| {
        lines.iter().position(|each| each == line).unwrap_or_else(|| panic!("{line}: {lines:?}"))
    };
    assert!(at("[INFO] [launch]: first") < at("[INFO] [launch]: second"), "{lines:?}");
    assert!(has(&lines, "[late-1] here") && has(&lines, "[early-2] here"), "{lines:?}");
}

#[test]
fn timers_of_simulated_time_wait_for_it_and_not_for_each_other() {
    let workspace = Workspace::new();
    let later =
        |period: &str, actions: &str| format!("<ros_timer period='{period}'>{actions}</ros_timer>");
    let text = launch(&[
        "<set_use_sim_time value='true'/>".to_owned(),
        later("9", "<log message='never'/>"),
        later("0.02", "<log message='then'/><shutdown/>"),
        shell("stays", "sleep 1000", ""),
    ]);
    let (code, lines) = Launch::start(&workspace, &text).end();
    assert_eq!(code, 0, "{lines:?}");
    assert!(has(&lines, "[INFO] [launch]: then"), "{lines:?}");
    assert!(!has(&lines, "[INFO] [launch]: never"), "{lines:?}");
}
