//! The part of the change that lets a reader ask again only when an answer could be there.
//!
//! A reader asks for what it lacks, and again a configured time later, or when the writer tells of
//! itself after an answer. Where packets wait in a full link's queue, or travel far, an answer
//! takes longer than that: the reader asked for the same up to twenty times, and the link was full
//! of repetitions. A reader now measures how long answers take, and waits at least so long. The
//! least of the last times counts, because a lost request or answer makes others longer, and only
//! what is asked for the first time is measured, because else an answer may be one to an older
//! request.
//!
//! Samples of one fragment are asked for as often as before: they are small, and where much is
//! lost, asking often is what brings them.
//!
//! A reader asked for the fragments of one incomplete sample after the other, each a round trip. It
//! asks for those of several at once now.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/include/dds/ddsi/ddsi_proxy_endpoint.h",
        anchor: "  ddsi_count_t nackfragcount; /* last nackfrag seq number */\n",
        times: 1,
        replacement: r"  ddsi_count_t nackfragcount; /* last nackfrag seq number */
  /* Feros: the sample that an answer is awaited for (0: none), and fragments of it; since when; how
     long the last answers took (0: not known yet). */
  ddsi_seqno_t asked_seq;
  uint32_t asked_frag_base, asked_frag_end_p1;
  ddsi_seqno_t most_asked_seq; /* what was asked for goes so far */
  uint32_t most_asked_frag_end_p1;
  ddsrt_etime_t t_asked;
  dds_duration_t answer_times[4];
  uint32_t n_answers;
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_proxy_endpoint.c",
        anchor: "  pwr->nackfragcount = 1;\n",
        times: 1,
        replacement: r"  pwr->nackfragcount = 1;
  pwr->asked_seq = 0;
  pwr->asked_frag_base = pwr->asked_frag_end_p1 = 0;
  pwr->most_asked_seq = 0;
  pwr->most_asked_frag_end_p1 = 0;
  pwr->t_asked.v = 0;
  memset (pwr->answer_times, 0, sizeof (pwr->answer_times));
  pwr->n_answers = 0;
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi__acknack.h",
        anchor: "struct ddsi_acknack_xevent_cb_arg {\n",
        times: 1,
        replacement: r"/* Feros: a fragment arrived; to be called with the lock of the proxy writer. */
void ddsi_note_answer (struct ddsi_proxy_writer *pwr, ddsi_seqno_t seq, uint32_t first_fragnum, uint32_t last_fragnum, ddsrt_etime_t tnow);

