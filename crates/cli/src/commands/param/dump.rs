//! `feros param dump`: the parameters of a node as a parameter file.

use std::collections::BTreeMap;
use std::process::ExitCode;

use feros::ParameterValue;

use super::remote::{NodeArgs, Remote};
use crate::error::CliError;
use crate::output;

/// Print the parameters of a node as a parameter file
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros param dump /camera > camera.yaml")]
pub(crate) struct Args {
    #[command(flatten)]
    node: NodeArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let remote = Remote::open(&args.node)?;
    let no_prefixes: [&str; 0] = [];
    let names = remote.ask(|client, left| client.list(no_prefixes, 0, left))?.names;
    let values = remote.ask(|client, left| client.get(&names, left))?;
    let parameters: Vec<_> = if values.len() == names.len() {
        names.into_iter().zip(values).collect()
    } else {
        // One of them has no value: each is asked for by itself.
        let one = |name: String| {
            let value = remote.ask(|client, left| client.get([&name], left))?.pop();
            Ok((name, value.unwrap_or_default()))
        };
        names.into_iter().map(one).collect::<Result<_, CliError>>()?
    };
    output::print_plain(&text(remote.name(), parameters))?;
    Ok(ExitCode::SUCCESS)
}

/// Parameters below a part of their names.
#[derive(Default)]
struct Group {
    value: Option<ParameterValue>,
    below: BTreeMap<String, Group>,
}

fn text(node: &str, parameters: impl IntoIterator<Item = (String, ParameterValue)>) -> String {
    let mut root = Group::default();
    for (name, value) in parameters.into_iter().filter(|(_, value)| !value.is_not_set()) {
        let mut group = &mut root;
        for part in name.split('.') {
            group = group.below.entry(part.to_owned()).or_default();
        }
        group.value = Some(value);
    }
    let mut text = format!("{node}:\n  ros__parameters:");
    if root.below.is_empty() {
        text.push_str(" {}\n");
    } else {
        text.push('\n');
        root.write_below("", 4, &mut text);
    }
    text
}

impl Group {
    /// Writes what is below; `prefix` is what of the name could not become a mapping, since it is a
    /// parameter itself.
    fn write_below(&self, prefix: &str, indent: usize, text: &mut String) {
        for (part, group) in &self.below {
            let name = format!("{prefix}{part}");
            let key = ParameterValue::from(name.as_str());
            let blanks = " ".repeat(indent);
            match &group.value {
                Some(value) => {
                    match value.elements() {
                        Some(elements) if !elements.is_empty() => {
                            text.push_str(&format!("{blanks}{key}:\n"));
                            elements
                                .iter()
                                .for_each(|one| text.push_str(&format!("{blanks}- {one}\n")));
                        }
                        _ => text.push_str(&format!("{blanks}{key}: {value}\n")),
                    }
                    group.write_below(&format!("{name}."), indent, text);
                }
                None => {
                    text.push_str(&format!("{blanks}{key}:\n"));
                    group.write_below("", indent + 2, text);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use feros::rmw::NodeName;

    #[test]
    fn what_is_dumped_is_a_parameter_file_of_the_same_values() {
        let parameters = [
            ("use_sim_time", ParameterValue::from(false)),
            ("lens.focus", 1.0.into()),
            ("lens.names", vec!["a", "5", ""].into()),
            ("lens", "both a parameter and a prefix".into()),
            ("qos_overrides./chatter.publisher.depth", 7.into()),
            ("text", "two\nlines: 'quoted'".into()),
            ("deep.er.x", vec![1_i64, -2].into()),
            ("unset", ParameterValue::NotSet),
        ]
        .map(|(name, value)| (name.to_owned(), value));
        let text = text("/ns/node", parameters.clone());
        let overrides =
            feros::parameter::file::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let read = overrides.for_node(&NodeName::new("/ns", "node").unwrap());
        let expected: BTreeMap<_, _> =
            parameters.into_iter().filter(|(_, value)| !value.is_not_set()).collect();
        assert_eq!(read, expected, "{text}");
        assert!(text.starts_with(
            "/ns/node:\n  ros__parameters:\n    deep:\n      er:\n        x:\n        - 1\n        - -2\n"
        ));
    }

    #[test]
    fn nothing_is_a_parameter_file_too() {
        assert_eq!(text("/node", []), "/node:\n  ros__parameters: {}\n");
    }
}
