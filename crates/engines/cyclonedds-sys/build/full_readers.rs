//! The part of the patch that keeps a full reliable reader from blocking the process.
//!
//! A full reliable reader (RESOURCE_LIMITS) first blocked the thread that delivers to all readers
//! of the process, and then the receiving thread. So a callback that waited for a service could
//! wait forever. With the patch, such a reader does not accept any further samples from its
//! writers, as if the samples were lost in the network, and it requests them again when it has
//! room. This slows down a writer that keeps all messages. The limit also applies to the bytes,
//! which are at most 64 MiB. A writer of the same process delivers to the reader itself, and checks
//! first whether there is room (`added_functions`).

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/include/dds/ddsi/ddsi_rhc.h",
        anchor: "  ddsi_rhc_free_t free;\n};\n",
        times: 1,
        replacement: "  ddsi_rhc_free_t free;\n  bool (*has_room) (struct ddsi_rhc *rhc); /* Feros: whether the reader has room for another sample; NULL: always */\n};\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_rhc_default.c",
        anchor: "  uint32_t n_vsamples;               /* # \"valid\" samples over all instances */\n",
        times: 1,
        replacement: "  uint32_t n_vsamples;               /* # \"valid\" samples over all instances */\n  uint64_t n_bytes;                  /* Feros: their serialized bytes */\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_rhc_default.c",
        anchor: "static void free_sample (struct dds_rhc_default *rhc, struct rhc_instance *inst, struct rhc_sample *s)\n{\n",
        times: 1,
        replacement: "/* Feros: resource limits also bound the bytes. */\n\
            static bool is_full (const struct dds_rhc_default *rhc)\n{\n\
            \x20 return rhc->max_samples != DDS_LENGTH_UNLIMITED && (rhc->n_vsamples >= (uint32_t) rhc->max_samples || rhc->n_bytes >= 64 * 1048576);\n}\n\n\
            static bool dds_rhc_default_has_room (struct ddsi_rhc *rhc_common)\n{\n\
            \x20 struct dds_rhc_default * const rhc = (struct dds_rhc_default *) rhc_common;\n\
            \x20 if (!rhc->reliable || rhc->max_samples == DDS_LENGTH_UNLIMITED)\n    return true;\n\
            \x20 ddsrt_mutex_lock (&rhc->lock);\n  const bool full = is_full (rhc);\n  ddsrt_mutex_unlock (&rhc->lock);\n  return !full;\n}\n\n\
            static void free_sample (struct dds_rhc_default *rhc, struct rhc_instance *inst, struct rhc_sample *s)\n{\n  rhc->n_bytes -= ddsi_serdata_size (s->sample);\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_rhc_default.c",
        anchor: "    assert (trig_qc->dec_conds_sample == 0);\n    ddsi_serdata_unref (s->sample);\n",
        times: 1,
        replacement: "    assert (trig_qc->dec_conds_sample == 0);\n    rhc->n_bytes -= ddsi_serdata_size (s->sample);\n    ddsi_serdata_unref (s->sample);\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_rhc_default.c",
        anchor: "    if (rhc->reader && rhc->max_samples != DDS_LENGTH_UNLIMITED && rhc->n_vsamples >= (uint32_t) rhc->max_samples)\n",
        times: 1,
        replacement: "    /* Feros: a reliable reader accepts no further samples from the network; rejecting here would hold up the delivery to all readers */\n    if (rhc->reader && !rhc->reliable && is_full (rhc))\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_rhc_default.c",
        anchor: "  s->sample = ddsi_serdata_ref (sample); /* drops const (tho refcount does change) */\n",
        times: 1,
        replacement: "  s->sample = ddsi_serdata_ref (sample); /* drops const (tho refcount does change) */\n  rhc->n_bytes += ddsi_serdata_size (sample);\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_rhc_default.c",
        anchor: "    .free = dds_rhc_default_free\n",
        times: 1,
        replacement: "    .free = dds_rhc_default_free,\n    .has_room = dds_rhc_default_has_room\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi__acknack.h",
        anchor: "struct ddsi_acknack_xevent_cb_arg {\n",
        times: 1,
        replacement: "/* Feros: whether all readers of the proxy writer have room for another sample; call it with its lock. */\n\
            bool ddsi_readers_have_room (struct ddsi_proxy_writer *pwr);\n\n\
            struct ddsi_acknack_xevent_cb_arg {\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "static enum ddsi_reorder_nackmap_result add_acknack_makebitmaps (const struct",
        times: 1,
        replacement: "bool ddsi_readers_have_room (struct ddsi_proxy_writer *pwr)\n{\n  bool room = true;\n\
            \x20 ddsrt_mutex_lock (&pwr->rdary.rdary_lock);\n\
            \x20 for (uint32_t i = 0; pwr->rdary.fastpath_ok && pwr->rdary.rdary[i] && room; i++)\n  {\n\
            \x20   struct ddsi_rhc * const rhc = pwr->rdary.rdary[i]->rhc;\n\
            \x20   room = rhc == NULL || rhc->ops->has_room == NULL || rhc->ops->has_room (rhc);\n  }\n\
            \x20 ddsrt_mutex_unlock (&pwr->rdary.rdary_lock);\n  return room;\n}\n\n\
            static enum ddsi_reorder_nackmap_result add_acknack_makebitmaps (const struct",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "  /* Scan through bitmap, cutting it off at the first missing sample that the defragmenter\n",
        times: 1,
        replacement: "  /* Feros: samples without room are not asked for; the event checks again. */\n\
            \x20 if (!ddsi_readers_have_room ((struct ddsi_proxy_writer *) pwr))\n  {\n    info->acknack.set.numbits = 0;\n    info->nackfrag.seq = 0;\n\
            \x20   return DDSI_REORDER_NACKMAP_SUPPRESSED_NACK;\n  }\n\n\
            \x20 /* Scan through bitmap, cutting it off at the first missing sample that the defragmenter\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "      const int64_t intv = pwr->e.gv->config.nack_delay;\n",
        times: 1,
        replacement: "      const int64_t intv = ddsi_readers_have_room (pwr) ? pwr->e.gv->config.nack_delay : DDS_MSECS (10);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "  clean_defrag (pwr);\n\n  if ((rsample = ddsi_defrag_rsample (pwr->defrag, rdata, sampleinfo)) != NULL)\n",
        times: 1,
        replacement: "  /* Feros: handled as lost on the way, so the sample is not acknowledged, blocks no reader, and comes again. */\n\
            \x20 if (pwr->n_reliable_readers > 0 && !ddsi_readers_have_room (pwr))\n  {\n    ddsrt_mutex_unlock (&pwr->e.lock);\n\
            \x20   RSTTRACE (\" \"PGUIDFMT\" -> \"PGUIDFMT\": no room\", PGUID (pwr->e.guid), PGUID (dst));\n    return;\n  }\n\n\
            \x20 clean_defrag (pwr);\n\n  if ((rsample = ddsi_defrag_rsample (pwr->defrag, rdata, sampleinfo)) != NULL)\n",
    },
];
