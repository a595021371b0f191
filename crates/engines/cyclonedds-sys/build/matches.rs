//! The part of the patch that makes reading the matches of an endpoint safe and quick.
//!
//! Reading the matches copied the QoS of the other side without the lock under which discovery
//! replaces its USER_DATA. It also waited for each write that was waiting for room. With the patch,
//! it takes the lock of the QoS, and pins the entity and does not lock it.

use crate::edit::Edit;

pub(crate) const EDITS: &[Edit] = &[
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
];
