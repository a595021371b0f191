/* The engine of Feros without Feros. It shows the numbers of a C program that calls only the API of Cyclone
 * DDS, which no ROS 2 client on Cyclone DDS can beat.
 *
 * Fairness: it uses the QoS of a ROS 2 profile, plain CDR, and a type with one field. It keeps one sample and takes
 * every message into it, so that the payload's memory is allocated once. `--receive waitset` (default): a thread of this
 * program waits and takes, like an executor; `listener`: the callback runs on the engine's receiving thread, which is the
 * fastest mode of the API. */
#include <pthread.h>

#include "dds/dds.h"
#include "dds/version.h"

#include "../contract.h"

struct bytes { /* struct Bytes { sequence<octet> data; }; final, no key */
  struct {
    uint32_t _maximum, _length;
    uint8_t *_buffer;
    bool _release;
  } data;
};
struct text { /* struct Text { string data; }; final, no key */
  char *data;
};
static const uint32_t bytes_ops[] = {
    DDS_OP_ADR | DDS_OP_TYPE_SEQ | DDS_OP_SUBTYPE_1BY, offsetof(struct bytes, data), DDS_OP_RTS};
static const uint32_t text_ops[] = {DDS_OP_ADR | DDS_OP_TYPE_STR, offsetof(struct text, data), DDS_OP_RTS};
static const dds_topic_descriptor_t bytes_type = {.m_size = sizeof(struct bytes),
                                                  .m_align = _Alignof(struct bytes),
                                                  .m_typename = "feros_lab::Bytes",
                                                  .m_nops = 2,
                                                  .m_ops = bytes_ops,
                                                  .m_meta = ""};
static const dds_topic_descriptor_t text_type = {.m_size = sizeof(struct text),
                                                 .m_align = _Alignof(struct text),
                                                 .m_typename = "feros_lab::Text",
                                                 .m_nops = 2,
                                                 .m_ops = text_ops,
                                                 .m_meta = ""};
union message {
  struct bytes bytes;
  struct text text;
};

/* A relay is ready once it has a subscription, or after this time. */
#define RELAY_PATIENCE_NANOS 5000000000u

static struct contract c;
static bool uses_listener;

static dds_entity_t checked(dds_return_t code, const char *what) {
  if (code < 0) contract_error("failed", what, dds_strretcode(code));
  return code;
}

/* ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST restricts this program as it does programs of ROS 2. */
static void obey_discovery_range(void) {
  static const char local[] =
      "<CycloneDDS><Domain><General><Interfaces><NetworkInterface address=\"127.0.0.1\"/></Interfaces>"
      "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
      "<MaxAutoParticipantIndex>119</MaxAutoParticipantIndex><Peers><Peer address=\"127.0.0.1\"/></Peers></Discovery>"
      "</Domain></CycloneDDS>";
  const char *range = getenv("ROS_AUTOMATIC_DISCOVERY_RANGE"), *before = getenv("CYCLONEDDS_URI");
  if (range == NULL || strcmp(range, "LOCALHOST") != 0) return;
  if (before == NULL) before = "";
  if (strstr(before, "NetworkInterface") != NULL) return;
  const size_t size = sizeof local + 1 + strlen(before);
  char *both = (char *) malloc(size);
  if (both == NULL) contract_error("failed", "memory for CYCLONEDDS_URI", strerror(errno));
  snprintf(both, size, "%s%s%s", local, *before != '\0' ? "," : "", before);
  setenv("CYCLONEDDS_URI", both, 1);
  free(both);
}

static dds_entity_t new_participant(void) {
  const char *domain = getenv("ROS_DOMAIN_ID");
  return checked(dds_create_participant(domain != NULL ? (dds_domainid_t) atoi(domain) : 0, NULL, NULL), "dds_create_participant");
}

