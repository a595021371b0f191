//! Launch files in Python: a script without the package `launch` hands over the actions.

mod hostile;
mod loads;
mod mistakes;
mod objects;
mod xml_form;

use std::path::Path;

use feros_launch::{LaunchError, Plan, Planner, PythonHost, PythonOptions};

use crate::workspace::Workspace;

/// A folder with launch files in Python.
struct Scripts {
    workspace: Workspace,
    command: Vec<String>,
}

impl Scripts {
    /// Files for the host in `host.py`; `None`, which is reported, if there is no Python.
    fn new() -> Option<Self> {
        let runs = std::process::Command::new("python3").arg("-V").output();
        if !runs.is_ok_and(|version| version.status.success()) {
            feros_test_support::skip("python3 is missing");
            return None;
        }
        let workspace = Workspace::new();
        let host = workspace.file("host.py", include_str!("python/host.py"));
        let command = vec!["python3".to_owned(), host.display().to_string()];
        Some(Self { workspace, command })
    }

    fn planner(&self) -> Planner {
        self.planner_with(PythonHost::Command(self.command.clone()))
    }

    fn planner_with(&self, host: PythonHost) -> Planner {
        let options = PythonOptions {
            host,
            arguments: vec!["launcher".to_owned(), "a b".to_owned()],
            prints_to_standard_error: true,
            notice: None,
        };
        self.workspace.planner().python(options)
    }

    fn plan_of(&self, file: &Path, given: &[(&str, &str)]) -> Result<Plan, LaunchError> {
        let given: Vec<_> =
            given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        self.planner().plan(file, &given)
    }

    /// Writes a launch file, and returns the text of its plan or of its mistakes, in which `W`
    /// stands for the folder.
    fn outcome(&self, name: &str, text: &str, given: &[(&str, &str)]) -> String {
        let file = self.workspace.file(name, text);
        let text = match self.plan_of(&file, given) {
            Ok(plan) => plan.to_string(),
            Err(error) => error.to_string(),
        };
        text.replace(self.workspace.path().to_str().unwrap(), "W")
    }
}
