/* The part of the binding that must be C: a sertype and serdata that carry serialized samples as they are, so that no private
 * layout of Cyclone DDS is repeated in Rust. Samples are opaque to Rust, which gets only their bytes and some properties.
 *
 * The payload is copied once on receipt, from the received datagrams into one contiguous sample. It is not copied on
 * sending, since the message that goes to the socket refers to the sample's memory. */
#ifndef FEROS_SHIM_H
#define FEROS_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dds/dds.h"

struct ddsi_sertype;

/* --- pool.c: memory of samples, reused by size class ------------------------------------------------------------- */

typedef struct feros_pool feros_pool;

/* Creates a pool that keeps at most `retain_bytes` in its free lists. Returns NULL if there is no memory; otherwise the
 * caller holds one reference. */
feros_pool *feros_pool_new (size_t retain_bytes);
void feros_pool_ref (feros_pool *pool);
void feros_pool_unref (feros_pool *pool);

/* Returns a block of at least `size` bytes, aligned to 16. All bytes are initialised: they are zero in a new block, and have
 * the old content in a reused block. */
void *feros_pool_alloc (feros_pool *pool, size_t size, uint32_t *size_class);
void feros_pool_free (feros_pool *pool, void *block, uint32_t size_class);

/* --- inline_qos.c ------------------------------------------------------------------------------------------------- */

/* The identity of the request to which a sample is related: a GUID as on the wire, and a sequence number. */
typedef struct feros_identity {
  uint8_t guid[16];
  int64_t sequence_number;
} feros_identity;

/* Finds the related sample identity in an inline QoS parameter list of `size` bytes from the network. Parameter 0x0083
 * takes precedence over 0x800f. Reads nothing outside the list, no matter what it contains. */
bool feros_find_related_identity (const uint8_t *list, size_t size, bool little_endian, feros_identity *out);

/* --- sample.c ----------------------------------------------------------------------------------------------------- */

typedef struct feros_sample feros_sample;

/* The sizes of the smallest sample (the encapsulation header) and of the largest sample, in bytes. */
#define FEROS_SAMPLE_MIN_BYTES 4u
#define FEROS_SAMPLE_MAX_BYTES 0x7ffffff0u

/* The source of a sample: this process, an IPv4 or IPv6 address, or unknown, because its fragments came from several
 * addresses. */
enum feros_source_kind { FEROS_SOURCE_THIS_PROCESS = 0, FEROS_SOURCE_IPV4 = 4, FEROS_SOURCE_IPV6 = 6, FEROS_SOURCE_UNKNOWN = 255 };

typedef struct feros_sample_info {
  int64_t source_timestamp;    /* ns since 1970 on the writer's clock; 0 if unknown */
  int64_t received_timestamp;  /* ns since 1970 on our clock */
  int64_t sequence_number;     /* the writer's number, from 1 */
  uint8_t writer_guid[16];
  bool has_related;
  uint8_t source_kind;         /* one of enum feros_source_kind */
  feros_identity related;
  uint8_t source[16];          /* the source address; IPv4 is in the last four bytes */
} feros_sample_info;

/* The last sample that this thread received, or wrote for readers of the same process. The engine announces a sample on the
 * thread that received it, before that thread receives the next sample, but does not tell which sample it is. */
typedef struct feros_reception {
  uint8_t writer_guid[16];
  int64_t sequence_number;
  int64_t source_timestamp;
  int64_t received_timestamp;  /* when the whole sample had arrived, ns since 1970 on our clock */
} feros_reception;

/* Returns false if this thread has received no sample. */
bool feros_latest_reception (feros_reception *out);

/* Creates a topic whose samples are carried as they are, in memory of `pool`. `*sertype` is borrowed from the topic. */
dds_entity_t feros_create_topic (dds_entity_t participant, feros_pool *pool, const char *name, const char *type_name, const struct ddsi_sertype **sertype);

/* The number of the sertype's samples that were refused because they were malformed. */
uint64_t feros_refused_samples (const struct ddsi_sertype *sertype);

/* Creates a sample of exactly `size` initialised bytes for a writer of `sertype`. Returns NULL if there is no memory, or if
 * the size is outside the limits. */
