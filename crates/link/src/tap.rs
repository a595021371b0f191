//! The end of a link in a host: an Ethernet device of the host's namespace, whose other side is ours.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;

use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::frame::mac;
use crate::link::LinkError;
use crate::namespace::{Namespace, NamespaceError, run_in};

/// The device's name in each namespace.
const DEVICE: &str = "feros0";
/// What the kernel keeps for us until we have read it: larger than any burst that a socket buffer of the usual size holds.
const DEVICE_QUEUE_PACKETS: u32 = 10_000;

/// An Ethernet device in a namespace: what the host sends can be read here, what is written here arrives there.
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

/// The address of the `n`-th host of a link, from 0.
pub(crate) fn address(host: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, u8::try_from(host + 1).unwrap_or(u8::MAX))
}

impl Tap {
    /// Makes the device of the `host`-th host in `namespace`, with its address, and takes it into operation.
    pub(crate) fn new(namespace: &Namespace, host: usize, mtu: u16) -> Result<Tap, LinkError> {
        if let Err(cause) = std::fs::metadata("/dev/net/tun") {
            return Err(LinkError::NoTunDevice { cause });
        }
        let handle = namespace.handle().map_err(NamespaceError::Enter)?;
        namespace.run(|| Tap::new_here(handle, host, mtu))?
    }

    fn new_here(namespace: File, host: usize, mtu: u16) -> Result<Tap, LinkError> {
        let failed = |what: &'static str| {
            move |cause: std::io::Error| match cause.kind() {
                ErrorKind::PermissionDenied => LinkError::NotPermitted { cause },
                _ => LinkError::Device { what, cause },
            }
        };
        let device = DeviceBuilder::new()
            .name(DEVICE)
            .layer(Layer::L2)
            .build_sync()
            .map_err(failed("making the device feros0 (a namespace can have one link)"))?;
        device.set_nonblocking(true).map_err(failed("reading without waiting"))?;
        device.set_mac_address(mac(host)).map_err(failed("setting the hardware address"))?;
        device.set_mtu(mtu).map_err(failed("setting the MTU"))?;
        device.set_tx_queue_len(DEVICE_QUEUE_PACKETS).map_err(failed("setting the queue length"))?;
        // Packets that nobody asked for would be counted. Where the kernel has no IPv6 there is nothing to switch off.
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{DEVICE}/disable_ipv6"), "1");
        let address = format!("{}/24", address(host));
        ip(&["address", "add", &address, "broadcast", "+", "dev", DEVICE])?;
        ip(&["link", "set", "dev", DEVICE, "up"])?;
        ip(&["route", "add", "224.0.0.0/4", "dev", DEVICE])?; // multicast
        let statistics = File::open("/proc/thread-self/net/dev").map_err(failed("opening its statistics"))?;
        Ok(Tap { device, statistics, namespace })
    }

    /// The next frame that the host sent, if there is one.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> std::io::Result<Option<usize>> {
        match self.device.recv(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a frame to the host.
    pub(crate) fn write(&self, frame: &[u8]) -> std::io::Result<()> {
        self.device.send(frame).map(drop)
    }

    /// Changes the largest packet that the host may send.
    pub(crate) fn set_mtu(&self, mtu: u16) -> Result<(), LinkError> {
        let changed = run_in(&self.namespace, || self.device.set_mtu(mtu))?; // a device has its name in its namespace only
        changed.map_err(|cause| LinkError::Device { what: "setting the MTU", cause })
    }

    /// How many packets of the host were dropped because we did not read them in time.
    pub(crate) fn dropped_before_reading(&self) -> u64 {
        let mut text = String::new();
        let mut statistics = &self.statistics;
        if statistics.seek(SeekFrom::Start(0)).is_err() || statistics.read_to_string(&mut text).is_err() {
            return 0; // the namespace is gone, and its devices with it
        }
        dropped_sending(&text, DEVICE).unwrap_or(0)
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// From the text of /proc/net/dev: 8 numbers of receiving, then bytes, packets, errors and drops of sending.
fn dropped_sending(text: &str, device: &str) -> Option<u64> {
    let numbers = text.lines().find_map(|line| line.trim_start().strip_prefix(device)?.strip_prefix(':'))?;
    numbers.split_whitespace().nth(8 + 3)?.parse().ok()
}

fn ip(arguments: &[&str]) -> Result<(), LinkError> {
    let output = Command::new("ip").args(arguments).env("LC_ALL", "C").output();
    let output =
        output.map_err(|cause| LinkError::MissingProgram { program: "ip", package: "iproute2", cause })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
    Err(LinkError::Configure { command: format!("ip {}", arguments.join(" ")), said })
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
