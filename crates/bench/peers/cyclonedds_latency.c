/* Why this exists: the program that Feros is compared with, one that calls the C API of Cyclone DDS directly and does
 * nothing else. See latency.h for the contract.
 *
 * How fair it is: the same Cyclone DDS (our patched static build), the same configuration (CYCLONEDDS_URI, set by the
 * benchmark to what Feros uses), the QoS of a ROS 2 default profile (keep last 10, volatile), XCDR1. The type is a
 * sequence of octets: UInt8MultiArray without its 8 bytes of empty layout. It is as fast as the plain API allows: the
 * subscription takes into one sample that it keeps, so the buffer is allocated once, and it waits on a waitset. */
#include "dds/dds.h"
#include "latency.h"

/* What idlc writes for: struct Bytes { sequence<octet> data; }; (final, no key). */
struct bytes {
  struct {
    uint32_t _maximum;
    uint32_t _length;
    uint8_t *_buffer;
    bool _release;
  } data;
};
static const uint32_t bytes_ops[] = {
  DDS_OP_ADR | DDS_OP_TYPE_SEQ | DDS_OP_SUBTYPE_1BY, offsetof(struct bytes, data), DDS_OP_RTS,
};
static const dds_topic_descriptor_t bytes_type = {
  .m_size = sizeof(struct bytes),
  .m_align = _Alignof(struct bytes),
  .m_typename = "feros_bench::Bytes",
  .m_nops = 2,
  .m_ops = bytes_ops,
  .m_meta = "",
};

static dds_entity_t checked(dds_return_t code, const char *what) {
  if (code < 0) fail(what, dds_strretcode(code));
  return code;
}

static dds_qos_t *ros_default_qos(const struct options *o) {
  dds_qos_t *qos = dds_create_qos();
  const dds_data_representation_id_t xcdr1 = DDS_DATA_REPRESENTATION_XCDR1;
  dds_qset_data_representation(qos, 1, &xcdr1);
  dds_qset_reliability(qos, o->reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, DDS_INFINITY);
  dds_qset_durability(qos, DDS_DURABILITY_VOLATILE);
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 10);
  dds_qset_writer_data_lifecycle(qos, false);
  return qos;
}

/* Sleeps until the waitset's entity has one of the statuses, or until `deadline`; says whether it has. */
static bool wait_for(dds_entity_t waitset, uint64_t deadline) {
  const uint64_t now = now_nanos();
  if (now >= deadline) return false;
  dds_attach_t triggered;
  return checked(dds_waitset_wait(waitset, &triggered, 1, (dds_duration_t) (deadline - now)), "dds_waitset_wait") > 0;
}

static dds_entity_t new_waitset(dds_entity_t participant, dds_entity_t entity, uint32_t statuses) {
  checked(dds_set_status_mask(entity, statuses), "dds_set_status_mask");
  const dds_entity_t waitset = checked(dds_create_waitset(participant), "dds_create_waitset");
  checked(dds_waitset_attach(waitset, entity, 0), "dds_waitset_attach");
  return waitset;
}

/* Waits until the publication has a subscription (`wanted`), or has none any more; says whether it came to that. */
static bool wait_for_match(dds_entity_t writer, dds_entity_t waitset, bool wanted, uint64_t deadline) {
  dds_publication_matched_status_t status;
  for (;;) {
    checked(dds_get_publication_matched_status(writer, &status), "dds_get_publication_matched_status");
    if ((status.current_count > 0) == wanted) return true;
    if (!wait_for(waitset, deadline)) return false;
  }
}

static void publish(dds_entity_t participant, dds_entity_t topic, const dds_qos_t *qos, const struct options *o,
                    uint64_t deadline) {
  const dds_entity_t writer = checked(dds_create_writer(participant, topic, qos, NULL), "dds_create_writer");
  const dds_entity_t waitset = new_waitset(participant, writer, DDS_PUBLICATION_MATCHED_STATUS);
  if (!wait_for_match(writer, waitset, true, deadline)) fail("waiting for the subscription", "time is over");
  struct bytes message = {
    .data = {._maximum = (uint32_t) o->size_bytes, ._length = (uint32_t) o->size_bytes, ._buffer = dds_alloc(o->size_bytes)},
  };
  memset(message.data._buffer, 0x5a, o->size_bytes);
  const uint64_t begin = now_nanos() + 100000000u;
  for (uint64_t n = 0; n < WARM_UP + o->count; n++) {
    sleep_until(due_nanos(begin, n, o->rate_hz));
    stamp(message.data._buffer, n);
    checked(dds_write(writer, &message), "dds_write");
  }
  if (o->reliable) dds_wait_for_acks(writer, (dds_duration_t) (deadline - now_nanos()));
  /* The subscription leaves with the last message. If that one was lost it cannot know: then it sees us leave. */
  wait_for_match(writer, waitset, false, now_nanos() + LINGER_NANOS);
  dds_free(message.data._buffer);
  print_sent(o);
}

static void subscribe(dds_entity_t participant, dds_entity_t topic, const dds_qos_t *qos, const struct options *o,
                      uint64_t deadline) {
  const dds_entity_t reader = checked(dds_create_reader(participant, topic, qos, NULL), "dds_create_reader");
  const dds_entity_t waitset =
    new_waitset(participant, reader, DDS_DATA_AVAILABLE_STATUS | DDS_SUBSCRIPTION_MATCHED_STATUS);
  struct samples samples = new_samples(o->count);
  struct bytes message = {0};
  void *buffers[1] = {&message};
  dds_sample_info_t info[1];
  bool last = false;
  while (!last && wait_for(waitset, deadline)) {
    dds_subscription_matched_status_t matched;
    checked(dds_get_subscription_matched_status(reader, &matched), "dds_get_subscription_matched_status");
    while (!last && checked(dds_take(reader, buffers, info, 1, 1), "dds_take") == 1) {
      if (!info[0].valid_data) continue;
      last = note(&samples, o, message.data._buffer, message.data._length, now_nanos());
    }
    /* A publisher that came and went: what has not arrived never will. */
    if (matched.total_count > 0 && matched.current_count == 0) break;
  }
  if (message.data._release) dds_free(message.data._buffer);
  print_samples(&samples, o);
  free(samples.nanos);
}

int main(int argc, char **argv) {
  const struct options o = parse_options(argc, argv, true);
  const uint64_t deadline = now_nanos() + o.timeout_seconds * 1000000000u;
  const dds_entity_t participant =
    checked(dds_create_participant((dds_domainid_t) o.domain, NULL, NULL), "dds_create_participant");
  const dds_entity_t topic =
    checked(dds_create_topic(participant, &bytes_type, "feros_lab_latency", NULL, NULL), "dds_create_topic");
  dds_qos_t *qos = ros_default_qos(&o);
  if (o.publisher) {
    publish(participant, topic, qos, &o, deadline);
  } else {
    subscribe(participant, topic, qos, &o, deadline);
  }
  dds_delete_qos(qos);
  checked(dds_delete(participant), "dds_delete");
  return 0;
}
