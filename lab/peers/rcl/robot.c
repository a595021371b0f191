/* The processes of a robot that find each other, and a process that joins them.
 *
 * One thread waits with rcl_wait for requests and messages, as an executor does, and between two waits looks whether the
 * matches are complete. Nobody calls the services or publishes on these topics, so nothing is taken. */
#include "robot.h"

#include <pthread.h>

#include "context.h"
#include "message.h"
#include "nodes.h"

struct member {
  struct full_node node;
  rcl_publisher_t publishers[CONTRACT_ENDPOINTS];
  rcl_subscription_t subscriptions[CONTRACT_ENDPOINTS];
  rcl_publisher_t greeting; /* of member 0: a message that newcomers get, although it was published before they came */
};

static rmw_qos_profile_t greeting_qos(void) {
  rmw_qos_profile_t qos = rmw_qos_profile_default;
  qos.durability = RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL;
  qos.depth = 1;
  return qos;
}

static rcl_publisher_t publisher_on(const char *topic, rcl_node_t *node, const struct contract *c, rmw_qos_profile_t qos) {
  rcl_publisher_t publisher = rcl_get_zero_initialized_publisher();
  rcl_publisher_options_t options = rcl_publisher_get_default_options();
  options.qos = qos;
  checked(rcl_publisher_init(&publisher, node, type_of(c), topic, &options), "rcl_publisher_init");
  return publisher;
}

static rcl_subscription_t subscription_on(const char *topic, rcl_node_t *node, const struct contract *c, rmw_qos_profile_t qos) {
  rcl_subscription_t subscription = rcl_get_zero_initialized_subscription();
  rcl_subscription_options_t options = rcl_subscription_get_default_options();
  options.qos = qos;
  checked(rcl_subscription_init(&subscription, node, type_of(c), topic, &options), "rcl_subscription_init");
  return subscription;
}

static void greet(struct member *member, const struct contract *c) {
  char topic[256];
  struct message message;
  contract_greeting_topic(c, topic, sizeof topic);
  member->greeting = publisher_on(topic, &member->node.node, c, greeting_qos());
  message_init(&message, c, false);
  checked(rcl_publish(&member->greeting, memory_of(&message), NULL), "rcl_publish");
  message_fini(&message);
}

static void member_init(struct member *member, const struct contract *c) {
  char topic[256];
  full_node_init(&member->node, c->index);
  for (unsigned e = 0; e < CONTRACT_ENDPOINTS; e++) {
    contract_published_topic(c, e, topic, sizeof topic);
    member->publishers[e] = publisher_on(topic, &member->node.node, c, rmw_qos_profile_default);
    contract_subscribed_topic(c, e, topic, sizeof topic);
    member->subscriptions[e] = subscription_on(topic, &member->node.node, c, rmw_qos_profile_default);
  }
  if (c->index == 0) greet(member, c);
}

static void member_fini(struct member *member, const struct contract *c) {
  rcl_node_t *node = &member->node.node;
  for (unsigned e = 0; e < CONTRACT_ENDPOINTS; e++) {
    checked(rcl_publisher_fini(&member->publishers[e], node), "rcl_publisher_fini");
    checked(rcl_subscription_fini(&member->subscriptions[e], node), "rcl_subscription_fini");
  }
  if (c->index == 0) checked(rcl_publisher_fini(&member->greeting, node), "rcl_publisher_fini");
  full_node_fini(&member->node);
}

/* Whether every expected match is there. */
static bool is_matched(const struct member *member, const struct contract *c) {
  const size_t wanted = contract_matches(c);
  for (unsigned e = 0; e < CONTRACT_ENDPOINTS; e++) {
    size_t matches = 0;
    checked(rcl_publisher_get_subscription_count(&member->publishers[e], &matches), "rcl_publisher_get_subscription_count");
    if (matches < wanted) return false;
  }
  for (unsigned e = 0; e < CONTRACT_ENDPOINTS; e++) {
    size_t matches = 0;
    checked(rcl_subscription_get_publisher_count(&member->subscriptions[e], &matches), "rcl_subscription_get_publisher_count");
    if (matches < wanted) return false;
  }
  return true;
}

