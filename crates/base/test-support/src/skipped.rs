//! Reports skipped tests and the reasons. A test that only returned early would be reported as
//! passed.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::panic::Location;
use std::path::Path;
use std::thread;

/// The environment variable that names the file that lists all skipped tests.
const COLLECTED: &str = "FEROS_TESTS_SKIPPED";

/// Reports on standard error that the calling test, or a part of it, is skipped. The reason tells
/// what is missing and how to get it.
///
/// If the variable `FEROS_TESTS_SKIPPED` names a file, also appends the line
/// `PACKAGE\tTEST\tREASON` to that file. Call this function on the thread of the test, because the
/// name of this thread is the name of the test.
///
/// # Panics
///
/// Panics if the file cannot be written. Without this panic, nobody would notice the skipped test.
#[track_caller]
pub fn skip(reason: impl Display) {
    let reason = on_one_line(&reason.to_string());
    eprintln!("skipped: {reason}");
    let Some(file) = std::env::var_os(COLLECTED).filter(|file| !file.is_empty()) else { return };
    let caller = Location::caller();
    let variable = |name| std::env::var(name).ok();
    let package = variable("CARGO_PKG_NAME").unwrap_or_else(|| caller.file().to_owned());
    let test = test_name(thread::current().name(), variable("NEXTEST_TEST_NAME"), caller);
    append(Path::new(&file), &line(&package, &test, &reason));
}

/// libtest gives a thread the name of its test. But if there is only one test, libtest may run it
/// on the thread `main`.
fn test_name(thread: Option<&str>, of_nextest: Option<String>, caller: &Location<'_>) -> String {
    match thread {
        Some(name) if name != "main" => name.to_owned(),
        _ => of_nextest.unwrap_or_else(|| format!("{}:{}", caller.file(), caller.line())),
    }
}

fn on_one_line(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}

fn line(package: &str, test: &str, reason: &str) -> String {
    [package, test, reason].map(on_one_line).join("\t") + "\n"
}

/// Writes the line with one call, so that lines of several processes do not mix.
fn append(file: &Path, line: &str) {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    if let Err(error) = opened.and_then(|mut file| file.write_all(line.as_bytes())) {
        panic!("a skip cannot be written to {} ({COLLECTED}): {error}", file.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_is_known_by_its_thread_or_by_nextest() {
        let caller = Location::caller();
        let nextest = || Some("module::alone".to_owned());
        assert_eq!(test_name(Some("module::test"), nextest(), caller), "module::test");
        assert_eq!(test_name(Some("main"), nextest(), caller), "module::alone");
        let place = format!("{}:{}", file!(), caller.line());
        assert_eq!(test_name(Some("main"), None, caller), place);
        assert_eq!(test_name(None, None, caller), place);
    }

    #[test]
    fn a_skip_is_one_line() {
        let reason = "not there;\n\tget it\r\nthere";
        assert_eq!(
            line("feros", "it::works", reason),
            "feros\tit::works\tnot there;  get it  there\n"
        );
    }

    #[test]
    fn lines_are_appended_whole_from_several_threads() {
        let name = format!("feros_skipped_{}", std::process::id());
        let file = std::env::temp_dir().join(name);
        thread::scope(|scope| {
            for test in ["one", "two"] {
                let file = &file;
                scope.spawn(move || (0..50).for_each(|_| append(file, &line("a", test, "why"))));
            }
        });
        let text = std::fs::read_to_string(&file);
        std::fs::remove_file(&file).expect("it was written");
        let text = text.expect("it was written");
        assert_eq!(text.lines().filter(|line| *line == "a\tone\twhy").count(), 50);
        assert_eq!(text.lines().filter(|line| *line == "a\ttwo\twhy").count(), 50);
        assert_eq!(text.lines().count(), 100);
    }

    #[test]
    #[should_panic(expected = "a skip cannot be written to /dev/null/file")]
    fn a_skip_is_not_lost() {
        append(Path::new("/dev/null/file"), &line("a", "test", "why"));
    }
}
