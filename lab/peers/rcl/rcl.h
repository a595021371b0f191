/* Why this exists: what the parts of this peer share: the context, a message of either type, and how a call of rcl fails. */
#ifndef FEROS_LAB_RCL_H
#define FEROS_LAB_RCL_H

#include <rcl/error_handling.h>
#include <rcl/rcl.h>
#include <std_msgs/msg/string.h>
#include <std_msgs/msg/u_int8_multi_array.h>

#include "../contract.h"

extern rcl_context_t context;

static inline void checked(rcl_ret_t code, const char *what) {
  if (code != RCL_RET_OK) contract_error("failed", what, rcl_error_is_set() ? rcl_get_error_string().str : "no reason given");
}

/* std_msgs/String or std_msgs/UInt8MultiArray with an empty layout. */
struct message {
  bool is_string;
  union {
    std_msgs__msg__String string;
    std_msgs__msg__UInt8MultiArray array;
  };
};

static inline void *payload_of(struct message *m) { return m->is_string ? (void *) m->string.data.data : (void *) m->array.data.data; }

static inline size_t size_of(const struct message *m) { return m->is_string ? m->string.data.size : m->array.data.size; }

static inline void *memory_of(struct message *m) { return m->is_string ? (void *) &m->string : (void *) &m->array; }

void message_init(struct message *message, const struct contract *c, bool filled);
void message_fini(struct message *message);
const rosidl_message_type_support_t *type_of(const struct contract *c);

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

/* The role `nodes`. */
void idle_nodes(const struct contract *c);

/* The role `executor`. */
void wait_set_turns(const struct contract *c);

#endif
