/* See feros_neighbours.h. */
#include "feros_neighbours.h"

#include <string.h>

#include "dds/ddsrt/atomics.h"
#include "dds/ddsrt/heap.h"
#include "dds/ddsrt/threads.h"
#include "dds/ddsrt/time.h"
#include "dds/ddsi/ddsi_domaingv.h"
#include "dds/ddsi/ddsi_serdata.h"
#include "ddsi__addrset.h"
#include "ddsi__discovery_endpoint.h"
#include "ddsi__discovery_spdp.h"
#include "ddsi__entity.h"
#include "ddsi__entity_index.h"
#include "ddsi__lease.h"
#include "ddsi__misc.h"
#include "ddsi__plist.h"
#include "ddsi__proxy_endpoint.h"
#include "ddsi__proxy_participant.h"
#include "ddsi__radmin.h"
#include "ddsi__serdata_plist.h"
#include "ddsi__thread.h"
#include "ddsi__vendor.h"

/* The sequence numbers of learned announcements are larger than those of announcements on the network, which are older
   then. */
#define FIRST_SEQ ((ddsi_seqno_t) 1 << 40)

static ddsrt_thread_local const struct feros_neighbours *of_next_domain;

void feros_neighbours_of_next_domain (const struct feros_neighbours *neighbours)
{
  of_next_domain = neighbours;
}

const struct feros_neighbours *feros_neighbours_take (void)
{
  const struct feros_neighbours * const neighbours = of_next_domain;
  of_next_domain = NULL;
  return neighbours;
}

static uint32_t kind_of (ddsi_entityid_t id)
{
  if (id.u == DDSI_ENTITYID_PARTICIPANT)
    return FEROS_ANNOUNCES_PARTICIPANT;
  return ddsi_is_writer_entityid (id) ? FEROS_ANNOUNCES_WRITER : FEROS_ANNOUNCES_READER;
}

void feros_neighbours_announce (struct ddsi_domaingv *gv, const ddsi_guid_t *guid, const struct ddsi_serdata *serdata)
{
  const struct feros_neighbours * const neighbours = gv->neighbours;
  if (neighbours == NULL)
    return;
  const ddsi_guid_t on_wire = ddsi_hton_guid (*guid);
  ddsrt_iovec_t iov;
  struct ddsi_serdata * const ref = ddsi_serdata_to_ser_ref (serdata, 0, ddsi_serdata_size (serdata), &iov);
  neighbours->announced (neighbours->arg, kind_of (guid->entityid), serdata->statusinfo == 0, (const uint8_t *) &on_wire, iov.iov_base, iov.iov_len);
  ddsi_serdata_to_ser_unref (ref, &iov);
}

void feros_neighbours_pulse (struct ddsi_domaingv *gv, const ddsi_guid_prefix_t *prefix, bool is_manual)
{
  const struct feros_neighbours * const neighbours = gv->neighbours;
  if (neighbours == NULL)
    return;
  const ddsi_guid_prefix_t on_wire = ddsi_hton_guid_prefix (*prefix);
  neighbours->pulsed (neighbours->arg, (const uint8_t *) &on_wire, is_manual);
}

bool feros_neighbours_knows (struct ddsi_domaingv *gv, const ddsi_guid_prefix_t *prefix)
{
  if (gv->neighbours == NULL)
    return false;
  const ddsi_guid_t guid = { .prefix = *prefix, .entityid = { .u = DDSI_ENTITYID_PARTICIPANT } };
  const struct ddsi_proxy_participant * const proxypp = ddsi_entidx_lookup_proxy_participant_guid (gv->entity_index, &guid);
  return proxypp != NULL && proxypp->is_neighbour;
}

bool feros_neighbours_has (struct ddsi_domaingv *gv, const ddsi_guid_prefix_t *prefix)
{
  const struct feros_neighbours * const neighbours = gv->neighbours;
  if (neighbours == NULL)
    return false;
  const ddsi_guid_prefix_t on_wire = ddsi_hton_guid_prefix (*prefix);
  return neighbours->is_neighbour (neighbours->arg, (const uint8_t *) &on_wire);
}

/* --- what is learned: processed by the thread of discovery, in the order in which it was given ---------------------- */

enum news { NEWS_ANNOUNCEMENTS, NEWS_END };

struct item {
  uint32_t kind;
  bool is_alive;
  ddsi_guid_t guid;
  size_t size;
};

