/* Why this exists: what all roles need of `rcl`: the context, nodes, how a call fails and how waits end. */
#ifndef FEROS_LAB_RCL_CONTEXT_H
#define FEROS_LAB_RCL_CONTEXT_H

#include <rcl/error_handling.h>
#include <rcl/rcl.h>

#include "../contract.h"

extern rcl_context_t context;

static inline void checked(rcl_ret_t code, const char *what) {
  if (code != RCL_RET_OK) contract_error("failed", what, rcl_error_is_set() ? rcl_get_error_string().str : "no reason given");
}

/* What the main thread and the threads that wait have to agree on: the end, and how a wait is interrupted. */
struct end {
  const struct contract *c;
  rcl_guard_condition_t *guards; /* one for each waiting thread: a guard condition wakes one wait */
  size_t count;
  bool reached; /* by `__atomic` */
};

void end_init(struct end *end, const struct contract *c, size_t waits);
void end_now(struct end *end);
void end_fini(struct end *end);
static inline bool ended(const struct end *end) { return __atomic_load_n(&end->reached, __ATOMIC_ACQUIRE); }

/* A node with nothing of its own but the name; no /rosout. */
void node_init(rcl_node_t *node, const char *kind, uint64_t number);

#endif
