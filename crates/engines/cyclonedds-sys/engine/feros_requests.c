/* See feros_requests.h. */
#include "feros_requests.h"

#define MILLISECONDS(n) ((int64_t) (n) * 1000000)
#define N_TIMES (sizeof (((struct feros_requests *) 0)->times) / sizeof (int64_t))

/* A reader never waits longer than this for an answer, however long earlier answers took. */
#define LONGEST_ANSWER MILLISECONDS (500)
/* A fragment that has not arrived after this time is no longer expected. */
#define LONGEST_AWAITED MILLISECONDS (2000)

static int64_t at_most (int64_t value, int64_t most)
{
  return value < most ? value : most;
}

/* Whether an answer is being measured. Fragments that have been received, or that the writer has
   given up, get no answer. */
static bool is_measuring (const struct feros_requests *requests, uint64_t next_seq, int64_t now)
{
  return requests->measured_first.seq >= next_seq && requests->measured_first.seq != 0
    && now - requests->t_measured < LONGEST_AWAITED;
}

/* Starts to measure the answer for fragments that are requested for the first time, since only
   these cannot be the answer to an older request. */
static void measure (struct feros_requests *requests, uint64_t seq, uint32_t base, uint32_t end,
  uint64_t next_seq, int64_t now)
{
  if (seq < requests->most_asked.seq)
    return;
  if (seq == requests->most_asked.seq && base < requests->most_asked.fragment)
    base = requests->most_asked.fragment;
  if (base >= end)
    return;
  requests->most_asked = (struct feros_place) { seq, end };
  if (is_measuring (requests, next_seq, now))
    return;
  requests->measured_first = (struct feros_place) { seq, base };
  requests->measured_end = (struct feros_place) { seq, end };
  requests->t_measured = now;
}

void feros_requests_asked (struct feros_requests *requests, uint64_t seq, uint32_t base,
  uint32_t count, bool begins, uint64_t next_seq, int64_t now)
{
  const uint32_t end = base + count;
  if (begins)
  {
    requests->first = (struct feros_place) { seq, base };
    requests->t_asked = now;
    requests->t_progress = 0;
    requests->is_served = false;
  }
  requests->tail = (struct feros_place) { seq, end - 1 - (count - 1) / 4 };
  requests->end = (struct feros_place) { seq, end };
  measure (requests, seq, base, end, next_seq, now);
}

/* Whether the range `from` to `end` overlaps the fragments `first` to `last` of `seq`. */
static bool meets (struct feros_place from, struct feros_place end, uint64_t seq, uint32_t first,
  uint32_t last)
{
  return (seq > from.seq || (seq == from.seq && last >= from.fragment))
    && (seq < end.seq || (seq == end.seq && first < end.fragment));
}

bool feros_requests_answer (struct feros_requests *requests, uint64_t seq, uint32_t first,
  uint32_t last, int64_t now)
{
  if (requests->measured_first.seq != 0
      && meets (requests->measured_first, requests->measured_end, seq, first, last))
  {
    const int64_t took = now - requests->t_measured;
    requests->times[requests->n_times++ % N_TIMES] = took > 0 ? took : 1;
    requests->measured_first.seq = 0;
  }
  if (requests->is_served || !meets (requests->first, requests->end, seq, first, last))
    return false;
  requests->t_progress = now;
  requests->is_served = meets (requests->tail, requests->end, seq, first, last);
  return requests->is_served;
}

int64_t feros_requests_answer_time (const struct feros_requests *requests, int64_t least)
{
  int64_t known = requests->n_times == 0 ? 0 : LONGEST_ANSWER;
  for (uint32_t i = 0; i < N_TIMES; i++)
  {
    if (requests->times[i] != 0 && requests->times[i] < known)
      known = requests->times[i];
  }
  return known > least ? known : least;
}

int64_t feros_requests_wait (const struct feros_requests *requests, uint64_t next_seq, int64_t now,
  int64_t least)
{
  if (requests->is_served)
    return least;
  const int64_t known = feros_requests_answer_time (requests, 0);
  int64_t wait = known;
  if (requests->t_progress > requests->t_asked)
    wait += requests->t_progress - requests->t_asked;
  else if (is_measuring (requests, next_seq, now))
  {
    /* The longer an answer takes, the longer the wait, since the answer may still be on its way. */
    const bool is_little_known = known == 0 || known > LONGEST_ANSWER / 4;
    const int64_t most = is_little_known ? LONGEST_ANSWER : 4 * known;
    const int64_t awaited = at_most ((now - requests->t_measured) / 2, most);
    if (awaited > wait)
      wait = awaited;
  }
  return wait > least ? wait : least;
}
