/* The role `nodes`, which measures the cost of idle nodes of stock ROS 2.
 *
 * Like a node of rclcpp or rclpy, each node has /rosout, publishes /parameter_events and serves the six services of its
 * parameters. The further parts of such nodes (a subscription to /parameter_events, clocks, the type description service)
 * are left out, so the comparison errs in favour of stock ROS 2. */
#include "nodes.h"

#include <pthread.h>
#include <rcl_interfaces/msg/parameter_event.h>
#include <rcl_interfaces/srv/describe_parameters.h>
#include <rcl_interfaces/srv/get_parameter_types.h>
#include <rcl_interfaces/srv/get_parameters.h>
#include <rcl_interfaces/srv/list_parameters.h>
#include <rcl_interfaces/srv/set_parameters.h>
#include <rcl_interfaces/srv/set_parameters_atomically.h>

#include "context.h"

void full_node_init(struct full_node *made, uint64_t number) {
  char name[64];
  snprintf(name, sizeof name, "feros_lab_node_%d_%llu", (int) getpid(), (unsigned long long) number);
  const rcl_node_options_t options = rcl_node_get_default_options();
  made->node = rcl_get_zero_initialized_node();
  checked(rcl_node_init(&made->node, name, "", &context, &options), "rcl_node_init");
  rcl_publisher_options_t events = rcl_publisher_get_default_options();
  events.qos = rmw_qos_profile_parameter_events;
  made->events = rcl_get_zero_initialized_publisher();
  checked(rcl_publisher_init(&made->events, &made->node, ROSIDL_GET_MSG_TYPE_SUPPORT(rcl_interfaces, msg, ParameterEvent),
                             "/parameter_events", &events),
          "rcl_publisher_init");
  const rosidl_service_type_support_t *types[PARAMETER_SERVICES] = {
      ROSIDL_GET_SRV_TYPE_SUPPORT(rcl_interfaces, srv, GetParameters),
      ROSIDL_GET_SRV_TYPE_SUPPORT(rcl_interfaces, srv, GetParameterTypes),
      ROSIDL_GET_SRV_TYPE_SUPPORT(rcl_interfaces, srv, SetParameters),
      ROSIDL_GET_SRV_TYPE_SUPPORT(rcl_interfaces, srv, SetParametersAtomically),
      ROSIDL_GET_SRV_TYPE_SUPPORT(rcl_interfaces, srv, DescribeParameters),
      ROSIDL_GET_SRV_TYPE_SUPPORT(rcl_interfaces, srv, ListParameters),
  };
  const char *names[PARAMETER_SERVICES] = {"~/get_parameters",            "~/get_parameter_types", "~/set_parameters",
                                           "~/set_parameters_atomically", "~/describe_parameters", "~/list_parameters"};
  rcl_service_options_t service = rcl_service_get_default_options();
  service.qos = rmw_qos_profile_parameters;
  for (int s = 0; s < PARAMETER_SERVICES; s++) {
    made->services[s] = rcl_get_zero_initialized_service();
    checked(rcl_service_init(&made->services[s], &made->node, types[s], names[s], &service), "rcl_service_init");
  }
}

void full_node_fini(struct full_node *made) {
  for (int s = 0; s < PARAMETER_SERVICES; s++) checked(rcl_service_fini(&made->services[s], &made->node), "rcl_service_fini");
  checked(rcl_publisher_fini(&made->events, &made->node), "rcl_publisher_fini");
  checked(rcl_node_fini(&made->node), "rcl_node_fini");
}

void full_node_wait(const struct full_node *node, rcl_wait_set_t *set) {
  for (int s = 0; s < PARAMETER_SERVICES; s++)
    checked(rcl_wait_set_add_service(set, &node->services[s], NULL), "rcl_wait_set_add_service");
}

static void spin(struct full_node *nodes, size_t count, struct end *end) {
  rcl_wait_set_t set = rcl_get_zero_initialized_wait_set();
  checked(rcl_wait_set_init(&set, 0, 1, 0, 0, count * PARAMETER_SERVICES, 0, &context, rcl_get_default_allocator()),
          "rcl_wait_set_init");
  while (!ended(end)) {
    checked(rcl_wait_set_clear(&set), "rcl_wait_set_clear");
    checked(rcl_wait_set_add_guard_condition(&set, &end->guards[0], NULL), "rcl_wait_set_add_guard_condition");
    for (size_t n = 0; n < count; n++) full_node_wait(&nodes[n], &set);
    checked(rcl_wait(&set, -1), "rcl_wait");
  }
  checked(rcl_wait_set_fini(&set), "rcl_wait_set_fini");
}

void idle_nodes(const struct contract *c) {
  struct full_node *nodes = (struct full_node *) calloc(c->nodes, sizeof *nodes);
  if (nodes == NULL) contract_error("failed", "nodes", "no memory");
  for (uint64_t n = 0; n < c->nodes; n++) full_node_init(&nodes[n], n);
  struct end end;
  end_init(&end, c, 1);
  const pthread_t stop = end_when_stopped(&end);
  contract_ready();
  spin(nodes, c->nodes, &end);
  pthread_join(stop, NULL);
  end_fini(&end);
  for (uint64_t n = 0; n < c->nodes; n++) full_node_fini(&nodes[n]);
  free(nodes);
  contract_end(NULL, NULL, 0);
}
