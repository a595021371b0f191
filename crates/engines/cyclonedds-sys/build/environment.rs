//! The part of the patch that lets a process run in an environment with faults.
//!
//! The process ended if the address of another participant could not be resolved, or if the system
//! refused the priority of a thread. Both depend on the environment. With the patch, they cause
//! only a warning.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "        GVERROR (\"add_peer_address: %s: not a valid address\\n\", a);\n        goto error;\n",
        times: 1,
        replacement: "        warn_of_peer (gv, a, \"it is not an IPv4 address\");\n        continue;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "        GVERROR (\"add_peer_address: %s: unknown address\\n\", a);\n        goto error;\n",
        times: 1,
        replacement: "        warn_of_peer (gv, a, \"no IPv4 address is known for it\");\n        continue;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "        GVERROR (\"add_peer_address: %s: address family mismatch\\n\", a);\n        goto error;\n    }\n",
        times: 1,
        replacement: "        warn_of_peer (gv, a, \"it is not an IPv4 address\");\n        continue;\n    }\n\
            \x20   if (loc.kind == DDSI_LOCATOR_KIND_INVALID)\n    {\n\
            \x20     warn_of_peer (gv, a, \"it is not the address of a host\");\n      continue;\n    }\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "static dds_return_t add_peer_address (struct",
        times: 1,
        replacement: "/* Feros: instead of an error, at which the caller aborts. */\n\
            static void warn_of_peer (struct ddsi_domaingv const * const gv, const char *peer, const char *why)\n\
            {\n  GVWARNING (\"the peer \\\"%s\\\" is left out: %s. Check ROS_STATIC_PEERS and CYCLONEDDS_URI\\n\", peer, why);\n}\n\n\
            static dds_return_t add_peer_address (struct",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_nwpart.c",
        anchor: "  if (ddsi_tran_get_locator_port (npit->gv->m_factory, &loc) != 0)\n",
        times: 1,
        replacement: "  /* Feros: an unspecified address has no transport, which is looked up below. */\n\
            \x20 if (loc.kind == DDSI_LOCATOR_KIND_INVALID)\n    nwpart_iter_error (npit, tok, \"the address of no host\");\n\
            \x20 else if (ddsi_tran_get_locator_port (npit->gv->m_factory, &loc) != 0)\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_thread.c",
        anchor: "  if (ddsrt_thread_create (&thrst->tid, name, &tattr, &create_thread_wrapper, thrst) != DDS_RETCODE_OK)\n",
        times: 1,
        replacement: "  dds_return_t created = ddsrt_thread_create (&thrst->tid, name, &tattr, &create_thread_wrapper, thrst);\n\
            \x20 if (created != DDS_RETCODE_OK && tprops != NULL)\n  {\n\
            \x20   /* Feros: the priority is optional, the thread is not. */\n\
            \x20   DDS_WARNING (\"the thread \\\"%s\\\" runs with the default scheduling: this process may not use the scheduling of CYCLONEDDS_URI\\n\", name);\n\
            \x20   ddsrt_threadattr_init (&tattr);\n\
            \x20   created = ddsrt_thread_create (&thrst->tid, name, &tattr, &create_thread_wrapper, thrst);\n  }\n\
            \x20 if (created != DDS_RETCODE_OK)\n",
    },
];
