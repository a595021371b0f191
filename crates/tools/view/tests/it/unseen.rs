//! The page escapes the same characters as the command.

use regex::Regex;

#[test]
fn the_page_and_the_command_escape_the_same_characters() {
    let source = include_str!("../../page/src/shell/shown.ts");
    let class = Regex::new(r"(?s)const UNSEEN =\s*/(\[[^\]]+\])/gu;").unwrap();
    let class = Regex::new(&class.captures(source).unwrap()[1]).unwrap();
    let mut buffer = [0; 4];
    let differ: Vec<char> = ('\0'..=char::MAX)
        .filter(|each| {
            class.is_match(each.encode_utf8(&mut buffer)) != feros_wording::is_unseen(*each)
        })
        .collect();
    assert_eq!(differ, []);
}
