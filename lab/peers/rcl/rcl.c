/* Measures stock ROS 2 at its fastest: `rcl` in C, without the cost of an executor of rclcpp or rclpy.
 * The contract is in ../README.md.
 *
 * Fairness: the ROS 2 Kilted wheels as installed (rcl, rmw_fastrtps_cpp, Fast DDS). As in rclcpp, the wait set is
 * filled for every wait. Unlike in rclcpp, all available messages are taken before the next wait, and all are taken into the
 * same message, so that its buffer is allocated only once. Nodes that carry messages have neither /rosout nor parameter
 * services, which would only add cost. (The role `nodes` has them, because it measures them.)
 *
 * Placements: `composed` is publisher and subscriptions in one process and one context; Fast DDS then delivers from writer to
 * reader without a transport, serialized. rcl always serializes, so there is no `intra`. rcl has no executors. `single` (the
 * default) waits with one wait set on one thread for all subscriptions, `isolated` with one for each; the main thread
 * publishes. */
#include <pthread.h>

#include "calls.h"
#include "context.h"
#include "layers.h"
#include "message.h"
#include "nodes.h"
#include "robot.h"
#include "wait_set.h"

enum { ACKNOWLEDGED_WITHIN_MILLIS = 2000, GONE_WITHIN_MILLIS = 200 };
/* The time that a relay waits for a subscription to its output. */
#define ONWARD_WITHIN_MILLIS 5000ull

/* --- entities ---------------------------------------------------------------------------------------------------- */

static rmw_qos_profile_t qos_of(const struct contract *c) {
  rmw_qos_profile_t qos = rmw_qos_profile_default;
  qos.reliability = c->is_reliable ? RMW_QOS_POLICY_RELIABILITY_RELIABLE : RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
  qos.durability = c->is_transient_local ? RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL : RMW_QOS_POLICY_DURABILITY_VOLATILE;
  qos.history = c->is_keep_all ? RMW_QOS_POLICY_HISTORY_KEEP_ALL : RMW_QOS_POLICY_HISTORY_KEEP_LAST;
  qos.depth = c->depth;
  if (c->deadline_ms > 0) {
    const uint64_t nanos = (uint64_t) (c->deadline_ms * 1e6);
    qos.deadline.sec = nanos / 1000000000u;
    qos.deadline.nsec = nanos % 1000000000u;
  }
  return qos;
}

/* A publisher and the message that it sends. */
struct writer {
  rcl_node_t *node;
  rcl_publisher_t publisher;
};

static void writer_init(struct writer *writer, rcl_node_t *node, const struct contract *c, const char *topic) {
  writer->node = node;
  writer->publisher = rcl_get_zero_initialized_publisher();
  rcl_publisher_options_t options = rcl_publisher_get_default_options();
  options.qos = qos_of(c);
  checked(rcl_publisher_init(&writer->publisher, node, type_of(c), topic, &options), "rcl_publisher_init");
}

static void writer_fini(struct writer *writer) { checked(rcl_publisher_fini(&writer->publisher, writer->node), "rcl_publisher_fini"); }

static size_t matches_of(const struct writer *writer) {
  size_t matches = 0;
  checked(rcl_publisher_get_subscription_count(&writer->publisher, &matches), "rcl_publisher_get_subscription_count");
  return matches;
}

/* rcl has no call that waits for a match, so this checks every 2 ms, before the measurement. */
static void wait_for_matches(const struct writer *writer, const struct contract *c, uint64_t wanted) {
  while (matches_of(writer) < wanted) {
    if (contract_wait_stopped(c, 2)) contract_error("not-matched", "the subscriptions were not found in time", NULL);
  }
}

/* Waits for a subscription to a relay's output, for which the talker cannot wait. It does not wait forever, since a relay
 * may be alone on purpose. */
static void wait_for_onward(const struct writer *writer, const struct contract *c) {
  const uint64_t until = contract_now() + ONWARD_WITHIN_MILLIS * 1000000u;
  while (matches_of(writer) == 0 && contract_now() < until && !contract_wait_stopped(c, 2)) {
  }
}

/* A full "keep all" history refuses a message after a while; then the message is not sent, and the run goes on. */
static bool published(struct writer *writer, struct message *message) {
  if (rcl_publish(&writer->publisher, memory_of(message), NULL) == RCL_RET_OK) return true;
  rcl_reset_error();
  return false;
}

/* A subscription, the message that it takes into and, in a relay, the publisher that passes the message on. */
struct reader {
  rcl_node_t *node;
  rcl_subscription_t subscription;
  struct message message;
  struct contract_samples samples;
  struct writer *onward;
  struct contract_published published;
};

