//! Points that programs report to a laboratory, and the joining of these points. The laboratory
//! identifies messages by its own numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::layers::{Breakdown, Way};
use feros_trace::{Event, Kind, Point, ThreadEvents, Transport};

/// The times at which messages passed one point. Each program of a cell (one run of an experiment)
/// reports its own points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointSeries {
    /// The point's name, such as `serialize_begin`.
    pub name: String,
    /// A word that identifies the publisher in all programs; needed if several publishers publish
    /// the same number, as in chains.
    #[serde(default)]
    pub by: Option<String>,
    /// A word that identifies the subscription in all programs; `None` if the point applies to all
    /// subscriptions.
    #[serde(default)]
    pub of: Option<String>,
    /// `intra_process`, `shared_memory` or `network`; needed if a message may take several at once.
    #[serde(default)]
    pub transport: Option<String>,
    /// The numbers of the messages.
    pub numbers: Vec<u64>,
    /// The times on CLOCK_MONOTONIC, one for each message.
    pub at_nanos: Vec<u64>,
}

/// A message at one subscription, joined from the reports of all programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// The number of the message.
    pub number: u64,
    /// The word that identifies the publisher.
    pub by: Option<String>,
    /// The word that identifies the subscription.
    pub of: Option<String>,
    /// The transport that the message was taken from, if a program has reported it.
    pub transport: Option<Transport>,
    /// The message's time in each layer.
    pub breakdown: Breakdown,
}

/// Converts events of this process to series, which are reported in lines of JSON. `number_of`
/// returns the laboratory's number for an event's message; events of messages without a number are
/// left out.
///
/// If this process has published the message, the event that `number_of` gets has the publication
/// number, which begins at 1, at all points.
pub fn series(
    threads: &[ThreadEvents],
    mut number_of: impl FnMut(&Event) -> Option<u64>,
) -> Vec<PointSeries> {
    let events = || threads.iter().flat_map(|thread| &thread.events);
    let key = |event: &Event| (event.message.publisher, event.message.stamp);
    // The engine numbers messages differently from the client, so its events get the client's
    // numbers.
    let published = events().filter(|event| event.point == Point::Publish);
    let numbers: BTreeMap<_, u64> =
        published.map(|event| (key(event), event.message.number)).collect();
    let names: BTreeMap<u32, _> =
        feros_trace::endpoints().into_iter().map(|name| (name.number, name)).collect();
    let mut all: BTreeMap<_, (Vec<u64>, Vec<u64>)> = BTreeMap::new();
    for mut event in events().copied() {
        event.message.number = numbers.get(&key(&event)).copied().unwrap_or(event.message.number);
        let Some(number) = number_of(&event) else { continue };
        let name = names.get(&event.endpoint);
        let of = name.filter(|name| name.kind == Kind::Subscription).map(|name| name.gid);
        let series =
            all.entry((event.point, event.message.publisher, of, event.transport)).or_default();
        series.0.push(number);
        series.1.push(event.at_nanos);
    }
    let word = |gid: [u8; 16]| gid.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let named = |((point, by, of, transport), (numbers, at_nanos)): (
        (Point, _, Option<_>, Option<Transport>),
        _,
    )| {
        PointSeries {
            name: point.name().to_owned(),
            by: Some(word(by)),
            of: of.map(word),
            transport: transport.map(|transport| transport.name().to_owned()),
            numbers,
            at_nanos,
        }
    };
    all.into_iter().map(named).collect()
}

/// The times of one message, by transport; the times that belong to no transport come first.
type Ways = [Way; Transport::ALL.len() + 1];

