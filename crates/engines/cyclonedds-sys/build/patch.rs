//! The patch that Feros applies to Cyclone DDS. It consists of edits with anchors. Each anchor must
//! occur in its file exactly as often as the edit says; otherwise, the build fails. So a new
//! upstream version can never be built without the patch or with only a part of it.
//!
//! Each part of the patch is a module, which gives the reasons for its edits:
//!
//! | module | purpose |
//! |---|---|
//! | `serdata` | the identity of requests in inline QoS; the origin of received samples |
//! | `discovery` | participants learn of all endpoints, and of each other soon after a separation |
//! | `fast_dds` | communication with Fast DDS |
//! | `matches` | the matches are read without a race, and without waiting for a write |
//! | `added_functions` | functions for the shim: two waits, and a look at the room of readers |
//! | `full_readers` | a full reliable reader blocks no thread |
//! | `environment` | faults of the environment do not end the process |
//! | `addresses` | addresses of writers are computed less often |
//! | `large_packets` | packets to addresses of this host are larger |
//! | `requests` | repeated requests wait while an answer may still arrive |
//! | `pacing` | publishers that send more than a full link carries are slowed down |
//! | `bursts` | bursts that do not fit into small receive buffers are slowed down |
//! | `rate_control` | a best-effort sample of which a full link would carry only a part is not sent |
//! | `early` | samples that arrive before their writer is known are stored for a short time |
//! | `descriptors` | programs that the process starts do not inherit its descriptors |
//!
//! This file has two small parts. No C++ compiler is required. And for each known endpoint, local
//! or remote, the engine stored the key twice during the lifetime of the endpoint: once with the
//! whole announcement, and once with room for a whole QoS. With the patch, it stores only the keys,
//! which saves 0.7 KB for each endpoint.

use std::path::Path;
use std::sync::Mutex;

use crate::edit::Edit;
use crate::{
    added_functions, addresses, bursts, descriptors, discovery, early, environment, fast_dds,
    full_readers, large_packets, matches, pacing, rate_control, requests, serdata,
};

const EDITS: &[Edit] = &[
    Edit {
        file: "CMakeLists.txt",
        anchor: "project(CycloneDDS VERSION 11.0.0 LANGUAGES C CXX)",
        times: 1,
        // C++ is needed only for a plug-in that is not built. If C++ were named here, a C++
        // compiler would be required.
        replacement: "project(CycloneDDS VERSION 11.0.0 LANGUAGES C)",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_serdata_plist.c",
        anchor: "  ddsrt_iovec_t iov = { .iov_base = (char *) &d->identifier, .iov_len = 4 + d->pos };\n  struct ddsi_serdata *dcmn_tl = serdata_plist_from_ser_iov (&tp->c, SDK_KEY, 1, &iov, d->pos);\n",
        times: 1,
        replacement: "  struct ddsi_serdata *dcmn_tl = serdata_plist_from_keyhash (&tp->c, &d->keyhash);\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_serdata_builtintopic.c",
        anchor: "  struct ddsi_serdata_builtintopic *d = ddsrt_malloc(serdata_builtin_sizeof(tp->entity_kind));\n",
        times: 1,
        replacement: "  /* Feros: from a sample with only the key nothing behind the key is read but a handle, which it never had. */\n\
              struct ddsi_serdata_builtintopic *d = (serdata_kind == SDK_KEY) ? ddsrt_malloc (offsetof (struct ddsi_serdata_builtintopic, xqos)) : ddsrt_malloc (serdata_builtin_sizeof (tp->entity_kind));\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_serdata_builtintopic.c",
        anchor: "  sample->participant_instance_handle = dep->pphandle;\n",
        times: 1,
        replacement: "  sample->participant_instance_handle = (dep->common.c.kind == SDK_DATA) ? dep->pphandle : DDS_HANDLE_NIL;\n",
    },
];

fn edits() -> impl Iterator<Item = &'static Edit> {
    EDITS
        .iter()
        .chain(environment::EDITS)
        .chain(serdata::EDITS)
        .chain(fast_dds::EDITS)
        .chain(discovery::EDITS)
        .chain(matches::EDITS)
        .chain(added_functions::EDITS)
        .chain(full_readers::EDITS)
        .chain(addresses::EDITS)
        .chain(large_packets::EDITS)
        .chain(pacing::EDITS)
        .chain(requests::EDITS)
        .chain(bursts::EDITS)
        .chain(rate_control::EDITS)
        .chain(descriptors::EDITS)
        .chain(early::EDITS)
}

static USED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Applies the edits for `file` (a path inside the source tree) to its content.
pub(crate) fn apply(file: &Path, content: Vec<u8>) -> Result<Vec<u8>, String> {
    if !edits().any(|edit| file == Path::new(edit.file)) {
        return Ok(content);
    }
    let mut text =
        String::from_utf8(content).map_err(|_| format!("{} is not UTF-8", file.display()))?;
    for (index, edit) in edits().enumerate().filter(|(_, edit)| file == Path::new(edit.file)) {
        let found = text.matches(edit.anchor).count();
        if found != edit.times {
            return Err(format!(
                "The Cyclone DDS source differs from the one this crate is written for: in {} the text\n{}\n\
                 occurs {found} times instead of {}.\n\
                 Cure: pin cyclonedds-src to the version in this crate's Cargo.toml, or adapt build/patch.rs.",
                edit.file, edit.anchor, edit.times
            ));
        }
        text = text.replace(edit.anchor, edit.replacement);
        USED.lock().map_err(|_| "poisoned".to_owned())?.push(index);
    }
    Ok(text.into_bytes())
}

/// Checks that every edit has found its file.
pub(crate) fn all_used() -> Result<(), String> {
    let used = USED.lock().map_err(|_| "poisoned".to_owned())?;
    match edits().enumerate().find(|(index, _)| !used.contains(index)) {
        None => Ok(()),
        Some((_, edit)) => {
            Err(format!("The Cyclone DDS source has no file {}, which Feros changes.", edit.file))
        }
    }
}
