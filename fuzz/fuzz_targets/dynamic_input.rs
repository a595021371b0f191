//! Reads any text as YAML and as JSON for a message, and as the path of a field in a message.

use std::sync::LazyLock;

use feros_interface::shipped;
use feros_message::dynamic::{DynamicMessage, DynamicType, PrintOptions};

static TYPES: LazyLock<Vec<DynamicType>> = LazyLock::new(|| {
    [
        "test_msgs/msg/UnboundedSequences",
        "test_msgs/msg/Arrays",
        "nav_msgs/msg/Path",
        "rcl_interfaces/msg/ParameterEvent",
    ]
    .map(|name| {
        let name = name.parse().expect("these are names");
        DynamicType::resolve(shipped(), &name).expect("shipped types are complete")
    })
    .into()
});

/// Runs one input: the text, for each of the types.
pub(crate) fn run(text: &str) {
    for ty in TYPES.iter() {
        let stamped =
            DynamicMessage::from_yaml_with_stamps(ty, text).ok().map(|(mut message, stamps)| {
                stamps.set(&mut message, 1, 2);
                message
            });
        let plain =
            [DynamicMessage::from_yaml(ty, text).ok(), DynamicMessage::from_json(ty, text).ok()];
        for message in plain.into_iter().flatten().chain(stamped) {
            let _ = message.to_cdr();
            let json = message.to_json(&PrintOptions::default());
            let again = DynamicMessage::from_json(ty, &json)
                .unwrap_or_else(|error| panic!("{error}\n{json}"));
            assert_eq!(again.to_json(&PrintOptions::default()), json);
        }
        let _ = ty.default_message().select(text);
    }
}