struct ddsi_acknack_xevent_cb_arg {
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "static enum ddsi_add_acknack_result get_acknack_info (",
        times: 1,
        replacement: r"/* Feros: the longest that a reader waits for an answer, however long others took. */
#define MAX_ANSWER_TIME DDS_MSECS (500)
/* Feros: a fragment that has not come after this time comes no more. */
#define MAX_ASKED_TIME DDS_SECS (2)

/* Feros: none comes for what has been received, or given up by the writer. */
static bool answer_is_awaited (const struct ddsi_proxy_writer *pwr, ddsrt_etime_t tnow)
{
  return pwr->asked_seq >= ddsi_reorder_next_seq (pwr->reorder) && tnow.v - pwr->t_asked.v < MAX_ASKED_TIME;
}

/* Feros: what is asked for the first time has no older request that could be answered. */
static void note_asked (struct ddsi_proxy_writer *pwr, const struct ddsi_last_nack_summary *nack)
{
  const ddsrt_etime_t tnow = ddsrt_time_elapsed ();
  const ddsi_seqno_t seq = nack->seq_end_p1;
  uint32_t base = nack->frag_base;
  if (seq < pwr->most_asked_seq)
    return;
  if (seq == pwr->most_asked_seq && base < pwr->most_asked_frag_end_p1)
    base = pwr->most_asked_frag_end_p1;
  if (base >= nack->frag_end_p1)
    return;
  pwr->most_asked_seq = seq;
  pwr->most_asked_frag_end_p1 = nack->frag_end_p1;
  if (answer_is_awaited (pwr, tnow))
    return;
  pwr->asked_seq = seq;
  pwr->asked_frag_base = base;
  pwr->asked_frag_end_p1 = nack->frag_end_p1;
  pwr->t_asked = tnow;
}

void ddsi_note_answer (struct ddsi_proxy_writer *pwr, ddsi_seqno_t seq, uint32_t first_fragnum, uint32_t last_fragnum, ddsrt_etime_t tnow)
{
  if (seq != pwr->asked_seq || last_fragnum < pwr->asked_frag_base || first_fragnum >= pwr->asked_frag_end_p1)
    return;
  const dds_duration_t took = tnow.v - pwr->t_asked.v;
  pwr->answer_times[pwr->n_answers++ % (sizeof (pwr->answer_times) / sizeof (pwr->answer_times[0]))] = took > 0 ? took : 1;
  pwr->asked_seq = 0;
}

/* Feros: `least`, or how long an answer takes; longer, the longer one is awaited. */
static dds_duration_t answer_time (const struct ddsi_proxy_writer *pwr, const struct ddsi_pwr_rd_match *rwn, dds_duration_t least)
{
  if (rwn->last_nack.frag_end_p1 == 0)
    return least;
  dds_duration_t known = pwr->n_answers == 0 ? 0 : MAX_ANSWER_TIME;
  for (size_t i = 0; i < sizeof (pwr->answer_times) / sizeof (pwr->answer_times[0]); i++)
  {
    if (pwr->answer_times[i] != 0 && pwr->answer_times[i] < known)
      known = pwr->answer_times[i];
  }
  dds_duration_t time = known;
  const ddsrt_etime_t tnow = ddsrt_time_elapsed ();
  if (answer_is_awaited (pwr, tnow))
  {
    const dds_duration_t awaited = (tnow.v - pwr->t_asked.v) / 2;
    const dds_duration_t most = known == 0 || known > MAX_ANSWER_TIME / 4 ? MAX_ANSWER_TIME : 4 * known;
    if (awaited > time)
      time = awaited > most ? most : awaited;
  }
  return time < least ? least : time;
}

static enum ddsi_add_acknack_result get_acknack_info (",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "ddsrt_mtime_add_duration (rwn->t_last_nack, gv->config.nack_delay)",
        times: 3,
        replacement: "ddsrt_mtime_add_duration (rwn->t_last_nack, answer_time (pwr, rwn, gv->config.nack_delay))",
    },
    // Fragments of several samples are asked for at once.
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "static struct ddsi_xmsg *make_and_resched_acknack (",
        times: 1,
        replacement: r"/* Feros: the most samples that fragments are asked of in one message. */
#define MAX_NACKFRAGS 16

/* Feros: asks for fragments of the samples behind the one that `info` asks for, and notes which. */
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
        replacement: "    add_NackFrag (msg, pwr, rwn, &info);\n    add_further_NackFrags (msg, pwr, rwn, &info, &nack_summary);\n",
    },
    // The writer tells of itself after each answer, which may be one to an older request.
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
        replacement: "ddsi_readers_have_room (pwr) ? answer_time (pwr, rwn, pwr->e.gv->config.nack_delay) : DDS_MSECS (10);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "      rwn->last_nack = nack_summary;\n      rwn->t_last_nack = tnow;\n",
        times: 1,
        replacement: "      rwn->last_nack = nack_summary;\n      rwn->t_last_nack = tnow;\n      if (nack_summary.frag_end_p1 != 0)\n        note_asked (pwr, &nack_summary);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "  /* Feros: as if lost on the way, so it is neither acknowledged nor in anybody's way, and comes again. */\n",
        times: 1,
        replacement: r"  if (sampleinfo->fragsize > 0)
    ddsi_note_answer (pwr, sampleinfo->seq, rdata->min / sampleinfo->fragsize, (rdata->maxp1 - (rdata->maxp1 > rdata->min)) / sampleinfo->fragsize, tnow);

  /* Feros: as if lost on the way, so it is neither acknowledged nor in anybody's way, and comes again. */
",
    },
];
