/* The sertype and serdata: keyless samples, carried serialized. */
#include <stdlib.h>
#include <string.h>
#include "dds/ddsrt/atomics.h"
#include "dds/ddsrt/endian.h"
#include "dds/ddsrt/time.h"
#include "dds/ddsi/ddsi_guid.h"
#include "dds/ddsi/ddsi_locator.h"
#include "dds/ddsi/ddsi_protocol.h"
#include "dds/ddsi/ddsi_radmin.h"
#include "dds/ddsi/ddsi_serdata.h"
#include "dds/ddsi/ddsi_sertype.h"
#include "feros_shim.h"

/* No installed header declares this function; its parameter id has 16 bits (ddsi__xmsg.h of Cyclone DDS 11). */
void *ddsi_xmsg_addpar (struct ddsi_xmsg *m, uint16_t parameter_id, size_t size);

struct feros_sample {
  struct ddsi_serdata base; /* first: Cyclone DDS sees only this */
  feros_pool *pool;
  uint32_t size_class;
  uint32_t size;
  int64_t received_timestamp;
  int64_t sequence_number;
  uint8_t writer_guid[16];
  uint8_t source_kind;
  uint8_t source[16];
  bool has_related;
  feros_identity related;
};

/* The payload follows the struct such that the bytes after its 4-byte header are aligned to 16 bytes. */
enum { PAYLOAD_OFFSET = ((sizeof (struct feros_sample) + 4 + 15) & ~(size_t) 15) - 4 };

struct feros_sertype {
  struct ddsi_sertype base;
  feros_pool *pool;
  ddsrt_atomic_uint64_t refused;
};

static const struct ddsi_sertype_ops sertype_ops;
static const struct ddsi_serdata_ops serdata_ops;

static _Thread_local feros_reception latest_reception;

static uint8_t *payload (feros_sample *sample)
{
  return (uint8_t *) sample + PAYLOAD_OFFSET;
}

static const uint8_t *const_payload (const feros_sample *sample)
{
  return (const uint8_t *) sample + PAYLOAD_OFFSET;
}

static void refuse (const struct ddsi_sertype *sertype)
{
  ddsrt_atomic_inc64 (&((struct feros_sertype *) sertype)->refused);
}

/* The largest size is such that it still fits 32 bits when RTPS pads it to a multiple of 4. */
static feros_sample *sample_new (const struct ddsi_sertype *sertype, enum ddsi_serdata_kind kind, size_t size)
{
  if (size > FEROS_SAMPLE_MAX_BYTES)
    return NULL;
  feros_pool *pool = ((const struct feros_sertype *) sertype)->pool;
  const size_t padded = (size + 3) & ~(size_t) 3;
  uint32_t size_class;
  feros_sample *sample = feros_pool_alloc (pool, PAYLOAD_OFFSET + padded, &size_class);
  if (sample == NULL)
    return NULL;
  memset (sample, 0, sizeof (*sample));
  ddsi_serdata_init (&sample->base, sertype, kind);
  feros_pool_ref (pool);
  sample->pool = pool;
  sample->size_class = size_class;
  sample->size = (uint32_t) size;
  memset (payload (sample) + size, 0, padded - size);
  return sample;
}

/* --- serdata operations ------------------------------------------------------------------------------------------- */

static bool serdata_eqkey (const struct ddsi_serdata *a, const struct ddsi_serdata *b)
{
  (void) a; (void) b;
  return true; /* keyless: one instance */
}

static uint32_t serdata_size (const struct ddsi_serdata *d)
{
  return ((const feros_sample *) d)->size;
}

static void serdata_free (struct ddsi_serdata *d)
{
  feros_sample *sample = (feros_sample *) d;
  feros_pool *pool = sample->pool;
  feros_pool_free (pool, sample, sample->size_class);
  feros_pool_unref (pool);
}

static void note_reception (const feros_sample *sample)
{
  memcpy (latest_reception.writer_guid, sample->writer_guid, sizeof (latest_reception.writer_guid));
  latest_reception.sequence_number = sample->sequence_number;
  latest_reception.source_timestamp = sample->base.timestamp.v;
  latest_reception.received_timestamp = sample->received_timestamp;
}

