//! The part of the patch that lets a reader request samples again only when an answer could already
//! have arrived.
//!
//! A reader requests missing samples. It requests them again after a configured time, or when the
//! writer sends a heartbeat after an answer. If packets wait in the queue of a full link, or if
//! their way is long, an answer takes longer than that. Readers then requested the same samples up
//! to twenty times, and the link was full of repetitions. With the patch,
//! `engine/feros_requests.c`, which is independent of the engine, decides when the reader requests
//! samples again.
//!
//! Samples with only one fragment are requested as often as before. They are small, and on a link
//! with high loss, frequent requests make them arrive sooner.
//!
//! A reader requested the fragments of incomplete samples for one sample at a time, with a round
//! trip for each sample. With the patch, it requests the fragments of several samples together.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/CMakeLists.txt",
        anchor: "  ddsi_acknack.c\n",
        times: 1,
        replacement: "  ddsi_acknack.c\n  feros_requests.c\n",
    },
    Edit {
        file: "src/core/ddsi/include/dds/ddsi/ddsi_proxy_endpoint.h",
        anchor: "  ddsi_count_t nackfragcount; /* last nackfrag seq number */\n",
        times: 1,
        replacement: r"  ddsi_count_t nackfragcount; /* last nackfrag seq number */
  struct feros_requests *requests; /* Feros: for its fragments; NULL before the first */
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_proxy_endpoint.c",
        anchor: "  pwr->nackfragcount = 1;\n",
        times: 1,
        replacement: "  pwr->nackfragcount = 1;\n  pwr->requests = NULL;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_proxy_endpoint.c",
        anchor: "  ddsi_reorder_free (pwr->reorder);\n",
        times: 1,
        replacement: "  ddsi_reorder_free (pwr->reorder);\n  ddsrt_free (pwr->requests);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "#include \"ddsi__xevent.h\"\n",
        times: 1,
        replacement: "#include \"ddsi__xevent.h\"\n#include \"dds/ddsrt/heap.h\"\n#include \"feros_requests.h\"\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "static enum ddsi_add_acknack_result get_acknack_info (",
        times: 1,
        replacement: r"/* Feros: notes that the fragments of `info` begin a request, or continue it. */
static void note_asked (struct ddsi_proxy_writer *pwr, const struct ddsi_add_acknack_info *info, bool begins)
{
  if (pwr->requests == NULL)
    pwr->requests = ddsrt_calloc (1, sizeof (*pwr->requests));
  feros_requests_asked (pwr->requests, info->nackfrag.seq, info->nackfrag.set.bitmap_base, info->nackfrag.set.numbits, begins, ddsi_reorder_next_seq (pwr->reorder), ddsrt_time_elapsed ().v);
}

/* Feros: the time from a request made now until it may have to be repeated. */
static dds_duration_t answer_time (const struct ddsi_proxy_writer *pwr, const struct ddsi_pwr_rd_match *rwn, dds_duration_t least)
{
  if (rwn->last_nack.frag_end_p1 == 0 || pwr->requests == NULL)
    return least;
  return feros_requests_answer_time (pwr->requests, least);
}

/* Feros: the time from the last request to the next. */
static dds_duration_t request_wait (const struct ddsi_proxy_writer *pwr, const struct ddsi_pwr_rd_match *rwn, dds_duration_t least)
{
  if (rwn->last_nack.frag_end_p1 == 0 || pwr->requests == NULL)
    return least;
  return feros_requests_wait (pwr->requests, ddsi_reorder_next_seq (pwr->reorder), ddsrt_time_elapsed ().v, least);
}

static enum ddsi_add_acknack_result get_acknack_info (",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "ddsrt_mtime_add_duration (rwn->t_last_nack, gv->config.nack_delay)",
        times: 3,
        replacement: "ddsrt_mtime_add_duration (rwn->t_last_nack, request_wait (pwr, rwn, gv->config.nack_delay))",
    },
    // Requests the fragments of several samples together.
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "static struct ddsi_xmsg *make_and_resched_acknack (",
        times: 1,
        replacement: r"/* Feros: the most samples whose fragments one message asks for. */
#define MAX_NACKFRAGS 16

/* Feros: asks for fragments of the samples after that of `info`, and notes the requests. */
static void add_further_NackFrags (struct ddsi_xmsg *msg, struct ddsi_proxy_writer *pwr, const struct ddsi_pwr_rd_match *rwn, struct ddsi_add_acknack_info *info, struct ddsi_last_nack_summary *nack_summary)
{
  if (rwn->in_sync == PRMSS_OUT_OF_SYNC || rwn->filtered)
    return;
  for (uint32_t n = 1; n < MAX_NACKFRAGS && info->nackfrag.seq < pwr->last_seq; n++)
  {
    info->nackfrag.seq++;
    const uint32_t fragnum = (info->nackfrag.seq == pwr->last_seq) ? pwr->last_fragnum : UINT32_MAX;
    if (ddsi_defrag_nackmap (pwr->defrag, info->nackfrag.seq, fragnum, &info->nackfrag.set, info->nackfrag.bits, DDSI_FRAGMENT_NUMBER_SET_MAX_BITS) != DDSI_DEFRAG_NACKMAP_FRAGMENTS_MISSING)
      continue;
    pwr->nackfragcount++;
    add_NackFrag (msg, pwr, rwn, info);
    note_asked (pwr, info, false);
    nack_summary->seq_end_p1 = info->nackfrag.seq;
    nack_summary->frag_base = info->nackfrag.set.bitmap_base;
    nack_summary->frag_end_p1 = info->nackfrag.set.bitmap_base + info->nackfrag.set.numbits;
  }
}

static struct ddsi_xmsg *make_and_resched_acknack (",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "    add_NackFrag (msg, pwr, rwn, &info);\n",
        times: 1,
        replacement: "    add_NackFrag (msg, pwr, rwn, &info);\n    note_asked (pwr, &info, true);\n    add_further_NackFrags (msg, pwr, rwn, &info, &nack_summary);\n",
    },
    // The writer sends a heartbeat after each answer, but it may have answered an older request.
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "      else if (rwn->directed_heartbeat && (!rwn->nack_sent_on_nackdelay || nackdelay_passed))\n",
        times: 1,
        replacement: "      else if (rwn->directed_heartbeat && (nackdelay_passed || (!rwn->nack_sent_on_nackdelay && rwn->last_nack.frag_end_p1 == 0)))\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "ddsrt_mtime_add_duration (tnow, pwr->e.gv->config.auto_resched_nack_delay)",
        times: 1,
        replacement: "ddsrt_mtime_add_duration (tnow, answer_time (pwr, rwn, pwr->e.gv->config.auto_resched_nack_delay))",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "ddsi_readers_have_room (pwr) ? pwr->e.gv->config.nack_delay : DDS_MSECS (10);\n",
        times: 1,
        replacement: "ddsi_readers_have_room (pwr) ? request_wait (pwr, rwn, pwr->e.gv->config.nack_delay) : DDS_MSECS (10);\n",
    },
    // Notes fragments that arrive, and the end of an answer.
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "#include \"ddsi__sockwaitset.h\"\n",
        times: 1,
        replacement: "#include \"ddsi__sockwaitset.h\"\n#include \"feros_requests.h\"\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "static void clean_defrag (struct ddsi_proxy_writer *pwr)\n",
        times: 1,
        replacement: r"/* Feros: the end of an answer is the time to ask for fragments that are still missing. */
static void note_answer (struct ddsi_proxy_writer *pwr, const struct ddsi_rsample_info *sampleinfo, const struct ddsi_rdata *rdata, ddsrt_etime_t tnow)
{
  if (pwr->requests == NULL || sampleinfo->fragsize == 0 || rdata->maxp1 == rdata->min)
    return;
  const uint32_t first = rdata->min / sampleinfo->fragsize, last = (rdata->maxp1 - 1) / sampleinfo->fragsize;
  if (!feros_requests_answer (pwr->requests, sampleinfo->seq, first, last, tnow.v))
    return;
  const ddsrt_mtime_t tmono = ddsrt_time_monotonic ();
  for (const struct ddsi_pwr_rd_match *m = ddsrt_avl_find_min (&ddsi_pwr_readers_treedef, &pwr->readers); m != NULL; m = ddsrt_avl_find_succ (&ddsi_pwr_readers_treedef, &pwr->readers, m))
  {
    if (m->acknack_xevent)
      (void) ddsi_resched_xevent_if_earlier (m->acknack_xevent, tmono);
  }
}

static void clean_defrag (struct ddsi_proxy_writer *pwr)
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "  /* Feros: handled as lost on the way, so the sample is not acknowledged, blocks no reader, and comes again. */\n",
        times: 1,
        replacement: r"  note_answer (pwr, sampleinfo, rdata, tnow);

  /* Feros: handled as lost on the way, so the sample is not acknowledged, blocks no reader, and comes again. */
",
    },
];