feros_sample *feros_sample_new (const struct ddsi_sertype *sertype, size_t size);
uint8_t *feros_sample_bytes (feros_sample *sample);
size_t feros_sample_size (const feros_sample *sample);
void feros_sample_get_info (const feros_sample *sample, feros_sample_info *out);
void feros_sample_set_related (feros_sample *sample, const feros_identity *related);
void feros_sample_unref (feros_sample *sample);

/* Writes a sample; consumes the reference in all cases. Readers of the same process get `guid` as the writer's GUID and
 * `sequence_number` as the sample's number. The caller counts the samples, and makes one write per writer at a time. */
dds_return_t feros_write (dds_entity_t writer, feros_sample *sample, const uint8_t guid[16], int64_t sequence_number, int64_t source_timestamp);

/* Takes one sample. Returns 1 with a reference in `*out`, 0 if there is no sample, or an error. */
dds_return_t feros_take (dds_entity_t reader, feros_sample **out, dds_instance_handle_t *publication);

/* Whether the caller holds the only reference, and so may change the bytes. */
bool feros_sample_is_unique (const feros_sample *sample);

/* --- interfaces.c, layout.c --------------------------------------------------------------------------------------- */

typedef void (*feros_interface_fn) (const char *name, const char *address, bool up, bool loopback, bool multicast, void *arg);

/* Calls `each` for every IPv4 interface. Returns 0 or a negative return code. */
int32_t feros_for_each_interface (feros_interface_fn each, void *arg);

/* --- in the patched engine; see patches/added_functions.patch -------------------------------------------------------- */

/* Waits until the reader with this GUID, if it matches and is reliable, has acknowledged all written samples. A timeout of
 * zero checks once. Readers of this process need no acknowledgement. Returns DDS_RETCODE_TIMEOUT if the time runs out. */
dds_return_t feros_wait_for_acks_of (dds_entity_t writer, const uint8_t reader[16], dds_duration_t timeout);

/* Waits until the participant of this endpoint, if it is remote, has acknowledged the announcements of the readers (or
 * writers) of the entity's participant, which include the entity's own. A timeout of zero checks once. Returns
 * DDS_RETCODE_TIMEOUT if the time runs out. */
dds_return_t feros_wait_until_announced (dds_entity_t entity, const uint8_t endpoint[16], dds_duration_t timeout);

/* Forgets the remote participant of this endpoint as if its lease had expired, because its process is known to have ended.
 * Returns DDS_RETCODE_BAD_PARAMETER if there is no such participant. */
dds_return_t feros_forget_participant_of (dds_entity_t entity, const uint8_t endpoint[16]);

/* Makes the participant silent about the end of its endpoints, because it is about to end as a whole. With `now`, tells the
 * other participants that it has left; they then remove its endpoints. Endpoints of the participant still communicate
 * until others have been told. */
dds_return_t feros_leave (dds_entity_t participant, bool now);

/* Returns 1 if all matching reliable readers of this process have room for another sample, 0 if one of them is full. */
dds_return_t feros_local_readers_have_room (dds_entity_t writer);

/* --- neighbours: see engine/feros_neighbours.h and patches/neighbours.patch ------------------------------------------ */

struct feros_neighbours;
struct feros_announcement;

/* The domain that this thread creates next calls these functions, which must exist until the domain is deleted. */
void feros_neighbours_of_next_domain (const struct feros_neighbours *neighbours);

/* The role at meeting points of the domains that this thread creates: see engine/feros_introductions.h. */
void feros_introductions_of_next_domain (uint32_t role);

/* Gives announcements of a neighbour to the engine, which copies and later processes them in this order. It then calls
 * `processed` with `through`. */
dds_return_t feros_learn (dds_entity_t domain, const uint8_t prefix[12], const struct feros_announcement *announcements, size_t count, uint64_t through);

/* Renews the lease of a neighbour, and returns 1 if the engine knows it, 0 otherwise; or forgets a neighbour that has ended. */
dds_return_t feros_neighbour_lives (dds_entity_t domain, const uint8_t prefix[12], bool is_manual);
dds_return_t feros_neighbour_ended (dds_entity_t domain, const uint8_t prefix[12]);

/* --- in the patched engine; see patches/received.patch ---------------------------------------------------------------- */

/* The datagrams, and their bytes, that the domain of this entity has received from the network so far. */
dds_return_t feros_received (dds_entity_t entity, uint64_t *datagrams, uint64_t *bytes);

extern const dds_entity_t feros_builtin_participant, feros_builtin_publication, feros_builtin_subscription;

#endif