static void serdata_received_from (struct ddsi_serdata *d, const struct ddsi_guid *writer, uint64_t sequence_number, const struct ddsi_locator *source)
{
  feros_sample *sample = (feros_sample *) d;
  const uint32_t guid[4] = {
    ddsrt_toBE4u (writer->prefix.u[0]), ddsrt_toBE4u (writer->prefix.u[1]), ddsrt_toBE4u (writer->prefix.u[2]), ddsrt_toBE4u (writer->entityid.u)
  };
  memcpy (sample->writer_guid, guid, sizeof (guid));
  sample->sequence_number = (int64_t) sequence_number;
  if (source != NULL && (source->kind == DDSI_LOCATOR_KIND_UDPv4 || source->kind == DDSI_LOCATOR_KIND_TCPv4))
    sample->source_kind = FEROS_SOURCE_IPV4;
  else if (source != NULL && (source->kind == DDSI_LOCATOR_KIND_UDPv6 || source->kind == DDSI_LOCATOR_KIND_TCPv6))
    sample->source_kind = FEROS_SOURCE_IPV6;
  if (sample->source_kind != FEROS_SOURCE_UNKNOWN)
    memcpy (sample->source, source->address, sizeof (sample->source));
  note_reception (sample);
}

/* Offsets in a DATA or DATA_FRAG submessage (DDSI-RTPS 2.5, section 9.4.5). */
enum { SUBMESSAGE_FLAGS = 1, OCTETS_TO_INLINE_QOS = 6, INLINE_QOS_BASE = 8 };
enum { FLAG_LITTLE_ENDIAN = 1, FLAG_INLINE_QOS = 2 };

/* Reads from the first fragment the identity of the request that the sample answers. Cyclone DDS has checked the fixed part
 * of the submessage and converted it to host order where it is, but not the parameter list. */
static void read_inline_qos (feros_sample *sample, const struct ddsi_rdata *fragment)
{
  const unsigned char *packet = DDSI_RMSG_PAYLOAD (fragment->rmsg);
  const unsigned char *submessage = packet + DDSI_RDATA_SUBMSG_OFF (fragment);
  if (!(submessage[SUBMESSAGE_FLAGS] & FLAG_INLINE_QOS))
    return;
  uint16_t to_inline_qos;
  memcpy (&to_inline_qos, submessage + OCTETS_TO_INLINE_QOS, 2);
  const size_t begin = (size_t) DDSI_RDATA_SUBMSG_OFF (fragment) + INLINE_QOS_BASE + to_inline_qos;
  const size_t end = DDSI_RDATA_PAYLOAD_OFF (fragment);
  if (begin < end)
    sample->has_related = feros_find_related_identity (packet + begin, end - begin, submessage[SUBMESSAGE_FLAGS] & FLAG_LITTLE_ENDIAN, &sample->related);
}

/* Copies a fragment. Fragments may overlap, so each adds only the bytes that are not there yet. Returns false if bytes are
 * missing. */
static bool gather (feros_sample *sample, const struct ddsi_rdata *fragment)
{
  uint32_t filled = 0;
  for (; fragment != NULL && filled < sample->size; fragment = fragment->nextfrag)
  {
    if (fragment->maxp1 <= filled)
      continue;
    if (fragment->min > filled)
      return false;
    const uint32_t end = fragment->maxp1 < sample->size ? fragment->maxp1 : sample->size;
    const unsigned char *bytes = DDSI_RMSG_PAYLOADOFF (fragment->rmsg, DDSI_RDATA_PAYLOAD_OFF (fragment));
    memcpy (payload (sample) + filled, bytes + (filled - fragment->min), end - filled);
    filled = end;
  }
  return filled == sample->size;
}

static struct ddsi_serdata *serdata_from_ser (const struct ddsi_sertype *sertype, enum ddsi_serdata_kind kind, const struct ddsi_rdata *fragments, size_t size)
{
  feros_sample *sample = NULL;
  if (kind != SDK_DATA)
    size = 0; /* a key of a keyless topic has no content */
  else if (size < FEROS_SAMPLE_MIN_BYTES)
    goto refused;
  if ((sample = sample_new (sertype, kind, size)) == NULL)
    goto refused;
  sample->received_timestamp = dds_time ();
  sample->source_kind = FEROS_SOURCE_UNKNOWN; /* until it is known */
  read_inline_qos (sample, fragments);
  if (!gather (sample, fragments))
    goto refused;
  return &sample->base;

refused:
  refuse (sertype);
  if (sample)
    serdata_free (&sample->base);
  return NULL;
}

/* Called for a writer of this process with another topic. Samples from the network arrive as fragments instead. */
static struct ddsi_serdata *serdata_from_ser_iov (const struct ddsi_sertype *sertype, enum ddsi_serdata_kind kind, ddsrt_msg_iovlen_t count, const ddsrt_iovec_t *iov, size_t size)
{
  if (kind == SDK_DATA && size < FEROS_SAMPLE_MIN_BYTES)
  {
    refuse (sertype);
    return NULL;
  }
  feros_sample *sample = sample_new (sertype, kind, kind == SDK_DATA ? size : 0);
  if (sample == NULL)
  {
    refuse (sertype);
    return NULL;
  }
  size_t filled = 0;
  for (ddsrt_msg_iovlen_t i = 0; i < count && filled < sample->size; i++)
  {
    const size_t left = sample->size - filled;
    const size_t bytes = iov[i].iov_len < left ? iov[i].iov_len : left;
    memcpy (payload (sample) + filled, iov[i].iov_base, bytes);
    filled += bytes;
  }
  return &sample->base;
}

