/* The network interfaces as Cyclone DDS sees them. */
#include <string.h>
#include "dds/ddsrt/ifaddrs.h"
#include "dds/ddsrt/sockets.h"
#include "feros_shim.h"

int32_t feros_for_each_interface (feros_interface_fn each, void *arg)
{
  static const int families[] = { AF_INET, DDSRT_AF_TERM };
  ddsrt_ifaddrs_t *list;
  const dds_return_t result = ddsrt_getifaddrs (&list, families);
  if (result != DDS_RETCODE_OK)
    return result;
  for (const ddsrt_ifaddrs_t *i = list; i != NULL; i = i->next)
  {
    char address[64] = "";
    if (i->addr == NULL || ddsrt_sockaddrtostr (i->addr, address, sizeof (address)) != DDS_RETCODE_OK)
      continue;
    each (i->name, address, (i->flags & IFF_UP) != 0, (i->flags & IFF_LOOPBACK) != 0, (i->flags & IFF_MULTICAST) != 0, arg);
  }
  ddsrt_freeifaddrs (list);
  return DDS_RETCODE_OK;
}
