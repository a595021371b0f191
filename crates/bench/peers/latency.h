/* Why this exists: what every C peer of the latency benchmark shares, so that all of them measure the same thing.
 *
 * The contract. One process with `--role sub`, one with `--role pub`, both with the same other arguments:
 *
 *   --size BYTES            payload bytes of one message (at least 16)
 *   --rate HZ               messages a second
 *   --count N               messages that are measured; WARM_UP more go before them and are not
 *   --domain ID             DDS domain
 *   --reliability reliable|best_effort
 *   --timeout SECONDS       the subscription gives up that long after it began (the others end when it does)
 *
 * Each prints one JSON line. The publisher: {"role":"pub","sent":N}. The subscription: {"role":"sub","size_bytes":..,
 * "rate_hz":..,"received":..,"lost":..,"p50_us":..,"p90_us":..,"p99_us":..,"max_us":..}. Exit code 0, or 1 with a
 * reason on stderr; 2 for wrong arguments.
 *
 * The first 8 payload bytes are CLOCK_MONOTONIC in nanoseconds, read right before the call that publishes; the next 8
 * the sequence number. Latency ends when the call that takes the message has returned it, deserialized, to the program:
 * from publish to where a callback would begin. Both processes are on one host and so on one clock. */
#ifndef FEROS_BENCH_LATENCY_H
#define FEROS_BENCH_LATENCY_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UP = 10, STAMP_BYTES = 16 };

/* How long a publisher stays after its last message for the subscription to take it and leave. */
#define LINGER_NANOS 2000000000u

struct options {
  bool publisher;
  bool reliable;
  size_t size_bytes;
  double rate_hz;
  uint64_t count;
  uint32_t domain;
  uint64_t timeout_seconds;
};

/* One latency per measured message, in the order of arrival. */
struct samples {
  uint64_t *nanos;
  uint64_t received;
  uint64_t capacity;
};

static inline uint64_t now_nanos(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static inline void fail(const char *what, const char *why) {
  fprintf(stderr, "error: %s: %s\n", what, why);
  exit(1);
}

static inline double number(const char *name, const char *text, double least, double most) {
  char *end = NULL;
  errno = 0;
  const double value = strtod(text, &end);
  if (errno != 0 || end == text || *end != '\0' || !(value >= least && value <= most)) {
    fprintf(stderr, "error: %s takes a number from %g to %g, not \"%s\"\n", name, least, most, text);
    exit(2);
  }
  return value;
}

static inline struct options parse_options(int argc, char **argv, bool role_needed) {
  struct options o = {.reliable = true, .size_bytes = 256, .rate_hz = 100, .count = 100, .timeout_seconds = 60};
  bool role = !role_needed;
  for (int i = 1; i < argc; i += 2) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    if (role_needed && strcmp(name, "--role") == 0 && (strcmp(value, "pub") == 0 || strcmp(value, "sub") == 0)) {
      o.publisher = strcmp(value, "pub") == 0;
      role = true;
    } else if (strcmp(name, "--size") == 0) {
      o.size_bytes = (size_t) number(name, value, STAMP_BYTES, 64 << 20);
    } else if (strcmp(name, "--rate") == 0) {
      o.rate_hz = number(name, value, 0.1, 1e6);
    } else if (strcmp(name, "--count") == 0) {
      o.count = (uint64_t) number(name, value, 1, 1e7);
    } else if (strcmp(name, "--domain") == 0) {
      o.domain = (uint32_t) number(name, value, 0, 232);
    } else if (strcmp(name, "--timeout") == 0) {
      o.timeout_seconds = (uint64_t) number(name, value, 1, 3600);
    } else if (strcmp(name, "--reliability") == 0 &&
               (strcmp(value, "reliable") == 0 || strcmp(value, "best_effort") == 0)) {
      o.reliable = strcmp(value, "reliable") == 0;
    } else {
      fprintf(stderr, "error: \"%s %s\" is not understood; the head of latency.h lists the arguments\n", name, value);
      exit(2);
    }
  }
  if (!role) {
    fprintf(stderr, "error: --role pub or --role sub is needed\n");
    exit(2);
  }
  return o;
}

/* The publisher's pace: message n is due at begin + n * period, however long the earlier ones took. */
static inline void sleep_until(uint64_t nanos) {
  const struct timespec t = {.tv_sec = (time_t) (nanos / 1000000000u), .tv_nsec = (long) (nanos % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
  }
}

static inline uint64_t due_nanos(uint64_t begin, uint64_t n, double rate_hz) {
  return begin + (uint64_t) ((double) n * 1e9 / rate_hz);
}

static inline void stamp(uint8_t *payload, uint64_t sequence) {
  memcpy(payload + 8, &sequence, 8);
  const uint64_t now = now_nanos();
  memcpy(payload, &now, 8);
}

static inline struct samples new_samples(uint64_t count) {
  struct samples s = {.nanos = calloc(count, sizeof(uint64_t)), .received = 0, .capacity = count};
  if (s.nanos == NULL) fail("memory for the samples", strerror(errno));
  return s;
}

/* Notes one received message; says whether it was the last one of the run. */
static inline bool note(struct samples *s, const struct options *o, const uint8_t *payload, size_t size, uint64_t now) {
  if (size != o->size_bytes) fail("received message", "its size is not the one that was sent");
  uint64_t sent, sequence;
  memcpy(&sent, payload, 8);
  memcpy(&sequence, payload + 8, 8);
  if (sequence >= WARM_UP && s->received < s->capacity) s->nanos[s->received++] = now - sent;
  return sequence + 1 >= WARM_UP + o->count;
}

static inline int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
  return (x > y) - (x < y);
}

/* Nearest rank: the smallest sample that at least that part of all samples does not exceed. */
static inline double percentile_us(const struct samples *s, double part) {
  if (s->received == 0) return 0;
  uint64_t rank = (uint64_t) (part * (double) s->received + 0.999999);
  if (rank < 1) rank = 1;
  if (rank > s->received) rank = s->received;
  return (double) s->nanos[rank - 1] / 1000.0;
}

static inline void print_samples(struct samples *s, const struct options *o) {
  qsort(s->nanos, s->received, sizeof *s->nanos, ascending);
  printf("{\"role\":\"sub\",\"size_bytes\":%zu,\"rate_hz\":%g,\"received\":%llu,\"lost\":%llu,\"p50_us\":%.3f,"
         "\"p90_us\":%.3f,\"p99_us\":%.3f,\"max_us\":%.3f}\n",
         o->size_bytes, o->rate_hz, (unsigned long long) s->received, (unsigned long long) (o->count - s->received),
         percentile_us(s, 0.5), percentile_us(s, 0.9), percentile_us(s, 0.99), percentile_us(s, 1.0));
}

static inline void print_sent(const struct options *o) {
  printf("{\"role\":\"pub\",\"sent\":%llu}\n", (unsigned long long) o->count);
}

#endif
