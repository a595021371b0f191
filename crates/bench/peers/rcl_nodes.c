/* Why this exists: what nodes of stock ROS 2 cost in memory and threads, through `rcl` in C, without a Python interpreter.
 *
 *   rcl_nodes NODES FIRST     makes nodes, prints a line, and spins on them until its standard input ends
 *
 * A node here is what a node of rclcpp or rclpy is: it has /rosout, publishes /parameter_events and serves the six services of
 * its parameters. What those have besides (a subscription to /parameter_events, clocks, the type description service) is left
 * out, as Feros does not have it: the comparison errs in favour of stock ROS 2. Nothing is configured. */
#include <rcl/error_handling.h>
#include <rcl/rcl.h>
#include <rcl_interfaces/msg/parameter_event.h>
#include <rcl_interfaces/srv/describe_parameters.h>
#include <rcl_interfaces/srv/get_parameter_types.h>
#include <rcl_interfaces/srv/get_parameters.h>
#include <rcl_interfaces/srv/list_parameters.h>
#include <rcl_interfaces/srv/set_parameters.h>
#include <rcl_interfaces/srv/set_parameters_atomically.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* librcl.so of the wheels is linked to libraries of the Python bindings, which nothing here calls. So that no Python
 * has to be in the process, their two variables are defined here, and their functions stay unresolved until called. */
char _Py_TrueStruct[64];
void *PyExc_RuntimeError;

enum { SERVICES = 6 };

struct node {
  rcl_node_t node;
  rcl_publisher_t events;
  rcl_service_t services[SERVICES];
};

static rcl_context_t context;

static void checked(rcl_ret_t code, const char *what) {
  if (code == RCL_RET_OK) return;
  fprintf(stderr, "rcl_nodes: %s: %s\n", what, rcl_error_is_set() ? rcl_get_error_string().str : "no reason given");
  exit(1);
}

static void make(struct node *made, int number) {
  char name[64];
  snprintf(name, sizeof name, "feros_perf_stock_%d", number);
  const rcl_node_options_t options = rcl_node_get_default_options();
  made->node = rcl_get_zero_initialized_node();
  checked(rcl_node_init(&made->node, name, "", &context, &options), "rcl_node_init");
  rcl_publisher_options_t events = rcl_publisher_get_default_options();
  events.qos = rmw_qos_profile_parameter_events;
  made->events = rcl_get_zero_initialized_publisher();
  checked(rcl_publisher_init(&made->events, &made->node, ROSIDL_GET_MSG_TYPE_SUPPORT(rcl_interfaces, msg, ParameterEvent),
                             "/parameter_events", &events),
          "rcl_publisher_init");
  const rosidl_service_type_support_t *types[SERVICES] = {
      ROSIDL_GET_SRV_TYPE_SUPPORT(rcl_interfaces, srv, GetParameters),
      ROSIDL_GET_SRV_TYPE_SUPPORT(rcl_interfaces, srv, GetParameterTypes),
      ROSIDL_GET_SRV_TYPE_SUPPORT(rcl_interfaces, srv, SetParameters),
      ROSIDL_GET_SRV_TYPE_SUPPORT(rcl_interfaces, srv, SetParametersAtomically),
      ROSIDL_GET_SRV_TYPE_SUPPORT(rcl_interfaces, srv, DescribeParameters),
      ROSIDL_GET_SRV_TYPE_SUPPORT(rcl_interfaces, srv, ListParameters),
  };
  const char *names[SERVICES] = {"~/get_parameters",           "~/get_parameter_types", "~/set_parameters",
                                 "~/set_parameters_atomically", "~/describe_parameters", "~/list_parameters"};
  rcl_service_options_t service = rcl_service_get_default_options();
  service.qos = rmw_qos_profile_parameters;
  for (int s = 0; s < SERVICES; s++) {
    made->services[s] = rcl_get_zero_initialized_service();
    checked(rcl_service_init(&made->services[s], &made->node, types[s], names[s], &service), "rcl_service_init");
  }
}

static void *wait_for_end(void *guard) {
  char byte;
  while (read(0, &byte, 1) > 0) {}
  checked(rcl_trigger_guard_condition(guard), "rcl_trigger_guard_condition");
  return NULL;
}

int main(int argc, char **argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1, first = argc > 2 ? atoi(argv[2]) : 0;
  rcl_init_options_t init = rcl_get_zero_initialized_init_options();
  checked(rcl_init_options_init(&init, rcl_get_default_allocator()), "rcl_init_options_init");
  context = rcl_get_zero_initialized_context();
  checked(rcl_init(0, NULL, &init, &context), "rcl_init");
  struct node *nodes = calloc((size_t) count, sizeof *nodes);
  if (nodes == NULL) return 1;
  for (int n = 0; n < count; n++) make(&nodes[n], first + n);
  rcl_guard_condition_t end = rcl_get_zero_initialized_guard_condition();
  checked(rcl_guard_condition_init(&end, &context, rcl_guard_condition_get_default_options()), "rcl_guard_condition_init");
  rcl_wait_set_t wait_set = rcl_get_zero_initialized_wait_set();
  checked(rcl_wait_set_init(&wait_set, 0, 1, 0, 0, (size_t) count * SERVICES, 0, &context, rcl_get_default_allocator()),
          "rcl_wait_set_init");
  pthread_t listener;
  if (pthread_create(&listener, NULL, wait_for_end, &end) != 0) return 1;
  printf("ready\n");
  fflush(stdout);
  for (;;) {
    checked(rcl_wait_set_clear(&wait_set), "rcl_wait_set_clear");
    checked(rcl_wait_set_add_guard_condition(&wait_set, &end, NULL), "rcl_wait_set_add_guard_condition");
    for (int n = 0; n < count; n++) {
      for (int s = 0; s < SERVICES; s++)
        checked(rcl_wait_set_add_service(&wait_set, &nodes[n].services[s], NULL), "rcl_wait_set_add_service");
    }
    checked(rcl_wait(&wait_set, -1), "rcl_wait");
    if (wait_set.guard_conditions[0] != NULL) break;
  }
  pthread_join(listener, NULL);
  checked(rcl_wait_set_fini(&wait_set), "rcl_wait_set_fini");
  for (int n = 0; n < count; n++) {
    for (int s = 0; s < SERVICES; s++)
      checked(rcl_service_fini(&nodes[n].services[s], &nodes[n].node), "rcl_service_fini");
    checked(rcl_publisher_fini(&nodes[n].events, &nodes[n].node), "rcl_publisher_fini");
    checked(rcl_node_fini(&nodes[n].node), "rcl_node_fini");
  }
  free(nodes);
  checked(rcl_guard_condition_fini(&end), "rcl_guard_condition_fini");
  checked(rcl_shutdown(&context), "rcl_shutdown");
  checked(rcl_context_fini(&context), "rcl_context_fini");
  checked(rcl_init_options_fini(&init), "rcl_init_options_fini");
  return 0;
}
