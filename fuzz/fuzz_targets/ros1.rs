//! What comes from ROS 1: headers of connections, XML-RPC, definitions, and bodies of messages.
//! What is taken has to come back as it was, and to be a message for those who read it.
#![no_main]

use std::sync::LazyLock;

use feros_interface::{TypeName, shipped};
use feros_ros1::{Catalog, ConnectionHeader, Plans, Rules, parse_type, read_answer, read_call};
use libfuzzer_sys::fuzz_target;

const TYPES: [&str; 6] = [
    "sensor_msgs/PointCloud2",
    "sensor_msgs/CameraInfo",
    "tf2_msgs/TFMessage",
    "visualization_msgs/Marker",
    "diagnostic_msgs/DiagnosticArray",
    "rosgraph_msgs/Log",
];

static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::shipped);

static PLANS: LazyLock<Vec<Plans>> = LazyLock::new(|| {
    let rules = Rules::default();
    let plans = TYPES.map(|name| {
        let name = parse_type(name).expect("a name");
        let ty = CATALOG.message(&name).expect("a type of ROS 1");
        let known = rules.of_ros1(&name).into_iter().find(|name| shipped().message(name).is_some());
        Plans::new(&ty, shipped(), &known.expect("a type of ROS 2"), &rules).expect("plans")
    });
    plans.into()
});

fuzz_target!(|data: &[u8]| {
    let Some((kind, bytes)) = data.split_first() else { return };
    match kind {
        0 => {
            if let Ok(header) = ConnectionHeader::parse(bytes) {
                let again = header.to_bytes();
                assert_eq!(ConnectionHeader::parse(&again[4..]), Ok(header));
            }
        }
        1 => {
            if let Ok(text) = std::str::from_utf8(bytes) {
                let _ = (read_call(text), read_answer(text));
            }
        }
        2 => {
            let Ok(text) = std::str::from_utf8(bytes) else { return };
            let name = TypeName::message("geometry_msgs", "PoseStamped");
            let Ok(ty) = CATALOG.message_of_peer("/x", &name, text, "*") else { return };
            let again = CATALOG.message_of_peer("/x", &name, &ty.full_text(), &ty.md5sum);
            assert_eq!(again.map(|again| again.md5sum), Ok(ty.md5sum.clone()));
            if let Ok(plans) = Plans::new(&ty, shipped(), &name, &Rules::default()) {
                both(&plans, bytes);
            }
        }
        kind => both(&PLANS[usize::from(*kind) % TYPES.len()], bytes),
    }
});

fn both(plans: &Plans, bytes: &[u8]) {
    let (mut cdr, mut body, mut again) = (Vec::new(), Vec::new(), Vec::new());
    if plans.to_ros2.convert(bytes, &mut cdr).is_ok() {
        plans.to_ros1.convert(&cdr, &mut body).expect("what was converted converts back");
        plans.to_ros2.convert(&body, &mut again).expect("and again");
        assert_eq!(again, cdr);
    }
    body.clear();
    if plans.to_ros1.convert(bytes, &mut body).is_ok() {
        again.clear();
        plans.to_ros2.convert(&body, &mut again).expect("what was converted converts back");
    }
}
