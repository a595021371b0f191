// Publishers and subscriptions of stock ROS 2 in C++, which the programs of the peer rclcpp and the components of the peer
// rclcpp_containers share. The contract is in ../README.md.
#ifndef FEROS_LAB_RCLCPP_ENDPOINTS_HPP
#define FEROS_LAB_RCLCPP_ENDPOINTS_HPP

#include <rmw/rmw.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <rclcpp/rclcpp.hpp>

#include "../contract.h"

namespace feros_lab {

constexpr std::chrono::milliseconds ACKNOWLEDGED_WITHIN{2000};

/// Says hello with the name of the loaded rmw, and ends the program if the environment names another rmw.
inline void say_hello(const contract &c, const char *system) {
  const std::string rmw = rmw_get_implementation_identifier();
  contract_hello(&c, system, (std::string("rclcpp " RCLCPP_VERSION_TEXT ", ") + rmw).c_str());
  const char *wanted = std::getenv("RMW_IMPLEMENTATION");
  if (wanted != nullptr && rmw != wanted)
    contract_error("failed", "RMW_IMPLEMENTATION names another rmw than the loaded rmw", rmw.c_str());
}

/// Selects the mode of publishing; it must come before the first publisher.
inline void set_publish(const contract &c) {
  if (c.publish != CONTRACT_PUBLISH_DEFAULT)
    setenv("RMW_FASTRTPS_PUBLICATION_MODE", c.publish == CONTRACT_PUBLISH_SYNC ? "SYNCHRONOUS" : "ASYNCHRONOUS", 1);
}

/// Creates a node without /rosout, parameter services and /parameter_events, so that only the measured topics have endpoints
/// that carry messages.
inline rclcpp::Node::SharedPtr make_node(const std::string &name, rclcpp::NodeOptions options) {
  options.enable_rosout(false).start_parameter_services(false).start_parameter_event_publisher(false);
  return std::make_shared<rclcpp::Node>(name, options);
}

/// The settings of the contract and of the variant.
struct Settings {
  const contract *c;
  bool events;

  rclcpp::QoS qos() const {
    rclcpp::QoS qos = c->is_keep_all ? rclcpp::QoS(rclcpp::KeepAll()) : rclcpp::QoS(c->depth);
    if (c->is_reliable) qos.reliable();
    else qos.best_effort();
    if (c->is_transient_local) qos.transient_local();
    if (c->deadline_ms > 0) qos.deadline(std::chrono::nanoseconds(static_cast<int64_t>(c->deadline_ms * 1e6)));
    return qos;
  }

  rclcpp::Node::SharedPtr node(const std::string &name) const {
    return make_node(name, rclcpp::NodeOptions().use_intra_process_comms(c->placement == CONTRACT_INTRA));
  }
};

template <class Message>
class Writer {
 public:
  Writer(const Settings &settings, const rclcpp::Node::SharedPtr &node, const std::string &topic)
      : c_(*settings.c), publisher_(node->create_publisher<Message>(topic, settings.qos())) {}

  size_t matches() const { return publisher_->get_subscription_count(); }

  void wait_for(uint64_t wanted) {
    while (matches() < wanted)
      if (contract_wait_stopped(&c_, 2)) contract_error("not-matched", "the subscriptions were not found in time", nullptr);
  }

  void publish(const Message &message) { publisher_->publish(message); }
  void publish(std::unique_ptr<Message> message) { publisher_->publish(std::move(message)); }

  void publish_all(contract_published &sent) {
    auto message = fresh();
    contract_pace pace;
    uint64_t number;
    contract_published_init(&sent, &c_);
    contract_ready();
    contract_pace_begin(&pace, &c_);
    while (contract_pace_next(&pace, &number)) {
      if (message == nullptr) message = fresh();
      const uint64_t at = contract_stamp(&c_, &message->data[0], number);
      if (c_.placement == CONTRACT_INTRA) publisher_->publish(std::move(message));
      else publisher_->publish(*message);
      contract_note_published(&sent, number, at, contract_now());
    }
  }

  void wait_for_acknowledgements() {
    if (c_.is_reliable && c_.placement != CONTRACT_INTRA) publisher_->wait_for_all_acked(ACKNOWLEDGED_WITHIN);
  }

 private:
  std::unique_ptr<Message> fresh() const {
    auto message = std::make_unique<Message>();
    message->data.resize(c_.size_bytes);
    contract_fill(&c_, &message->data[0]);
    return message;
  }

  const contract &c_;
  typename rclcpp::Publisher<Message>::SharedPtr publisher_;
};

/// A subscription and its callback. With a publisher that passes messages on, it is a relay, which reports only counts.
template <class Message>
class Reader {
 public:
  Reader(const Settings &settings, const rclcpp::Node::SharedPtr &node, const std::string &topic, uint64_t index,
         Writer<Message> *onward)
      : c_(*settings.c), onward_(onward) {
    c_.keeps_samples = c_.keeps_samples && onward == nullptr;
    contract_samples_init(&samples, &c_, index);
    contract_published_init(&passed_on, &c_);
    // A relay within a process takes ownership, so that it passes on a pointer.
    if (onward != nullptr && c_.placement == CONTRACT_INTRA)
      subscription_ = node->create_subscription<Message>(
          topic, settings.qos(), [this](std::unique_ptr<Message> message) { relay(std::move(message)); });
    else
      subscription_ = node->create_subscription<Message>(
          topic, settings.qos(), [this](typename Message::ConstSharedPtr message) { received(*message); });
  }

  contract_samples samples;
  contract_published passed_on;

 private:
  void received(const Message &message) {
    const uint64_t now = contract_now();
    const contract_seen seen = see(message);
    if (onward_ != nullptr) {
      onward_->publish(message);
      contract_note_published(&passed_on, seen.number, now, contract_now());
    }
    contract_note_seen(&samples, seen, now);
  }

  void relay(std::unique_ptr<Message> message) {
    const uint64_t now = contract_now();
    const contract_seen seen = see(*message);
    onward_->publish(std::move(message));
    contract_note_published(&passed_on, seen.number, now, contract_now());
    contract_note_seen(&samples, seen, now);
  }

  contract_seen see(const Message &message) const { return contract_see(&c_, message.data.data(), message.data.size()); }

  contract c_;
  Writer<Message> *onward_;
  typename rclcpp::Subscription<Message>::SharedPtr subscription_;
};

} // namespace feros_lab

#endif
