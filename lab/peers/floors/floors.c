/* Why this exists: what no middleware of this machine can be faster than, measured in the same run as the middleware.
 *
 *   futex                      a wake-up from thread to thread of one process
 *   futex between processes    the same through shared memory
 *   udp loopback               the payload from process to process, in datagrams of at most 64000 bytes
 *   memcpy                     one copy of the payload, again and again between the same two places
 *   clock                      one reading of the clock
 *   timer                      how much later than asked an absolute sleep ends
 *
 * These are the role `floors`; handover.c has the others. `--size 0` (the default): each payload size of the documents; else that one. `--count` samples of each, at `--rate`. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "handover.h"
#include "memory.h"

enum { DATAGRAM_BYTES = 64000, CLOCK_READINGS = 100 };
#define QUIET_NANOS 200000000u /* so long without a datagram: the rest of a message was dropped by the kernel */

static struct contract c;
static uint64_t *samples;
static size_t sampled;

static void note(uint64_t nanos) {
  if (sampled < c.count) samples[sampled++] = nanos;
}

static void say(const char *name, size_t size) {
  struct contract_line line = {NULL, 0, 0};
  contract_add(&line, "{\"floor\":{\"name\":");
  contract_add_string(&line, name);
  contract_add(&line, ",\"size_bytes\":");
  contract_add_number(&line, size);
  contract_add(&line, ",");
  contract_add_numbers(&line, "nanos", samples, sampled);
  contract_add(&line, "}}");
  contract_write(&line);
  sampled = 0;
}

/* The first sample of each kind meets cold caches and unmapped pages: it is run and not noted. */
static uint64_t runs(void) { return c.count + 1; }

static uint64_t pace_begin(void) { return contract_now() + 5000000u; }

static void wait_for_turn(uint64_t begin, uint64_t n) {
  contract_sleep_until(begin + (c.rate_hz > 0 ? (uint64_t) ((double) n * 1e9 / c.rate_hz) : 0));
}

static pid_t fork_sender(void) {
  const pid_t parent = getpid();
  fflush(stdout);
  const pid_t pid = fork();
  if (pid < 0) contract_error("failed", "fork", strerror(errno));
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
  }
  return pid;
}

static void end_sender(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0) contract_error("failed", "the sending process failed", NULL);
}

/* --- hand-over --------------------------------------------------------------------------------------------------- */

struct bell {
  _Atomic uint32_t rung, taken; /* counts of messages */
  _Atomic uint64_t at;
  uint64_t begin;
  int wait, wake;
};

static void *ring_all(void *argument) {
  struct bell *const bell = (struct bell *) argument;
  for (uint64_t n = 0; n < runs(); n++) {
    wait_for_turn(bell->begin, n);
    while (atomic_load(&bell->taken) != (uint32_t) n) contract_sleep_millis(1);
    atomic_store(&bell->at, contract_now());
    atomic_store(&bell->rung, (uint32_t) n + 1);
    syscall(SYS_futex, &bell->rung, bell->wake, 1, NULL, NULL, 0);
  }
  return NULL;
}

static void hear_all(struct bell *bell) {
  for (uint32_t seen = 0; seen < runs();) {
    const struct timespec patience = {.tv_sec = 1, .tv_nsec = 0};
    while (atomic_load(&bell->rung) == seen) {
      syscall(SYS_futex, &bell->rung, bell->wait, seen, &patience, NULL, 0);
      if (atomic_load(&bell->rung) == seen && contract_stopped(&c)) _exit(1);
    }
    const uint64_t now = contract_now();
    if (seen++ > 0) note(now - atomic_load(&bell->at));
    atomic_store(&bell->taken, seen);
  }
}

static void futex_threads(void) {
  struct bell bell = {.begin = pace_begin(), .wait = FUTEX_WAIT_PRIVATE, .wake = FUTEX_WAKE_PRIVATE};
  pthread_t sender;
  if (pthread_create(&sender, NULL, ring_all, &bell) != 0) contract_error("failed", "a thread cannot be started", NULL);
  hear_all(&bell);
  pthread_join(sender, NULL);
  say("futex", 0);
}

static void futex_processes(void) {
  struct bell *const bell =
      (struct bell *) mmap(NULL, sizeof *bell, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (bell == MAP_FAILED) contract_error("failed", "mmap", strerror(errno));
  bell->begin = pace_begin();
  bell->wait = FUTEX_WAIT;
  bell->wake = FUTEX_WAKE;
  const pid_t sender = fork_sender();
  if (sender == 0) {
    ring_all(bell);
    _exit(0);
  }
  hear_all(bell);
  end_sender(sender);
  munmap(bell, sizeof *bell);
  say("futex between processes", 0);
}

/* --- loopback ---------------------------------------------------------------------------------------------------- */

/* The whole message may wait in the kernel: forced where this process may, else what net.core.rmem_max grants. */
static int bound_socket(struct sockaddr_in *address, size_t size) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) contract_error("failed", "socket", strerror(errno));
  const int buffer_bytes = (int) (4 * size) + (1 << 20);
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes) != 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
  const struct timeval patience = {.tv_sec = 0, .tv_usec = QUIET_NANOS / 1000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  memset(address, 0, sizeof *address);
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof *address;
  if (bind(fd, (struct sockaddr *) address, length) != 0 || getsockname(fd, (struct sockaddr *) address, &length) != 0)
    contract_error("failed", "bind to 127.0.0.1", strerror(errno));
  return fd;
}