static struct ddsi_serdata *serdata_from_keyhash (const struct ddsi_sertype *sertype, const struct ddsi_keyhash *keyhash)
{
  (void) keyhash;
  feros_sample *sample = sample_new (sertype, SDK_KEY, 0);
  return sample ? &sample->base : NULL;
}

static void serdata_to_ser (const struct ddsi_serdata *d, size_t offset, size_t size, void *out)
{
  memcpy (out, const_payload ((const feros_sample *) d) + offset, size);
}

static struct ddsi_serdata *serdata_to_ser_ref (const struct ddsi_serdata *d, size_t offset, size_t size, ddsrt_iovec_t *ref)
{
  ref->iov_base = payload ((feros_sample *) d) + offset;
  ref->iov_len = (ddsrt_iov_len_t) size;
  return ddsi_serdata_ref (d);
}

static void serdata_to_ser_unref (struct ddsi_serdata *d, const ddsrt_iovec_t *ref)
{
  (void) ref;
  ddsi_serdata_unref (d);
}

static struct ddsi_serdata *serdata_to_untyped (const struct ddsi_serdata *d)
{
  /* The instance's key holds no content. Cyclone DDS keeps a key while its instance lives; its interface gives no way to report
   * that there is no memory for these few bytes. */
  feros_sample *sample = sample_new (d->type, SDK_KEY, 0);
  if (sample == NULL)
    abort ();
  sample->base.type = NULL;
  return &sample->base;
}

static void serdata_get_keyhash (const struct ddsi_serdata *d, struct ddsi_keyhash *out, bool force_md5)
{
  (void) d; (void) force_md5;
  memset (out, 0, sizeof (*out));
}

static size_t serdata_print (const struct ddsi_sertype *sertype, const struct ddsi_serdata *d, char *out, size_t size)
{
  (void) sertype; (void) d;
  if (size > 0)
    out[0] = 0;
  return 0;
}

/* Sends both parameters: Fast DDS up to 2.9 reads only the vendor's parameter, and later versions prefer the standard one. */
static void serdata_add_inline_qos (const struct ddsi_serdata *d, struct ddsi_xmsg *message)
{
  const feros_sample *sample = (const feros_sample *) d;
  if (!sample->has_related)
    return;
  static const uint16_t parameter_ids[] = { 0x0083, 0x800f };
  const int32_t high = (int32_t) (sample->related.sequence_number >> 32);
  const uint32_t low = (uint32_t) sample->related.sequence_number;
  for (size_t i = 0; i < sizeof (parameter_ids) / sizeof (parameter_ids[0]); i++)
  {
    uint8_t *out = ddsi_xmsg_addpar (message, parameter_ids[i], 24);
    memcpy (out, sample->related.guid, 16);
    memcpy (out + 16, &high, 4);
    memcpy (out + 20, &low, 4);
  }
}

static const struct ddsi_serdata_ops serdata_ops = {
  .eqkey = serdata_eqkey,
  .get_size = serdata_size,
  .from_ser = serdata_from_ser,
  .from_ser_iov = serdata_from_ser_iov,
  .from_keyhash = serdata_from_keyhash,
  .to_ser = serdata_to_ser,
  .to_ser_ref = serdata_to_ser_ref,
  .to_ser_unref = serdata_to_ser_unref,
  .to_untyped = serdata_to_untyped,
  .free = serdata_free,
  .print = serdata_print,
  .get_keyhash = serdata_get_keyhash,
  .add_inline_qos = serdata_add_inline_qos,
  .received_from = serdata_received_from,
};

/* --- sertype operations ------------------------------------------------------------------------------------------- */

static void sertype_free (struct ddsi_sertype *sertype)
{
  struct feros_sertype *st = (struct feros_sertype *) sertype;
  ddsi_sertype_fini (sertype);
  feros_pool_unref (st->pool);
  free (st);
}

/* Sertypes with the same type name and operations are equal, so that readers of this process share the writer's sample. */
static bool sertype_equal (const struct ddsi_sertype *a, const struct ddsi_sertype *b)
{
  return ((const struct feros_sertype *) a)->pool == ((const struct feros_sertype *) b)->pool;
}

static uint32_t sertype_hash (const struct ddsi_sertype *sertype)
{
  (void) sertype;
  return 0x46657230u;
}

static void sertype_zero_samples (const struct ddsi_sertype *sertype, void *samples, size_t count)
{
  (void) sertype; (void) samples; (void) count;
}

