// The C interface of the shim. The shim exists because Fast DDS only has a C++ interface, whose ABI
// changes with every release. The build defines FEROS_FASTDDS_INTERFACE, the version of this
// interface, as a checksum of this file.
//
// GUIDs have 16 bytes, as on the wire. Times are nanoseconds. Functions that return `int` return 0
// or the return code of Fast DDS, unless their comment says otherwise. No function throws.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A duration without limit. */
#define FEROS_FASTDDS_INFINITE (-1)

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef struct feros_fastdds_participant feros_fastdds_participant;
typedef struct feros_fastdds_writer feros_fastdds_writer;
typedef struct feros_fastdds_reader feros_fastdds_reader;
/* A reference-counted buffer that holds one serialized message. */
typedef struct feros_fastdds_buffer feros_fastdds_buffer;

typedef struct {
    int64_t deadline, lifespan, lease; /* or FEROS_FASTDDS_INFINITE */
    int32_t depth;                     /* with keep_all the most; 0: history is not known */
    uint8_t reliable, transient_local, keep_all;
    uint8_t liveliness; /* 0 automatic, 1 manual by participant, 2 manual by topic */
} feros_fastdds_qos;

typedef struct {
    uint8_t guid[16];
    bool alive;
    const uint8_t* user_data;
    size_t user_data_bytes;
    uint8_t vendor[2];
    uint8_t version_kind; /* 0 Fast DDS does not tell, 1 the participant names none, 2 named */
    uint8_t version[3]; /* major, minor, patch */
} feros_fastdds_participant_info;

typedef struct {
    uint8_t guid[16];
    bool alive, is_writer;
    const char* topic;
    const char* type_name;
    feros_fastdds_qos qos;
    const uint8_t* user_data;
    size_t user_data_bytes;
} feros_fastdds_endpoint_info;

enum {
    FEROS_FASTDDS_DATA,
    FEROS_FASTDDS_MATCHED,          /* guid, change */
    FEROS_FASTDDS_INCOMPATIBLE_QOS, /* total, policy in `change` */
    FEROS_FASTDDS_DEADLINE,         /* total */
    FEROS_FASTDDS_LIVELINESS_LOST,  /* total */
    FEROS_FASTDDS_LIVELINESS        /* guid, change of those alive in `total`, not alive in `change` */
};

typedef struct {
    int32_t kind, total, change;
    uint8_t guid[16];
} feros_fastdds_status;

/* Called on threads of Fast DDS, with its locks held. */
typedef void (*feros_fastdds_on_participant)(void*, const feros_fastdds_participant_info*);
typedef void (*feros_fastdds_on_endpoint)(void*, const feros_fastdds_endpoint_info*);
typedef void (*feros_fastdds_on_status)(void*, const feros_fastdds_status*);
typedef void (*feros_fastdds_on_log)(bool is_error, const char* text);

typedef struct {
    uint32_t domain_id;
    const char* enclave;
    const char* user_data; /* without the NUL that the shim adds, as rmw_fastrtps does */
    uint8_t range; /* 0 subnet, 1 localhost, 2 off, 3 system default */
    const char* const* peers; /* IPv4 addresses */
    size_t peers_count;
    /* Whether XML profiles set the policies that ROS leaves open. */
    bool qos_from_xml;
    void* context;
    feros_fastdds_on_participant on_participant;
    feros_fastdds_on_endpoint on_endpoint;
} feros_fastdds_participant_options;

typedef struct {
    const char* topic;
    const char* type_name;
    feros_fastdds_qos qos;
    const uint8_t* user_data;
    size_t user_data_bytes;
    uint8_t publish_mode; /* 0 synchronous, 1 asynchronous, 2 what Fast DDS or its XML says */
    int64_t max_blocking;
    void* context;
    feros_fastdds_on_status on_status;
} feros_fastdds_endpoint_options;

typedef struct {
    feros_fastdds_buffer* buffer; /* a reference that the taker owns; null: malformed, refused */
    size_t bytes;
    uint8_t writer[16];
    int64_t number;
    bool has_related;
    uint8_t related[16];
    int64_t related_number;
    int64_t source_stamp, received_stamp;
} feros_fastdds_sample;

uint32_t feros_fastdds_interface(void);
const char* feros_fastdds_version(void);
void feros_fastdds_set_log(feros_fastdds_on_log sink);

/* Returns null if Fast DDS refuses the participant; the log then has the reason. */
feros_fastdds_participant* feros_fastdds_participant_new(const feros_fastdds_participant_options*);
/* The participant's endpoints must have been deleted. */
void feros_fastdds_participant_delete(feros_fastdds_participant*);
void feros_fastdds_participant_guid(const feros_fastdds_participant*, uint8_t guid[16]);
/* Forgets another participant permanently. */
int feros_fastdds_ignore_participant(feros_fastdds_participant*, const uint8_t guid[16]);

/* Returns null and sets `code` if the writer is refused; -1 means that the topic has another type in
   this participant. */
feros_fastdds_writer* feros_fastdds_writer_new(
        feros_fastdds_participant*, const feros_fastdds_endpoint_options*, int* code);
/* Waits for running callbacks. No callback runs after this call. */
void feros_fastdds_writer_delete(feros_fastdds_writer*);
void feros_fastdds_writer_guid(const feros_fastdds_writer*, uint8_t guid[16]);
int feros_fastdds_writer_set_user_data(feros_fastdds_writer*, const uint8_t* data, size_t bytes);
/* Writes the buffer, which must not change afterwards; `related` may be null. For each writer, only
   one thread may call this at a time. */
int feros_fastdds_write(
        feros_fastdds_writer*, feros_fastdds_buffer*, int64_t stamp, const uint8_t* related,
        int64_t related_number, int64_t* number);
int feros_fastdds_wait_for_acknowledgments(feros_fastdds_writer*, int64_t timeout);
int feros_fastdds_assert_liveliness(feros_fastdds_writer*);

feros_fastdds_reader* feros_fastdds_reader_new(
        feros_fastdds_participant*, const feros_fastdds_endpoint_options*, int* code);
void feros_fastdds_reader_delete(feros_fastdds_reader*);
void feros_fastdds_reader_guid(const feros_fastdds_reader*, uint8_t guid[16]);
int feros_fastdds_reader_set_user_data(feros_fastdds_reader*, const uint8_t* data, size_t bytes);
/* Returns 1 with a sample, 0 if there is no sample, or the negative return code of Fast DDS. */
int feros_fastdds_take(feros_fastdds_reader*, feros_fastdds_sample*);

/* Returns null if there is no memory. The bytes after the first four are aligned to 8. */
feros_fastdds_buffer* feros_fastdds_buffer_new(size_t bytes);
void feros_fastdds_buffer_unref(feros_fastdds_buffer*);
uint8_t* feros_fastdds_buffer_bytes(feros_fastdds_buffer*);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
