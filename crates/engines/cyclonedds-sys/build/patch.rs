//! The patch that Feros applies to Cyclone DDS. It consists of edits with anchors. Each anchor must
//! occur in its file exactly as often as the edit says; otherwise, the build fails. So a new
//! upstream version can never be built without the patch or with only a part of it.
//!
//! The patch adds two optional serdata operations at the end. `add_inline_qos` is called where DATA
//! and DATA_FRAG are made, because services need the identity of the request there. `received_from`
//! gives a received sample its writer and number (the header of the packet does not contain these,
//! because participants of one process share packets), and the address from which its datagrams
//! arrived, if it is a single address. The patch also adds the GUID of the participant to the
//! discovery of endpoints, because stock ROS 2 tools need it to name the node of an endpoint.
//!
//! Discovery between processes with several participants is repaired. If a new remote participant
//! has already made announcements, only one local participant receives them, and the discovery
//! readers of all other local participants skip them. If that one participant was deleted in the
//! meantime, the others never learned of the endpoints. With the patch, readers skip announcements
//! only after these have been received. In addition, if a Fast DDS writer had sent samples before
//! its first heartbeat, a reliable volatile reader regarded all of them as history. This was wrong
//! for samples that were sent to this reader but had not arrived yet (as fragments, or because they
//! were lost and had to be repeated). So requests of a service, or a first image, never arrived.
//! With the patch, the reader waits for such samples.
//!
//! If a Fast DDS reader had some fragments of a message, and a GAP reported that this message had
//! left the history, the reader looped forever in its take. With the patch, a heartbeat with the
//! first message of the history precedes each GAP. When this heartbeat arrives, the reader drops
//! its parts of older messages.
//!
//! Reading the matches copied the QoS of the other side without the lock under which discovery
//! replaces its USER_DATA. It also waited for each write that was waiting for room. With the patch,
//! it takes the lock of the QoS, and pins the entity and does not lock it.
//!
//! Without multicast, a participant whose lease had expired was called again only after 30 seconds.
//! If two participants had been separated, or if one of them had been stopped, they did not hear
//! each other for that time. With the patch, the first call follows after half a second, and each
//! further call follows after twice the previous time.
//!
//! A full reliable reader (RESOURCE_LIMITS) first blocked the thread that delivers to all readers
//! of the process, and then the receiving thread. So a callback that waited for a service could
//! wait forever. With the patch, such a reader does not accept any further samples from its
//! writers, as if the samples were lost in the network, and it requests them again when it has
//! room. This slows down a writer that keeps all messages. The limit also applies to the bytes,
//! which are at most 64 MiB. A writer of the same process delivers to the reader itself, and checks
//! first whether there is room.
//!
//! The patch adds two more waits. The first wait ends when one given reader has acknowledged. The
//! engine can do this, but it offers only to wait for all readers, which includes killed readers
//! until they are forgotten. The wait also requests the acknowledgement, because the engine does
//! not request any while samples follow each other within a few milliseconds. The second wait ends
//! when another participant has acknowledged the announcement of a reader. Without this wait, a
//! client that calls too early may get no reply, because the server does not know yet where to send
//! replies.
//!
//! For each known endpoint, local or remote, the engine stored the key twice during the lifetime of
//! the endpoint: once with the whole announcement, and once with room for a whole QoS. With the
//! patch, it stores only the keys, which saves 0.7 KB for each endpoint.
//!
//! The time and the inline QoS are sent with every fragment, and not only with the first fragment,
//! because Fast DDS takes both from the fragment that arrives first. If this was not the first
//! fragment of the sample, a client regarded the large reply to another client's request as its own
//! reply. In addition, a reader that missed the first heartbeat of a writer requests a heartbeat
//! with an empty ACKNACK. Fast DDS answers immediately only if this ACKNACK has base 0 and a count
//! above 0. Otherwise, it waits for its period of one to three seconds, during which stock nodes
//! are unknown.
//!
//! The addresses of writers are computed less often (`addresses`), and packets to addresses of this
//! host are larger (`large_packets`).
//!
//! Repeated requests wait while an answer may still arrive (`requests`). Publishers that send more
//! than a full link carries are slowed down (`pacing`), and bursts that do not fit into small
//! receive buffers are also slowed down (`bursts`).
//!
//! If only a part of a best-effort sample would reach the other side of a full link, the sample is
//! not sent (`rate_control`).
//!
//! Samples that arrive before their writer is known are stored for a short time (`early`).
//!
//! Programs that the process starts do not inherit its descriptors any longer (`descriptors`).
//!
//! The process ended if the address of another participant could not be resolved, or if the system
//! refused the priority of a thread. Both depend on the environment. With the patch, they cause
//! only a warning.

