//! A folder with launch files, and a prefix with a package, as in an installation.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use feros_launch::{LaunchError, Packages, Plan, Planner};

pub(crate) struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    pub(crate) fn new() -> Self {
        let workspace = Self { folder: tempfile::tempdir().unwrap() };
        for executable in
            ["lib/demo/talker", "lib/demo/listener", "lib/feros_component/component_container"]
        {
            workspace.executable(executable);
        }
        workspace.file("share/demo/package.xml", "<package/>");
        workspace
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn executable(&self, name: &str) {
        self.script(name, "");
    }

    /// Writes a shell script that can be executed.
    pub(crate) fn script(&self, name: &str, text: &str) {
        let path = self.file(name, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn planner(&self) -> Planner {
        Planner::new(Packages::new([self.path().to_owned()]))
    }

    pub(crate) fn plan(
        &self,
        file: &Path,
        assignments: &[(&str, &str)],
    ) -> Result<Plan, LaunchError> {
        let assignments: Vec<_> = assignments
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        self.planner().plan(file, &assignments)
    }

    /// The text of a plan or of its mistakes, in which `W` stands for this folder.
    pub(crate) fn outcome(&self, file: &Path, assignments: &[(&str, &str)]) -> String {
        let text = match self.plan(file, assignments) {
            Ok(plan) => plan.to_string(),
            Err(error) => error.to_string(),
        };
        text.replace(self.path().to_str().unwrap(), "W")
    }

    /// Does the same for a launch file with this text.
    pub(crate) fn outcome_of(
        &self,
        name: &str,
        text: &str,
        assignments: &[(&str, &str)],
    ) -> String {
        let file = self.file(name, text);
        self.outcome(&file, assignments)
    }
}
