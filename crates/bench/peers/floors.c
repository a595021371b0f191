/* Why this exists: what no middleware of this host can be faster than, measured in the same run as the middleware.
 *
 *   floors futex    --rate --count            a wake-up from process to process, no payload
 *   floors udp      --size --rate --count     the payload over a loopback socket, in datagrams of at most 64000 bytes
 *   floors memcpy   --size --count            one copy of the payload, again and again between the same two places
 *   floors copy     --size --rate --count     as futex, after one copy of the payload into the shared memory
 *   floors thread   --size --rate --count     a pointer to a payload, from thread to thread with a futex of the process
 *   floors call     --size --rate --count     a pointer to a payload, to a function that the compiler does not know
 *   floors fill     --size --count            as many payloads as fast as they can be filled, eight in turn
 *   floors fill_memory  --size --count        the same, with more of them in turn than caches hold
 *   floors awake                              keeps all processors from halting, at a priority that yields to everybody
 *
 * Arguments, sample and output line are those of latency.h, but one command runs both processes. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "latency.h"

enum { DATAGRAM_BYTES = 64000, PAYLOADS = 8, PAYLOADS_IN_MEMORY = 96 };

/* Every page is touched, with a value that keeps the compiler from making it a lazy calloc. */
static uint8_t *private_memory(size_t size) {
  uint8_t *memory = malloc(size);
  if (memory == NULL) fail("payload", strerror(errno));
  memset(memory, 0x5a, size);
  return memory;
}

static void *shared_memory(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("mmap", strerror(errno));
  return memory;
}

/* Starts the process that sends; the caller goes on as the one that receives, prints and waits for it. */
static pid_t fork_sender(void) {
  fflush(stdout);
  const pid_t pid = fork();
  if (pid < 0) fail("fork", strerror(errno));
  return pid;
}

static void end_sender(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0) fail("the sending process", "it failed");
}

/* --- a futex word in shared memory ------------------------------------------------------------------------------ */

struct bell {
  _Atomic uint32_t rung; /* counts the messages */
  _Atomic uint32_t taken;
  uint8_t message[];
};

/* Nothing is overwritten before it was taken: outside of what is measured, and only where the receiver was held up. */
static void wait_until_taken(_Atomic uint32_t *taken, uint64_t n) {
  while (atomic_load(taken) != (uint32_t) n) sleep_until(now_nanos() + 50000);
}

/* Sleeps until more than `seen` messages were sent; returns their number. */
static uint32_t wait_for_ring(_Atomic uint32_t *rung, uint32_t seen, int wait, const struct options *o) {
  const struct timespec patience = {.tv_sec = (time_t) o->timeout_seconds};
  while (atomic_load(rung) == seen) {
    if (syscall(SYS_futex, rung, wait, seen, &patience, NULL, 0) != 0 && errno == ETIMEDOUT)
      fail("waiting for the sender", "time is over");
  }
  return atomic_load(rung);
}

static void ring(_Atomic uint32_t *rung, uint64_t n, int wake) {
  atomic_store(rung, (uint32_t) n + 1);
  syscall(SYS_futex, rung, wake, 1, NULL, NULL, 0);
}

/* Without `copies` only the stamp goes over, whatever the size. */
static void futex(struct options o, bool copies) {
  if (!copies) o.size_bytes = STAMP_BYTES;
  struct bell *bell = shared_memory(sizeof *bell + o.size_bytes);
  memset(bell->message, 0x5a, o.size_bytes);
  const uint64_t messages = WARM_UP + o.count;
  const uint64_t begin = now_nanos() + 100000000u;
  const pid_t sender = fork_sender();
  if (sender == 0) {
    uint8_t *payload = private_memory(o.size_bytes);
    for (uint64_t n = 0; n < messages; n++) {
      sleep_until(due_nanos(begin, n, o.rate_hz));
      wait_until_taken(&bell->taken, n);
      stamp(payload, n);
      memcpy(bell->message, payload, o.size_bytes);
      ring(&bell->rung, n, FUTEX_WAKE);
    }
    _exit(0);
  }
  struct samples samples = new_samples(o.count);
  uint32_t seen = 0;
  for (bool last = false; !last;) {
    seen = wait_for_ring(&bell->rung, seen, FUTEX_WAIT, &o);
    const uint64_t now = now_nanos();
    last = note(&samples, &o, bell->message, o.size_bytes, now);
    atomic_store(&bell->taken, seen);
  }
  end_sender(sender);
  print_samples(&samples, &o);
}

