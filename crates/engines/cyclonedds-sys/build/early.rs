//! The part of the patch that stores samples that arrive before their writer is known.
//!
//! The receiving thread puts announcements into a queue, and the thread of that queue makes writers
//! known and matches them. A participant that had found our reader could publish immediately, so
//! its data could arrive while the writer was still unknown or being matched. Best-effort readers
//! then lost the first samples. With the patch, `engine/feros_early.c` stores such samples until
//! the writer is matched. The receiving thread then handles them as if they had arrived at that
//! time.
//!
//! Reliable readers do not need stored samples, because writers send them the missing samples
//! again.

use crate::edit::Edit;

const RECEIVE: &str = "src/core/ddsi/src/ddsi_receive.c";
const INIT: &str = "src/core/ddsi/src/ddsi_init.c";
const PROXY: &str = "src/core/ddsi/src/ddsi_proxy_endpoint.c";

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/CMakeLists.txt",
        anchor: "  ddsi_endpoint.c\n",
        times: 1,
        replacement: "  ddsi_endpoint.c\n  feros_early.c\n",
    },
    Edit {
        file: "src/core/ddsi/include/dds/ddsi/ddsi_domaingv.h",
        anchor: "struct ddsi_domaingv {\n  volatile int terminate;\n",
        times: 1,
        replacement: "struct feros_early;\n\nstruct ddsi_domaingv {\n  struct feros_early *early; /* Feros: samples of writers that are not known yet */\n  volatile int terminate;\n",
    },
    Edit {
        file: INIT,
        anchor: "#include \"ddsi__sockwaitset.h\"\n",
        times: 1,
        replacement: "#include \"ddsi__sockwaitset.h\"\n#include \"feros_early.h\"\n",
    },
    Edit {
        file: INIT,
        anchor: "  /* For each thread, create rbufpool and waitset if needed, then start it */\n",
        times: 1,
        replacement: "  gv->early = feros_early_new ();\n\n  /* For each thread, create rbufpool and waitset if needed, then start it */\n",
    },
    Edit {
        file: INIT,
        anchor: "  /* Must delay freeing of rbufpools until after *all* references have\n",
        times: 1,
        replacement: "  feros_early_free (gv->early);\n\n  /* Must delay freeing of rbufpools until after *all* references have\n",
    },
    Edit {
        file: PROXY,
        anchor: "    pwr->local_matching_inprogress = 0;\n    ddsrt_mutex_unlock (&pwr->e.lock);\n",
        times: 1,
        replacement: "    pwr->local_matching_inprogress = 0;\n\
            \x20   /* Feros: with the lock, so that later samples do not overtake kept ones */\n\
            \x20   const bool is_due = feros_early_know (gv->early, &pwr->e.guid);\n\
            \x20   ddsrt_mutex_unlock (&pwr->e.lock);\n\
            \x20   if (is_due)\n      ddsi_trigger_recv_threads (gv);\n",
    },
    Edit {
        file: PROXY,
        anchor: "#include \"ddsi__proxy_endpoint.h\"\n",
        times: 1,
        replacement: "#include \"ddsi__proxy_endpoint.h\"\n#include \"ddsi__receive.h\"\n#include \"feros_early.h\"\n",
    },
    Edit {
        file: RECEIVE,
        anchor: "#include \"ddsi__sockwaitset.h\"\n",
        times: 1,
        replacement: "#include \"ddsi__sockwaitset.h\"\n#include \"feros_early.h\"\n",
    },
    Edit {
        file: RECEIVE,
        anchor: "static void handle_regular (struct ddsi_receiver_state *rst, ",
        times: 1,
        replacement: r"/* Feros: see crates/engines/cyclonedds-sys/build/early.rs. Whether a sample is worth keeping: a small one of
   an application, for no reader that gets it a second time. */
static bool is_kept_early (const struct ddsi_receiver_state *rst, const ddsi_rtps_data_datafrag_common_t *msg)
{
  const bool is_swapped = ((msg->smhdr.flags & DDSI_RTPS_SUBMESSAGE_FLAG_ENDIANNESS) != 0) != (DDSRT_ENDIAN == DDSRT_LITTLE_ENDIAN);
  if (msg->smhdr.submessageId != DDSI_RTPS_SMID_DATA || is_swapped || (msg->writerId.u & DDSI_ENTITYID_SOURCE_MASK) == DDSI_ENTITYID_SOURCE_BUILTIN)
    return false;
  const ddsi_guid_t pp = { .prefix = rst->src_guid_prefix, .entityid = { .u = DDSI_ENTITYID_PARTICIPANT } };
  if (ddsi_entidx_lookup_proxy_participant_guid (rst->gv->entity_index, &pp) == NULL)
    return false;
  if (msg->readerId.u == DDSI_ENTITYID_UNKNOWN)
    return true;
  const ddsi_guid_t dst = { .prefix = rst->dst_guid_prefix, .entityid = msg->readerId };
  const struct ddsi_reader * const rd = ddsi_entidx_lookup_reader_guid (rst->gv->entity_index, &dst);
  return rd != NULL && !rd->reliable;
}

static void keep_early (const struct ddsi_receiver_state *rst, const struct ddsi_rmsg *rmsg, const ddsi_rtps_data_datafrag_common_t *msg, const struct ddsi_rsample_info *sampleinfo, const struct ddsi_rdata *rdata)
{
  const unsigned char flags = (DDSRT_ENDIAN == DDSRT_LITTLE_ENDIAN) ? DDSI_RTPS_SUBMESSAGE_FLAG_ENDIANNESS : 0;
  if (!is_kept_early (rst, msg))
    return;
  /* numbers that were read are in host order already; the state holds the preceding submessages */
  struct {
    ddsi_rtps_header_t header;
    ddsi_rtps_info_dst_t dst;
    ddsi_rtps_info_ts_t ts;
  } before;
  const size_t size = DDSI_RDATA_PAYLOAD_OFF (rdata) + sampleinfo->size - DDSI_RDATA_SUBMSG_OFF (rdata);
  memset (&before, 0, sizeof (before));
  memcpy (&before.header, DDSI_RMSG_PAYLOAD (rmsg), sizeof (before.header.protocol));
  before.header.version = rst->protocol_version;
  before.header.vendorid = rst->vendor;
  before.header.guid_prefix = ddsi_hton_guid_prefix (rst->src_guid_prefix);
  before.dst.smhdr = (ddsi_rtps_submessage_header_t) { .submessageId = DDSI_RTPS_SMID_INFO_DST, .flags = flags, .octetsToNextHeader = sizeof (before.dst.guid_prefix) };
  before.dst.guid_prefix = ddsi_hton_guid_prefix (rst->dst_guid_prefix);
  before.ts.smhdr = (ddsi_rtps_submessage_header_t) { .submessageId = DDSI_RTPS_SMID_INFO_TS, .flags = flags, .octetsToNextHeader = sizeof (before.ts.time) };
  if (sampleinfo->timestamp.v == DDSRT_WCTIME_INVALID.v)
    before.ts.smhdr.flags |= DDSI_INFOTS_INVALIDATE_FLAG;
  else
    before.ts.time = ddsi_wctime_to_ddsi_time (sampleinfo->timestamp);
  struct feros_early_sample sample = {
    .writer = { .prefix = rst->src_guid_prefix, .entityid = msg->writerId },
    .pktinfo = rst->pktinfo,
    .t_came = ddsrt_time_monotonic ().v,
    .size = sizeof (before) + size
  };
  /* a receive buffer may be as small as the packet was, and the copy has more bytes before the sample */
  if (sample.size > 65536 || sample.size > rst->gv->config.rmsg_chunk_size)
    return;
  sample.bytes = ddsrt_malloc (sample.size);
  memcpy (sample.bytes, &before, sizeof (before));
  memcpy (sample.bytes + sizeof (before), msg, size);
  ddsi_rtps_data_datafrag_common_t * const copy = (ddsi_rtps_data_datafrag_common_t *) (sample.bytes + sizeof (before));
  copy->smhdr.octetsToNextHeader = 0; /* to the end */
  copy->readerId = ddsi_hton_entityid (msg->readerId);
  copy->writerId = ddsi_hton_entityid (msg->writerId);
  feros_early_keep (rst->gv->early, &sample);
}

/* Handles samples that arrived before their writer was known, as if they arrived now. */
static void take_early (struct ddsi_thread_state * const thrst, struct ddsi_domaingv *gv, struct ddsi_rbufpool *rbpool)
{
  struct feros_early_sample sample;
  while (feros_early_take (gv->early, &sample))
  {
    ddsi_thread_state_awake_fixed_domain (thrst);
    struct ddsi_proxy_writer * const pwr = ddsi_entidx_lookup_proxy_writer_guid (gv->entity_index, &sample.writer);
    bool is_wanted = false;
    if (pwr != NULL)
    {
      ddsrt_mutex_lock (&pwr->e.lock);
      is_wanted = pwr->n_reliable_readers == 0 && !ddsrt_avl_is_empty (&pwr->readers);
      ddsrt_mutex_unlock (&pwr->e.lock);
    }
    ddsi_thread_state_asleep (thrst);
    struct ddsi_rmsg * const rmsg = is_wanted ? ddsi_rmsg_new (rbpool) : NULL;
    if (rmsg != NULL)
    {
      memcpy (DDSI_RMSG_PAYLOAD (rmsg), sample.bytes, sample.size);
      ddsi_rmsg_setsize (rmsg, (uint32_t) sample.size);
      ddsi_handle_rtps_message (thrst, gv, gv->data_conn_uc, NULL, rbpool, rmsg, sample.size, &sample.pktinfo);
      ddsi_rmsg_commit (rmsg);
    }
    ddsrt_free (sample.bytes);
  }
}

static void handle_regular (struct ddsi_receiver_state *rst, ",
    },
    Edit {
        file: RECEIVE,
        anchor: "    RSTTRACE (\" \"PGUIDFMT\"? -> \"PGUIDFMT, PGUID (src), PGUID (dst));\n    return;\n  }\n\n  /* Proxy participant's",
        times: 1,
        replacement: r#"    RSTTRACE (" "PGUIDFMT"? -> "PGUIDFMT, PGUID (src), PGUID (dst));
    keep_early (rst, rmsg, msg, sampleinfo, rdata);
    /* the writer may have become known meanwhile */
    if ((pwr = ddsi_entidx_lookup_proxy_writer_guid (rst->gv->entity_index, &src)) != NULL)
    {
      ddsrt_mutex_lock (&pwr->e.lock);
      if (!pwr->local_matching_inprogress)
        (void) feros_early_know (rst->gv->early, &src);
      ddsrt_mutex_unlock (&pwr->e.lock);
    }
    return;
  }

  /* Proxy participant's"#,
    },
    Edit {
        file: RECEIVE,
        anchor: "  if (ddsrt_avl_is_empty (&pwr->readers) || pwr->local_matching_inprogress)\n  {\n    ddsrt_mutex_unlock (&pwr->e.lock);\n    RSTTRACE (\" \"PGUIDFMT\" -> \"PGUIDFMT\": no readers\", PGUID (pwr->e.guid), PGUID (dst));\n    return;\n  }\n\n  /* Track",
        times: 1,
        replacement: "  if (ddsrt_avl_is_empty (&pwr->readers) || pwr->local_matching_inprogress)\n  {\n\
            \x20   if (pwr->local_matching_inprogress)\n      keep_early (rst, rmsg, msg, sampleinfo, rdata);\n\
            \x20   ddsrt_mutex_unlock (&pwr->e.lock);\n    RSTTRACE (\" \"PGUIDFMT\" -> \"PGUIDFMT\": no readers\", PGUID (pwr->e.guid), PGUID (dst));\n    return;\n  }\n\n  /* Track",
    },
    Edit {
        file: RECEIVE,
        anchor: "  struct ddsi_rmsg * const rmsg = ddsi_rmsg_new (rbpool);\n  if (rmsg == NULL)\n    return false;\n",
        times: 1,
        replacement: "  take_early (thrst, gv, rbpool);\n  struct ddsi_rmsg * const rmsg = ddsi_rmsg_new (rbpool);\n  if (rmsg == NULL)\n    return false;\n",
    },
    Edit {
        file: RECEIVE,
        anchor: "      if ((ctx = ddsi_sock_waitset_wait (waitset)) != NULL)\n      {\n",
        times: 1,
        replacement: "      ctx = ddsi_sock_waitset_wait (waitset);\n      take_early (thrst, gv, rbpool);\n      if (ctx != NULL)\n      {\n",
    },
];
