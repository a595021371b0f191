/* See feros_rate_control.h. */
#include "feros_rate_control.h"

#define MILLISECONDS(n) ((int64_t) (n) * 1000000)
#define SECONDS(n) ((int64_t) (n) * 1000000000)

/* A span ends when a sample begins, but has at least this many samples and this length. */
#define SPAN_SAMPLES 8
#define SPAN MILLISECONDS (250)
/* Very large samples are rare, so a span of this length needs only this many samples. */
#define LONG_SPAN MILLISECONDS (1500)
#define LONG_SPAN_SAMPLES 2
/* A gap of this length is a pause of the writer, not a fault of the link. */
#define PAUSE MILLISECONDS (500)
/* Reports continue for this long after a loss. */
#define TROUBLE SECONDS (3)
/* Without reports for this long, the losses have ended, or the reader has left. */
#define SILENCE SECONDS (4)

/* A report that follows the previous one sooner is ignored; no reader reports that often. */
#define LEAST_BETWEEN_REPORTS MILLISECONDS (100)
#define FIRST_WAIT_FOR_TRIAL SECONDS (4)
#define MOST_FAILURES 4 /* limits the time between trials to 64 s */
/* After this time without a sample, one is sent regardless of the reports. */
#define LONGEST_WITHOUT_SAMPLE SECONDS (1)

/* Shares of the link's capacity that are used: usually a little less, so that the link's queue
   empties; from time to time a little more, to find out whether the link carries more. */
#define TRIAL_SHARE 0.95
#define CRUISE_SHARE 0.97
#define PROBE_SHARE 1.08
#define TURNS_PER_PROBE 8
/* A trial begins only if it promises this gain. A limit stays only if it brings this gain. */
#define LEAST_GAIN 1.25
#define LEAST_HELP 1.1
#define MOST_IN_VAIN 2 /* consecutive reports of too little gain */

static double at_most (double value, double most)
{
  return value < most ? value : most;
}

static double at_least (double value, double least)
{
  return value > least ? value : least;
}

static void begin_span (struct feros_tally *tally, int64_t now, uint64_t seq)
{
  tally->t_begin = now;
  tally->first_seq = seq;
  tally->bytes = tally->expected = 0;
  tally->seen = tally->whole = 0;
}

static uint32_t to_uint32 (uint64_t value)
{
  return value < UINT32_MAX ? (uint32_t) value : UINT32_MAX;
}

/* Ends the span if it is long enough, when a sample begins. Returns whether to report the span. */
static bool end_span (struct feros_tally *tally, int64_t now, struct feros_report *report)
{
  const int64_t lasted = now - tally->t_begin;
  const bool is_short = lasted < SPAN || tally->seen < SPAN_SAMPLES;
  if (is_short && (lasted < LONG_SPAN || tally->seen < LONG_SPAN_SAMPLES))
    return false;
  report->first_seq = tally->first_seq;
  report->micros = to_uint32 ((uint64_t) lasted / 1000);
  report->bytes = to_uint32 (tally->bytes);
  report->expected = to_uint32 (tally->expected);
  report->whole = tally->whole;
  report->broken = tally->seen - tally->whole;
  if (report->broken > 0)
    tally->t_trouble = now;
  begin_span (tally, now, 0);
  return tally->t_trouble != 0 && now - tally->t_trouble < TROUBLE;
}

bool feros_tally_fragment (struct feros_tally *tally, int64_t now, uint64_t seq,
  uint32_t sample_bytes, uint32_t bytes, struct feros_report *report)
{
  bool is_due = false;
  if (seq > tally->latest_seq)
  {
    if (tally->latest_seq == 0 || now - tally->t_latest > PAUSE)
      begin_span (tally, now, seq);
    else
    {
      if (seq - tally->latest_seq > 1)
        tally->t_trouble = now;
      is_due = end_span (tally, now, report);
    }
    if (tally->seen == 0)
      tally->first_seq = seq;
    tally->latest_seq = seq;
    tally->seen++;
    tally->expected += sample_bytes;
  }
  tally->t_latest = now;
  tally->bytes += bytes;
  return is_due;
}

void feros_tally_whole (struct feros_tally *tally, uint64_t seq)
{
  if (seq >= tally->first_seq && tally->whole < tally->seen)
    tally->whole++;
}

void feros_tally_small (struct feros_tally *tally, uint64_t seq)
{
  if (tally->latest_seq != 0 && seq > tally->latest_seq)
    tally->latest_seq = seq;
}

/* Sets the rate. Reports about samples that were sent at nearly the same rate stay valid. */
static void set_rate (struct feros_rate *rate, double share, uint64_t seq)
{
  const double allowed = rate->carried * share;
  if (allowed > 1.05 * rate->allowed || allowed < 0.95 * rate->allowed)
    rate->since_seq = seq;
  rate->allowed = allowed;
}

/* Makes the next sample wait until the link's queue, which is full, has room for two samples. */
static void let_queue_drain (struct feros_rate *rate, double sample, int64_t now)
{
  rate->tokens = at_most (rate->tokens, 0) - 2 * sample;
  rate->t_filled = now;
}

