//! The part of the patch that slows down a publisher of large messages to the rate of a link.
//!
//! A writer that keeps only the last messages sends each new message immediately. A full link drops
//! a part of each message, so no message is complete before the history drops it. Therefore, while
//! fragments are being repeated, a write of a sample with several fragments waits until a reader on
//! another host has received more than half of the history. A write does not wait for a silent
//! reader, and never waits for more than a second. It also does not wait while another remote
//! reader receives everything in time, or while there is a reader on this host. So a remote viewer
//! does not slow down a robot.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/src/ddsi__endpoint_match.h",
        anchor: "  unsigned is_reliable: 1; /* true iff reliable proxy reader */\n",
        times: 1,
        replacement: "  unsigned is_reliable: 1; /* true iff reliable proxy reader */\n  unsigned is_far: 1; /* Feros: true iff the proxy reader is on another host */\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint_match.c",
        anchor: "  m->via_psmx = connected_via_psmx (&wr->e, &prd->e);\n  m->has_replied_to_hb",
        times: 1,
        replacement: "  m->is_far = !ddsi_prd_is_here (prd);\n  m->via_psmx = connected_via_psmx (&wr->e, &prd->e);\n  m->has_replied_to_hb",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint_match.c",
        anchor: "#include \"ddsi__xevent.h\"\n",
        times: 1,
        replacement: "#include \"ddsi__xevent.h\"\n#include \"ddsi__transmit.h\"\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "static int maybe_grow_whc (struct ddsi_writer *wr)\n",
        times: 1,
        replacement: r"/* Feros: no write waits for a reader that was silent for this long. */
#define PACING_SILENCE DDS_MSECS (500)
/* Feros: the longest wait of one write, whatever readers say. */
#define MAX_PACING DDS_SECS (1)

/* Feros: whether all readers are on other hosts, and each that still answers lacks `lag` samples or more. */
static bool far_readers_lag (const struct ddsi_writer *wr, ddsi_seqno_t lag)
{
  const ddsrt_etime_t tnow = ddsrt_time_elapsed ();
  bool result = false;
  if (!ddsrt_avl_is_empty (&wr->local_readers))
    return false;
  for (const struct ddsi_wr_prd_match *m = ddsrt_avl_find_min (&ddsi_wr_readers_treedef, &wr->readers); m != NULL; m = ddsrt_avl_find_succ (&ddsi_wr_readers_treedef, &wr->readers, m))
  {
    if (!m->is_far)
      return false;
    if (!m->is_reliable || m->seq == DDSI_MAX_SEQ_NUMBER)
      continue;
    const int64_t heard = m->t_acknack_accepted.v > m->t_nackfrag_accepted.v ? m->t_acknack_accepted.v : m->t_nackfrag_accepted.v;
    if (tnow.v - heard > PACING_SILENCE)
      continue;
    if (wr->seq - m->seq < lag)
      return false;
    result = true;
  }
  return result;
}

/* Feros: waits for readers that lack half of the history; like throttle_writer, releases the lock. */
static void wait_for_far_readers (struct ddsi_thread_state * const thrst, struct ddsi_writer *wr)
{
  const ddsi_seqno_t lag = wr->xqos->history.depth < 4 ? 1 : (ddsi_seqno_t) wr->xqos->history.depth / 2;
  if (!wr->retransmitting || !far_readers_lag (wr, lag))
    return;
  const ddsrt_mtime_t tstart = ddsrt_time_monotonic ();
  const ddsrt_mtime_t abstimeout = ddsrt_mtime_add_duration (tstart, MAX_PACING);
  wr->throttling++;
  wr->throttle_count++;
  do {
    const ddsrt_mtime_t tlook = ddsrt_mtime_add_duration (ddsrt_time_monotonic (), PACING_SILENCE / 5);
    ddsi_thread_state_asleep (thrst);
    (void) ddsrt_cond_mtime_waituntil (&wr->throttle_cond, &wr->e.lock, tlook.v < abstimeout.v ? tlook : abstimeout);
    ddsi_thread_state_awake_domain_ok (thrst);
  } while (ddsrt_atomic_ld32 (&wr->e.gv->rtps_keepgoing) && wr->state == WRST_OPERATIONAL && wr->retransmitting && far_readers_lag (wr, lag) && ddsrt_time_monotonic ().v < abstimeout.v);
  wr->throttling--;
  wr->time_throttled += (uint64_t) (ddsrt_time_monotonic ().v - tstart.v);
  if (wr->state != WRST_OPERATIONAL)
    ddsrt_cond_mtime_broadcast (&wr->throttle_cond); /* gc_delete_writer may be waiting */
}

static int maybe_grow_whc (struct ddsi_writer *wr)
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "  /* If WHC overfull, block. */\n  {\n",
        times: 1,
        replacement: r"  if (gc_allowed && wr->xqos->history.kind == DDS_HISTORY_KEEP_LAST && ddsi_serdata_size (serdata) > gv->config.fragment_size)
    wait_for_far_readers (thrst, wr);

  /* If WHC overfull, block. */
  {
",
    },
];
