// A participant of ROS 2 Humble, made by hand on Cyclone DDS 0.10, the library of Humble's time. As with rmw_cyclonedds of
// Humble, requests and responses begin with the client and the number of the request, and the USER_DATA of the endpoints
// of a service says which reader and writer belong together. HUMBLE_INTERFACES names the interfaces, separated by spaces;
// by default, it is that of loopback alone, as with ROS_LOCALHOST_ONLY in rmw_cyclonedds of Humble.
#include "humble.hpp"

#include <cstdio>

#include <dds/dds.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <dds/ddsi/ddsi_sertype.h>
#include <dds/ddsi/q_radmin.h>

namespace {

using namespace humble;

/// A message, as its bytes.
struct Raw : ddsi_serdata {
  Raw(const ddsi_sertype *type, ddsi_serdata_kind kind) : ddsi_serdata() { ddsi_serdata_init(this, type, kind); }
  Bytes bytes;
};

const Bytes &bytes_of(const ddsi_serdata *data) { return static_cast<const Raw *>(data)->bytes; }

ddsi_serdata *from_fragments(const ddsi_sertype *type, ddsi_serdata_kind kind, const nn_rdata *fragment, size_t size) {
  auto *data = new Raw(type, kind);
  for (; fragment != nullptr; fragment = fragment->nextfrag) {
    const size_t at = data->bytes.size(); // fragments may overlap
    if (fragment->maxp1 <= at) continue;
    const uint8_t *payload = NN_RMSG_PAYLOADOFF(fragment->rmsg, NN_RDATA_PAYLOAD_OFF(fragment));
    data->bytes.insert(data->bytes.end(), payload + (at - fragment->min), payload + (fragment->maxp1 - fragment->min));
  }
  data->bytes.resize(size);
  return data;
}
ddsi_serdata *from_parts(const ddsi_sertype *type, ddsi_serdata_kind kind, ddsrt_msg_iovlen_t count,
                         const ddsrt_iovec_t *parts, size_t size) {
  auto *data = new Raw(type, kind);
  for (size_t at = 0; at < count; ++at) {
    const auto *part = static_cast<const uint8_t *>(parts[at].iov_base);
    data->bytes.insert(data->bytes.end(), part, part + parts[at].iov_len);
  }
  data->bytes.resize(size);
  return data;
}
ddsi_serdata *from_sample(const ddsi_sertype *type, ddsi_serdata_kind kind, const void *sample) {
  auto *data = new Raw(type, kind);
  if (kind == SDK_DATA) data->bytes = *static_cast<const Bytes *>(sample);
  return data;
}
/// Cyclone DDS reads up to three bytes after the end, so that messages on the wire have whole words.
void write_part(const ddsi_serdata *data, size_t at, size_t size, void *to) {
  const Bytes &bytes = bytes_of(data);
  memset(to, 0, size);
  if (at < bytes.size()) memcpy(to, bytes.data() + at, std::min(size, bytes.size() - at));
}
ddsi_serdata *lend_part(const ddsi_serdata *data, size_t at, size_t size, ddsrt_iovec_t *to) {
  to->iov_base = calloc(1, size);
  to->iov_len = ddsrt_iov_len_t(size);
  write_part(data, at, size, to->iov_base);
  return ddsi_serdata_ref(data);
}
void end_loan(ddsi_serdata *data, const ddsrt_iovec_t *lent) {
  free(lent->iov_base);
  ddsi_serdata_unref(data);
}
bool to_sample(const ddsi_serdata *data, void *sample, void **, void *) {
  *static_cast<Bytes *>(sample) = bytes_of(data);
  return true;
}

/// Messages have no keys, so all of a topic are one instance.
const ddsi_serdata_ops *serdata_ops() {
  static const ddsi_serdata_ops ops = [] {
    ddsi_serdata_ops ops{};
    ops.eqkey = [](const ddsi_serdata *, const ddsi_serdata *) { return true; };
    ops.get_size = [](const ddsi_serdata *data) { return uint32_t(bytes_of(data).size()); };
    ops.from_ser = from_fragments;
    ops.from_ser_iov = from_parts;
    ops.from_keyhash = [](const ddsi_sertype *type, const ddsi_keyhash *) -> ddsi_serdata * { return new Raw(type, SDK_KEY); };
    ops.from_sample = from_sample;
    ops.to_ser = write_part;
    ops.to_ser_ref = lend_part;
    ops.to_ser_unref = end_loan;
    ops.to_sample = to_sample;
    ops.to_untyped = [](const ddsi_serdata *data) -> ddsi_serdata * { return new Raw(data->type, SDK_KEY); };
    ops.untyped_to_sample = [](const ddsi_sertype *, const ddsi_serdata *, void *, void **, void *) { return true; };
    ops.free = [](ddsi_serdata *data) { delete static_cast<Raw *>(data); };
    ops.print = [](const ddsi_sertype *, const ddsi_serdata *, char *to, size_t size) {
      return size_t(snprintf(to, size, "bytes"));
    };
    ops.get_keyhash = [](const ddsi_serdata *, ddsi_keyhash *to, bool) { memset(to, 0, sizeof *to); };
    return ops;
  }();
  return &ops;
}

const ddsi_sertype_ops *sertype_ops() {
  static const ddsi_sertype_ops ops = [] {
    ddsi_sertype_ops ops{};
    ops.version = ddsi_sertype_v0;
    ops.free = [](ddsi_sertype *type) {
      ddsi_sertype_fini(type);
      delete type;
    };
    ops.equal = [](const ddsi_sertype *, const ddsi_sertype *) { return true; };
    ops.hash = [](const ddsi_sertype *) { return uint32_t(0); };
    return ops;
  }();
  return &ops;
}

Gid gid_of(const dds_guid_t &guid) {
  Gid gid{};
  memcpy(gid.data(), guid.v, sizeof guid.v);
  return gid;
}

dds_entity_t checked(dds_entity_t entity, const std::string &what) {
  if (entity < 0) throw std::runtime_error(what + ": " + dds_strretcode(-entity));
  return entity;
}

Gid gid_of(dds_entity_t entity) {
  dds_guid_t guid;
  checked(dds_get_guid(entity, &guid), "the GUID");
  return gid_of(guid);
}

/// What begins a request, after the four bytes that begin CDR, and its response: the client, as a number that means nothing
/// to the server, and the number of the request.
struct Header {
  uint64_t client;
  int64_t number;
};
constexpr size_t BEFORE_HEADER = 4;

Bytes with_header(const Header &header, Bytes message) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&header);
  message.insert(message.begin() + BEFORE_HEADER, bytes, bytes + sizeof header);
  return message;
}
Header remove_header(Bytes &message) {
  Header header;
  if (message.size() < BEFORE_HEADER + sizeof header) throw std::runtime_error("a message without a header");
  memcpy(&header, message.data() + BEFORE_HEADER, sizeof header);
  message.erase(message.begin() + BEFORE_HEADER, message.begin() + BEFORE_HEADER + sizeof header);
  return header;
}

