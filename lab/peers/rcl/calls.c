/* Servers and clients of a service of stock ROS 2; each response has a string of `--size` characters.
 *
 * Both wait with rcl_wait, like the executors of rclcpp and rclpy; the client waits on the calling thread. */
#include "calls.h"

#include <pthread.h>
#include <rcl/graph.h>
#include <rosidl_runtime_c/string_functions.h>
#include <std_srvs/srv/trigger.h>

#include "context.h"

enum { CALL_WITHIN_SECONDS = 10 };

static const rosidl_service_type_support_t *type(const struct contract *c) {
  if (!c->is_string) contract_error("unsupported", "a response is a string: --type string", NULL);
  return ROSIDL_GET_SRV_TYPE_SUPPORT(std_srvs, srv, Trigger);
}

/* --- server ------------------------------------------------------------------------------------------------------ */

struct serving {
  const struct contract *c;
  struct end *end;
  rcl_node_t node;
  rcl_service_t service;
  std_srvs__srv__Trigger_Response response;
  pthread_t thread;
};

static void serving_init(struct serving *serving, const struct contract *c, struct end *end) {
  serving->c = c;
  serving->end = end;
  node_init(&serving->node, "server", 0);
  serving->service = rcl_get_zero_initialized_service();
  const rcl_service_options_t options = rcl_service_get_default_options();
  checked(rcl_service_init(&serving->service, &serving->node, type(c), c->topic, &options), "rcl_service_init");
  char *text = (char *) malloc(c->size_bytes);
  if (text == NULL || !std_srvs__srv__Trigger_Response__init(&serving->response)) contract_error("failed", "a response", "no memory");
  memset(text, 'z', c->size_bytes);
  serving->response.success = true;
  if (!rosidl_runtime_c__String__assignn(&serving->response.message, text, c->size_bytes))
    contract_error("failed", "a response", "no memory");
  free(text);
}

static void serving_fini(struct serving *serving) {
  std_srvs__srv__Trigger_Response__fini(&serving->response);
  checked(rcl_service_fini(&serving->service, &serving->node), "rcl_service_fini");
  checked(rcl_node_fini(&serving->node), "rcl_node_fini");
}

/* Answers all requests that have come, before the next wait. */
static void answer_all(struct serving *serving) {
  std_srvs__srv__Trigger_Request request;
  if (!std_srvs__srv__Trigger_Request__init(&request)) contract_error("failed", "a request", "no memory");
  rmw_request_id_t id;
  while (rcl_take_request(&serving->service, &id, &request) == RCL_RET_OK) {
    contract_work(serving->c);
    checked(rcl_send_response(&serving->service, &id, &serving->response), "rcl_send_response");
  }
  rcl_reset_error();
  std_srvs__srv__Trigger_Request__fini(&request);
}

static void serve_until_end(struct serving *serving) {
  rcl_wait_set_t set = rcl_get_zero_initialized_wait_set();
  checked(rcl_wait_set_init(&set, 0, 1, 0, 0, 1, 0, &context, rcl_get_default_allocator()), "rcl_wait_set_init");
  while (!ended(serving->end)) {
    checked(rcl_wait_set_clear(&set), "rcl_wait_set_clear");
    checked(rcl_wait_set_add_guard_condition(&set, &serving->end->guards[0], NULL), "rcl_wait_set_add_guard_condition");
    checked(rcl_wait_set_add_service(&set, &serving->service, NULL), "rcl_wait_set_add_service");
    checked(rcl_wait(&set, -1), "rcl_wait");
    if (set.services[0] != NULL) answer_all(serving);
  }
  checked(rcl_wait_set_fini(&set), "rcl_wait_set_fini");
}

static void *serve_thread(void *serving) {
  serve_until_end((struct serving *) serving);
  return NULL;
}

void server(const struct contract *c) {
  struct end end;
  struct serving serving;
  end_init(&end, c, 1);
  serving_init(&serving, c, &end);
  const pthread_t stop = end_when_stopped(&end);
  contract_ready();
  serve_until_end(&serving);
  pthread_join(stop, NULL);
  contract_end(NULL, NULL, 0);
  serving_fini(&serving);
  end_fini(&end);
}

/* --- client ------------------------------------------------------------------------------------------------------ */

struct calling {
  const struct contract *c;
  rcl_node_t node;
  rcl_client_t client;
  rcl_wait_set_t set;
  struct contract_samples samples;
  struct contract_published published;
};

