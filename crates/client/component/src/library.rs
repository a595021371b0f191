//! Reads the plugins and stamps of a component library from its file, so that no code of an
//! incompatible library runs.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use object::read::elf::{ElfFile, FileHeader};
use object::{Object, ObjectSection, ObjectSymbol, ReadCache, ReadCacheRange};

use crate::plugin::{CONSTRUCTOR_PREFIX, STAMP_PREFIX};
use crate::stamp::{LONGEST, Mismatch, Stamp};

/// The start of the file name of the Feros library that a component library shares with its
/// container.
const SHARED: &str = "libferos_shared";

/// Why a file cannot be loaded as a component library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// The file does not exist, or may not be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is not a shared library of this system.
    #[error("{path} is not a shared library: {reason}")]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// No `register!` is linked into the library.
    #[error(
        "{path} has no Feros component: call feros_component::register! in the crate of the \
         components, and build the library from a second crate whose only line is \
         `use {{feros_shared as _, the_crate as _}};`. Components of rclcpp are C++ and cannot be \
         loaded"
    )]
    NoComponents {
        /// The file.
        path: PathBuf,
    },
    /// The library contains its own copy of Feros.
    #[error(
        "{path} contains a copy of Feros instead of using the container's: let it depend on \
         feros-shared (`use feros_shared as _;`)"
    )]
    OwnFeros {
        /// The file.
        path: PathBuf,
    },
    /// The library has other components, but not this one.
    #[error("{path} has no component {plugin}; it has {available}")]
    NoSuchPlugin {
        /// The file.
        path: PathBuf,
        /// The requested component.
        plugin: String,
        /// The components of the library.
        available: String,
    },
    /// The library was built with another compiler, target, profile or Feros.
    #[error("{path} does not fit this container: {mismatch}")]
    DoesNotFit {
        /// The file.
        path: PathBuf,
        /// The difference.
        mismatch: Mismatch,
    },
}

/// The plugins and stamps of a component library.
#[derive(Debug, Clone)]
pub struct Library {
    path: PathBuf,
    plugins: Vec<(String, Stamp)>,
    shared_feros: Option<String>,
}

impl Library {
    /// Reads a library file without running any of its code.
    ///
    /// # Errors
    /// When the file cannot be read, is not an ELF library, or has no component.
    pub fn read(path: &Path) -> Result<Self, LibraryError> {
        let failed = |source| LibraryError::File { path: path.to_owned(), source };
        let cache = ReadCache::new(feros_files::open(path).map_err(failed)?);
        let (plugins, needed) = contents(cache.range(0, u64::MAX))
            .map_err(|reason| LibraryError::NotALibrary { path: path.to_owned(), reason })?;
        if plugins.is_empty() {
            return Err(LibraryError::NoComponents { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), plugins, shared_feros: shared_feros(needed) })
    }

    /// The name of the shared Feros that the library was linked with, as in `DT_NEEDED`; `None` if
    /// the library contains its own copy of Feros.
    pub fn shared_feros(&self) -> Option<&str> {
        self.shared_feros.as_deref()
    }

    /// The names of the library's components, sorted.
    pub fn plugins(&self) -> impl Iterator<Item = &str> {
        self.plugins.iter().map(|(name, _)| name.as_str())
    }

    /// The stamp of a component.
    pub fn stamp(&self, plugin: &str) -> Option<&Stamp> {
        self.plugins.iter().find(|(name, _)| name == plugin).map(|(_, stamp)| stamp)
    }

    /// Checks that the library has this component and that this program may load it.
    ///
    /// # Errors
    /// When the library does not have the component, or the stamps differ.
    pub fn check(&self, plugin: &str) -> Result<(), LibraryError> {
        let path = self.path.clone();
        let Some(stamp) = self.stamp(plugin) else {
            let available = self.plugins().collect::<Vec<_>>().join(", ");
            return Err(LibraryError::NoSuchPlugin { path, plugin: plugin.to_owned(), available });
        };
        stamp
            .check()
            .map_err(|mismatch| LibraryError::DoesNotFit { path: path.clone(), mismatch })?;
        if self.shared_feros.is_some() { Ok(()) } else { Err(LibraryError::OwnFeros { path }) }
    }
}

/// The names of the libraries that a program or a library is linked with, as in `DT_NEEDED`. No
/// code of the file runs.
///
/// # Errors
/// When the file cannot be read, or is not an ELF file of this system.
pub fn needed_libraries(path: &Path) -> Result<Vec<String>, LibraryError> {
    let failed = |source| LibraryError::File { path: path.to_owned(), source };
    let cache = ReadCache::new(feros_files::open(path).map_err(failed)?);
    let data = cache.range(0, u64::MAX);
    let broken = |reason| LibraryError::NotALibrary { path: path.to_owned(), reason };
    let elf = ElfFile::parse(data).map_err(|error| broken(error.to_string()))?;
    needed(&elf, data).map_err(broken)
}

