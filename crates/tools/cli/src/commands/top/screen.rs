//! The layout of the screen: topics above, nodes below, the matches of an open line, and the keys.
//! Colour alone never carries information.

use feros::transports_of_topic;
use feros_engine::EndpointInfo;
use feros_wording::harmless;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, Cell, Paragraph, Row, Table, Wrap};

use super::super::endpoint::node_name;
use super::figures::Watcher;
use super::state::{Focus, Lines, NodeOrder, State, TopicOrder};
use super::{numbers, plain};

/// The lines of a table's frame and heading.
const AROUND_LINES: u16 = 3;
const KEYS: &str = "up/down select  Tab topics/nodes  s sort  Enter details  h hidden  q quit";

pub(super) fn draw(frame: &mut Frame<'_>, state: &mut State, watcher: &Watcher<'_>) {
    let details = if state.is_open { Constraint::Max(10) } else { Constraint::Length(0) };
    let [top, topics, nodes, open, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(3),
        Constraint::Fill(2),
        details,
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(heading(watcher), top);
    draw_topics(frame, topics, state, watcher);
    draw_nodes(frame, nodes, state, watcher);
    if state.is_open {
        frame.render_widget(details_of_selected(state, watcher), open);
    }
    frame.render_widget(Line::from(KEYS).style(Style::new().dim()), keys);
}

fn heading(watcher: &Watcher<'_>) -> Line<'static> {
    let mismatches: usize = watcher.topics.iter().map(|topic| topic.mismatches.len()).sum();
    let mut text = format!("{} topics, {} nodes", watcher.topics.len(), watcher.nodes.len());
    let mut style = Style::new().add_modifier(Modifier::BOLD);
    if mismatches > 0 {
        text += &format!(", {mismatches} mismatched");
        style = style.fg(Color::Red);
    }
    Line::from(text).style(style)
}

fn draw_topics(frame: &mut Frame<'_>, area: Rect, state: &mut State, watcher: &Watcher<'_>) {
    let rows: Vec<Row<'_>> =
        state.topics.names.iter().map(|name| topic_row(name, watcher)).collect();
    let order = state.topic_order;
    let heading = Row::new([
        mark("TOPIC", order == TopicOrder::Name),
        mark("RATE", order == TopicOrder::Rate),
        mark("BANDWIDTH", order == TopicOrder::Bandwidth),
        mark("AGE", order == TopicOrder::Age),
        mark("LOST", order == TopicOrder::Lost),
        "PUB".into(),
        "SUB".into(),
        "MATCHES".into(),
    ]);
    let widths = [
        Constraint::Fill(3),
        Constraint::Length(11),
        Constraint::Length(12),
        Constraint::Length(9),
        Constraint::Length(7),
        Constraint::Length(4),
        Constraint::Length(4),
        Constraint::Fill(2),
    ];
    let title = match order {
        TopicOrder::Name => "topics; subscribed to those on the screen",
        _ => "topics; subscribed to all, to sort them",
    };
    let table = Table::new(rows, widths).header(heading.style(Style::new().bold()));
    draw_table(frame, area, table, title, state.focus == Focus::Topics, &mut state.topics);
}

fn topic_row(name: &str, watcher: &Watcher<'_>) -> Row<'static> {
    let [rate, bandwidth, age, lost] = plain::cells(watcher, name);
    let Some(topic) = watcher.topics.iter().find(|topic| topic.name == name) else {
        return Row::new([harmless(name).into_owned()]);
    };
    let has_lost = watcher.figures(name).is_some_and(|figures| figures.lost > 0);
    let mut matches = numbers::matches(topic.matches);
    let mut matches_style = Style::new();
    if !topic.mismatches.is_empty() {
        matches = format!("{} MISMATCHED {matches}", topic.mismatches.len());
        matches_style = Style::new().fg(Color::Red).bold();
    }
    let lost_style = if has_lost { Style::new().fg(Color::Red).bold() } else { Style::new() };
    Row::new([
        Cell::from(harmless(name).into_owned()),
        Cell::from(rate),
        Cell::from(bandwidth),
        Cell::from(age),
        Cell::from(lost).style(lost_style),
        Cell::from(topic.publishers.to_string()),
        Cell::from(topic.subscriptions.to_string()),
        Cell::from(matches).style(matches_style),
    ])
}

fn draw_nodes(frame: &mut Frame<'_>, area: Rect, state: &mut State, watcher: &Watcher<'_>) {
    let row = |name: &String| {
        let node = watcher.nodes.iter().find(|node| node.name.to_string() == *name);
        let shown = harmless(name).into_owned();
        let Some(node) = node else { return Row::new([shown]) };
        let [pid, cpu, memory, threads] = plain::node_cells(watcher, node);
        let counts = [node.publishers, node.subscriptions, node.services].map(|n| n.to_string());
        let [publishers, subscriptions, services] = counts;
        Row::new([shown, pid, cpu, memory, threads, publishers, subscriptions, services])
    };
    let rows: Vec<Row<'_>> = state.nodes.names.iter().map(row).collect();
    let order = state.node_order;
    let heading = Row::new([
        mark("NODE", order == NodeOrder::Name),
        "PID".into(),
        mark("CPU", order == NodeOrder::Cpu),
        mark("MEMORY", order == NodeOrder::Memory),
        mark("THREADS", order == NodeOrder::Threads),
        "PUB".into(),
        "SUB".into(),
        "SERVICES".into(),
    ]);
    let widths = [
        Constraint::Fill(3),
        Constraint::Length(8),
        Constraint::Length(8),
        Constraint::Length(10),
        Constraint::Length(9),
        Constraint::Length(4),
        Constraint::Length(4),
        Constraint::Fill(1),
    ];
    let table = Table::new(rows, widths).header(heading.style(Style::new().bold()));
    let title = "nodes; with processor times of Feros processes on this host";
    draw_table(frame, area, table, title, state.focus == Focus::Nodes, &mut state.nodes);
}

fn draw_table(
    frame: &mut Frame<'_>,
    area: Rect,
    table: Table<'_>,
    title: &str,
    has_focus: bool,
    lines: &mut Lines,
) {
    lines.height = usize::from(area.height.saturating_sub(AROUND_LINES));
    let highlight =
        if has_focus { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
    let border = if has_focus { Style::new().bold() } else { Style::new().dim() };
    let table = table
        .row_highlight_style(highlight)
        .highlight_symbol(if has_focus { "> " } else { "  " })
        .block(Block::bordered().title(title).border_style(border));
    frame.render_stateful_widget(table, area, &mut lines.table);
}

/// The heading of a column, with a mark if the table is sorted by that column.
fn mark(heading: &str, is_order: bool) -> String {
    if is_order { format!("{heading}*") } else { heading.to_owned() }
}

/// The matches of the selected topic, or the endpoints of the selected node.
fn details_of_selected<'a>(state: &State, watcher: &Watcher<'_>) -> Paragraph<'a> {
    let (name, lines) = match state.focus {
        Focus::Topics => (state.topics.selected(), topic_details(state, watcher)),
        Focus::Nodes => (state.nodes.selected(), node_details(state, watcher)),
    };
    let title = harmless(name.unwrap_or_default()).into_owned();
    Paragraph::new(Text::from(lines))
        .wrap(Wrap { trim: false })
        .block(Block::bordered().title(title))
}

fn topic_details(state: &State, watcher: &Watcher<'_>) -> Vec<Line<'static>> {
    let Some(name) = state.topics.selected() else { return Vec::new() };
    let Some(topic) = watcher.topics.iter().find(|topic| topic.name == name) else {
        return Vec::new();
    };
    let mut lines = vec![line(topic.types.join(", "))];
    if let Some(why) = watcher.refusal(name) {
        lines.push(line(format!("no subscription: {why}")).style(Color::Red));
    }
    for found in &topic.mismatches {
        let text = format!("MISMATCHED: {}; {}", found.problem(), found.cure);
        lines.push(line(text).style(Color::Red));
    }
    for found in transports_of_topic(&watcher.graph, name) {
        if watcher.is_own(found.subscription) {
            continue;
        }
        let transport = found
            .transport
            .map_or_else(|| "none possible".to_owned(), |transport| transport.to_string());
        let why = found.reason.map_or_else(String::new, |reason| format!(", because {reason}"));
        let (from, to) = (node_name(found.publisher), node_name(found.subscription));
        lines.push(line(format!("{from} -> {to}: {transport}{why}")));
    }
    lines
}

fn node_details(state: &State, watcher: &Watcher<'_>) -> Vec<Line<'static>> {
    let Some(name) = state.nodes.selected() else { return Vec::new() };
    let of_node = |endpoint: &&EndpointInfo| {
        endpoint.node.name().is_some_and(|node| node.to_string() == name)
    };
    watcher
        .graph
        .endpoints
        .iter()
        .filter(of_node)
        .map(|endpoint| {
            let (kind, name, ty) = (endpoint.kind, &endpoint.name, &endpoint.type_name);
            line(format!("{kind:?} {name} {ty}").to_lowercase())
        })
        .collect()
}

/// A line of text. Names from the network in it are made harmless.
fn line(text: String) -> Line<'static> {
    Line::from(harmless(&text).into_owned())
}