struct learned {
  struct ddsi_domaingv *gv;
  enum news news;
  ddsi_guid_prefix_t prefix;
  uint64_t through;
  size_t count;
  struct item *items; /* the bytes of all items follow the last item */
};

static void learn_endpoint (const struct ddsi_receiver_state *rst, ddsi_seqno_t seq, struct ddsi_serdata *serdata, ddsi_sedp_kind_t kind)
{
  ddsi_plist_t announced;
  if (!ddsi_serdata_to_sample (serdata, &announced, NULL, NULL))
    return;
  if ((announced.present & PP_ENDPOINT_GUID) && memcmp (&announced.endpoint_guid.prefix, &rst->src_guid_prefix, sizeof (rst->src_guid_prefix)) == 0)
    ddsi_handle_sedp_alive_endpoint (rst, seq, &announced, kind, rst->vendor, serdata->timestamp);
  ddsi_plist_fini (&announced);
}

static void learn_participant (const struct ddsi_receiver_state *rst, ddsi_seqno_t seq, const struct ddsi_serdata *serdata, const ddsi_guid_t *guid)
{
  const struct ddsi_proxy_participant * const proxypp = ddsi_entidx_lookup_proxy_participant_guid (rst->gv->entity_index, guid);
  if (proxypp != NULL && !proxypp->is_neighbour)
    /* The network found it while its log was missing. After it is forgotten, it is learned again. */
    (void) ddsi_delete_proxy_participant_by_guid (rst->gv, guid, ddsrt_time_wallclock (), true);
  else
    ddsi_handle_spdp (rst, ddsi_to_entityid (DDSI_ENTITYID_SPDP_BUILTIN_PARTICIPANT_WRITER), seq, serdata);
}

static const struct ddsi_sertype *sertype_of (const struct ddsi_domaingv *gv, uint32_t kind)
{
  switch (kind)
  {
    case FEROS_ANNOUNCES_PARTICIPANT: return gv->spdp_type;
    case FEROS_ANNOUNCES_WRITER: return gv->sedp_writer_type;
    case FEROS_ANNOUNCES_READER: return gv->sedp_reader_type;
    default: return NULL;
  }
}

static void forget (struct ddsi_domaingv *gv, const struct item *item)
{
  if (item->kind == FEROS_ANNOUNCES_WRITER && ddsi_is_writer_entityid (item->guid.entityid))
    (void) ddsi_delete_proxy_writer (gv, &item->guid, ddsrt_time_wallclock (), 0);
  else if (item->kind == FEROS_ANNOUNCES_READER && ddsi_is_reader_entityid (item->guid.entityid))
    (void) ddsi_delete_proxy_reader (gv, &item->guid, ddsrt_time_wallclock (), 0);
}

static void learn_one (const struct ddsi_receiver_state *rst, ddsi_seqno_t seq, const struct item *item, unsigned char *bytes)
{
  if (memcmp (&item->guid.prefix, &rst->src_guid_prefix, sizeof (rst->src_guid_prefix)) != 0)
    return; /* it is about another participant */
  if (!item->is_alive)
  {
    forget (rst->gv, item);
    return;
  }
  const struct ddsi_sertype * const type = sertype_of (rst->gv, item->kind);
  if (type == NULL || item->size < 4)
    return;
  const ddsrt_iovec_t iov = { .iov_base = bytes, .iov_len = item->size };
  struct ddsi_serdata * const serdata = ddsi_serdata_from_ser_iov (type, SDK_DATA, 1, &iov, item->size);
  if (serdata == NULL)
    return;
  serdata->timestamp = ddsrt_time_wallclock ();
  ((struct ddsi_serdata_plist *) serdata)->protoversion = rst->protocol_version;
  ((struct ddsi_serdata_plist *) serdata)->vendorid = rst->vendor;
  if (item->kind == FEROS_ANNOUNCES_PARTICIPANT)
    learn_participant (rst, seq, serdata, &item->guid);
  else
    learn_endpoint (rst, seq, serdata, item->kind == FEROS_ANNOUNCES_WRITER ? SEDP_KIND_WRITER : SEDP_KIND_READER);
  ddsi_serdata_unref (serdata);
}

