/* The interface of handover.c. */
#ifndef FEROS_LAB_FLOORS_HANDOVER_H
#define FEROS_LAB_FLOORS_HANDOVER_H

#include "../contract.h"

/* The roles talker, listener and pair. */
void hand_over(const struct contract *c, const char *kind);

#endif
