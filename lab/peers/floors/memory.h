/* Why this exists: memory for payloads, of which each page is there before anything is measured. */
#ifndef FEROS_LAB_FLOORS_MEMORY_H
#define FEROS_LAB_FLOORS_MEMORY_H

#include "../contract.h"

/* Every page is touched, with a value that keeps the compiler from making it a lazy calloc. */
static inline uint8_t *floors_memory(size_t size) {
  uint8_t *const found = (uint8_t *) malloc(size);
  if (found == NULL) contract_error("failed", "memory for a payload", strerror(errno));
  memset(found, 0x5a, size);
  return found;
}

#endif
