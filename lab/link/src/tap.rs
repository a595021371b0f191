//! The end of a link in a host: an Ethernet device of the host's namespace, whose other side
//! belongs to the link.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;

use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::error::LinkError;
use crate::namespace::{MissingProgram, Namespace, NamespaceError, run_in};
use crate::options::LinkOptions;
use crate::scheduler::{LEAST_FRAME_BYTES, LINE_BYTES};

/// The bytes of an Ethernet header: destination, source, type.
pub(crate) const HEADER_BYTES: usize = 14;
/// The device's name in each namespace.
const DEVICE: &str = "feros0";
/// The number of packets that the kernel keeps until the link reads them: more than any burst that
/// fits into a socket buffer of the usual size.
const DEVICE_QUEUE_PACKETS: u32 = 10_000;

/// The limit on bytes that wait in a host's kernel for the line: more than the send buffers of many
/// sockets hold, so that those buffers fill up first.
const SENDERS_LIMIT_BYTES: u64 = 64 << 20;

/// An Ethernet device in a namespace: the link reads what the host sends, and what the link writes
/// arrives at the host.
pub(crate) struct Tap {
    device: SyncDevice,
    statistics: File,
    namespace: File,
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tap").finish_non_exhaustive()
    }
}

/// The address of the `host`-th namespace of a link, counted from 0: 10.77.0.1 or 10.77.0.2.
pub fn host_address(host: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, u8::try_from(host + 1).unwrap_or(u8::MAX))
}

/// The hardware address of the `host`-th host of a link, counted from 0. It is locally
/// administered, so that no other device has it.
fn mac(host: usize) -> [u8; 6] {
    [0x02, 0xfe, 0x05, 0x00, 0x00, u8::try_from(host).unwrap_or(u8::MAX)]
}

impl Tap {
    /// Creates the device of the `host`-th host in `namespace`, with its address, and brings it up.
    pub(crate) fn new(
        namespace: &Namespace,
        host: usize,
        options: &LinkOptions,
    ) -> Result<Tap, LinkError> {
        if let Err(cause) = std::fs::metadata("/dev/net/tun") {
            return Err(LinkError::NoTunDevice { cause });
        }
        let handle = namespace.handle().map_err(NamespaceError::Enter)?;
        namespace.run(|| Tap::new_here(handle, host, options))?
    }

