/* Every C and C++ peer of the laboratory shares this code, so that all of them take the same arguments,
 * publish at the same pace, and stamp messages and report measurements in the same way. README.md in this folder is the
 * contract in words.
 *
 * The code is for C11 and C++17, and all functions are static. A peer in outline:
 *
 *   struct contract c;
 *   contract_parse(&c, argc, argv, NULL, 0);
 *   contract_hello(&c, "rcl", version);
 *   talker:    ... make entities, wait for c.matched subscriptions while !contract_stopped(&c) ...
 *              struct contract_published sent; contract_published_init(&sent, &c);
 *              contract_ready();
 *              struct contract_pace pace; contract_pace_begin(&pace, &c);
 *              while (contract_pace_next(&pace, &number)) {
 *                const uint64_t at = contract_stamp(&c, payload, number);
 *                publish(payload);
 *                contract_note_published(&sent, number, at, contract_now());
 *              }
 *              contract_end(&sent, NULL, 0);
 *   listener:  struct contract_samples got, *all[] = {&got}; contract_samples_init(&got, &c, c.index); ...; contract_ready();
 *              in the callback: now = contract_now() first; contract_note_received(&got, payload, size, now);
 *              until contract_samples_done(&got) or contract_stopped(&c); contract_end(NULL, all, 1);
 *   relay:     both: the callback publishes the payload again unchanged, and notes it as received. It reports only counts.
 */
#ifndef FEROS_LAB_CONTRACT_H
#define FEROS_LAB_CONTRACT_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CONTRACT_VERSION = 1, CONTRACT_WRONG_ARGUMENTS = 64, CONTRACT_NOT_INSTALLED = 69 };
/* A stamp: nanoseconds and number, in `bytes` as 8 bytes each (little-endian), in `string` as 16 hex digits each. */
enum { CONTRACT_STAMP_BYTES = 16, CONTRACT_STAMP_DIGITS = 32 };
/* Samples are written once a second, or when this many are waiting. */
enum { CONTRACT_SAMPLES_WAITING = 65536 };

enum contract_role { CONTRACT_TALKER, CONTRACT_LISTENER, CONTRACT_RELAY, CONTRACT_PAIR, CONTRACT_CHAIN, CONTRACT_NODES,
                     CONTRACT_EXECUTOR, CONTRACT_SERVER, CONTRACT_CLIENT, CONTRACT_CALLS, CONTRACT_GRAPH,
                     CONTRACT_MEMBER, CONTRACT_NEWCOMER };
enum contract_topology { CONTRACT_RING, CONTRACT_ONE_TOPIC };
enum contract_placement { CONTRACT_REMOTE, CONTRACT_LOCAL, CONTRACT_COMPOSED, CONTRACT_INTRA };
enum contract_publish { CONTRACT_PUBLISH_DEFAULT, CONTRACT_PUBLISH_SYNC, CONTRACT_PUBLISH_ASYNC };
enum contract_executor { CONTRACT_EXECUTOR_DEFAULT, CONTRACT_EXECUTOR_SINGLE, CONTRACT_EXECUTOR_MULTI,
                         CONTRACT_EXECUTOR_ISOLATED };

/* The arguments. */
struct contract {
  enum contract_role role;
  enum contract_placement placement;
  const char *topic, *to;       /* `to`: where a relay publishes */
  bool is_string;               /* type `string` instead of `bytes` */
  size_t size_bytes;            /* the payload's size in octets or characters */
  double rate_hz;               /* 0: without pause */
  uint64_t count, warm_up;      /* messages 0 .. warm_up + count - 1 are published; */
  double seconds;               /* or, if not 0, as many messages after the warm-up as this time allows */
  bool is_reliable, is_transient_local, is_keep_all;
  uint32_t depth;               /* the depth of KEEP_LAST */
  double deadline_ms;           /* 0: none */
  enum contract_publish publish;
  uint64_t timeout_nanos;       /* when the program has to end, on the clock of contract_now */
  bool keeps_samples;           /* `--samples all` */
  bool fills;                   /* `--fill each`: each payload is written whole before it is published */
  uint64_t work_micros;         /* processor time of each callback */
  enum contract_executor executor;
  uint64_t matched, index, subscriptions, nodes;
  enum contract_topology topology; /* the topics that join the members of a robot */
  uint64_t idle;                /* entities of an executor that are never ready */
};

