/* Rate control of best effort: a writer of large samples learns the capacity of the link to a
   reader on another host, and leaves out whole samples instead of a part of each.

   A full link drops a few fragments of every sample, so hardly one arrives whole, and a best-effort
   reader acknowledges nothing. So readers count (`feros_tally`), and report to the writer while
   samples arrive in parts or not at all (`feros_report`). The writer (`feros_rate`) tries to send
   no more than arrived, and keeps this limit only while more samples arrive whole than without it:
   if losses have another cause, sending less does not help, and the writer sends all again.

   This code is independent of the engine: no lock, no clock, no socket. Times are nanoseconds of
   any monotonic clock. Reports come from the network; even a false one must never stop a writer. */
#ifndef FEROS_RATE_CONTROL_H
#define FEROS_RATE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* The fate of the large samples of one writer that reached a reader in a span of time. */
struct feros_report {
  uint64_t first_seq; /* the sequence number of the first of them */
  uint32_t micros;    /* the length of the span */
  uint32_t bytes;     /* bytes that arrived */
  uint32_t expected;  /* bytes of all samples of which a part arrived */
  uint32_t whole;     /* samples that arrived whole */
  uint32_t broken;    /* samples of which a part arrived */
};

/* A reader's count of one writer's samples; starts as zeros. */
struct feros_tally {
  int64_t t_begin, t_latest, t_trouble;
  uint64_t first_seq, latest_seq;
  uint64_t bytes, expected;
  uint32_t seen, whole;
};

/* Counts `bytes` of the sample `seq`, which has `sample_bytes`. Returns true if `report` was filled
   and should be sent: a span ended, and there was loss lately. */
bool feros_tally_fragment (struct feros_tally *tally, int64_t now, uint64_t seq,
  uint32_t sample_bytes, uint32_t bytes, struct feros_report *report);
/* Counts the sample `seq` as whole, where its first fragment was counted in this span. */
void feros_tally_whole (struct feros_tally *tally, uint64_t seq);
/* A sample without fragments arrived: it is not counted, and is not a gap either. */
void feros_tally_small (struct feros_tally *tally, uint64_t seq);

enum feros_rate_state {
  FEROS_RATE_FREE,   /* all is sent */
  FEROS_RATE_TRIAL,  /* less is sent, to see whether that helps */
  FEROS_RATE_LIMITED /* less is sent, because that helps */
};

/* A writer's knowledge of the link to one reader; starts as zeros. */
struct feros_rate {
  enum feros_rate_state state;
  uint32_t failures;    /* trials in a row that did not help */
  uint32_t in_vain;     /* reports in a row of a limit that did not help */
  uint32_t turn;        /* reports since the last loss */
  uint64_t since_seq;   /* samples up to this one were sent at another rate */
  int64_t t_heard;      /* the last report */
  int64_t t_next_trial; /* no trial before */
  int64_t t_filled;     /* when `tokens` were counted */
  int64_t t_sent;       /* the last sample */
  double carried;       /* bytes per second that the link is known to carry */
  double allowed;       /* bytes per second that are sent now */
  double tokens;        /* bytes that may be sent; below zero after a sample */
  double freely;        /* samples per second that arrived whole while all were sent */
  double hoped;         /* samples per second from which on a trial counts as help */
  double share;         /* of samples that arrived whole after the trial; the rest is other loss */
};

/* Takes a report into account. `seq` is the writer's latest sample. */
void feros_rate_hear (struct feros_rate *rate, const struct feros_report *report, uint64_t seq,
  int64_t now);

enum feros_rate_answer {
  FEROS_RATE_KEEPS_UP,   /* the reader gets all that is sent */
  FEROS_RATE_NO_HELP,    /* it does not get all, and sending less does not help it */
  FEROS_RATE_SEND,       /* a sample may be sent now */
  FEROS_RATE_LEAVE_OUT   /* the link has no room for a sample now */
};

/* Whether a sample of `bytes` should be sent to this reader. */
enum feros_rate_answer feros_rate_ask (struct feros_rate *rate, uint32_t bytes, int64_t now);
/* A sample of `bytes` is sent. */
void feros_rate_sent (struct feros_rate *rate, uint32_t bytes, int64_t now);

#endif
