/* What participants announce, told to other processes of the host without the network.

   The caller keeps the announcements of each process where the others find them, such as in shared
   memory, and gives those of the others back (`feros_neighbours_learn`). A participant that is known
   in this way is a neighbour. It has no endpoints for discovery here, so nothing is sent to it but
   the data of its endpoints, and nobody answers what was learned. Both sides have to agree on who is
   a neighbour: a participant is one from before its first announcement on the network until it ends,
   or until its process stops being a neighbour.

   See patches/neighbours.patch for the places that call these functions. */
#ifndef FEROS_NEIGHBOURS_H
#define FEROS_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dds/ddsi/ddsi_guid.h"

#if defined (__cplusplus)
extern "C" {
#endif

struct ddsi_domaingv;
struct ddsi_serdata;

/* What an announcement is about. */
#define FEROS_ANNOUNCES_PARTICIPANT 1u
#define FEROS_ANNOUNCES_WRITER 2u
#define FEROS_ANNOUNCES_READER 3u

/* The functions of the caller. They may be called by any thread, with locks of the engine held, and
   must not call the engine. GUIDs and prefixes of GUIDs have the order of the wire. */
struct feros_neighbours {
  void *arg;
  /* A local participant, writer or reader is new, has changed, or (if not alive) has ended. The bytes
     are its parameter list as on the wire, with the encapsulation header. */
  void (*announced) (void *arg, uint32_t kind, bool is_alive, const uint8_t guid[16], const uint8_t *bytes, size_t size);
  /* A local participant says that it is alive. */
  void (*pulsed) (void *arg, const uint8_t prefix[12], bool is_manual);
  /* Whether a participant that the engine does not know is a neighbour. The caller then sees to it
     that its announcements are learned. */
  bool (*is_neighbour) (void *arg, const uint8_t prefix[12]);
  /* The announcements that were given with this number have been processed. If the engine does not
     know the participant, for example because it has just forgotten it, they have to come again. */
  void (*processed) (void *arg, const uint8_t prefix[12], uint64_t through, bool is_known);
};

/* An announcement of a neighbour, in the form of `announced`. The bytes of what has ended may be missing. */
struct feros_announcement {
  uint32_t kind;
  bool is_alive;
  uint8_t guid[16];
  const uint8_t *bytes;
  size_t size;
};

/* The domain that this thread creates next calls these functions, which must exist until the domain
   is deleted. NULL: the domain has no neighbours. */
void feros_neighbours_of_next_domain (const struct feros_neighbours *neighbours);

/* The functions of the domain that this thread is creating. */
const struct feros_neighbours *feros_neighbours_take (void);

/* Tells of the announcement of a local participant or endpoint. */
void feros_neighbours_announce (struct ddsi_domaingv *gv, const ddsi_guid_t *guid, const struct ddsi_serdata *serdata);
void feros_neighbours_pulse (struct ddsi_domaingv *gv, const ddsi_guid_prefix_t *prefix, bool is_manual);
/* Whether the engine knows the participant, and has learned of it without the network. */
bool feros_neighbours_knows (struct ddsi_domaingv *gv, const ddsi_guid_prefix_t *prefix);
/* Whether the caller says that this participant is a neighbour. */
bool feros_neighbours_has (struct ddsi_domaingv *gv, const ddsi_guid_prefix_t *prefix);

/* Gives announcements of a neighbour to the thread that processes discovery. The order is kept. */
void feros_neighbours_learn (struct ddsi_domaingv *gv, const uint8_t prefix[12], const struct feros_announcement *announcements, size_t count, uint64_t through);
/* The neighbour is alive, so its lease is renewed at once. Returns whether the engine knows it. */
bool feros_neighbours_lives (struct ddsi_domaingv *gv, const uint8_t prefix[12], bool is_manual);
/* The neighbour has ended. It is forgotten after what was learned before. */
void feros_neighbours_ended (struct ddsi_domaingv *gv, const uint8_t prefix[12]);

#if defined (__cplusplus)
}
#endif

#endif
