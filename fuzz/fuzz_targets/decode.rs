//! Decodes any bytes as samples of generated types: either the owned type and the view type both
//! refuse the bytes, or both values are equal, and the owned value encodes to bytes that decode to
//! it again.

use feros_message::cdr::{ByteOrder, Writer};
use feros_message::{EncodeError, Message, encoded_size, from_bytes, to_vec, view};
use feros_msgs::{
    composition_interfaces, diagnostic_msgs, geometry_msgs, nav_msgs, rcl_interfaces,
    rmw_dds_common, sensor_msgs, std_msgs, test_msgs, visualization_msgs,
};

const CHECKS: &[fn(&[u8])] = &[
    check::<composition_interfaces::srv::ListNodes_Event>,
    check::<diagnostic_msgs::msg::DiagnosticArray>,
    check::<geometry_msgs::msg::PoseWithCovarianceStamped>,
    check::<nav_msgs::msg::Path>,
    check::<rcl_interfaces::msg::ParameterEvent>,
    check::<rmw_dds_common::msg::ParticipantEntitiesInfo>,
    check::<sensor_msgs::msg::CameraInfo>,
    check::<sensor_msgs::msg::Image>,
    check::<sensor_msgs::msg::PointCloud2>,
    check::<std_msgs::msg::Float64MultiArray>,
    check::<std_msgs::msg::String>,
    check::<test_msgs::action::Fibonacci_GetResult_Event>,
    check::<test_msgs::msg::Arrays>,
    check::<test_msgs::msg::BoundedSequences>,
    check::<test_msgs::msg::Defaults>,
    check::<test_msgs::msg::Empty>,
    check::<test_msgs::msg::MultiNested>,
    check::<test_msgs::msg::Nested>,
    check::<test_msgs::msg::UnboundedSequences>,
    check::<test_msgs::msg::WStrings>,
    check::<visualization_msgs::msg::Marker>,
];

/// Runs one input: its first byte chooses the type, the rest is the sample.
pub(crate) fn run(data: &[u8]) {
    let Some((&which, sample)) = data.split_first() else { return };
    CHECKS[usize::from(which) % CHECKS.len()](sample);
}

fn check<M: Message>(sample: &[u8]) {
    let (owned, seen) = (from_bytes::<M>(sample), view::<M>(sample));
    assert_eq!(owned.is_ok(), seen.is_ok(), "{owned:?} but {seen:?}");
    let (Ok(owned), Ok(seen)) = (owned, seen) else { return };
    // The view struct of Image is named ImageView. The debug texts are compared, because NaN is not
    // equal to itself.
    let named = |text: String| text.replace("View {", " {");
    assert_eq!(named(format!("{seen:?}")), named(format!("{owned:?}")));
    let bytes = match to_vec(&owned) {
        Ok(bytes) => bytes,
        // A string that contains a NUL is received, but not sent: C and C++ programs would truncate
        // it.
        Err(error) => return assert!(matches!(error, EncodeError::InteriorNul { .. }), "{error}"),
    };
    let again: M = from_bytes(&bytes).expect("an encoded message can be decoded");
    assert_eq!(to_vec(&again).expect("as above"), bytes);
    let mut big_endian = vec![0xaa; encoded_size(&owned)];
    let mut writer =
        Writer::with_byte_order(&mut big_endian, ByteOrder::Big).expect("there is room");
    owned.encode(&mut writer).expect("as above");
    let again: M = from_bytes(&big_endian).expect("an encoded message can be decoded");
    assert_eq!(to_vec(&again).expect("as above"), bytes);
}
