/* The network interfaces as Cyclone DDS sees them, except that Cyclone DDS treats loopback on Linux as
 * capable of multicast even if the kernel does not. */
#include <string.h>
#if defined (__linux__)
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#endif
#include "dds/ddsrt/ifaddrs.h"
#include "dds/ddsrt/sockets.h"
#include "feros_shim.h"

/* Whether the interface can multicast, according to the kernel, or to Cyclone DDS if the kernel does not answer. */
static bool multicasts (const ddsrt_ifaddrs_t *interface)
{
  const bool told = (interface->flags & IFF_MULTICAST) != 0;
#if defined (__linux__)
  struct ifreq request;
  memset (&request, 0, sizeof (request));
  const size_t length = strlen (interface->name);
  const int sock = length < sizeof (request.ifr_name) ? socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
  if (sock < 0)
    return told;
  memcpy (request.ifr_name, interface->name, length);
  const int answered = ioctl (sock, SIOCGIFFLAGS, &request);
  (void) close (sock);
  return answered == 0 ? (request.ifr_flags & IFF_MULTICAST) != 0 : told;
#else
  return told;
#endif
}

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
    each (i->name, address, (i->flags & IFF_UP) != 0, (i->flags & IFF_LOOPBACK) != 0, multicasts (i), arg);
  }
  ddsrt_freeifaddrs (list);
  return DDS_RETCODE_OK;
}
