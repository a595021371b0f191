/* Why this exists: stock ROS 2 measured at its fastest, through `rcl` in C, without the cost of rclpy or of an executor.
 * See latency.h for the contract.
 *
 * How fair it is: the ROS 2 Kilted wheels as installed (rcl, rmw_fastrtps_cpp, Fast DDS), nothing configured: between
 * two processes of one host Fast DDS then chooses its own shared memory. Type std_msgs/msg/UInt8MultiArray with an empty
 * layout, default QoS profile (keep last 10, volatile). As in rclcpp, the wait set is filled for every wait; the message
 * that is taken into is kept, so its buffer is allocated once. Logging to /rosout and parameter services, which every
 * rclcpp node has, are off here: they would only cost. */
#include <rcl/error_handling.h>
#include <rcl/rcl.h>
#include <rosidl_runtime_c/primitives_sequence_functions.h>
#include <std_msgs/msg/u_int8_multi_array.h>

#include "latency.h"

/* librcl.so of the wheels is linked to libraries of the Python bindings, which nothing here calls. So that no Python
 * has to be in the process, their two variables are defined here, and their functions stay unresolved until called. */
char _Py_TrueStruct[64];
void *PyExc_RuntimeError;

static void checked(rcl_ret_t code, const char *what) {
  if (code != RCL_RET_OK) fail(what, rcl_error_is_set() ? rcl_get_error_string().str : "no reason given");
}

static const rosidl_message_type_support_t *type_support(void) {
  return ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, UInt8MultiArray);
}

static rmw_qos_profile_t qos_of(const struct options *o) {
  rmw_qos_profile_t qos = rmw_qos_profile_default;
  qos.reliability = o->reliable ? RMW_QOS_POLICY_RELIABILITY_RELIABLE : RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
  return qos;
}

/* rcl has no call that waits for a match: looked at every 5 ms, outside of what is measured. */
static bool wait_for_match(const rcl_publisher_t *publisher, bool wanted, uint64_t deadline) {
  for (;;) {
    size_t matches = 0;
    checked(rcl_publisher_get_subscription_count(publisher, &matches), "rcl_publisher_get_subscription_count");
    if ((matches > 0) == wanted) return true;
    const uint64_t now = now_nanos();
    if (now >= deadline) return false;
    sleep_until(now + 5000000u);
  }
}

static void publish(rcl_node_t *node, const struct options *o, uint64_t deadline) {
  rcl_publisher_t publisher = rcl_get_zero_initialized_publisher();
  rcl_publisher_options_t options = rcl_publisher_get_default_options();
  options.qos = qos_of(o);
  checked(rcl_publisher_init(&publisher, node, type_support(), "feros_lab_latency", &options), "rcl_publisher_init");
  std_msgs__msg__UInt8MultiArray message;
  if (!std_msgs__msg__UInt8MultiArray__init(&message) ||
      !rosidl_runtime_c__uint8__Sequence__init(&message.data, o->size_bytes))
    fail("message", "no memory");
  memset(message.data.data, 0x5a, o->size_bytes);
  if (!wait_for_match(&publisher, true, deadline)) fail("waiting for the subscription", "time is over");
  const uint64_t begin = now_nanos() + 100000000u;
  for (uint64_t n = 0; n < WARM_UP + o->count; n++) {
    sleep_until(due_nanos(begin, n, o->rate_hz));
    stamp(message.data.data, n);
    checked(rcl_publish(&publisher, &message, NULL), "rcl_publish");
  }
  if (o->reliable) {
    const uint64_t now = now_nanos();
    /* A time-out is not an error here: what is missing is counted as lost on the other side. */
    if (now < deadline && rcl_publisher_wait_for_all_acked(&publisher, (rcl_duration_value_t) (deadline - now)) != RCL_RET_OK)
      rcl_reset_error();
  }
  /* The subscription leaves with the last message. If that one was lost it cannot know: then it sees us leave. */
  wait_for_match(&publisher, false, now_nanos() + LINGER_NANOS);
  std_msgs__msg__UInt8MultiArray__fini(&message);
  checked(rcl_publisher_fini(&publisher, node), "rcl_publisher_fini");
  print_sent(o);
}