/// The names of the symbols that a library exports. The name of a Rust symbol contains a hash of
/// its crate's version, features and settings. So a library that was linked with one shared library
/// can use another shared library whose symbols have the same names.
///
/// # Errors
/// The same as for [`needed_libraries`].
pub fn exported_symbols(path: &Path) -> Result<BTreeSet<Vec<u8>>, LibraryError> {
    let failed = |source| LibraryError::File { path: path.to_owned(), source };
    let cache = ReadCache::new(feros_files::open(path).map_err(failed)?);
    let broken = |error: object::Error| LibraryError::NotALibrary {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    type Elf<'a> =
        ElfFile<'a, object::elf::FileHeader64<object::Endianness>, ReadCacheRange<'a, File>>;
    let elf: Elf<'_> = ElfFile::parse(cache.range(0, u64::MAX)).map_err(broken)?;
    let exported = elf.dynamic_symbols().filter(|symbol| symbol.is_definition());
    exported.map(|symbol| symbol.name_bytes().map(<[u8]>::to_vec).map_err(broken)).collect()
}

/// Finds the shared Feros among the names of libraries.
pub fn shared_feros(needed: Vec<String>) -> Option<String> {
    needed.into_iter().find(|name| name.starts_with(SHARED))
}

type Contents = (Vec<(String, Stamp)>, Vec<String>);

fn contents(data: ReadCacheRange<'_, File>) -> Result<Contents, String> {
    let elf: ElfFile<'_, object::elf::FileHeader64<object::Endianness>, _> =
        ElfFile::parse(data).map_err(|error| error.to_string())?;
    if elf.kind() != object::ObjectKind::Dynamic {
        return Err(format!("it is an ELF file of kind {:?}", elf.kind()));
    }
    let mut plugins = Vec::new();
    let symbols: Vec<_> = elf.dynamic_symbols().filter(|symbol| symbol.is_definition()).collect();
    let name_of =
        |symbol: &object::read::elf::ElfSymbol<'_, '_, _, _>| symbol.name().map(str::to_owned).ok();
    for symbol in &symbols {
        let Some(plugin) =
            name_of(symbol).and_then(|n| n.strip_prefix(STAMP_PREFIX).map(str::to_owned))
        else {
            continue;
        };
        let constructor = format!("{CONSTRUCTOR_PREFIX}{plugin}");
        if !symbols.iter().any(|s| name_of(s).as_ref() == Some(&constructor)) {
            return Err(format!("it has a stamp of {plugin}, but no constructor"));
        }
        if symbol.size() > LONGEST {
            return Err(format!(
                "the stamp of {plugin} has {} bytes, but at most {LONGEST} are allowed",
                symbol.size()
            ));
        }
        let section = symbol.section_index().and_then(|index| elf.section_by_index(index).ok());
        let bytes =
            section.and_then(|s| s.data_range(symbol.address(), symbol.size()).ok()).flatten();
        let bytes =
            bytes.ok_or_else(|| format!("the stamp of {plugin} lies outside of the file"))?;
        plugins.push((plugin, Stamp::from_bytes(bytes)));
    }
    plugins.sort_by(|a, b| a.0.cmp(&b.0));
    Ok((plugins, needed(&elf, data)?))
}

/// The names of the libraries that the system's loader loads together with this file.
fn needed<'a>(
    elf: &ElfFile<'a, object::elf::FileHeader64<object::Endianness>, ReadCacheRange<'a, File>>,
    data: ReadCacheRange<'a, File>,
) -> Result<Vec<String>, String> {
    let endian = elf.endian();
    let bad = |error: object::Error| error.to_string();
    let sections = elf.elf_header().sections(endian, data).map_err(bad)?;
    let Some((entries, link)) = sections.dynamic(endian, data).map_err(bad)? else {
        return Ok(Vec::new());
    };
    let strings = sections.strings(endian, data, link).map_err(bad)?;
    let mut names = Vec::new();
    for entry in entries {
        if entry.d_tag.get(endian) == u64::from(object::elf::DT_NEEDED) {
            let offset = u32::try_from(entry.d_val.get(endian)).unwrap_or(u32::MAX);
            let name = strings
                .get(offset)
                .map_err(|()| "the name of a needed library lies outside of the file")?;
            names.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    Ok(names)
}
