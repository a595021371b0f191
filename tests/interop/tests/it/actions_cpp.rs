//! Actions in both directions with rclcpp_action. `FEROS_STOCK` names the folder of the kit that
//! compiles the program; without it, the tests are skipped.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use feros::action::{CancelError, SendGoalError};
use feros::msgs::test_msgs::action::{Fibonacci, Fibonacci_Feedback, Fibonacci_Goal};
use feros::{ActionServerOptions, GoalStatus};
use feros_interop::{Domain, kit_of_cpp, prefix_of_ros2};
use feros_test_support::eventually;

use super::actions::{result, serve};
use crate::support::{Inbox, Spinning, WATCHDOG, node};

/// A stock node with a server of `/theirs/fib` and a client of `/ours/fib`, which print events to
/// standard output. Input lines make the server end its oldest goal, or tell the client what to
/// send.
const PROGRAM: &str = include_str!("actions_cpp/program.cpp");

struct Program {
    child: Child,
    /// The end of the input makes the program end cleanly.
    input: Option<ChildStdin>,
    said: Lines<BufReader<ChildStdout>>,
    folder: PathBuf,
}

impl Program {
    /// `None` if there is no kit.
    fn start(domain: &Domain) -> Option<Self> {
        let kit = kit_of_cpp()?;
        let venv = prefix_of_ros2()?;
        let folder = std::env::temp_dir().join(format!("feros_actions_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (source, program) = (folder.join("program.cpp"), folder.join("program"));
        std::fs::write(&source, PROGRAM).unwrap();
        let mut compile = Command::new(kit.join("rclcpp/compile.sh"));
        assert!(compile.args([&venv, &source, &program]).status().unwrap().success());
        let mut command = Command::new(kit.join("rclcpp/run.sh"));
        command.args([&venv, &program]).stdin(Stdio::piped()).stdout(Stdio::piped());
        domain.confine(&mut command);
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        Some(Self { child, input, said, folder })
    }

    fn tell(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    /// Reads the next line; the test fails if it differs from the expected line.
    #[track_caller]
    fn says(&mut self, expected: &str) {
        assert_eq!(self.said.next().unwrap().unwrap(), expected);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.input.take());
        let began = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && began.elapsed() < WATCHDOG {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn actions_of_rclcpp_and_feros_reach_each_other() {
    let Some(domain) = Domain::reserve() else { return };
    let Some(mut program) = Program::start(&domain) else { return };
    let node = node(&domain);
    let _spinning = Spinning::new(&node);
    let (_server, accepted) = serve(&node, "/ours/fib", ActionServerOptions::default());
    program.says("ready");
    // A stock client and a Feros server.
    program.tell("send 2");
    let goal = accepted.take();
    program.says("accepted");
    goal.publish_feedback(Fibonacci_Feedback { sequence: vec![0, 1] }).unwrap();
    program.says("feedback 2");
    goal.succeed(result(&[0, 1, 1])).unwrap();
    program.says("result 4 3");
    program.tell("send -1");
    program.says("rejected");
    program.tell("send 3");
    let (goal, other) = (accepted.take(), {
        program.says("accepted");
        program.tell("send 5");
        accepted.take()
    });
    program.says("accepted");
    program.tell("cancel_all");
    program.says("canceling 2 0");
    for goal in [goal, other] {
        assert!(goal.is_canceling());
        goal.canceled(result(&[])).unwrap();
        program.says("result 5 0");
    }
    program.tell("send 4");
    drop(accepted.take());
    program.says("accepted");
    program.says("result 5 0");

    // A Feros client and a stock server.
    let client = node.create_action_client::<Fibonacci>("/theirs/fib").unwrap();
    client.wait_for_server(WATCHDOG).unwrap();
    let send = |order| client.send_goal_and_wait(Fibonacci_Goal { order }, WATCHDOG);
    let error = send(-1).unwrap_err();
    assert!(matches!(error, SendGoalError::Rejected { .. }), "{error}");
    let feedback = Inbox::new();
    let sent = client.send_goal_with_feedback(Fibonacci_Goal { order: 3 }, feedback.putter());
    let goal = sent.unwrap().wait(WATCHDOG).unwrap();
    program.says("goal 3");
    program.tell("succeed");
    assert_eq!(feedback.take(), Fibonacci_Feedback { sequence: vec![3] });
    let outcome = goal.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!((outcome.status, outcome.result), (GoalStatus::Succeeded, result(&[3])));
    eventually(|| (goal.status() == GoalStatus::Succeeded).then_some(()).ok_or(goal.status()));
    let error = goal.cancel().unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, CancelError::GoalTerminated { .. }), "{error}");

    let goal = send(4).unwrap();
    program.says("goal 4");
    assert_eq!(goal.cancel().unwrap().wait(WATCHDOG).unwrap(), [goal.goal_id()]);
    program.tell("canceled");
    let outcome = goal.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(outcome.status, GoalStatus::Canceled);

    let stubborn = send(13).unwrap();
    program.says("goal 13");
    let error = stubborn.cancel().unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, CancelError::Rejected { .. }), "{error}");
    program.tell("abort");
    let outcome = stubborn.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(outcome.status, GoalStatus::Aborted);
}
