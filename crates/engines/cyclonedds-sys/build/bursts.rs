//! The part of the patch that keeps the receive buffers of other programs on this host from
//! overflowing.
//!
//! Cyclone DDS asks the system for a large receive buffer. Fast DDS uses the usual 208 KiB, which
//! have room for three datagrams of 64 KB. When a message of 1 MB was sent without pauses over
//! loopback, most of its datagrams were dropped there. They arrived only when they were sent again
//! after several heartbeats. So if a writer has a reader with such a buffer on this host, it pauses
//! after every two datagrams, for as long as the reader takes to read them.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/include/dds/ddsi/ddsi_endpoint.h",
        anchor: "  struct ddsi_xevent *heartbeat_xevent; /* timed event",
        times: 1,
        replacement: "  bool short_bursts; /* Feros: a reader on this host may have a small receive buffer */\n  struct ddsi_xevent *heartbeat_xevent; /* timed event",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint.c",
        anchor: "  wr->num_reliable_readers = 0;\n",
        times: 1,
        replacement: "  wr->num_reliable_readers = 0;\n  wr->short_bursts = false;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint.c",
        anchor: "  struct ddsi_entity_index *gh = wr->e.gv->entity_index;\n  ddsrt_avl_iter_t it;\n  for (struct ddsi_wr_prd_match *m = ddsrt_avl_iter_first (&ddsi_wr_readers_treedef, &wr->readers, &it); m; m = ddsrt_avl_iter_next (&it))\n  {\n    struct ddsi_proxy_reader *prd;\n    if ((prd = ddsi_entidx_lookup_proxy_reader_guid (gh, &m->prd_guid)) == NULL)\n      continue;\n    if (prd->receive_buffer_size",
        times: 1,
        replacement: "  struct ddsi_entity_index *gh = wr->e.gv->entity_index;\n  ddsrt_avl_iter_t it;\n  wr->short_bursts = false;\n  for (struct ddsi_wr_prd_match *m = ddsrt_avl_iter_first (&ddsi_wr_readers_treedef, &wr->readers, &it); m; m = ddsrt_avl_iter_next (&it))\n  {\n    struct ddsi_proxy_reader *prd;\n    if ((prd = ddsi_entidx_lookup_proxy_reader_guid (gh, &m->prd_guid)) == NULL)\n      continue;\n    if (!ddsi_vendor_is_eclipse (prd->c.vendor) && ddsi_locator_is_here (wr->e.gv, &prd->c.loc_uc.c))\n      wr->short_bursts = true;\n    if (prd->receive_buffer_size",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "  for (uint32_t i = 0; i < nfrags_lim; i += nf_in_submsg)\n  {\n    struct ddsi_xmsg *fmsg = NULL;\n",
        times: 1,
        replacement: r#"  /* Feros: see crates/engines/cyclonedds-sys/build/bursts.rs */
  const bool short_bursts = wr->short_bursts && nf_in_submsg * wr->e.gv->config.fragment_size > DDSI_MAX_MSG_SIZE_HERE / 2;
  uint32_t at_once = 0;
  for (uint32_t i = 0; i < nfrags_lim; i += nf_in_submsg)
  {
    struct ddsi_xmsg *fmsg = NULL;
"#,
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "    if(fmsg) ddsi_xpack_addmsg (xp, fmsg, 0);\n    if(hmsg) ddsi_xpack_addmsg (xp, hmsg, 0);\n\n    ddsrt_mutex_lock",
        times: 1,
        replacement: r"    if(fmsg) ddsi_xpack_addmsg (xp, fmsg, 0);
    if(hmsg) ddsi_xpack_addmsg (xp, hmsg, 0);
    at_once += nf_in_submsg * wr->e.gv->config.fragment_size;
    if (short_bursts && at_once + nf_in_submsg * wr->e.gv->config.fragment_size > 2 * DDSI_MAX_MSG_SIZE_HERE && i + nf_in_submsg < nfrags_lim)
    {
      ddsi_xpack_send (xp, false);
      dds_sleepfor (DDS_USECS (100));
      at_once = 0;
    }

    ddsrt_mutex_lock",
    },
];
