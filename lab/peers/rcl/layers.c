/* Joins the times of hooks/hooks.c with the numbers of messages, by thread and, for announcements, by writer and sequence number. */
#define _GNU_SOURCE
#include "layers.h"

#include <dlfcn.h>

#include "hooks/hooks.h"

enum { LEAST_MESSAGES = 1 << 10, MOST_MESSAGES = 1 << 20 };
enum { ANNOUNCED, FOUND, TAKEN, CALLBACK, RECEIVED_POINTS };
enum { PUBLISH, WRITE_BEGIN, WRITE_END, PUBLISHED_POINTS };
static const char *const received_names[] = {"announced", "found", "taken", "callback"};
static const char *const published_names[] = {"publish", "write_begin", "write_end"};

bool layers_are_on;

static struct hooks *hooks;
static uint64_t *numbers, *times[RECEIVED_POINTS];
static size_t length, capacity;
static uint64_t looked; /* announcements before this one belong to earlier messages */

/* The library is beside the program. */
static void start_again(char **argv) {
  char path[4096], preload[8192];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);
  if (n <= 0) contract_error("failed", "the path of this program, for its trace points", strerror(errno));
  path[n] = '\0';
  char *name = strrchr(path, '/') + 1;
  strcpy(name, "hooks.so");
  const char *before = getenv("LD_PRELOAD");
  if (before != NULL && strstr(before, path) != NULL) contract_error("failed", "the trace points were not loaded", path);
  snprintf(preload, sizeof preload, "%s%s%s", before != NULL ? before : "", before != NULL ? ":" : "", path);
  setenv("LD_PRELOAD", preload, 1);
  execv("/proc/self/exe", argv);
  contract_error("failed", "this program with its trace points", strerror(errno));
}

void layers_init(const struct contract *c, char **argv) {
  const char *asked = getenv("FEROS_LAB_LAYERS"), *rmw = getenv("RMW_IMPLEMENTATION");
  const bool stock = rmw == NULL || strcmp(rmw, "rmw_fastrtps_cpp") == 0;
  const bool has_points = c->role == CONTRACT_TALKER || c->role == CONTRACT_LISTENER;
  if (asked == NULL || strcmp(asked, "1") != 0 || !stock || !has_points || !c->keeps_samples) return;
  hooks = (struct hooks *) dlsym(RTLD_DEFAULT, "feros_lab_hooks");
  if (hooks == NULL) start_again(argv);
  const double messages = (double) c->warm_up + (c->seconds > 0 ? c->rate_hz * c->seconds + 1 : (double) c->count);
  capacity = messages > MOST_MESSAGES ? MOST_MESSAGES : messages < LEAST_MESSAGES ? LEAST_MESSAGES : (size_t) messages;
  numbers = (uint64_t *) calloc(capacity, sizeof *numbers);
  for (int i = 0; i < RECEIVED_POINTS; i++) {
    times[i] = (uint64_t *) calloc(capacity, sizeof *numbers);
    if (numbers == NULL || times[i] == NULL) contract_error("failed", "memory for the trace points", strerror(errno));
  }
  layers_are_on = true;
}

static void note(uint64_t number, const uint64_t *at, int points) {
  if (length == capacity) return;
  numbers[length] = number;
  for (int i = 0; i < points; i++) times[i][length] = at[i];
  length++;
}

void layers_note_published(uint64_t number, uint64_t at, uint64_t after) {
  const uint64_t points[] = {at, hooks->thread()->rmw_publish, after};
  note(number, points, PUBLISHED_POINTS);
}

/* When the engine announced this message; 0 if the announcement is no longer known. */
static uint64_t announced(const uint8_t *writer, uint64_t sequence) {
  const uint64_t end = __atomic_load_n(&hooks->announced, __ATOMIC_ACQUIRE);
  if (end - looked > HOOKS_ANNOUNCEMENTS) looked = end - HOOKS_ANNOUNCEMENTS;
  for (uint64_t i = looked; i < end; i++) {
    const struct hooks_announcement *one = &hooks->announcements[i % HOOKS_ANNOUNCEMENTS];
    if (__atomic_load_n(&one->ticket, __ATOMIC_ACQUIRE) != i + 1) continue;
    if (memcmp(one->writer, writer, sizeof one->writer) != 0 || sequence < one->first || sequence > one->last) continue;
    const uint64_t nanos = one->nanos;
    if (__atomic_load_n(&one->ticket, __ATOMIC_ACQUIRE) != i + 1) return 0;
    looked = i; /* the next message may have the same announcement */
    return nanos;
  }
  return 0;
}

void layers_note_received(uint64_t number, const uint8_t *writer, uint64_t sequence, uint64_t found, uint64_t now) {
  const uint64_t points[] = {announced(writer, sequence), found, hooks->thread()->rmw_take, now};
  note(number, points, RECEIVED_POINTS);
}

void layers_write(const struct contract *c) {
  if (length == 0) return;
  const bool received = c->role == CONTRACT_LISTENER;
  for (int i = 0; i < (received ? RECEIVED_POINTS : PUBLISHED_POINTS); i++) {
    uint64_t *known = (uint64_t *) calloc(length, sizeof *known), *at = (uint64_t *) calloc(length, sizeof *at);
    size_t n = 0;
    if (known == NULL || at == NULL) contract_error("failed", "memory for the trace points", strerror(errno));
    for (size_t m = 0; m < length; m++) {
      if (times[i][m] == 0) continue;
      known[n] = numbers[m];
      at[n++] = times[i][m];
    }
    contract_begin("{\"points\":{");
    printf("\"name\":\"%s\",\"by\":null,\"of\":", (received ? received_names : published_names)[i]);
    if (received) printf("\"%llu\"", (unsigned long long) c->index);
    else printf("null");
    printf(",\"transport\":null,");
    contract_put_numbers("numbers", known, n);
    printf(",");
    contract_put_numbers("at_nanos", at, n);
    contract_finish("}}");
    free(known), free(at);
  }
}
