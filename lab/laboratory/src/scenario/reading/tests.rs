//! A scenario is understood completely, or refused with the line and the allowed values.

use std::collections::BTreeMap;
use std::path::Path;

use super::ScenarioFile;
use crate::contract::Topology;
use crate::document::{Document, DocumentError};
use crate::record::Value;
use crate::scenario::{Grid, Scenario, StartOrder};

const SOUND: &str = r#"title = "Latency"
document = "M16"

[experiment]
workload = "latency"
systems = ["rcl", "feros:direct"]
sizes = [256, "4K"]
qos = ["reliable"]
links = ["slow"]
placements = ["remote", "local"]

[grid.quick]
sizes = ["1M"]
count = 5

[qos.reliable]
durability = "transient_local"

[link.slow]
rate_mbit = [54, 300]
loss_percent = [0, 10]

[[figure]]
title = "Medians"
kind = "lines"
x = "size_bytes"
y = "latency"
series = ["system"]
only = { placement = ["local"] }
"#;

/// A scenario with a goal and a verdict, whose cells exist in different grids.
const STATEMENTS: &str = r#"
[[goal]]
title = "as fast"
system = "feros:direct"
reference = "rcl"
at_most = 1.0

[[verdict]]
item = "Figure 7"
title = "slower between processes than between hosts"
paper = "about 2 times"
system = ["rcl"]
only = { placement = ["local"], size_bytes = [1048576], qos = ["reliable"] }
reference = { placement = "remote", loss_percent = 10 }
at_least = 1.0
"#;

fn read(text: &str) -> Result<ScenarioFile, DocumentError> {
    ScenarioFile::of(Path::new("s.toml"), Document::new("s.toml", text))
}

fn known(system: &str) -> Result<(), String> {
    match system {
        "rcl" | "feros:direct" => Ok(()),
        _ => Err(format!("no system `{system}`")),
    }
}

fn resolved(text: &str, grid: Option<Grid>) -> Result<Option<Scenario>, DocumentError> {
    read(text)?.resolve(grid, &[], &known)
}

#[test]
fn a_grid_says_what_is_different() {
    let as_it_stands = resolved(SOUND, None).unwrap().unwrap();
    assert_eq!(
        (as_it_stands.sizes_bytes.as_slice(), as_it_stands.procedure.count),
        ([256, 4096].as_slice(), 100)
    );
    let quick = resolved(SOUND, Some(Grid::Quick)).unwrap().unwrap();
    assert_eq!((quick.sizes_bytes.as_slice(), quick.procedure.count), ([1 << 20].as_slice(), 5));
    assert_eq!(quick.links.len(), 4, "a link for each rate and loss");
    assert_eq!(resolved(SOUND, Some(Grid::Full)).unwrap(), None, "it is not in that grid");
}

#[test]
fn conditions_of_the_document_stand_beside_ours() {
    let stated = SOUND.replace(
        "\n[experiment]",
        "\n[conditions]\nrate = \"10 Hz\"\nmachine = \"an old one\"\n\n[experiment]",
    );
    let scenario = resolved(&stated, Some(Grid::Quick)).unwrap().unwrap();
    let of = |name: &str| {
        let found = scenario.about.conditions.iter().find(|condition| condition.name == name);
        found.map(|condition| (condition.document.as_str(), condition.here.as_str()))
    };
    assert_eq!(of("rate"), Some(("10 Hz", "100 Hz")));
    assert_eq!(of("machine"), Some(("an old one", "")));
    assert_eq!(of("message"), Some(("", "bytes of 1 MB")));
    assert_eq!(of("count"), Some(("", "5 messages, after 10 of warm-up, once")));
    assert_eq!(of("QoS"), Some(("", "reliable (reliable, transient local, keep last 10)")));
    let links = "slow: 54 Mbit/s, slow: 54 Mbit/s with 10 % loss, slow: 300 Mbit/s, \
                 slow: 300 Mbit/s with 10 % loss";
    assert_eq!(of("link"), Some(("", links)));
    assert_eq!(of("nodes"), None, "it has no meaning here, and the document does not state it");

    let without = resolved(SOUND, Some(Grid::Quick)).unwrap().unwrap();
    assert_eq!(without.about.conditions, []);
    let wrong = stated.replace("machine =", "engine =");
    let error = resolved(&wrong, Some(Grid::Quick)).unwrap_err();
    assert!(error.line == 6 && error.text.contains("unknown field `engine`"), "{error}");
}

