/* Decides when a reliable reader requests missing fragments again: neither while an answer is still
   arriving, nor long after it has arrived.

   If packets wait in the queue of a full link, or have a long way, an answer takes longer than any
   fixed time. A reader that repeats a request too early fills the link with repetitions; a reader
   that repeats it too late leaves a slow link idle. So a reader measures how long answers take, and
   follows the answer to its last request. It requests again when the answer ends, or when the
   answer has paused for as long as answers take. The shortest of the last times counts, because a lost
   request or answer makes other times longer. Only fragments that are requested for the first time
   are measured, because otherwise the answer may be an answer to an older request.

   This code is independent of the engine: it has no locks, clocks or sockets. Times are nanoseconds
   of any monotonic clock; fragment numbers begin with 0. */
#ifndef FEROS_REQUESTS_H
#define FEROS_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

/* A fragment of a sample. As the end of a range, it is the fragment after the last one. */
struct feros_place {
  uint64_t seq;
  uint32_t fragment;
};

/* A reader's requests to one writer. All fields are zero at the start. */
struct feros_requests {
  /* the last request, from its first fragment to its end; `tail` is a position in its last sample:
     a fragment from there on shows that earlier fragments have arrived, or will not arrive */
  struct feros_place first, tail, end;
  int64_t t_asked, t_progress; /* when the request was made, and when its answer last progressed */
  bool is_served;              /* whether a fragment of the tail has arrived */
  /* fragments of one sample, requested for the first time, whose answer is being measured; seq is
     0 if nothing is being measured */
  struct feros_place measured_first, measured_end;
  int64_t t_measured;
  struct feros_place most_asked; /* the end of all fragments that have been requested */
  int64_t times[4];              /* the durations of the last answers; 0 if unknown */
  uint32_t n_times;
};

/* Notes a request for `count` fragments of the sample `seq`, from `base` on. `begins` is true if
   they begin a new request. All samples before `next_seq` have been received or given up. */
void feros_requests_asked (struct feros_requests *requests, uint64_t seq, uint32_t base,
  uint32_t count, bool begins, uint64_t next_seq, int64_t now);
/* Notes that the fragments from `first` to `last` of the sample `seq` have arrived. Returns true at
   the end of an answer, when it is time to request the fragments that are still missing. */
bool feros_requests_answer (struct feros_requests *requests, uint64_t seq, uint32_t first,
  uint32_t last, int64_t now);
/* The time that answers take; `least` if the time is shorter or unknown. */
int64_t feros_requests_answer_time (const struct feros_requests *requests, int64_t least);
/* The time that must pass between the last request and the next: `least`, or longer. */
int64_t feros_requests_wait (const struct feros_requests *requests, uint64_t next_seq, int64_t now,
  int64_t least);

#endif
