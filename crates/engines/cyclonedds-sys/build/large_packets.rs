//! The part of the patch that makes packets to addresses of this host as large as loopback allows.
//! Packets that leave the host keep the configured sizes.
//!
//! Fragments have the same size for all readers (`FragmentSize`), but a DATA_FRAG submessage may
//! contain several fragments (`fragmentsInSubmessage`), and the engine can read such submessages. A
//! writer stores the addresses of its readers on this host (`as_here`) separately from the
//! addresses of its other readers (`as_far`). It sends a large sample to both groups, and in each
//! case puts as many fragments into a packet as the addresses allow. A repetition is sent to one
//! reader, so the address of that reader decides.
//!
//! Large samples are sent to each reader of this host separately, and never by multicast, because a
//! multicast would also leave the host. For a megabyte, this means seventeen packets to each
//! reader, and not 700 packets to all readers together.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
    // The size of a packet.
    Edit {
        file: "src/core/ddsi/src/ddsi__xmsg.h",
        anchor: r"void ddsi_xmsg_setdst_addrset (struct ddsi_xmsg *msg, struct ddsi_addrset *as)
  ddsrt_nonnull_all;
",
        times: 1,
        replacement: r"void ddsi_xmsg_setdst_addrset (struct ddsi_xmsg *msg, struct ddsi_addrset *as)
  ddsrt_nonnull_all;

/* Feros: bytes of a packet that stays on this host; UDP over loopback carries 65507. */
#define DDSI_MAX_MSG_SIZE_HERE 65500u

/* Feros: `msg` goes to addresses of this host alone. */
void ddsi_xmsg_set_here (struct ddsi_xmsg *msg)
  ddsrt_nonnull_all;

struct ddsi_domaingv;
/* Feros: whether an address is one of this host; where only loopback is used, all are. */
bool ddsi_locator_is_here (const struct ddsi_domaingv *gv, const ddsi_locator_t *loc)
  ddsrt_nonnull_all;
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_xmsg.c",
        anchor: "  enum ddsi_xmsg_dstmode dstmode;\n",
        times: 2,
        replacement: "  enum ddsi_xmsg_dstmode dstmode;\n  bool here; /* Feros: to addresses of this host alone */\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_xmsg.c",
        anchor: "  m->dstmode = NN_XMSG_DST_UNSET;\n",
        times: 1,
        replacement: "  m->dstmode = NN_XMSG_DST_UNSET;\n  m->here = false;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_xmsg.c",
        anchor: "void ddsi_xmsg_setdst_addrset (struct ddsi_xmsg *m, struct ddsi_addrset *as)\n",
        times: 1,
        replacement: r"void ddsi_xmsg_set_here (struct ddsi_xmsg *m)
{
  m->here = true;
}

bool ddsi_locator_is_here (const struct ddsi_domaingv *gv, const ddsi_locator_t *loc)
{
  if (loc->kind != DDSI_LOCATOR_KIND_UDPv4)
    return false;
  if (loc->address[12] == 127)
    return true;
  bool reaches_others = false;
  for (int i = 0; i < gv->n_interfaces; i++)
  {
    if (gv->interfaces[i].loc.kind == loc->kind && memcmp (gv->interfaces[i].loc.address, loc->address, sizeof (loc->address)) == 0)
      return true;
    if (!gv->interfaces[i].loopback)
      reaches_others = true;
  }
  return !reaches_others;
}

void ddsi_xmsg_setdst_addrset (struct ddsi_xmsg *m, struct ddsi_addrset *as)
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_xmsg.c",
        anchor: "  switch (m->dstmode)\n  {\n    case NN_XMSG_DST_UNSET:\n      assert (0);\n      return 0;\n",
        times: 1,
        replacement: r#"  /* Feros: a message that stays here may have more fragments, and must go nowhere else. */
  if (m->here != madd->here || (m->here && memcmp (&m->data->dst.guid_prefix, &madd->data->dst.guid_prefix, sizeof (m->data->dst.guid_prefix)) != 0))
  {
    GVTRACE ("here)");
    return 0;
  }
  switch (m->dstmode)
  {
    case NN_XMSG_DST_UNSET:
      assert (0);
      return 0;
"#,
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_xmsg.c",
        anchor: "  xp->dstmode = NN_XMSG_DST_UNSET;\n",
        times: 1,
        replacement: "  xp->dstmode = NN_XMSG_DST_UNSET;\n  xp->here = false;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_xmsg.c",
        anchor: "static int ddsi_xpack_mayaddmsg (const struct ddsi_xpack *xp, const struct ddsi_xmsg *m, const uint32_t flags)\n",
        times: 1,
        replacement: r"/* Feros: messages of one packet have the same destination. */
static uint32_t max_size_with (const struct ddsi_xpack *xp, const struct ddsi_xmsg *m)
{
  const bool rexmit = xp->includes_rexmit || ddsi_xmsg_is_rexmit (m);
  const uint32_t size = rexmit ? xp->gv->config.max_rexmit_msg_size : xp->gv->config.max_msg_size;
  return ((xp->here || m->here) && size < DDSI_MAX_MSG_SIZE_HERE) ? DDSI_MAX_MSG_SIZE_HERE : size;
}

static int ddsi_xpack_mayaddmsg (const struct ddsi_xpack *xp, const struct ddsi_xmsg *m, const uint32_t flags)
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_xmsg.c",
        anchor: r"  const bool rexmit = xp->includes_rexmit || ddsi_xmsg_is_rexmit (m);
  const unsigned max_msg_size = rexmit ? xp->gv->config.max_rexmit_msg_size : xp->gv->config.max_msg_size;
",
        times: 1,
        replacement: "  const unsigned max_msg_size = max_size_with (xp, m);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_xmsg.c",
        anchor: r"  const bool rexmit = xp->includes_rexmit || ddsi_xmsg_is_rexmit (m);
  const uint32_t max_msg_size = rexmit ? xp->gv->config.max_rexmit_msg_size : xp->gv->config.max_msg_size;
",
        times: 1,
        replacement: "  const uint32_t max_msg_size = max_size_with (xp, m);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_xmsg.c",
        anchor: "    xp->call_flags = flags;\n    if (ddsi_xmsg_is_rexmit (m))\n",
        times: 1,
        replacement: "    xp->call_flags = flags;\n    if (m->here)\n      xp->here = true;\n    if (ddsi_xmsg_is_rexmit (m))\n",
    },
    // The addresses of a writer's readers, separately for this host and for other hosts.
    Edit {
        file: "src/core/ddsi/include/dds/ddsi/ddsi_endpoint.h",
        anchor: "  struct ddsi_addrset *as; /* set of addresses to publish to */\n",
        times: 1,
        replacement: r"  struct ddsi_addrset *as; /* set of addresses to publish to */
  /* Feros: addresses of the readers on this host, and of the others; NULL where no reader is
     here, or where all packets may be as large as those that stay here. */
  struct ddsi_addrset *as_here, *as_far;
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint.c",
        anchor: "#include \"ddsi__xqos.h\"\n",
        times: 1,
        replacement: "#include \"ddsi__xqos.h\"\n#include \"ddsi__xmsg.h\"\n#include \"ddsi__transmit.h\"\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint.c",
        anchor: "  wr->as = ddsi_new_addrset ();\n",
        times: 1,
        replacement: "  wr->as = ddsi_new_addrset ();\n  wr->as_here = wr->as_far = NULL;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint.c",
        anchor: "  ddsi_unref_addrset (wr->as); /* must remain until readers gone (rebuilding of addrset) */\n",
        times: 1,
        replacement: r"  ddsi_unref_addrset (wr->as); /* must remain until readers gone (rebuilding of addrset) */
  ddsi_unref_addrset (wr->as_here);
  ddsi_unref_addrset (wr->as_far);
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint.c",
        anchor: "void ddsi_rebuild_writer_addrset (struct ddsi_writer *wr)\n",
        times: 1,
        replacement: r"/* Feros: see `as_here`. Each reader of this host by its own address: a multicast address is no address of
   this host, and its packets leave it. */
static void split_writer_addrset (struct ddsi_writer *wr)
{
  ddsrt_avl_iter_t it;
  ddsi_unref_addrset (wr->as_here);
  ddsi_unref_addrset (wr->as_far);
  wr->as_here = wr->as_far = NULL;
  if (wr->e.gv->config.max_msg_size >= DDSI_MAX_MSG_SIZE_HERE)
    return;
  for (const struct ddsi_wr_prd_match *m = ddsrt_avl_iter_first (&ddsi_wr_readers_treedef, &wr->readers, &it); m != NULL; m = ddsrt_avl_iter_next (&it))
  {
    const struct ddsi_proxy_reader * const prd = ddsi_entidx_lookup_proxy_reader_guid (wr->e.gv->entity_index, &m->prd_guid);
    if (prd == NULL || !ddsi_prd_is_here (prd))
      continue;
    if (wr->as_here == NULL)
      wr->as_here = ddsi_new_addrset ();
    ddsi_add_xlocator_to_addrset (wr->e.gv, wr->as_here, &prd->c.loc_uc);
  }
  if (wr->as_here == NULL)
    return;
  wr->as_far = ddsi_compute_far_addrset (wr);
  if (ddsi_addrset_empty (wr->as_far))
  {
    ddsi_unref_addrset (wr->as_far);
    wr->as_far = NULL;
  }
}

void ddsi_rebuild_writer_addrset (struct ddsi_writer *wr)
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint.c",
        anchor: "  wr->as = ddsi_compute_writer_addrset (wr);\n  ddsi_unref_addrset (oldas);\n",
        times: 1,
        replacement: "  wr->as = ddsi_compute_writer_addrset (wr);\n  ddsi_unref_addrset (oldas);\n  split_writer_addrset (wr);\n",
    },
    // The addresses of readers on other hosts, which are chosen in the same way as the engine
    // chooses the addresses of all readers.
    Edit {
        file: "src/core/ddsi/src/ddsi__wraddrset.h",
        anchor: "struct ddsi_addrset *ddsi_compute_writer_addrset (const struct ddsi_writer *wr);\n",
        times: 1,
        replacement: r"struct ddsi_addrset *ddsi_compute_writer_addrset (const struct ddsi_writer *wr);

/* Feros: the addresses of only those readers to which packets leave this host */
struct ddsi_addrset *ddsi_compute_far_addrset (const struct ddsi_writer *wr);
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_wraddrset.c",
        anchor: "#include \"ddsi__wraddrset.h\"\n",
        times: 1,
        replacement: "#include \"ddsi__wraddrset.h\"\n#include \"ddsi__transmit.h\"\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_wraddrset.c",
        anchor: "wras_collect_all_locs (const struct ddsi_writer *wr)\n",
        times: 1,
        replacement: "wras_collect_all_locs (const struct ddsi_writer *wr, bool far_only)\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_wraddrset.c",
        anchor: "    if ((prd = ddsi_entidx_lookup_proxy_reader_guid (gh, &m->prd_guid)) == NULL)\n",
        times: 2,
        replacement: "    if ((prd = ddsi_entidx_lookup_proxy_reader_guid (gh, &m->prd_guid)) == NULL || (far_only && ddsi_prd_is_here (prd)))\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_wraddrset.c",
        anchor: "static bool wras_calc_cover (const struct ddsi_writer *wr, const struct locset *locs, struct cover **pcov)",
        times: 2,
        replacement: "static bool wras_calc_cover (const struct ddsi_writer *wr, const struct locset *locs, struct cover **pcov, bool far_only)",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_wraddrset.c",
        anchor: "struct ddsi_addrset *ddsi_compute_writer_addrset (const struct ddsi_writer *wr)\n",
        times: 1,
        replacement: "static struct ddsi_addrset *compute_addrset (const struct ddsi_writer *wr, bool far_only)\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_wraddrset.c",
        anchor: "= wras_collect_all_locs (wr);\n",
        times: 1,
        replacement: "= wras_collect_all_locs (wr, far_only);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_wraddrset.c",
        anchor: "  if (!wras_calc_cover (wr, locs, &covered))\n",
        times: 1,
        replacement: "  if (!wras_calc_cover (wr, locs, &covered, far_only))\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_wraddrset.c",
        anchor: "  locset_free (locs);\n  return newas;\n}\n",
        times: 1,
        replacement: r"  locset_free (locs);
  return newas;
}

struct ddsi_addrset *ddsi_compute_writer_addrset (const struct ddsi_writer *wr)
{
  return compute_addrset (wr, false);
}

struct ddsi_addrset *ddsi_compute_far_addrset (const struct ddsi_writer *wr)
{
  return compute_addrset (wr, true);
}
",
    },
    // The number of fragments in one submessage.
    Edit {
        file: "src/core/ddsi/src/ddsi__transmit.h",
        anchor: "/* When calling the following functions, wr->lock must be held */\n",
        times: 1,
        replacement: r"/* Feros: whether all packets to this reader stay on this host. */
bool ddsi_prd_is_here (const struct ddsi_proxy_reader *prd);

/* Feros: how many repeated fragments of a sample one submessage to this reader may have. */
uint32_t ddsi_fragments_together (const struct ddsi_proxy_reader *prd);

/* When calling the following functions, wr->lock must be held */
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "dds_return_t ddsi_create_fragment_message (struct ddsi_writer *wr, ddsi_seqno_t seq, struct ddsi_serdata *serdata, uint32_t fragnum, uint16_t nfrags, const struct ddsi_proxy_reader *prd, struct ddsi_xmsg **pmsg, int isnew, uint32_t advertised_fragnum)\n",
        times: 1,
        replacement: r"/* Feros: headers of RTPS, with the longest inline QoS of a service. */
enum { ROOM_FOR_HEADERS = 500 };

static uint32_t fragments_in (const struct ddsi_domaingv *gv, uint32_t max_msg_size, uint32_t headers)
{
  const uint32_t fit = (max_msg_size - headers) / gv->config.fragment_size;
  return fit == 0 ? 1 : fit > UINT16_MAX ? UINT16_MAX : fit;
}

bool ddsi_prd_is_here (const struct ddsi_proxy_reader *prd)
{
  return !prd->redundant_networking && ddsi_locator_is_here (prd->e.gv, &prd->c.loc_uc.c);
}

uint32_t ddsi_fragments_together (const struct ddsi_proxy_reader *prd)
{
  return ddsi_prd_is_here (prd) ? fragments_in (prd->e.gv, DDSI_MAX_MSG_SIZE_HERE, ROOM_FOR_HEADERS) : 1;
}

/* Feros: to `as`, which has only addresses of this host if `here` is set, or to `prd`. */
static dds_return_t create_fragment_message_to (struct ddsi_writer *wr, struct ddsi_addrset *as, bool here, ddsi_seqno_t seq, struct ddsi_serdata *serdata, uint32_t fragnum, uint16_t nfrags, const struct ddsi_proxy_reader *prd, struct ddsi_xmsg **pmsg, int isnew, uint32_t advertised_fragnum)
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "    ddsi_xmsg_setdst_prd (*pmsg, prd);\n    /* retransmits: latency budget doesn't apply */\n  }\n  else\n  {\n    ddsi_xmsg_setdst_addrset (*pmsg, wr->as);\n",
        times: 1,
        replacement: r"    ddsi_xmsg_setdst_prd (*pmsg, prd);
    if (ddsi_prd_is_here (prd))
      ddsi_xmsg_set_here (*pmsg);
    /* retransmits: latency budget doesn't apply */
  }
  else
  {
    ddsi_xmsg_setdst_addrset (*pmsg, as);
    if (here)
      ddsi_xmsg_set_here (*pmsg);
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "static void create_HeartbeatFrag (struct ddsi_writer *wr, ddsi_seqno_t seq, unsigned fragnum, struct ddsi_proxy_reader *prd, struct ddsi_xmsg **pmsg)\n",
        times: 1,
        replacement: r"dds_return_t ddsi_create_fragment_message (struct ddsi_writer *wr, ddsi_seqno_t seq, struct ddsi_serdata *serdata, uint32_t fragnum, uint16_t nfrags, const struct ddsi_proxy_reader *prd, struct ddsi_xmsg **pmsg, int isnew, uint32_t advertised_fragnum)
{
  return create_fragment_message_to (wr, wr->as, false, seq, serdata, fragnum, nfrags, prd, pmsg, isnew, advertised_fragnum);
}

static void create_HeartbeatFrag (struct ddsi_writer *wr, struct ddsi_addrset *as, ddsi_seqno_t seq, unsigned fragnum, struct ddsi_proxy_reader *prd, struct ddsi_xmsg **pmsg)
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "    ddsi_xmsg_setdst_addrset (*pmsg, wr->as);\n  hbf = ",
        times: 1,
        replacement: "    ddsi_xmsg_setdst_addrset (*pmsg, as);\n  hbf = ",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "static void transmit_sample_lgmsg_unlocks_wr (struct ddsi_xpack *xp, struct ddsi_writer *wr, ddsi_seqno_t seq, struct ddsi_serdata *serdata, struct ddsi_proxy_reader *prd, int isnew, uint32_t nfrags, uint32_t nfrags_lim)\n",
        times: 1,
        replacement: "static void transmit_fragments_unlocks_wr (struct ddsi_xpack *xp, struct ddsi_writer *wr, struct ddsi_addrset *as, bool here, bool is_last, ddsi_seqno_t seq, struct ddsi_serdata *serdata, struct ddsi_proxy_reader *prd, int isnew, uint32_t nfrags, uint32_t nfrags_lim)\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: r"  uint32_t nf_in_submsg = isnew ? (wr->e.gv->config.max_msg_size / wr->e.gv->config.fragment_size) : 1;
  if (nf_in_submsg == 0)
    nf_in_submsg = 1;
  else if (nf_in_submsg > UINT16_MAX)
    nf_in_submsg = UINT16_MAX;
",
        times: 1,
        replacement: r"  uint32_t nf_in_submsg = isnew ? fragments_in (wr->e.gv, wr->e.gv->config.max_msg_size, 0) : 1;
  if (here)
    nf_in_submsg = fragments_in (wr->e.gv, DDSI_MAX_MSG_SIZE_HERE, ROOM_FOR_HEADERS);
  else if (prd != NULL && nf_in_submsg < ddsi_fragments_together (prd))
    nf_in_submsg = ddsi_fragments_together (prd);
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "    ret = ddsi_create_fragment_message (wr, seq, serdata, i, (uint16_t) nf_in_submsg, prd, &fmsg, isnew, i + nf_in_submsg == nfrags_lim ? nfrags - 1 : UINT32_MAX);\n",
        times: 1,
        replacement: "    ret = create_fragment_message_to (wr, as, here, seq, serdata, i, (uint16_t) nf_in_submsg, prd, &fmsg, isnew, is_last && i + nf_in_submsg == nfrags_lim ? nfrags - 1 : UINT32_MAX);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "      create_HeartbeatFrag (wr, seq, i + nf_in_submsg - 1, prd, &hmsg);\n",
        times: 1,
        replacement: "      create_HeartbeatFrag (wr, as, seq, i + nf_in_submsg - 1, prd, &hmsg);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "static void transmit_sample_unlocks_wr (",
        times: 1,
        replacement: r"static void transmit_sample_lgmsg_unlocks_wr (struct ddsi_xpack *xp, struct ddsi_writer *wr, ddsi_seqno_t seq, struct ddsi_serdata *serdata, struct ddsi_proxy_reader *prd, int isnew, uint32_t nfrags, uint32_t nfrags_lim)
{
  /* The lock is released in between, and the writer's address sets may be replaced meanwhile. */
  struct ddsi_addrset * const as = ddsi_ref_addrset (wr->as);
  struct ddsi_addrset * const here = (prd == NULL && wr->as_here != NULL) ? ddsi_ref_addrset (wr->as_here) : NULL;
  struct ddsi_addrset * const far = (here != NULL && wr->as_far != NULL) ? ddsi_ref_addrset (wr->as_far) : NULL;
  if (here == NULL)
    transmit_fragments_unlocks_wr (xp, wr, as, false, true, seq, serdata, prd, isnew, nfrags, nfrags_lim);
  else
  {
    transmit_fragments_unlocks_wr (xp, wr, here, true, far == NULL, seq, serdata, NULL, isnew, nfrags, nfrags_lim);
    if (far != NULL)
      transmit_fragments_unlocks_wr (xp, wr, far, false, true, seq, serdata, NULL, isnew, nfrags, nfrags_lim);
  }
  ddsi_unref_addrset (as);
  ddsi_unref_addrset (here);
  ddsi_unref_addrset (far);
}

static void transmit_sample_unlocks_wr (",
    },
    // Fragments that are sent again, or that are sent to a late reader.
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "  if (!isnew && nfrags > gv->config.max_frags_in_rexmit_of_sample)\n",
        times: 1,
        replacement: "  const uint32_t together = prd ? ddsi_fragments_together (prd) : 1;\n  if (!isnew && nfrags > gv->config.max_frags_in_rexmit_of_sample && nfrags > together)\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "    nfrags = gv->config.max_frags_in_rexmit_of_sample;\n",
        times: 1,
        replacement: "    nfrags = gv->config.max_frags_in_rexmit_of_sample > together ? gv->config.max_frags_in_rexmit_of_sample : together;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "  for (i = 0; i < nfrags && enqueued != DDSI_QXEV_MSG_REXMIT_DROPPED; i++)\n  {\n",
        times: 1,
        replacement: r"  uint32_t n;
  for (i = 0; i < nfrags && enqueued != DDSI_QXEV_MSG_REXMIT_DROPPED; i += n)
  {
    n = nfrags - i < together ? nfrags - i : together;
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "    if (ddsi_create_fragment_message (wr, seq, serdata, i, 1, prd, &fmsg, isnew, (i+1) == nfrags ? i : UINT32_MAX) >= 0)\n",
        times: 1,
        replacement: "    if (ddsi_create_fragment_message (wr, seq, serdata, i, (uint16_t) n, prd, &fmsg, isnew, i + n == nfrags ? i + n - 1 : UINT32_MAX) >= 0)\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "      if (nfrags > 1 && i + 1 < nfrags)\n        create_HeartbeatFrag (wr, seq, i, prd, &hmsg);\n",
        times: 1,
        replacement: "      if (i + n < nfrags)\n        create_HeartbeatFrag (wr, wr->as, seq, i + n - 1, prd, &hmsg);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: r"    for (uint32_t i = 0; i < msg->fragmentNumberState.numbits && nfrags_lim > 0; i++)
    {
      if (ddsi_bitset_isset (msg->fragmentNumberState.numbits, msg->bits, i))
      {
        struct ddsi_xmsg *reply;
        if (ddsi_create_fragment_message (wr, seq, sample.serdata, base + i, 1, prd, &reply, 0, 0) < 0)
",
        times: 1,
        replacement: r"    const uint32_t together = ddsi_fragments_together (prd);
    for (uint32_t i = 0; i < msg->fragmentNumberState.numbits && nfrags_lim > 0; i++)
    {
      if (ddsi_bitset_isset (msg->fragmentNumberState.numbits, msg->bits, i))
      {
        struct ddsi_xmsg *reply;
        uint32_t n = 1;
        while (n < together && n < nfrags_lim && i + n < msg->fragmentNumberState.numbits && ddsi_bitset_isset (msg->fragmentNumberState.numbits, msg->bits, i + n))
          n++;
        if (ddsi_create_fragment_message (wr, seq, sample.serdata, base + i, (uint16_t) n, prd, &reply, 0, 0) < 0)
",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "          nfrags_lim--;\n          wr->rexmit_bytes += wr->e.gv->config.fragment_size;\n",
        times: 1,
        replacement: "          nfrags_lim -= n;\n          wr->rexmit_bytes += n * wr->e.gv->config.fragment_size;\n          i += n - 1;\n",
    },
];
