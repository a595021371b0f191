// A talker sends every message of test_msgs, a large message and serialized messages to a listener,
// which sends each message back on another topic.
#include <vector>

#include "std_msgs/msg/u_int8_multi_array.hpp"
#include "support.hpp"
#include "test_msgs/message_fixtures.hpp"

namespace
{

using support::Arguments;
using Large = std_msgs::msg::UInt8MultiArray;

const rclcpp::QoS QOS = rclcpp::QoS(100).reliable();

// Calls `visit` for each type, with a name for its topics and the messages to send.
template<typename Visit>
void for_each_type(const Arguments & arguments, Visit && visit)
{
  visit("empty", get_messages_empty());
  visit("basic_types", get_messages_basic_types());
  visit("constants", get_messages_constants());
  visit("defaults", get_messages_defaults());
  visit("strings", get_messages_strings());
  visit("arrays", get_messages_arrays());
  visit("unbounded_sequences", get_messages_unbounded_sequences());
  visit("bounded_plain_sequences", get_messages_bounded_plain_sequences());
  visit("bounded_sequences", get_messages_bounded_sequences());
  visit("multi_nested", get_messages_multi_nested());
  visit("nested", get_messages_nested());
  visit("builtins", get_messages_builtins());
  visit("wstrings", get_messages_wstrings());
  // Fast DDS announces keys. Topics with keys do not match topics without keys, and rmw_feros has
  // no keys. The test messages of Jazzy have no keys either.
#if __has_include("test_msgs/msg/keyed_string.hpp")
  if (!arguments.is_mixed) {
    visit("keyed_string", get_messages_keyed_string());
    visit("complex_nested_key", get_messages_complex_nested_key());
  }
#endif
  auto large = std::make_shared<Large>();
  large->data.resize(3'000'000);
  for (size_t index = 0; index < large->data.size(); ++index) {
    large->data[index] = static_cast<uint8_t>(index * 31 >> 3);
  }
  visit("large", std::vector<Large::SharedPtr> {large, large});
}

// The publisher may match the talker's subscription later than that subscription matches it, and a
// message in between would be lost.
void until_heard(const rclcpp::PublisherBase & publisher)
{
  support::eventually("the talker is matched", [&] {
      return publisher.get_subscription_count() > 0;
    });
}

void echo(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("echo");
  std::vector<std::shared_ptr<void>> kept;
  for_each_type(arguments, [&](const std::string & name, const auto & messages) {
      using Message = std::decay_t<decltype(*messages.front())>;
      auto publisher = node->create_publisher<Message>("back/" + name, QOS);
      kept.push_back(publisher);
      kept.push_back(node->create_subscription<Message>(
          "there/" + name, QOS,
          [publisher](std::unique_ptr<Message> message) {
            until_heard(*publisher);
            publisher->publish(std::move(message));
          }));
    });
  // One message is published and received as bytes.
  auto publisher = node->create_generic_publisher(
    "back/serialized", "test_msgs/msg/UnboundedSequences", QOS);
  kept.push_back(node->create_generic_subscription(
      "there/serialized", "test_msgs/msg/UnboundedSequences", QOS,
      [publisher](std::shared_ptr<rclcpp::SerializedMessage> message) {
        until_heard(*publisher);
        publisher->publish(*message);
      }));
  support::Spinning spinning(arguments, node);
  support::until_input_ends();
}

template<typename Message>
void exchange(
  const Arguments & arguments, const std::string & name,
  const std::vector<std::shared_ptr<Message>> & messages)
{
  auto node = std::make_shared<rclcpp::Node>("talker");
  auto publisher = node->create_publisher<Message>("there/" + name, QOS);
  std::mutex mutex;
  std::vector<Message> back;
  auto subscription = node->create_subscription<Message>(
    "back/" + name, QOS, [&](const Message & message, const rclcpp::MessageInfo & info) {
      std::lock_guard<std::mutex> lock(mutex);
      CHECK(info.get_rmw_message_info().source_timestamp > 0);
      back.push_back(message);
    });
  support::Spinning spinning(arguments, node);
  support::eventually("both topics of " + name + " match", [&] {
      return publisher->get_subscription_count() == 1 && subscription->get_publisher_count() == 1;
    });
  const auto count = [&] {std::lock_guard<std::mutex> lock(mutex); return back.size();};
  for (size_t sent = 0; sent < messages.size(); ++sent) {
    publisher->publish(*messages[sent]);
    support::eventually("message of " + name + " is back", [&] {return count() > sent;});
    std::lock_guard<std::mutex> lock(mutex);
    CHECK(back[sent] == *messages[sent]);
  }
}

void talk(const Arguments & arguments)
{
  for_each_type(arguments, [&](const std::string & name, const auto & messages) {
      exchange(arguments, name, messages);
    });
  exchange(arguments, "serialized", get_messages_unbounded_sequences());
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"serve", echo}, {"ask", talk}});
}
