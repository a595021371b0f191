//! Options of `feros topic echo` that choose the form of its output.

use feros_message::dynamic::PrintOptions;

/// The form in which messages are printed.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Form of the output")]
pub(in crate::commands) struct Form {
    #[command(flatten)]
    pub(super) text: TextForm,
    /// The serialized bytes in hexadecimal; needs no definition of the type
    #[arg(long, conflicts_with_all = ["json", "csv", "flow_style"])]
    pub(in crate::commands) raw: bool,
    /// Also print when each message was sent and received, its number and its publisher
    #[arg(short, long)]
    pub(super) include_message_info: bool,
    /// Clear the terminal before each message
    #[arg(short, long)]
    pub(super) clear: bool,
    /// Accepted for command lines written for `ros2`: lost messages are reported by default
    #[arg(long, hide = true, conflicts_with = "no_lost_messages")]
    lost_messages: bool,
    /// Do not report lost messages
    #[arg(long)]
    pub(super) no_lost_messages: bool,
}

/// The form of the text of messages.
#[derive(clap::Args, Clone, Debug)]
pub(in crate::commands) struct TextForm {
    /// One JSON object per line; arrays and strings in full length
    #[arg(long, conflicts_with_all = ["csv", "flow_style"])]
    pub(in crate::commands) json: bool,
    /// Print all fields of a message on one line, separated by commas
    #[arg(long, conflicts_with = "flow_style")]
    pub(in crate::commands) csv: bool,
    /// Print YAML with braces and brackets, with each message on one line
    #[arg(long)]
    flow_style: bool,
    /// Cut arrays and strings off after this many elements or characters
    #[arg(
        short = 'l',
        long,
        value_name = "N",
        default_value = "128",
        default_value_if("json", "true", None)
    )]
    truncate_length: Option<usize>,
    /// Print arrays and strings in full length
    #[arg(short, long, conflicts_with = "truncate_length")]
    full_length: bool,
    /// Print type and length of arrays instead of their elements
    #[arg(long)]
    no_arr: bool,
    /// Print the length of strings instead of their text
    #[arg(long)]
    no_str: bool,
}

impl TextForm {
    pub(in crate::commands) fn options(&self) -> PrintOptions {
        PrintOptions {
            truncate_length: if self.full_length { None } else { self.truncate_length },
            no_arr: self.no_arr,
            no_str: self.no_str,
            flow_style: self.flow_style,
        }
    }
}