/// The breakdown of each message at each subscription, if the programs of a cell together have
/// reported enough points for it. Points with unknown names are left out.
pub fn join(series: &[PointSeries]) -> Vec<Joined> {
    type Message<'a> = (u64, Option<&'a str>);
    type Reception = (Ways, Option<Transport>);
    let mut sent: BTreeMap<Message<'_>, Ways> = BTreeMap::new();
    let mut received: BTreeMap<(Message<'_>, Option<&str>), Reception> = BTreeMap::new();
    let is_received = |series: &&PointSeries| {
        series.of.is_some()
            || Point::from_name(&series.name).is_some_and(|point| point >= Point::Received)
    };
    for series in series {
        let Some(point) = Point::from_name(&series.name) else { continue };
        let transport = series.transport.as_deref().and_then(Transport::from_name);
        let index = transport.map_or(0, |transport| transport as usize);
        let (by, of) = (series.by.as_deref(), series.of.as_deref());
        for (number, at_nanos) in series.numbers.iter().zip(&series.at_nanos) {
            let way = if is_received(&series) && point != Point::PublishEnd {
                let (ways, taken_by) = received.entry(((*number, by), of)).or_default();
                if point == Point::Callback || point == Point::Taken {
                    *taken_by = transport;
                }
                &mut ways[index]
            } else {
                &mut sent.entry((*number, by)).or_default()[index]
            };
            way.pass(point, *at_nanos);
        }
    }
    let joined = received.into_iter().filter_map(|(((number, by), of), (ways, transport))| {
        let sent = sent.get(&(number, by))?;
        let on_transport = |ways: &Ways| match transport {
            Some(transport) => ways[0].with(&ways[transport as usize]),
            None => ways.iter().fold(Way::default(), |all, way| all.with(way)),
        };
        let breakdown = on_transport(sent).with(&on_transport(&ways)).breakdown()?;
        Some(Joined {
            number,
            by: by.map(str::to_owned),
            of: of.map(str::to_owned),
            transport,
            breakdown,
        })
    });
    joined.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::Layer;

    fn told(line: &str) -> PointSeries {
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn two_programs_with_their_halves_make_a_whole() {
        let series = [
            r#"{"name":"publish","numbers":[1,2],"at_nanos":[100,200]}"#,
            r#"{"name":"write_begin","transport":"shared_memory","numbers":[1,2],"at_nanos":[110,210]}"#,
            // The message also went to the engine, for another subscription.
            r#"{"name":"write_begin","transport":"network","numbers":[1,2],"at_nanos":[105,205]}"#,
            r#"{"name":"announced","of":"b","transport":"shared_memory","numbers":[1,2],"at_nanos":[125,220]}"#,
            r#"{"name":"announced","of":"a","transport":"shared_memory","numbers":[1,2],"at_nanos":[120,225]}"#,
            r#"{"name":"taken","of":"a","transport":"shared_memory","numbers":[1],"at_nanos":[140]}"#,
            r#"{"name":"callback","of":"a","transport":"shared_memory","numbers":[1],"at_nanos":[150]}"#,
            r#"{"name":"callback","of":"b","transport":"shared_memory","numbers":[1,2],"at_nanos":[170,280]}"#,
            r#"{"name":"of a later version","numbers":[1,2],"at_nanos":[1,2]}"#,
        ]
        .map(told);
        let joined = join(&series);
        let latency = |number, of: &str| {
            let found =
                joined.iter().find(|one| one.number == number && one.of.as_deref() == Some(of))?;
            assert_eq!(found.transport, Some(Transport::SharedMemory));
            Some((found.breakdown.end_to_end_nanos(), found.breakdown.nanos(Layer::Client)?))
        };
        assert_eq!(latency(1, "a"), Some((50, 10)));
        assert_eq!(latency(1, "b"), Some((70, 10)));
        assert_eq!(latency(2, "b"), Some((80, 10)));
        assert_eq!(joined.len(), 3);
    }

    #[test]
    fn a_number_that_is_published_again_is_told_apart_by_its_publisher() {
        let series = [
            r#"{"name":"publish","by":"x","numbers":[1],"at_nanos":[100]}"#,
            r#"{"name":"callback","by":"x","numbers":[1],"at_nanos":[130]}"#,
            r#"{"name":"publish","by":"y","numbers":[1],"at_nanos":[135]}"#,
            r#"{"name":"callback","by":"y","numbers":[1],"at_nanos":[155]}"#,
        ]
        .map(told);
        let hops: Vec<_> =
            join(&series).iter().map(|hop| hop.breakdown.end_to_end_nanos()).collect();
        assert_eq!(hops, [30, 20]);
    }
}
