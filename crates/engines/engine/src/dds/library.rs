//! The DDS library that a participant names in its announcement (SPDP).

use std::fmt;

/// The library of a participant, as far as its announcement shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Library {
    /// The vendor's number, `VendorId_t` of DDSI-RTPS.
    pub vendor: [u8; 2],
    /// The version.
    pub version: LibraryVersion,
}

/// The version of a participant's library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LibraryVersion {
    /// The participant announces this version: major, minor and patch.
    Named([u16; 3]),
    /// The participant announces no version. Fast DDS does so before version 3.
    NotNamed,
    /// The engine does not tell what the participant announces.
    Unknown,
}

impl Library {
    /// The vendor of Fast DDS.
    pub const EPROSIMA: [u8; 2] = [0x01, 0x0f];
    /// The vendor of Cyclone DDS.
    pub const ECLIPSE: [u8; 2] = [0x01, 0x10];
    /// The vendor of Connext DDS.
    pub const RTI: [u8; 2] = [0x01, 0x01];

    /// The library of a participant that is known only by its GUID, which begins with the vendor's
    /// number (DDSI-RTPS 2.5, 9.3.1.5).
    pub fn of_guid_prefix(prefix: [u8; 12]) -> Self {
        Self { vendor: [prefix[0], prefix[1]], version: LibraryVersion::Unknown }
    }

    /// Reads the text that describes a participant in Cyclone DDS (`patches/library.patch` of
    /// `feros-cyclonedds-sys`): the vendor's number in hexadecimal, and what the participant says
    /// about the version. `01.0f 3.2.2.0` is Fast DDS 3.2.2, `01.0f` Fast DDS before version 3, and
    /// `01.10 robot/0.10.5/Linux/Linux` Cyclone DDS 0.10.5 on the host `robot`. Returns `None` if
    /// there is no vendor.
    pub fn parse(text: &str) -> Option<Self> {
        let (vendor, said) = text.split_once(' ').unwrap_or((text, ""));
        let (major, minor) = vendor.split_once('.')?;
        let vendor = [parse_octet(major)?, parse_octet(minor)?];
        let version = said.split('/').nth(1).unwrap_or(said);
        // An empty version of Fast DDS arrives as zeros.
        let version = parse_version(version).filter(|version| *version != [0; 3]);
        let version = version.map_or(LibraryVersion::NotNamed, LibraryVersion::Named);
        Some(Self { vendor, version })
    }
}

/// Reads two hexadecimal digits.
fn parse_octet(text: &str) -> Option<u8> {
    let is_octet = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_octet { u8::from_str_radix(text, 16).ok() } else { None }
}

/// Reads the first three numbers of a version; the third may be missing.
fn parse_version(text: &str) -> Option<[u16; 3]> {
    let mut parts = text.split('.');
    let mut number = || -> Option<u16> {
        let part = parts.next()?;
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { part.parse().ok() } else { None }
    };
    let (major, minor) = (number()?, number()?);
    Some([major, minor, number().unwrap_or(0)])
}

/// Formats the library with its version, if that is known: `Fast DDS 3.2.2`.
impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.vendor {
            Self::EPROSIMA => f.write_str("Fast DDS")?,
            Self::ECLIPSE => f.write_str("Cyclone DDS")?,
            Self::RTI => f.write_str("Connext DDS")?,
            [major, minor] => write!(f, "DDS of vendor {major:02x}.{minor:02x}")?,
        }
        match self.version {
            LibraryVersion::Named([major, minor, patch]) => write!(f, " {major}.{minor}.{patch}"),
            LibraryVersion::NotNamed if self.vendor == Self::EPROSIMA => f.write_str(" before 3.0"),
            LibraryVersion::NotNamed | LibraryVersion::Unknown => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn shown(text: &str) -> Option<String> {
        Library::parse(text).map(|library| library.to_string())
    }

    #[test]
    fn libraries_are_named_with_their_versions() {
        for (text, expected) in [
            ("01.0f 3.2.2.0", "Fast DDS 3.2.2"),
            ("01.0f", "Fast DDS before 3.0"),
            ("01.0f 0.0.0", "Fast DDS before 3.0"),
            ("01.10 vm/0.10.2/Linux/Linux", "Cyclone DDS 0.10.2"),
            ("01.10 vm/11.0.1/Linux/Linux", "Cyclone DDS 11.0.1"),
            ("01.10", "Cyclone DDS"),
            ("01.01", "Connext DDS"),
            ("01.2a 1.2", "DDS of vendor 01.2a 1.2.0"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
        let mut prefix = [7; 12];
        prefix[..2].copy_from_slice(&Library::ECLIPSE);
        assert_eq!(Library::of_guid_prefix(prefix).to_string(), "Cyclone DDS");
    }

    #[test]
    fn nonsense_names_no_version_or_no_library() {
        for text in ["", "01", "1.0f", "01.0f0", "zz.0f 3.2.2", " 3.2.2", "+1.10"] {
            assert_eq!(Library::parse(text), None, "{text:?}");
        }
        for said in
            ["", "3", "3.", "3.x", "-3.2", "+3.2", "70000.1", "a/b/c", "/", "//", "\u{663}.1"]
        {
            let library = Library::parse(&format!("01.10 {said}")).unwrap();
            assert_eq!(library.version, LibraryVersion::NotNamed, "{said:?}");
        }
        assert_eq!(shown("01.10 x/0.10.5-rc1/").as_deref(), Some("Cyclone DDS 0.10.0"));
    }
}