/* --- a pointer from thread to thread ---------------------------------------------------------------------------- */

struct handover {
  const struct options *options;
  uint64_t begin;
  uint8_t *_Atomic message;
  _Atomic uint32_t rung;
  _Atomic uint32_t taken;
};

static void *hand_over(void *argument) {
  struct handover *handover = argument;
  const struct options *o = handover->options;
  uint8_t *payloads[PAYLOADS];
  for (int i = 0; i < PAYLOADS; i++) payloads[i] = private_memory(o->size_bytes);
  for (uint64_t n = 0; n < WARM_UP + o->count; n++) {
    uint8_t *payload = payloads[n % PAYLOADS];
    sleep_until(due_nanos(handover->begin, n, o->rate_hz));
    wait_until_taken(&handover->taken, n);
    stamp(payload, n);
    atomic_store(&handover->message, payload);
    ring(&handover->rung, n, FUTEX_WAKE_PRIVATE);
  }
  return NULL; /* the payloads live as long as the process: the other thread may still read the last one */
}

static void thread_to_thread(const struct options *o) {
  struct handover handover = {.options = o, .begin = now_nanos() + 100000000u};
  pthread_t sender;
  if (pthread_create(&sender, NULL, hand_over, &handover) != 0) fail("a thread", "it cannot be started");
  struct samples samples = new_samples(o->count);
  uint32_t seen = 0;
  for (bool last = false; !last;) {
    seen = wait_for_ring(&handover.rung, seen, FUTEX_WAIT_PRIVATE, o);
    const uint8_t *message = atomic_load(&handover.message);
    const uint64_t now = now_nanos();
    last = note(&samples, o, message, o->size_bytes, now);
    atomic_store(&handover.taken, seen);
  }
  pthread_join(sender, NULL);
  print_samples(&samples, o);
}

/* --- a call of a function that only the running program knows ---------------------------------------------------- */

struct receiver {
  bool (*receive)(struct receiver *self, const uint8_t *message);
  struct samples samples;
  const struct options *options;
};

static bool receive_one(struct receiver *self, const uint8_t *message) {
  const uint64_t now = now_nanos();
  return note(&self->samples, self->options, message, self->options->size_bytes, now);
}

static void call(const struct options *o) {
  struct receiver receiver = {.receive = receive_one, .samples = new_samples(o->count), .options = o};
  struct receiver *volatile unknown = &receiver;
  uint8_t *payload = private_memory(o->size_bytes);
  const uint64_t begin = now_nanos() + 100000000u;
  bool last = false;
  for (uint64_t n = 0; !last; n++) {
    sleep_until(due_nanos(begin, n, o->rate_hz));
    struct receiver *to = unknown;
    stamp(payload, n);
    last = to->receive(to, payload);
  }
  print_samples(&receiver.samples, o);
}

/* --- filling memory ------------------------------------------------------------------------------------------------ */

static void fill(const struct options *o, unsigned different) {
  uint8_t *payloads[PAYLOADS_IN_MEMORY];
  for (unsigned i = 0; i < different; i++) payloads[i] = private_memory(o->size_bytes);
  uint64_t began = 0;
  for (uint64_t n = 0; n < WARM_UP + o->count; n++) {
    if (n == WARM_UP) began = now_nanos();
    uint8_t *volatile payload = payloads[n % different];
    memset(payload, (int) n, o->size_bytes);
  }
  const double seconds = (double) (now_nanos() - began) / 1e9;
  printf("{\"size_bytes\":%zu,\"received\":%llu,\"lost\":0,\"payload_bytes_per_second\":%.0f}\n", o->size_bytes,
         (unsigned long long) o->count, (double) o->count * (double) o->size_bytes / seconds);
}

/* --- a UDP socket over loopback --------------------------------------------------------------------------------- */

static int bound_socket(struct sockaddr_in *address, const struct options *o) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) fail("socket", strerror(errno));
  const int buffer_bytes = 8 << 20; /* the kernel grants what net.core.rmem_max allows */
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
  const struct timeval patience = {.tv_sec = (time_t) (o->timeout_seconds < 5 ? o->timeout_seconds : 5)};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  *address = (struct sockaddr_in) {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof *address;
  if (bind(fd, (struct sockaddr *) address, length) != 0 || getsockname(fd, (struct sockaddr *) address, &length) != 0)
    fail("bind to 127.0.0.1", strerror(errno));
  return fd;
}

