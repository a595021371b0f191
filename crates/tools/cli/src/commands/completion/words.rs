//! The command line that is being completed, as the shell passes it: the words after `--`.

/// The words of the line, without the command's own name.
pub(super) fn words() -> Vec<String> {
    let all = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    all.skip_while(|word| word != "--").skip(2).collect()
}

/// The folders that the line names with `--interfaces`.
pub(super) fn interface_folders(words: &[String]) -> Vec<std::path::PathBuf> {
    let pairs = words.windows(2).filter(|pair| pair[0] == "--interfaces");
    pairs.map(|pair| std::path::PathBuf::from(&pair[1])).collect()
}
