// The guarantees of executors, in one process: timers, callback groups, messages, services, guard
// conditions, and entities that come and go while the executor spins.
#include <vector>

#include "std_msgs/msg/int32.hpp"
#include "support.hpp"
#include "test_msgs/srv/empty.hpp"

namespace
{

using support::Arguments;
using Number = std_msgs::msg::Int32;
using Empty = test_msgs::srv::Empty;

void everything_in_one_node(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> numbers{0};
  std::atomic<int> ticks{0};
  std::atomic<int> calls{0};
  auto publisher = node->create_publisher<Number>("numbers", 10);
  auto subscription = node->create_subscription<Number>(
    "numbers", 10, [&](const Number &) {++numbers;});
  auto service = node->create_service<Empty>(
    "service", [&](Empty::Request::SharedPtr, Empty::Response::SharedPtr) {++calls;});
  auto client = node->create_client<Empty>("service");
  auto timer = node->create_wall_timer(
    std::chrono::milliseconds(5), [&] {
      ++ticks;
      publisher->publish(Number());
    });
  support::Spinning spinning(arguments, node);
  support::eventually("numbers and ticks come", [&] {return numbers > 20 && ticks > 20;});
  CHECK(client->wait_for_service(std::chrono::seconds(60)));
  for (int call = 1; call <= 5; ++call) {
    auto future = client->async_send_request(std::make_shared<Empty::Request>());
    support::value_of(future, "the service answers");
    CHECK_EQUAL(calls.load(), call);
  }
  // Entities that are made while the executor sleeps are served, even after others have been
  // dropped.
  timer->cancel();
  for (int round = 0; round < 30; ++round) {
    std::atomic<int> late{0};
    const auto topic = "late_" + std::to_string(round);
    auto other = node->create_publisher<Number>(topic, 10);
    auto made_late = node->create_subscription<Number>(
      topic, 10, [&late](const Number &) {++late;});
    support::eventually("the late ones match", [&] {return other->get_subscription_count() == 1;});
    other->publish(Number());
    // On stock implementations too, the events executor may miss a message that comes before it has
    // taken over the subscription.
    const bool may_miss = arguments.executor == "events";
    support::eventually("the late one hears", [&] {
        if (may_miss) {other->publish(Number());}
        return may_miss ? late > 0 : late == 1;
      });
  }
}

// In a reentrant group, two callbacks run at the same time: each waits for the other.
void two_callbacks_at_once()
{
  auto node = std::make_shared<rclcpp::Node>("reentrant");
  auto group = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  rclcpp::SubscriptionOptions options;
  options.callback_group = group;
  const auto meet = [&](const Number &) {
      ++inside;
      support::eventually("the other callback runs too", [&] {return inside >= 2 || met;});
      met = true;
      --inside;
    };
  auto first = node->create_subscription<Number>("meet", 10, meet, options);
  auto second = node->create_subscription<Number>("meet", 10, meet, options);
  auto publisher = node->create_publisher<Number>("meet", 10);
  Arguments multi;
  multi.executor = "multi";
  support::Spinning spinning(multi, node);
  support::eventually("both match", [&] {return publisher->get_subscription_count() == 2;});
  publisher->publish(Number());
  support::eventually("they met", [&] {return met.load();});
  support::eventually("both have ended", [&] {return inside == 0;});
}

// In a mutually exclusive group, no two callbacks run at the same time.
void one_callback_at_a_time()
{
  auto node = std::make_shared<rclcpp::Node>("exclusive");
  std::atomic<int> inside{0};
  std::atomic<int> done{0};
  const auto alone = [&](const Number &) {
      CHECK_EQUAL(++inside, 1);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      --inside;
      ++done;
    };
  auto first = node->create_subscription<Number>("alone", 100, alone);
  auto second = node->create_subscription<Number>("alone", 100, alone);
  auto publisher = node->create_publisher<Number>("alone", 100);
  Arguments multi;
  multi.executor = "multi";
  support::Spinning spinning(multi, node);
  support::eventually("both match", [&] {return publisher->get_subscription_count() == 2;});
  for (int sent = 0; sent < 100; ++sent) {publisher->publish(Number());}
  support::eventually("all came", [&] {return done == 200;});
}

void alone(const Arguments & arguments)
{
  everything_in_one_node(arguments);
  if (arguments.executor == "multi") {
    two_callbacks_at_once();
    one_callback_at_a_time();
  }
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"alone", alone}});
}
