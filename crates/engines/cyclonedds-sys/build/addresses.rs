//! The part of the patch that makes a writer compute its addresses less often.
//!
//! Cyclone DDS computes the addresses of a writer again whenever a reader appears or disappears,
//! and each time examines all readers of the writer. If hundreds of endpoints share a topic, this
//! is most of the cost of discovery and of the end of a process. A reader does not change the
//! addresses if another matched reader of the same participant has the same addresses, so the
//! computation is skipped in that case. A writer with few readers always computes its addresses, so
//! that it still chooses between one address and several addresses in the same way as before.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint_match.c",
        anchor: "void ddsi_writer_add_connection (struct ddsi_writer *wr, ",
        times: 1,
        replacement: r"/* Feros: see crates/engines/cyclonedds-sys/build/addresses.rs. Whether the writer has, beside this reader, one
   of the same participant with the same addresses. A reader that is found no more is just being
   deleted: where `prd` goes, that one computes the addresses, or the last that goes. */
static bool has_another_at_same_addresses (const struct ddsi_writer *wr, const struct ddsi_proxy_reader *prd, bool goes)
{
  enum { FEW = 16, LOOKS = 4 };
  if (wr->num_readers < FEW)
    return false;
  ddsi_guid_t first = prd->e.guid;
  first.entityid.u = 0;
  const struct ddsi_wr_prd_match *m = ddsrt_avl_lookup_succ_eq (&ddsi_wr_readers_treedef, &wr->readers, &first);
  for (int looks = 0; looks < LOOKS && m != NULL; looks++)
  {
    if (memcmp (&m->prd_guid.prefix, &prd->e.guid.prefix, sizeof (prd->e.guid.prefix)) != 0)
      return false;
    if (m->prd_guid.entityid.u != prd->e.guid.entityid.u)
    {
      const struct ddsi_proxy_reader *other = ddsi_entidx_lookup_proxy_reader_guid (wr->e.gv->entity_index, &m->prd_guid);
      if (other == NULL)
      {
        if (goes)
          return true;
      }
      else if (other->redundant_networking == prd->redundant_networking
#ifdef DDSRT_HAVE_SSM
               && other->favours_ssm == prd->favours_ssm
#endif
               && ddsi_addrset_eq_onesidederr (other->c.as, prd->c.as))
        return true;
    }
    m = ddsrt_avl_find_succ (&ddsi_wr_readers_treedef, &wr->readers, m);
  }
  return false;
}

void ddsi_writer_add_connection (struct ddsi_writer *wr, ",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint_match.c",
        anchor: "    ddsi_rebuild_writer_addrset (wr);\n    ddsrt_mutex_unlock (&wr->e.lock);\n\n    if (wr->status_cb)",
        times: 1,
        replacement: "    if (!has_another_at_same_addresses (wr, prd, false))\n      ddsi_rebuild_writer_addrset (wr);\n    ddsrt_mutex_unlock (&wr->e.lock);\n\n    if (wr->status_cb)",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint_match.c",
        anchor: "      ddsi_rebuild_writer_addrset (wr);\n      ddsi_remove_acked_messages",
        times: 1,
        replacement: "      if (!has_another_at_same_addresses (wr, prd, true))\n        ddsi_rebuild_writer_addrset (wr);\n      ddsi_remove_acked_messages",
    },
];
