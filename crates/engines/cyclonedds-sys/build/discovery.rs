//! The part of the patch that repairs discovery.
//!
//! It adds the GUID of the participant to the discovery of endpoints, because stock ROS 2 tools
//! need it to name the node of an endpoint.
//!
//! If a new remote participant has already made announcements, only one local participant receives
//! them, and the discovery readers of all other local participants skip them. If that one
//! participant was deleted in the meantime, the others never learned of the endpoints. With the
//! patch, readers skip announcements only after these have been received.
//!
//! Without multicast, a participant whose lease had expired was called again only after 30 seconds.
//! If two participants had been separated, or if one of them had been stopped, they did not hear
//! each other for that time. With the patch, the first call follows after half a second, and each
//! further call follows after twice the previous time.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint_match.c",
        anchor: "  else if (ddsi_is_builtin_entityid (rd->e.guid.entityid, DDSI_VENDORID_ECLIPSE) && !ddsrt_avl_is_empty (&pwr->readers) && !pwr->filtered)\n",
        times: 1,
        replacement: "  else if (ddsi_is_builtin_entityid (rd->e.guid.entityid, DDSI_VENDORID_ECLIPSE) && !ddsrt_avl_is_empty (&pwr->readers) && !pwr->filtered && pwr->have_seen_heartbeat && pwr->n_readers_out_of_sync == 0)\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_discovery_endpoint.c",
        anchor: "    ps.present |= PP_PROTOCOL_VERSION | PP_VENDORID;\n    ps.protocol_version = gv->config.protocol_version;\n    ps.vendorid = DDSI_VENDORID_ECLIPSE;\n\n    assert (epcommon != NULL);\n",
        times: 1,
        replacement: "    ps.present |= PP_PROTOCOL_VERSION | PP_VENDORID | PP_PARTICIPANT_GUID;\n    ps.protocol_version = gv->config.protocol_version;\n    ps.vendorid = DDSI_VENDORID_ECLIPSE;\n    ps.participant_guid.prefix = guid->prefix;\n    ps.participant_guid.entityid.u = DDSI_ENTITYID_PARTICIPANT;\n\n    assert (epcommon != NULL);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "  ddsrt_mtime_t tsched; // time at which to ping this locator again\n",
        times: 1,
        replacement: "  ddsrt_mtime_t tsched; // time at which to ping this locator again\n  dds_duration_t intv; // Feros: time between this ping and the next one\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "    n->aging.tsched = ddsrt_mtime_add_duration (tnow, DDS_MSECS (100));\n",
        times: 1,
        replacement: "    n->aging.tsched = ddsrt_mtime_add_duration (tnow, DDS_MSECS (100));\n    n->aging.intv = DDS_INFINITY;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "      n->aging.tsched = ddsrt_mtime_add_duration (tnow, base_intv);\n",
        times: 1,
        replacement: "      /* Feros: a participant that was silent for the length of a lease is mostly back soon. */\n      n->aging.intv = (base_intv < DDS_MSECS (500)) ? base_intv : DDS_MSECS (500);\n      n->aging.tsched = ddsrt_mtime_add_duration (tnow, n->aging.intv);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "  const dds_duration_t t_coalesce = DDS_SECS (1); // aging, so low rate\n",
        times: 1,
        replacement: "  const dds_duration_t t_coalesce = DDS_MSECS (100);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "        n->tsched = ddsrt_mtime_add_duration (tnow, base_intv);\n",
        times: 1,
        replacement: "        n->intv = (n->intv < base_intv / 2) ? 2 * n->intv : base_intv;\n        n->tsched = ddsrt_mtime_add_duration (tnow, n->intv);\n",
    },
];
