//! Reads any bytes as input from ROS 1: connection headers, XML-RPC, definitions, HTTP with
//! responses of masters, messages of actions, and message bodies. Accepted input must be reproduced
//! when it is written again, and must be a valid message for its readers.

use std::sync::LazyLock;

use feros_interface::{TypeName, shipped};
use feros_ros1::{
    Address, Catalog, ConnectionHeader, MAX_NAME_BYTES, Master, Plans, Rules, parse_type,
    read_about, read_answer, read_call, read_cancel, read_goal, read_request, read_response,
    read_statuses, write_about, write_cancel, write_goal, write_statuses,
};

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

/// Runs one input: its first byte chooses the kind of the rest.
pub(crate) fn run(data: &[u8]) {
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
        3 => master_says(bytes),
        4 => {
            let Ok(Some(text)) = read_request(&mut &*bytes) else { return };
            let again = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{text}", text.len());
            assert_eq!(read_request(&mut again.as_bytes()).ok().flatten().as_ref(), Some(&text));
            let _ = read_call(&text);
        }
        5 => action_says(bytes),
        kind => both(&PLANS[usize::from(*kind) % TYPES.len()], bytes),
    }
}

/// The response of a master, which is untrusted; only its names are kept.
fn master_says(bytes: &[u8]) {
    let Ok(text) = read_response(&mut &*bytes) else { return };
    let again = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
    assert_eq!(read_response(&mut again.as_bytes()).ok().as_ref(), Some(&text));
    static MASTER: LazyLock<Master> = LazyLock::new(|| {
        Master::new(Address::parse("http://127.0.0.1:1/").expect("an address"), "/fuzz")
    });
    let Ok(value) = MASTER.read_answer("getSystemState", &text) else { return };
    let is_name = |name: &str| name.len() <= MAX_NAME_BYTES && !name.contains(char::is_control);
    let state = MASTER.read_system_state(&value);
    assert!(state.nodes().all(is_name));
    let all = state.publishers.iter().chain(&state.subscribers).chain(&state.services);
    assert!(all.into_iter().all(|(name, _)| is_name(name)));
    let types = MASTER.read_topic_types(&value);
    assert!(types.iter().all(|(name, ty)| is_name(name) && is_name(ty)));
}

/// Messages on actionlib's topics: a message that is read and written again has the same content
/// when it is read once more.
fn action_says(bytes: &[u8]) {
    let mut out = Vec::new();
    if let Ok((id, rest)) = read_goal(bytes) {
        write_goal(&mut out, (1, 2), &id);
        out.extend_from_slice(rest);
        assert_eq!(read_goal(&out), Ok((id, rest)));
    }
    out.clear();
    if let Ok(id) = read_cancel(bytes) {
        write_cancel(&mut out, &id);
        assert_eq!(read_cancel(&out), Ok(id));
    }
    out.clear();
    if let Ok((status, rest)) = read_about(bytes) {
        write_about(&mut out, (1, 2), &status);
        out.extend_from_slice(rest);
        assert_eq!(read_about(&out), Ok((status, rest)));
    }
    out.clear();
    if let Ok(statuses) = read_statuses(bytes) {
        write_statuses(&mut out, (1, 2), &statuses);
        assert_eq!(read_statuses(&out), Ok(statuses));
    }
}

fn both(plans: &Plans, bytes: &[u8]) {
    let (mut cdr, mut body, mut again) = (Vec::new(), Vec::new(), Vec::new());
    if plans.to_ros2.convert(bytes, &mut cdr).is_ok() {
        plans.to_ros1.convert(&cdr, &mut body).expect("a converted message converts back");
        plans.to_ros2.convert(&body, &mut again).expect("and again");
        assert_eq!(again, cdr);
    }
    body.clear();
    if plans.to_ros1.convert(bytes, &mut body).is_ok() {
        again.clear();
        plans.to_ros2.convert(&body, &mut again).expect("a converted message converts back");
    }
}
