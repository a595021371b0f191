// A managed node and its manager: services, events, and a publisher that sends nothing while it is
// inactive.
#include <vector>

#include "lifecycle_msgs/msg/transition_event.hpp"
#include "lifecycle_msgs/srv/change_state.hpp"
#include "lifecycle_msgs/srv/get_available_transitions.hpp"
#include "lifecycle_msgs/srv/get_state.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "std_msgs/msg/string.hpp"
#include "support.hpp"

namespace
{

using support::Arguments;
using Transition = lifecycle_msgs::msg::Transition;
using State = lifecycle_msgs::msg::State;

class Managed : public rclcpp_lifecycle::LifecycleNode
{
public:
  Managed()
  : LifecycleNode("managed") {}

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override
  {
    publisher_ = create_publisher<std_msgs::msg::String>("chatter", 10);
    timer_ = create_wall_timer(
      std::chrono::milliseconds(10), [this] {
        if (publisher_->is_activated()) {
          std_msgs::msg::String text;
          text.data = "active";
          publisher_->publish(text);
        }
      });
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_cleanup(const rclcpp_lifecycle::State &) override
  {
    timer_.reset();
    publisher_.reset();
    return CallbackReturn::SUCCESS;
  }

private:
  rclcpp_lifecycle::LifecyclePublisher<std_msgs::msg::String>::SharedPtr publisher_;
  rclcpp::TimerBase::SharedPtr timer_;
};

void serve(const Arguments & arguments)
{
  auto node = std::make_shared<Managed>();
  support::Spinning spinning(arguments, node->get_node_base_interface());
  support::until_input_ends();
}

void ask(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("manager");
  auto change = node->create_client<lifecycle_msgs::srv::ChangeState>("managed/change_state");
  auto get = node->create_client<lifecycle_msgs::srv::GetState>("managed/get_state");
  auto available = node->create_client<lifecycle_msgs::srv::GetAvailableTransitions>(
    "managed/get_available_transitions");
  std::mutex mutex;
  std::vector<std::string> events;
  std::atomic<int> texts{0};
  auto event_subscription = node->create_subscription<lifecycle_msgs::msg::TransitionEvent>(
    "managed/transition_event", 10, [&](const lifecycle_msgs::msg::TransitionEvent & event) {
      std::lock_guard<std::mutex> lock(mutex);
      events.push_back(event.goal_state.label);
    });
  auto text_subscription = node->create_subscription<std_msgs::msg::String>(
    "chatter", 10, [&texts](const std_msgs::msg::String &) {++texts;});
  support::Spinning spinning(arguments, node);
  for (auto & client : std::vector<rclcpp::ClientBase::SharedPtr> {change, get, available}) {
    CHECK(client->wait_for_service(std::chrono::seconds(60)));
  }
  support::eventually("its events are heard", [&] {
      return event_subscription->get_publisher_count() == 1;
    });
  const auto state = [&] {
      auto future = get->async_send_request(
        std::make_shared<lifecycle_msgs::srv::GetState::Request>());
      return support::value_of(future, "the state is told")->current_state.id;
    };
  const auto transition = [&](uint8_t id) {
      auto request = std::make_shared<lifecycle_msgs::srv::ChangeState::Request>();
      request->transition.id = id;
      auto future = change->async_send_request(request);
      return support::value_of(future, "the state is changed")->success;
    };
  CHECK_EQUAL(+state(), +State::PRIMARY_STATE_UNCONFIGURED);
  auto asked = available->async_send_request(
    std::make_shared<lifecycle_msgs::srv::GetAvailableTransitions::Request>());
  CHECK_EQUAL(
    support::value_of(asked, "transitions are told")->available_transitions.size(), 2u);
  CHECK(!transition(Transition::TRANSITION_ACTIVATE));
  CHECK(transition(Transition::TRANSITION_CONFIGURE));
  CHECK_EQUAL(+state(), +State::PRIMARY_STATE_INACTIVE);
  CHECK_EQUAL(texts.load(), 0);
  CHECK(transition(Transition::TRANSITION_ACTIVATE));
  CHECK_EQUAL(+state(), +State::PRIMARY_STATE_ACTIVE);
  support::eventually("it publishes", [&] {return texts > 0;});
  CHECK(transition(Transition::TRANSITION_DEACTIVATE));
  CHECK(transition(Transition::TRANSITION_CLEANUP));
  CHECK(transition(Transition::TRANSITION_UNCONFIGURED_SHUTDOWN));
  CHECK_EQUAL(+state(), +State::PRIMARY_STATE_FINALIZED);
  support::eventually("the last event came", [&] {
      std::lock_guard<std::mutex> lock(mutex);
      return !events.empty() && events.back() == "finalized";
    });
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"serve", serve}, {"ask", ask}});
}