/* Each datagram begins with the number of its message; the first one has the time after it. */
static void send_all(int fd, const struct sockaddr_in *to, uint8_t *payload, size_t size, uint64_t begin) {
  for (uint64_t n = 0; n < runs(); n++) {
    wait_for_turn(begin, n);
    const uint64_t now = contract_now();
    memcpy(payload + 8, &now, 8);
    for (size_t sent = 0; sent < size;) {
      const size_t left = size - sent, part = left < DATAGRAM_BYTES ? left : DATAGRAM_BYTES;
      if (part >= 8) memcpy(payload + sent, &n, 8);
      if (sendto(fd, payload + sent, part, 0, (const struct sockaddr *) to, sizeof *to) != (ssize_t) part) _exit(1);
      sent += part;
    }
  }
}

/* A message of which the kernel dropped a part is no sample. */
static void receive_all(int fd, uint8_t *payload, size_t size) {
  uint8_t *const datagram = floors_memory(DATAGRAM_BYTES);
  uint64_t current = 0;
  size_t filled = 0;
  for (int quiet = 0; quiet < 5;) {
    const ssize_t got = recv(fd, datagram, DATAGRAM_BYTES, 0);
    if (got <= 0) {
      quiet++;
      if (current + 1 >= runs() || contract_stopped(&c)) break;
      continue;
    }
    quiet = 0;
    uint64_t number = current;
    if (got >= 8) memcpy(&number, datagram, 8);
    if (number != current) filled = 0;
    current = number;
    if (filled + (size_t) got > size) continue;
    memcpy(payload + filled, datagram, (size_t) got);
    filled += (size_t) got;
    if (filled < size) continue;
    const uint64_t now = contract_now();
    uint64_t at;
    memcpy(&at, payload + 8, 8);
    if (current > 0) note(now - at);
    filled = 0;
    if (current + 1 == runs()) break;
  }
  free(datagram);
}

static void udp(size_t size) {
  struct sockaddr_in address;
  const int fd = bound_socket(&address, size);
  uint8_t *const payload = floors_memory(size);
  const uint64_t begin = pace_begin();
  const pid_t sender = fork_sender();
  if (sender == 0) {
    send_all(fd, &address, payload, size, begin);
    _exit(0);
  }
  receive_all(fd, payload, size);
  end_sender(sender);
  close(fd);
  free(payload);
  say("udp loopback", size);
}

/* --- the rest ---------------------------------------------------------------------------------------------------- */

static void copy(size_t size) {
  uint8_t *const from = floors_memory(size), *const to = floors_memory(size);
  for (uint64_t n = 0; n < runs(); n++) {
    from[0] = (uint8_t) n;
    const uint64_t at = contract_now();
    memcpy(to, from, size);
    __asm__ volatile("" : : "r"(to) : "memory"); /* the copy is made, though nobody reads it */
    if (n > 0) note(contract_now() - at);
  }
  free(from);
  free(to);
  say("memcpy", size);
}

static void clock_cost(void) {
  for (uint64_t n = 0; n < c.count; n++) {
    const uint64_t at = contract_now();
    for (int i = 1; i < CLOCK_READINGS; i++) (void) contract_now();
    note((contract_now() - at + CLOCK_READINGS / 2) / CLOCK_READINGS);
  }
  say("clock", 0);
}

static void timer(void) {
  for (uint64_t n = 0; n < c.count; n++) {
    const uint64_t due = contract_now() + 1000000u;
    contract_sleep_until(due);
    note(contract_now() - due);
  }
  say("timer", 0);
}

int main(int argc, char **argv) {
  static const size_t sizes[] = {100,     256,     512,     1 << 10,  2 << 10,  4 << 10,  8 << 10,  16 << 10, 32 << 10,
                                 60 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20};
  static const char *const kinds[] = {"futex", "copy", "thread", "call", "fill", "fill_memory", NULL};
  struct contract_extra kind = {"--kind", kinds, "futex"};
  contract_parse(&c, argc, argv, &kind, 1);
  struct utsname kernel;
  uname(&kernel);
  char version[sizeof kernel];
  snprintf(version, sizeof version, "%s %s", kernel.sysname, kernel.release);
  contract_hello(&c, "floors", version);
  if (c.role == CONTRACT_TALKER || c.role == CONTRACT_LISTENER || c.role == CONTRACT_PAIR) {
    hand_over(&c, kind.value);
    return 0;
  }
  if (c.role != CONTRACT_FLOORS) contract_error("unsupported", "floors have no such role", NULL);
  samples = (uint64_t *) calloc(c.count + 1, sizeof *samples);
  if (samples == NULL) contract_error("failed", "memory for the samples", strerror(errno));
  contract_ready();
  clock_cost();
  timer();
  futex_threads();
  futex_processes();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !contract_stopped(&c); i++) {
    const size_t size = c.size_bytes == 0 ? sizes[i] : c.size_bytes;
    copy(size);
    udp(size);
    if (c.size_bytes != 0) break;
  }
  contract_end(NULL, NULL, 0);
  return 0;
}
