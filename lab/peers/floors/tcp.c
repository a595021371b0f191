/* Sends the payload from process to process through plain TCP connections, which is the limit for every
 * system over TCP, the default of Zenoh.
 *
 * The talker listens at FEROS_LAB_ADDRESS and FEROS_LAB_PORT; a listener tries until it is connected. Every message has the
 * same size, so the stream needs no frames. Data is sent without waiting for more (TCP_NODELAY). */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "address.h"
#include "memory.h"
#include "tcp.h"

static int open_socket(void) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  if (fd < 0) contract_error("failed", "socket", strerror(errno));
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

/* Sends all bytes; returns false if the connection has ended. */
static bool send_all(int fd, const uint8_t *from, size_t size) {
  while (size > 0) {
    const ssize_t sent = send(fd, from, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    from += sent;
    size -= (size_t) sent;
  }
  return true;
}

static void talk(const struct contract *c) {
  const struct sockaddr_in own = talker_address();
  const int door = open_socket();
  if (bind(door, (const struct sockaddr *) &own, sizeof own) != 0 || listen(door, MOST_LISTENERS) != 0)
    contract_error("failed", "bind", strerror(errno));
  int listeners[MOST_LISTENERS];
  uint64_t known = 0, refused = 0;
  while (known < c->matched) {
    struct pollfd coming = {.fd = door, .events = POLLIN};
    if (poll(&coming, 1, 10) == 1 && (listeners[known] = accept(door, NULL, NULL)) >= 0) {
      const int on = 1;
      setsockopt(listeners[known++], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    } else if (contract_stopped(c)) {
      contract_error("not-matched", "not all listeners were found in time", NULL);
    }
  }
  uint8_t *const payload = floors_memory(c->size_bytes);
  struct contract_published published;
  struct contract_pace pace;
  contract_published_init(&published, c);
  contract_ready();
  contract_pace_begin(&pace, c);
  for (uint64_t number; contract_pace_next(&pace, &number);) {
    const uint64_t at = contract_stamp(c, payload, number);
    for (uint64_t i = 0; i < known; i++)
      if (!send_all(listeners[i], payload, c->size_bytes)) refused++;
    contract_note_published(&published, number, at, contract_now());
  }
  if (refused > 0) fprintf(stderr, "floors: %llu messages found no listener\n", (unsigned long long) refused);
  contract_end(&published, NULL, 0);
}

static int connected(const struct contract *c) {
  const struct sockaddr_in talker = talker_address();
  for (;;) {
    const int fd = open_socket();
    if (connect(fd, (const struct sockaddr *) &talker, sizeof talker) == 0) return fd;
    close(fd);
    if (contract_wait_stopped(c, 5)) contract_error("not-matched", "the talker was not found", NULL);
  }
}

static void listen_for(const struct contract *c) {
  uint8_t *const payload = floors_memory(c->size_bytes);
  struct contract_samples samples, *all = &samples;
  contract_samples_init(&samples, c, c->index);
  contract_ready();
  const int fd = connected(c);
  const struct timeval patience = {.tv_sec = 0, .tv_usec = 100000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  size_t got = 0;
  for (bool last = false; !last;) {
    const ssize_t more = recv(fd, payload + got, c->size_bytes - got, 0);
    if (more == 0) break; /* the talker has ended */
    if (more < 0) {
      last = contract_stopped(c);
      continue;
    }
    got += (size_t) more;
    if (got < c->size_bytes) continue;
    got = 0;
    last = contract_note_received(&samples, payload, c->size_bytes, contract_now());
  }
  contract_end(NULL, &all, 1);
}

void tcp(const struct contract *c) {
  if (c->matched > MOST_LISTENERS) contract_error("unsupported", "a floor has at most 16 listeners", NULL);
  if (c->role == CONTRACT_TALKER) talk(c);
  else if (c->role == CONTRACT_LISTENER) listen_for(c);
  else contract_error("unsupported", "this kind of floor has no such role", "tcp");
}
