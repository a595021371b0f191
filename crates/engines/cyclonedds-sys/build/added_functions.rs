//! The part of the patch that adds functions for the shim, which `shim/feros_shim.h` declares.
//!
//! The first wait ends when one given reader has acknowledged. The engine can do this, but it
//! offers only to wait for all readers, which includes killed readers until they are forgotten. The
//! wait also requests the acknowledgement, because the engine does not request any while samples
//! follow each other within a few milliseconds. The second wait ends when another participant has
//! acknowledged the announcement of a reader. Without this wait, a client that calls too early may
//! get no reply, because the server does not know yet where to send replies.
//!
//! Two more functions forget a participant whose process has ended, and check whether the readers
//! of this process have room.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint.c",
        anchor: "#include \"ddsi__hbcontrol.h\"\n",
        times: 1,
        replacement: "#include \"ddsi__hbcontrol.h\"\n#include \"ddsi__thread.h\"\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint.c",
        anchor: "    while (wr->state == WRST_OPERATIONAL && m && ref_seq > m->seq)\n    {\n\
            \x20     if (!ddsrt_cond_mtime_waituntil (&wr->throttle_cond, &wr->e.lock, abstimeout))\n        break;\n\
            \x20     m = ddsrt_avl_lookup (&ddsi_wr_readers_treedef, &wr->readers, rdguid);\n    }\n",
        times: 1,
        replacement: "    /* Feros: asks for the acknowledgement; the match may end while we wait. */\n\
            \x20   if (m && ref_seq > m->seq && abstimeout.v > ddsrt_time_monotonic ().v)\n    {\n\
            \x20     struct ddsi_thread_state * const thrst = ddsi_lookup_thread_state ();\n\
            \x20     struct ddsi_whc_state whcst;\n\
            \x20     ddsi_thread_state_awake (thrst, wr->e.gv);\n\
            \x20     ddsi_whc_get_state (wr->whc, &whcst);\n\
            \x20     struct ddsi_xmsg *hb = ddsi_writer_hbcontrol_create_heartbeat (wr, &whcst, ddsrt_time_monotonic (), DDSI_HBC_ACK_REQ_YES_AND_FLUSH, 0);\n\
            \x20     if (hb)\n        ddsi_qxev_msg (wr->evq, hb);\n\
            \x20     ddsi_thread_state_asleep (thrst);\n    }\n\
            \x20   while (wr->state == WRST_OPERATIONAL && m && ref_seq > m->seq)\n    {\n\
            \x20     const bool in_time = ddsrt_cond_mtime_waituntil (&wr->throttle_cond, &wr->e.lock, abstimeout);\n\
            \x20     m = ddsrt_avl_lookup (&ddsi_wr_readers_treedef, &wr->readers, rdguid);\n\
            \x20     if (!in_time)\n        break;\n    }\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_publisher.c",
        anchor: "dds_return_t dds_publisher_begin_coherent (",
        times: 1,
        replacement: "/* Feros: see feros_shim.h. */\n\
            dds_return_t feros_wait_for_acks_of (dds_entity_t writer, const uint8_t reader[16], dds_duration_t timeout);\n\n\
            dds_return_t feros_wait_for_acks_of (dds_entity_t writer, const uint8_t reader[16], dds_duration_t timeout)\n\
            {\n  dds_entity *e;\n  ddsi_guid_t guid;\n  dds_return_t ret;\n\
            \x20 memcpy (&guid, reader, sizeof (guid));\n  guid = ddsi_ntoh_guid (guid);\n\
            \x20 if ((ret = dds_entity_pin (writer, &e)) < 0)\n    return ret;\n\
            \x20 if (dds_entity_kind (e) != DDS_KIND_WRITER)\n    ret = DDS_RETCODE_ILLEGAL_OPERATION;\n  else\n\
            \x20   ret = dds__ddsi_writer_wait_for_acks ((struct dds_writer *) e, &guid, ddsrt_mtime_add_duration (ddsrt_time_monotonic (), timeout));\n\
            \x20 dds_entity_unpin (e);\n  return ret;\n}\n\n\
            /* Feros: see feros_shim.h. */\n\
            int ddsi_delete_proxy_participant_by_guid (struct ddsi_domaingv *gv, const struct ddsi_guid *guid, ddsrt_wctime_t timestamp, bool lease_expired);\n\
            dds_return_t feros_forget_participant_of (dds_entity_t entity, const uint8_t endpoint[16]);\n\n\
            dds_return_t feros_forget_participant_of (dds_entity_t entity, const uint8_t endpoint[16])\n\
            {\n  dds_entity *e;\n  ddsi_guid_t guid;\n  dds_return_t ret;\n\
            \x20 memcpy (&guid, endpoint, sizeof (guid));\n  guid = ddsi_ntoh_guid (guid);\n\
            \x20 guid.entityid.u = 0x1c1; /* of each participant */\n\
            \x20 if ((ret = dds_entity_pin (entity, &e)) < 0)\n    return ret;\n\
            \x20 struct ddsi_thread_state * const thrst = ddsi_lookup_thread_state ();\n\
            \x20 ddsi_thread_state_awake (thrst, &e->m_domain->gv);\n\
            \x20 ret = ddsi_delete_proxy_participant_by_guid (&e->m_domain->gv, &guid, ddsrt_time_wallclock (), true);\n\
            \x20 ddsi_thread_state_asleep (thrst);\n\
            \x20 dds_entity_unpin (e);\n  return ret;\n}\n\n\
            dds_return_t dds_publisher_begin_coherent (",
    },
    Edit {
        file: "src/core/ddsc/src/dds_reader.c",
        anchor: "dds_return_t dds_reader_wait_for_historical_data (",
        times: 1,
        replacement: "/* Feros: see feros_shim.h. */\n\
            dds_return_t feros_local_readers_have_room (dds_entity_t writer);\n\n\
            dds_return_t feros_local_readers_have_room (dds_entity_t writer)\n\
            {\n  dds_entity *e;\n  dds_return_t ret;\n\
            \x20 if ((ret = dds_entity_pin (writer, &e)) < 0)\n    return ret;\n\
            \x20 if (dds_entity_kind (e) != DDS_KIND_WRITER)\n    ret = DDS_RETCODE_ILLEGAL_OPERATION;\n\
            \x20 else\n  {\n    struct ddsi_local_reader_ary * const ary = &((struct dds_writer *) e)->m_wr->rdary;\n    ret = 1;\n\
            \x20   ddsrt_mutex_lock (&ary->rdary_lock);\n\
            \x20   for (uint32_t i = 0; ary->fastpath_ok && ary->rdary[i] && ret; i++)\n    {\n\
            \x20     struct ddsi_rhc * const rhc = ary->rdary[i]->rhc;\n\
            \x20     ret = rhc == NULL || rhc->ops->has_room == NULL || rhc->ops->has_room (rhc);\n    }\n\
            \x20   ddsrt_mutex_unlock (&ary->rdary_lock);\n  }\n\
            \x20 dds_entity_unpin (e);\n  return ret;\n}\n\n\
            dds_return_t ddsi_get_builtin_writer (const struct ddsi_participant *pp, unsigned entityid, struct ddsi_writer **bwr);\n\
            dds_return_t feros_wait_until_announced (dds_entity_t entity, const uint8_t endpoint[16], dds_duration_t timeout);\n\n\
            dds_return_t feros_wait_until_announced (dds_entity_t entity, const uint8_t endpoint[16], dds_duration_t timeout)\n\
            {\n  dds_entity *e;\n  ddsi_guid_t guid;\n  struct ddsi_writer *wr = NULL;\n  dds_return_t ret;\n\
            \x20 memcpy (&guid, endpoint, sizeof (guid));\n  guid = ddsi_ntoh_guid (guid);\n\
            \x20 if ((ret = dds_entity_pin (entity, &e)) < 0)\n    return ret;\n\
            \x20 const bool is_reader = dds_entity_kind (e) == DDS_KIND_READER;\n\
            \x20 guid.entityid.u = is_reader ? DDSI_ENTITYID_SEDP_BUILTIN_SUBSCRIPTIONS_READER : DDSI_ENTITYID_SEDP_BUILTIN_PUBLICATIONS_READER;\n\
            \x20 if (!is_reader && dds_entity_kind (e) != DDS_KIND_WRITER)\n    ret = DDS_RETCODE_ILLEGAL_OPERATION;\n\
            \x20 else\n  {\n    struct ddsi_participant * const pp = is_reader ? ((struct dds_reader *) e)->m_rd->c.pp : ((struct dds_writer *) e)->m_wr->c.pp;\n\
            \x20   const unsigned by = is_reader ? DDSI_ENTITYID_SEDP_BUILTIN_SUBSCRIPTIONS_WRITER : DDSI_ENTITYID_SEDP_BUILTIN_PUBLICATIONS_WRITER;\n\
            \x20   ddsi_thread_state_awake (ddsi_lookup_thread_state (), &e->m_domain->gv);\n\
            \x20   ret = ddsi_get_builtin_writer (pp, by, &wr);\n\
            \x20   ddsi_thread_state_asleep (ddsi_lookup_thread_state ());\n\
            \x20   if (ret == DDS_RETCODE_OK && wr != NULL)\n\
            \x20     ret = ddsi_writer_wait_for_acks (wr, &guid, ddsrt_mtime_add_duration (ddsrt_time_monotonic (), timeout));\n  }\n\
            \x20 dds_entity_unpin (e);\n  return ret;\n}\n\n\
            dds_return_t dds_reader_wait_for_historical_data (",
    },
];