static dds_qos_t *new_qos(void) {
  dds_qos_t *qos = dds_create_qos();
  const dds_data_representation_id_t xcdr1 = DDS_DATA_REPRESENTATION_XCDR1;
  const dds_history_kind_t history = c.is_keep_all ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST;
  dds_qset_data_representation(qos, 1, &xcdr1);
  dds_qset_reliability(qos, c.is_reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, DDS_INFINITY);
  dds_qset_durability(qos, c.is_transient_local ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE);
  dds_qset_history(qos, history, (int32_t) c.depth);
  if (c.is_transient_local)
    dds_qset_durability_service(qos, 0, history, (int32_t) c.depth, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
  if (c.deadline_ms > 0) dds_qset_deadline(qos, (dds_duration_t) (c.deadline_ms * 1e6));
  dds_qset_writer_data_lifecycle(qos, false);
  return qos;
}

static dds_entity_t new_topic(dds_entity_t participant, const char *name) {
  return checked(dds_create_topic(participant, c.is_string ? &text_type : &bytes_type, name, NULL, NULL), "dds_create_topic");
}

/* --- sending ----------------------------------------------------------------------------------------------------- */

struct sending {
  dds_entity_t writer;
  struct contract_published published;
};

static void begin_sending(struct sending *s, dds_entity_t participant, const char *topic) {
  dds_qos_t *qos = new_qos();
  s->writer = checked(dds_create_writer(participant, new_topic(participant, topic), qos, NULL), "dds_create_writer");
  dds_delete_qos(qos);
  contract_published_init(&s->published, &c);
}

static uint64_t matches(dds_entity_t writer) {
  dds_publication_matched_status_t status;
  checked(dds_get_publication_matched_status(writer, &status), "dds_get_publication_matched_status");
  return status.current_count;
}

static void wait_for_matches(dds_entity_t writer, uint64_t wanted) {
  while (matches(writer) < wanted)
    if (contract_wait_stopped(&c, 1)) contract_error("not-matched", "the subscriptions were not found in time", NULL);
}

static void *new_message(union message *message) {
  char *payload = (char *) dds_alloc(c.size_bytes + 1);
  contract_fill(&c, payload);
  payload[c.size_bytes] = '\0';
  memset(message, 0, sizeof *message);
  if (c.is_string) {
    message->text.data = payload;
  } else {
    message->bytes.data._maximum = message->bytes.data._length = (uint32_t) c.size_bytes;
    message->bytes.data._buffer = (uint8_t *) payload;
  }
  return payload;
}

static void send_all(struct sending *s) {
  union message message;
  void *payload = new_message(&message);
  struct contract_pace pace;
  uint64_t number;
  contract_pace_begin(&pace, &c);
  while (contract_pace_next(&pace, &number)) {
    const uint64_t at = contract_stamp(&c, payload, number);
    checked(dds_write(s->writer, &message), "dds_write");
    contract_note_published(&s->published, number, at, contract_now());
  }
  if (c.is_reliable) dds_wait_for_acks(s->writer, DDS_SECS(2));
}

/* --- receiving --------------------------------------------------------------------------------------------------- */

struct receiving {
  dds_entity_t reader;
  union message message; /* kept, so that its memory is reused */
  struct contract quiet; /* for a relay: the same arguments without samples */
  struct contract_samples samples;
  struct sending *relay_to;
};

/* A thread of this program that waits for readers. */
struct waiting {
  struct receiving **all;
  size_t count;
  dds_entity_t waitset;
  pthread_t thread;
  bool is_over; /* accessed with __atomic */
};

static void take_all(struct receiving *r) {
  for (;;) {
    void *sample = &r->message;
    dds_sample_info_t info;
    if (checked(dds_take(r->reader, &sample, &info, 1, 1), "dds_take") == 0) return;
    const uint64_t now = contract_now();
    if (!info.valid_data) continue;
    const void *payload = c.is_string ? (const void *) r->message.text.data : r->message.bytes.data._buffer;
    const size_t size = c.is_string ? strlen(r->message.text.data) : r->message.bytes.data._length;
    if (r->relay_to != NULL) {
      const uint64_t at = contract_now();
      checked(dds_write(r->relay_to->writer, &r->message), "dds_write");
      contract_note_published(&r->relay_to->published, r->relay_to->published.sent, at, contract_now());
    }
    contract_note_received(&r->samples, payload, size, now);
  }
}

static void on_data(dds_entity_t reader, void *argument) {
  (void) reader;
  take_all((struct receiving *) argument);
}

static void begin_receiving(struct receiving *r, dds_entity_t participant, const char *topic, uint64_t index, struct sending *to) {
  memset(r, 0, sizeof *r);
  r->quiet = c;
  r->relay_to = to;
  if (to != NULL) r->quiet.keeps_samples = false;
  contract_samples_init(&r->samples, &r->quiet, index);
  dds_listener_t *listener = dds_create_listener(r);
  if (uses_listener) dds_lset_data_available(listener, on_data);
  dds_qos_t *qos = new_qos();
  r->reader = checked(dds_create_reader(participant, new_topic(participant, topic), qos, listener), "dds_create_reader");
  dds_delete_qos(qos);
  dds_delete_listener(listener);
}

static void begin_waiting(struct waiting *w, dds_entity_t participant, struct receiving **all, size_t count) {
  memset(w, 0, sizeof *w);
  w->all = all;
  w->count = count;
  if (uses_listener) return;
  w->waitset = checked(dds_create_waitset(participant), "dds_create_waitset");
  for (size_t i = 0; i < count; i++) {
    checked(dds_set_status_mask(all[i]->reader, DDS_DATA_AVAILABLE_STATUS), "dds_set_status_mask");
    checked(dds_waitset_attach(w->waitset, all[i]->reader, (dds_attach_t) all[i]), "dds_waitset_attach");
  }
}

/* Takes messages until another thread, the last message or the laboratory ends the loop. */
static void wait_and_take(struct waiting *w, bool is_alone) {
  dds_attach_t *const triggered = (dds_attach_t *) calloc(w->count, sizeof *triggered);
  while (!__atomic_load_n(&w->is_over, __ATOMIC_ACQUIRE)) {
    if (is_alone && (contract_samples_done(&w->all[0]->samples) || contract_stopped(&c))) break;
    const int found = checked(dds_waitset_wait(w->waitset, triggered, w->count, DDS_MSECS(200)), "dds_waitset_wait");
    for (int i = 0; i < found; i++) take_all((struct receiving *) triggered[i]);
  }
  free(triggered);
}

static void *waiting_thread(void *argument) {
  wait_and_take((struct waiting *) argument, false);
  return NULL;
}

static void start(struct waiting *w) {
  if (!uses_listener && pthread_create(&w->thread, NULL, waiting_thread, w) != 0)
    contract_error("failed", "a thread cannot be started", NULL);
}

static void stop(struct waiting *w) {
  __atomic_store_n(&w->is_over, true, __ATOMIC_RELEASE);
  if (!uses_listener) pthread_join(w->thread, NULL);
}

static void receive_until_done(struct waiting *w) {
  if (!uses_listener) wait_and_take(w, true);
  else while (!contract_samples_done(&w->all[0]->samples) && !contract_wait_stopped(&c, 5)) continue;
}

/* --- roles ------------------------------------------------------------------------------------------------------- */

static void talker(dds_entity_t participant) {
  struct sending sending;
  begin_sending(&sending, participant, c.topic);
  wait_for_matches(sending.writer, c.matched);
  contract_ready();
  send_all(&sending);
  contract_end(&sending.published, NULL, 0);
}

static void listener_or_relay(dds_entity_t participant) {
  struct sending sending;
  struct receiving receiving, *all[] = {&receiving};
  struct contract_samples *samples[] = {&receiving.samples};
  struct waiting waiting;
  const bool is_relay = c.role == CONTRACT_RELAY;
  if (is_relay) begin_sending(&sending, participant, c.to);
  begin_receiving(&receiving, participant, c.topic, c.index, is_relay ? &sending : NULL);
  begin_waiting(&waiting, participant, all, 1);
  for (const uint64_t until = contract_now() + RELAY_PATIENCE_NANOS; is_relay && matches(sending.writer) == 0;)
    if (contract_wait_stopped(&c, 1) || contract_now() > until) break;
  contract_ready();
  receive_until_done(&waiting);
  if (is_relay && c.is_reliable) dds_wait_for_acks(sending.writer, DDS_SECS(2));
  contract_end(is_relay ? &sending.published : NULL, samples, 1);
}

/* One wait set and thread for all subscriptions; with --executor multi or isolated, one for each. */
static void pair(dds_entity_t participant) {
  const size_t n = c.subscriptions, threads = c.executor >= CONTRACT_EXECUTOR_MULTI ? n : 1;
  struct receiving *const receiving = (struct receiving *) calloc(n, sizeof *receiving), *all[n];
  struct waiting *const waiting = (struct waiting *) calloc(threads, sizeof *waiting);
  struct contract_samples *samples[n];
  struct sending sending;
  for (size_t i = 0; i < n; i++) {
    all[i] = &receiving[i];
    samples[i] = &receiving[i].samples;
    begin_receiving(all[i], participant, c.topic, i, NULL);
  }
  begin_sending(&sending, participant, c.topic);
  for (size_t i = 0; i < threads; i++) {
    begin_waiting(&waiting[i], participant, all + i, threads == 1 ? n : 1);
    start(&waiting[i]);
  }
  wait_for_matches(sending.writer, n);
  contract_ready();
  send_all(&sending);
  contract_wait_received(&c, samples, n, sending.published.sent);
  for (size_t i = 0; i < threads; i++) stop(&waiting[i]);
  contract_end(&sending.published, samples, n);
}

static void chain(dds_entity_t participant) {
  const size_t hops = c.nodes - 1;
  char (*names)[256] = (char (*)[256]) calloc(hops, sizeof *names);
  struct sending *const sending = (struct sending *) calloc(hops, sizeof *sending);
  struct receiving *const receiving = (struct receiving *) calloc(hops, sizeof *receiving), *all[hops];
  struct waiting *const waiting = (struct waiting *) calloc(hops, sizeof *waiting);
  for (size_t i = 0; i < hops; i++) {
    snprintf(names[i], sizeof names[i], "%s_%zu", c.topic, i);
    begin_sending(&sending[i], participant, names[i]);
  }
  for (size_t i = 0; i < hops; i++) {
    all[i] = &receiving[i];
    begin_receiving(all[i], participant, names[i], 0, i + 1 < hops ? &sending[i + 1] : NULL);
    begin_waiting(&waiting[i], participant, all + i, 1);
    start(&waiting[i]);
  }
  for (size_t i = 0; i < hops; i++) wait_for_matches(sending[i].writer, 1);
  contract_ready();
  send_all(&sending[0]);
  struct contract_samples *samples[] = {&receiving[hops - 1].samples};
  contract_wait_received(&c, samples, 1, sending[0].published.sent);
  for (size_t i = 0; i < hops; i++) stop(&waiting[i]);
  contract_end(&sending[0].published, samples, 1);
}

/* DDS has no nodes; a participant comes nearest. One already exists. */
static void nodes(void) {
  for (uint64_t i = 1; i < c.nodes; i++) new_participant();
  contract_ready();
  while (!contract_wait_stopped(&c, 1000)) continue;
  contract_end(NULL, NULL, 0);
}

int main(int argc, char **argv) {
  static const char *const ways[] = {"waitset", "listener", NULL};
  struct contract_extra extras[] = {{"--receive", ways, "waitset"}};
  contract_parse(&c, argc, argv, extras, 1);
  uses_listener = strcmp(extras[0].value, "listener") == 0;
  const char *configured = getenv("FEROS_LAB_CONFIGURED");
  char version[256];
  snprintf(version, sizeof version, "Cyclone DDS %s%s", DDS_VERSION, configured != NULL ? configured : "");
  contract_hello(&c, SYSTEM, version);
  if (c.publish == CONTRACT_PUBLISH_ASYNC) contract_error("unsupported", "a write is always synchronous", NULL);
  if (c.placement == CONTRACT_INTRA) contract_error("unsupported", "there is no pointer way", NULL);
  obey_discovery_range();
  const dds_entity_t participant = new_participant();
  switch (c.role) {
    case CONTRACT_TALKER: talker(participant); break;
    case CONTRACT_LISTENER:
    case CONTRACT_RELAY: listener_or_relay(participant); break;
    case CONTRACT_PAIR: pair(participant); break;
    case CONTRACT_CHAIN: chain(participant); break;
    case CONTRACT_NODES: nodes(); break;
    default: contract_error("unsupported", "there is no such role", NULL);
  }
  dds_delete(DDS_CYCLONEDDS_HANDLE);
  return 0;
}
