// Wait sets without an executor: the entities that are ready, timeouts, many wait sets with the
// same entities, and a wait that another thread ends.
#include <vector>

#include "rclcpp/wait_set.hpp"
#include "std_msgs/msg/int32.hpp"
#include "support.hpp"
#include "test_msgs/srv/empty.hpp"

namespace
{

using support::Arguments;
using namespace std::chrono_literals;
using Number = std_msgs::msg::Int32;
using Empty = test_msgs::srv::Empty;

void alone(const Arguments &)
{
  auto node = std::make_shared<rclcpp::Node>("waiting");
  auto publisher = node->create_publisher<Number>("numbers", 10);
  const auto ignore = [](const Number &) {};
  auto first = node->create_subscription<Number>("numbers", 10, ignore);
  auto silent = node->create_subscription<Number>("silence", 10, ignore);
  auto service = node->create_service<Empty>(
    "service", [](Empty::Request::SharedPtr, Empty::Response::SharedPtr) {});
  auto client = node->create_client<Empty>("service");
  auto guard = std::make_shared<rclcpp::GuardCondition>();
  auto timer = node->create_wall_timer(20ms, [] {});

  rclcpp::WaitSet empty;
  CHECK(empty.wait(1ms).kind() != rclcpp::WaitResultKind::Ready);

  rclcpp::WaitSet wait_set;
  wait_set.add_subscription(first);
  wait_set.add_subscription(silent);
  wait_set.add_guard_condition(guard);
  wait_set.add_service(service);
  wait_set.add_client(client);
  // No entity is ready, so the wait takes at least the given time.
  const auto began = std::chrono::steady_clock::now();
  CHECK(wait_set.wait(30ms).kind() == rclcpp::WaitResultKind::Timeout);
  CHECK(std::chrono::steady_clock::now() - began >= 30ms);
  CHECK(wait_set.wait(0ms).kind() == rclcpp::WaitResultKind::Timeout);

  // A guard condition is triggered before the wait, and then during the wait.
  guard->trigger();
  {
    auto result = wait_set.wait(60s);
    CHECK(result.kind() == rclcpp::WaitResultKind::Ready);
    CHECK(result.get_wait_set().get_rcl_wait_set().guard_conditions[0] != nullptr);
    CHECK(result.get_wait_set().get_rcl_wait_set().subscriptions[0] == nullptr);
  }
  CHECK(wait_set.wait(0ms).kind() == rclcpp::WaitResultKind::Timeout);
  std::thread trigger([&] {std::this_thread::sleep_for(20ms); guard->trigger();});
  CHECK(wait_set.wait(60s).kind() == rclcpp::WaitResultKind::Ready);
  trigger.join();

  // A message makes only its own subscription ready, until the message is taken.
  support::eventually("they match", [&] {return publisher->get_subscription_count() == 1;});
  Number number;
  number.data = 7;
  publisher->publish(number);
  for (int time = 0; time < 2; ++time) {
    auto result = wait_set.wait(60s);
    CHECK(result.kind() == rclcpp::WaitResultKind::Ready);
    CHECK(result.get_wait_set().get_rcl_wait_set().subscriptions[0] != nullptr);
    CHECK(result.get_wait_set().get_rcl_wait_set().subscriptions[1] == nullptr);
  }
  Number taken;
  rclcpp::MessageInfo info;
  CHECK(first->take(taken, info));
  CHECK_EQUAL(taken.data, 7);
  CHECK(!first->take(taken, info));
  CHECK(wait_set.wait(0ms).kind() == rclcpp::WaitResultKind::Timeout);

  // A request makes the service ready, and the response makes the client ready.
  CHECK(client->wait_for_service(60s));
  auto future = client->async_send_request(std::make_shared<Empty::Request>());
  {
    auto result = wait_set.wait(60s);
    CHECK(result.kind() == rclcpp::WaitResultKind::Ready);
    CHECK(result.get_wait_set().get_rcl_wait_set().services[0] != nullptr);
  }
  auto header = service->create_request_header();
  auto request = service->create_request();
  CHECK(service->take_type_erased_request(request.get(), *header));
  Empty::Response response;
  service->send_response(*header, response);
  {
    auto result = wait_set.wait(60s);
    CHECK(result.kind() == rclcpp::WaitResultKind::Ready);
    CHECK(result.get_wait_set().get_rcl_wait_set().clients[0] != nullptr);
  }

  // A timer ends the wait when the timer is due.
  wait_set.add_timer(timer);
  wait_set.remove_client(client);
  CHECK(wait_set.wait(60s).kind() == rclcpp::WaitResultKind::Ready);
  wait_set.remove_timer(timer);

  // A thousand wait sets, one after the other, with the same entities.
  for (int count = 0; count < 1000; ++count) {
    rclcpp::WaitSet once({{{first}}, {{silent}}}, {guard});
    if (count % 100 == 0) {
      publisher->publish(number);
      CHECK(once.wait(60s).kind() == rclcpp::WaitResultKind::Ready);
      CHECK(first->take(taken, info));
    }
    CHECK(once.wait(0ms).kind() == rclcpp::WaitResultKind::Timeout);
  }

  // The wait ignores an entity that is destroyed while it is in a wait set.
  silent.reset();
  publisher->publish(number);
  CHECK(wait_set.wait(60s).kind() == rclcpp::WaitResultKind::Ready);
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"alone", alone}});
}
