//! The standard packages, built in: no ROS installation is needed to know their types.

use std::sync::LazyLock;

use crate::parse::parse_interface;
use crate::set::InterfaceSet;

/// All definitions of `interfaces/`, put together by the build script: before each text a line of
/// U+0001 and the name.
static TEXTS: &str = include_str!(concat!(env!("OUT_DIR"), "/shipped.txt"));

/// The interfaces that Feros ships: the standard packages of ROS 2 Kilted.
///
/// They are parsed when first asked for, which takes a few milliseconds. To add packages, clone the
/// set: the definitions are shared.
///
/// ```
/// let image = "sensor_msgs/msg/Image".parse()?;
/// assert!(feros_interface::shipped().message(&image).is_some());
/// # Ok::<(), feros_interface::TypeNameError>(())
/// ```
pub fn shipped() -> &'static InterfaceSet {
    static SHIPPED: LazyLock<InterfaceSet> = LazyLock::new(parse_all);
    &SHIPPED
}

fn parse_all() -> InterfaceSet {
    let mut set = InterfaceSet::new();
    for definition in TEXTS.split('\u{1}').skip(1) {
        let (name, text) = definition.split_once('\n').unwrap_or((definition, ""));
        let name = name
            .parse()
            .expect("the build script writes names of definition files that tests have parsed");
        let interface =
            parse_interface(&name, text).expect("a test parses every shipped definition");
        set.insert(interface).expect("a test inserts every shipped definition");
    }
    set
}
