/* Decides when a reliable reader asks for missing fragments again: not while an answer is still
   arriving, and not long after it has arrived.

   Where packets wait in a full link's queue, or travel far, an answer takes longer than any fixed
   time. A reader that asks again too early fills the link with repetitions; one that asks too late
   leaves a slow link idle. So a reader measures how long answers take, and follows the answer to
   its last request. It asks again when the answer ends, or has paused for as long as answers take.
   The least of the last times counts, because a lost request or answer makes other times longer.
   Only fragments that are asked for the first time are measured, because otherwise an answer may be
   one to an older request.

   This code is independent of the engine: no lock, no clock, no socket. Times are nanoseconds of
   any monotonic clock, fragment numbers begin with 0. */
#ifndef FEROS_REQUESTS_H
#define FEROS_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

/* A fragment of a sample, or the end of a range: the fragment behind the last. */
struct feros_place {
  uint64_t seq;
  uint32_t fragment;
};

/* A reader's requests to one writer; starts as zeros. */
struct feros_requests {
  /* the last request, from its first fragment to its end; `tail` is in its last sample:
     a fragment from there on shows that all before have arrived, or will not arrive */
  struct feros_place first, tail, end;
  int64_t t_asked, t_progress; /* when it was made, and when a part of its answer came last */
  bool is_served;              /* a fragment of the tail came */
  /* fragments of one sample, asked for the first time, whose answer is awaited; seq 0: none */
  struct feros_place measured_first, measured_end;
  int64_t t_measured;
  struct feros_place most_asked; /* the end of all that was asked for */
  int64_t times[4];              /* the durations of the last answers; 0: none yet */
  uint32_t n_times;
};

/* Fragments from `base` on, `count` of them, of the sample `seq` are requested; `begins` if they
   begin a request. All samples before `next_seq` have been received or given up. */
void feros_requests_asked (struct feros_requests *requests, uint64_t seq, uint32_t base,
  uint32_t count, bool begins, uint64_t next_seq, int64_t now);
/* The fragments from `first` to `last` of the sample `seq` came. Returns true at the end of an
   answer, the time to ask for fragments that are still missing. */
bool feros_requests_answer (struct feros_requests *requests, uint64_t seq, uint32_t first,
  uint32_t last, int64_t now);
/* The time that answers take; at least `least`, also when it is unknown. */
int64_t feros_requests_answer_time (const struct feros_requests *requests, int64_t least);
/* The time from the last request until the next may follow: `least`, or longer. */
int64_t feros_requests_wait (const struct feros_requests *requests, uint64_t next_seq, int64_t now,
  int64_t least);

#endif
