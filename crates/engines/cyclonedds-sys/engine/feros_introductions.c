/* See feros_introductions.h. */
#include "feros_introductions.h"

#include <string.h>

#include "dds/ddsrt/heap.h"
#include "dds/ddsrt/threads.h"
#include "dds/ddsi/ddsi_domaingv.h"
#include "feros_announcements.h"
#include "ddsi__addrset.h"
#include "ddsi__entity_index.h"
#include "ddsi__misc.h"
#include "ddsi__participant.h"
#include "ddsi__proxy_participant.h"
#include "ddsi__protocol.h"
#include "ddsi__radmin.h"
#include "ddsi__tran.h"
#include "ddsi__xevent.h"
#include "ddsi__xmsg.h"

/* A participant of another host. */
struct acquaintance {
  ddsi_guid_t guid;
  ddsi_xlocator_t address; /* for discovery */
  struct ddsi_serdata *announcement;
  ddsi_seqno_t seq;
  uint32_t arrivals; /* of its announcement, by unicast from its host */
};

struct feros_introductions {
  bool introduces;
  uint32_t n;
  struct acquaintance of[FEROS_MOST_INTRODUCED];
};

static ddsrt_thread_local uint32_t role_of_next_domain;

void feros_introductions_of_next_domain (uint32_t role)
{
  role_of_next_domain = role;
}

struct feros_introductions *feros_introductions_new (void)
{
  if (role_of_next_domain == FEROS_MEETS_NOBODY)
    return NULL;
  struct feros_introductions * const introductions = ddsrt_malloc (sizeof (*introductions));
  introductions->introduces = role_of_next_domain == FEROS_INTRODUCES;
  introductions->n = 0;
  return introductions;
}

static void forget (struct feros_introductions *introductions, uint32_t i)
{
  ddsi_serdata_unref (introductions->of[i].announcement);
  introductions->of[i] = introductions->of[--introductions->n];
}

void feros_introductions_free (struct feros_introductions *introductions)
{
  if (introductions == NULL)
    return;
  while (introductions->n > 0)
    forget (introductions, introductions->n - 1);
  ddsrt_free (introductions);
}

bool feros_is_same_host (const ddsi_locator_t *a, const ddsi_locator_t *b)
{
  return a->kind == b->kind && memcmp (a->address, b->address, sizeof (a->address)) == 0;
}

bool feros_is_answer (const struct ddsi_receiver_state *rst)
{
  return rst->dst_guid_prefix.u[0] != 0 || rst->dst_guid_prefix.u[1] != 0 || rst->dst_guid_prefix.u[2] != 0;
}

static uint32_t find (const struct feros_introductions *introductions, const ddsi_guid_t *guid)
{
  uint32_t i = 0;
  while (i < introductions->n && ddsi_compare_guid (&introductions->of[i].guid, guid) != 0)
    i++;
  return i;
}

/* Whether the announcement of a known participant comes from the address at which its discovery is
   reached, and this is an address of another host. */
static bool is_from_its_host (const struct ddsi_receiver_state *rst, const ddsi_guid_t *guid, ddsi_xlocator_t *address)
{
  struct ddsi_domaingv * const gv = rst->gv;
  const struct ddsi_proxy_participant * const proxypp = ddsi_entidx_lookup_proxy_participant_guid (gv->entity_index, guid);
  if (proxypp == NULL || proxypp->is_neighbour || ddsi_addrset_empty_uc (proxypp->as_meta))
    return false;
  ddsi_addrset_any_uc (proxypp->as_meta, address);
  return feros_is_same_host (&address->c, &rst->pktinfo.src)
    && ddsi_is_nearby_address (gv, &address->c, (size_t) gv->n_interfaces, gv->interfaces, NULL) != DNAR_SELF;
}

/* Whether the first participant of the neighbours on this host, by its GUID, belongs to this process. */
static bool is_first_of_host (struct ddsi_domaingv *gv)
{
  ddsi_guid_t first;
  bool is_ours = false;
  struct ddsi_entity_enum_participant own;
  const struct ddsi_participant *pp;
  ddsi_entidx_enum_participant_init (&own, gv->entity_index);
  while ((pp = ddsi_entidx_enum_participant_next (&own)) != NULL)
    if (!is_ours || ddsi_compare_guid (&pp->e.guid, &first) < 0)
    {
      first = pp->e.guid;
      is_ours = true;
    }
  ddsi_entidx_enum_participant_fini (&own);
  struct ddsi_entity_enum_proxy_participant others;
  const struct ddsi_proxy_participant *proxypp;
  ddsi_entidx_enum_proxy_participant_init (&others, gv->entity_index);
  while (is_ours && (proxypp = ddsi_entidx_enum_proxy_participant_next (&others)) != NULL)
    if (proxypp->is_neighbour && ddsi_compare_guid (&proxypp->e.guid, &first) < 0)
      is_ours = false;
  ddsi_entidx_enum_proxy_participant_fini (&others);
  return is_ours;
}

