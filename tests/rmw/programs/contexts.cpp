// Contexts that come and go: many contexts one after the other, several at the same time, and nodes
// that outlive their shutdown.
#include <vector>

#include "std_msgs/msg/int32.hpp"
#include "support.hpp"

namespace
{

using support::Arguments;
using Number = std_msgs::msg::Int32;

rclcpp::Context::SharedPtr context()
{
  auto context = std::make_shared<rclcpp::Context>();
  context->init(0, nullptr);
  return context;
}

void alone(const Arguments &)
{
  for (int round = 0; round < 30; ++round) {
    auto own = context();
    auto node = std::make_shared<rclcpp::Node>(
      "short_lived", rclcpp::NodeOptions().context(own));
    auto publisher = node->create_publisher<Number>("numbers", 10);
    auto subscription = node->create_subscription<Number>("numbers", 10, [](const Number &) {});
    // Every second node is destroyed after its context.
    if (round % 2) {
      node.reset();
      publisher.reset();
      subscription.reset();
    }
    own->shutdown("the round is over");
  }
  // Two contexts in one process communicate like two processes.
  auto first = context();
  auto second = context();
  auto talker = std::make_shared<rclcpp::Node>("talker", rclcpp::NodeOptions().context(first));
  auto listener = std::make_shared<rclcpp::Node>("listener", rclcpp::NodeOptions().context(second));
  auto publisher = talker->create_publisher<Number>("numbers", 10);
  std::atomic<int> numbers{0};
  auto subscription = listener->create_subscription<Number>(
    "numbers", 10, [&numbers](const Number &) {++numbers;});
  rclcpp::ExecutorOptions options;
  options.context = second;
  rclcpp::executors::SingleThreadedExecutor executor(options);
  executor.add_node(listener);
  std::thread spinning([&executor] {executor.spin();});
  support::eventually("they match", [&] {return publisher->get_subscription_count() == 1;});
  publisher->publish(Number());
  support::eventually("the number came", [&] {return numbers == 1;});
  // Shutting down a context ends only the spin of that context.
  second->shutdown("the test is over");
  spinning.join();
  publisher->publish(Number());
  CHECK(rclcpp::ok(first));
  first->shutdown("the test is over");
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"alone", alone}});
}
