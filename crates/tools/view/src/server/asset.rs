//! Files of packages that clients display, such as the mesh `package://robot/meshes/arm.stl`.

use std::io::Read as _;
use std::path::{Component, Path};

use feros_launch::Packages;

/// The size of the largest file that is served, in bytes.
const MAX_ASSET_BYTES: u64 = 16 << 20;

/// The extensions of the files that clients may read: robots, their meshes and pictures. No other
/// files of a package are served.
const EXTENSIONS: [&str; 16] = [
    "dae", "fbx", "glb", "gltf", "jpeg", "jpg", "mtl", "obj", "png", "sdf", "stl", "tif", "tiff",
    "urdf", "webp", "xacro",
];

/// The reason why the server does not send a file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AssetError {
    #[error("`{uri}` is not a file of a package: only package://PACKAGE/PATH is served")]
    Uri { uri: String },
    #[error(
        "`{uri}` is not served: only files with these extensions are served: {}",
        EXTENSIONS.join(", ")
    )]
    Extension { uri: String },
    #[error("{0}")]
    Package(String),
    #[error("{uri} cannot be read: {reason}")]
    Read { uri: String, reason: String },
    #[error("{uri} has {size} bytes, but only files of at most {MAX_ASSET_BYTES} bytes are served")]
    Large { uri: String, size: u64 },
}

/// Reads a file from a package's share folder.
pub(crate) fn read(packages: &Packages, uri: &str) -> Result<Vec<u8>, AssetError> {
    let shown: String = uri.chars().take(300).collect();
    let refused = || AssetError::Uri { uri: shown.clone() };
    let rest = uri.strip_prefix("package://").ok_or_else(refused)?;
    let (package, path) = rest.split_once('/').ok_or_else(refused)?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let path = Path::new(path);
    let is_within = path.components().all(|part| matches!(part, Component::Normal(_)));
    let is_given = !package.is_empty() && package.bytes().all(is_name);
    if !is_given || !is_within || uri.contains(['\0', '\\']) {
        return Err(refused());
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_shown = |extension: &str| EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str());
    if !extension.is_some_and(is_shown) {
        return Err(AssetError::Extension { uri: shown });
    }
    let share = packages.share(package).map_err(|error| AssetError::Package(error.to_string()))?;
    let unread =
        |error: std::io::Error| AssetError::Read { uri: shown.clone(), reason: error.to_string() };
    let file = feros_files::open(&share.join(path)).map_err(unread)?;
    let size = file.metadata().map_err(unread)?.len();
    if size > MAX_ASSET_BYTES {
        return Err(AssetError::Large { uri: shown, size });
    }
    // The file may grow during the read, so the read has a limit.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(MAX_ASSET_BYTES).read_to_end(&mut bytes).map_err(unread)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_files_for_display_within_packages_are_served() {
        let prefix = tempfile::tempdir().unwrap();
        let share = prefix.path().join("share/arm");
        let index = prefix.path().join("share/ament_index/resource_index/packages");
        for folder in [&share.join("meshes"), &index] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(index.join("arm"), "").unwrap();
        std::fs::write(share.join("package.xml"), "<package/>").unwrap();
        std::fs::write(share.join("meshes/a.STL"), "solid").unwrap();
        std::fs::write(prefix.path().join("share/secret.stl"), "x").unwrap();
        let large = std::fs::File::create(share.join("large.stl")).unwrap();
        large.set_len(MAX_ASSET_BYTES + 1).unwrap();
        let packages = Packages::new([prefix.path().to_owned()]);
        assert_eq!(read(&packages, "package://arm/meshes/a.STL").unwrap(), b"solid");
        for uri in [
            "package://arm/../secret.stl",
            "package://arm/meshes/../../secret.stl",
            "package://../share/secret.stl",
            "package://arm//etc/a.stl",
            "package://arm",
            "package:///a.stl",
            "file:///etc/passwd",
            "package://arm/a\\..\\b.stl",
            "",
        ] {
            assert!(matches!(read(&packages, uri), Err(AssetError::Uri { .. })), "{uri}");
        }
        let error = |uri| read(&packages, uri).unwrap_err();
        assert!(matches!(error("package://arm/package.xml"), AssetError::Extension { .. }));
        assert!(matches!(error("package://arm/none.stl"), AssetError::Read { .. }));
        assert!(matches!(error("package://none/a.stl"), AssetError::Package(_)));
        assert!(matches!(error("package://arm/large.stl"), AssetError::Large { .. }));
    }
}
