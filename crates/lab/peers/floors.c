/* Why this exists: what no middleware of this host can be faster than, measured in the same run as the middleware.
 *
 *   floors futex    --rate --count            a wake-up from process to process, no payload
 *   floors udp      --size --rate --count     the payload over a loopback socket, in datagrams of at most 64000 bytes
 *   floors memcpy   --size --count            one copy of the payload, again and again between the same two places
 *
 * Arguments, sample and output line are those of latency.h, but one command runs both processes. */
#include <arpa/inet.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "latency.h"

enum { DATAGRAM_BYTES = 64000 };

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
  uint8_t message[STAMP_BYTES];
};

static void futex(struct options o) {
  struct bell *bell = shared_memory(sizeof *bell);
  o.size_bytes = STAMP_BYTES;
  const uint64_t messages = WARM_UP + o.count;
  const uint64_t begin = now_nanos() + 100000000u;
  const pid_t sender = fork_sender();
  if (sender == 0) {
    for (uint64_t n = 0; n < messages; n++) {
      sleep_until(due_nanos(begin, n, o.rate_hz));
      stamp(bell->message, n);
      atomic_store(&bell->rung, (uint32_t) n + 1);
      syscall(SYS_futex, &bell->rung, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    _exit(0);
  }
  struct samples samples = new_samples(o.count);
  const struct timespec patience = {.tv_sec = (time_t) o.timeout_seconds};
  uint32_t seen = 0;
  for (bool last = false; !last;) {
    while (atomic_load(&bell->rung) == seen) {
      if (syscall(SYS_futex, &bell->rung, FUTEX_WAIT, seen, &patience, NULL, 0) != 0 && errno == ETIMEDOUT)
        fail("waiting for the other process", "time is over");
    }
    const uint64_t now = now_nanos();
    seen = atomic_load(&bell->rung);
    last = note(&samples, &o, bell->message, STAMP_BYTES, now);
  }
  end_sender(sender);
  print_samples(&samples, &o);
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
  uint8_t *payload = malloc(o->size_bytes);
  if (payload == NULL) fail("payload", strerror(errno));
  memset(payload, 0x5a, o->size_bytes);
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
  uint8_t *from = malloc(o->size_bytes), *to = malloc(o->size_bytes);
  if (from == NULL || to == NULL) fail("memory", strerror(errno));
  /* Every page is touched before, with a value that keeps the compiler from making it a lazy calloc. */
  memset(from, 0x5a, o->size_bytes);
  memset(to, 0xa5, o->size_bytes);
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

int main(int argc, char **argv) {
  const char *kind = argc > 1 ? argv[1] : "";
  const struct options o = parse_options(argc - (argc > 1), argv + (argc > 1), false);
  if (strcmp(kind, "futex") == 0) {
    futex(o);
  } else if (strcmp(kind, "udp") == 0) {
    udp(&o);
  } else if (strcmp(kind, "memcpy") == 0) {
    copy(&o);
  } else {
    fprintf(stderr, "error: the first argument is futex, udp or memcpy, not \"%s\"\n", kind);
    return 2;
  }
  return 0;
}
