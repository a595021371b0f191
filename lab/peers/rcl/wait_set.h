/* The interface of wait_set.c. */
#ifndef FEROS_LAB_RCL_WAIT_SET_H
#define FEROS_LAB_RCL_WAIT_SET_H

#include "../contract.h"

/* The role `executor`. */
void wait_set_turns(const struct contract *c);

#endif
