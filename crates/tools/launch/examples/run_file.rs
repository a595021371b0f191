//! The smallest program that runs a launch file: `run_file FILE [name:=value]...`. The command
//! `feros launch` does more.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_launch::{
    Component, ComponentLoader, LifecycleManager, Packages, Planner, PythonHost, PythonOptions,
    RunOptions, ScreenForm, SimulatedClock, StateChange, parse_assignments,
};
use feros_sync::Mutex;

/// A loader that needs no containers. It reports every component as loaded at once. For tests, the
/// plugins `broken` and `lacking` fail, and the plugin `never` waits until it is cancelled.
struct FakeLoader;

impl ComponentLoader for FakeLoader {
    fn load(
        &self,
        container: &str,
        component: &Component,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<String, String> {
        while component.plugin == "never" && !is_cancelled() {
            std::thread::sleep(Duration::from_millis(10));
        }
        match component.plugin.as_str() {
            "never" => Err("cancelled".to_owned()),
            "broken" => Err("it is broken".to_owned()),
            "lacking" => {
                let error = "ModuleNotFoundError: No module named 'eye_parts' (/eye.py, line 3)";
                Err(format!("Component constructor threw an exception: {error}"))
            }
            plugin => Ok(format!("{container}/{plugin}")),
        }
    }
}

/// A manager that needs no nodes. It reports every node as active at once. For tests, nodes whose
/// names end with `broken` fail, and nodes whose names end with `never` wait until they are
/// cancelled. The list holds the state changes that `watch` has not reported yet.
#[derive(Default)]
struct FakeManager(Mutex<Vec<(String, StateChange)>>);

impl LifecycleManager for FakeManager {
    fn activate(&self, node: &str, is_cancelled: &dyn Fn() -> bool) -> Result<(), String> {
        while node.ends_with("never") && !is_cancelled() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let refusal = if node.ends_with("never") { "cancelled" } else { "it is broken" };
        let is_well = !node.ends_with("broken") && !node.ends_with("never");
        if is_well { Ok(()) } else { Err(refusal.to_owned()) }
    }

    fn change(
        &self,
        node: &str,
        transition: u8,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        self.activate(node, is_cancelled)?;
        let goal = match transition {
            1 => "inactive",
            3 => "active",
            _ => return Err("it has no such transition".to_owned()),
        };
        let change = StateChange { goal: goal.to_owned(), ..StateChange::default() };
        self.0.lock().push((node.to_owned(), change));
        Ok(())
    }

    fn watch(
        &self,
        node: &str,
        report: &dyn Fn(StateChange),
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        while !is_cancelled() {
            let mut changes = self.0.lock();
            let next = changes.iter().position(|(changed, _)| changed == node);
            let next = next.map(|index| changes.remove(index));
            drop(changes);
            next.into_iter().for_each(|(_, change)| report(change));
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

/// A clock that runs at a tenth of the real speed. For tests, a delay of exactly nine seconds ends
/// only when it is cancelled.
struct SlowClock;

impl SimulatedClock for SlowClock {
    fn wait(&self, delay: Duration, is_cancelled: &dyn Fn() -> bool) -> Result<(), String> {
        let begin = Instant::now();
        let never = delay == Duration::from_secs(9);
        while never || begin.elapsed() < delay * 10 {
            if is_cancelled() {
                return Err("cancelled".to_owned());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (file, words) = words.split_first().ok_or("name a launch file")?;
    let mut planner = Planner::new(Packages::from_env());
    if let Ok(host) = std::env::var("PYTHON_HOST") {
        planner = planner.python(PythonOptions {
            host: PythonHost::Command(vec!["python3".to_owned(), host]),
            arguments: std::env::args().collect(),
            prints_to_standard_error: true,
            notice: None,
        });
    }
    let plan = planner.plan(Path::new(file), &parse_assignments(words)?)?;
    let log_file = std::env::var_os("LOG_FILE").map(PathBuf::from);
    let outcome = feros_launch::run(
        &plan,
        RunOptions {
            screen: match std::env::var_os("JSON") {
                Some(_) => ScreenForm::Json,
                None => ScreenForm::Plain,
            },
            component_loader: Some(Arc::new(FakeLoader)),
            lifecycle_manager: Some(Arc::<FakeManager>::default()),
            simulated_clock: Some(Arc::new(SlowClock)),
            debug: std::env::var_os("DEBUG").is_some(),
            log_file,
            ..RunOptions::default()
        },
    )?;
    Ok(if outcome.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
