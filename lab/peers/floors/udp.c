/* Sends the payload from process to process through plain UDP sockets, within a host or over a link,
 * which is the limit for every system over the network.
 *
 * A datagram is as large as fits in one packet to the listener: 65507 bytes over loopback, 1472 over a link with an MTU of
 * 1500. Each has a header; a message is complete when all of its bytes have arrived. Nothing is sent again: a message with a
 * missing datagram is lost, and the laboratory counts it.
 *
 * The talker is at FEROS_LAB_ADDRESS and FEROS_LAB_PORT. A listener sends its address and index to the talker repeatedly
 * until the talker has answered. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "address.h"
#include "memory.h"
#include "udp.h"

enum { LARGEST_DATAGRAM = 65507, HEADERS_BYTES = 28 };
#define GREETING UINT64_MAX /* in place of a message's number; `offset` is the listener's index */

/* The header before the part of a payload in each datagram. */
struct head {
  uint64_t number, offset;
};

struct listener {
  struct sockaddr_in address;
  size_t part_bytes; /* bytes of the payload per datagram */
  bool is_known;
};

/* The buffers hold all messages on their way. Their size is forced if this process may do so; otherwise, they are as large
 * as net.core.rmem_max and wmem_max allow. */
static int open_socket(const struct contract *c) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) contract_error("failed", "socket", strerror(errno));
  const uint64_t wanted = 4 * (uint64_t) c->size_bytes + (1 << 20);
  const int bytes = wanted < (1 << 30) ? (int) wanted : 1 << 30;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0)
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  return fd;
}

/* The largest payload that fits into one packet to this address: losing an IP fragment would lose the whole datagram. */
static size_t part_bytes_to(const struct sockaddr_in *address) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  int mtu = 0;
  socklen_t length = sizeof mtu;
  if (fd < 0 || connect(fd, (const struct sockaddr *) address, sizeof *address) != 0 ||
      getsockopt(fd, IPPROTO_IP, IP_MTU, &mtu, &length) != 0 || mtu <= HEADERS_BYTES + (int) sizeof(struct head))
    contract_error("failed", "the largest packet to a listener is unknown", strerror(errno));
  close(fd);
  const size_t datagram = (size_t) mtu - HEADERS_BYTES;
  return (datagram < LARGEST_DATAGRAM ? datagram : LARGEST_DATAGRAM) - sizeof(struct head);
}

/* --- talker ------------------------------------------------------------------------------------------------------- */

struct talker {
  int fd;
  struct listener listeners[MOST_LISTENERS];
  uint64_t known, refused;
};

/* Receives and answers the greetings of listeners. */
static void hear_greetings(struct talker *talker) {
  struct head head;
  struct sockaddr_in from;
  socklen_t length = sizeof from;
  while (recvfrom(talker->fd, &head, sizeof head, MSG_DONTWAIT, (struct sockaddr *) &from, &length) == (ssize_t) sizeof head) {
    length = sizeof from;
    if (head.number != GREETING || head.offset >= MOST_LISTENERS) continue;
    struct listener *const listener = &talker->listeners[head.offset];
    if (!listener->is_known) {
      *listener = (struct listener) {from, part_bytes_to(&from), true};
      talker->known++;
    }
    sendto(talker->fd, &head, sizeof head, 0, (const struct sockaddr *) &from, sizeof from);
  }
}

static void send_message(struct talker *talker, struct listener *listener, uint8_t *payload, size_t size, uint64_t number) {
  struct head head = {number, 0};
  while (head.offset < size) {
    const size_t left = size - head.offset, part = left < listener->part_bytes ? left : listener->part_bytes;
    struct iovec pieces[] = {{&head, sizeof head}, {payload + head.offset, part}};
    const struct msghdr message = {.msg_name = &listener->address, .msg_namelen = sizeof listener->address,
                                   .msg_iov = pieces, .msg_iovlen = 2};
    if (sendmsg(talker->fd, &message, 0) < 0) talker->refused++;
    head.offset += part;
  }
}