#[test]
fn a_grid_may_have_parts() {
    assert_eq!(resolved(SOUND, Some(Grid::Quick)).unwrap().unwrap().part, 0);
    let parted = SOUND.replace("count = 5", "count = 5\npart = 3");
    assert_eq!(resolved(&parted, Some(Grid::Quick)).unwrap().unwrap().part, 3);
    assert_eq!(resolved(&parted, None).unwrap().unwrap().part, 0);
}

/// Each row has a mistake, its line, and words of the error.
#[test]
fn whatever_is_wrong_is_said_with_its_line_and_what_is_allowed() {
    let cases: &[(&str, &str, usize, &[&str])] = &[
        (
            "sizes = [256, \"4K\"]",
            "sises = [256]",
            7,
            &["unknown field `sises`", "did you mean `sizes`"],
        ),
        ("sizes = [256, \"4K\"]", "sizes = [256, \"4Q\"]", 7, &["4Q", "\"4K\""]),
        ("sizes = [256, \"4K\"]", "sizes = [-1]", 7, &["-1", "\"4K\""]),
        ("\"rcl\"", "\"rlc\"", 6, &["no system `rlc`"]),
        (
            "qos = [\"reliable\"]",
            "qos = [\"relaible\"]",
            8,
            &["qos.relaible", "did you mean `reliable`"],
        ),
        ("links = [\"slow\"]", "links = [\"fast\"]", 9, &["link.fast", "slow, unlimited"]),
        ("\"remote\"", "\"remot\"", 10, &["`remot`", "did you mean `remote`"]),
        ("[grid.quick]", "[grid.quik]", 12, &["`quik`", "did you mean `quick`"]),
        ("count = 5", "count = -5", 14, &["-5"]),
        ("durability = \"transient_local\"", "depth = 0", 16, &["depth = 0"]),
        ("rate_mbit = [54, 300]", "rate_mbit = [0]", 20, &["0.01 to 100000 Mbit/s"]),
        ("loss_percent = [0, 10]", "loss_percent = [101]", 21, &["0 to 100 percent"]),
        (
            "x = \"size_bytes\"",
            "x = \"sise_bytes\"",
            23,
            &["sise_bytes", "did you mean `size_bytes`"],
        ),
        (
            "only = {",
            "floor = \"floors:futex\"\nonly = {",
            23,
            &["floors:futex", "not among the systems", "rcl, feros:direct"],
        ),
        ("count = 5", "fill = [\"all\"]", 14, &["`all`", "none", "each"]),
        ("kind = \"lines\"", "kind = \"line\"", 25, &["`line`", "did you mean `lines`"]),
        ("workload = \"latency\"", "", 1, &["workload"]),
        ("count = 5", "topologies = [\"rings\"]", 14, &["`rings`", "did you mean `ring`"]),
        ("count = 5", "starts = [\"at_once\"]", 14, &["`at_once`", "together", "in_turn"]),
        ("count = 5", "starts = []", 1, &["`starts` needs at least one value"]),
        ("count = 5", "rates_hz = [0]\nseconds = 3\ncount = 0", 1, &["without a pause"]),
        ("title = \"Latency\"", "title = \"Latency", 1, &[]),
    ];
    for (from, to, line, words) in cases {
        assert!(SOUND.contains(from), "{from}");
        let text = SOUND.replace(from, to);
        let error =
            resolved(&text, Some(Grid::Quick)).err().unwrap_or_else(|| panic!("{to} is accepted"));
        assert_eq!(error.line, *line, "{error}");
        for word in *words {
            assert!(error.text.contains(word), "{to}: {error}");
        }
    }
}

#[test]
fn discovery_is_between_processes_with_topologies_and_starts() {
    let text = "title = \"T\"\n[experiment]\nworkload = \"discovery\"\nsystems = [\"rcl\"]\n\
                nodes = [25, 50]\ntopologies = [\"ring\", \"one_topic\"]\nstarts = [\"in_turn\"]\n\
                [[goal]]\ntitle = \"g\"\nsystem = \"rcl\"\nmetric = \"settling_packets\"\n\
                across = \"nodes\"\npower = 1.3\nonly = { topology = [\"ring\"] }\n";
    let scenario = resolved(text, None).unwrap().unwrap();
    assert_eq!(scenario.topologies, [Topology::Ring, Topology::OneTopic]);
    assert_eq!(scenario.starts, [StartOrder::InTurn]);
    assert_eq!(scenario.about.goals[0].power, Some(1.3));
    assert!(scenario.procedure.memory, "memory is part of it");
    let usual = resolved(&text.replace("starts = [\"in_turn\"]\n", ""), None).unwrap().unwrap();
    assert_eq!(usual.starts, [StartOrder::Together]);
    let within = text.replace("nodes = [25", "placements = [\"intra\"]\nnodes = [25");
    let error = resolved(&within, None).err().unwrap();
    assert!(error.text.contains("between processes"), "{error}");
    let elsewhere = text.replace("topology = [\"ring\"]", "start = [\"together\"]");
    let error = resolved(&elsewhere, None).err().unwrap();
    assert!(error.text.contains("no grid has the start `together`"), "{error}");
}