use std::path::Path;
use std::sync::Mutex;

use crate::edit::Edit;
use crate::{addresses, bursts, descriptors, early, large_packets, pacing, rate_control, requests};

const EDITS: &[Edit] = &[
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "        GVERROR (\"add_peer_address: %s: not a valid address\\n\", a);\n        goto error;\n",
        times: 1,
        replacement: "        warn_of_peer (gv, a, \"it is not an IPv4 address\");\n        continue;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "        GVERROR (\"add_peer_address: %s: unknown address\\n\", a);\n        goto error;\n",
        times: 1,
        replacement: "        warn_of_peer (gv, a, \"no IPv4 address is known for it\");\n        continue;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "        GVERROR (\"add_peer_address: %s: address family mismatch\\n\", a);\n        goto error;\n    }\n",
        times: 1,
        replacement: "        warn_of_peer (gv, a, \"it is not an IPv4 address\");\n        continue;\n    }\n\
            \x20   if (loc.kind == DDSI_LOCATOR_KIND_INVALID)\n    {\n\
            \x20     warn_of_peer (gv, a, \"it is not the address of a host\");\n      continue;\n    }\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "static dds_return_t add_peer_address (struct",
        times: 1,
        replacement: "/* Feros: instead of an error, at which the caller aborts. */\n\
            static void warn_of_peer (struct ddsi_domaingv const * const gv, const char *peer, const char *why)\n\
            {\n  GVWARNING (\"the peer \\\"%s\\\" is left out: %s. Check ROS_STATIC_PEERS and CYCLONEDDS_URI\\n\", peer, why);\n}\n\n\
            static dds_return_t add_peer_address (struct",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_nwpart.c",
        anchor: "  if (ddsi_tran_get_locator_port (npit->gv->m_factory, &loc) != 0)\n",
        times: 1,
        replacement: "  /* Feros: an unspecified address has no transport, which is looked up below. */\n\
            \x20 if (loc.kind == DDSI_LOCATOR_KIND_INVALID)\n    nwpart_iter_error (npit, tok, \"the address of no host\");\n\
            \x20 else if (ddsi_tran_get_locator_port (npit->gv->m_factory, &loc) != 0)\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_thread.c",
        anchor: "  if (ddsrt_thread_create (&thrst->tid, name, &tattr, &create_thread_wrapper, thrst) != DDS_RETCODE_OK)\n",
        times: 1,
        replacement: "  dds_return_t created = ddsrt_thread_create (&thrst->tid, name, &tattr, &create_thread_wrapper, thrst);\n\
            \x20 if (created != DDS_RETCODE_OK && tprops != NULL)\n  {\n\
            \x20   /* Feros: the priority is optional, the thread is not. */\n\
            \x20   DDS_WARNING (\"the thread \\\"%s\\\" runs with the default scheduling: this process may not use the scheduling of CYCLONEDDS_URI\\n\", name);\n\
            \x20   ddsrt_threadattr_init (&tattr);\n\
            \x20   created = ddsrt_thread_create (&thrst->tid, name, &tattr, &create_thread_wrapper, thrst);\n  }\n\
            \x20 if (created != DDS_RETCODE_OK)\n",
    },
    Edit {
        file: "CMakeLists.txt",
        anchor: "project(CycloneDDS VERSION 11.0.0 LANGUAGES C CXX)",
        times: 1,
        // C++ is needed only for a plug-in that is not built. If C++ were named here, a C++
        // compiler would be required.
        replacement: "project(CycloneDDS VERSION 11.0.0 LANGUAGES C)",
    },
    Edit {
        file: "src/core/ddsi/include/dds/ddsi/ddsi_serdata.h",
        anchor: "struct ddsi_serdata_ops {\n",
        times: 1,
        replacement: "struct ddsi_xmsg;\n\
            /* Feros: may add parameters to the inline QoS of each DATA or DATA_FRAG submessage; NULL adds none. */\n\
            typedef void (*ddsi_serdata_add_inline_qos_t) (const struct ddsi_serdata *d, struct ddsi_xmsg *m);\n\
            struct ddsi_guid;\n\
            struct ddsi_locator;\n\
            /* Feros: told the writer of a received sample, in host order, its sequence number, and where its datagrams came from, NULL when\n\
            its fragments came from several addresses; NULL if not wanted. */\n\
            typedef void (*ddsi_serdata_received_from_t) (struct ddsi_serdata *d, const struct ddsi_guid *writer, uint64_t seq, const struct ddsi_locator *source);\n\n\
            struct ddsi_serdata_ops {\n",
    },
    Edit {
        file: "src/core/ddsi/include/dds/ddsi/ddsi_serdata.h",
        anchor: "  ddsi_serdata_from_psmx_t from_psmx;\n};\n",
        times: 1,
        replacement: "  ddsi_serdata_from_psmx_t from_psmx;\n  ddsi_serdata_add_inline_qos_t add_inline_qos;\n  ddsi_serdata_received_from_t received_from;\n};\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "    ddsi_xmsg_addpar_statusinfo (*pmsg, serdata->statusinfo);\n  if (ddsi_xmsg_addpar_sentinel_ifparam (*pmsg) > 0)\n",
        times: 1,
        replacement: "    ddsi_xmsg_addpar_statusinfo (*pmsg, serdata->statusinfo);\n  if (serdata->ops->add_inline_qos)\n    serdata->ops->add_inline_qos (serdata, *pmsg);\n  if (ddsi_xmsg_addpar_sentinel_ifparam (*pmsg) > 0)\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "      ddsi_xmsg_addpar_statusinfo (*pmsg, serdata->statusinfo);\n    }\n    rc = ddsi_xmsg_addpar_sentinel_ifparam (*pmsg);\n",
        times: 1,
        replacement: "      ddsi_xmsg_addpar_statusinfo (*pmsg, serdata->statusinfo);\n    }\n    if (serdata->ops->add_inline_qos)\n      serdata->ops->add_inline_qos (serdata, *pmsg);\n    rc = ddsi_xmsg_addpar_sentinel_ifparam (*pmsg);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "  if (fragnum == 0)\n  {\n    int rc;\n",
        times: 1,
        replacement: "  if (fragnum == 0 || serdata->ops->add_inline_qos)\n  {\n    int rc;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_transmit.c",
        anchor: "  /* Timestamp only needed once, for the first fragment */\n  if (fragnum == 0)\n  {\n",
        times: 1,
        replacement: "  /* Feros: Fast DDS takes the timestamp from the fragment that comes first */\n  {\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "  ddsi_rtps_gap_t *gap;\n  ASSERT_MUTEX_HELD (wr->e.lock);\n",
        times: 1,
        replacement: "  ddsi_rtps_gap_t *gap;\n  ASSERT_MUTEX_HELD (wr->e.lock);\n\
            \x20 /* Feros: at a GAP for a sample of which it has some fragments, the take of a Fast DDS reader loops forever\n\
            \x20    (StatefulReader::process_gap_msg leaves the sample in its instance); at a heartbeat it drops the sample properly. */\n\
            \x20 struct ddsi_whc_state whcst;\n\
            \x20 ddsi_whc_get_state (wr->whc, &whcst);\n\
            \x20 ddsi_add_heartbeat (msg, wr, &whcst, DDSI_HBC_ACK_REQ_NO, 0, prd->e.guid.entityid, 0);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "  else\n  {\n    if ((*tk = ddsi_tkmap_lookup_instance_ref (gv->m_tkmap, sample)) == NULL)\n",
        times: 1,
        replacement: "  else\n  {\n    if (sample->ops->received_from && sampleinfo->pwr)\n      sample->ops->received_from (sample, &sampleinfo->pwr->e.guid, sampleinfo->seq, sampleinfo->mixed_sources ? NULL : &sampleinfo->rst->pktinfo.src);\n    if ((*tk = ddsi_tkmap_lookup_instance_ref (gv->m_tkmap, sample)) == NULL)\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi__radmin.h",
        anchor: "  unsigned complex_qos: 1;      /* includes QoS other than keyhash, 2-bit statusinfo, PT writer info */\n",
        times: 1,
        replacement: "  unsigned complex_qos: 1;      /* includes QoS other than keyhash, 2-bit statusinfo, PT writer info */\n  \
            unsigned mixed_sources: 1;    /* Feros: fragments came from several addresses */\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "  sampleinfo->rst = (struct ddsi_receiver_state *) rst; /* drop const */\n",
        times: 2,
        replacement: "  sampleinfo->rst = (struct ddsi_receiver_state *) rst; /* drop const */\n  sampleinfo->mixed_sources = 0;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_radmin.c",
        anchor: "  assert (dfsample->seq == sampleinfo->seq);\n",
        times: 1,
        replacement: "  assert (dfsample->seq == sampleinfo->seq);\n  \
            /* Feros: fragments of another host that complete a sample are detected. */\n  \
            if (memcmp (dfsample->sampleinfo->rst->pktinfo.src.address, sampleinfo->rst->pktinfo.src.address, sizeof (sampleinfo->rst->pktinfo.src.address)) != 0)\n    \
            dfsample->sampleinfo->mixed_sources = 1;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_radmin.c",
        anchor: "      *dfsample->sampleinfo = *sampleinfo;\n",
        times: 1,
        replacement: "      const unsigned mixed_sources = dfsample->sampleinfo->mixed_sources;\n      \
            *dfsample->sampleinfo = *sampleinfo;\n      dfsample->sampleinfo->mixed_sources = mixed_sources & 1u;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_endpoint_match.c",
        anchor: "  else if (ddsi_is_builtin_entityid (rd->e.guid.entityid, DDSI_VENDORID_ECLIPSE) && !ddsrt_avl_is_empty (&pwr->readers) && !pwr->filtered)\n",
        times: 1,
        replacement: "  else if (ddsi_is_builtin_entityid (rd->e.guid.entityid, DDSI_VENDORID_ECLIPSE) && !ddsrt_avl_is_empty (&pwr->readers) && !pwr->filtered && pwr->have_seen_heartbeat && pwr->n_readers_out_of_sync == 0)\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "#include \"ddsi__xevent.h\"\n",
        times: 1,
        replacement: "#include \"ddsi__xevent.h\"\n#include \"ddsi__vendor.h\"\n#include \"dds/ddsi/ddsi_rhc.h\"\n#include \"dds/ddsi/ddsi_endpoint.h\"\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "  an->readerSNState.bitmap_base = ddsi_to_seqno (1);\n  an->readerSNState.numbits = 0;\n",
        times: 1,
        replacement: "  an->readerSNState.bitmap_base = ddsi_to_seqno (ddsi_vendor_is_eprosima (pwr->c.vendor) ? 0 : 1);\n  an->readerSNState.numbits = 0;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_acknack.c",
        anchor: "  *countp = 0;\n",
        times: 1,
        replacement: "  *countp = rwn->count++;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_receive.c",
        anchor: "    gap_end_seq = lastseq + 1;\n",
        times: 1,
        // The gap ends at the sample up to which the writer itself announces its samples as
        // history.
        replacement: "    gap_end_seq = lastseq + 1;\n    /* Feros: Fast DDS sends a volatile reader GAPs for all samples from before the match, so the rest is awaited. */\n    if (ddsi_vendor_is_eprosima (pwr->c.vendor) && pwr->n_readers_out_of_sync == 0)\n      gap_end_seq = firstseq;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_discovery_endpoint.c",
        anchor: "    ps.present |= PP_PROTOCOL_VERSION | PP_VENDORID;\n    ps.protocol_version = gv->config.protocol_version;\n    ps.vendorid = DDSI_VENDORID_ECLIPSE;\n\n    assert (epcommon != NULL);\n",
        times: 1,
        replacement: "    ps.present |= PP_PROTOCOL_VERSION | PP_VENDORID | PP_PARTICIPANT_GUID;\n    ps.protocol_version = gv->config.protocol_version;\n    ps.vendorid = DDSI_VENDORID_ECLIPSE;\n    ps.participant_guid.prefix = guid->prefix;\n    ps.participant_guid.entityid.u = DDSI_ENTITYID_PARTICIPANT;\n\n    assert (epcommon != NULL);\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_matched.c",
        anchor: "dds_return_t dds_get_matched_subscriptions (",
        times: 1,
        replacement: "/* Feros: a writer's own lock is held while a write waits for room. The lists of matches have their own, and a pinned\n\
            entity is not freed, as dds_wait_for_acks relies on. */\n\
            static dds_return_t pin_endpoint (dds_entity_t handle, dds_entity_kind_t kind, dds_entity **e)\n\
            {\n  dds_return_t rc;\n  if ((rc = dds_entity_pin (handle, e)) != DDS_RETCODE_OK)\n    return rc;\n  \
            if (dds_entity_kind (*e) == kind)\n    return DDS_RETCODE_OK;\n  dds_entity_unpin (*e);\n  \
            return DDS_RETCODE_ILLEGAL_OPERATION;\n}\n\n\
            dds_return_t dds_get_matched_subscriptions (",
    },
    Edit {
        file: "src/core/ddsc/src/dds_matched.c",
        anchor: "dds_writer_lock (writer, &wr)",
        times: 2,
        replacement: "pin_endpoint (writer, DDS_KIND_WRITER, (dds_entity **) &wr)",
    },
    Edit {
        file: "src/core/ddsc/src/dds_matched.c",
        anchor: "dds_reader_lock (reader, &rd)",
        times: 2,
        replacement: "pin_endpoint (reader, DDS_KIND_READER, (dds_entity **) &rd)",
    },
    Edit {
        file: "src/core/ddsc/src/dds_matched.c",
        anchor: "dds_writer_unlock (wr);",
        times: 2,
        replacement: "dds_entity_unpin (&wr->m_entity);",
    },
    Edit {
        file: "src/core/ddsc/src/dds_matched.c",
        anchor: "dds_reader_unlock (rd);",
        times: 2,
        replacement: "dds_entity_unpin (&rd->m_entity);",
    },
    Edit {
        file: "src/core/ddsc/src/dds_matched.c",
        anchor: "    ret = make_builtintopic_endpoint (&rdc->guid, &ppc->guid, ppc->iid, rdqos);\n",
        times: 1,
        replacement: "    ddsrt_mutex_lock ((ddsrt_mutex_t *) &rdc->qos_lock);\n    ret = make_builtintopic_endpoint (&rdc->guid, &ppc->guid, ppc->iid, rdqos);\n    ddsrt_mutex_unlock ((ddsrt_mutex_t *) &rdc->qos_lock);\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_matched.c",
        anchor: "    ret = make_builtintopic_endpoint (&wrc->guid, &ppc->guid, ppc->iid, wrqos);\n",
        times: 1,
        replacement: "    ddsrt_mutex_lock ((ddsrt_mutex_t *) &wrc->qos_lock);\n    ret = make_builtintopic_endpoint (&wrc->guid, &ppc->guid, ppc->iid, wrqos);\n    ddsrt_mutex_unlock ((ddsrt_mutex_t *) &wrc->qos_lock);\n",
    },
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
    Edit {
        file: "src/core/ddsi/src/ddsi_serdata_plist.c",
        anchor: "  ddsrt_iovec_t iov = { .iov_base = (char *) &d->identifier, .iov_len = 4 + d->pos };\n  struct ddsi_serdata *dcmn_tl = serdata_plist_from_ser_iov (&tp->c, SDK_KEY, 1, &iov, d->pos);\n",
        times: 1,
        replacement: "  struct ddsi_serdata *dcmn_tl = serdata_plist_from_keyhash (&tp->c, &d->keyhash);\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_serdata_builtintopic.c",
        anchor: "  struct ddsi_serdata_builtintopic *d = ddsrt_malloc(serdata_builtin_sizeof(tp->entity_kind));\n",
        times: 1,
        replacement: "  /* Feros: from a sample with only the key nothing behind the key is read but a handle, which it never had. */\n\
              struct ddsi_serdata_builtintopic *d = (serdata_kind == SDK_KEY) ? ddsrt_malloc (offsetof (struct ddsi_serdata_builtintopic, xqos)) : ddsrt_malloc (serdata_builtin_sizeof (tp->entity_kind));\n",
    },
    Edit {
        file: "src/core/ddsc/src/dds_serdata_builtintopic.c",
        anchor: "  sample->participant_instance_handle = dep->pphandle;\n",
        times: 1,
        replacement: "  sample->participant_instance_handle = (dep->common.c.kind == SDK_DATA) ? dep->pphandle : DDS_HANDLE_NIL;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "  ddsrt_mtime_t tsched; // time at which to ping this locator again\n",
        times: 1,
        replacement: "  ddsrt_mtime_t tsched; // time at which to ping this locator again\n  dds_duration_t intv; // Feros: time between this ping and the next one\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "    n->aging.tsched = ddsrt_mtime_add_duration (tnow, DDS_MSECS (100));\n",
        times: 1,
        replacement: "    n->aging.tsched = ddsrt_mtime_add_duration (tnow, DDS_MSECS (100));\n    n->aging.intv = DDS_INFINITY;\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "      n->aging.tsched = ddsrt_mtime_add_duration (tnow, base_intv);\n",
        times: 1,
        replacement: "      /* Feros: a participant that was silent for the length of a lease is mostly back soon. */\n      n->aging.intv = (base_intv < DDS_MSECS (500)) ? base_intv : DDS_MSECS (500);\n      n->aging.tsched = ddsrt_mtime_add_duration (tnow, n->aging.intv);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "  const dds_duration_t t_coalesce = DDS_SECS (1); // aging, so low rate\n",
        times: 1,
        replacement: "  const dds_duration_t t_coalesce = DDS_MSECS (100);\n",
    },
    Edit {
        file: "src/core/ddsi/src/ddsi_spdp_schedule.c",
        anchor: "        n->tsched = ddsrt_mtime_add_duration (tnow, base_intv);\n",
        times: 1,
        replacement: "        n->intv = (n->intv < base_intv / 2) ? 2 * n->intv : base_intv;\n        n->tsched = ddsrt_mtime_add_duration (tnow, n->intv);\n",
    },
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

fn edits() -> impl Iterator<Item = &'static Edit> {
    EDITS
        .iter()
        .chain(addresses::EDITS)
        .chain(large_packets::EDITS)
        .chain(pacing::EDITS)
        .chain(requests::EDITS)
        .chain(bursts::EDITS)
        .chain(rate_control::EDITS)
        .chain(descriptors::EDITS)
        .chain(early::EDITS)
}

static USED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Applies the edits for `file` (a path inside the source tree) to its content.
pub(crate) fn apply(file: &Path, content: Vec<u8>) -> Result<Vec<u8>, String> {
    if !edits().any(|edit| file == Path::new(edit.file)) {
        return Ok(content);
    }
    let mut text =
        String::from_utf8(content).map_err(|_| format!("{} is not UTF-8", file.display()))?;
    for (index, edit) in edits().enumerate().filter(|(_, edit)| file == Path::new(edit.file)) {
        let found = text.matches(edit.anchor).count();
        if found != edit.times {
            return Err(format!(
                "The Cyclone DDS source differs from the one this crate is written for: in {} the text\n{}\n\
                 occurs {found} times instead of {}.\n\
                 Cure: pin cyclonedds-src to the version in this crate's Cargo.toml, or adapt build/patch.rs.",
                edit.file, edit.anchor, edit.times
            ));
        }
        text = text.replace(edit.anchor, edit.replacement);
        USED.lock().map_err(|_| "poisoned".to_owned())?.push(index);
    }
    Ok(text.into_bytes())
}

/// Checks that every edit has found its file.
pub(crate) fn all_used() -> Result<(), String> {
    let used = USED.lock().map_err(|_| "poisoned".to_owned())?;
    match edits().enumerate().find(|(index, _)| !used.contains(index)) {
        None => Ok(()),
        Some((_, edit)) => {
            Err(format!("The Cyclone DDS source has no file {}, which Feros changes.", edit.file))
        }
    }
}
