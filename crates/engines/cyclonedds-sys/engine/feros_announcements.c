#include "feros_announcements.h"

#include <string.h>

#include "dds/ddsrt/heap.h"
#include "dds/ddsrt/sockets.h"
#include "dds/ddsrt/sync.h"
#include "dds/ddsi/ddsi_domaingv.h"

struct host {
  const struct ddsi_tran_conn *by; /* the connection of the interface */
  unsigned char address[sizeof (((ddsi_locator_t *) 0)->address)];
  struct ddsi_tran_conn *conn; /* NULL if the system refused a socket */
};

struct feros_announcements {
  ddsrt_mutex_t lock;
  uint32_t n_hosts;
  struct host hosts[FEROS_ANNOUNCEMENT_HOSTS];
};

struct feros_announcements *feros_announcements_new (void)
{
  struct feros_announcements *announcements = ddsrt_malloc (sizeof (*announcements));
  memset (announcements, 0, sizeof (*announcements));
  ddsrt_mutex_init (&announcements->lock);
  return announcements;
}

void feros_announcements_free (struct feros_announcements *announcements)
{
  if (announcements == NULL)
    return;
  for (uint32_t i = 0; i < announcements->n_hosts; i++)
    ddsi_conn_free (announcements->hosts[i].conn);
  ddsrt_mutex_destroy (&announcements->lock);
  ddsrt_free (announcements);
}

bool feros_has_own_socket (const struct ddsi_domaingv *gv, const ddsi_xlocator_t *to)
{
  const bool is_udp = to->c.kind == DDSI_LOCATOR_KIND_UDPv4 || to->c.kind == DDSI_LOCATOR_KIND_UDPv6;
  return is_udp && to->conn != NULL && !ddsi_is_mcaddr (gv, &to->c);
}

static struct ddsi_tran_conn *new_conn (struct ddsi_domaingv *gv, const struct ddsi_tran_conn *by)
{
  int i = 0;
  while (i < gv->n_interfaces && gv->xmit_conns[i] != by)
    i++;
  if (i == gv->n_interfaces)
    return NULL;
  const struct ddsi_tran_qos qos = { .m_purpose = DDSI_TRAN_QOS_XMIT_UC, .m_diffserv = 0, .m_interface = &gv->interfaces[i] };
  struct ddsi_tran_conn *conn = NULL;
  if (ddsi_factory_create_conn (&conn, by->m_factory, 0, &qos) != DDS_RETCODE_OK)
    return NULL;
  /* The configured buffer is small, so that data does not queue up in it. */
  const uint32_t size = FEROS_ANNOUNCEMENT_BUFFER;
  (void) ddsrt_setsockopt (ddsi_conn_handle (conn), SOL_SOCKET, SO_SNDBUF, &size, sizeof (size));
  return conn;
}

struct ddsi_tran_conn *feros_announcement_conn (struct ddsi_domaingv *gv, const ddsi_xlocator_t *to)
{
  struct feros_announcements * const announcements = gv->announcements;
  if (announcements == NULL)
    return to->conn;
  ddsrt_mutex_lock (&announcements->lock);
  struct host *host = NULL;
  for (uint32_t i = 0; host == NULL && i < announcements->n_hosts; i++)
    if (announcements->hosts[i].by == to->conn && memcmp (announcements->hosts[i].address, to->c.address, sizeof (to->c.address)) == 0)
      host = &announcements->hosts[i];
  if (host == NULL && announcements->n_hosts < FEROS_ANNOUNCEMENT_HOSTS)
  {
    host = &announcements->hosts[announcements->n_hosts++];
    host->by = to->conn;
    memcpy (host->address, to->c.address, sizeof (host->address));
    host->conn = new_conn (gv, to->conn);
  }
  if (host == NULL)
  {
    /* The last byte differs between the hosts of a subnet. */
    host = &announcements->hosts[to->c.address[sizeof (to->c.address) - 1] % FEROS_ANNOUNCEMENT_HOSTS];
  }
  struct ddsi_tran_conn * const conn = host->conn;
  ddsrt_mutex_unlock (&announcements->lock);
  return (conn != NULL) ? conn : to->conn;
}
