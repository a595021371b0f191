/* The interface of nodes.c: nodes with everything that a node of rclcpp or rclpy announces. */
#ifndef FEROS_LAB_RCL_NODES_H
#define FEROS_LAB_RCL_NODES_H

#include <rcl/rcl.h>

#include "../contract.h"

enum { PARAMETER_SERVICES = 6 };

struct full_node {
  rcl_node_t node;
  rcl_publisher_t events;
  rcl_service_t services[PARAMETER_SERVICES];
};

void full_node_init(struct full_node *made, uint64_t number);
void full_node_fini(struct full_node *made);
/* Adds the services to a wait set, which has room for PARAMETER_SERVICES. */
void full_node_wait(const struct full_node *node, rcl_wait_set_t *set);

/* The role `nodes`. */
void idle_nodes(const struct contract *c);

#endif
