/* Messages of both types, filled as the contract requires. */
#include "message.h"

#include <rosidl_runtime_c/primitives_sequence_functions.h>
#include <rosidl_runtime_c/string_functions.h>

const rosidl_message_type_support_t *type_of(const struct contract *c) {
  return c->is_string ? ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, String)
                      : ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, UInt8MultiArray);
}

void message_init(struct message *message, const struct contract *c, bool filled) {
  message->is_string = c->is_string;
  bool made;
  if (c->is_string) {
    made = std_msgs__msg__String__init(&message->string);
    char *text = filled ? (char *) calloc(c->size_bytes + 1, 1) : NULL;
    if (made && filled) made = text != NULL && rosidl_runtime_c__String__assignn(&message->string.data, text, c->size_bytes);
    free(text);
  } else {
    made = std_msgs__msg__UInt8MultiArray__init(&message->array);
    if (made && filled) made = rosidl_runtime_c__uint8__Sequence__init(&message->array.data, c->size_bytes);
  }
  if (!made) contract_error("failed", "a message", "no memory");
  if (filled) contract_fill(c, payload_of(message));
}

void message_fini(struct message *message) {
  if (message->is_string) std_msgs__msg__String__fini(&message->string);
  else std_msgs__msg__UInt8MultiArray__fini(&message->array);
}