static void send_all(int fd, const struct sockaddr_in *to, uint8_t *payload, const struct options *o) {
  const uint64_t begin = now_nanos() + 100000000u;
  for (uint64_t n = 0; n < WARM_UP + o->count; n++) {
    sleep_until(due_nanos(begin, n, o->rate_hz));
    stamp(payload, n);
    for (size_t sent = 0; sent < o->size_bytes;) {
      const size_t left = o->size_bytes - sent, part = left < DATAGRAM_BYTES ? left : DATAGRAM_BYTES;
      if (sendto(fd, payload + sent, part, 0, (const struct sockaddr *) to, sizeof *to) != (ssize_t) part)
        fail("sendto", strerror(errno));
      sent += part;
    }
  }
}

/* Receives whole messages until the last, or until nothing more comes. No header in the datagrams: a message whose parts
 * do not add up because the kernel dropped some is recognised by its length, and counted as lost by not being noted. */
static void receive_all(int fd, uint8_t *payload, struct samples *samples, const struct options *o) {
  size_t filled = 0;
  for (bool last = false; !last;) {
    const ssize_t got = recv(fd, payload + filled, o->size_bytes - filled, 0);
    if (got <= 0) return;
    filled += (size_t) got;
    if (filled == o->size_bytes) {
      const uint64_t now = now_nanos();
      last = note(samples, o, payload, filled, now);
      filled = 0;
    }
  }
}

static void udp(const struct options *o) {
  struct sockaddr_in address;
  const int fd = bound_socket(&address, o);
  uint8_t *payload = private_memory(o->size_bytes);
  const pid_t sender = fork_sender();
  if (sender == 0) {
    send_all(fd, &address, payload, o);
    _exit(0);
  }
  struct samples samples = new_samples(o->count);
  receive_all(fd, payload, &samples, o);
  end_sender(sender);
  print_samples(&samples, o);
}

/* --- one copy ----------------------------------------------------------------------------------------------------- */

static void copy(const struct options *o) {
  uint8_t *from = private_memory(o->size_bytes), *to = private_memory(o->size_bytes);
  struct samples samples = new_samples(o->count);
  for (uint64_t n = 0; n < WARM_UP + o->count; n++) {
    stamp(from, n);
    memcpy(to, from, o->size_bytes);
    note(&samples, o, to, o->size_bytes, now_nanos());
  }
  print_samples(&samples, o);
  free(from);
  free(to);
}

/* --- processors that do not halt ------------------------------------------------------------------------------------ */

static void spin_on(int processor) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  const struct sched_param priority = {0};
  if (sched_setaffinity(0, sizeof set, &set) != 0 || sched_setscheduler(0, SCHED_IDLE, &priority) != 0) _exit(1);
  for (;;) {
  }
}

/* Goes on until it is killed. */
static void keep_awake(void) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  for (int n = 0; n < processors; n++) {
    if (fork_sender() == 0) spin_on(n);
  }
  while (wait(NULL) > 0) {
  }
  fail("keeping processors awake", "the scheduling class SCHED_IDLE is refused");
}

int main(int argc, char **argv) {
  const char *kind = argc > 1 ? argv[1] : "";
  const struct options o = parse_options(argc - (argc > 1), argv + (argc > 1), false);
  if (strcmp(kind, "futex") == 0) {
    futex(o, false);
  } else if (strcmp(kind, "udp") == 0) {
    udp(&o);
  } else if (strcmp(kind, "memcpy") == 0) {
    copy(&o);
  } else if (strcmp(kind, "copy") == 0) {
    futex(o, true);
  } else if (strcmp(kind, "thread") == 0) {
    thread_to_thread(&o);
  } else if (strcmp(kind, "call") == 0) {
    call(&o);
  } else if (strcmp(kind, "fill") == 0) {
    fill(&o, PAYLOADS);
  } else if (strcmp(kind, "fill_memory") == 0) {
    fill(&o, PAYLOADS_IN_MEMORY);
  } else if (strcmp(kind, "awake") == 0) {
    keep_awake();
  } else {
    fprintf(stderr, "error: there is no floor \"%s\"; the head of floors.c lists them\n", kind);
    return 2;
  }
  return 0;
}