static void wait_for(rcl_wait_set_t *set, int64_t nanos) {
  const rcl_ret_t code = rcl_wait(set, nanos);
  if (code != RCL_RET_TIMEOUT) checked(code, "rcl_wait");
}

/* Reports when every match is there; returns at SIGINT or at the end of standard input. */
static void stay(const struct member *member, const struct contract *c, struct end *end) {
  bool is_settled = false;
  rcl_wait_set_t set = rcl_get_zero_initialized_wait_set();
  checked(rcl_wait_set_init(&set, CONTRACT_ENDPOINTS, 1, 0, 0, PARAMETER_SERVICES, 0, &context, rcl_get_default_allocator()),
          "rcl_wait_set_init");
  while (!ended(end)) {
    if (!is_settled && is_matched(member, c)) {
      contract_settled(contract_now());
      is_settled = true;
    }
    checked(rcl_wait_set_clear(&set), "rcl_wait_set_clear");
    checked(rcl_wait_set_add_guard_condition(&set, &end->guards[0], NULL), "rcl_wait_set_add_guard_condition");
    full_node_wait(&member->node, &set);
    for (unsigned e = 0; e < CONTRACT_ENDPOINTS; e++)
      checked(rcl_wait_set_add_subscription(&set, &member->subscriptions[e], NULL), "rcl_wait_set_add_subscription");
    wait_for(&set, is_settled ? -1 : (int64_t) contract_look_nanos(c));
  }
  checked(rcl_wait_set_fini(&set), "rcl_wait_set_fini");
  if (!is_settled) contract_error("not-matched", "its matches were not complete when it had to end", NULL);
}

void member(const struct contract *c) {
  struct member *member = (struct member *) calloc(1, sizeof *member);
  struct end end;
  if (member == NULL) contract_error("failed", "a member", "no memory");
  contract_stop_on_interrupt();
  member_init(member, c);
  end_init(&end, c, 1);
  const pthread_t stop = end_when_stopped(&end);
  contract_ready();
  stay(member, c, &end);
  pthread_join(stop, NULL);
  contract_end(NULL, NULL, 0);
  end_fini(&end);
  member_fini(member, c);
  free(member);
}

/* Takes the message that member 0 keeps; returns when it came, or 0 if the program has to end before. */
static uint64_t first_message(rcl_subscription_t *subscription, const struct contract *c, struct end *end) {
  uint64_t at = 0;
  struct message message;
  message_init(&message, c, false);
  rcl_wait_set_t set = rcl_get_zero_initialized_wait_set();
  checked(rcl_wait_set_init(&set, 1, 1, 0, 0, 0, 0, &context, rcl_get_default_allocator()), "rcl_wait_set_init");
  while (at == 0 && !ended(end)) {
    checked(rcl_wait_set_clear(&set), "rcl_wait_set_clear");
    checked(rcl_wait_set_add_guard_condition(&set, &end->guards[0], NULL), "rcl_wait_set_add_guard_condition");
    checked(rcl_wait_set_add_subscription(&set, subscription, NULL), "rcl_wait_set_add_subscription");
    wait_for(&set, -1);
    rmw_message_info_t info;
    const rcl_ret_t code = rcl_take(subscription, memory_of(&message), &info, NULL);
    if (code == RCL_RET_OK) at = contract_now();
    else rcl_reset_error();
  }
  checked(rcl_wait_set_fini(&set), "rcl_wait_set_fini");
  message_fini(&message);
  return at;
}

void newcomer(const struct contract *c) {
  char topic[256];
  struct full_node node;
  struct end end;
  contract_stop_on_interrupt();
  full_node_init(&node, 0);
  contract_greeting_topic(c, topic, sizeof topic);
  rcl_subscription_t subscription = subscription_on(topic, &node.node, c, greeting_qos());
  end_init(&end, c, 1);
  const pthread_t stop = end_when_stopped(&end);
  contract_ready();
  const uint64_t at = first_message(&subscription, c, &end);
  if (at == 0) contract_error("not-matched", "no message came until it had to end", NULL);
  contract_settled(at);
  contract_end(NULL, NULL, 0);
  if (pthread_cancel(stop) == 0) pthread_join(stop, NULL);
  end_fini(&end);
  checked(rcl_subscription_fini(&subscription, &node.node), "rcl_subscription_fini");
  full_node_fini(&node);
}
