/* The interface of calls.c. */
#ifndef FEROS_LAB_RCL_CALLS_H
#define FEROS_LAB_RCL_CALLS_H

#include "../contract.h"

/* The roles `server`, `client` and `calls`. */
void server(const struct contract *c);
void client(const struct contract *c);
void both(const struct contract *c);

#endif
