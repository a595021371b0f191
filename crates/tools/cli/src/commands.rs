//! The command line: one module per verb, in a folder for each word before the verb.

mod action;
mod bag;
mod bridge;
mod build;
mod completion;
mod component;
mod container;
mod daemon;
mod demo;
mod doctor;
mod endpoint;
mod interface;
mod lab;
mod launch;
mod lifecycle;
mod man;
mod multicast;
mod node;
mod param;
mod pkg;
mod remote_node;
#[cfg(feature = "ros1-bridge")]
mod ros1;
mod run;
mod service;
mod tf;
mod top;
mod topic;
mod trace;
mod view;
#[cfg(feature = "zenoh")]
mod zenoh;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use feros::engine::DiscoveryForm;

pub(crate) use self::build::interfaces::MESSAGE_MODULES;
use crate::ending;
use crate::error::CliError;
use crate::help_heading::GENERAL_OPTIONS;
use crate::output::Color;
use crate::types::InterfaceArgs;
use crate::version;

/// ROS 2 built for the shortest path: inspect, feed and measure a ROS 2 system
#[derive(Parser)]
#[command(name = "feros", version, long_version = version::facts(), propagate_version = false, arg_required_else_help = true)]
#[command(
    after_help = "Environment: ROS_DOMAIN_ID, ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS, FEROS_MEETING_POINTS, \
                        FEROS_ENGINE, FEROS_ROS_DISTRO, AMENT_PREFIX_PATH, FEROS_PREFIX_PATH, FEROS_INTERFACES, CYCLONEDDS_URI, FEROS_TRACE, NO_COLOR.\nExit codes: 0 done, 1 failed, 2 wrong usage."
)]
pub(crate) struct CommandLine {
    /// When to use colors; `auto` means on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GENERAL_OPTIONS)]
    pub(crate) color: Color,

    /// The engine, or two engines separated by a comma, of this command and of programs that it
    /// starts; also FEROS_ENGINE
    #[arg(long, global = true, value_name = "NAMES", value_delimiter = ',', value_parser = feros::ENGINE_NAMES, help_heading = GENERAL_OPTIONS)]
    pub(crate) engine: Vec<String>,

    /// The distribution of ROS 2 in whose form this command and the programs that it starts
    /// announce themselves: only humble has another form. With jazzy, nav2_msgs, control_msgs and
    /// controller_manager_msgs have the definitions of Jazzy. Also FEROS_ROS_DISTRO
    #[arg(long, global = true, value_name = "NAME", value_parser = DiscoveryForm::DISTRIBUTIONS, help_heading = GENERAL_OPTIONS)]
    pub(crate) distro: Option<String>,

    #[command(flatten)]
    interfaces: InterfaceArgs,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Topics: list, watch and measure them, and publish messages
    Topic(topic::Args),
    /// Nodes: list them, and show their publishers, subscriptions, services and clients
    #[command(subcommand)]
    Node(node::Command),
    /// Parameters: list, read and set the parameters of nodes
    #[command(subcommand)]
    Param(param::Command),
    /// Managed nodes: list them, and see and change their states
    #[command(subcommand)]
    Lifecycle(lifecycle::Command),
    /// Services: list, call and watch them
    Service(service::Args),
    /// Actions: list them, and send goals
    #[command(subcommand)]
    Action(action::Command),
    /// Bags: record, play, inspect and repair recordings
    #[command(subcommand)]
    Bag(bag::Command),
    /// Transforms: the poses of frames, from /tf and /tf_static
    #[command(subcommand)]
    Tf(tf::Command),
    /// Interfaces: the types of messages, services and actions
    #[command(subcommand)]
    Interface(interface::Command),
    /// Packages: list the installed packages, and create a package
    #[command(subcommand)]
    Pkg(pkg::Command),
    /// A bridge between engines, or between domains
    Bridge(bridge::Args),
    /// ROS 1: a bridge between its master and ROS 2
    #[cfg(feature = "ros1-bridge")]
    #[command(subcommand)]
    Ros1(ros1::Command),
    /// Build a folder of packages into one prefix
    Build(build::Args),
    /// Start an executable of a package, or a Python script
    Run(run::Args),
    /// Start the system of a launch file
    Launch(launch::Args),
    /// Components: list the installed components, and the loaded components of containers
    #[command(subcommand)]
    Component(component::Command),
    /// Run a component container
    Container(container::Args),
    /// Check this machine and report what prevents ROS from working well
    #[command(visible_alias = "wtf")]
    Doctor(doctor::Args),
    /// Multicast: check whether datagrams reach the other machines
    #[command(subcommand)]
    Multicast(multicast::Command),
    /// Explain to users of `ros2 daemon` that Feros has no daemon
    #[command(hide = true)]
    Daemon(daemon::Args),
    /// The laboratory: experiments that compare Feros with other systems
    #[command(subcommand)]
    Lab(lab::Command),
    /// Show topics, nodes and their processes on a screen, updated each second
    Top(top::Args),
    /// Show the running system in the browser, in Foxglove and in Lichtblick
    View(view::Args),
    /// Show where the time of messages goes, layer by layer
    #[command(subcommand)]
    Trace(trace::Command),
    /// Zenoh: run the router of nodes that talk by Zenoh
    #[cfg(feature = "zenoh")]
    #[command(subcommand)]
    Zenoh(zenoh::Command),
    /// See Feros work: a talker and a listener in two processes, and a node of stock ROS 2 if that
    /// is installed
    Demo(demo::Args),
    /// Print the script that completes this command in a shell
    Completion(completion::Args),
    /// Write the manual pages of this command and its verbs into a folder
    Man(man::Args),
}

