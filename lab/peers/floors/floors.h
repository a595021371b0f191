/* Why this exists: what the parts of this peer share. */
#ifndef FEROS_LAB_FLOORS_H
#define FEROS_LAB_FLOORS_H

#include "../contract.h"

/* Every page is touched, with a value that keeps the compiler from making it a lazy calloc. */
static inline uint8_t *floors_memory(size_t size) {
  uint8_t *const found = (uint8_t *) malloc(size);
  if (found == NULL) contract_error("failed", "memory for a payload", strerror(errno));
  memset(found, 0x5a, size);
  return found;
}

/* The roles talker, listener and pair. */
void hand_over(const struct contract *c, const char *kind);

#endif
