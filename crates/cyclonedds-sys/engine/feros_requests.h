/* When a reliable reader asks for missing fragments again: not while an answer is still coming, and
   not long after it has come.

   Where packets wait in a full link's queue, or travel far, an answer takes longer than any fixed
   time, and who asks again too early fills the link with repetitions. Who asks too late leaves a
   slow link idle. So a reader measures how long answers take, sees how far the answer to its last
   request has come, and asks again when its end comes, or when it has paused for as long as answers
   take. The least of the last times counts, because a lost request or answer makes others longer;
   and only what is asked for the first time is measured, because else an answer may be one to an
   older request.

   Nothing here knows the engine: no lock, no clock, no socket. Times are nanoseconds of any
   monotonic clock, fragment numbers begin with 0. */
#ifndef FEROS_REQUESTS_H
#define FEROS_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

/* A fragment of a sample, or the end of some: the fragment behind the last. */
struct feros_place {
  uint64_t seq;
  uint32_t fragment;
};

/* A reader's requests to one writer; starts as zeros. */
struct feros_requests {
  /* the last request, from its first fragment to its end; `tail` is in its last sample, and what
     comes from there on tells that all before has come, or comes no more */
  struct feros_place first, tail, end;
  int64_t t_asked, t_progress; /* when it was made, and something of it came last */
  bool is_served;              /* something of the tail came */
  /* fragments of one sample, asked for the first time, whose answer is awaited; seq 0: none */
  struct feros_place measured_first, measured_end;
  int64_t t_measured;
  struct feros_place most_asked; /* what was asked for goes so far */
  int64_t times[4];              /* that the last answers took; 0: none yet */
  uint32_t n_times;
};

/* Fragments from `base` on, `count` of them, of the sample `seq` are asked for: `begins` a request,
   or goes on with it. All samples before `next_seq` have been received or given up. */
void feros_requests_asked (struct feros_requests *requests, uint64_t seq, uint32_t base,
  uint32_t count, bool begins, uint64_t next_seq, int64_t now);
/* The fragments from `first` to `last` of the sample `seq` came. True where that was the end of an
   answer: the time to ask for what is missing still. */
bool feros_requests_answer (struct feros_requests *requests, uint64_t seq, uint32_t first,
  uint32_t last, int64_t now);
/* How long answers take; `least` at least, and where that is not known. */
int64_t feros_requests_answer_time (const struct feros_requests *requests, int64_t least);
/* How long after the last request the next may follow: `least`, or longer. */
int64_t feros_requests_wait (const struct feros_requests *requests, uint64_t next_seq, int64_t now,
  int64_t least);

#endif
