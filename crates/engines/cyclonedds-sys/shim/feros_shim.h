/* The part of the binding that must be C: a sertype and serdata that carry serialized samples as they are, so that no private
 * layout of Cyclone DDS is repeated in Rust. Samples are opaque to Rust; it sees their bytes and a few facts.
 *
 * Copies of the payload: one on receipt, from the received datagrams into one contiguous sample; none on sending, where
 * the sample's memory is referenced by the message that goes to the socket. */
#ifndef FEROS_SHIM_H
#define FEROS_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dds/dds.h"

struct ddsi_sertype;

/* --- pool.c: memory of samples, reused by size class ------------------------------------------------------------- */

typedef struct feros_pool feros_pool;

typedef struct feros_pool_statistics {
  uint64_t allocations;      /* blocks that came from the system's allocator */
  uint64_t live_blocks;      /* blocks in use now */
  uint64_t retained_bytes;   /* memory kept in free lists now */
  uint64_t refused_memory;   /* requests for which there was no memory */
} feros_pool_statistics;

/* At most `retain_bytes` stay in its free lists. Returns NULL without memory; the caller holds one reference. */
feros_pool *feros_pool_new (size_t retain_bytes);
void feros_pool_ref (feros_pool *pool);
void feros_pool_unref (feros_pool *pool);
void feros_pool_get_statistics (feros_pool *pool, feros_pool_statistics *out);

/* A block of at least `size` bytes, aligned to 16, all of it initialised (zero when new, old content when reused). */
void *feros_pool_alloc (feros_pool *pool, size_t size, uint32_t *size_class);
void feros_pool_free (feros_pool *pool, void *block, uint32_t size_class);

/* --- inline_qos.c ------------------------------------------------------------------------------------------------- */

/* The identity of the request to which a sample is related: a GUID as on the wire, and a sequence number. */
typedef struct feros_identity {
  uint8_t guid[16];
  int64_t sequence_number;
} feros_identity;

/* Finds the related sample identity in an inline QoS parameter list of `size` bytes from the network. Parameter 0x0083 is
 * preferred over 0x800f. Reads nothing outside the list, whatever it holds. */
bool feros_find_related_identity (const uint8_t *list, size_t size, bool little_endian, feros_identity *out);

/* --- sample.c ----------------------------------------------------------------------------------------------------- */

typedef struct feros_sample feros_sample;

/* Smallest (the encapsulation header) and largest sample in bytes, sent or received. */
#define FEROS_SAMPLE_MIN_BYTES 4u
#define FEROS_SAMPLE_MAX_BYTES 0x7ffffff0u

/* Where a sample came from: this process, an address of either family, or unknown, because its fragments came from
 * several. */
enum feros_source_kind { FEROS_SOURCE_THIS_PROCESS = 0, FEROS_SOURCE_IPV4 = 4, FEROS_SOURCE_IPV6 = 6, FEROS_SOURCE_UNKNOWN = 255 };

typedef struct feros_sample_info {
  int64_t source_timestamp;    /* ns since 1970 by the writer's clock, 0: unknown */
  int64_t received_timestamp;  /* ns since 1970 by our clock */
  int64_t sequence_number;     /* the writer's, from 1 */
  uint8_t writer_guid[16];
  bool has_related;
  uint8_t source_kind;         /* one of enum feros_source_kind */
  feros_identity related;
  uint8_t source[16];          /* the address that it came from; IPv4 in the last four bytes */
} feros_sample_info;

/* The sample that this thread received last, or wrote for readers of the same process. The engine announces a sample on the
 * thread that received it, before that thread receives the next one, but does not say which sample it is. */
typedef struct feros_reception {
  uint8_t writer_guid[16];
  int64_t sequence_number;
  int64_t source_timestamp;
  int64_t received_timestamp;  /* when all of it had arrived, ns since 1970 by our clock */
} feros_reception;

/* Returns false if this thread has received no sample. */
bool feros_latest_reception (feros_reception *out);

/* A topic whose samples are carried as they are, in memory of `pool`. `*sertype` is borrowed from the topic. */
dds_entity_t feros_create_topic (dds_entity_t participant, feros_pool *pool, const char *name, const char *type_name, const struct ddsi_sertype **sertype);

/* Samples of the sertype that were refused because they were malformed or absurd. */
uint64_t feros_refused_samples (const struct ddsi_sertype *sertype);

/* A sample of exactly `size` initialised bytes for a writer of `sertype`; NULL without memory or outside the limits. */
feros_sample *feros_sample_new (const struct ddsi_sertype *sertype, size_t size);
uint8_t *feros_sample_bytes (feros_sample *sample);
size_t feros_sample_size (const feros_sample *sample);
void feros_sample_get_info (const feros_sample *sample, feros_sample_info *out);
void feros_sample_set_related (feros_sample *sample, const feros_identity *related);
void feros_sample_unref (feros_sample *sample);

/* Writes a sample and consumes the reference in all cases. For readers of the same process, `guid` is the writer's, and
 * `sequence_number` is that of this sample; the caller counts, and serializes the writes of one writer. */
dds_return_t feros_write (dds_entity_t writer, feros_sample *sample, const uint8_t guid[16], int64_t sequence_number, int64_t source_timestamp);

/* Takes one sample: returns 1 with a reference in `*out`, 0 when there is no sample, or an error. */
dds_return_t feros_take (dds_entity_t reader, feros_sample **out, dds_instance_handle_t *publication);

/* Whether the caller holds the only reference, and so may change the bytes. */
bool feros_sample_is_unique (const feros_sample *sample);

/* --- interfaces.c, layout.c --------------------------------------------------------------------------------------- */

typedef void (*feros_interface_fn) (const char *name, const char *address, bool up, bool loopback, bool multicast, void *arg);

/* Calls `each` for every IPv4 interface; returns 0 or a negative return code. */
int32_t feros_for_each_interface (feros_interface_fn each, void *arg);

/* --- in the engine itself, see build/patch.rs ---------------------------------------------------------------------- */

/* Waits until the reader of this GUID, if it is matched and reliable, acknowledged all written samples; zero checks once. The
 * write itself serves readers of this process. Returns DDS_RETCODE_TIMEOUT if samples are unacknowledged. */
dds_return_t feros_wait_for_acks_of (dds_entity_t writer, const uint8_t reader[16], dds_duration_t timeout);

/* Waits until the participant of this endpoint, if it is a remote one, acknowledged the announcements of the readers
 * or writers of the entity's participant, that of the entity among them; zero checks once. Returns DDS_RETCODE_TIMEOUT otherwise. */
dds_return_t feros_wait_until_announced (dds_entity_t entity, const uint8_t endpoint[16], dds_duration_t timeout);

/* Forgets the remote participant of this endpoint as if its lease had ended; for one whose process is known to have ended.
 * DDS_RETCODE_BAD_PARAMETER if there is no such participant. */
dds_return_t feros_forget_participant_of (dds_entity_t entity, const uint8_t endpoint[16]);

/* 1 if all matching reliable readers of this process have room for another sample, 0 if one of them is full. */
dds_return_t feros_local_readers_have_room (dds_entity_t writer);

extern const dds_entity_t feros_builtin_participant, feros_builtin_publication, feros_builtin_subscription;

#endif
