#include "feros_early.h"

#include <string.h>

#include "dds/ddsrt/atomics.h"
#include "dds/ddsrt/heap.h"
#include "dds/ddsrt/sync.h"

struct feros_early {
  ddsrt_mutex_t lock;
  ddsrt_atomic_uint32_t n_due; /* read without the lock before each packet */
  uint32_t n_samples;
  size_t n_bytes;
  struct feros_early_sample samples[FEROS_EARLY_SAMPLES]; /* the oldest first */
};

struct feros_early *feros_early_new (void)
{
  struct feros_early *early = ddsrt_malloc (sizeof (*early));
  memset (early, 0, sizeof (*early));
  ddsrt_mutex_init (&early->lock);
  return early;
}

/* Removes a sample and returns it. The caller owns the sample's bytes. */
static struct feros_early_sample remove_at (struct feros_early *early, uint32_t i)
{
  struct feros_early_sample const sample = early->samples[i];
  early->n_samples--;
  early->n_bytes -= sample.size;
  if (sample.is_due)
    ddsrt_atomic_dec32 (&early->n_due);
  memmove (&early->samples[i], &early->samples[i + 1], (early->n_samples - i) * sizeof (sample));
  return sample;
}

void feros_early_free (struct feros_early *early)
{
  if (early == NULL)
    return;
  while (early->n_samples > 0)
    ddsrt_free (remove_at (early, 0).bytes);
  ddsrt_mutex_destroy (&early->lock);
  ddsrt_free (early);
}

static bool is_full (const struct feros_early *early, const struct feros_early_sample *sample)
{
  return early->n_samples == FEROS_EARLY_SAMPLES || early->n_bytes + sample->size > FEROS_EARLY_BYTES ||
         sample->t_came - early->samples[0].t_came > FEROS_EARLY_TIME;
}

void feros_early_keep (struct feros_early *early, const struct feros_early_sample *sample)
{
  if (sample->size > FEROS_EARLY_BYTES)
  {
    ddsrt_free (sample->bytes);
    return;
  }
  ddsrt_mutex_lock (&early->lock);
  while (early->n_samples > 0 && is_full (early, sample))
    ddsrt_free (remove_at (early, 0).bytes);
  early->samples[early->n_samples++] = *sample;
  early->n_bytes += sample->size;
  ddsrt_mutex_unlock (&early->lock);
}

bool feros_early_know (struct feros_early *early, const ddsi_guid_t *writer)
{
  bool is_any = false;
  ddsrt_mutex_lock (&early->lock);
  for (uint32_t i = 0; i < early->n_samples; i++)
  {
    if (early->samples[i].is_due || memcmp (&early->samples[i].writer, writer, sizeof (*writer)) != 0)
      continue;
    early->samples[i].is_due = is_any = true;
    ddsrt_atomic_inc32 (&early->n_due);
  }
  ddsrt_mutex_unlock (&early->lock);
  return is_any;
}

bool feros_early_take (struct feros_early *early, struct feros_early_sample *sample)
{
  bool is_any = false;
  if (ddsrt_atomic_ld32 (&early->n_due) == 0)
    return false;
  ddsrt_mutex_lock (&early->lock);
  for (uint32_t i = 0; i < early->n_samples && !is_any; i++)
    if ((is_any = early->samples[i].is_due))
      *sample = remove_at (early, i);
  ddsrt_mutex_unlock (&early->lock);
  return is_any;
}
