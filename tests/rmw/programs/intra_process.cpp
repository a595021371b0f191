// rclcpp's own intra-process communication is on: messages go as pointers within the process, and
// through the rmw to other processes.
#include <vector>

#include "std_msgs/msg/string.hpp"
#include "support.hpp"

namespace
{

using support::Arguments;
using Text = std_msgs::msg::String;

const rclcpp::NodeOptions INTRA = rclcpp::NodeOptions().use_intra_process_comms(true);
const rclcpp::NodeOptions INTER = rclcpp::NodeOptions().use_intra_process_comms(false);

void alone(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("talker", INTRA);
  auto other = std::make_shared<rclcpp::Node>("listener", INTER);
  auto publisher = node->create_publisher<Text>("chatter", 10);
  std::atomic<const void *> given{nullptr};
  std::atomic<int> pointers{0};
  std::atomic<int> copies{0};
  auto within = node->create_subscription<Text>(
    "chatter", 10, [&](std::unique_ptr<Text> text) {
      CHECK_EQUAL(static_cast<const void *>(text.get()), given.load());
      ++pointers;
    });
  // A subscription in the same process without intra-process communication: the rmw delivers each
  // message once.
  auto beside = other->create_subscription<Text>(
    "chatter", 10, [&](const Text & text) {
      CHECK_EQUAL(text.data, std::string("within and beside"));
      ++copies;
    });
  support::Spinning spinning(arguments, node);
  auto others = std::make_unique<support::Spinning>(arguments, other);
  support::eventually("all match", [&] {return publisher->get_subscription_count() == 2;});
  CHECK_EQUAL(publisher->get_intra_process_subscription_count(), 1u);
  for (int sent = 1; sent <= 20; ++sent) {
    // If another process has a subscription too, the subscription within the process still gets the
    // pointer.
    auto text = std::make_unique<Text>();
    text->data = "within and beside";
    given = text.get();
    publisher->publish(std::move(text));
    support::eventually("both have it", [&] {return pointers == sent && copies == sent;});
  }
  // No message comes twice: when the last message has arrived, no earlier message is still on its
  // way. A waiting executor keeps its entities alive.
  others.reset();
  beside.reset();
  support::eventually("one is gone", [&] {return publisher->get_subscription_count() == 1;});
  auto text = std::make_unique<Text>();
  given = text.get();
  publisher->publish(std::move(text));
  support::eventually("the last has come", [&] {return pointers >= 21;});
  CHECK_EQUAL(pointers.load(), 21);
  CHECK_EQUAL(copies.load(), 20);
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"alone", alone}});
}