static void talk(const struct contract *c) {
  struct talker talker = {.fd = open_socket(c)};
  const struct sockaddr_in own = talker_address();
  if (bind(talker.fd, (const struct sockaddr *) &own, sizeof own) != 0) contract_error("failed", "bind", strerror(errno));
  while (talker.known < c->matched) {
    hear_greetings(&talker);
    if (talker.known < c->matched && contract_wait_stopped(c, 1))
      contract_error("not-matched", "not all listeners were found in time", NULL);
  }
  uint8_t *const payload = floors_memory(c->size_bytes);
  struct contract_published published;
  struct contract_pace pace;
  contract_published_init(&published, c);
  contract_ready();
  contract_pace_begin(&pace, c);
  for (uint64_t number; contract_pace_next(&pace, &number);) {
    hear_greetings(&talker);
    const uint64_t at = contract_stamp(c, payload, number);
    for (int i = 0; i < MOST_LISTENERS; i++)
      if (talker.listeners[i].is_known) send_message(&talker, &talker.listeners[i], payload, c->size_bytes, number);
    contract_note_published(&published, number, at, contract_now());
  }
  if (talker.refused > 0) fprintf(stderr, "floors: %llu datagrams were refused\n", (unsigned long long) talker.refused);
  contract_end(&published, NULL, 0);
}

/* --- listener ----------------------------------------------------------------------------------------------------- */

/* A partially received message. */
struct partial {
  uint8_t *payload; /* with room for one more datagram */
  uint64_t number;
  size_t got, end;  /* received bytes, and the end of the furthest */
};

/* Receives one datagram at its most likely position, after all received parts. Returns whether the message is complete. */
static bool take_in(struct partial *partial, int fd, const struct contract *c, bool *is_answered) {
  struct head head;
  struct iovec pieces[] = {{&head, sizeof head}, {partial->payload + partial->end, LARGEST_DATAGRAM}};
  struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
  const ssize_t received = recvmsg(fd, &message, 0);
  if (received < (ssize_t) sizeof head) return false;
  const size_t part = (size_t) received - sizeof head;
  *is_answered = true;
  if (head.number == GREETING || head.offset > c->size_bytes || part > c->size_bytes - head.offset) return false;
  const uint8_t *const came_to = partial->payload + partial->end;
  if (head.number != partial->number) { /* the missing parts of the previous message are lost */
    partial->number = head.number;
    partial->got = partial->end = 0;
  }
  if (came_to != partial->payload + head.offset) memmove(partial->payload + head.offset, came_to, part);
  partial->got += part;
  if (head.offset + part > partial->end) partial->end = head.offset + part;
  if (partial->got < c->size_bytes) return false;
  partial->got = partial->end = 0;
  return true;
}

/* Limits the time that a receive call waits. A listener that wakes more often than necessary would keep its processor warm
 * for its messages. */
static void wait_at_most(int fd, int millis) {
  const struct timeval patience = {.tv_sec = 0, .tv_usec = millis * 1000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

static void listen_for(const struct contract *c) {
  const int fd = open_socket(c);
  wait_at_most(fd, 10);
  const struct sockaddr_in talker = talker_address();
  const struct head greeting = {GREETING, c->index};
  struct partial partial = {.payload = floors_memory(c->size_bytes + LARGEST_DATAGRAM), .number = GREETING};
  struct contract_samples samples, *all = &samples;
  contract_samples_init(&samples, c, c->index);
  contract_ready();
  uint64_t looked = contract_now();
  for (bool is_answered = false, last = false; !last;) {
    const bool was_answered = is_answered;
    if (!is_answered) sendto(fd, &greeting, sizeof greeting, 0, (const struct sockaddr *) &talker, sizeof talker);
    const bool is_whole = take_in(&partial, fd, c, &is_answered);
    const uint64_t now = contract_now();
    if (is_answered && !was_answered) wait_at_most(fd, 100);
    if (is_whole) last = contract_note_received(&samples, partial.payload, c->size_bytes, now);
    if (now - looked > 50000000u) {
      looked = now;
      last = last || contract_stopped(c);
    }
  }
  contract_end(NULL, &all, 1);
}

void udp(const struct contract *c) {
  if (c->matched > MOST_LISTENERS || c->index >= MOST_LISTENERS)
    contract_error("unsupported", "a floor has at most 16 listeners", NULL);
  if (c->role == CONTRACT_TALKER) talk(c);
  else if (c->role == CONTRACT_LISTENER) listen_for(c);
  else contract_error("unsupported", "this kind of floor has no such role", "udp");
}
