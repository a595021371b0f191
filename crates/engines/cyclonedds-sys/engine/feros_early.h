/* Keeps samples that arrive before their writer is known, until it is known.

   Another participant that has found our reader sends at once, usually before this participant has
   read the announcement of the writer, because discovery has its own queue and thread. Best-effort
   writers do not send samples again, so a reader would lose the first samples.

   Only a few small, young samples are kept: FEROS_EARLY_SAMPLES samples with FEROS_EARLY_BYTES
   bytes in total, each for FEROS_EARLY_TIME. New samples displace the oldest samples. */
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

/* A sample as a complete message. The caller that takes the sample must free `bytes`. */
struct feros_early_sample {
  ddsi_guid_t writer;
  struct ddsi_network_packet_info pktinfo; /* how the sample arrived */
  int64_t t_came;                          /* when it arrived, on the monotonic clock */
  unsigned char *bytes;
  size_t size;
  bool is_due; /* its writer is known now */
};

struct feros_early *feros_early_new (void);
/* For a domain that failed to start, `early` is NULL, and there is nothing to free. */
void feros_early_free (struct feros_early *early);

/* Keeps a sample, which must be younger than all kept samples. */
void feros_early_keep (struct feros_early *early, const struct feros_early_sample *sample);

/* Notes that this writer is now known. Returns whether samples of this writer are due. */
bool feros_early_know (struct feros_early *early, const ddsi_guid_t *writer);

/* Moves the oldest sample that is due to `sample`. Returns whether there was such a sample. */
bool feros_early_take (struct feros_early *early, struct feros_early_sample *sample);

#endif
