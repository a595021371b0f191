/* Finds the related sample identity in inline QoS. This file does not need Cyclone DDS, so that it can be fuzzed alone. */
#include <string.h>
#include "feros_shim.h"

enum { PID_SENTINEL = 0x0001, PID_RELATED = 0x0083, PID_RELATED_VENDOR = 0x800f, IDENTITY_BYTES = 24 };

static uint16_t read16 (const uint8_t *p, bool little_endian)
{
  return (uint16_t) (little_endian ? p[0] | p[1] << 8 : p[0] << 8 | p[1]);
}

static uint32_t read32 (const uint8_t *p, bool little_endian)
{
  const uint32_t a = read16 (p, little_endian), b = read16 (p + 2, little_endian);
  return little_endian ? a | b << 16 : a << 16 | b;
}

static void read_identity (const uint8_t *p, bool little_endian, feros_identity *out)
{
  memcpy (out->guid, p, 16);
  const uint64_t high = read32 (p + 16, little_endian), low = read32 (p + 20, little_endian);
  out->sequence_number = (int64_t) (high << 32 | low);
}

bool feros_find_related_identity (const uint8_t *list, size_t size, bool little_endian, feros_identity *out)
{
  static const uint8_t unknown_guid[16];
  bool found = false;
  size_t at = 0;
  while (size - at >= 4)
  {
    const uint16_t id = read16 (list + at, little_endian);
    const size_t length = read16 (list + at + 2, little_endian);
    at += 4;
    if (id == PID_SENTINEL || length > size - at)
      break;
    if (length >= IDENTITY_BYTES && (id == PID_RELATED || (id == PID_RELATED_VENDOR && !found)))
    {
      read_identity (list + at, little_endian, out);
      found = true;
      if (id == PID_RELATED)
        break;
    }
    at += length;
  }
  return found && memcmp (out->guid, unknown_guid, sizeof (unknown_guid)) != 0;
}
