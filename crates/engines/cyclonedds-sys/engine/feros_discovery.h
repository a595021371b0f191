/* The times of discovery: how long a participant waits before it repeats a part of discovery.

   Participants repeat what is not answered. If many processes start together, all of them are busy,
   and answers take far longer than on an idle host. Short times then multiply the packets of
   discovery, which keeps the processes even busier. Data needs short times, since a large message
   on a lossy link takes many rounds. So discovery has times of its own. A reader that knows what it
   misses repeats its request soon, and then ever later.

   The times of the configuration are those of data. They also hold for discovery where they are
   longer than its own. This code is independent of the engine. Times are nanoseconds. */
#ifndef FEROS_DISCOVERY_H
#define FEROS_DISCOVERY_H

#include <stdbool.h>
#include <stdint.h>

/* Whether an endpoint belongs to discovery: an endpoint of the protocol, or of the topic in which
   participants announce their nodes. `topic` may be NULL. */
bool feros_is_discovery (bool is_builtin, const char *topic);

/* The number of heartbeats that a writer counts as sent when a reader has matched, and at most when
   samples were repeated for a reader. The next heartbeat then comes after 160 ms. */
#define FEROS_DISCOVERY_FAST_HEARTBEATS 4
/* The time between the heartbeats of a writer to all readers. `sent` is the number of heartbeats
   since the last announcement. The first ones follow soon, since a lost announcement is repeated
   only if a heartbeat tells of it. */
int64_t feros_discovery_heartbeat (int64_t configured, uint32_t sent);
/* The time until a writer reminds a reader that has not answered a heartbeat to it alone, by another
   one. `reminders` is the number of those that were sent, and `lateness` the time by which the last
   heartbeat was late because the host is busy. */
int64_t feros_discovery_reminder (uint32_t reminders, int64_t lateness);
/* The shortest time between two requests of a reader for the same samples. `repeats` is the number
   of times that the last request repeated an earlier request. */
int64_t feros_discovery_request (int64_t configured, uint32_t repeats);
/* The time after which a reader repeats a request although it has heard nothing. */
int64_t feros_discovery_repeat (int64_t configured, uint32_t repeats);

/* The time between the match of a reader and its greeting, which asks the writer for a heartbeat.
   It is shorter than that of data, because a greeting comes in place of the short heartbeats. */
int64_t feros_discovery_greeting (int64_t configured);
/* The time between two greetings. `age` is the time between the match and the last greeting. The
   second greeting follows soon, because the writer may have learned of the reader only after the
   first; this is not so if the host is busy, and the first greeting is late itself. */
int64_t feros_discovery_next_greeting (int64_t usual, int64_t age);

/* The most samples of the history that a writer sends in answer to a greeting. */
#define FEROS_DISCOVERY_HISTORY 64

#endif
