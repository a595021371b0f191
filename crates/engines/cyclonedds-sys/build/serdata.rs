//! The part of the patch that adds two optional operations at the end of those of a serdata.
//!
//! `add_inline_qos` is called where DATA and DATA_FRAG are made, because services need the identity
//! of the request there. `received_from` gives a received sample its writer and number (the header
//! of the packet does not contain these, because participants of one process share packets), and
//! the address from which its datagrams arrived, if it is a single address.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
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
];
