/* See feros_discovery.h. */
#include "feros_discovery.h"

#include <stddef.h>
#include <string.h>

#define MILLISECONDS(n) ((int64_t) (n) * 1000000)

/* The topic of rmw_dds_common. Its name has no prefix of ROS. */
#define TOPIC "ros_discovery_info"

#define FIRST_HEARTBEAT MILLISECONDS (10)
/* If many processes start together, answers take seconds. */
#define LONGEST_HEARTBEAT MILLISECONDS (1000)
#define FIRST_REMINDER MILLISECONDS (10)
#define LONGEST_REMINDER MILLISECONDS (200)
/* If the host is busy, answers take far longer than the delay of a reminder itself. */
#define LONGEST_BUSY_REMINDER MILLISECONDS (1000)
#define REMINDER_LATENESS 8
#define FIRST_REQUEST MILLISECONDS (20)
#define LONGEST_REQUEST MILLISECONDS (200)
/* The reader soon repeats the request for a lost answer. Fast DDS, which answers within 100 ms, may then send it
   three times. */
#define FIRST_REPEAT MILLISECONDS (20)
#define LONGEST_REPEAT MILLISECONDS (1000)
#define FIRST_GREETING MILLISECONDS (1)
#define SECOND_GREETING MILLISECONDS (9)
#define LATE_GREETING MILLISECONDS (5)

static int64_t at_least (int64_t value, int64_t least)
{
  return value > least ? value : least;
}

/* `first`, doubled for each repetition, but at most `longest`. */
static int64_t growing (int64_t first, int64_t longest, uint32_t repeats)
{
  int64_t time = first;
  while (repeats-- > 0 && time < longest)
    time *= 2;
  return time < longest ? time : longest;
}

bool feros_is_discovery (bool is_builtin, const char *topic)
{
  return is_builtin || (topic != NULL && strcmp (topic, TOPIC) == 0);
}

int64_t feros_discovery_heartbeat (int64_t configured, uint32_t sent)
{
  return at_least (configured, growing (FIRST_HEARTBEAT, LONGEST_HEARTBEAT, sent));
}

int64_t feros_discovery_reminder (uint32_t reminders, int64_t lateness)
{
  const int64_t time = growing (FIRST_REMINDER, LONGEST_REMINDER, reminders);
  const int64_t most = (LONGEST_BUSY_REMINDER - time) / REMINDER_LATENESS;
  return (lateness < most) ? time + REMINDER_LATENESS * at_least (lateness, 0) : LONGEST_BUSY_REMINDER;
}

int64_t feros_discovery_request (int64_t configured, uint32_t repeats)
{
  return at_least (configured, growing (FIRST_REQUEST, LONGEST_REQUEST, repeats));
}

int64_t feros_discovery_repeat (int64_t configured, uint32_t repeats)
{
  return at_least (configured, growing (FIRST_REPEAT, LONGEST_REPEAT, repeats));
}

int64_t feros_discovery_greeting (int64_t configured)
{
  return configured < FIRST_GREETING ? configured : FIRST_GREETING;
}

int64_t feros_discovery_next_greeting (int64_t usual, int64_t age)
{
  return age < LATE_GREETING && usual > SECOND_GREETING ? SECOND_GREETING : usual;
}
