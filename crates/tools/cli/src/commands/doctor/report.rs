//! `feros doctor --report`: the facts without findings, in the sections of `ros2 doctor`.

use std::fmt::Write as _;
use std::net::IpAddr;

use feros::Context;
use feros_engine::{EndpointKind, GraphSnapshot};

use super::super::pkg::xml;
use super::machine::variables;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output::{self, foreign};
use crate::packages::installed_packages;

/// A title, and names with their values.
struct Section {
    title: &'static str,
    rows: Vec<(String, String)>,
}

pub(super) fn run(without_packages: bool, json: bool) -> Result<(), CliError> {
    // The facts of this machine are read first: as long as there is no context, a signal ends the
    // command at once.
    let mut sections = vec![network(), platform(), environment()];
    let packages = (!without_packages).then(packages);
    let connection = Connection::open()?;
    let graph = connection.discover_nodes(&DiscoveryArgs::default())?;
    sections.push(middleware(&connection.context));
    sections.extend(packages);
    sections.extend([nodes(&graph), topics(&graph), services(&graph), mismatches(&graph)]);
    if json { output::print_json(&object(&sections)) } else { output::print(&text(&sections)) }
}

fn network() -> Section {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    let mut rows = Vec::new();
    for interface in interfaces {
        let kind = if matches!(interface.ip(), IpAddr::V4(_)) { "inet" } else { "inet6" };
        rows.push((interface.name.clone(), format!("{kind} {}", interface.ip())));
        let read = |file: &str| {
            std::fs::read_to_string(format!("/sys/class/net/{}/{file}", interface.name)).ok()
        };
        if let Some(mtu) = read("mtu") {
            rows.push((interface.name.clone(), format!("mtu {}", mtu.trim())));
        }
    }
    rows.dedup();
    Section { title: "NETWORK CONFIGURATION", rows }
}

fn platform() -> Section {
    let kernel = |file: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/kernel/{file}"));
        text.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
    };
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let row = |name: &str, value: String| (name.to_owned(), value);
    let rows = vec![
        row("system", kernel("ostype")),
        row("release", kernel("osrelease")),
        row("version", kernel("version")),
        row("machine", std::env::consts::ARCH.to_owned()),
        row("processors", processors.to_string()),
    ];
    Section { title: "PLATFORM INFORMATION", rows }
}

fn environment() -> Section {
    let set = variables().filter_map(|name| {
        let value = std::env::var_os(name)?;
        Some((name.to_owned(), value.display().to_string()))
    });
    Section { title: "ENVIRONMENT VARIABLES", rows: set.collect() }
}

fn middleware(context: &Context) -> Section {
    let session = context.session();
    let row = |name: &str, value: String| (name.to_owned(), value);
    let rows = vec![
        row("feros", env!("CARGO_PKG_VERSION").to_owned()),
        row("engine", format!("{} {}", session.engine_name(), session.engine_version())),
        row("domain", session.domain_id().to_string()),
        row("wire of ROS 2", "kilted".to_owned()),
    ];
    Section { title: "RMW MIDDLEWARE", rows }
}

fn packages() -> Section {
    let packages = installed_packages();
    let rows = packages.packages().into_iter().map(|package| {
        let manifest = packages.share(&package).ok().map(|share| share.join("package.xml"));
        let text = manifest
            .and_then(|path| feros_files::open(&path).and_then(std::io::read_to_string).ok());
        let version = text.and_then(|text| xml::version(&text));
        (package, version.unwrap_or_else(|| "without a version".to_owned()))
    });
    Section { title: "PACKAGE VERSIONS", rows: rows.collect() }
}

fn nodes(graph: &GraphSnapshot) -> Section {
    let rows = graph.nodes.iter().map(|node| (node.name.fully_qualified(), node.enclave.clone()));
    Section { title: "NODE LIST", rows: rows.collect() }
}

fn topics(graph: &GraphSnapshot) -> Section {
    let rows = graph.topics().into_keys().map(|topic| {
        let publishers = graph.count(EndpointKind::Publisher, &topic);
        let subscriptions = graph.count(EndpointKind::Subscription, &topic);
        (topic, format!("publishers {publishers}, subscriptions {subscriptions}"))
    });
    Section { title: "TOPIC LIST", rows: rows.collect() }
}

fn services(graph: &GraphSnapshot) -> Section {
    let rows = graph.services().into_keys().map(|service| {
        let servers = graph.count(EndpointKind::Service, &service);
        let clients = graph.count(EndpointKind::Client, &service);
        (service, format!("servers {servers}, clients {clients}"))
    });
    Section { title: "SERVICE LIST", rows: rows.collect() }
}

fn mismatches(graph: &GraphSnapshot) -> Section {
    let found = graph.topics().into_keys().flat_map(|topic| {
        graph.mismatches(&topic).into_iter().map(|found| (found.topic.clone(), found.problem()))
    });
    let mut rows: Vec<(String, String)> = found.collect();
    if rows.is_empty() {
        rows.push((
            "compatibility status".to_owned(),
            "all publishers and subscriptions match".to_owned(),
        ));
    }
    Section { title: "QOS COMPATIBILITY LIST", rows }
}

fn text(sections: &[Section]) -> String {
    let mut text = String::new();
    for Section { title, rows } in sections {
        let width = rows.iter().map(|(name, _)| foreign(name).chars().count()).max().unwrap_or(0);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n   {title}");
        for (name, value) in rows {
            let _ = writeln!(text, "{:width$} : {}", foreign(name), foreign(value));
        }
    }
    text
}

fn object(sections: &[Section]) -> serde_json::Value {
    let sections = sections.iter().map(|section| {
        let rows: Vec<[&str; 2]> =
            section.rows.iter().map(|(name, value)| [name.as_str(), value.as_str()]).collect();
        let title = section.title.to_lowercase().replace(' ', "_");
        (title, serde_json::json!(rows))
    });
    serde_json::Value::Object(sections.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_have_their_names_in_columns() {
        let rows = vec![("a".to_owned(), "1".to_owned()), ("long".to_owned(), "2".to_owned())];
        let sections = [Section { title: "TOPIC LIST", rows }];
        assert_eq!(text(&sections), "\n   TOPIC LIST\na    : 1\nlong : 2\n");
        assert_eq!(object(&sections)["topic_list"][1][0], "long");
    }
}
