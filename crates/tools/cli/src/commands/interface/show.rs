//! `feros interface show`: a definition, with the definitions of nested messages indented below
//! their fields.

use std::io::{self, BufWriter, Write};

use feros_interface::{BaseType, Interface, InterfaceSet, MessageDefinition, TypeName};

use super::arguments::type_argument;
use crate::error::CliError;
use crate::output::{self, foreign_block};
use crate::types::{InterfaceArgs, Types};

/// Print the definition of a type, nested types included
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros interface show geometry_msgs/msg/Twist\n  feros topic type /scan | feros \
                        interface show -"
)]
pub(crate) struct Args {
    /// A message, service or action; - reads it from standard input
    #[arg(value_name = "TYPE")]
    name: String,
    /// Print the comments of nested types as well
    #[arg(long, conflicts_with = "no_comments")]
    all_comments: bool,
    /// Print no comments and no blank lines
    #[arg(long)]
    no_comments: bool,
    /// Print the type description as JSON, like the answer of `~/get_type_description`
    #[arg(long, conflicts_with_all = ["all_comments", "no_comments"])]
    json: bool,
}

/// Selects the comments to print.
#[derive(Clone, Copy)]
struct Comments {
    own: bool,
    nested: bool,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let types = Types::load(interfaces)?;
    let name = types.find(&type_argument(&args.name)?)?;
    // This finds missing and circular references, so that printing may recurse.
    let description = types.set().type_description(&name).map_err(CliError::failed)?;
    if args.json {
        output::print(&format!("{}\n", feros_wording::harmless_json(&description.to_json())))?;
    } else {
        let comments = Comments { own: !args.no_comments, nested: args.all_comments };
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out, types.set(), &name, comments).and_then(|()| out.flush())?;
    }
    Ok(())
}

/// Writes a definition whose references exist. It writes directly instead of collecting the text:
/// if each type contains the next one twice, the text doubles with each level.
fn write(
    out: &mut dyn Write,
    set: &InterfaceSet,
    name: &TypeName,
    comments: Comments,
) -> io::Result<()> {
    let parts: Vec<&MessageDefinition> = match set.get(name).map(AsRef::as_ref) {
        Some(Interface::Message(message)) => vec![message],
        Some(Interface::Service(service)) => vec![&service.request, &service.response],
        Some(Interface::Action(action)) => vec![&action.goal, &action.result, &action.feedback],
        // A message or service that is derived from another definition.
        None => match (set.message(name), set.service(name)) {
            (Some(message), _) => vec![message],
            (None, Some(service)) => vec![&service.request, &service.response],
            (None, None) => vec![],
        },
    };
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            out.write_all(b"---\n")?;
        }
        write_message(out, set, part, comments, 0)?;
    }
    Ok(())
}

