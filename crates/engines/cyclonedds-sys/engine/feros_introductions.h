/* Introduces participants of different hosts to each other.

   Without multicast, a host finds only the hosts that it has in its list of peers, and those that
   have it in theirs, so each host needed a list of all hosts. A host that is a meeting point is in
   the lists of others, and so knows the participants of all of them. It sends the announcement of
   each participant to those of other hosts, as if the participant had sent it itself, and they then
   answer that participant directly. So it suffices that each host has the meeting point in its list,
   and the meeting point may be off after that.

   One process of the meeting point does this, and only for participants of other hosts that announced
   themselves to the host by unicast. The announcement of a participant is passed on when it arrives
   for the first FEROS_INTRODUCTIONS times, because a link may lose it. Announcements that were
   passed on by another host are not passed on again: they do not come from the address of their
   participant.

   Only the thread that processes discovery calls these functions. */
#ifndef FEROS_INTRODUCTIONS_H
#define FEROS_INTRODUCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "dds/ddsi/ddsi_locator.h"
#include "dds/ddsi/ddsi_protocol.h"
#include "dds/ddsi/ddsi_serdata.h"

#if defined (__cplusplus)
extern "C" {
#endif

#define FEROS_INTRODUCTIONS 3u
/* Participants of other hosts that are introduced. Further ones are not. */
#define FEROS_MOST_INTRODUCED 1024u

struct ddsi_domaingv;
struct ddsi_receiver_state;
struct feros_introductions;

/* The role at meeting points of the domains that this thread creates from now on. */
#define FEROS_MEETS_NOBODY 0u
#define FEROS_MEETS 1u /* they have meeting points */
#define FEROS_INTRODUCES 2u /* their host is a meeting point */
void feros_introductions_of_next_domain (uint32_t role);

/* NULL: the domain that this thread is creating has no meeting points. */
struct feros_introductions *feros_introductions_new (void);
void feros_introductions_free (struct feros_introductions *introductions);

/* Whether two locators have the same address, at any port. */
bool feros_is_same_host (const ddsi_locator_t *a, const ddsi_locator_t *b);
/* Whether what arrives is for one participant, as answers to announcements are. */
bool feros_is_answer (const struct ddsi_receiver_state *rst);

/* A participant has announced that it is alive, and has been processed. */
void feros_introduce (const struct ddsi_receiver_state *rst, ddsi_seqno_t seq, const struct ddsi_serdata *announcement);

#if defined (__cplusplus)
}
#endif

#endif
