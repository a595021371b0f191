/* The limits that no engine on this machine can beat. They are measured as systems under test like the
 * engines: at the same rate, size, placement and link, in turn with them.
 *
 * handover.c has the floors within a host, udp.c and tcp.c those over sockets. */
#define _GNU_SOURCE
#include <sys/utsname.h>

#include "handover.h"
#include "tcp.h"
#include "udp.h"

int main(int argc, char **argv) {
  static const char *const kinds[] = {"futex", "copy", "thread", "call", "in_cache", "in_memory", "udp", "tcp", NULL};
  struct contract c;
  struct contract_extra kind = {"--kind", kinds, "futex"};
  contract_parse(&c, argc, argv, &kind, 1);
  struct utsname kernel;
  uname(&kernel);
  char version[sizeof kernel];
  snprintf(version, sizeof version, "%s %s", kernel.sysname, kernel.release);
  contract_hello(&c, "floors", version);
  if (c.role != CONTRACT_TALKER && c.role != CONTRACT_LISTENER && c.role != CONTRACT_PAIR)
    contract_error("unsupported", "floors have no such role", NULL);
  if (strcmp(kind.value, "udp") == 0) udp(&c);
  else if (strcmp(kind.value, "tcp") == 0) tcp(&c);
  else hand_over(&c, kind.value);
  return 0;
}