/// A publisher, a subscription, or both sides of a client or server.
struct Endpoint {
  dds_entity_t reader = 0, writer = 0;
};

class CycloneDdsPeer : public Peer {
 public:
  CycloneDdsPeer() {
    checked(dds_create_domain(domain(), configuration().c_str()), "the domain");
    dds_qos_t *qos = dds_create_qos();
    const std::string enclave = "enclave=/;";
    dds_qset_userdata(qos, enclave.data(), enclave.size());
    participant_ = checked(dds_create_participant(domain(), qos, nullptr), "the participant");
    dds_delete_qos(qos);
    found_[0] = checked(dds_create_reader(participant_, DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION, nullptr, nullptr), "readers");
    found_[1] = checked(dds_create_reader(participant_, DDS_BUILTIN_TOPIC_DCPSPUBLICATION, nullptr, nullptr), "writers");
    qos = usual_qos();
    dds_qset_durability(qos, DDS_DURABILITY_TRANSIENT_LOCAL);
    dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1);
    announcer_ = checked(dds_create_writer(participant_, topic(DISCOVERY_TOPIC, DISCOVERY_TYPE), qos, nullptr), "announcer");
    dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
    dds_qset_ignorelocal(qos, DDS_IGNORELOCAL_PARTICIPANT);
    announced_ = checked(dds_create_reader(participant_, topic(DISCOVERY_TOPIC, DISCOVERY_TYPE), qos, nullptr), "nodes");
    dds_delete_qos(qos);
    Peer::announce();
  }

  ~CycloneDdsPeer() override { dds_delete(DDS_CYCLONEDDS_HANDLE); }

 private:
  /// Looks for the participants of this host, and listens to no multicast. Cyclone DDS ignores participants without an
  /// address on its interfaces.
  static std::string configuration() {
    const char *named = getenv("HUMBLE_INTERFACES");
    std::istringstream names(named != nullptr ? named : "lo");
    std::string used;
    for (std::string name; names >> name;) used += "<NetworkInterface name=\"" + name + "\"/>";
    return "<General><Interfaces>" + used + "</Interfaces><AllowMulticast>false</AllowMulticast></General>"
           "<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>" +
           std::to_string(PARTICIPANTS - 1) +
           "</MaxAutoParticipantIndex><Peers><Peer address=\"127.0.0.1\"/></Peers></Discovery>";
  }
  static dds_qos_t *usual_qos() {
    dds_qos_t *qos = dds_create_qos();
    dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_INFINITY);
    dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 10);
    dds_qset_writer_data_lifecycle(qos, false);
    return qos;
  }
  dds_entity_t topic(const std::string &name, const std::string &type) const {
    auto *sertype = new ddsi_sertype();
    ddsi_sertype_init_flags(sertype, type.c_str(), sertype_ops(), serdata_ops(), DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY);
    sertype->allowed_data_representation = DDS_DATA_REPRESENTATION_FLAG_XCDR1;
    return checked(dds_create_topic_sertype(participant_, name.c_str(), &sertype, nullptr, nullptr, nullptr), name);
  }

  Gid gid() const override { return gid_of(participant_); }
  void announce(const Bytes &announcement) override { write(announcer_, announcement); }
  void make(Role role, const std::string &reads, const std::string &read_type, const std::string &writes,
            const std::string &written_type, Node &node) override {
    dds_qos_t *qos = usual_qos();
    if (role == Role::SERVER || role == Role::CLIENT) {
      const std::string id = (role == Role::SERVER ? "serviceid=" : "clientid=") + next_pair() + ";";
      dds_qset_userdata(qos, id.data(), id.size());
    }
    Endpoint endpoint;
    if (!reads.empty()) {
      endpoint.reader = checked(dds_create_reader(participant_, topic(reads, read_type), qos, nullptr), reads);
      node.readers.push_back(gid_of(endpoint.reader));
    }
    if (!writes.empty()) {
      endpoint.writer = checked(dds_create_writer(participant_, topic(writes, written_type), qos, nullptr), writes);
      node.writers.push_back(gid_of(endpoint.writer));
    }
    dds_delete_qos(qos);
    endpoints_.push_back(endpoint);
  }
  /// The id of a reader and writer that belong together: 16 bytes in hexadecimal, the first at least two characters wide.
  std::string next_pair() {
    Gid id = gid();
    const uint32_t number = ++pairs_;
    for (size_t byte = 0; byte < 4; ++byte) id[12 + byte] = uint8_t(number >> (24 - 8 * byte));
    std::string text;
    for (size_t at = 0; at < 16; ++at) {
      char part[8];
      snprintf(part, sizeof part, at == 0 ? "%2x" : ".%x", id[at]);
      text += part;
    }
    return text;
  }
  bool is_matched(size_t number, int count) override {
    const Endpoint &endpoint = endpoints_[number];
    return (endpoint.writer == 0 || readers_of(endpoint.writer) == count) &&
           (endpoint.reader == 0 || writers_to(endpoint.reader) == count);
  }
  static int readers_of(dds_entity_t writer) {
    dds_publication_matched_status_t status;
    checked(dds_get_publication_matched_status(writer, &status), "matches");
    return int(status.current_count);
  }
  static int writers_to(dds_entity_t reader) {
    dds_subscription_matched_status_t status;
    checked(dds_get_subscription_matched_status(reader, &status), "matches");
    return int(status.current_count);
  }

  static void write(dds_entity_t writer, const Bytes &message) { checked(dds_write(writer, &message), "a message"); }
  static bool has_next(dds_entity_t reader, Bytes &message) {
    dds_sample_info_t info;
    void *sample = &message;
    return checked(dds_take(reader, &sample, &info, 1, 1), "the reader") == 1 && info.valid_data;
  }
  static Bytes next(dds_entity_t reader) {
    Bytes message;
    wait_for("message", [&] { return has_next(reader, message); });
    return message;
  }
  void publish(size_t number, Bytes message) override { write(endpoints_[number].writer, message); }
  Bytes take(size_t number) override { return next(endpoints_[number].reader); }
  Bytes call(size_t number, Bytes request) override {
    const Endpoint &client = endpoints_[number];
    dds_instance_handle_t own;
    checked(dds_get_instance_handle(client.writer, &own), "the client");
    const Header header{own, ++requests_};
    write(client.writer, with_header(header, std::move(request)));
    for (;;) {
      Bytes response = next(client.reader);
      const Header answered = remove_header(response);
      if (answered.client == header.client && answered.number == header.number) return response;
    }
  }
  Bytes serve(size_t number, Bytes response) override {
    const Endpoint &server = endpoints_[number];
    Bytes request = next(server.reader);
    const Header header = remove_header(request);
    wait_for("reader of replies", [&] { return readers_of(server.writer) > 0; });
    write(server.writer, with_header(header, std::move(response)));
    return request;
  }

  void read_graph() override {
    for (Bytes announcement; has_next(announced_, announcement);) graph_.announced(announcement);
    for (dds_entity_t reader : found_) {
      void *sample = nullptr;
      dds_sample_info_t info;
      while (checked(dds_take(reader, &sample, &info, 1, 1), "discovery") == 1) {
        const auto *endpoint = static_cast<dds_builtintopic_endpoint_t *>(sample);
        if (info.instance_state != DDS_IST_ALIVE) graph_.gone(gid_of(endpoint->key));
        else if (gid_of(endpoint->participant_key) != gid())
          graph_.found(gid_of(endpoint->key), endpoint->topic_name, endpoint->type_name);
        checked(dds_return_loan(reader, &sample, 1), "discovery");
        sample = nullptr;
      }
    }
  }

  dds_entity_t participant_, announcer_, announced_, found_[2];
  std::vector<Endpoint> endpoints_;
  int64_t requests_ = 0;
  uint32_t pairs_ = 0;
};

} // namespace

int main() {
  CycloneDdsPeer peer;
  serve_requests(peer);
}
