//! Derives the name that people know a running program by from its command line.

use std::path::Path;

/// The limit on the characters of a name; longer names are cut.
const LONGEST: usize = 40;
/// Options of Python that take the next word as their value.
const WITH_A_WORD: [&str; 3] = ["-W", "-X", "--check-hash-based-pycs"];

/// The script for `python3 -u talker.py`, the module for `python3 -m pkg.node`, the beginning of
/// the code for `python3 -c CODE`, and the file name of the program for other programs.
pub(crate) fn program_name(words: &[String]) -> String {
    let last = |word: &String| {
        let path = Path::new(word).file_name().unwrap_or(word.as_ref());
        path.to_string_lossy().into_owned()
    };
    let Some(program) = words.first().map(last) else { return "?".to_owned() };
    let script = if program.starts_with("python") { of_python(&words[1..], last) } else { None };
    match script {
        None => on_a_line(&program),
        Some(Script::Named(name)) => on_a_line(&name),
        Some(Script::Code(code)) => {
            let lines: Vec<_> =
                code.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            format!("{} -c '{}'", on_a_line(&program), on_a_line(&lines.join("; ")))
        }
    }
}

enum Script<'a> {
    Named(String),
    Code(&'a str),
}

fn of_python(words: &[String], last: impl Fn(&String) -> String) -> Option<Script<'_>> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        // Other single-letter options may precede `c` or `m` in one word: `-uc CODE`.
        let letters =
            word.strip_prefix('-').filter(|letters| !letters.starts_with(['W', 'X', '-']));
        match letters.and_then(|letters| letters.chars().last()) {
            Some('c') => return words.next().map(|code| Script::Code(code)),
            Some('m') => return words.next().map(|module| Script::Named(module.clone())),
            _ if WITH_A_WORD.contains(&word.as_str()) => drop(words.next()),
            _ if word.starts_with('-') => {}
            _ => return Some(Script::Named(last(word))),
        }
    }
    None
}

/// Puts untrusted text on one line, cut if it is too long.
fn on_a_line(text: &str) -> String {
    let visible = text.replace(|letter: char| letter.is_control(), " ");
    let words: Vec<_> = visible.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", line[..end].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> String {
        program_name(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn scripts_and_modules_have_names_of_their_own() {
        let line = |line: &str| of(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(line("/usr/bin/python3 -u /demos/talker.py --ros-args"), "talker.py");
        assert_eq!(line("python3 -W ignore -m demos.talker -c x"), "demos.talker");
        assert_eq!(line("/opt/ros/lib/demo_nodes_cpp/talker --ros-args"), "talker");
        assert_eq!(line("python3"), "python3");
        assert_eq!(of(&[]), "?");
    }

    #[test]
    fn code_and_what_else_is_long_is_one_short_line() {
        let code = "\nimport rclpy\n\nrclpy.init()\nnode = rclpy.create_node('a/b')\n";
        let shown = "python3 -c 'import rclpy; rclpy.init(); node = rclpy...'";
        assert_eq!(of(&["/usr/bin/python3", "-c", code]), shown);
        assert_eq!(of(&["python3", "-uc", "import rclpy"]), "python3 -c 'import rclpy'");
        assert_eq!(of(&["a\u{1b}[31m\nb"]), "a [31m b");
    }
}
