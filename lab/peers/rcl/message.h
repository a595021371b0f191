/* A message of either type. */
#ifndef FEROS_LAB_RCL_MESSAGE_H
#define FEROS_LAB_RCL_MESSAGE_H

#include <std_msgs/msg/string.h>
#include <std_msgs/msg/u_int8_multi_array.h>

#include "../contract.h"

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

#endif