/* Sends the announcement of a participant to another one. */
static void tell (struct ddsi_domaingv *gv, const struct acquaintance *of, const struct acquaintance *to)
{
  static const ddsi_guid_prefix_t to_all;
  const ddsi_guid_t writer = { .prefix = of->guid.prefix, .entityid = { .u = DDSI_ENTITYID_SPDP_BUILTIN_PARTICIPANT_WRITER } };
  const size_t size = sizeof (ddsi_rtps_info_ts_t) + sizeof (ddsi_rtps_data_t);
  struct ddsi_xmsg * const msg = ddsi_xmsg_new (gv->xmsgpool, &writer, NULL, size, DDSI_XMSG_KIND_DATA);
  if (msg == NULL)
    return;
  ddsi_xmsg_setdst1 (gv, msg, &to_all, &to->address);
  if (feros_has_own_socket (gv, &to->address))
    ddsi_xmsg_set_announcement (msg);
  ddsi_xmsg_add_timestamp (msg, of->announcement->timestamp);
  struct ddsi_xmsg_marker marker;
  ddsi_rtps_data_t * const data = ddsi_xmsg_append (msg, &marker, sizeof (*data));
  ddsi_xmsg_submsg_init (msg, marker, DDSI_RTPS_SMID_DATA);
  data->x.smhdr.flags = (unsigned char) (data->x.smhdr.flags | DDSI_DATA_FLAG_DATAFLAG);
  data->x.extraFlags = 0;
  data->x.readerId = ddsi_to_entityid (DDSI_ENTITYID_UNKNOWN);
  data->x.writerId = ddsi_hton_entityid (writer.entityid);
  data->x.writerSN = ddsi_to_seqno (of->seq);
  data->x.octetsToInlineQos = (unsigned short) ((char *) (data + 1) - ((char *) &data->x.octetsToInlineQos + 2));
  ddsi_xmsg_payload_of_other (msg, of->announcement);
  ddsi_xmsg_submsg_setnext (msg, marker);
  ddsi_qxev_msg (gv->xevents, msg);
}

/* Tells the last participant and those of other hosts of each other. */
static void tell_each_other (struct ddsi_domaingv *gv, const struct feros_introductions *introductions)
{
  const struct acquaintance * const last = &introductions->of[introductions->n - 1];
  for (uint32_t i = 0; i < introductions->n; i++)
  {
    const struct acquaintance * const other = &introductions->of[i];
    if (feros_is_same_host (&last->address.c, &other->address.c))
      continue;
    tell (gv, last, other);
    tell (gv, other, last);
  }
}

static void forget_gone (struct ddsi_domaingv *gv, struct feros_introductions *introductions)
{
  /* From the end, because the last one takes the place of one that is forgotten. */
  for (uint32_t i = introductions->n; i-- > 0;)
    if (ddsi_entidx_lookup_proxy_participant_guid (gv->entity_index, &introductions->of[i].guid) == NULL)
      forget (introductions, i);
}

void feros_introduce (const struct ddsi_receiver_state *rst, ddsi_seqno_t seq, const struct ddsi_serdata *announcement)
{
  struct ddsi_domaingv * const gv = rst->gv;
  struct feros_introductions * const introductions = gv->introductions;
  if (introductions == NULL || !introductions->introduces || gv->is_learning || rst->pktinfo.dst.kind == DDSI_LOCATOR_KIND_INVALID)
    return;
  struct acquaintance new = {
    .guid = { .prefix = rst->src_guid_prefix, .entityid = { .u = DDSI_ENTITYID_PARTICIPANT } },
    .seq = seq,
    .arrivals = 1
  };
  const uint32_t known = find (introductions, &new.guid);
  if (known < introductions->n && introductions->of[known].arrivals >= FEROS_INTRODUCTIONS)
    return;
  if (ddsi_is_mcaddr (gv, &rst->pktinfo.dst))
  {
    /* It reaches others by multicast itself. */
    if (known < introductions->n)
      forget (introductions, known);
    return;
  }
  /* An answer to this process goes by unicast even if its participant reaches others by multicast. */
  if (feros_is_answer (rst) || !is_from_its_host (rst, &new.guid, &new.address))
    return;
  if (known < introductions->n)
  {
    new.arrivals += introductions->of[known].arrivals;
    forget (introductions, known);
  }
  forget_gone (gv, introductions);
  if (introductions->n == FEROS_MOST_INTRODUCED)
    return;
  new.announcement = ddsi_serdata_ref (announcement);
  introductions->of[introductions->n++] = new;
  if (is_first_of_host (gv))
    tell_each_other (gv, introductions);
}
