//! Reads the links and joints of a robot description (<https://wiki.ros.org/urdf/XML>), and which
//! files the meshes of links are. Other elements that do not concern the poses of links, such as
//! inertias, are ignored.

use std::borrow::Cow;
use std::collections::HashSet;

use feros_tf2::Transform;
use feros_tf2::glam::{DQuat, DVec3};
use feros_wording::did_you_mean;
use roxmltree::{Document, Node, ParsingOptions};

use super::error::{DescriptionError, shown};
use super::joint::{Joint, JointKind, Limits, Mimic, rotation_of};
use super::{MAX_ATTRIBUTES, MAX_BYTES, MAX_MESHES, MAX_NODES, Mesh};

/// The links and joints of a description, which need not form a tree.
pub(super) struct Parts {
    pub(super) name: String,
    /// The names of the links, and where the text has them.
    pub(super) links: Vec<(String, usize)>,
    pub(super) joints: Vec<Joint>,
    pub(super) meshes: Vec<Mesh>,
    /// An element of xacro, if there is any. It is ignored, as by other parsers, because public
    /// robots have such elements; but it is the probable cause if links are missing.
    pub(super) xacro: Option<DescriptionError>,
}

pub(super) fn parts(text: &str) -> Result<Parts, DescriptionError> {
    refuse_size(text)?;
    let text = without_late_declaration(text);
    let text = text.as_ref();
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let looks_like_xml = text.trim_start().starts_with('<');
        let hint = "; pass the text of a URDF file, not its path";
        DescriptionError::NotXml {
            reason: shown(&error.to_string()),
            hint: if looks_like_xml { "" } else { hint },
        }
    })?;
    let reader = Reader { document: &document };
    let root = document.root_element();
    if root.tag_name().name() != "robot" {
        return Err(DescriptionError::NotUrdf { found: shown(root.tag_name().name()) });
    }
    let own = |name: &'static str| {
        // Elements of other namespaces belong to extensions.
        root.children().filter(move |child| {
            child.has_tag_name(name) && child.tag_name().namespace() == root.tag_name().namespace()
        })
    };
    let links = own("link")
        .map(|link| Ok((reader.name(link, "a link")?, link.range().start)))
        .collect::<Result<_, _>>()?;
    let joints = own("joint").map(|joint| reader.joint(joint)).collect::<Result<_, _>>()?;
    let meshes = meshes(own("link"));
    let name = root.attribute("name").unwrap_or_default().to_owned();
    Ok(Parts { name, links, joints, meshes, xacro: reader.xacro() })
}

/// The first meshes of links, each once, although several links may show it, and a link for
/// collisions too.
fn meshes<'a>(links: impl Iterator<Item = Node<'a, 'a>>) -> Vec<Mesh> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for link in links {
        let inside = link.descendants().filter(|node| node.has_tag_name("mesh"));
        for uri in inside.filter_map(|mesh| mesh.attribute("filename")) {
            if found.len() == MAX_MESHES {
                return found;
            }
            if seen.insert(uri) {
                let link = link.attribute("name").unwrap_or_default().to_owned();
                found.push(Mesh { uri: uri.to_owned(), link });
            }
        }
    }
    found
}

/// Blanks out the declaration of XML if a comment or a space precedes it. Strictly this is an
/// error, but other parsers of URDF accept it, and some public robots have it.
fn without_late_declaration(text: &str) -> Cow<'_, str> {
    let late = text.find("<?xml ").filter(|begin| *begin > 0);
    let Some((begin, end)) =
        late.and_then(|begin| Some((begin, begin + text[begin..].find("?>")? + 2)))
    else {
        return Cow::Borrowed(text);
    };
    // Each byte gets a space, so that places stay the same.
    let blank: String =
        text[begin..end].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    Cow::Owned(text[..begin].to_owned() + &blank + &text[end..])
}