/* An argument that only this peer has, for its variants: with NULL-terminated allowed values, or NULL for any text. */
struct contract_extra {
  const char *name;
  const char *const *allowed;
  const char *value; /* the default before contract_parse, the given value after it */
};

/* --- time -------------------------------------------------------------------------------------------------------- */

static inline uint64_t contract_clock(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static inline uint64_t contract_now(void) { return contract_clock(CLOCK_MONOTONIC); }

static inline void contract_sleep_until(uint64_t nanos) {
  struct timespec t;
  t.tv_sec = (time_t) (nanos / 1000000000u);
  t.tv_nsec = (long) (nanos % 1000000000u);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
  }
}

static inline void contract_sleep_millis(uint64_t millis) { contract_sleep_until(contract_now() + millis * 1000000u); }

/* Computes for --work-micros of processor time; other programs may make it take longer. */
static inline void contract_work(const struct contract *c) {
  if (c->work_micros == 0) return;
  const uint64_t end = contract_clock(CLOCK_THREAD_CPUTIME_ID) + c->work_micros * 1000u;
  while (contract_clock(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

/* A pipe that SIGINT fills, once contract_stop_on_interrupt was called; poll ignores the number -1. */
static int contract_interrupts[2] = {-1, -1};

static inline void contract_interrupted(int number) {
  const int before = errno;
  (void) number;
  if (write(contract_interrupts[1], "", 1) < 0) errno = before; /* a full pipe says the same */
  errno = before;
}

/* Waits up to this long for the end of standard input, with which the laboratory stops a program; returns whether to stop. */
static inline bool contract_wait_stopped(const struct contract *c, uint64_t millis) {
  const uint64_t until = contract_now() + millis * 1000000u;
  for (;;) {
    const uint64_t now = contract_now(), end = until < c->timeout_nanos ? until : c->timeout_nanos;
    struct pollfd inputs[2];
    inputs[0].fd = STDIN_FILENO;
    inputs[1].fd = contract_interrupts[0];
    inputs[0].events = inputs[1].events = POLLIN;
    inputs[0].revents = inputs[1].revents = 0;
    const int ready = poll(inputs, 2, now >= end ? 0 : (int) ((end - now + 999999u) / 1000000u));
    if (ready > 0 && inputs[1].revents != 0) return true;
    if (ready > 0) {
      char ignored[256];
      if (read(STDIN_FILENO, ignored, sizeof ignored) <= 0) return true;
    }
    const uint64_t after = contract_now();
    if (after >= c->timeout_nanos) return true;
    if (after >= until) return false;
  }
}

static inline bool contract_stopped(const struct contract *c) { return contract_wait_stopped(c, 0); }

/* --- lines ------------------------------------------------------------------------------------------------------- */

/* A line is written under the lock of standard output, so that lines of several threads do not mix. */
static inline void contract_begin(const char *text) {
  flockfile(stdout);
  fputs(text, stdout);
}

static inline void contract_finish(const char *text) {
  printf("%s\n", text);
  fflush(stdout);
  funlockfile(stdout);
}

/* Does not use printf, which takes several times as long, since a line may have many numbers. */
static inline void contract_put_number(uint64_t number) {
  char digits[20];
  size_t n = sizeof digits;
  do {
    digits[--n] = (char) ('0' + number % 10);
    number /= 10;
  } while (number != 0);
  fwrite(digits + n, 1, sizeof digits - n, stdout);
}

static inline void contract_put_numbers(const char *name, const uint64_t *numbers, size_t n) {
  printf("\"%s\":[", name);
  for (size_t i = 0; i < n; i++) {
    if (i > 0) fputs(",", stdout);
    contract_put_number(numbers[i]);
  }
  fputs("]", stdout);
}

/* Writes the characters of a string, without the quotation marks around it. */
static inline void contract_put_text(const char *text) {
  for (; *text != '\0'; text++) {
    const unsigned char character = (unsigned char) *text;
    if (character < 0x20) printf("\\u%04x", character);
    else printf(character == '"' || character == '\\' ? "\\%c" : "%c", character);
  }
}

static const char *const contract_roles[] = {"talker",   "listener", "relay",  "pair",  "chain", "nodes",
                                             "executor", "server",   "client", "calls", "graph", "member",
                                             "newcomer", NULL};

/* `system` is the name of the peer's folder; `version` names every component whose version matters. */
static inline void contract_hello(const struct contract *c, const char *system, const char *version) {
  contract_begin("{\"hello\":{\"contract\":1,\"system\":\"");
  contract_put_text(system);
  fputs("\",\"version\":\"", stdout);
  contract_put_text(version);
  printf("\",\"role\":\"%s\"", contract_roles[c->role]);
  contract_finish("}}");
}

static inline void contract_ready(void) {
  contract_begin("{\"ready\":{}}");
  contract_finish("");
}

/* For the role nodes: reports that the nodes exist, and waits until the program must stop. */
static inline void contract_stay(const struct contract *c) {
  contract_ready();
  while (!contract_wait_stopped(c, 1000000)) {
  }
}

/* Reports a number of this run that is not a sample. */
static inline void contract_value(const char *name, double value) {
  contract_begin("{\"values\":{");
  printf("\"%s\":%.17g", name, value);
  contract_finish("}}");
}

/* Reports why the program cannot go on, and ends the program. `kind`: unsupported, no-licence, not-matched or failed. */
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
static inline void contract_error(const char *kind, const char *text, const char *why) {
  contract_begin("{\"error\":{\"kind\":\"");
  contract_put_text(kind);
  fputs("\",\"text\":\"", stdout);
  contract_put_text(text);
  if (why != NULL && *why != '\0') {
    fputs(": ", stdout);
    contract_put_text(why);
  }
  contract_finish("\"}}");
  /* Not exit(): destructors of an engine that has failed may wait forever. */
  _exit(strcmp(kind, "no-licence") == 0 ? CONTRACT_NOT_INSTALLED : 1);
}

/* From now on, SIGINT stops the program, as the end of standard input does. */
static inline void contract_stop_on_interrupt(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = contract_interrupted;
  if (pipe(contract_interrupts) != 0 || sigaction(SIGINT, &action, NULL) != 0)
    contract_error("failed", "the handler of SIGINT", strerror(errno));
}

/* --- arguments --------------------------------------------------------------------------------------------------- */

#if defined(__GNUC__)
__attribute__((noreturn))
#endif
static inline void contract_refuse(const char *name, const char *value, const char *why) {
  fprintf(stderr, "error: %s %s: %s\n", name, value, why);
  exit(CONTRACT_WRONG_ARGUMENTS);
}

static inline double contract_number(const char *name, const char *text, double least, double most) {
  char *end = NULL;
  errno = 0;
  const double value = strtod(text, &end);
  if (errno != 0 || end == text || *end != '\0' || !(value >= least && value <= most)) {
    char why[96];
    snprintf(why, sizeof why, "it takes a number from %.12g to %.12g", least, most);
    contract_refuse(name, text, why);
  }
  return value;
}

static inline uint64_t contract_whole(const char *name, const char *text, double least, double most) {
  const double value = contract_number(name, text, least, most);
  if (value != (double) (uint64_t) value) contract_refuse(name, text, "it takes a whole number");
  return (uint64_t) value;
}

static inline int contract_choice(const char *name, const char *text, const char *const *allowed) {
  char why[256] = "it takes one of";
  for (int i = 0; allowed[i] != NULL; i++) {
    if (strcmp(text, allowed[i]) == 0) return i;
    snprintf(why + strlen(why), sizeof why - strlen(why), " %s", allowed[i]);
  }
  contract_refuse(name, text, why);
}

static inline bool contract_take(struct contract *c, const char *name, const char *value) {
  static const char *const placements[] = {"remote", "local", "composed", "intra", NULL};
  static const char *const types[] = {"bytes", "string", NULL};
  static const char *const reliabilities[] = {"best_effort", "reliable", NULL};
  static const char *const durabilities[] = {"volatile", "transient_local", NULL};
  static const char *const histories[] = {"keep_last", "keep_all", NULL};
  static const char *const modes[] = {"default", "sync", "async", NULL};
  static const char *const samples[] = {"none", "all", NULL};
  static const char *const fillings[] = {"none", "each", NULL};
  static const char *const executors[] = {"default", "single", "multi", "isolated", NULL};
  static const char *const topologies[] = {"ring", "one_topic", NULL};
  if (strcmp(name, "--role") == 0) c->role = (enum contract_role) contract_choice(name, value, contract_roles);
  else if (strcmp(name, "--placement") == 0) c->placement = (enum contract_placement) contract_choice(name, value, placements);
  else if (strcmp(name, "--topic") == 0) c->topic = value;
  else if (strcmp(name, "--to") == 0) c->to = value;
  else if (strcmp(name, "--type") == 0) c->is_string = contract_choice(name, value, types) == 1;
  else if (strcmp(name, "--size") == 0) c->size_bytes = (size_t) contract_whole(name, value, 0, 1 << 30);
  else if (strcmp(name, "--rate") == 0) c->rate_hz = contract_number(name, value, 0, 1e7);
  else if (strcmp(name, "--count") == 0) c->count = contract_whole(name, value, 0, 1e12);
  else if (strcmp(name, "--seconds") == 0) c->seconds = contract_number(name, value, 0, 1e6);
  else if (strcmp(name, "--warm-up") == 0) c->warm_up = contract_whole(name, value, 0, 1e9);
  else if (strcmp(name, "--reliability") == 0) c->is_reliable = contract_choice(name, value, reliabilities) == 1;
  else if (strcmp(name, "--durability") == 0) c->is_transient_local = contract_choice(name, value, durabilities) == 1;
  else if (strcmp(name, "--history") == 0) c->is_keep_all = contract_choice(name, value, histories) == 1;
  else if (strcmp(name, "--depth") == 0) c->depth = (uint32_t) contract_whole(name, value, 1, 1e9);
  else if (strcmp(name, "--deadline-ms") == 0) c->deadline_ms = contract_number(name, value, 0, 1e9);
  else if (strcmp(name, "--publish") == 0) c->publish = (enum contract_publish) contract_choice(name, value, modes);
  else if (strcmp(name, "--timeout") == 0)
    c->timeout_nanos = contract_now() + (uint64_t) (contract_number(name, value, 0.1, 1e6) * 1e9);
  else if (strcmp(name, "--samples") == 0) c->keeps_samples = contract_choice(name, value, samples) == 1;
  else if (strcmp(name, "--fill") == 0) c->fills = contract_choice(name, value, fillings) == 1;
  else if (strcmp(name, "--work-micros") == 0) c->work_micros = contract_whole(name, value, 0, 1e9);
  else if (strcmp(name, "--executor") == 0) c->executor = (enum contract_executor) contract_choice(name, value, executors);
  else if (strcmp(name, "--matched") == 0) c->matched = contract_whole(name, value, 0, 1e6);
  else if (strcmp(name, "--index") == 0) c->index = contract_whole(name, value, 0, 1e6);
  else if (strcmp(name, "--subscriptions") == 0) c->subscriptions = contract_whole(name, value, 1, 1e6);
  else if (strcmp(name, "--nodes") == 0) c->nodes = contract_whole(name, value, 1, 1e6);
  else if (strcmp(name, "--topology") == 0) c->topology = (enum contract_topology) contract_choice(name, value, topologies);
  else if (strcmp(name, "--idle") == 0) c->idle = contract_whole(name, value, 0, 1e6);
  else return false;
  return true;
}

/* Locks the process's present and future memory, if the laboratory asks for it. A refusal is reported, and the run goes on:
 * the laboratory checks from outside which memory is locked. Pages are locked from their first use on, so that a message
 * ring in shared memory is not filled when it is mapped. */
static inline void contract_lock_memory(void) {
  const char *asked = getenv("FEROS_LAB_LOCK_MEMORY");
  if (asked == NULL || strcmp(asked, "1") != 0) return;
  if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0)
    fprintf(stderr, "error: mlockall was refused: %s; raise the limit memlock (ulimit -l), or run it as root\n", strerror(errno));
}

/* Fills `c` from the arguments and defaults; ends with code 64 if an argument is unknown or wrong. */
static inline void contract_parse(struct contract *c, int argc, char **argv, struct contract_extra *extras, size_t n) {
  memset(c, 0, sizeof *c);
  bool has_role = false;
  c->placement = CONTRACT_LOCAL;
  c->topic = "feros_lab";
  c->to = "feros_lab_to";
  c->size_bytes = 256;
  c->rate_hz = 100;
  c->count = 100;
  c->warm_up = 10;
  c->is_reliable = c->keeps_samples = true;
  c->depth = 10;
  c->timeout_nanos = contract_now() + 60000000000u;
  c->matched = c->subscriptions = 1;
  c->nodes = 3;
  for (int i = 1; i < argc; i += 2) {
    const char *name = argv[i];
    if (i + 1 >= argc) contract_refuse(name, "", "its value is missing");
    const char *value = argv[i + 1];
    bool is_extra = false;
    for (size_t e = 0; e < n && !is_extra; e++) {
      if (strcmp(name, extras[e].name) != 0) continue;
      if (extras[e].allowed != NULL) contract_choice(name, value, extras[e].allowed);
      extras[e].value = value;
      is_extra = true;
    }
    has_role = has_role || strcmp(name, "--role") == 0;
    if (!is_extra && !contract_take(c, name, value)) contract_refuse(name, value, "this argument is not known");
  }
  if (!has_role) contract_refuse("--role", "", "it is needed");
  if (c->role == CONTRACT_RELAY) c->keeps_samples = false; /* the listener at the end of the chain reports samples */
  const size_t least = c->is_string ? (size_t) CONTRACT_STAMP_DIGITS : (size_t) CONTRACT_STAMP_BYTES;
  const bool is_sent = c->role != CONTRACT_NODES && c->role != CONTRACT_EXECUTOR && c->role != CONTRACT_GRAPH &&
                       c->role != CONTRACT_MEMBER && c->role != CONTRACT_NEWCOMER;
  if (is_sent && c->size_bytes < least) contract_refuse("--size", "", "the payload has no room for the stamp");
  if (c->role == CONTRACT_CHAIN && c->nodes < 2) contract_refuse("--nodes", "", "a chain has at least 2 nodes");
  if (c->role == CONTRACT_MEMBER && c->index >= c->nodes) contract_refuse("--index", "", "it is at most the number of members - 1");
  contract_lock_memory();
}

/* --- members of a robot ------------------------------------------------------------------------------------------ */

/* A member has this many publishers, and as many subscriptions. The next member of a ring subscribes to the first topics of
 * a member, the previous member to the rest; so each topic of a ring has one publisher and one subscription. */
enum { CONTRACT_ENDPOINTS = 5, CONTRACT_FOR_THE_NEXT = 3 };
/* All members together look this many times per second whether their matches are complete, so that looking costs the same
 * with any number of members. */
enum { CONTRACT_LOOKS_PER_SECOND = 2000 };

static inline void contract_topic_of(const struct contract *c, uint64_t member, unsigned own, char *topic, size_t size) {
  if (c->topology == CONTRACT_ONE_TOPIC) snprintf(topic, size, "%s", c->topic);
  else snprintf(topic, size, "%s_%llu_%u", c->topic, (unsigned long long) member, own);
}

/* The topic of a publisher of this member, 0 to CONTRACT_ENDPOINTS - 1. */
static inline void contract_published_topic(const struct contract *c, unsigned number, char *topic, size_t size) {
  contract_topic_of(c, c->index, number, topic, size);
}

/* The topic of a subscription of this member. */
static inline void contract_subscribed_topic(const struct contract *c, unsigned number, char *topic, size_t size) {
  const uint64_t neighbour = number < CONTRACT_FOR_THE_NEXT ? c->index + c->nodes - 1 : c->index + 1;
  contract_topic_of(c, neighbour % c->nodes, number, topic, size);
}

/* The topic on which member 0 keeps one message for newcomers (transient local). */
static inline void contract_greeting_topic(const struct contract *c, char *topic, size_t size) {
  snprintf(topic, size, "%s_greeting", c->topic);
}

/* The number of matches that each of these endpoints has in the end. */
static inline uint64_t contract_matches(const struct contract *c) {
  return c->topology == CONTRACT_ONE_TOPIC ? CONTRACT_ENDPOINTS * c->nodes : 1;
}

/* The interval at which a member looks whether its matches are complete. */
static inline uint64_t contract_look_nanos(const struct contract *c) {
  return 1000000000u / CONTRACT_LOOKS_PER_SECOND * (c->nodes > 2 ? c->nodes : 2);
}

/* Reports that the program has had since this time what it waited for: a member all of its matches, a newcomer its first
 * message. */
static inline void contract_settled(uint64_t at_nanos) {
  contract_begin("{\"settled\":{\"at_nanos\":");
  contract_put_number(at_nanos);
  contract_finish("}}");
}

/* --- stamps ------------------------------------------------------------------------------------------------------ */

/* Fills a payload of c->size_bytes once; without `--fill each`, only the stamp changes later. */
static inline void contract_fill(const struct contract *c, void *payload) {
  memset(payload, c->is_string ? 'z' : 0x5a, c->size_bytes);
}

/* The value of each byte of a message with `--fill each`, except for its stamp. */
static inline uint8_t contract_filling(const struct contract *c, uint64_t number) {
  return c->is_string ? (uint8_t) ('a' + number % 26) : (uint8_t) number;
}

static inline void contract_put_hex(char *to, uint64_t value) {
  for (int i = 15; i >= 0; i--, value >>= 4) to[i] = "0123456789abcdef"[value & 15];
}

/* Fills the payload if the arguments ask for it, writes the stamp into memory that was requested at `asked` (0: the program's
 * own memory), and returns the time of the stamp: requesting memory is part of publishing, filling it is not. The publish
 * call follows directly. */
static inline uint64_t contract_stamp_loan(const struct contract *c, void *payload, uint64_t number, uint64_t asked) {
  char *to = (char *) payload;
  if (c->fills) {
    memset(to, contract_filling(c, number), c->size_bytes);
    asked = 0;
  }
  if (c->is_string) contract_put_hex(to + 16, number);
  else memcpy(to + 8, &number, 8);
  const uint64_t at = asked != 0 ? asked : contract_now();
  if (c->is_string) contract_put_hex(to, at);
  else memcpy(to, &at, 8);
  return at;
}

/* Like contract_stamp_loan, but for the program's own memory. */
static inline uint64_t contract_stamp(const struct contract *c, void *payload, uint64_t number) {
  return contract_stamp_loan(c, payload, number, 0);
}

static inline uint64_t contract_take_hex(const char *from) {
  uint64_t value = 0;
  for (int i = 0; i < 16; i++) {
    const char digit = from[i];
    if (digit >= '0' && digit <= '9') value = value << 4 | (uint64_t) (digit - '0');
    else if (digit >= 'a' && digit <= 'f') value = value << 4 | (uint64_t) (digit - 'a' + 10);
    else contract_error("failed", "a received message has no stamp", NULL);
  }
  return value;
}

static inline void contract_read_stamp(const struct contract *c, const void *payload, uint64_t *nanos, uint64_t *number) {
  const char *from = (const char *) payload;
  if (c->is_string) {
    *nanos = contract_take_hex(from);
    *number = contract_take_hex(from + 16);
  } else {
    memcpy(nanos, from, 8);
    memcpy(number, from + 8, 8);
  }
}

/* --- cold caches ------------------------------------------------------------------------------------------------- */

/* Gives a function its own symbol, which scripts/count_message.py leaves out of its counts. */
#if defined(__GNUC__)
#define CONTRACT_APART __attribute__((noinline, unused))
#else
#define CONTRACT_APART inline
#endif

/* Reads enough memory between two messages to evict everything else from a simulated cache, if FEROS_LAB_COLD is 1. */
static CONTRACT_APART void contract_make_cold(void) {
  enum { BYTES = 4 << 20, LINE_BYTES = 64 };
  static volatile unsigned char *memory = NULL;
  static int asked = -1;
  if (asked < 0) {
    const char *cold = getenv("FEROS_LAB_COLD");
    asked = cold != NULL && strcmp(cold, "1") == 0;
    if (asked) memory = (volatile unsigned char *) calloc(1, BYTES);
    if (memory == NULL) asked = 0;
  }
  for (size_t i = 0; asked && i < BYTES; i += LINE_BYTES) (void) memory[i];
}

/* --- pace -------------------------------------------------------------------------------------------------------- */

struct contract_pace {
  const struct contract *c;
  uint64_t number, due, period, ends, looked; /* `ends`: the end of --seconds, counted from the end of the warm-up */
};

static inline void contract_pace_begin(struct contract_pace *pace, const struct contract *c) {
  pace->c = c;
  pace->number = pace->ends = 0;
  pace->period = c->rate_hz > 0 ? (uint64_t) (1e9 / c->rate_hz + 0.5) : 0;
  pace->looked = contract_now();
  pace->due = pace->looked + 10000000u;
}

/* Waits until the next message is due and sets its number; false after the last message, or if the program must stop. A late
 * talker publishes at once, and the pace continues from there: it never catches up in a burst. */
static CONTRACT_APART bool contract_pace_next(struct contract_pace *pace, uint64_t *number) {
  const struct contract *c = pace->c;
  if (c->seconds > 0 && pace->number == c->warm_up) pace->ends = pace->due + (uint64_t) (c->seconds * 1e9);
  if (c->seconds > 0 ? pace->number >= c->warm_up && pace->due >= pace->ends : pace->number >= c->warm_up + c->count) return false;
  uint64_t now = contract_now();
  if (now - pace->looked > 100000000u || now >= c->timeout_nanos) {
    pace->looked = now;
    if (contract_stopped(c)) return false;
  }
  if (now < pace->due) contract_sleep_until(pace->due);
  else pace->due = now;
  pace->due += pace->period;
  *number = pace->number++;
  contract_make_cold();
  return true;
}

/* --- measurements ------------------------------------------------------------------------------------------- */

/* Triples of numbers, in preallocated memory, written once a second. */
struct contract_triples {
  uint64_t *values[3];
  size_t length, capacity;
  uint64_t written;
};

static inline void contract_triples_init(struct contract_triples *t, const struct contract *c) {
  memset(t, 0, sizeof *t);
  if (!c->keeps_samples) return;
  const uint64_t messages = c->warm_up + c->count;
  t->capacity = c->seconds > 0 || messages > CONTRACT_SAMPLES_WAITING ? (size_t) CONTRACT_SAMPLES_WAITING : (size_t) messages + 1;
  for (int i = 0; i < 3; i++) {
    t->values[i] = (uint64_t *) calloc(t->capacity, sizeof(uint64_t));
    if (t->values[i] == NULL) contract_error("failed", "memory for the samples", strerror(errno));
  }
  t->written = contract_now();
}

static inline void contract_triples_add(struct contract_triples *t, uint64_t first, uint64_t second, uint64_t third) {
  if (t->length == t->capacity) return;
  if (t->length == 0) t->written = third; /* a batch is written a second after its first row */
  t->values[0][t->length] = first;
  t->values[1][t->length] = second;
  t->values[2][t->length++] = third;
}

static inline bool contract_triples_due(const struct contract_triples *t, uint64_t now) {
  return t->length > 0 && (t->length == t->capacity || now - t->written > 1000000000u);
}

static inline void contract_triples_write(struct contract_triples *t, const char *const *names) {
  for (int i = 0; i < 3; i++) {
    if (i > 0) fputs(",", stdout);
    contract_put_numbers(names[i], t->values[i], t->length);
  }
  contract_finish("}}");
  t->length = 0;
  t->written = contract_now();
}

/* The messages that one subscription received; only one thread at a time may note messages. */
struct contract_samples {
  const struct contract *c;
  unsigned subscription;
  uint64_t received, bytes, first_nanos, last_nanos;
  uint64_t next; /* one more than the highest number; read by other threads, so with __atomic */
  struct contract_triples triples;
};

static inline void contract_samples_init(struct contract_samples *s, const struct contract *c, uint64_t subscription) {
  memset(s, 0, sizeof *s);
  s->c = c;
  s->subscription = (unsigned) subscription;
  contract_triples_init(&s->triples, c);
}

static inline void contract_samples_write(struct contract_samples *s) {
  static const char *const names[] = {"numbers", "nanos", "at_nanos"};
  if (s->triples.length == 0) return;
  contract_begin("{\"samples\":{");
  printf("\"subscription\":%u,", s->subscription);
  contract_triples_write(&s->triples, names);
}

/* Whether the last message of the run has come. Always false in runs of --seconds, where the end of standard input ends the
 * program. */
static inline bool contract_samples_done(const struct contract_samples *s) {
  const struct contract *c = s->c;
  return c->seconds == 0 && c->warm_up + c->count > 0 && __atomic_load_n(&s->next, __ATOMIC_ACQUIRE) >= c->warm_up + c->count;
}

/* The inspected parts of a received payload. If the engine may overwrite a payload during reading, the caller first inspects
 * the payload, then asks the engine whether it is still valid, and only then notes it. */
struct contract_seen {
  uint64_t nanos, number;
  size_t size;
  uint8_t last;
};

static inline struct contract_seen contract_see(const struct contract *c, const void *payload, size_t size) {
  struct contract_seen seen = {0, 0, size, 0};
  if (size != c->size_bytes) contract_error("failed", "a received message does not have the size that was sent", NULL);
  contract_read_stamp(c, payload, &seen.nanos, &seen.number);
  if (c->fills && size > 0) seen.last = ((const uint8_t *) payload)[size - 1];
  return seen;
}

/* Notes an inspected payload; `now` was read first in the callback. Returns whether it was the last message. Computes for
 * --work-micros, like a user's callback. */
static inline bool contract_note_seen(struct contract_samples *s, struct contract_seen seen, uint64_t now) {
  const uint64_t nanos = seen.nanos, number = seen.number;
  const size_t size = seen.size, stamp = s->c->is_string ? (size_t) CONTRACT_STAMP_DIGITS : (size_t) CONTRACT_STAMP_BYTES;
  if (s->c->fills && size > stamp && seen.last != contract_filling(s->c, number))
    contract_error("failed", "the last byte of a received payload is not the one that its talker must write", NULL);
  if (s->received++ == 0) s->first_nanos = now;
  s->bytes += size;
  s->last_nanos = now;
  if (s->c->keeps_samples) {
    contract_triples_add(&s->triples, number, now > nanos ? now - nanos : 0, now);
    if (contract_triples_due(&s->triples, now)) contract_samples_write(s);
  }
  contract_work(s->c);
  if (number + 1 > s->next) __atomic_store_n(&s->next, number + 1, __ATOMIC_RELEASE);
  if (s->c->role == CONTRACT_LISTENER) contract_make_cold();
  return contract_samples_done(s);
}

/* Inspects and notes a payload that is never overwritten. */
static CONTRACT_APART bool contract_note_received(struct contract_samples *s, const void *payload, size_t size, uint64_t now) {
  return contract_note_seen(s, contract_see(s->c, payload, size), now);
}

/* The messages that were published. */
struct contract_published {
  const struct contract *c;
  uint64_t sent, first_nanos, last_nanos;
  struct contract_triples triples;
};

static inline void contract_published_init(struct contract_published *p, const struct contract *c) {
  memset(p, 0, sizeof *p);
  p->c = c;
  contract_triples_init(&p->triples, c);
}

static inline void contract_published_write(struct contract_published *p) {
  static const char *const names[] = {"numbers", "call_nanos", "at_nanos"};
  if (p->triples.length == 0) return;
  contract_begin("{\"published\":{");
  contract_triples_write(&p->triples, names);
}

/* Notes a call of publish, by the time of the stamp and the time after the call. */
static CONTRACT_APART void contract_note_published(struct contract_published *p, uint64_t number, uint64_t at, uint64_t after) {
  if (p->sent++ == 0) p->first_nanos = at;
  p->last_nanos = at;
  if (!p->c->keeps_samples) return;
  contract_triples_add(&p->triples, number, after - at, at);
  if (contract_triples_due(&p->triples, after)) contract_published_write(p);
}

/* For pair and chain, after the last publish: waits until every subscription has all sent messages, or nothing more has come
 * for three seconds, or the program must stop. */
static inline void contract_wait_received(const struct contract *c, struct contract_samples *const *all, size_t n, uint64_t sent) {
  uint64_t before = 0, since = contract_now();
  for (;;) {
    uint64_t sum = 0;
    bool complete = true;
    for (size_t i = 0; i < n; i++) {
      const uint64_t next = __atomic_load_n(&all[i]->next, __ATOMIC_ACQUIRE);
      sum += next;
      complete = complete && next >= sent;
    }
    if (complete || contract_wait_stopped(c, 2)) return;
    const uint64_t now = contract_now();
    if (sum != before) {
      before = sum;
      since = now;
    } else if (now - since > 3000000000u) {
      return;
    }
  }
}

/* Writes the remaining samples and the last line. `published` may be NULL, and `n` 0. */
static inline void contract_end(struct contract_published *published, struct contract_samples *const *samples, size_t n) {
  uint64_t first = 0, last = 0;
  if (published != NULL) contract_published_write(published);
  for (size_t i = 0; i < n; i++) contract_samples_write(samples[i]);
  contract_begin("{\"end\":{\"sent\":");
  contract_put_number(published != NULL ? published->sent : 0);
  if (n == 0 && published != NULL) {
    first = published->first_nanos;
    last = published->last_nanos;
  }
  for (int bytes = 0; bytes < 2; bytes++) {
    fputs(bytes ? ",\"bytes\":[" : ",\"received\":[", stdout);
    for (size_t i = 0; i < n; i++) {
      if (i > 0) fputs(",", stdout);
      contract_put_number(bytes ? samples[i]->bytes : samples[i]->received);
      if (samples[i]->received == 0) continue;
      if (first == 0 || samples[i]->first_nanos < first) first = samples[i]->first_nanos;
      if (samples[i]->last_nanos > last) last = samples[i]->last_nanos;
    }
    fputs("]", stdout);
  }
  printf(",\"first_nanos\":%llu,\"last_nanos\":%llu", (unsigned long long) first, (unsigned long long) last);
  contract_finish("}}");
}

#endif