static void reader_init(struct reader *reader, rcl_node_t *node, const struct contract *c, const char *topic, uint64_t index) {
  memset(reader, 0, sizeof *reader);
  reader->node = node;
  reader->subscription = rcl_get_zero_initialized_subscription();
  rcl_subscription_options_t options = rcl_subscription_get_default_options();
  options.qos = qos_of(c);
  checked(rcl_subscription_init(&reader->subscription, node, type_of(c), topic, &options), "rcl_subscription_init");
  message_init(&reader->message, c, false);
  contract_samples_init(&reader->samples, c, index);
}

static void reader_fini(struct reader *reader) {
  message_fini(&reader->message);
  checked(rcl_subscription_fini(&reader->subscription, reader->node), "rcl_subscription_fini");
}

/* --- taking ------------------------------------------------------------------------------------------------------ */

/* A wait set for some subscriptions, and the thread that waits on it. */
struct spin {
  struct end *end;
  size_t wait; /* the number of this wait in `end` */
  struct reader *readers;
  size_t count;
  pthread_t thread;
};

/* Takes all messages and calls back for each; returns whether the last message was among them. */
static bool take_all(struct reader *reader, uint64_t found) {
  bool last = false;
  for (;;) {
    rmw_message_info_t info;
    const rcl_ret_t code = rcl_take(&reader->subscription, memory_of(&reader->message), &info, NULL);
    const uint64_t now = contract_now();
    if (code == RCL_RET_SUBSCRIPTION_TAKE_FAILED) {
      rcl_reset_error();
      return last;
    }
    checked(code, "rcl_take");
    uint64_t stamped, number;
    if (layers_are_on || reader->onward != NULL)
      contract_read_stamp(reader->samples.c, payload_of(&reader->message), &stamped, &number);
    if (layers_are_on)
      layers_note_received(number, info.publisher_gid.data, info.publication_sequence_number, found, now);
    if (reader->onward != NULL) {
      if (published(reader->onward, &reader->message)) contract_note_published(&reader->published, number, now, now);
    }
    last = contract_note_received(&reader->samples, payload_of(&reader->message), size_of(&reader->message), now) || last;
  }
}

static void spin_until_end(struct spin *spin, bool until_last) {
  rcl_wait_set_t set = rcl_get_zero_initialized_wait_set();
  checked(rcl_wait_set_init(&set, spin->count, 1, 0, 0, 0, 0, &context, rcl_get_default_allocator()), "rcl_wait_set_init");
  while (!ended(spin->end)) {
    checked(rcl_wait_set_clear(&set), "rcl_wait_set_clear");
    for (size_t i = 0; i < spin->count; i++)
      checked(rcl_wait_set_add_subscription(&set, &spin->readers[i].subscription, NULL), "rcl_wait_set_add_subscription");
    checked(rcl_wait_set_add_guard_condition(&set, &spin->end->guards[spin->wait], NULL), "rcl_wait_set_add_guard_condition");
    checked(rcl_wait(&set, -1), "rcl_wait");
    const uint64_t found = layers_are_on ? contract_now() : 0;
    bool last = false;
    for (size_t i = 0; i < spin->count; i++)
      if (set.subscriptions[i] != NULL) last = take_all(&spin->readers[i], found) || last;
    if (last && until_last) break;
  }
  checked(rcl_wait_set_fini(&set), "rcl_wait_set_fini");
}

static void *spin_thread(void *spin) {
  spin_until_end((struct spin *) spin, false);
  return NULL;
}

static void spin_start(struct spin *spin, struct end *end, size_t wait, struct reader *readers, size_t count) {
  *spin = (struct spin) {.end = end, .wait = wait, .readers = readers, .count = count};
  if (pthread_create(&spin->thread, NULL, spin_thread, spin) != 0) contract_error("failed", "a thread", strerror(errno));
}

/* --- roles ------------------------------------------------------------------------------------------------------- */

static void publish_all(struct writer *writer, const struct contract *c, struct contract_published *sent) {
  struct message message;
  struct contract_pace pace;
  uint64_t number, refused = 0;
  message_init(&message, c, true);
  contract_published_init(sent, c);
  contract_ready();
  contract_pace_begin(&pace, c);
  while (contract_pace_next(&pace, &number)) {
    const uint64_t at = contract_stamp(c, payload_of(&message), number);
    if (!published(writer, &message)) {
      refused++;
      continue;
    }
    const uint64_t after = contract_now();
    contract_note_published(sent, number, at, after);
    if (layers_are_on) layers_note_published(number, at, after);
  }
  if (refused > 0) fprintf(stderr, "rcl: %llu messages were refused by rcl_publish\n", (unsigned long long) refused);
  message_fini(&message);
}