/// Refuses texts on which the parser would spend much time: it compares each attribute of an
/// element with all earlier ones.
fn refuse_size(text: &str) -> Result<(), DescriptionError> {
    if text.trim().is_empty() {
        return Err(DescriptionError::Empty);
    }
    if text.len() > MAX_BYTES {
        return Err(DescriptionError::TooLong { bytes: text.len(), limit: MAX_BYTES });
    }
    // Values contain no `<`, so all attributes of an element come before the next `<`.
    let mut line = 1;
    for part in text.split('<') {
        let has_attributes = !part.starts_with(['!', '?', '/']);
        if has_attributes && part.matches('=').nth(MAX_ATTRIBUTES).is_some() {
            return Err(DescriptionError::TooManyAttributes { line, limit: MAX_ATTRIBUTES });
        }
        line += part.matches('\n').count();
    }
    Ok(())
}

/// The number of the line that has the byte at `place`. Only errors ask for it, since it is counted
/// from the beginning of the text.
pub(super) fn line_at(text: &str, place: usize) -> usize {
    1 + text.as_bytes()[..place].iter().filter(|byte| **byte == b'\n').count()
}

struct Reader<'a> {
    document: &'a Document<'a>,
}

impl Reader<'_> {
    fn line(&self, node: Node<'_, '_>) -> usize {
        line_at(self.document.input_text(), node.range().start)
    }

    fn xacro(&self) -> Option<DescriptionError> {
        let is_xacro = |node: &Node<'_, '_>| {
            node.is_element()
                && node.tag_name().namespace().is_some_and(|name| name.ends_with("/xacro"))
        };
        let node = self.document.descendants().find(is_xacro)?;
        let element = format!("xacro:{}", shown(node.tag_name().name()));
        Some(DescriptionError::Xacro { line: self.line(node), element })
    }

    fn missing(
        &self,
        node: Node<'_, '_>,
        element: &str,
        missing: &'static str,
    ) -> DescriptionError {
        DescriptionError::Missing { line: self.line(node), element: element.to_owned(), missing }
    }

    fn name(&self, node: Node<'_, '_>, element: &str) -> Result<String, DescriptionError> {
        let name = node.attribute("name").filter(|name| !name.trim().is_empty());
        name.map(str::to_owned).ok_or_else(|| self.missing(node, element, "name"))
    }

    fn joint(&self, node: Node<'_, '_>) -> Result<Joint, DescriptionError> {
        let name = self.name(node, "a joint")?;
        let element = format!("the joint \"{}\"", shown(&name));
        let child = |name: &'static str| node.children().find(|child| child.has_tag_name(name));
        let kind = self.kind(node, &name, &element)?;
        let link = |role, missing| {
            let link = child(role).and_then(|child| child.attribute("link"));
            link.map(str::to_owned).ok_or_else(|| self.missing(node, &element, missing))
        };
        let origin = child("origin").map(|origin| self.origin(origin, &element)).transpose()?;
        let axis = child("axis").map(|axis| self.numbers(axis, "xyz", &element)).transpose()?;
        let axis = DVec3::from_array(axis.flatten().unwrap_or([1.0, 0.0, 0.0]));
        let direction = axis.try_normalize();
        if direction.is_none() && kind.is_movable() {
            let joint = shown(&name);
            return Err(DescriptionError::NoDirection { line: self.line(node), joint });
        }
        Ok(Joint {
            kind,
            parent: link("parent", "<parent link=\"...\"/>")?,
            child: link("child", "<child link=\"...\"/>")?,
            origin: origin.unwrap_or_default(),
            axis: direction.unwrap_or(DVec3::X),
            limits: self.limits(child("limit"), ["lower", "upper"], &element)?,
            soft_limits: self.limits(
                child("safety_controller"),
                ["soft_lower_limit", "soft_upper_limit"],
                &element,
            )?,
            mimic: child("mimic").map(|mimic| self.mimic(mimic, &element)).transpose()?,
            place: node.range().start,
            name,
        })
    }

    fn kind(
        &self,
        node: Node<'_, '_>,
        name: &str,
        element: &str,
    ) -> Result<JointKind, DescriptionError> {
        let text = node.attribute("type").ok_or_else(|| self.missing(node, element, "type"))?;
        let known = JointKind::NAMES.iter().find(|(name, _)| *name == text);
        known.map(|(_, kind)| *kind).ok_or_else(|| {
            let names = JointKind::NAMES.map(|(name, _)| name);
            let nearest = did_you_mean(text, names);
            let suggestion = if nearest.is_empty() {
                format!("; the types are {}", names.join(", "))
            } else {
                nearest
            };
            DescriptionError::UnknownType {
                line: self.line(node),
                joint: shown(name),
                kind: shown(text),
                suggestion,
            }
        })
    }

    fn origin(&self, node: Node<'_, '_>, element: &str) -> Result<Transform, DescriptionError> {
        let [x, y, z] = self.numbers(node, "xyz", element)?.unwrap_or_default();
        // Newer descriptions (version 1.2) may have a quaternion instead of angles.
        let rotation = match self.numbers::<4>(node, "quat_xyzw", element)? {
            Some(numbers) => {
                let length = DQuat::from_array(numbers).length();
                if length < 1e-6 {
                    return Err(self.wrong(
                        node,
                        "quat_xyzw",
                        element,
                        "a quaternion that is not 0",
                    ));
                }
                DQuat::from_array(numbers.map(|number| number / length))
            }
            None => {
                let [roll, pitch, yaw] = self.numbers(node, "rpy", element)?.unwrap_or_default();
                rotation_of(roll, pitch, yaw)
            }
        };
        Ok(Transform::new(DVec3::new(x, y, z), rotation))
    }

    fn limits(
        &self,
        node: Option<Node<'_, '_>>,
        [lower, upper]: [&'static str; 2],
        element: &str,
    ) -> Result<Limits, DescriptionError> {
        let Some(node) = node else { return Ok(Limits::default()) };
        Ok(Limits {
            lower: self.number(node, lower, element)?,
            upper: self.number(node, upper, element)?,
        })
    }

    fn mimic(&self, node: Node<'_, '_>, element: &str) -> Result<Mimic, DescriptionError> {
        let joint = node.attribute("joint");
        let joint = joint.ok_or_else(|| self.missing(node, element, "<mimic joint=\"...\"/>"))?;
        Ok(Mimic {
            joint: joint.to_owned(),
            multiplier: self.number(node, "multiplier", element)?.unwrap_or(1.0),
            offset: self.number(node, "offset", element)?.unwrap_or(0.0),
        })
    }

    fn number(
        &self,
        node: Node<'_, '_>,
        attribute: &'static str,
        element: &str,
    ) -> Result<Option<f64>, DescriptionError> {
        Ok(self.numbers::<1>(node, attribute, element)?.map(|[number]| number))
    }

    /// Reads an attribute with `N` numbers; `None` if there is no such attribute.
    fn numbers<const N: usize>(
        &self,
        node: Node<'_, '_>,
        attribute: &'static str,
        element: &str,
    ) -> Result<Option<[f64; N]>, DescriptionError> {
        let Some(text) = node.attribute(attribute) else { return Ok(None) };
        let mut numbers = [0.0; N];
        let mut words = text.split_ascii_whitespace();
        for number in &mut numbers {
            let parsed = words.next().and_then(|word| word.parse::<f64>().ok());
            let expected = match N {
                1 => "a finite number",
                3 => "three finite numbers",
                _ => "four finite numbers",
            };
            *number = parsed
                .filter(|parsed| parsed.is_finite())
                .ok_or_else(|| self.wrong(node, attribute, element, expected))?;
        }
        match words.next() {
            Some(_) => Err(self.wrong(node, attribute, element, "fewer numbers")),
            None => Ok(Some(numbers)),
        }
    }

    fn wrong(
        &self,
        node: Node<'_, '_>,
        attribute: &'static str,
        element: &str,
        expected: &'static str,
    ) -> DescriptionError {
        let text = node.attribute(attribute).unwrap_or_default();
        DescriptionError::Numbers {
            line: self.line(node),
            element: element.to_owned(),
            attribute,
            text: shown(text),
            expected,
            hint: if text.contains("${") { "; xacro replaces ${...}, so run it first" } else { "" },
        }
    }
}
