// QoS events between two processes: matches, incompatible policies, deadlines, liveliness.
#include "std_msgs/msg/int32.hpp"
#include "support.hpp"

namespace
{

using support::Arguments;
using namespace std::chrono_literals;
using Number = std_msgs::msg::Int32;

const rclcpp::QoS BASE = rclcpp::QoS(10).reliable();
const auto DEADLINE = 100ms;
const auto LEASE = 500ms;

void serve(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("offering");
  std::atomic<int> incompatible{0};
  std::atomic<int> missed{0};
  std::atomic<int> lost{0};
  std::atomic<int> matched{0};
  rclcpp::PublisherOptions options;
  options.event_callbacks.incompatible_qos_callback =
    [&](rclcpp::QOSOfferedIncompatibleQoSInfo & info) {
      CHECK(info.last_policy_kind == RMW_QOS_POLICY_RELIABILITY);
      incompatible = info.total_count;
    };
  auto best_effort = node->create_publisher<Number>(
    "incompatible", rclcpp::QoS(10).best_effort(), options);

  rclcpp::PublisherOptions deadline;
  deadline.event_callbacks.deadline_callback = [&](rclcpp::QOSDeadlineOfferedInfo & info) {
      missed = info.total_count;
    };
  auto late = node->create_publisher<Number>(
    "deadline", rclcpp::QoS(BASE).deadline(DEADLINE), deadline);

  rclcpp::PublisherOptions liveliness;
  liveliness.event_callbacks.liveliness_callback = [&](rclcpp::QOSLivelinessLostInfo & info) {
      lost = info.total_count;
    };
  auto alive = node->create_publisher<Number>(
    "liveliness", rclcpp::QoS(BASE).liveliness(rclcpp::LivelinessPolicy::ManualByTopic)
    .liveliness_lease_duration(LEASE), liveliness);

  rclcpp::PublisherOptions match;
  match.event_callbacks.matched_callback = [&](rclcpp::MatchedInfo & info) {
      if (info.current_count_change > 0) {matched += info.current_count_change;}
    };
  auto joined = node->create_publisher<Number>("matched", BASE, match);

  support::Spinning spinning(arguments, node);
  support::eventually("a subscription does not fit", [&] {return incompatible > 0;});
  support::eventually("somebody wants numbers in time", [&] {
      return late->get_subscription_count() == 1;
    });
  late->publish(Number());
  support::eventually("a deadline was missed", [&] {return missed > 0;});
  support::eventually("somebody watches", [&] {return alive->get_subscription_count() == 1;});
  // The publisher asserts its liveliness once, and is then silent for longer than the lease.
  CHECK(alive->assert_liveliness());
  support::eventually("liveliness was lost", [&] {return lost > 0;});
  support::eventually("a subscription matched", [&] {return matched == 1;});
  support::until_input_ends();
}

void ask(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("requesting");
  std::atomic<int> incompatible{0};
  std::atomic<int> missed{0};
  std::atomic<int> came_alive{0};
  std::atomic<int> went{0};
  std::atomic<int> matched{0};
  const auto ignore = [](const Number &) {};
  rclcpp::SubscriptionOptions options;
  options.event_callbacks.incompatible_qos_callback =
    [&](rclcpp::QOSRequestedIncompatibleQoSInfo & info) {
      CHECK(info.last_policy_kind == RMW_QOS_POLICY_RELIABILITY);
      incompatible = info.total_count;
    };
  auto reliable = node->create_subscription<Number>("incompatible", BASE, ignore, options);

  rclcpp::SubscriptionOptions deadline;
  deadline.event_callbacks.deadline_callback = [&](rclcpp::QOSDeadlineRequestedInfo & info) {
      missed = info.total_count;
    };
  auto late = node->create_subscription<Number>(
    "deadline", rclcpp::QoS(BASE).deadline(DEADLINE), ignore, deadline);

  rclcpp::SubscriptionOptions liveliness;
  liveliness.event_callbacks.liveliness_callback = [&](rclcpp::QOSLivelinessChangedInfo & info) {
      if (info.alive_count_change > 0) {++came_alive;}
      if (info.not_alive_count_change > 0) {++went;}
    };
  auto watching = node->create_subscription<Number>(
    "liveliness", rclcpp::QoS(BASE).liveliness(rclcpp::LivelinessPolicy::ManualByTopic)
    .liveliness_lease_duration(LEASE), ignore, liveliness);

  rclcpp::SubscriptionOptions match;
  match.event_callbacks.matched_callback = [&](rclcpp::MatchedInfo & info) {
      if (info.current_count_change > 0) {matched += info.current_count_change;}
    };
  auto joined = node->create_subscription<Number>("matched", BASE, ignore, match);

  support::Spinning spinning(arguments, node);
  support::eventually("a publisher does not fit", [&] {return incompatible > 0;});
  CHECK_EQUAL(reliable->get_publisher_count(), 0u);
  support::eventually("a deadline was missed", [&] {return missed > 0;});
  support::eventually("a publisher was alive", [&] {return came_alive > 0;});
  support::eventually("and is no more", [&] {return went > 0;});
  support::eventually("a publisher matched", [&] {return matched == 1;});
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"serve", serve}, {"ask", ask}});
}
