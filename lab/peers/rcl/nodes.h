/* The interface of nodes.c. */
#ifndef FEROS_LAB_RCL_NODES_H
#define FEROS_LAB_RCL_NODES_H

#include "../contract.h"

/* The role `nodes`. */
void idle_nodes(const struct contract *c);

#endif
