/* Samples that arrived before their writer was known, kept until it is.

   Another participant that has found our reader sends at once, mostly before this participant has
   read the announcement of the writer: discovery has a queue and a thread of its own. Best effort
   has no second try, so the first samples were lost.

   Only few, small and young samples are kept: FEROS_EARLY_SAMPLES of FEROS_EARLY_BYTES together,
   each for FEROS_EARLY_TIME; the oldest samples make room. */
#ifndef FEROS_EARLY_H
#define FEROS_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dds/ddsi/ddsi_guid.h"
#include "ddsi__tran.h"

#define FEROS_EARLY_SAMPLES 64
#define FEROS_EARLY_BYTES 262144
#define FEROS_EARLY_TIME 1000000000 /* ns */

struct feros_early;

/* A sample as a message of its own; the caller that gets it frees `bytes`. */
struct feros_early_sample {
  ddsi_guid_t writer;
  struct ddsi_network_packet_info pktinfo; /* how the sample came */
  int64_t t_came;                          /* of the monotonic clock */
  unsigned char *bytes;
  size_t size;
  bool is_due; /* its writer is known now */
};

struct feros_early *feros_early_new (void);
/* `early` is NULL, with nothing to free, for a domain that did not start. */
void feros_early_free (struct feros_early *early);

/* Keeps a sample, which is the youngest one. */
void feros_early_keep (struct feros_early *early, const struct feros_early_sample *sample);

/* Reports that this writer is known now; returns whether samples of it are due. */
bool feros_early_know (struct feros_early *early, const ddsi_guid_t *writer);

/* Moves the oldest due sample to `sample`; returns whether there was one. */
bool feros_early_take (struct feros_early *early, struct feros_early_sample *sample);

#endif
