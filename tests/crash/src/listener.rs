//! A subscription that checks the sender, the number and the completeness of each message, and
//! counts messages that are missing or come twice.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use feros::msgs::sensor_msgs::msg::Image;
use feros::{
    Node, QosProfile, SerializedMessage, Subscription, SubscriptionEvent, SubscriptionOptions,
    TransportSet, View,
};
use serde_json::{Value, json};

use crate::content;

pub(crate) struct Listener {
    subscription: Subscription<Image>,
    heard: Arc<Mutex<Heard>>,
    /// The number of messages that events have reported as lost, on any transport.
    told_lost: Arc<AtomicU64>,
}

#[derive(Default)]
struct Heard {
    streams: BTreeMap<u32, Stream>,
    broken: u64,
    /// The number of raw messages that cannot be decoded as an image.
    undecodable: u64,
    last: Option<Instant>,
    largest_gap: Duration,
    held: VecDeque<View<Image>>,
    hold: usize,
}

/// The messages of one talker.
#[derive(Default)]
struct Stream {
    first: u32,
    last: u32,
    count: u64,
    missing: u64,
    /// The number of messages whose number is not larger than the number of an earlier message.
    doubled: u64,
}

impl Heard {
    fn note(&mut self, id: u32, number: u32, is_whole: bool) {
        let now = Instant::now();
        if let Some(last) = self.last.replace(now) {
            self.largest_gap = self.largest_gap.max(now - last);
        }
        if !is_whole {
            self.broken += 1;
            return;
        }
        let stream = self.streams.entry(id).or_default();
        if stream.count == 0 {
            stream.first = number;
        } else if number <= stream.last {
            stream.doubled += 1;
        } else {
            stream.missing += u64::from(number - stream.last - 1);
        }
        stream.last = stream.last.max(number);
        stream.count += 1;
    }

    fn note_owned(&mut self, image: &Image) {
        let is_whole =
            content::is_whole(image.width, image.height, image.step, &image.encoding, &image.data);
        self.note(image.width, image.height, is_whole);
    }

    /// Holds the latest views, up to the wanted number.
    fn note_view(&mut self, image: View<Image>) {
        let (id, number, is_whole) = look_at(&image);
        self.note(id, number, is_whole);
        if self.hold > 0 {
            self.held.push_back(image);
        }
        while self.held.len() > self.hold {
            self.held.pop_front();
        }
    }

    fn report(&mut self) -> Value {
        let one = |(id, stream): (&u32, &Stream)| {
            let Stream { first, last, count, missing, doubled } = stream;
            let stream = json!({
                "first": first, "last": last, "count": count, "missing": missing, "doubled": doubled
            });
            (id.to_string(), stream)
        };
        let streams: serde_json::Map<String, Value> = self.streams.iter().map(one).collect();
        json!({
            "streams": streams,
            "broken": self.broken,
            "undecodable": self.undecodable,
            "held": self.held.len(),
            "largest_gap_us": std::mem::take(&mut self.largest_gap).as_micros() as u64,
        })
    }
}

fn look_at(image: &View<Image>) -> (u32, u32, bool) {
    let image = image.get();
    (
        image.width,
        image.height,
        content::is_whole(image.width, image.height, image.step, image.encoding, image.data),
    )
}

impl Listener {
    /// `form`: owned (default), view or raw; `hold`: the number of the latest views to hold (above
    /// the limit of a subscription, no further views arrive); `stall_ms`: the time that a callback
    /// takes.
    pub(crate) fn new(
        node: &Node,
        request: &Value,
        qos: QosProfile,
        transports: TransportSet,
    ) -> Self {
        let topic = request["topic"].as_str().unwrap();
        let hold = request["hold"].as_u64().unwrap_or_default() as usize;
        let heard = Arc::new(Mutex::new(Heard { hold, ..Heard::default() }));
        let stall = Duration::from_millis(request["stall_ms"].as_u64().unwrap_or_default());
        let note = heard.clone();
        let told_lost = Arc::new(AtomicU64::new(0));
        let told = told_lost.clone();
        let options =
            SubscriptionOptions::from(qos).transports(transports).on_event(move |event| {
                if let SubscriptionEvent::MessageLost { total, .. } = event {
                    told.store(total, Ordering::Relaxed);
                }
            });
        let subscription = match request["form"].as_str() {
            Some("view") => node.create_subscription(topic, options, move |image: View<Image>| {
                note.lock().unwrap().note_view(image);
                std::thread::sleep(stall);
            }),
            Some("raw") => {
                node.create_subscription(topic, options, move |bytes: SerializedMessage| {
                    let mut heard = note.lock().unwrap();
                    match bytes.decode::<Image>() {
                        Ok(image) => heard.note_owned(&image),
                        Err(_) => heard.undecodable += 1,
                    }
                })
            }
            _ => node.create_subscription(topic, options, move |image: Image| {
                note.lock().unwrap().note_owned(&image);
                std::thread::sleep(stall);
            }),
        };
        Self { subscription: subscription.unwrap(), heard, told_lost }
    }

    pub(crate) fn subscription(&self) -> &Subscription<Image> {
        &self.subscription
    }

    /// Reports the messages received, and the largest gap between two messages since the last
    /// report.
    pub(crate) fn report(&self) -> Value {
        self.heard.lock().unwrap().report()
    }

    /// Releases the views, and stops holding views.
    pub(crate) fn release(&self) -> Value {
        let held = {
            let mut heard = self.heard.lock().unwrap();
            heard.hold = 0;
            std::mem::take(&mut heard.held)
        };
        json!(held.len())
    }

    /// The number of held views, and the number of held views that have changed.
    pub(crate) fn check_held(&self) -> Value {
        let heard = self.heard.lock().unwrap();
        let broken = heard.held.iter().filter(|view| !look_at(view).2).count();
        json!({"held": heard.held.len(), "broken": broken})
    }

    pub(crate) fn counts(&self) -> Value {
        let counts = self.subscription.counts();
        json!({
            "process": counts.intra_process.messages,
            "host": counts.shared_memory.messages,
            "network": counts.network.messages,
            "duplicates": counts.duplicates,
            "lost_on_local_transports": counts.lost_on_local_transports,
            "told_lost": self.told_lost.load(Ordering::Relaxed),
            "refused_in_shared_memory": counts.refused_in_shared_memory,
            "refused_messages": self.subscription.refused_messages(),
        })
    }

    pub(crate) fn leave(self) -> Value {
        let Self { subscription, heard, .. } = self;
        drop(subscription);
        heard.lock().unwrap().report()
    }
}