impl CommandLine {
    /// The command line of this process; wrong usage ends the process with an error message.
    pub(crate) fn of_process() -> Self {
        let words = doctor::spelled_out(std::env::args_os().collect());
        let matches = read_numbers_as_values(Self::command()).get_matches_from(words);
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// Whether this command starts programs of users.
    pub(crate) fn starts_programs(&self) -> bool {
        matches!(self.command, Command::Run(_) | Command::Launch(_) | Command::Container(_))
    }

    /// Whether this process may become a node, which logs in the form of nodes.
    pub(crate) fn is_a_node(&self) -> bool {
        matches!(self.command, Command::Run(_))
    }
}

/// If a shell asks for completions, prints them and ends the process; nothing may have been printed
/// before.
pub(crate) fn complete_if_asked() {
    completion::complete_if_asked(CommandLine::command);
}

/// Makes `-5` a value; the option then reports a wrong value. If a flag of the command is a number,
/// as `-1` of `topic pub`, this holds only for the values of options.
fn read_numbers_as_values(command: clap::Command) -> clap::Command {
    let is_number = |flag: char| flag.is_ascii_digit();
    let has_number = command.get_arguments().any(|a| a.get_short().is_some_and(is_number));
    let command = command.mut_args(|argument| {
        let takes_value = argument.get_action().takes_values();
        let takes_all = argument.is_allow_hyphen_values_set();
        let takes_flag = has_number && argument.is_positional();
        let is_read = takes_value && !takes_all && !takes_flag;
        if is_read { argument.allow_negative_numbers(true) } else { argument }
    });
    command.mut_subcommands(read_numbers_as_values)
}

/// Runs the verb of the command line.
pub(crate) fn run(line: CommandLine) -> Result<(), CliError> {
    ending::like_ctrl_c();
    let interfaces = line.interfaces;
    match line.command {
        #[cfg(feature = "zenoh")]
        Command::Zenoh(command) => zenoh::run(command),
        Command::Topic(args) => topic::run(args, &interfaces),
        Command::Node(command) => node::run(command),
        Command::Param(command) => param::run(command),
        Command::Lifecycle(command) => lifecycle::run(command),
        Command::Service(args) => service::run(args, &interfaces),
        Command::Action(command) => action::run(command, &interfaces),
        Command::Bag(command) => bag::run(command, &interfaces),
        Command::Tf(command) => tf::run(command),
        Command::Interface(command) => interface::run(command, &interfaces),
        Command::Pkg(command) => pkg::run(command),
        Command::Bridge(args) => bridge::run(&args),
        #[cfg(feature = "ros1-bridge")]
        Command::Ros1(command) => ros1::run(command, &interfaces),
        Command::Build(args) => build::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Launch(args) => launch::run(&args),
        Command::Component(command) => component::run(command),
        Command::Container(args) => container::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Multicast(command) => multicast::run(command),
        Command::Daemon(args) => daemon::run(&args),
        Command::Lab(command) => lab::run(command),
        Command::Top(args) => top::run(&args),
        Command::View(args) => view::run(args, &interfaces),
        Command::Trace(command) => trace::run(command),
        Command::Demo(args) => demo::run(args),
        Command::Completion(args) => completion::run(&args),
        Command::Man(args) => man::run(&args, CommandLine::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `look` with each verb that has no subcommands.
    fn each_verb(command: &mut clap::Command, look: &mut impl FnMut(&mut clap::Command)) {
        if !command.has_subcommands() {
            return look(command);
        }
        let verbs = command.get_subcommands_mut().filter(|verb| verb.get_name() != "help");
        verbs.for_each(|verb| each_verb(verb, look));
    }

    #[test]
    fn the_help_has_the_options_of_a_verb_apart_from_general_ones() {
        let mut command = CommandLine::command();
        command.build();
        let mut verbs = 0;
        each_verb(&mut command, &mut |verb| {
            verbs += 1;
            let help = verb.render_long_help().to_string();
            let (own, general) = help.split_once("\nGeneral options:\n").expect(&help);
            for option in ["--color", "--engine", "--interfaces", "--spin-time"] {
                let is_here = |text: &str| text.contains(&format!("      {option} <"));
                assert!(!is_here(own), "{option} in {help}");
                assert!(is_here(general) || option == "--spin-time", "{option} in {help}");
            }
        });
        assert!(verbs > 50, "{verbs}");
    }

    /// The names of the manual pages of a command and of the verbs that its help shows.
    fn names_of_pages(command: &clap::Command, words: &str) -> Vec<String> {
        let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        let below = verbs.flat_map(|verb| {
            let words = format!("{words}-{}", verb.get_name());
            names_of_pages(verb, &words)
        });
        std::iter::once(words.to_owned()).chain(below).collect()
    }

    #[test]
    fn each_verb_has_a_manual_page_with_its_options() {
        let pages = man::pages(CommandLine::command()).expect("pages in memory");
        let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        assert_eq!(names, names_of_pages(&CommandLine::command(), "feros"));
        assert!(names.len() > 80, "{}", names.len());
        let mut command = CommandLine::command();
        command.build();
        let mut pages = pages.iter();
        each_verb(&mut command, &mut |verb| {
            if verb.is_hide_set() {
                return;
            }
            let name = verb.get_display_name().unwrap_or_default();
            let page = pages.find(|page| page.name == name).expect(name);
            let text = String::from_utf8_lossy(&page.text);
            let options = verb.get_arguments().filter(|option| !option.is_hide_set());
            for option in options.filter_map(|option| option.get_long()) {
                let escaped = format!("\\-\\-{}", option.replace('-', "\\-"));
                assert!(text.contains(&escaped), "{option} in {text}");
            }
            let title = concat!("1 \"feros ", env!("CARGO_PKG_VERSION"), "\" Feros \"Commands");
            assert!(text.contains(title), "{text}");
        });
    }
}