static void send_all (struct feros_rate *rate, uint64_t seq)
{
  rate->state = FEROS_RATE_FREE;
  rate->allowed = 0;
  rate->since_seq = seq;
}

/* A report, converted for calculations. */
struct judged {
  double carried; /* bytes per second */
  double whole;   /* samples per second */
  double share;   /* the share of samples that were complete */
  double sample;  /* bytes per sample */
};

static bool judge (const struct feros_report *report, struct judged *judged)
{
  const double seen = (double) report->whole + report->broken;
  if (seen == 0 || report->bytes == 0 || report->expected == 0)
    return false;
  const double seconds = at_least (report->micros, 1000) / 1e6;
  judged->carried = at_most (report->bytes, report->expected) / seconds;
  judged->whole = report->whole / seconds;
  judged->share = report->whole / seen;
  judged->sample = report->expected / seen;
  return true;
}

static void hear_while_free (struct feros_rate *rate, const struct judged *judged, uint64_t seq,
  int64_t now)
{
  const double hope = TRIAL_SHARE * judged->carried / judged->sample;
  if (judged->share > 0.8 || now < rate->t_next_trial || hope < LEAST_GAIN * judged->whole)
    return;
  rate->state = FEROS_RATE_TRIAL;
  rate->freely = judged->whole;
  rate->hoped = (judged->whole + hope) / 2;
  rate->carried = judged->carried;
  rate->t_sent = now;
  rate->tokens = 0;
  set_rate (rate, TRIAL_SHARE, seq);
  let_queue_drain (rate, judged->sample, now);
}

static void hear_of_trial (struct feros_rate *rate, const struct judged *judged, uint64_t seq,
  int64_t now)
{
  if (judged->whole < rate->hoped)
  {
    rate->t_next_trial = now + (FIRST_WAIT_FOR_TRIAL << rate->failures);
    if (rate->failures < MOST_FAILURES)
      rate->failures++;
    send_all (rate, seq);
    return;
  }
  rate->state = FEROS_RATE_LIMITED;
  rate->share = judged->share;
  rate->failures = rate->in_vain = rate->turn = 0;
  set_rate (rate, CRUISE_SHARE, seq);
}

static void hear_while_limited (struct feros_rate *rate, const struct judged *judged, uint64_t seq,
  int64_t now)
{
  rate->in_vain = judged->whole > LEAST_HELP * rate->freely ? 0 : rate->in_vain + 1;
  if (rate->in_vain == MOST_IN_VAIN)
  {
    send_all (rate, seq);
    return;
  }
  if (judged->share < 0.75 * rate->share)
  {
    rate->carried = at_most (rate->carried, judged->carried);
    rate->turn = 0;
    set_rate (rate, TRIAL_SHARE, seq);
    let_queue_drain (rate, judged->sample, now);
    return;
  }
  const bool probed = rate->turn % TURNS_PER_PROBE == 1;
  const bool more = probed && judged->carried > 1.03 * rate->carried;
  /* Takes over only a part of the difference, since the ends of a span are not exact. */
  if (probed && judged->carried > rate->carried)
    rate->carried += 0.75 * (judged->carried - rate->carried);
  if (!more)
    rate->turn++; /* a link that carries more is probed again immediately */
  set_rate (rate, rate->turn % TURNS_PER_PROBE == 1 ? PROBE_SHARE : CRUISE_SHARE, seq);
}

void feros_rate_hear (struct feros_rate *rate, const struct feros_report *report, uint64_t seq,
  int64_t now)
{
  struct judged judged;
  if (!judge (report, &judged)
      || (rate->t_heard != 0 && now - rate->t_heard < LEAST_BETWEEN_REPORTS))
    return;
  rate->t_heard = now;
  if (report->first_seq <= rate->since_seq)
    return;
  switch (rate->state)
  {
    case FEROS_RATE_FREE: hear_while_free (rate, &judged, seq, now); break;
    case FEROS_RATE_TRIAL: hear_of_trial (rate, &judged, seq, now); break;
    case FEROS_RATE_LIMITED: hear_while_limited (rate, &judged, seq, now); break;
  }
}

enum feros_rate_answer feros_rate_ask (struct feros_rate *rate, uint32_t bytes, int64_t now)
{
  if (rate->t_heard == 0 || now - rate->t_heard > SILENCE)
  {
    send_all (rate, rate->since_seq);
    return FEROS_RATE_KEEPS_UP;
  }
  if (rate->state == FEROS_RATE_FREE)
    return FEROS_RATE_NO_HELP;
  const double most = at_least (bytes / 2.0, rate->allowed * 0.02);
  rate->tokens = at_most (rate->tokens + rate->allowed * (double) (now - rate->t_filled) / 1e9,
    most);
  rate->t_filled = now;
  return (rate->tokens >= 0 || now - rate->t_sent >= LONGEST_WITHOUT_SAMPLE)
    ? FEROS_RATE_SEND : FEROS_RATE_LEAVE_OUT;
}

void feros_rate_sent (struct feros_rate *rate, uint32_t bytes, int64_t now)
{
  rate->t_sent = now;
  if (rate->state != FEROS_RATE_FREE)
    rate->tokens = at_least (rate->tokens - bytes, -3.0 * bytes);
}
