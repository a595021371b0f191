/* The simplest hand-over of a message, in the roles of an engine, to be measured in turn with engines.
 *
 *   --kind futex        two processes, a futex word in shared memory; the payload is built where it is read
 *   --kind copy         the same after one copy of the payload into the shared memory
 *   --kind thread       two threads, a pointer to the payload and a futex word of the process
 *   --kind call         a pointer to the payload, to a function that the compiler does not know
 *   --kind in_cache     the same with eight payloads in turn
 *   --kind in_memory    the same with more payloads in turn than caches hold */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "handover.h"
#include "memory.h"

enum { PAYLOADS = 8, PAYLOADS_IN_MEMORY = 96, MOST_RECEIVERS = 16 };

/* The doorbell of one receiver; the counters count messages. */
struct bell {
  _Atomic uint32_t rung, taken, listening;
  uint8_t *_Atomic pointer; /* only between threads */
};

/* The memory that processes share. */
struct segment {
  struct bell bells[MOST_RECEIVERS];
  uint8_t message[];
};

static void name_segment(const struct contract *c, char *name, size_t size) {
  const char *run = getenv("FEROS_LAB_RUN");
  snprintf(name, size, "/feros_lab_floors_%s_%s", run != NULL ? run : "run", c->topic);
}

static struct segment *shared_segment(const struct contract *c) {
  char name[128];
  name_segment(c, name, sizeof name);
  const int fd = shm_open(name, O_CREAT | O_RDWR, 0600);
  if (fd < 0) contract_error("failed", "shm_open", strerror(errno));
  const size_t size = sizeof(struct segment) + c->size_bytes;
  if (ftruncate(fd, (off_t) size) != 0) contract_error("failed", "ftruncate", strerror(errno));
  void *const found = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (found == MAP_FAILED) contract_error("failed", "mmap", strerror(errno));
  close(fd);
  return (struct segment *) found;
}

/* Sleeps until more than `seen` messages have been sent; returns false if the program must stop. */
static bool wait_for_ring(const struct contract *c, struct bell *bell, uint32_t seen, int wait) {
  const struct timespec patience = {.tv_sec = 0, .tv_nsec = 100000000};
  while (atomic_load(&bell->rung) == seen) {
    syscall(SYS_futex, &bell->rung, wait, seen, &patience, NULL, 0);
    if (atomic_load(&bell->rung) == seen && contract_stopped(c)) return false;
  }
  return true;
}

/* Waits until the previous message has been taken, so that it is not overwritten. This is not measured, and takes time only
 * if a receiver is held up. */
static bool wait_until_taken(const struct contract *c, struct bell *bells, uint64_t receivers, uint64_t number) {
  for (uint64_t i = 0; i < receivers; i++) {
    while (atomic_load(&bells[i].taken) != (uint32_t) number) {
      if (contract_stopped(c)) return false;
      contract_sleep_until(contract_now() + 50000);
    }
  }
  return true;
}

static void ring(struct bell *bell, uint64_t number, int wake) {
  atomic_store(&bell->rung, (uint32_t) number + 1);
  syscall(SYS_futex, &bell->rung, wake, 1, NULL, NULL, 0);
}

/* --- from process to process -------------------------------------------------------------------------------------- */

static void talk(const struct contract *c, bool copies) {
  struct segment *const segment = shared_segment(c);
  for (uint64_t i = 0; i < c->matched; i++)
    while (atomic_load(&segment->bells[i].listening) == 0)
      if (contract_wait_stopped(c, 1)) contract_error("not-matched", "not all listeners were found in time", NULL);
  char name[128];
  name_segment(c, name, sizeof name);
  shm_unlink(name); /* all processes have mapped it */
  uint8_t *const payload = copies ? floors_memory(c->size_bytes) : segment->message;
  struct contract_published published;
  struct contract_pace pace;
  contract_published_init(&published, c);
  contract_ready();
  contract_pace_begin(&pace, c);
  for (uint64_t number; contract_pace_next(&pace, &number);) {
    if (!wait_until_taken(c, segment->bells, c->matched, number)) break;
    const uint64_t at = contract_stamp(c, payload, number);
    if (copies) memcpy(segment->message, payload, c->size_bytes);
    for (uint64_t i = 0; i < c->matched; i++) ring(&segment->bells[i], number, FUTEX_WAKE);
    contract_note_published(&published, number, at, contract_now());
  }
  contract_end(&published, NULL, 0);
}

static void listen_for(const struct contract *c) {
  struct segment *const segment = shared_segment(c);
  struct bell *const bell = &segment->bells[c->index];
  struct contract_samples samples, *all = &samples;
  contract_samples_init(&samples, c, c->index);
  contract_fill(c, segment->message);
  atomic_store(&bell->listening, 1);
  contract_ready();
  uint32_t seen = 0;
  for (bool last = false; !last && wait_for_ring(c, bell, seen, FUTEX_WAIT);) {
    const uint64_t now = contract_now();
    last = contract_note_received(&samples, segment->message, c->size_bytes, now);
    atomic_store(&bell->taken, ++seen);
  }
  contract_end(NULL, &all, 1);
}

/* --- within a process --------------------------------------------------------------------------------------------- */

struct receiver {
  const struct contract *c;
  struct bell *bell;
  struct contract_samples samples;
  bool (*receive)(struct receiver *self, const uint8_t *message);
  _Atomic bool stopped;
};

