/* The times at which a message of stock ROS 2 passed functions of rmw_fastrtps_cpp and Fast DDS. The library hooks.c is
 * preloaded only if the laboratory asks for layers; nothing of it exists otherwise. */
#ifndef FEROS_LAB_HOOKS_H
#define FEROS_LAB_HOOKS_H

#include <stdint.h>

/* Announcements of any subscription; the oldest ones are overwritten. */
enum { HOOKS_ANNOUNCEMENTS = 4096 };

/* The last times of this thread, on CLOCK_MONOTONIC. */
struct hooks_thread {
  uint64_t rmw_publish, rmw_take;
};

/* Fast DDS has announced these messages of a writer. `ticket` is written last: 1 + the number of the announcement. */
struct hooks_announcement {
  uint8_t writer[16];
  uint64_t first, last, nanos, ticket;
};

struct hooks {
  struct hooks_announcement announcements[HOOKS_ANNOUNCEMENTS];
  uint64_t announced; /* the number of announcements so far, with __atomic */
  struct hooks_thread *(*thread)(void);
};

#endif
