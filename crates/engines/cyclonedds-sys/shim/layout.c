/* Checks the few public structs of dds.h that src/lib.rs repeats. A difference makes the build fail here. */
#include <stddef.h>
#include "feros_shim.h"
#include "../engine/feros_rate_control.h"
#include "../engine/feros_requests.h"

#define SAME_OFFSET(type, member, at) _Static_assert (offsetof (type, member) == (at), #type "." #member " moved")
#define SAME_SIZE(type, size) _Static_assert (sizeof (type) == (size), #type " changed its size")

SAME_SIZE (dds_guid_t, 16);
SAME_SIZE (dds_entity_t, 4);
SAME_SIZE (dds_return_t, 4);

SAME_OFFSET (dds_sample_info_t, instance_state, 8);
SAME_OFFSET (dds_sample_info_t, valid_data, 12);
SAME_OFFSET (dds_sample_info_t, source_timestamp, 16);
SAME_OFFSET (dds_sample_info_t, publication_handle, 32);
SAME_SIZE (dds_sample_info_t, 64);

SAME_OFFSET (dds_builtintopic_participant_t, qos, 16);
SAME_OFFSET (dds_builtintopic_endpoint_t, participant_key, 16);
SAME_OFFSET (dds_builtintopic_endpoint_t, participant_instance_handle, 32);
SAME_OFFSET (dds_builtintopic_endpoint_t, topic_name, 40);
SAME_OFFSET (dds_builtintopic_endpoint_t, type_name, 40 + sizeof (void *));
SAME_OFFSET (dds_builtintopic_endpoint_t, qos, 40 + 2 * sizeof (void *));

SAME_SIZE (dds_publication_matched_status_t, 24);
SAME_OFFSET (dds_publication_matched_status_t, current_count, 8);
SAME_SIZE (dds_subscription_matched_status_t, 24);
SAME_OFFSET (dds_subscription_matched_status_t, current_count, 8);
SAME_SIZE (dds_offered_incompatible_qos_status_t, 12);
SAME_OFFSET (dds_offered_incompatible_qos_status_t, last_policy_id, 8);
SAME_SIZE (dds_requested_incompatible_qos_status_t, 12);
SAME_SIZE (dds_offered_deadline_missed_status_t, 16);
SAME_SIZE (dds_requested_deadline_missed_status_t, 16);
SAME_SIZE (dds_liveliness_lost_status_t, 8);
SAME_SIZE (dds_liveliness_changed_status_t, 24);
SAME_OFFSET (dds_liveliness_changed_status_t, not_alive_count, 4);

SAME_SIZE (feros_identity, 24);
SAME_OFFSET (feros_sample_info, writer_guid, 24);
SAME_OFFSET (feros_sample_info, has_related, 40);
SAME_OFFSET (feros_sample_info, source_kind, 41);
SAME_OFFSET (feros_sample_info, related, 48);
SAME_OFFSET (feros_sample_info, source, 72);
SAME_SIZE (feros_sample_info, 88);

SAME_SIZE (struct feros_report, 32);
SAME_OFFSET (struct feros_report, micros, 8);
SAME_OFFSET (struct feros_report, broken, 24);
SAME_SIZE (struct feros_tally, 64);
SAME_SIZE (struct feros_rate, 104);
SAME_SIZE (struct feros_requests, 168);
_Static_assert (FEROS_RATE_KEEPS_UP == 0 && FEROS_RATE_LEAVE_OUT == 3, "answers changed");

_Static_assert (DDS_LIVELINESS_QOS_POLICY_ID == 8 && DDS_DATA_REPRESENTATION_QOS_POLICY_ID == 25, "policy ids changed");
_Static_assert (DDS_NOT_ALIVE_DISPOSED_INSTANCE_STATE == 32 && DDS_ALIVE_INSTANCE_STATE == 16, "instance states changed");
_Static_assert (DDS_RETCODE_TIMEOUT == -10 && DDS_RETCODE_ALREADY_DELETED == -9, "return codes changed");

/* Values that dds.h computes with macros. */
const dds_entity_t feros_builtin_participant = DDS_BUILTIN_TOPIC_DCPSPARTICIPANT;
const dds_entity_t feros_builtin_publication = DDS_BUILTIN_TOPIC_DCPSPUBLICATION;
const dds_entity_t feros_builtin_subscription = DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION;
