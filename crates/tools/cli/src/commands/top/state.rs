//! The state of the screen: order, selection, and the open line.

use std::cmp::Ordering;

use ratatui::widgets::TableState;

use super::figures::Watcher;
use super::keys::Command;

/// The two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    Topics,
    Nodes,
}

/// The columns by which topics can be sorted, from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TopicOrder {
    Name,
    Rate,
    Bandwidth,
    Age,
    Lost,
}

/// The columns by which nodes can be sorted, from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeOrder {
    Name,
    Cpu,
    Memory,
    Threads,
}

/// One of the tables: its lines by name, and the user's position in them.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) names: Vec<String>,
    pub(super) table: TableState,
    /// The number of lines that fit, set by the code that draws.
    pub(super) height: usize,
}

pub(super) struct State {
    pub(super) focus: Focus,
    pub(super) topics: Lines,
    pub(super) nodes: Lines,
    pub(super) topic_order: TopicOrder,
    pub(super) node_order: NodeOrder,
    pub(super) is_open: bool,
    with_hidden: bool,
}

impl Lines {
    /// Replaces the lines; the selection stays on the same name.
    fn replace(&mut self, names: Vec<String>) {
        let selected = self.selected().map(str::to_owned);
        self.names = names;
        let position = selected.and_then(|name| self.names.iter().position(|known| *known == name));
        let first = (!self.names.is_empty()).then_some(0);
        self.table.select(position.or(first));
    }

    pub(super) fn selected(&self) -> Option<&str> {
        self.names.get(self.table.selected()?).map(String::as_str)
    }

    fn go(&mut self, by: isize) {
        let Some(last) = self.names.len().checked_sub(1) else { return };
        let at = self.table.selected().unwrap_or(0);
        self.table.select(Some(at.saturating_add_signed(by).min(last)));
    }

    fn on_screen(&self) -> &[String] {
        let begin = self.table.offset().min(self.names.len());
        let end = (begin + self.height.max(1)).min(self.names.len());
        &self.names[begin..end]
    }
}

impl State {
    pub(super) fn new(with_hidden: bool) -> Self {
        Self {
            focus: Focus::Topics,
            topics: Lines::default(),
            nodes: Lines::default(),
            topic_order: TopicOrder::Name,
            node_order: NodeOrder::Name,
            is_open: false,
            with_hidden,
        }
    }

    pub(super) fn shows_hidden(&self) -> bool {
        self.with_hidden
    }

    /// The topics to listen to: those on the screen, or all if the order depends on their messages.
    pub(super) fn topics_on_screen(&self) -> &[String] {
        if self.topic_order == TopicOrder::Name {
            self.topics.on_screen()
        } else {
            &self.topics.names
        }
    }

    /// Updates the lines from the newest figures.
    pub(super) fn update(&mut self, watcher: &Watcher<'_>) {
        let mut topics: Vec<_> = watcher
            .topics
            .iter()
            .map(|topic| (self.topic_key(watcher, &topic.name), topic.name.clone()))
            .collect();
        topics.sort_by(largest_first);
        self.topics.replace(topics.into_iter().map(|(_, name)| name).collect());
        let mut nodes: Vec<_> = watcher
            .nodes
            .iter()
            .map(|node| (self.node_key(watcher, node), node.name.to_string()))
            .collect();
        nodes.sort_by(largest_first);
        self.nodes.replace(nodes.into_iter().map(|(_, name)| name).collect());
    }

    fn topic_key(&self, watcher: &Watcher<'_>, topic: &str) -> f64 {
        let Some(figures) = watcher.figures(topic) else { return 0.0 };
        match self.topic_order {
            TopicOrder::Name => 0.0,
            TopicOrder::Rate => figures.rate_hz,
            TopicOrder::Bandwidth => figures.bytes_per_second,
            TopicOrder::Age => figures.age.map_or(0.0, |age| age.as_secs_f64()),
            #[allow(clippy::cast_precision_loss)] // far below 2^52
            TopicOrder::Lost => figures.lost as f64,
        }
    }

    fn node_key(&self, watcher: &Watcher<'_>, node: &feros_monitor::NodeSummary) -> f64 {
        let Some(process) = watcher.process(node) else { return 0.0 };
        #[allow(clippy::cast_precision_loss)] // far below 2^52
        match self.node_order {
            NodeOrder::Name => 0.0,
            NodeOrder::Cpu => process.cpu_percent.unwrap_or(0.0),
            NodeOrder::Memory => process.resident_bytes as f64,
            NodeOrder::Threads => process.threads as f64,
        }
    }

    /// Executes the action of a key.
    pub(super) fn apply(&mut self, command: Command, watcher: &Watcher<'_>) {
        let lines = match self.focus {
            Focus::Topics => &mut self.topics,
            Focus::Nodes => &mut self.nodes,
        };
        let page = isize::try_from(lines.height.max(1)).unwrap_or(isize::MAX);
        match command {
            Command::Up => lines.go(-1),
            Command::Down => lines.go(1),
            Command::PageUp => lines.go(-page),
            Command::PageDown => lines.go(page),
            Command::Switch => {
                self.focus = match self.focus {
                    Focus::Topics => Focus::Nodes,
                    Focus::Nodes => Focus::Topics,
                };
            }
            Command::Sort => self.sort_by_next(),
            Command::Hidden => self.with_hidden = !self.with_hidden,
            Command::Open => self.is_open = !self.is_open,
            Command::Back => self.is_open = false,
            Command::Quit => {}
        }
        self.update(watcher);
    }

    fn sort_by_next(&mut self) {
        match self.focus {
            Focus::Topics => {
                self.topic_order = match self.topic_order {
                    TopicOrder::Name => TopicOrder::Rate,
                    TopicOrder::Rate => TopicOrder::Bandwidth,
                    TopicOrder::Bandwidth => TopicOrder::Age,
                    TopicOrder::Age => TopicOrder::Lost,
                    TopicOrder::Lost => TopicOrder::Name,
                };
            }
            Focus::Nodes => {
                self.node_order = match self.node_order {
                    NodeOrder::Name => NodeOrder::Cpu,
                    NodeOrder::Cpu => NodeOrder::Memory,
                    NodeOrder::Memory => NodeOrder::Threads,
                    NodeOrder::Threads => NodeOrder::Name,
                };
            }
        }
    }
}

/// Sorts by figures, the largest first, and then by name.
fn largest_first(a: &(f64, String), b: &(f64, String)) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selection_stays_at_its_name_and_within_the_lines() {
        let mut lines = Lines { height: 2, ..Lines::default() };
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        lines.go(1);
        assert_eq!(lines.selected(), None);
        lines.replace(names("a b c"));
        assert_eq!(lines.selected(), Some("a"));
        lines.go(1);
        assert_eq!(lines.selected(), Some("b"));
        lines.replace(names("0 a b c"));
        assert_eq!(lines.selected(), Some("b"));
        lines.go(100);
        assert_eq!(lines.selected(), Some("c"));
        lines.go(-100);
        assert_eq!(lines.selected(), Some("0"));
        lines.replace(names("x"));
        assert_eq!(lines.selected(), Some("x"), "the selected line is gone");
        *lines.table.offset_mut() = 5;
        assert!(lines.on_screen().is_empty());
    }

    #[test]
    fn larger_figures_come_first_and_equal_ones_by_name() {
        let mut lines = [(0.0, "b".to_owned()), (5.0, "z".to_owned()), (0.0, "a".to_owned())];
        lines.sort_by(largest_first);
        assert_eq!(lines.map(|(_, name)| name), ["z", "a", "b"]);
    }
}
