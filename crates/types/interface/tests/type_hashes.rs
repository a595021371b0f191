//! Tests that the hash of every shipped type is the same as the hash that stock ROS 2 installs.
//! Some complete descriptions are also compared.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use feros_interface::{
    FieldDescription, IndividualTypeDescription, InterfaceSet, TypeName, robot_packages, shipped,
};

/// The hashes that stock ROS 2 installs (`stock`), fixed hashes for types that no Python wheel
/// contains (`pinned`), and hashes that the generator of stock ROS 2 computed from public
/// definitions (`computed`).
static GOLDEN: LazyLock<String> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../interfaces");
    let read = |file: &str| {
        let path = folder.join(file);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    read("type_hashes.tsv") + &read("robots/type_hashes.tsv")
});

/// A lower limit on the number of descriptions that stock ROS 2 Kilted installs.
const FEWEST_STOCK_TYPES: usize = 311;

/// A lower limit on the number of types of the packages of robots.
const FEWEST_COMPUTED_TYPES: usize = 1900;

struct Row {
    hash: &'static str,
    origin: &'static str,
}

fn golden() -> BTreeMap<TypeName, Row> {
    let parse = |line: &'static str| {
        let mut columns = line.split('\t');
        let name = columns.next().unwrap().parse().unwrap();
        let hash = columns.next().unwrap();
        let origin = columns.next().unwrap();
        assert!(matches!(origin, "stock" | "pinned" | "computed"), "{line}");
        (name, Row { hash, origin })
    };
    let rows: BTreeMap<_, _> = GOLDEN.lines().map(parse).collect();
    assert_eq!(rows.len(), GOLDEN.lines().count(), "a type has two rows");
    rows
}

#[test]
fn every_stock_hash_is_reproduced() {
    let rows = golden();
    let count = |origin: &str| rows.values().filter(|row| row.origin == origin).count();
    let (stock, computed) = (count("stock"), count("computed"));
    assert!(stock >= FEWEST_STOCK_TYPES, "only {stock} hashes of stock ROS 2 to compare with");
    assert!(computed >= FEWEST_COMPUTED_TYPES, "only {computed} computed hashes to compare with");
    for (name, row) in &rows {
        let ours = shipped().type_hash(name).unwrap().to_string();
        assert_eq!(ours, row.hash, "{name}");
    }
}

#[test]
fn every_shipped_type_is_compared() {
    let rows = golden();
    let missing: String = shipped()
        .type_names()
        .into_iter()
        .filter(|name| !rows.contains_key(name))
        .map(|name| format!("{name}\t{}\tpinned\n", shipped().type_hash(name).unwrap()))
        .collect();
    assert!(missing.is_empty(), "types without a row in type_hashes.tsv; as computed:\n{missing}");
    // A wheel has all types of a package, or the package has no wheel.
    let (mut packages, robots) = (BTreeMap::new(), robot_packages());
    for (name, row) in &rows {
        let origin = *packages.entry(name.package.as_str()).or_insert(row.origin);
        assert_eq!(row.origin, origin, "{name} differs from other types of its package");
        let is_of_robots = robots.contains(&name.package.as_str());
        assert_eq!(is_of_robots, origin == "computed", "{name}");
    }
}

#[test]
fn hashes_of_packages_in_jazzy_are_reproduced() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../interfaces/robots_of_jazzy/type_hashes.tsv");
    let table = std::fs::read_to_string(path).unwrap();
    let mut set = shipped().clone();
    set.add_robot_packages_of_jazzy();
    assert!(set.check().is_empty());
    assert_eq!(set.packages(), shipped().packages(), "packages are replaced, not added");
    let (mut others, mut packages) = (0, BTreeSet::new());
    for line in table.lines() {
        let (name, rest) = line.split_once('\t').unwrap();
        let (hash, origin) = rest.split_once('\t').unwrap();
        let name: TypeName = name.parse().unwrap();
        assert_eq!(
            (set.type_hash(&name).unwrap().to_string().as_str(), origin),
            (hash, "computed")
        );
        let here = shipped().type_hash(&name).map(|hash| hash.to_string());
        others += usize::from(here.as_deref() != Ok(hash));
        packages.insert(name.package);
    }
    assert!(others > 20, "{others} types differ from those of Kilted");
    let all = set.type_names().into_iter().filter(|name| packages.contains(&name.package));
    assert_eq!(all.count(), table.lines().count(), "each type has a row");
    let follow: TypeName = "control_msgs/action/FollowJointTrajectory_Feedback".parse().unwrap();
    let has_index = |set: &InterfaceSet| {
        set.message(&follow).unwrap().fields.iter().any(|field| field.name == "multi_dof_index")
    };
    assert!(has_index(shipped()) && !has_index(&set));
}

#[test]
fn hashes_of_packages_without_wheel_agree_with_published_ones() {
    // These hashes are published in documents about stock ROS 2.
    for (name, hash) in [
        (
            "example_interfaces/srv/AddTwoInts",
            "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a",
        ),
        (
            "tf2_msgs/msg/TFMessage",
            "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
        ),
    ] {
        assert_eq!(
            shipped().type_hash(&name.parse().unwrap()).unwrap().to_string(),
            hash,
            "{name}"
        );
    }
}

#[test]
fn whole_descriptions_equal_those_of_stock() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/descriptions");
    let mut compared = 0;
    for file in std::fs::read_dir(dir).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
        let name = expected["type_description"]["type_name"].as_str().unwrap();
        let ours = shipped().type_description(&name.parse().unwrap()).unwrap();
        let ours_json: serde_json::Value = serde_json::from_str(&ours.to_json()).unwrap();
        assert_eq!(ours_json, expected, "{name}");
        assert_eq!(
            ours.referenced_type_descriptions.len(),
            expected["referenced_type_descriptions"].as_array().unwrap().len()
        );
        compared += 1;
    }
    assert!(compared >= 10, "compared {compared} descriptions only");
}

#[test]
fn the_hash_escapes_as_json_does() {
    // Names from the parser of Feros contain only ASCII characters, but a description from another
    // program may contain any text.
    let field = FieldDescription {
        name: "é\"\\\n\u{1}😀".to_owned(),
        ty: feros_interface::FieldTypeDescription {
            type_id: 17,
            capacity: 0,
            string_capacity: 0,
            nested_type_name: String::new(),
        },
        default_value: String::new(),
    };
    let description = feros_interface::TypeDescription {
        type_description: IndividualTypeDescription {
            type_name: "a/msg/B".to_owned(),
            fields: vec![field.clone()],
        },
        referenced_type_descriptions: Vec::new(),
    };
    let json = description.to_json();
    assert!(json.contains(r#""\u00e9\"\\\n\u0001\ud83d\ude00""#), "{json}");
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(parsed["type_description"]["fields"][0]["name"], field.name);
}
