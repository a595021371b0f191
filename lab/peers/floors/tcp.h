/* Why this exists: what tcp.c offers. */
#ifndef FEROS_LAB_FLOORS_TCP_H
#define FEROS_LAB_FLOORS_TCP_H

#include "../contract.h"

/* The roles talker and listener. */
void tcp(const struct contract *c);

#endif
