//! The part of the patch that adapts best-effort writers to a full link.
//!
//! A best-effort writer gets no feedback from its readers. So a full link drops a few fragments of
//! each large sample, and almost no sample arrives complete. While samples arrive only in part or
//! not at all, a Feros reader uses a submessage of Feros to report to a Feros writer on another
//! host how much has arrived. The writer then omits whole samples. Readers count them as lost
//! because their numbers are missing. `engine/feros_rate_control.c`, which is independent of the
//! engine, decides how much is omitted.
//!
//! Stock nodes neither send nor receive reports. The writer omits nothing while it has a reader on
//! this host, a reader on another host that gets all samples, or a reliable reader.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/CMakeLists.txt",
        anchor: "  ddsi_acknack.c\n",
        times: 1,
        replacement: "  ddsi_acknack.c\n  feros_rate_control.c\n",
    },
    // The counters of a reader.
    Edit {
        file: "src/core/ddsi/include/dds/ddsi/ddsi_proxy_endpoint.h",
        anchor: "  struct feros_requests *requests; /* Feros: for its fragments; NULL before the first */\n",
        times: 1,
        replacement: "  struct feros_requests *requests; /* Feros: for its fragments; NULL before the first */\n  struct feros_tally *tally; /* Feros: of its large samples; NULL before the first */\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_proxy_endpoint.c",
        anchor: "  pwr->requests = NULL;\n",
        times: 1,
        replacement: "  pwr->requests = NULL;\n  pwr->tally = NULL;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_proxy_endpoint.c",
        anchor: "  ddsi_reorder_free (pwr->reorder);\n",
        times: 1,
        replacement: "  ddsi_reorder_free (pwr->reorder);\n  ddsrt_free (pwr->tally);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "#include \"feros_requests.h\"\n",
        times: 1,
        replacement: "#include \"feros_requests.h\"\n#include \"feros_rate_control.h\"\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "static void clean_defrag (struct ddsi_proxy_writer *pwr)\n",
        times: 1,
        replacement: r#"/* Feros: a best-effort reader's report to the writer of its large samples. The number is one of
   the vendor-specific numbers. */
#define FEROS_SMID_REPORT 0xfe
struct report_submessage {
  ddsi_rtps_submessage_header_t smhdr;
  ddsi_entityid_t readerId;
  ddsi_entityid_t writerId;
  ddsi_sequence_number_t first_seq;
  uint32_t micros, bytes, expected, whole, broken;
};

/* Feros: whether the USER_DATA of the writer is that of a Feros writer. */
static bool is_feros (struct ddsi_proxy_writer *pwr)
{
  static const char word[] = { 'f', 'e', 'r', 'o', 's', '=' };
  bool found = false;
  ddsrt_mutex_lock (&pwr->e.qos_lock);
  if (pwr->c.xqos->present & DDSI_QP_USER_DATA)
  {
    const ddsi_octetseq_t * const data = &pwr->c.xqos->user_data;
    for (size_t i = 0; !found && i + sizeof (word) <= data->length; i++)
      found = memcmp (data->value + i, word, sizeof (word)) == 0;
  }
  ddsrt_mutex_unlock (&pwr->e.qos_lock);
  return found;
}

/* Feros: each reader is a match of its own to the writer, so each one reports. */
static void send_report (struct ddsi_proxy_writer *pwr, const struct feros_report *report)
{
  struct ddsi_domaingv * const gv = pwr->e.gv;
  if (!ddsi_vendor_is_eclipse (pwr->c.vendor) || ddsi_locator_is_here (gv, &pwr->c.loc_uc.c) || !is_feros (pwr))
    return;
  for (const struct ddsi_pwr_rd_match *m = ddsrt_avl_find_min (&ddsi_pwr_readers_treedef, &pwr->readers); m != NULL; m = ddsrt_avl_find_succ (&ddsi_pwr_readers_treedef, &pwr->readers, m))
  {
    struct ddsi_xmsg_marker marker;
    struct report_submessage *sm;
    struct ddsi_xmsg * const msg = ddsi_xmsg_new (gv->xmsgpool, &m->rd_guid, NULL, sizeof (*sm), DDSI_XMSG_KIND_CONTROL);
    if (msg == NULL)
      return;
    ddsi_xmsg_setdst_pwr (msg, pwr);
    sm = ddsi_xmsg_append (msg, &marker, sizeof (*sm));
    ddsi_xmsg_submsg_init (msg, marker, (ddsi_rtps_submessage_kind_t) FEROS_SMID_REPORT);
    sm->readerId = ddsi_hton_entityid (m->rd_guid.entityid);
    sm->writerId = ddsi_hton_entityid (pwr->e.guid.entityid);
    sm->first_seq = ddsi_to_seqno (report->first_seq);
    sm->micros = report->micros;
    sm->bytes = report->bytes;
    sm->expected = report->expected;
    sm->whole = report->whole;
    sm->broken = report->broken;
    ddsi_xmsg_submsg_setnext (msg, marker);
    ddsi_qxev_msg (pwr->evq, msg);
  }
}

/* Feros: reliable readers ask for lost fragments, so nothing is counted for them. */
static void count_fragment (struct ddsi_proxy_writer *pwr, const struct ddsi_rsample_info *sampleinfo, const struct ddsi_rdata *rdata, ddsrt_etime_t tnow)
{
  struct feros_report report;
  if (pwr->n_reliable_readers > 0)
    return;
  if (sampleinfo->fragsize == 0)
  {
    if (pwr->tally != NULL)
      feros_tally_small (pwr->tally, sampleinfo->seq);
    return;
  }
  if (pwr->tally == NULL)
    pwr->tally = ddsrt_calloc (1, sizeof (*pwr->tally));
  if (feros_tally_fragment (pwr->tally, tnow.v, sampleinfo->seq, sampleinfo->size, rdata->maxp1 - rdata->min, &report))
    send_report (pwr, &report);
}

static void clean_defrag (struct ddsi_proxy_writer *pwr)
"#,
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "  if ((rsample = ddsi_defrag_rsample (pwr->defrag, rdata, sampleinfo)) != NULL)\n  {\n",
        times: 1,
        replacement: r"  count_fragment (pwr, sampleinfo, rdata, tnow);
  if ((rsample = ddsi_defrag_rsample (pwr->defrag, rdata, sampleinfo)) != NULL)
  {
    if (sampleinfo->fragsize > 0 && pwr->tally != NULL)
      feros_tally_whole (pwr->tally, sampleinfo->seq);
",
    },
    // The reports that a writer receives.
    Edit {
        file: "src/core/ddsi/src/ddsi__endpoint_match.h",
        anchor: "  uint32_t rexmit_requests;\n",
        times: 1,
        replacement: "  uint32_t rexmit_requests;\n  struct feros_rate *rate; /* Feros: of a best-effort reader that reported; else NULL */\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint_match.c",
        anchor: "  m->rexmit_requests = 0;\n",
        times: 1,
        replacement: "  m->rexmit_requests = 0;\n  m->rate = NULL;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint_match.c",
        anchor: "    ddsi_lat_estim_fini (&m->hb_to_ack_latency);\n    ddsrt_free (m);\n  }\n}\n",
        times: 1,
        replacement: "    ddsi_lat_estim_fini (&m->hb_to_ack_latency);\n    ddsrt_free (m->rate);\n    ddsrt_free (m);\n  }\n}\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "static int handle_submsg_sequence\n(\n",
        times: 1,
        replacement: r"/* Feros: see feros_rate_control.h, which bounds what a report may do. */
static void handle_report (struct ddsi_receiver_state *rst, ddsrt_etime_t tnow, const void *submsg, size_t size, bool byteswap)
{
  struct report_submessage sm;
  struct ddsi_writer *wr;
  struct ddsi_wr_prd_match *m;
  if (!rst->forme || !ddsi_vendor_is_eclipse (rst->vendor) || size < sizeof (sm))
    return;
  memcpy (&sm, submsg, sizeof (sm));
  if (byteswap)
  {
    ddsi_bswap_sequence_number (&sm.first_seq);
    uint32_t * const numbers[] = { &sm.micros, &sm.bytes, &sm.expected, &sm.whole, &sm.broken };
    for (size_t i = 0; i < sizeof (numbers) / sizeof (numbers[0]); i++)
      *numbers[i] = ddsrt_bswap4u (*numbers[i]);
  }
  const ddsi_guid_t src = { .prefix = rst->src_guid_prefix, .entityid = ddsi_ntoh_entityid (sm.readerId) };
  const ddsi_guid_t dst = { .prefix = rst->dst_guid_prefix, .entityid = ddsi_ntoh_entityid (sm.writerId) };
  if ((wr = ddsi_entidx_lookup_writer_guid (rst->gv->entity_index, &dst)) == NULL)
    return;
  ddsrt_mutex_lock (&wr->e.lock);
  m = ddsrt_avl_lookup (&ddsi_wr_readers_treedef, &wr->readers, &src);
  if (m != NULL && m->is_far && !m->is_reliable)
  {
    const struct feros_report report = {
      .first_seq = ddsi_from_seqno (sm.first_seq), .micros = sm.micros, .bytes = sm.bytes,
      .expected = sm.expected, .whole = sm.whole, .broken = sm.broken };
    if (m->rate == NULL)
      m->rate = ddsrt_calloc (1, sizeof (*m->rate));
    feros_rate_hear (m->rate, &report, wr->seq, tnow.v);
  }
  ddsrt_mutex_unlock (&wr->e.lock);
}

static int handle_submsg_sequence
(
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "      case DDSI_RTPS_SMID_PAD:\n      case DDSI_RTPS_SMID_INFO_REPLY:\n",
        times: 1,
        replacement: r"      case FEROS_SMID_REPORT: {
        handle_report (rst, tnowE, submsg, submsg_size, byteswap);
        ts_for_latmeas = 0;
        break;
      }
      case DDSI_RTPS_SMID_PAD:
      case DDSI_RTPS_SMID_INFO_REPLY:
",
    },
    // The samples that a writer omits.
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "#include \"ddsi__vendor.h\"\n",
        times: 1,
        replacement: "#include \"ddsi__vendor.h\"\n#include \"feros_rate_control.h\"\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "static void transmit_sample_lgmsg_unlocks_wr (struct ddsi_xpack *xp,",
        times: 1,
        replacement: r"/* Feros: whether no link to another host has room for a sample of `size` bytes now. A link with room
   decides for all, since all get the same packets. */
static bool links_are_full (struct ddsi_writer *wr, uint32_t size)
{
  const ddsrt_etime_t tnow = ddsrt_time_elapsed ();
  bool is_limited = false, has_room = false;
  ddsrt_avl_iter_t it;
  for (const struct ddsi_wr_prd_match *m = ddsrt_avl_iter_first (&ddsi_wr_readers_treedef, &wr->readers, &it); m != NULL; m = ddsrt_avl_iter_next (&it))
  {
    if (!m->is_far)
      continue;
    if (m->is_reliable || m->rate == NULL)
      return false;
    switch (feros_rate_ask (m->rate, size, tnow.v))
    {
      case FEROS_RATE_KEEPS_UP: return false;
      case FEROS_RATE_NO_HELP: break;
      case FEROS_RATE_SEND: is_limited = has_room = true; break;
      case FEROS_RATE_LEAVE_OUT: is_limited = true; break;
    }
  }
  if (is_limited && !has_room)
    return true;
  for (const struct ddsi_wr_prd_match *m = ddsrt_avl_iter_first (&ddsi_wr_readers_treedef, &wr->readers, &it); m != NULL; m = ddsrt_avl_iter_next (&it))
  {
    if (m->is_far)
      feros_rate_sent (m->rate, size, tnow.v);
  }
  return false;
}

static void transmit_sample_lgmsg_unlocks_wr (struct ddsi_xpack *xp,",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: r"  if (here == NULL)
    transmit_fragments_unlocks_wr (xp, wr, as, false, true, seq, serdata, prd, isnew, nfrags, nfrags_lim);
  else
  {
    transmit_fragments_unlocks_wr (xp, wr, here, true, far == NULL, seq, serdata, NULL, isnew, nfrags, nfrags_lim);
    if (far != NULL)
",
        times: 1,
        replacement: r"  const bool left_out = isnew && prd == NULL && links_are_full (wr, ddsi_serdata_size (serdata));
  if (here == NULL && left_out)
    ddsi_writer_update_seq_xmit (wr, seq);
  else if (here == NULL)
    transmit_fragments_unlocks_wr (xp, wr, as, false, true, seq, serdata, prd, isnew, nfrags, nfrags_lim);
  else
  {
    transmit_fragments_unlocks_wr (xp, wr, here, true, far == NULL || left_out, seq, serdata, NULL, isnew, nfrags, nfrags_lim);
    if (far != NULL && !left_out)
",
    },
];