static void talker(const struct contract *c) {
  rcl_node_t node;
  struct writer writer;
  struct contract_published sent;
  node_init(&node, "talker", 0);
  writer_init(&writer, &node, c, c->topic);
  wait_for_matches(&writer, c, c->matched);
  publish_all(&writer, c, &sent);
  /* A timeout is not an error here: the other side counts missing messages as lost. */
  if (c->is_reliable && rcl_publisher_wait_for_all_acked(&writer.publisher, RCL_MS_TO_NS(ACKNOWLEDGED_WITHIN_MILLIS)) != RCL_RET_OK)
    rcl_reset_error();
  /* Best effort has no acknowledgement; a sending thread gets a moment for its remaining messages. */
  const uint64_t until = contract_now() + GONE_WITHIN_MILLIS * 1000000u;
  while (!c->is_reliable && contract_now() < until && matches_of(&writer) > 0) contract_sleep_millis(2);
  /* The result is written before anything is destroyed, in case the engine hangs then. */
  layers_write(c);
  contract_end(&sent, NULL, 0);
  writer_fini(&writer);
  checked(rcl_node_fini(&node), "rcl_node_fini");
}

/* A listener or relay runs on the main thread; a second thread ends it at the end of standard input. */
static void listener(const struct contract *c) {
  const bool relays = c->role == CONTRACT_RELAY;
  rcl_node_t node;
  struct reader reader;
  struct writer writer;
  struct end end;
  node_init(&node, relays ? "relay" : "listener", c->index);
  if (relays) writer_init(&writer, &node, c, c->to);
  reader_init(&reader, &node, c, c->topic, c->index);
  contract_published_init(&reader.published, c);
  if (relays) reader.onward = &writer;
  end_init(&end, c, 1);
  const pthread_t stop = end_when_stopped(&end);
  if (relays) wait_for_onward(&writer, c);
  contract_ready();
  struct spin spin = {.end = &end, .readers = &reader, .count = 1};
  spin_until_end(&spin, true);
  struct contract_samples *samples = &reader.samples;
  layers_write(c);
  contract_end(relays ? &reader.published : NULL, &samples, 1);
  /* The last messages that a relay passed on have to leave before it ends. */
  if (relays && c->is_reliable && rcl_publisher_wait_for_all_acked(&writer.publisher, RCL_MS_TO_NS(ACKNOWLEDGED_WITHIN_MILLIS)) != RCL_RET_OK)
    rcl_reset_error();
  if (pthread_cancel(stop) == 0) pthread_join(stop, NULL);
  end_fini(&end);
  reader_fini(&reader);
  if (relays) writer_fini(&writer);
  checked(rcl_node_fini(&node), "rcl_node_fini");
}

/* Joins the waiting threads and reports the measurements. */
static void finish(struct end *end, struct spin *spins, size_t n, struct contract_published *sent, struct contract_samples **samples,
                   size_t readers) {
  end_now(end);
  for (size_t i = 0; i < n; i++) pthread_join(spins[i].thread, NULL);
  contract_end(sent, samples, readers);
  end_fini(end);
}

static void *zeroed(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (memory == NULL) contract_error("failed", "entities", "no memory");
  return memory;
}

static void pair(const struct contract *c) {
  const size_t n = c->subscriptions, waits = c->executor == CONTRACT_EXECUTOR_ISOLATED ? n : 1;
  rcl_node_t *nodes = zeroed(n + 1, sizeof *nodes);
  struct reader *readers = zeroed(n, sizeof *readers);
  struct spin *spins = zeroed(waits, sizeof *spins);
  struct contract_samples **samples = zeroed(n, sizeof *samples);
  struct writer writer;
  struct contract_published sent;
  struct end end;
  node_init(&nodes[n], "talker", 0);
  writer_init(&writer, &nodes[n], c, c->topic);
  for (size_t i = 0; i < n; i++) {
    node_init(&nodes[i], "listener", i);
    reader_init(&readers[i], &nodes[i], c, c->topic, i);
    samples[i] = &readers[i].samples;
  }
  end_init(&end, c, waits);
  for (size_t i = 0; i < waits; i++) spin_start(&spins[i], &end, i, &readers[i], waits == 1 ? n : 1);
  wait_for_matches(&writer, c, n);
  publish_all(&writer, c, &sent);
  contract_wait_received(c, samples, n, sent.sent);
  finish(&end, spins, waits, &sent, samples, n);
  for (size_t i = 0; i < n; i++) reader_fini(&readers[i]);
  writer_fini(&writer);
  for (size_t i = 0; i <= n; i++) checked(rcl_node_fini(&nodes[i]), "rcl_node_fini");
  free(nodes), free(readers), free(spins), free(samples);
}