static bool receive_one(struct receiver *self, const uint8_t *message) {
  const uint64_t now = contract_now();
  return contract_note_received(&self->samples, message, self->c->size_bytes, now);
}

static void *receive_all(void *argument) {
  struct receiver *const self = (struct receiver *) argument;
  uint32_t seen = 0;
  for (bool last = false; !last && wait_for_ring(self->c, self->bell, seen, FUTEX_WAIT_PRIVATE);) {
    if (atomic_load(&self->stopped)) break;
    const uint8_t *const message = atomic_load(&self->bell->pointer);
    last = receive_one(self, message);
    atomic_store(&self->bell->taken, ++seen);
  }
  return NULL;
}

static void end_pair(const struct contract *c, struct contract_published *published, struct receiver *receivers) {
  struct contract_samples *all[MOST_RECEIVERS];
  for (uint64_t i = 0; i < c->subscriptions; i++) all[i] = &receivers[i].samples;
  contract_end(published, all, c->subscriptions);
}

static void wait_for_receivers(const struct contract *c, struct contract_published *published, struct receiver *receivers) {
  struct contract_samples *all[MOST_RECEIVERS];
  for (uint64_t i = 0; i < c->subscriptions; i++) all[i] = &receivers[i].samples;
  contract_wait_received(c, all, c->subscriptions, published->sent);
}

static void thread_to_thread(const struct contract *c) {
  struct bell bells[MOST_RECEIVERS] = {{.rung = 0}};
  struct receiver receivers[MOST_RECEIVERS] = {{.c = c}};
  pthread_t threads[MOST_RECEIVERS];
  struct contract_published published;
  struct contract_pace pace;
  uint8_t *payloads[PAYLOADS];
  for (int i = 0; i < PAYLOADS; i++) payloads[i] = floors_memory(c->size_bytes);
  contract_published_init(&published, c);
  for (uint64_t i = 0; i < c->subscriptions; i++) {
    receivers[i].c = c;
    receivers[i].bell = &bells[i];
    contract_samples_init(&receivers[i].samples, c, i);
    if (pthread_create(&threads[i], NULL, receive_all, &receivers[i]) != 0)
      contract_error("failed", "a thread cannot be started", NULL);
  }
  contract_ready();
  contract_pace_begin(&pace, c);
  for (uint64_t number; contract_pace_next(&pace, &number);) {
    uint8_t *const payload = payloads[number % PAYLOADS];
    if (!wait_until_taken(c, bells, c->subscriptions, number)) break;
    const uint64_t at = contract_stamp(c, payload, number);
    for (uint64_t i = 0; i < c->subscriptions; i++) {
      atomic_store(&bells[i].pointer, payload);
      ring(&bells[i], number, FUTEX_WAKE_PRIVATE);
    }
    contract_note_published(&published, number, at, contract_now());
  }
  wait_for_receivers(c, &published, receivers);
  for (uint64_t i = 0; i < c->subscriptions; i++) {
    atomic_store(&receivers[i].stopped, true);
    ring(&bells[i], published.sent, FUTEX_WAKE_PRIVATE);
    pthread_join(threads[i], NULL);
  }
  end_pair(c, &published, receivers);
}

/* Calls the function with `different` payloads in turn. */
static void call(const struct contract *c, unsigned different) {
  struct receiver receivers[MOST_RECEIVERS] = {{.c = c}};
  struct receiver *volatile unknown = receivers;
  struct contract_published published;
  struct contract_pace pace;
  uint8_t *payloads[PAYLOADS_IN_MEMORY];
  for (unsigned i = 0; i < different; i++) payloads[i] = floors_memory(c->size_bytes);
  for (uint64_t i = 0; i < c->subscriptions; i++) {
    receivers[i].c = c;
    receivers[i].receive = receive_one;
    contract_samples_init(&receivers[i].samples, c, i);
  }
  contract_published_init(&published, c);
  contract_ready();
  contract_pace_begin(&pace, c);
  for (uint64_t number; contract_pace_next(&pace, &number);) {
    uint8_t *volatile payload = payloads[number % different];
    struct receiver *const to = unknown;
    const uint64_t at = contract_stamp(c, payload, number);
    for (uint64_t i = 0; i < c->subscriptions; i++) to[i].receive(&to[i], payload);
    contract_note_published(&published, number, at, contract_now());
  }
  end_pair(c, &published, receivers);
}

void hand_over(const struct contract *c, const char *kind) {
  const bool copies = strcmp(kind, "copy") == 0;
  const bool is_remote = copies || strcmp(kind, "futex") == 0;
  if (c->subscriptions > MOST_RECEIVERS || c->matched > MOST_RECEIVERS || c->index >= MOST_RECEIVERS)
    contract_error("unsupported", "a floor hands over to 16 receivers at most", NULL);
  if (is_remote != (c->role != CONTRACT_PAIR)) contract_error("unsupported", "this kind of floor has no such role", kind);
  if (c->role == CONTRACT_TALKER) talk(c, copies);
  else if (c->role == CONTRACT_LISTENER) listen_for(c);
  else if (strcmp(kind, "thread") == 0) thread_to_thread(c);
  else if (strcmp(kind, "in_cache") == 0) call(c, PAYLOADS);
  else if (strcmp(kind, "in_memory") == 0) call(c, PAYLOADS_IN_MEMORY);
  else call(c, 1);
}
