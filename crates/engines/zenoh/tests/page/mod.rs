//! The certificates and settings of the book's page about fleets, made as the page says.

use std::path::PathBuf;
use std::process::Command;

/// The host of the router on the page.
const HOST: &str = "fleet.local";

/// The page, whose commands for certificates have been run in a folder. The folder is removed when
/// this value is dropped.
pub(crate) struct Page {
    text: String,
    folder: PathBuf,
}

impl Page {
    /// Runs the commands for certificates. Returns `None` if there is no openssl.
    pub(crate) fn followed() -> Option<Self> {
        if Command::new("openssl").arg("version").output().is_err() {
            feros_test_support::skip("openssl is needed to make certificates: install openssl");
            return None;
        }
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let text = std::fs::read_to_string(root.join("docs/book/pages/fleet.md")).unwrap();
        let (_, block) = text.split_once("```sh\n").unwrap();
        let (script, _) = block.split_once("```").unwrap();
        // The router of the test is on this host, but the file names stay.
        let script = script.replace("DNS:$1", "DNS:localhost");
        let folder =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("page-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let made = Command::new("bash").args(["-ec", &script]).current_dir(&folder).output();
        let made = made.unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Some(Self { text, folder })
    }

    /// The setting of the page for the router, without its address.
    pub(crate) fn setting_of_router(&self) -> String {
        let setting = self.setting("listen/endpoints=[\"tls/");
        setting.split_once(';').unwrap().1.to_owned()
    }

    /// The setting of the page for a robot or an operator with this name, which is on the page for
    /// `robot1`.
    pub(crate) fn setting_of(&self, name: &str, port: u16) -> String {
        let setting = self.setting("connect/endpoints=[\"tls/");
        let address = format!("tls/{HOST}:7447");
        assert!(setting.contains(&address), "{setting}");
        setting
            .replace(&address, &format!("tls/localhost:{port}"))
            .replace("robot1.", &format!("{name}."))
    }

    /// The value of `ZENOH_CONFIG_OVERRIDE` on the page that begins with this text, with the full
    /// paths of files.
    fn setting(&self, begin: &str) -> String {
        let values = self.text.split("ZENOH_CONFIG_OVERRIDE='").skip(1);
        let mut values = values.filter_map(|rest| rest.split('\'').next());
        let value = values.find(|value| value.starts_with(begin)).unwrap();
        let folder = self.folder.to_string_lossy();
        let absolute = |part: &str| {
            let is_file = part.ends_with(".pem") || part.ends_with(".key");
            if is_file { format!("{folder}/{part}") } else { part.to_owned() }
        };
        value.split('"').map(absolute).collect::<Vec<_>>().join("\"")
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder); // files left in the target folder do no harm
    }
}
