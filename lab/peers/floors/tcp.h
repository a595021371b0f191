/* The interface of tcp.c. */
#ifndef FEROS_LAB_FLOORS_TCP_H
#define FEROS_LAB_FLOORS_TCP_H

#include "../contract.h"

/* The roles talker and listener. */
void tcp(const struct contract *c);

#endif
