//! The attributes and children of an entity. The actions take them one by one; a remaining field is
//! a mistake, and the error message suggests a similar field.

use crate::error::{LaunchError, hint, shown};
use crate::position::Position;
use crate::substitution::Template;
use crate::tree::{Attribute, AttributeValue, Entity, Scalar};

/// Attributes of ROS 1 launch files, with their replacements.
const OF_ROS_1: &[(&str, &str)] = &[
    (
        "machine",
        "processes on other machines cannot be started from this machine; run feros launch there",
    ),
    ("type", "ROS 2 calls it `exec`"),
    ("required", "write `on_exit=\"shutdown\"`"),
    ("default_value", "in launch files it is called `default`"),
    ("package", "in launch files it is called `pkg`"),
    ("executable", "in launch files it is called `exec`"),
    ("clear_params", "ROS 2 has no parameters outside of nodes"),
];

pub(crate) struct Fields {
    pub(crate) tag: String,
    pub(crate) at: Position,
    attributes: Vec<Attribute>,
    children: Vec<Entity>,
    known_attributes: Vec<&'static str>,
    known_children: Vec<&'static str>,
}

impl Fields {
    pub(crate) fn new(entity: Entity) -> Self {
        let Entity { tag, at, attributes, children } = entity;
        Self {
            tag,
            at,
            attributes,
            children,
            known_attributes: Vec::new(),
            known_children: Vec::new(),
        }
    }

    pub(crate) fn error(&self, problem: impl Into<String>) -> LaunchError {
        LaunchError::at(&self.at, problem)
    }

    /// Treats the value of an attribute as unquoted.
    pub(crate) fn unquote(&mut self, name: &str) {
        for attribute in self.attributes.iter_mut().filter(|attribute| attribute.name == name) {
            match &mut attribute.value {
                AttributeValue::One(scalar) => scalar.quoted = false,
                AttributeValue::List(items) => {
                    items.iter_mut().for_each(|item| item.quoted = false)
                }
            }
        }
    }

    /// Takes an attribute, if it is given.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<Attribute> {
        self.known_attributes.push(name);
        let index = self.attributes.iter().position(|attribute| attribute.name == name)?;
        Some(self.attributes.remove(index))
    }

    /// Takes an attribute with a single value, if it is given.
    pub(crate) fn scalar(&mut self, name: &'static str) -> Result<Option<Scalar>, LaunchError> {
        match self.take(name).map(|attribute| (attribute.at, attribute.value)) {
            None => Ok(None),
            Some((_, AttributeValue::One(scalar))) => Ok(Some(scalar)),
            Some((at, AttributeValue::List(_))) => Err(LaunchError::at(
                &at,
                format!("a list for `{name}` of `{}`: expected one value", self.tag),
            )),
        }
    }

    /// Takes an attribute that may contain substitutions, if it is given.
    pub(crate) fn optional(&mut self, name: &'static str) -> Result<Option<Template>, LaunchError> {
        self.scalar(name)?.map(|scalar| Template::parse(&scalar)).transpose()
    }

    /// Takes an attribute that may contain substitutions and must be given.
    pub(crate) fn required(&mut self, name: &'static str) -> Result<Template, LaunchError> {
        match self.optional(name)? {
            Some(template) => Ok(template),
            None => Err(self.missing(name)),
        }
    }

    /// Takes an attribute that may not contain substitutions, if it is given.
    pub(crate) fn text(
        &mut self,
        name: &'static str,
    ) -> Result<Option<(String, Position)>, LaunchError> {
        let Some(template) = self.optional(name)? else { return Ok(None) };
        match template.as_text() {
            Some(text) => Ok(Some((text.to_owned(), template.at))),
            None => {
                let problem = format!(
                    "{} for `{name}` of `{}`: substitutions are not allowed here",
                    shown(&template.source),
                    self.tag
                );
                Err(LaunchError::at(&template.at, problem))
            }
        }
    }

    pub(crate) fn missing(&self, name: &str) -> LaunchError {
        let given: Vec<&str> =
            self.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
        let unknown = |given: &&str| !self.known_attributes.contains(given);
        let likely = feros_wording::nearest(name, given.iter().copied().filter(unknown));
        let aside = match likely.first() {
            Some(word) => format!(" (`{word}` is given instead)"),
            None => given
                .iter()
                .find_map(|given| {
                    OF_ROS_1
                        .iter()
                        .find(|(old, cure)| old == given && cure.contains(name))
                        .map(|(old, cure)| format!(" (`{old}` is given instead: {cure})"))
                })
                .unwrap_or_default(),
        };
        self.error(format!("`{}` without its `{name}`{aside}", self.tag))
    }

    /// Takes the child entities with this tag.
    pub(crate) fn children(&mut self, tag: &'static str) -> Vec<Fields> {
        self.known_children.push(tag);
        let (taken, left) =
            std::mem::take(&mut self.children).into_iter().partition(|child| child.tag == tag);
        self.children = left;
        let taken: Vec<Entity> = taken;
        taken.into_iter().map(Fields::new).collect()
    }

    /// Reads the child entities with this tag.
    pub(crate) fn each<T>(
        &mut self,
        tag: &'static str,
        read: impl Fn(&mut Self) -> Result<T, LaunchError>,
    ) -> Result<Vec<T>, LaunchError> {
        self.children(tag).into_iter().map(|child| child.read(&read)).collect()
    }

    /// Reads child entities that have a name and a value, such as `env`.
    pub(crate) fn pairs(
        &mut self,
        tag: &'static str,
    ) -> Result<Vec<(Template, Template)>, LaunchError> {
        self.each(tag, |child| Ok((child.required("name")?, child.required("value")?)))
    }

    /// Takes all remaining child entities, for entities that contain actions.
    pub(crate) fn actions(&mut self) -> Vec<Entity> {
        std::mem::take(&mut self.children)
    }

    /// Reads the entity, and refuses what `read` has not taken.
    pub(crate) fn read<T>(
        mut self,
        read: impl FnOnce(&mut Self) -> Result<T, LaunchError>,
    ) -> Result<T, LaunchError> {
        let value = read(&mut self)?;
        self.finish()?;
        Ok(value)
    }

    /// Refuses attributes and children that have not been taken.
    fn finish(self) -> Result<(), LaunchError> {
        if let Some(attribute) = self.attributes.first() {
            let known = &self.known_attributes;
            let cure = OF_ROS_1
                .iter()
                .find(|(name, _)| *name == attribute.name)
                .map(|(_, cure)| format!(": {cure}"));
            let cure = cure.unwrap_or_else(|| hint(&attribute.name, known.iter().copied()));
            let problem =
                format!("unknown attribute {} of `{}`{cure}", shown(&attribute.name), self.tag);
            return Err(LaunchError::at(&attribute.at, problem));
        }
        if let Some(child) = self.children.first() {
            let expected = if self.known_children.is_empty() {
                format!("; `{}` holds no other entities", self.tag)
            } else {
                hint(&child.tag, self.known_children.iter().copied())
            };
            let problem =
                format!("unknown entity {} within `{}`{expected}", shown(&child.tag), self.tag);
            return Err(LaunchError::at(&child.at, problem));
        }
        Ok(())
    }
}
