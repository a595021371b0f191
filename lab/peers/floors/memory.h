/* Memory for payloads whose pages all exist before anything is measured. */
#ifndef FEROS_LAB_FLOORS_MEMORY_H
#define FEROS_LAB_FLOORS_MEMORY_H

#include "../contract.h"

/* Touches every page, with a value that keeps the compiler from turning this into a lazy calloc. */
static inline uint8_t *floors_memory(size_t size) {
  uint8_t *const found = (uint8_t *) malloc(size);
  if (found == NULL) contract_error("failed", "memory for a payload", strerror(errno));
  memset(found, 0x5a, size);
  return found;
}

#endif
