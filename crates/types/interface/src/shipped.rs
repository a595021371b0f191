//! The standard packages. They are built into the library, so that their types are known without a
//! ROS installation.

use std::sync::LazyLock;

use crate::parse::parse_interface;
use crate::set::InterfaceSet;

/// All definitions of `interfaces/`, which the build script has joined. Each text follows a line
/// with U+0001 and the name of the definition.
static TEXTS: &str = include_str!(concat!(env!("OUT_DIR"), "/shipped.txt"));

/// The interfaces that Feros ships: the standard packages of ROS 2 Kilted.
///
/// The definitions are parsed when they are first used, which takes a few milliseconds. To add
/// packages, clone the set. All clones share the definitions.
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

/// The sorted names of the shipped packages. This call does not parse the definitions.
///
/// ```
/// assert!(feros_interface::shipped_packages().contains(&"std_msgs"));
/// ```
pub fn shipped_packages() -> Vec<&'static str> {
    let mut packages: Vec<&str> =
        definitions().filter_map(|(name, _)| Some(name.split_once('/')?.0)).collect();
    packages.dedup();
    packages
}

/// Parses one shipped package, without the packages that it refers to. This is for programs that
/// use few types and must start quickly. The set is empty if there is no such package.
///
/// ```
/// let package = feros_interface::shipped_package("std_msgs");
/// assert_eq!(package.packages(), ["std_msgs"]);
/// assert!(package.message(&"std_msgs/msg/Header".parse()?).is_some());
/// # Ok::<(), feros_interface::TypeNameError>(())
/// ```
pub fn shipped_package(package: &str) -> InterfaceSet {
    parse(
        definitions().filter(|(name, _)| {
            name.strip_prefix(package).is_some_and(|rest| rest.starts_with('/'))
        }),
    )
}

/// The names and texts of all definitions.
fn definitions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let definitions = TEXTS.split('\u{1}').skip(1);
    definitions.map(|definition| definition.split_once('\n').unwrap_or((definition, "")))
}

fn parse_all() -> InterfaceSet {
    parse(definitions())
}

fn parse(definitions: impl Iterator<Item = (&'static str, &'static str)>) -> InterfaceSet {
    let mut set = InterfaceSet::new();
    for (name, text) in definitions {
        let name = name
            .parse()
            .expect("the build script writes names of definition files that tests have parsed");
        let interface =
            parse_interface(&name, text).expect("a test parses every shipped definition");
        set.insert(interface).expect("a test inserts every shipped definition");
    }
    set
}
