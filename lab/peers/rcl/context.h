/* The parts of `rcl` that all roles need: the context, nodes, the failure of calls and the end of waits. */
#ifndef FEROS_LAB_RCL_CONTEXT_H
#define FEROS_LAB_RCL_CONTEXT_H

#include <pthread.h>
#include <rcl/error_handling.h>
#include <rcl/rcl.h>

#include "../contract.h"

extern rcl_context_t context;

static inline void checked(rcl_ret_t code, const char *what) {
  if (code != RCL_RET_OK) contract_error("failed", what, rcl_error_is_set() ? rcl_get_error_string().str : "no reason given");
}

/* The state that the main thread shares with waiting threads: whether to end, and the means to interrupt a wait. */
struct end {
  const struct contract *c;
  rcl_guard_condition_t *guards; /* one for each waiting thread: a guard condition wakes one wait */
  size_t count;
  bool reached; /* accessed with `__atomic` */
};

void end_init(struct end *end, const struct contract *c, size_t waits);
void end_now(struct end *end);
/* Starts a thread that calls `end_now` when the program must stop. */
pthread_t end_when_stopped(struct end *end);
void end_fini(struct end *end);
static inline bool ended(const struct end *end) { return __atomic_load_n(&end->reached, __ATOMIC_ACQUIRE); }

/* A node that has only a name, without /rosout. */
void node_init(rcl_node_t *node, const char *kind, uint64_t number);

#endif
