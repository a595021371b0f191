/* The address of the talker of a network floor, and the limit on its listeners. */
#ifndef FEROS_LAB_FLOORS_ADDRESS_H
#define FEROS_LAB_FLOORS_ADDRESS_H

#include <arpa/inet.h>
#include <netinet/in.h>

#include "../contract.h"

enum { MOST_LISTENERS = 16 };

static inline struct sockaddr_in talker_address(void) {
  const char *const address = getenv("FEROS_LAB_ADDRESS"), *const port = getenv("FEROS_LAB_PORT");
  struct sockaddr_in found = {.sin_family = AF_INET};
  if (address == NULL || port == NULL || inet_pton(AF_INET, address, &found.sin_addr) != 1)
    contract_error("failed", "FEROS_LAB_ADDRESS and FEROS_LAB_PORT name where the talker is", NULL);
  found.sin_port = htons((uint16_t) atoi(port));
  return found;
}

#endif