fn write_message(
    out: &mut dyn Write,
    set: &InterfaceSet,
    message: &MessageDefinition,
    comments: Comments,
    depth: usize,
) -> io::Result<()> {
    let message: &MessageDefinition = &message.with_words();
    let indent = "\t".repeat(depth);
    let write_comment = |out: &mut dyn Write, lines: &[String]| {
        for line in lines.iter().filter(|_| comments.own) {
            let separator = if line.is_empty() { "" } else { " " };
            writeln!(out, "{indent}#{separator}{}", foreign_block(line))?;
        }
        io::Result::Ok(())
    };
    write_comment(out, &message.comment)?;
    if comments.own
        && !message.comment.is_empty()
        && !(message.fields.is_empty() && message.constants.is_empty())
    {
        out.write_all(b"\n")?;
    }
    for constant in &message.constants {
        write_comment(out, &constant.comment)?;
        writeln!(out, "{indent}{}", foreign_block(&constant.to_string()))?;
    }
    if comments.own && !message.constants.is_empty() && !message.fields.is_empty() {
        out.write_all(b"\n")?;
    }
    for field in &message.fields {
        write_comment(out, &field.comment)?;
        writeln!(out, "{indent}{}", foreign_block(&field.to_string()))?;
        if let BaseType::Nested(name) = &field.ty.base
            && let Some(nested) = set.message(name)
        {
            write_message(
                out,
                set,
                nested,
                Comments { own: comments.nested, ..comments },
                depth + 1,
            )?;
        }
    }
    write_comment(out, &message.closing_comment)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn show(set: &InterfaceSet, name: &TypeName, comments: Comments) -> String {
        let mut text = Vec::new();
        write(&mut text, set, name, comments).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn shown(name: &str, comments: Comments) -> String {
        show(feros_interface::shipped(), &name.parse().unwrap(), comments)
    }

    const PLAIN: Comments = Comments { own: false, nested: false };

    #[test]
    fn nested_types_are_indented_below_their_fields() {
        assert_eq!(
            shown("geometry_msgs/msg/TwistStamped", PLAIN),
            "std_msgs/Header header\n\
             \tbuiltin_interfaces/Time stamp\n\
             \t\tint32 sec\n\
             \t\tuint32 nanosec\n\
             \tstring frame_id\n\
             geometry_msgs/Twist twist\n\
             \tgeometry_msgs/Vector3 linear\n\
             \t\tfloat64 x\n\
             \t\tfloat64 y\n\
             \t\tfloat64 z\n\
             \tgeometry_msgs/Vector3 angular\n\
             \t\tfloat64 x\n\
             \t\tfloat64 y\n\
             \t\tfloat64 z\n"
        );
    }

    #[test]
    fn shipped_types_have_words_about_meaning_and_units() {
        let own = Comments { own: true, nested: false };
        let text = shown("geometry_msgs/msg/TwistStamped", own);
        let start = "# A velocity with time and frame.\n\n# Time of the measurement or command";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains("\n# The velocity.\ngeometry_msgs/Twist twist\n\tgeometry_msgs/Vec"));
        assert!(!text.contains("in m/s"), "{text}");
        let all = shown("geometry_msgs/msg/TwistStamped", Comments { own: true, nested: true });
        assert!(all.contains("\t# Linear velocity, in m/s; for a base, x is forward.\n\tgeometry"));
        let service = shown("std_srvs/srv/SetBool", own);
        assert!(service.contains("# True is on.\nbool data\n---\n# Whether that"), "{service}");
    }

    #[test]
    fn parts_of_services_and_actions_are_separated() {
        assert_eq!(
            shown("std_srvs/srv/SetBool", PLAIN),
            "bool data\n---\nbool success\nstring message\n"
        );
        assert_eq!(
            shown("example_interfaces/action/Fibonacci", PLAIN),
            "int32 order\n---\nint32[] sequence\n---\nint32[] sequence\n"
        );
    }

    #[test]
    fn comments_are_printed_as_asked() {
        let mut set = InterfaceSet::new();
        for (name, text) in [
            ("Inner", "# inner head\n\n# of x\nint32 x 7\n"),
            (
                "Outer",
                "# head\n# more\n\n# of MAX\nint32 MAX=3\n# of inner\nInner inner\n\n# end\n",
            ),
        ] {
            set.insert(Interface::Message(
                feros_interface::parse_message("p", name, text).unwrap(),
            ))
            .unwrap();
        }
        let name = "p/msg/Outer".parse().unwrap();
        let all = show(&set, &name, Comments { own: true, nested: true });
        assert_eq!(
            all,
            "# head\n# more\n\n# of MAX\nint32 MAX=3\n\n# of inner\np/Inner inner\n\t# inner head\n\n\t# of x\n\tint32 x 7\n# end\n"
        );
        let own = show(&set, &name, Comments { own: true, nested: false });
        assert_eq!(
            own,
            "# head\n# more\n\n# of MAX\nint32 MAX=3\n\n# of inner\np/Inner inner\n\tint32 x 7\n# end\n"
        );
        let none = show(&set, &name, PLAIN);
        assert_eq!(none, "int32 MAX=3\np/Inner inner\n\tint32 x 7\n");
    }

    #[test]
    fn a_text_that_doubles_with_each_type_is_not_kept() {
        /// Accepts a little and then refuses, like a pipe whose reader has gone.
        struct Narrow(usize);
        impl Write for Narrow {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::BrokenPipe)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut set = InterfaceSet::new();
        for level in 0..60 {
            let text = format!("T{0} a\nT{0} b\n", level + 1);
            let text = if level == 59 { "int32 x\n" } else { &text };
            let message = feros_interface::parse_message("p", &format!("T{level}"), text).unwrap();
            set.insert(Interface::Message(message)).unwrap();
        }
        let name = "p/msg/T0".parse().unwrap();
        let error = write(&mut Narrow(1 << 20), &set, &name, PLAIN).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