#[test]
fn statements_are_read_with_their_cells() {
    let text = format!("{SOUND}{STATEMENTS}");
    let about = resolved(&text, None).unwrap().unwrap().about;
    let text = |word: &str| Value::Text(word.to_owned());
    assert_eq!(about.goals[0].system, ["feros:direct"]);
    let beside = BTreeMap::from([("system".to_owned(), text("rcl"))]);
    assert_eq!(about.goals[0].reference, beside);
    let verdict = &about.verdicts[0];
    assert_eq!((verdict.metric.as_str(), verdict.across.as_str()), ("latency", "size_bytes"));
    assert_eq!(verdict.only["size_bytes"], [Value::Number(1_048_576.0)]);
    let reference = [("placement", text("remote")), ("loss_percent", Value::Number(10.0))];
    let reference = reference.map(|(name, value)| (name.to_owned(), value));
    assert_eq!(verdict.reference, BTreeMap::from(reference));
    assert_eq!((verdict.item.as_str(), verdict.paper.as_str()), ("Figure 7", "about 2 times"));
}

/// Each row has a mistake and words of the error.
#[test]
fn statements_about_cells_that_do_not_exist_are_refused() {
    let sound = format!("{SOUND}{STATEMENTS}");
    let cases: &[(&str, &str, &[&str])] = &[
        ("[\"rcl\"]\nonly", "[\"rlc\"]\nonly", &["slower between", "the system `rlc`", "rcl"]),
        ("reference = \"rcl\"", "reference = \"roscpp\"", &["`roscpp`", "as fast"]),
        ("[1048576]", "[1048577]", &["the size_bytes `1048577`", "256, 4096, 1048576"]),
        ("qos = [\"reliable\"] }", "qos = [\"relaible\"] }", &["did you mean `reliable`"]),
        ("loss_percent = 10 }", "loss_percent = 20 }", &["the loss_percent `20`", "0, 10"]),
        ("placement = [\"local\"], s", "placement = [\"intra\"], s", &["the placement `intra`"]),
        ("placement = [\"local\"], s", "place = [\"local\"], s", &["no dimension `place`"]),
        ("placement = [\"local\"], s", "repetition = [0], s", &["no dimension `repetition`"]),
        ("at_least = 1.0", "", &["a verdict needs one of", "`trend`"]),
        ("at_least = 1.0", "trend = \"fals\"", &["`fals`", "did you mean `falls`"]),
        ("at_least = 1.0", "order = [1]\nacross = \"system\"", &["`across` systems"]),
        ("item = \"Figure 7\"\n", "", &["needs an `item`"]),
        ("title = \"as fast\"", "title = \"as fast\"\nitem = \"x\"", &["a goal has no `item`"]),
        ("document = \"M16\"", "", &["a verdict needs a `document`"]),
        ("system = [\"rcl\"]\n", "system = 5\n", &["a system, or a list of names"]),
    ];
    assert!(resolved(&sound, Some(Grid::Quick)).is_ok());
    for (from, to, words) in cases {
        assert!(sound.contains(from), "{from}");
        let text = sound.replace(from, to);
        let error = resolved(&text, None).err().unwrap_or_else(|| panic!("{to} is accepted"));
        for word in *words {
            assert!(error.text.contains(word), "{to}: {error}");
        }
    }
}

#[test]
fn values_of_a_statement_that_no_grid_has_together_are_refused() {
    // A payload of 4 KB exists, and a rate of 5 Hz exists in a grid, but not both together.
    let text = SOUND.replace("sizes = [\"1M\"]", "sizes = [\"1M\"]\nrates_hz = [5]")
        + "[[goal]]\ntitle = \"g\"\nsystem = \"rcl\"\nat_most = 1.0\n\
           only = { size_bytes = [4096], rate_hz = [5] }\n";
    let error = resolved(&text, None).err().unwrap();
    assert!(error.text.contains("no grid has such a cell"), "{error}");
    assert!(error.text.contains("size_bytes 4096") && error.text.contains("rate_hz 5"), "{error}");
}
