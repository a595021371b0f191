/* The interface of udp.c. */
#ifndef FEROS_LAB_FLOORS_UDP_H
#define FEROS_LAB_FLOORS_UDP_H

#include "../contract.h"

/* The roles talker and listener. */
void udp(const struct contract *c);

#endif
