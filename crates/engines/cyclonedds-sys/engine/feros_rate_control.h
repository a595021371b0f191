/* Rate control for best-effort writers: a writer of large samples finds out the capacity of the
   link to a reader on another host, and leaves out whole samples instead of losing a part of each.

   A full link drops a few fragments of every sample, so hardly any sample arrives complete, and a
   best-effort reader acknowledges nothing. So readers count (`feros_tally`), and send reports to
   the writer (`feros_report`) while samples arrive in part or not at all. The writer
   (`feros_rate`) tries to send no more than arrived, and keeps this limit only while more samples
   arrive complete than without the limit. If the losses have another cause, sending less does not
   help, and the writer sends all samples again.

   This code is independent of the engine: it has no locks, clocks or sockets. Times are nanoseconds
   of any monotonic clock. Reports come from the network; even a false report must never stop a
   writer. */
#ifndef FEROS_RATE_CONTROL_H
#define FEROS_RATE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* How the large samples of one writer arrived at a reader in a span of time. */
struct feros_report {
  uint64_t first_seq; /* the sequence number of the first sample */
  uint32_t micros;    /* the length of the span */
  uint32_t bytes;     /* bytes that arrived */
  uint32_t expected;  /* bytes of all samples of which a part arrived */
  uint32_t whole;     /* samples that arrived complete */
  uint32_t broken;    /* samples of which a part arrived */
};

/* A reader's counters for the samples of one writer. All are zero at the start. */
struct feros_tally {
  int64_t t_begin, t_latest, t_trouble;
  uint64_t first_seq, latest_seq;
  uint64_t bytes, expected;
  uint32_t seen, whole;
};

/* Counts `bytes` bytes of the sample `seq`, which has `sample_bytes` bytes. Returns true if a span
   has ended and samples were lost recently; `report` is then filled and should be sent. */
bool feros_tally_fragment (struct feros_tally *tally, int64_t now, uint64_t seq,
  uint32_t sample_bytes, uint32_t bytes, struct feros_report *report);
/* Counts the sample `seq` as complete, if its first fragment was counted in this span. */
void feros_tally_whole (struct feros_tally *tally, uint64_t seq);
/* Notes a sample that has no fragments. It is not counted, but does not count as a gap either. */
void feros_tally_small (struct feros_tally *tally, uint64_t seq);

enum feros_rate_state {
  FEROS_RATE_FREE,   /* all samples are sent */
  FEROS_RATE_TRIAL,  /* fewer samples are sent, to find out whether that helps */
  FEROS_RATE_LIMITED /* fewer samples are sent, because that helps */
};

/* The knowledge of a writer about the link to one reader. All fields are zero at the start. */
struct feros_rate {
  enum feros_rate_state state;
  uint32_t failures;    /* consecutive trials that did not help */
  uint32_t in_vain;     /* consecutive reports that the limit did not help */
  uint32_t turn;        /* reports since the last loss */
  uint64_t since_seq;   /* samples up to this number were sent at another rate */
  int64_t t_heard;      /* when the last report arrived */
  int64_t t_next_trial; /* no trial begins before this time */
  int64_t t_filled;     /* when `tokens` was last updated */
  int64_t t_sent;       /* when the last sample was sent */
  double carried;       /* bytes per second that the link is known to carry */
  double allowed;       /* bytes per second that are sent now */
  double tokens;        /* bytes that may be sent; negative after a sample */
  double freely;        /* complete samples per second while all were sent */
  double hoped;         /* complete samples per second above which a trial helps */
  double share;         /* the share of samples that were complete after the trial */
};

/* Handles a report. `seq` is the number of the writer's latest sample. */
void feros_rate_hear (struct feros_rate *rate, const struct feros_report *report, uint64_t seq,
  int64_t now);

enum feros_rate_answer {
  FEROS_RATE_KEEPS_UP,   /* the reader gets all samples */
  FEROS_RATE_NO_HELP,    /* it does not, and sending fewer does not help */
  FEROS_RATE_SEND,       /* a sample may be sent now */
  FEROS_RATE_LEAVE_OUT   /* the link has no room for the sample now */
};

/* Whether a sample of `bytes` bytes should be sent to this reader. */
enum feros_rate_answer feros_rate_ask (struct feros_rate *rate, uint32_t bytes, int64_t now);
/* Notes that a sample of `bytes` bytes is sent. */
void feros_rate_sent (struct feros_rate *rate, uint32_t bytes, int64_t now);

#endif
