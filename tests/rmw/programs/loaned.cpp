// Loaned messages, both if the rmw lends them and if rclcpp allocates them itself.
#include "support.hpp"
#include "test_msgs/msg/basic_types.hpp"
#include "test_msgs/msg/strings.hpp"

namespace
{

using support::Arguments;
using Plain = test_msgs::msg::BasicTypes;
using Text = test_msgs::msg::Strings;

const rclcpp::QoS QOS = rclcpp::QoS(100).reliable();
constexpr int COUNT = 100;

void serve(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("borrower");
  auto plain = node->create_publisher<Plain>("plain", QOS);
  auto text = node->create_publisher<Text>("text", QOS);
  // A message with a string cannot lie in lent memory.
  CHECK(!text->can_loan_messages());
  support::Spinning spinning(arguments, node);
  support::eventually("both match", [&] {
      return plain->get_subscription_count() == 1 && text->get_subscription_count() == 1;
    });
  for (int number = 0; number < COUNT; ++number) {
    auto loan = plain->borrow_loaned_message();
    loan.get() = Plain();
    loan.get().int32_value = number;
    loan.get().float64_value = 0.5 * number;
    loan.get().bool_value = number % 2 == 1;
    plain->publish(std::move(loan));
    // A loan that is returned unpublished reaches no subscription.
    auto unused = plain->borrow_loaned_message();
    unused.get() = Plain();
    unused.get().int32_value = -1;
  }
  for (int number = 0; number < COUNT; ++number) {
    auto loan = text->borrow_loaned_message();
    loan.get().string_value = "text " + std::to_string(number);
    text->publish(std::move(loan));
  }
  support::until_input_ends();
}

void ask(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("taker");
  std::atomic<int> plains{0};
  std::atomic<int> texts{0};
  auto plain = node->create_subscription<Plain>(
    "plain", QOS, [&plains](const Plain & message) {
      const int number = plains;
      CHECK_EQUAL(message.int32_value, number);
      CHECK_EQUAL(message.float64_value, 0.5 * number);
      CHECK_EQUAL(message.bool_value, number % 2 == 1);
      ++plains;
    });
  auto text = node->create_subscription<Text>(
    "text", QOS, [&texts](const Text & message) {
      CHECK_EQUAL(message.string_value, "text " + std::to_string(texts));
      ++texts;
    });
  support::Spinning spinning(arguments, node);
  support::eventually("all came", [&] {return plains == COUNT && texts == COUNT;});
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"serve", serve}, {"ask", ask}});
}
