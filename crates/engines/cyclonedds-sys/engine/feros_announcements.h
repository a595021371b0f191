/* Sends announcements of participants without waiting, by sockets that send nothing else, one for
   each host.

   The kernel keeps datagrams for a host that is off until it gives up looking for the host (three
   seconds), and meanwhile they take room in the send buffer of their socket. A peer gets each
   announcement at 120 ports, so the announcements to one absent host fill the buffer, and would
   hold up everything else that the socket sends. With a socket for each host, only announcements to
   the absent host find no room. An announcement that finds no room is lost; it is repeated like all
   others.

   There are sockets for FEROS_ANNOUNCEMENT_HOSTS hosts. Further hosts share these sockets. */
#ifndef FEROS_ANNOUNCEMENTS_H
#define FEROS_ANNOUNCEMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "dds/ddsi/ddsi_locator.h"
#include "ddsi__tran.h"

#define FEROS_ANNOUNCEMENT_HOSTS 64
/* Room for two announcements at each port of a host. The kernel may grant less. */
#define FEROS_ANNOUNCEMENT_BUFFER 524288 /* bytes */

/* The flag of `ddsi_conn_write` for datagrams that do not wait for room. */
#define FEROS_WITHOUT_WAITING 1u

struct feros_announcements;

struct feros_announcements *feros_announcements_new (void);
/* For a domain that failed to start, `announcements` is NULL, and there is nothing to free. */
void feros_announcements_free (struct feros_announcements *announcements);

/* Whether announcements to this address go by the socket for its host. Those to multicast groups
   do not, since the kernel need not find a host for them, and those of transports other than UDP do
   not either. */
bool feros_has_own_socket (const struct ddsi_domaingv *gv, const ddsi_xlocator_t *to);

/* Returns the connection for announcements to the host of this address. If the system refuses
   another socket, it is the connection in the locator, by which data is sent, too. */
struct ddsi_tran_conn *feros_announcement_conn (struct ddsi_domaingv *gv, const ddsi_xlocator_t *to);

#endif