/* Node 0 publishes from the main thread; every other node has its own thread and wait set. */
static void chain(const struct contract *c) {
  const size_t links = c->nodes - 1;
  struct contract counting = *c;
  counting.keeps_samples = false;
  rcl_node_t *nodes = zeroed(c->nodes, sizeof *nodes);
  struct writer *writers = zeroed(links, sizeof *writers);
  struct reader *readers = zeroed(links, sizeof *readers);
  struct spin *spins = zeroed(links, sizeof *spins);
  struct contract_published sent;
  struct end end;
  char topic[256];
  for (size_t i = 0; i < c->nodes; i++) node_init(&nodes[i], "chain", i);
  end_init(&end, c, links);
  for (size_t i = 0; i < links; i++) {
    snprintf(topic, sizeof topic, "%s_%zu", c->topic, i);
    writer_init(&writers[i], &nodes[i], c, topic);
    reader_init(&readers[i], &nodes[i + 1], i + 1 == links ? c : &counting, topic, 0);
    contract_published_init(&readers[i].published, &counting);
    if (i > 0) readers[i - 1].onward = &writers[i];
  }
  for (size_t i = 0; i < links; i++) spin_start(&spins[i], &end, i, &readers[i], 1);
  for (size_t i = 0; i < links; i++) wait_for_matches(&writers[i], c, 1);
  publish_all(&writers[0], c, &sent);
  struct contract_samples *last = &readers[links - 1].samples;
  contract_wait_received(c, &last, 1, sent.sent);
  finish(&end, spins, links, &sent, &last, 1);
  for (size_t i = 0; i < links; i++) reader_fini(&readers[i]);
  for (size_t i = 0; i < links; i++) writer_fini(&writers[i]);
  for (size_t i = 0; i < c->nodes; i++) checked(rcl_node_fini(&nodes[i]), "rcl_node_fini");
  free(nodes), free(writers), free(readers), free(spins);
}

/* The rmw of the wheels is linked; another one has to be preloaded, and its absence must be reported. */
static void check_rmw(void) {
  const char *wanted = getenv("RMW_IMPLEMENTATION");
  if (wanted != NULL && strcmp(wanted, rmw_get_implementation_identifier()) != 0)
    contract_error("failed", "RMW_IMPLEMENTATION names another rmw than the one that is loaded: was its library built?",
                   rmw_get_implementation_identifier());
}

int main(int argc, char **argv) {
  struct contract c;
  contract_parse(&c, argc, argv, NULL, 0);
  layers_init(&c, argv);
  char version[256];
  const char *rmw = rmw_get_implementation_identifier();
  snprintf(version, sizeof version, "%s, %s", RCL_VERSION, strcmp(rmw, "rmw_fastrtps_cpp") == 0 ? RMW_FASTRTPS_VERSION : rmw);
  contract_hello(&c, "rcl", version);
  check_rmw();
  if (c.placement == CONTRACT_INTRA) contract_error("unsupported", "rcl always serializes, even within a process", NULL);
  if (c.executor == CONTRACT_EXECUTOR_MULTI) contract_error("unsupported", "rcl has no executor that spreads callbacks over threads", NULL);
  if (c.publish != CONTRACT_PUBLISH_DEFAULT)
    setenv("RMW_FASTRTPS_PUBLICATION_MODE", c.publish == CONTRACT_PUBLISH_SYNC ? "SYNCHRONOUS" : "ASYNCHRONOUS", 1);
  rcl_init_options_t init = rcl_get_zero_initialized_init_options();
  checked(rcl_init_options_init(&init, rcl_get_default_allocator()), "rcl_init_options_init");
  context = rcl_get_zero_initialized_context();
  checked(rcl_init(0, NULL, &init, &context), "rcl_init");
  switch (c.role) {
    case CONTRACT_TALKER: talker(&c); break;
    case CONTRACT_LISTENER:
    case CONTRACT_RELAY: listener(&c); break;
    case CONTRACT_PAIR: pair(&c); break;
    case CONTRACT_CHAIN: chain(&c); break;
    case CONTRACT_NODES: idle_nodes(&c); break;
    case CONTRACT_EXECUTOR: wait_set_turns(&c); break;
    case CONTRACT_SERVER: server(&c); break;
    case CONTRACT_CLIENT: client(&c); break;
    case CONTRACT_CALLS: both(&c); break;
    case CONTRACT_MEMBER: member(&c); break;
    case CONTRACT_NEWCOMER: newcomer(&c); break;
    default: contract_error("unsupported", "rcl has no such role", NULL);
  }
  checked(rcl_shutdown(&context), "rcl_shutdown");
  checked(rcl_context_fini(&context), "rcl_context_fini");
  checked(rcl_init_options_fini(&init), "rcl_init_options_fini");
  return 0;
}
