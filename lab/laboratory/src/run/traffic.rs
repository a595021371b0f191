//! The traffic within a host, from the counters of its network namespace.

use std::collections::BTreeMap;

/// The packets on the loopback device and the datagrams of all sockets, since the host exists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    packets: u64,
    bytes: u64,
    sent: u64,
    /// The datagrams that programs have read; one that is sent to a group counts for each socket.
    received: u64,
    /// The datagrams for which a socket had no room.
    dropped: u64,
}

impl Traffic {
    /// The counters of the namespace of the calling thread.
    pub(super) fn here() -> Self {
        let read = |file: &str| {
            std::fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default()
        };
        Self::of(&read("dev"), &read("snmp"))
    }

    /// The counters in the texts of `/proc/net/dev` and `/proc/net/snmp`.
    fn of(devices: &str, protocols: &str) -> Self {
        let numbers = |text: &str| -> Vec<u64> {
            text.split_ascii_whitespace().map(|number| number.parse().unwrap_or(0)).collect()
        };
        // Eight numbers about what the device received, and eight about what it sent. Loopback
        // receives what it sends.
        let loopback = devices.lines().find_map(|line| line.trim_start().strip_prefix("lo:"));
        let loopback = numbers(loopback.unwrap_or_default());
        // A line with the names, and a line with the numbers.
        let mut udp = protocols.lines().filter_map(|line| line.strip_prefix("Udp:"));
        let names: Vec<&str> = udp.next().unwrap_or_default().split_ascii_whitespace().collect();
        let counts = numbers(udp.next().unwrap_or_default());
        let of_udp = |name: &str| {
            let at = names.iter().position(|known| *known == name);
            at.and_then(|at| counts.get(at).copied()).unwrap_or(0)
        };
        Self {
            bytes: loopback.first().copied().unwrap_or(0),
            packets: loopback.get(1).copied().unwrap_or(0),
            sent: of_udp("OutDatagrams"),
            received: of_udp("InDatagrams"),
            dropped: of_udp("RcvbufErrors"),
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    pub(super) fn since(self, before: Self) -> Self {
        self.with(before, u64::saturating_sub)
    }

    fn with(self, other: Self, join: fn(u64, u64) -> u64) -> Self {
        Self {
            packets: join(self.packets, other.packets),
            bytes: join(self.bytes, other.bytes),
            sent: join(self.sent, other.sent),
            received: join(self.received, other.received),
            dropped: join(self.dropped, other.dropped),
        }
    }

    /// Adds the traffic while the processes found each other.
    pub(super) fn put_settling(&self, values: &mut BTreeMap<String, f64>) {
        for (name, count) in [
            ("settling_packets", self.packets),
            ("settling_traffic_bytes", self.bytes),
            ("settling_datagrams", self.received),
            ("settling_datagrams_sent", self.sent),
            ("settling_datagrams_dropped", self.dropped),
        ] {
            values.insert(name.to_owned(), count as f64);
        }
    }

    /// Adds the traffic in this many seconds at rest.
    pub(super) fn put_rest(&self, seconds: f64, values: &mut BTreeMap<String, f64>) {
        for (name, count) in
            [("rest_packets_per_second", self.packets), ("rest_bytes_per_second", self.bytes)]
        {
            values.insert(name.to_owned(), count as f64 / seconds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICES: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
    lo:    5000      70    0    0    0     0          0         0     5000      70    0    0
  eth0:   90000     900    0    0    0     0          0         0      800       8    0    0
";
    const PROTOCOLS: &str = "\
Tcp: InSegs OutSegs
Tcp: 11 12
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors
Udp: 40 1 3 35 2 0
UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors
UdpLite: 400 10 30 350 20 0
";

    #[test]
    fn the_counters_of_loopback_and_of_datagrams_are_read() {
        let found = Traffic::of(DEVICES, PROTOCOLS);
        let wanted = Traffic { packets: 70, bytes: 5000, sent: 35, received: 40, dropped: 2 };
        assert_eq!(found, wanted);
        // Large counters stand directly after the name of the device.
        let full = DEVICES.replace("lo:    5000", "lo:5000");
        assert_eq!(Traffic::of(&full, PROTOCOLS), wanted);
        for (devices, protocols) in [("", ""), ("lo:", "Udp: InDatagrams\n"), ("lo: x y", "Udp:")] {
            assert_eq!(Traffic::of(devices, protocols), Traffic::default(), "{devices:?}");
        }
    }

    #[test]
    fn traffic_is_the_difference_of_counters_and_the_sum_of_hosts() {
        let before = Traffic { packets: 10, bytes: 100, sent: 5, received: 5, dropped: 0 };
        let after = Traffic { packets: 30, bytes: 900, sent: 25, received: 15, dropped: 1 };
        let during = after.since(before);
        assert_eq!(during, Traffic { packets: 20, bytes: 800, sent: 20, received: 10, dropped: 1 });
        assert_eq!(before.since(after), Traffic::default(), "counters that were reset");
        assert_eq!(during.plus(before).plus(Traffic::default()), after);
        let mut values = BTreeMap::new();
        during.put_settling(&mut values);
        during.put_rest(4.0, &mut values);
        assert_eq!((values["settling_packets"], values["settling_traffic_bytes"]), (20.0, 800.0));
        assert_eq!((values["settling_datagrams"], values["settling_datagrams_sent"]), (10.0, 20.0));
        assert_eq!(values["settling_datagrams_dropped"], 1.0);
        assert_eq!(
            (values["rest_packets_per_second"], values["rest_bytes_per_second"]),
            (5.0, 200.0)
        );
    }
}