/* Takes everything that is there; says whether the last message of the run was among it. */
static bool take_all(rcl_subscription_t *subscription, std_msgs__msg__UInt8MultiArray *message, struct samples *samples,
                     const struct options *o) {
  for (;;) {
    rmw_message_info_t info;
    const rcl_ret_t code = rcl_take(subscription, message, &info, NULL);
    if (code == RCL_RET_SUBSCRIPTION_TAKE_FAILED) {
      rcl_reset_error();
      return false;
    }
    checked(code, "rcl_take");
    if (note(samples, o, message->data.data, message->data.size, now_nanos())) return true;
  }
}

static void subscribe(rcl_context_t *context, rcl_node_t *node, const struct options *o, uint64_t deadline) {
  rcl_subscription_t subscription = rcl_get_zero_initialized_subscription();
  rcl_subscription_options_t options = rcl_subscription_get_default_options();
  options.qos = qos_of(o);
  checked(rcl_subscription_init(&subscription, node, type_support(), "feros_lab_latency", &options),
          "rcl_subscription_init");
  rcl_wait_set_t wait_set = rcl_get_zero_initialized_wait_set();
  checked(rcl_wait_set_init(&wait_set, 1, 0, 0, 0, 0, 0, context, rcl_get_default_allocator()), "rcl_wait_set_init");
  std_msgs__msg__UInt8MultiArray message;
  if (!std_msgs__msg__UInt8MultiArray__init(&message)) fail("message", "no memory");
  struct samples samples = new_samples(o->count);
  bool last = false, matched = false;
  for (uint64_t now = now_nanos(); !last && now < deadline; now = now_nanos()) {
    checked(rcl_wait_set_clear(&wait_set), "rcl_wait_set_clear");
    checked(rcl_wait_set_add_subscription(&wait_set, &subscription, NULL), "rcl_wait_set_add_subscription");
    const rcl_ret_t code = rcl_wait(&wait_set, 500000000);
    if (code == RCL_RET_OK) {
      last = take_all(&subscription, &message, &samples, o);
      continue;
    }
    if (code != RCL_RET_TIMEOUT) checked(code, "rcl_wait");
    rcl_reset_error();
    size_t publishers = 0;
    checked(rcl_subscription_get_publisher_count(&subscription, &publishers), "rcl_subscription_get_publisher_count");
    /* A publisher that came and went: what has not arrived never will. */
    if (matched && publishers == 0) break;
    matched = matched || publishers > 0;
  }
  std_msgs__msg__UInt8MultiArray__fini(&message);
  checked(rcl_wait_set_fini(&wait_set), "rcl_wait_set_fini");
  checked(rcl_subscription_fini(&subscription, node), "rcl_subscription_fini");
  print_samples(&samples, o);
  free(samples.nanos);
}

int main(int argc, char **argv) {
  const struct options o = parse_options(argc, argv, true);
  const uint64_t deadline = now_nanos() + o.timeout_seconds * 1000000000u;
  rcl_init_options_t init = rcl_get_zero_initialized_init_options();
  checked(rcl_init_options_init(&init, rcl_get_default_allocator()), "rcl_init_options_init");
  checked(rcl_init_options_set_domain_id(&init, o.domain), "rcl_init_options_set_domain_id");
  rcl_context_t context = rcl_get_zero_initialized_context();
  checked(rcl_init(0, NULL, &init, &context), "rcl_init");
  rcl_node_t node = rcl_get_zero_initialized_node();
  rcl_node_options_t node_options = rcl_node_get_default_options();
  node_options.enable_rosout = false;
  checked(rcl_node_init(&node, o.publisher ? "latency_pub" : "latency_sub", "", &context, &node_options), "rcl_node_init");
  if (o.publisher) {
    publish(&node, &o, deadline);
  } else {
    subscribe(&context, &node, &o, deadline);
  }
  checked(rcl_node_fini(&node), "rcl_node_fini");
  checked(rcl_shutdown(&context), "rcl_shutdown");
  checked(rcl_context_fini(&context), "rcl_context_fini");
  checked(rcl_init_options_fini(&init), "rcl_init_options_fini");
  return 0;
}
