/* Preloaded functions that note when a message passes them. They stand before those of stock ROS 2: librmw_fastrtps_shared_cpp.so
 * calls the trace points of libtracetools.so through jump slots (tracetools.h says what each marks), and the table of
 * virtual functions of Fast DDS's listener refers to its functions by name.
 *
 * RMWSubscriptionEvent::update_data_available does not serve here: rmw_fastrtps calls it only for a subscription with a
 * callback for new messages, as an executor of events sets it, and never for a wait set. */
#define _GNU_SOURCE
#include "hooks.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static __thread struct hooks_thread of_this;
static struct hooks_thread *of_thread(void) { return &of_this; }

struct hooks feros_lab_hooks = {.thread = of_thread};

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* Just before the RMW gives the message to the engine, which serializes it. */
void ros_trace_rmw_publish(const void *publisher, const void *message, int64_t stamp) {
  (void) publisher, (void) message, (void) stamp;
  of_this.rmw_publish = now();
}

/* The RMW has taken and deserialized a message. */
void ros_trace_rmw_take(const void *subscription, const void *message, int64_t stamp, bool taken) {
  (void) subscription, (void) message, (void) stamp;
  if (taken) of_this.rmw_take = now();
}

typedef void announce(void *, void *, const void *, const void *, const void *, void *);
/* DataReaderImpl::InnerDataReaderListener::on_data_available(RTPSReader *, const GUID_t &, const SequenceNumber_t & first,
 * const SequenceNumber_t & last, bool &) of Fast DDS 3 and 2. */
#define FAST_DDS_3                                                                                                        \
  "_ZN8eprosima7fastdds3dds14DataReaderImpl23InnerDataReaderListener17on_data_availableEPNS0_4rtps10RTPSReader"            \
  "ERKNS4_6GUID_tERKNS4_16SequenceNumber_tESC_Rb"
#define FAST_DDS_2                                                                                                        \
  "_ZN8eprosima7fastdds3dds14DataReaderImpl23InnerDataReaderListener17on_data_availableEPNS_8fastrtps4rtps10RTPSReader"    \
  "ERKNS5_6GUID_tERKNS5_16SequenceNumber_tESD_Rb"

static announce *original;

__attribute__((constructor)) static void find_original(void) {
  original = (announce *) dlsym(RTLD_NEXT, FAST_DDS_3);
  if (original == NULL) original = (announce *) dlsym(RTLD_NEXT, FAST_DDS_2);
}

/* SequenceNumber_t: the upper half, signed, and the lower half. */
static uint64_t sequence(const void *number) {
  uint32_t halves[2];
  memcpy(halves, number, sizeof halves);
  return (uint64_t) halves[0] << 32 | halves[1];
}

/* The engine's thread announces messages; after this it wakes up who waits. */
static void note_and_announce(void *self, void *reader, const void *writer, const void *first, const void *last, void *one) {
  const uint64_t at = now(), index = __atomic_fetch_add(&feros_lab_hooks.announced, 1, __ATOMIC_RELAXED);
  struct hooks_announcement *a = &feros_lab_hooks.announcements[index % HOOKS_ANNOUNCEMENTS];
  __atomic_store_n(&a->ticket, 0, __ATOMIC_RELEASE);
  memcpy(a->writer, writer, sizeof a->writer);
  a->first = sequence(first), a->last = sequence(last), a->nanos = at;
  __atomic_store_n(&a->ticket, index + 1, __ATOMIC_RELEASE);
  if (original == NULL) abort();
  original(self, reader, writer, first, last, one);
}

void fast_dds_3(void *, void *, const void *, const void *, const void *, void *) __asm__(FAST_DDS_3);
void fast_dds_3(void *self, void *reader, const void *writer, const void *first, const void *last, void *one) {
  note_and_announce(self, reader, writer, first, last, one);
}

void fast_dds_2(void *, void *, const void *, const void *, const void *, void *) __asm__(FAST_DDS_2);
void fast_dds_2(void *self, void *reader, const void *writer, const void *first, const void *last, void *one) {
  note_and_announce(self, reader, writer, first, last, one);
}