static void learn_all (const struct learned *learned)
{
  struct ddsi_domaingv * const gv = learned->gv;
  struct ddsi_receiver_state rst;
  memset (&rst, 0, sizeof (rst));
  rst.gv = gv;
  rst.src_guid_prefix = learned->prefix;
  rst.vendor = DDSI_VENDORID_ECLIPSE;
  rst.protocol_version = gv->config.protocol_version;
  ddsi_set_unspec_locator (&rst.pktinfo.src);
  ddsi_set_unspec_locator (&rst.pktinfo.dst);
  unsigned char *bytes = (unsigned char *) &learned->items[learned->count];
  gv->is_learning = true;
  for (size_t i = 0; i < learned->count; i++)
  {
    learn_one (&rst, FIRST_SEQ + gv->learned++, &learned->items[i], bytes);
    bytes += learned->items[i].size;
  }
  gv->is_learning = false;
  const ddsi_guid_prefix_t on_wire = ddsi_hton_guid_prefix (learned->prefix);
  const bool is_known = feros_neighbours_knows (gv, &learned->prefix);
  gv->neighbours->processed (gv->neighbours->arg, (const uint8_t *) &on_wire, learned->through, is_known);
}

static void process (void *varg)
{
  struct learned * const learned = varg;
  switch (learned->news)
  {
    case NEWS_ANNOUNCEMENTS:
      learn_all (learned);
      break;
    case NEWS_END: {
      const ddsi_guid_t guid = { .prefix = learned->prefix, .entityid = { .u = DDSI_ENTITYID_PARTICIPANT } };
      /* Meanwhile, the network may have found it. */
      if (feros_neighbours_knows (learned->gv, &learned->prefix))
        (void) ddsi_delete_proxy_participant_by_guid (learned->gv, &guid, ddsrt_time_wallclock (), true);
      break;
    }
  }
  ddsrt_free (learned);
}

static struct learned *new_learned (struct ddsi_domaingv *gv, const uint8_t prefix[12], enum news news, size_t bytes)
{
  struct learned * const learned = ddsrt_malloc (sizeof (*learned) + bytes);
  ddsi_guid_prefix_t on_wire;
  memcpy (&on_wire, prefix, sizeof (on_wire));
  learned->gv = gv;
  learned->news = news;
  learned->prefix = ddsi_ntoh_guid_prefix (on_wire);
  learned->through = 0;
  learned->count = 0;
  learned->items = (struct item *) (learned + 1);
  return learned;
}

void feros_neighbours_learn (struct ddsi_domaingv *gv, const uint8_t prefix[12], const struct feros_announcement *announcements, size_t count, uint64_t through)
{
  size_t bytes = count * sizeof (struct item);
  for (size_t i = 0; i < count; i++)
    bytes += announcements[i].size;
  struct learned * const learned = new_learned (gv, prefix, NEWS_ANNOUNCEMENTS, bytes);
  learned->through = through;
  learned->count = count;
  unsigned char *to = (unsigned char *) &learned->items[count];
  for (size_t i = 0; i < count; i++)
  {
    ddsi_guid_t on_wire;
    memcpy (&on_wire, announcements[i].guid, sizeof (on_wire));
    learned->items[i] = (struct item) { .kind = announcements[i].kind, .is_alive = announcements[i].is_alive, .guid = ddsi_ntoh_guid (on_wire), .size = announcements[i].size };
    memcpy (to, announcements[i].bytes, announcements[i].size);
    to += announcements[i].size;
  }
  ddsi_dqueue_enqueue_callback (gv->builtins_dqueue, process, learned);
}

bool feros_neighbours_lives (struct ddsi_domaingv *gv, const uint8_t prefix[12], bool is_manual)
{
  ddsi_guid_prefix_t on_wire;
  memcpy (&on_wire, prefix, sizeof (on_wire));
  const ddsi_guid_t guid = { .prefix = ddsi_ntoh_guid_prefix (on_wire), .entityid = { .u = DDSI_ENTITYID_PARTICIPANT } };
  struct ddsi_thread_state * const thrst = ddsi_lookup_thread_state ();
  ddsi_thread_state_awake (thrst, gv);
  struct ddsi_proxy_participant * const proxypp = ddsi_entidx_lookup_proxy_participant_guid (gv->entity_index, &guid);
  struct ddsi_lease * const lease = (proxypp == NULL) ? NULL : ddsrt_atomic_ldvoidp (is_manual ? &proxypp->minl_man : &proxypp->minl_auto);
  if (lease != NULL)
    ddsi_lease_renew (lease, ddsrt_time_elapsed ());
  ddsi_thread_state_asleep (thrst);
  return proxypp != NULL;
}

void feros_neighbours_ended (struct ddsi_domaingv *gv, const uint8_t prefix[12])
{
  ddsi_dqueue_enqueue_callback (gv->builtins_dqueue, process, new_learned (gv, prefix, NEWS_END, 0));
}
