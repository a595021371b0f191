//! `feros bag convert` and `feros bag slice` make a whole bag or none: an interrupt, damage or a
//! full disk leaves nothing that looks like a bag, or that is in the way of the next attempt.

use std::path::{Path, PathBuf};

use feros_bag::{
    BagReader, BagTopic, BagWriter, Compression, McapOptions, Schema, TopicMetadata, WriterOptions,
};
use feros_test_support::until;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::bag::bag_of;
use crate::endings::end_a_verb;
use crate::process::{Running, feros};

/// A folder of bags.
struct Bags(TempDir);

impl Bags {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).into_os_string().into_string().unwrap()
    }

    /// The names in the folder, in order.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Writes a file of outputs, each with these lines.
    fn options(&self, outputs: &[String]) -> String {
        let bags: String = outputs.iter().map(|keys| format!("- {keys}\n")).collect();
        std::fs::write(self.path("options.yaml"), format!("output_bags:\n{bags}")).unwrap();
        self.text("options.yaml")
    }
}

/// A bag of this many MiB that no compression makes much smaller, with one message per MiB, at the
/// seconds from 1 on.
fn large_bag(path: &Path, mebibytes: i64, compression: Compression) {
    let storage = McapOptions { compression, ..McapOptions::default() };
    let options = WriterOptions { storage, ..WriterOptions::default() };
    let mut writer = BagWriter::create(path, options).unwrap();
    let topic = BagTopic {
        metadata: TopicMetadata::new("/large", "std_msgs/msg/String"),
        schema: Schema::unknown(),
    };
    let id = writer.add_topic(topic).unwrap();
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Five bits of eight: long matches are rare, and searching for them takes long.
        (state >> 59) as u8
    };
    for second in 1..=mebibytes {
        let data: Vec<u8> = (0..1 << 20).map(|_| noise()).collect();
        let time = second * 1_000_000_000;
        writer.write(id, second as u32, time, time, &data).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn an_interrupted_verb_leaves_no_bag_and_says_so() {
    let bags = Bags::new();
    large_bag(&bags.path("old"), 48, Compression::None);
    let (old, new) = (bags.text("old"), bags.text("new"));
    let convert = ["bag", "convert", "-i", &old, "-o", &new];
    let slice = ["bag", "slice", &old, "-o", &new];
    let all: [(&[&str], &[Signal]); 4] = [
        (&convert, &[Signal::INT]),
        (&convert, &[Signal::HUP]),
        (&slice, &[Signal::TERM]),
        (&slice, &[Signal::INT, Signal::TERM, Signal::HUP, Signal::INT]),
    ];
    for (line, signals) in all {
        if !end_a_verb(signals) {
            continue;
        }
        // The best compression takes very long.
        let line = [line, &["--storage-preset-profile", "zstd_small"]].concat();
        let running = Running::start(&line);
        until("the bag is begun", || bags.path("new/metadata.yaml").exists());
        signals.iter().for_each(|signal| running.signal(*signal));
        let finished = running.finish();
        assert_eq!(finished.code, Some(130), "{line:?} {signals:?}: {finished:?}");
        let told = format!("interrupted; the unfinished output was removed: {new}\n");
        assert_eq!((&*finished.out, finished.err), ("", told), "{line:?} {signals:?}");
        assert_eq!(bags.names(), ["old"]);
    }
    assert!(feros(&slice).success().ends_with("new: 48 messages\n"));
}

#[test]
fn after_an_error_no_output_is_left() {
    let bags = Bags::new();
    large_bag(&bags.path("old"), 8, Compression::Lz4);
    let file = bags.path("old/old_0.mcap");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    std::fs::create_dir(bags.path("of_user")).unwrap();

    let (old, new, begin) = (bags.text("old"), bags.text("of_user/more/new"), bags.text("begin"));
    // The damage lies behind the first two seconds, so the first of two outputs is complete.
    let outputs = [format!("uri: {begin}\n  end_time_ns: 2000000000"), format!("uri: {new}")];
    let options = bags.options(&outputs);
    let lines: [(&[&str], String); 3] = [
        (&["bag", "convert", "-i", &old, "-o", &new], new.clone()),
        (&["bag", "slice", &old, "-o", &new], new.clone()),
        (&["bag", "convert", "-i", &old, "-o", &options], format!("{begin}, {new}")),
    ];
    for (line, removed) in lines {
        let finished = feros(line);
        assert_eq!(finished.out, "", "{line:?}");
        let error = finished.failure(1);
        assert!(error.contains("old_0.mcap is damaged: "), "{error}");
        assert!(
            error.ends_with(&format!("; the unfinished output was removed: {removed}\n")),
            "{error}"
        );
        assert_eq!(bags.names(), ["of_user", "old", "options.yaml"]);
        assert_eq!(std::fs::read_dir(bags.path("of_user")).unwrap().count(), 0);
    }
    // The part before the damage can be copied.
    let line = ["bag", "slice", &old, "-o", &new, "--end-time", "2000000000"];
    assert!(feros(&line).success().ends_with("new: 2 messages\n"));
}

#[test]
fn a_file_that_cannot_be_written_further_leaves_no_bag() {
    let bags = Bags::new();
    large_bag(&bags.path("old"), 4, Compression::None);
    // Files of this shell and its command have at most 1 MiB (in blocks of 512 bytes or 1 KiB).
    let script = "trap '' XFSZ; ulimit -f 1024; exec \"$0\" bag convert -i \"$1\" -o \"$2\"";
    let (old, new) = (bags.text("old"), bags.text("new"));
    let words = ["-c", script, env!("CARGO_BIN_EXE_feros"), &old, &new].map(str::to_owned);
    let error = Running::start_program("sh", &words).finish().failure(1);
    assert!(error.contains("new_0.mcap cannot be written: "), "{error}");
    assert!(error.ends_with(&format!("; the unfinished output was removed: {new}\n")), "{error}");
    assert_eq!(bags.names(), ["old"]);
}

#[test]
fn outputs_in_the_way_are_refused_before_anything_is_written() {
    let bags = Bags::new();
    bag_of(&bags.path("old"), "/a", &[1, 2]);
    bag_of(&bags.path("there"), "/a", &[1]);
    let (old, new) = (bags.text("old"), bags.text("new"));
    let before = std::fs::read(bags.path("there/there_0.mcap")).unwrap();
    let convert = |second: &str| {
        let options = bags.options(&[format!("uri: {new}"), format!("uri: {second}")]);
        feros(&["bag", "convert", "-i", &old, "-o", &options])
    };
    for again in [new.clone(), format!("{new}/"), bags.text("./new"), bags.text("old/../new")] {
        let error = convert(&again).failure(2);
        assert!(error.contains(&format!("two of output_bags have the uri {again}: ")), "{error}");
        assert_eq!(bags.names(), ["old", "options.yaml", "there"]);
    }
    let error = convert(&bags.text("there")).failure(1);
    assert!(error.contains("there already exists") && !error.contains("removed"), "{error}");
    assert_eq!(bags.names(), ["old", "options.yaml", "there"]);
    assert_eq!(std::fs::read(bags.path("there/there_0.mcap")).unwrap(), before);
    let said = convert(&bags.text("other")).success();
    assert_eq!(said.matches(": 2 messages\n").count(), 2, "{said}");
    assert_eq!(BagReader::open(bags.path("other")).unwrap().metadata().message_count, 2);
}
