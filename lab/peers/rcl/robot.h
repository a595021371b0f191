/* The interface of robot.c. */
#ifndef FEROS_LAB_RCL_ROBOT_H
#define FEROS_LAB_RCL_ROBOT_H

#include "../contract.h"

/* The roles `member` and `newcomer`. */
void member(const struct contract *c);
void newcomer(const struct contract *c);

#endif
