//! The packages that are built into the library, so that their types are known without a ROS
//! installation: the standard packages, and packages that robots use beside them.

use std::sync::LazyLock;

use crate::parse::parse_interface;
use crate::set::InterfaceSet;

/// The definitions of the standard packages, which the build script has joined. Each text follows a
/// line with U+0001 and the name of the definition.
static STANDARD: &str = include_str!(concat!(env!("OUT_DIR"), "/standard.txt"));

/// The definitions of the packages of robots, in the same form.
static ROBOTS: &str = include_str!(concat!(env!("OUT_DIR"), "/robots.txt"));

/// The packages of robots whose definitions differ in Jazzy, in the same form.
static ROBOTS_OF_JAZZY: &str = include_str!(concat!(env!("OUT_DIR"), "/robots_of_jazzy.txt"));

/// The standard packages of ROS 2 Kilted, which `feros-msgs` contains as Rust types.
///
/// The definitions are parsed when they are first used, which takes a few milliseconds. To add
/// packages, clone the set. All clones share the definitions.
///
/// ```
/// let image = "sensor_msgs/msg/Image".parse()?;
/// assert!(feros_interface::standard().message(&image).is_some());
/// # Ok::<(), feros_interface::TypeNameError>(())
/// ```
pub fn standard() -> &'static InterfaceSet {
    static SET: LazyLock<InterfaceSet> = LazyLock::new(|| parse(definitions(STANDARD)));
    &SET
}

/// All interfaces that Feros ships: the standard packages, and the packages of robots.
///
/// The packages of robots have three times as many definitions as the standard packages. A program
/// that must start quickly uses [`standard`] or [`shipped_package`] as long as these suffice.
///
/// ```
/// let goal = "nav2_msgs/action/NavigateToPose".parse()?;
/// assert!(feros_interface::shipped().get(&goal).is_some());
/// # Ok::<(), feros_interface::TypeNameError>(())
/// ```
pub fn shipped() -> &'static InterfaceSet {
    static SET: LazyLock<InterfaceSet> = LazyLock::new(|| {
        let mut set = standard().clone();
        set.add_robot_packages();
        set
    });
    &SET
}

/// The sorted names of the shipped packages. This call does not parse the definitions.
///
/// ```
/// assert!(feros_interface::shipped_packages().contains(&"std_msgs"));
/// ```
pub fn shipped_packages() -> Vec<&'static str> {
    let mut packages = packages_of(STANDARD);
    packages.extend(packages_of(ROBOTS));
    packages.sort_unstable();
    packages
}

/// The sorted names of the packages of robots. This call does not parse the definitions.
///
/// ```
/// assert!(feros_interface::robot_packages().contains(&"nav2_msgs"));
/// ```
pub fn robot_packages() -> Vec<&'static str> {
    packages_of(ROBOTS)
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
    let of = |texts| parse(definitions(texts).filter(|(name, _)| package_of(name) == package));
    let found = of(STANDARD);
    if found.packages().is_empty() { of(ROBOTS) } else { found }
}

impl InterfaceSet {
    /// Adds the packages of robots that this set lacks.
    pub fn add_robot_packages(&mut self) {
        let known = self.packages();
        let missing =
            definitions(ROBOTS).filter(|(name, _)| known.binary_search(&package_of(name)).is_err());
        let missing = parse(missing);
        self.absorb(missing);
    }

    /// Adds the packages of robots whose definitions differ in Jazzy, as Jazzy has them. They
    /// replace packages with the same names.
    pub fn add_robot_packages_of_jazzy(&mut self) {
        let of_jazzy = parse(definitions(ROBOTS_OF_JAZZY));
        for package in of_jazzy.packages() {
            self.remove_package(package);
        }
        self.absorb(of_jazzy);
    }
}

/// The names and texts of joined definitions.
fn definitions(texts: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let definitions = texts.split('\u{1}').skip(1);
    definitions.map(|definition| definition.split_once('\n').unwrap_or((definition, "")))
}

/// The package of a definition's name.
fn package_of(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
}

/// The packages of joined definitions, which are sorted.
fn packages_of(texts: &'static str) -> Vec<&'static str> {
    let mut packages: Vec<&str> = definitions(texts).map(|(name, _)| package_of(name)).collect();
    packages.dedup();
    packages
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
