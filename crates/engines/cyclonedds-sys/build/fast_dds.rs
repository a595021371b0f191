//! The part of the patch that adapts Cyclone DDS to Fast DDS on the other side.
//!
//! If a Fast DDS writer had sent samples before its first heartbeat, a reliable volatile reader
//! regarded all of them as history. This was wrong for samples that were sent to this reader but
//! had not arrived yet (as fragments, or because they were lost and had to be repeated). So
//! requests of a service, or a first image, never arrived. With the patch, the reader waits for
//! such samples.
//!
//! If a Fast DDS reader had some fragments of a message, and a GAP reported that this message had
//! left the history, the reader looped forever in its take. With the patch, a heartbeat with the
//! first message of the history precedes each GAP. When this heartbeat arrives, the reader drops
//! its parts of older messages.
//!
//! The time and the inline QoS are sent with every fragment, and not only with the first fragment,
//! because Fast DDS takes both from the fragment that arrives first. If this was not the first
//! fragment of the sample, a client regarded the large reply to another client's request as its own
//! reply. In addition, a reader that missed the first heartbeat of a writer requests a heartbeat
//! with an empty ACKNACK. Fast DDS answers immediately only if this ACKNACK has base 0 and a count
//! above 0. Otherwise, it waits for its period of one to three seconds, during which stock nodes
//! are unknown.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "  if (fragnum == 0)\n  {\n    int rc;\n",
        times: 1,
        replacement: "  if (fragnum == 0 || serdata->ops->add_inline_qos)\n  {\n    int rc;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "  /* Timestamp only needed once, for the first fragment */\n  if (fragnum == 0)\n  {\n",
        times: 1,
        replacement: "  /* Feros: Fast DDS takes the timestamp from the fragment that comes first */\n  {\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "  ddsi_rtps_gap_t *gap;\n  ASSERT_MUTEX_HELD (wr->e.lock);\n",
        times: 1,
        replacement: "  ddsi_rtps_gap_t *gap;\n  ASSERT_MUTEX_HELD (wr->e.lock);\n\
            \x20 /* Feros: at a GAP for a sample of which it has some fragments, the take of a Fast DDS reader loops forever\n\
            \x20    (StatefulReader::process_gap_msg leaves the sample in its instance); at a heartbeat it drops the sample properly. */\n\
            \x20 struct ddsi_whc_state whcst;\n\
            \x20 ddsi_whc_get_state (wr->whc, &whcst);\n\
            \x20 ddsi_add_heartbeat (msg, wr, &whcst, DDSI_HBC_ACK_REQ_NO, 0, prd->e.guid.entityid, 0);\n",
    },
    // The last two headers are for `full_readers`.
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "#include \"ddsi__xevent.h\"\n",
        times: 1,
        replacement: "#include \"ddsi__xevent.h\"\n#include \"ddsi__vendor.h\"\n#include \"dds/ddsi/ddsi_rhc.h\"\n#include \"dds/ddsi/ddsi_endpoint.h\"\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "  an->readerSNState.bitmap_base = ddsi_to_seqno (1);\n  an->readerSNState.numbits = 0;\n",
        times: 1,
        replacement: "  an->readerSNState.bitmap_base = ddsi_to_seqno (ddsi_vendor_is_eprosima (pwr->c.vendor) ? 0 : 1);\n  an->readerSNState.numbits = 0;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "  *countp = 0;\n",
        times: 1,
        replacement: "  *countp = rwn->count++;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "    gap_end_seq = lastseq + 1;\n",
        times: 1,
        // The gap ends at the sample up to which the writer itself announces its samples as
        // history.
        replacement: "    gap_end_seq = lastseq + 1;\n    /* Feros: Fast DDS sends a volatile reader GAPs for all samples from before the match, so the rest is awaited. */\n    if (ddsi_vendor_is_eprosima (pwr->c.vendor) && pwr->n_readers_out_of_sync == 0)\n      gap_end_seq = firstseq;\n",
    },
];
