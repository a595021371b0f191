//! The bytes that stock ROS 2 writes (scripts/update_golden_cdr.py). They decode to the values that
//! it serialized, and these values encode to the same bytes, except for padding.

use std::collections::BTreeMap;

use feros_message::cdr::ByteOrder;

use crate::probe::{Probe, messages};

const GOLDEN: &str = include_str!("../golden/cdr.tsv");

#[test]
fn bytes_of_stock_ros_2_are_read_and_written_alike() {
    let probes: BTreeMap<_, _> = messages().map(|probe| (probe.name, probe)).collect();
    let mut checked = 0;
    for line in GOLDEN.lines() {
        let mut columns = line.split('\t');
        let (Some(name), Some(variant), Some(hex), Some(value), None) =
            (columns.next(), columns.next(), columns.next(), columns.next(), columns.next())
        else {
            panic!("a line of the golden file has four columns: {line}");
        };
        let probe = probes.get(name).unwrap_or_else(|| panic!("{name} is not generated"));
        check(probe, variant, &from_hex(hex), value);
        checked += 1;
    }
    assert!(checked > 500, "only {checked} golden samples were checked");
}

fn check(probe: &Probe, variant: &str, stock: &[u8], value: &str) {
    let name = probe.name;
    assert_eq!((probe.decode)(stock).unwrap(), value, "{name}");
    assert_eq!((probe.view)(stock).unwrap(), value, "{name}");
    if variant == "constructed" {
        assert_eq!((probe.default)(), value, "{name}");
    }
    let ours = (probe.encode)(stock, ByteOrder::Little);
    assert!(
        ours.len() <= stock.len(),
        "{name}: {} bytes where stock has {}",
        ours.len(),
        stock.len()
    );
    for (index, (&our, &theirs)) in ours.iter().zip(stock).enumerate() {
        if our == theirs {
            continue;
        }
        // Only padding may differ. Feros writes zero there, and any other byte in the golden bytes
        // means the same value.
        assert_eq!(our, 0, "{name}: byte {index}");
        let mut changed = stock.to_vec();
        changed[index] = !theirs;
        assert_eq!((probe.decode)(&changed).unwrap(), value, "{name}: byte {index} is not padding");
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    assert_eq!(text.len() % 2, 0);
    (0..text.len())
        .step_by(2)
        .map(|start| u8::from_str_radix(&text[start..start + 2], 16).unwrap())
        .collect()
}