    fn new_here(namespace: File, host: usize, options: &LinkOptions) -> Result<Tap, LinkError> {
        let failed = |what: &'static str| {
            move |cause: std::io::Error| match cause.kind() {
                ErrorKind::PermissionDenied => LinkError::NotPermitted { cause },
                _ => LinkError::Device { what, cause },
            }
        };
        let device = DeviceBuilder::new()
            .name(DEVICE)
            .layer(Layer::L2)
            // The device is brought up only once it is configured: the kernel then sends IPv6
            // packets, and a change of the queue would drop them.
            .enable(false)
            .build_sync()
            .map_err(failed("creating the device feros0 (a namespace can have one link)"))?;
        device.set_nonblocking(true).map_err(failed("reading without waiting"))?;
        device.set_mac_address(mac(host)).map_err(failed("setting the hardware address"))?;
        device.set_mtu(options.mtu).map_err(failed("setting the MTU"))?;
        device
            .set_tx_queue_len(DEVICE_QUEUE_PACKETS)
            .map_err(failed("setting the queue length"))?;
        // IPv6 would send additional packets, which would be counted. If the kernel has no IPv6,
        // there is nothing to switch off.
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{DEVICE}/disable_ipv6"), "1");
        let address = format!("{}/24", host_address(host));
        ip(&["address", "add", &address, "broadcast", "+", "dev", DEVICE])?;
        ip(&["link", "set", "dev", DEVICE, "up"])?;
        ip(&["route", "add", "224.0.0.0/4", "dev", DEVICE])?; // multicast
        if options.waiting_rate().is_some() {
            limit_sender(options)?;
        }
        let statistics =
            File::open("/proc/thread-self/net/dev").map_err(failed("opening its statistics"))?;
        Ok(Tap { device, statistics, namespace })
    }

    /// The next frame that the host sent, if there is one.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> std::io::Result<Option<usize>> {
        match self.device.recv(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Hands a frame over to the host.
    pub(crate) fn write(&self, frame: &[u8]) -> std::io::Result<()> {
        self.device.send(frame).map(drop)
    }

    /// Changes the options that the host's kernel applies: the largest packet, and whether senders
    /// wait.
    pub(crate) fn set(&self, before: &LinkOptions, options: &LinkOptions) -> Result<(), LinkError> {
        let mtu_changes = before.mtu != options.mtu;
        let waiting_changes = before.waiting_rate() != options.waiting_rate();
        if !mtu_changes && !waiting_changes {
            return Ok(());
        }
        // The device has its name only inside its namespace.
        run_in(&self.namespace, || {
            if mtu_changes {
                let changed = self.device.set_mtu(options.mtu);
                changed.map_err(|cause| LinkError::Device { what: "setting the MTU", cause })?;
            }
            if options.waiting_rate().is_some() {
                limit_sender(options)?;
            } else if waiting_changes {
                run("tc", &["qdisc", "delete", "dev", DEVICE, "root"])?;
            }
            Ok(())
        })?
    }

    /// The number of packets of the host that were dropped because the link did not read them in
    /// time.
    pub(crate) fn dropped_before_reading(&self) -> u64 {
        let mut text = String::new();
        let mut statistics = &self.statistics;
        if statistics.seek(SeekFrom::Start(0)).is_err()
            || statistics.read_to_string(&mut text).is_err()
        {
            return 0; // the namespace no longer exists, nor do its devices
        }
        dropped_sending(&text, DEVICE).unwrap_or(0)
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// Reads the drops in sending from the text of /proc/net/dev: 8 numbers for receiving, then bytes,
/// packets, errors and drops for sending.
fn dropped_sending(text: &str, device: &str) -> Option<u64> {
    let numbers =
        text.lines().find_map(|line| line.trim_start().strip_prefix(device)?.strip_prefix(':'))?;
    numbers.split_whitespace().nth(8 + 3)?.parse().ok()
}

/// Makes the kernel hand over packets no faster than the line takes them. Sizes are counted as they
/// are on the line.
fn limit_sender(options: &LinkOptions) -> Result<(), LinkError> {
    let Some(rate) = options.waiting_rate() else { return Ok(()) };
    // The burst that the kernel hands over at once: a quarter of a millisecond, or a few packets.
    // These packets wait on the link's side of the device.
    let packet = u64::from(options.mtu) + (HEADER_BYTES as u64) + LINE_BYTES;
    let burst = (rate / 8 / 4000).max(3 * packet).to_string();
    let (rate, overhead) = (format!("{rate}bit"), LINE_BYTES.to_string());
    let least = (LEAST_FRAME_BYTES + LINE_BYTES).to_string();
    let limit = SENDERS_LIMIT_BYTES.to_string();
    let shape = [
        "stab", "overhead", &overhead, "mpu", &least, "tbf", "rate", &rate, "burst", &burst,
        "limit", &limit,
    ];
    let arguments = [&["qdisc", "replace", "dev", DEVICE, "root"][..], &shape].concat();
    run("tc", &arguments).map_err(|error| match error {
        LinkError::Configure { command, said } => LinkError::Backpressure { command, said },
        other => other,
    })
}

fn ip(arguments: &[&str]) -> Result<(), LinkError> {
    run("ip", arguments)
}

/// Runs a program of the package iproute2 in this thread's namespace.
fn run(program: &'static str, arguments: &[&str]) -> Result<(), LinkError> {
    let output = Command::new(program).args(arguments).env("LC_ALL", "C").output();
    let output = output.map_err(|cause| MissingProgram { program, package: "iproute2", cause })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
    Err(LinkError::Configure { command: format!("{program} {}", arguments.join(" ")), said })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_found_in_the_kernels_table() {
        let table = "Inter-|   Receive                                                |  Transmit\n \
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
             lo:       1       2    3    4    5     6          7         8        9      10   11   12   13    14      15         16\n\
             feros0: 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36\n";
        assert_eq!(dropped_sending(table, "lo"), Some(12));
        assert_eq!(dropped_sending(table, "feros0"), Some(32));
        assert_eq!(dropped_sending(table, "feros"), None);
        assert_eq!(dropped_sending("feros0: 1 2", "feros0"), None);
    }
}