/* Creates the client and waits for its server; rcl has no call for that wait. */
static void calling_init(struct calling *calling, const struct contract *c) {
  calling->c = c;
  node_init(&calling->node, "client", 0);
  calling->client = rcl_get_zero_initialized_client();
  const rcl_client_options_t options = rcl_client_get_default_options();
  checked(rcl_client_init(&calling->client, &calling->node, type(c), c->topic, &options), "rcl_client_init");
  calling->set = rcl_get_zero_initialized_wait_set();
  checked(rcl_wait_set_init(&calling->set, 0, 0, 0, 1, 0, 0, &context, rcl_get_default_allocator()), "rcl_wait_set_init");
  contract_samples_init(&calling->samples, c, 0);
  contract_published_init(&calling->published, c);
  for (;;) {
    bool is_available = false;
    checked(rcl_service_server_is_available(&calling->node, &calling->client, &is_available), "rcl_service_server_is_available");
    if (is_available) break;
    if (contract_wait_stopped(c, 2)) contract_error("not-matched", "the server was not found in time", NULL);
  }
}

static void calling_fini(struct calling *calling) {
  checked(rcl_wait_set_fini(&calling->set), "rcl_wait_set_fini");
  checked(rcl_client_fini(&calling->client, &calling->node), "rcl_client_fini");
  checked(rcl_node_fini(&calling->node), "rcl_node_fini");
}

/* Makes one call; returns the size of the response's string. */
static size_t call_once(struct calling *calling, std_srvs__srv__Trigger_Request *request, std_srvs__srv__Trigger_Response *response) {
  int64_t sent = 0;
  checked(rcl_send_request(&calling->client, request, &sent), "rcl_send_request");
  rmw_request_id_t id;
  for (;;) {
    checked(rcl_wait_set_clear(&calling->set), "rcl_wait_set_clear");
    checked(rcl_wait_set_add_client(&calling->set, &calling->client, NULL), "rcl_wait_set_add_client");
    checked(rcl_wait(&calling->set, RCL_S_TO_NS(CALL_WITHIN_SECONDS)), "rcl_wait");
    if (rcl_take_response(&calling->client, &id, response) == RCL_RET_OK && id.sequence_number == sent) return response->message.size;
    rcl_reset_error();
  }
}

/* Makes all calls. A sample is the time from before a call until its response has come. */
static void call_all(struct calling *calling) {
  const struct contract *c = calling->c;
  std_srvs__srv__Trigger_Request request;
  std_srvs__srv__Trigger_Response response;
  char *stamp = (char *) malloc(c->size_bytes);
  if (stamp == NULL || !std_srvs__srv__Trigger_Request__init(&request) || !std_srvs__srv__Trigger_Response__init(&response))
    contract_error("failed", "a request", "no memory");
  contract_fill(c, stamp);
  struct contract_pace pace;
  uint64_t number;
  contract_ready();
  contract_pace_begin(&pace, c);
  while (contract_pace_next(&pace, &number)) {
    const uint64_t at = contract_stamp(c, stamp, number);
    const size_t size = call_once(calling, &request, &response);
    const uint64_t now = contract_now();
    if (size != c->size_bytes) contract_error("failed", "a response does not have the size that was sent", NULL);
    contract_note_received(&calling->samples, stamp, size, now);
    contract_note_published(&calling->published, number, at, now);
  }
  std_srvs__srv__Trigger_Request__fini(&request);
  std_srvs__srv__Trigger_Response__fini(&response);
  free(stamp);
}

void client(const struct contract *c) {
  struct calling calling;
  struct contract_samples *samples = &calling.samples;
  calling_init(&calling, c);
  call_all(&calling);
  contract_end(&calling.published, &samples, 1);
  calling_fini(&calling);
}

/* A server with its own thread, and a client. */
void both(const struct contract *c) {
  struct end end;
  struct serving serving;
  struct calling calling;
  struct contract_samples *samples = &calling.samples;
  end_init(&end, c, 1);
  serving_init(&serving, c, &end);
  if (pthread_create(&serving.thread, NULL, serve_thread, &serving) != 0) contract_error("failed", "a thread", strerror(errno));
  calling_init(&calling, c);
  call_all(&calling);
  end_now(&end);
  pthread_join(serving.thread, NULL);
  contract_end(&calling.published, &samples, 1);
  calling_fini(&calling);
  serving_fini(&serving);
  end_fini(&end);
}