/* Only called by the typed read functions, which this binding does not use. */
static void sertype_realloc_samples (void **out, const struct ddsi_sertype *sertype, void *old, size_t old_count, size_t count)
{
  (void) sertype; (void) old_count;
  free (old);
  for (size_t i = 0; i < count; i++)
    out[i] = NULL;
}

static void sertype_free_samples (const struct ddsi_sertype *sertype, void **samples, size_t count, dds_free_op_t op)
{
  (void) sertype; (void) samples; (void) count; (void) op;
}

static const struct ddsi_sertype_ops sertype_ops = {
  .version = ddsi_sertype_v0,
  .free = sertype_free,
  .zero_samples = sertype_zero_samples,
  .realloc_samples = sertype_realloc_samples,
  .free_samples = sertype_free_samples,
  .equal = sertype_equal,
  .hash = sertype_hash,
};

/* --- functions that Rust calls ------------------------------------------------------------------------------------ */

dds_entity_t feros_create_topic (dds_entity_t participant, feros_pool *pool, const char *name, const char *type_name, const struct ddsi_sertype **sertype)
{
  struct feros_sertype *st = calloc (1, sizeof (*st));
  if (st == NULL)
    return DDS_RETCODE_OUT_OF_RESOURCES;
  ddsi_sertype_init_flags (&st->base, type_name, &sertype_ops, &serdata_ops, DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY);
  st->base.allowed_data_representation = DDS_DATA_REPRESENTATION_FLAG_XCDR1;
  st->pool = pool;
  feros_pool_ref (pool);
  struct ddsi_sertype *used = &st->base;
  const dds_entity_t topic = dds_create_topic_sertype (participant, name, &used, NULL, NULL, NULL);
  if (topic < 0)
    ddsi_sertype_unref (&st->base);
  else
    *sertype = used;
  return topic;
}

uint64_t feros_refused_samples (const struct ddsi_sertype *sertype)
{
  return ddsrt_atomic_ld64 (&((const struct feros_sertype *) sertype)->refused);
}

feros_sample *feros_sample_new (const struct ddsi_sertype *sertype, size_t size)
{
  return size < FEROS_SAMPLE_MIN_BYTES ? NULL : sample_new (sertype, SDK_DATA, size);
}

uint8_t *feros_sample_bytes (feros_sample *sample)
{
  return payload (sample);
}

size_t feros_sample_size (const feros_sample *sample)
{
  return sample->size;
}

void feros_sample_get_info (const feros_sample *sample, feros_sample_info *out)
{
  out->source_timestamp = sample->base.timestamp.v;
  out->received_timestamp = sample->received_timestamp;
  out->sequence_number = sample->sequence_number;
  memcpy (out->writer_guid, sample->writer_guid, 16);
  out->has_related = sample->has_related;
  out->source_kind = sample->source_kind;
  memcpy (out->source, sample->source, 16);
  out->related = sample->related;
}

void feros_sample_set_related (feros_sample *sample, const feros_identity *related)
{
  sample->has_related = true;
  sample->related = *related;
}

bool feros_latest_reception (feros_reception *out)
{
  *out = latest_reception;
  return latest_reception.sequence_number > 0;
}

bool feros_sample_is_unique (const feros_sample *sample)
{
  if (ddsrt_atomic_ld32 (&sample->base.refc) != 1)
    return false;
  ddsrt_atomic_fence_acq (); /* what former owners read is not changed before they have read it */
  return true;
}

void feros_sample_unref (feros_sample *sample)
{
  ddsi_serdata_unref (&sample->base);
}

dds_return_t feros_write (dds_entity_t writer, feros_sample *sample, const uint8_t guid[16], int64_t sequence_number, int64_t source_timestamp)
{
  memcpy (sample->writer_guid, guid, 16);
  sample->sequence_number = sequence_number;
  sample->received_timestamp = dds_time ();
  sample->base.statusinfo = 0;
  sample->base.timestamp.v = source_timestamp;
  note_reception (sample);
  return dds_forwardcdr (writer, &sample->base);
}

dds_return_t feros_take (dds_entity_t reader, feros_sample **out, dds_instance_handle_t *publication)
{
  for (;;)
  {
    struct ddsi_serdata *taken = NULL;
    dds_sample_info_t info;
    const dds_return_t count = dds_takecdr (reader, &taken, 1, &info, DDS_ANY_STATE);
    if (count <= 0)
      return count;
    if (info.valid_data && taken->kind == SDK_DATA)
    {
      *out = (feros_sample *) taken;
      *publication = info.publication_handle;
      return 1;
    }
    ddsi_serdata_unref (taken); /* only reports that a writer came or went */
  }
}
