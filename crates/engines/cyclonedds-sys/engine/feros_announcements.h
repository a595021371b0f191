/* Sends announcements of participants by sockets of their own, one for each host, and without
   waiting.

   The kernel keeps datagrams for a host that is off until it gives up to look for the host (three
   seconds), and they take the room of the socket that has sent them. A peer is called at 120 ports,
   so the calls of one absent host fill the socket, and would hold up all that is sent by it. With a
   socket for each host, they take only the room of the absent host. An announcement that finds no
   room is lost; it is repeated like all others.

   There are sockets for FEROS_ANNOUNCEMENT_HOSTS hosts. Further hosts share these sockets. */
#ifndef FEROS_ANNOUNCEMENTS_H
#define FEROS_ANNOUNCEMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "dds/ddsi/ddsi_locator.h"
#include "ddsi__tran.h"

#define FEROS_ANNOUNCEMENT_HOSTS 64
/* Room for the announcements at all ports of a host, twice. The kernel may grant less. */
#define FEROS_ANNOUNCEMENT_BUFFER 524288 /* bytes */

/* The flag of `ddsi_conn_write` for datagrams that do not wait for room. */
#define FEROS_WITHOUT_WAITING 1u

struct feros_announcements;

struct feros_announcements *feros_announcements_new (void);
/* For a domain that failed to start, `announcements` is NULL, and there is nothing to free. */
void feros_announcements_free (struct feros_announcements *announcements);

/* Whether announcements to this address go by a socket of its host. The others are those to
   multicast groups, for which no host has to be found, and those of other transports. */
bool feros_has_own_socket (const struct ddsi_domaingv *gv, const ddsi_xlocator_t *to);

/* Returns the connection for announcements to the host of this address. If the system refuses
   another socket, it is the connection of the address. */
struct ddsi_tran_conn *feros_announcement_conn (struct ddsi_domaingv *gv, const ddsi_xlocator_t *to);

#endif
