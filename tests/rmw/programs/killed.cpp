// A talker and a listener, for a harness that kills some of these processes. The survivors go on
// with new processes.
#include <set>

#include "std_msgs/msg/u_int8_multi_array.hpp"
#include "support.hpp"

namespace
{

using support::Arguments;
using Bytes = std_msgs::msg::UInt8MultiArray;

const rclcpp::QoS QOS = rclcpp::QoS(5).reliable();

// Publishes until its input ends; the process id identifies the talker.
void talk(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("talker");
  auto publisher = node->create_publisher<Bytes>("bytes", QOS);
  auto timer = node->create_wall_timer(
    std::chrono::milliseconds(5), [publisher] {
      auto bytes = std::make_unique<Bytes>();
      bytes->layout.data_offset = static_cast<uint32_t>(getpid());
      bytes->data.resize(100'000, 7);
      publisher->publish(std::move(bytes));
    });
  support::Spinning spinning(arguments, node);
  support::until_input_ends();
}

// Prints a line for each of `talkers` talkers once 20 of its messages have arrived.
void listen_to(const Arguments & arguments, size_t talkers)
{
  auto node = std::make_shared<rclcpp::Node>("listener");
  std::mutex mutex;
  std::map<uint32_t, int> heard;
  size_t said = 0;
  auto subscription = node->create_subscription<Bytes>(
    "bytes", QOS, [&](const Bytes & bytes) {
      CHECK_EQUAL(bytes.data.size(), 100'000u);
      CHECK(bytes.data.front() == 7 && bytes.data.back() == 7);
      std::lock_guard<std::mutex> lock(mutex);
      if (++heard[bytes.layout.data_offset] == 20) {
        ++said;
        std::cout << "heard" << std::endl;
      }
    });
  support::Spinning spinning(arguments, node);
  support::eventually("all talkers were heard", [&] {
      std::lock_guard<std::mutex> lock(mutex);
      return said >= talkers;
    });
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(
    argc, argv, {
    {"talk", talk},
    {"hear", [](const Arguments & arguments) {listen_to(arguments, 1);}},
    {"listen", [](const Arguments & arguments) {listen_to(arguments, 3);}}});
}
