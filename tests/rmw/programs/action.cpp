// An action: goals that succeed with feedback, are rejected, and are cancelled.
#include <vector>

#include "rclcpp_action/rclcpp_action.hpp"
#include "support.hpp"
#include "test_msgs/action/fibonacci.hpp"

namespace
{

using support::Arguments;
using Fibonacci = test_msgs::action::Fibonacci;
using Goal = rclcpp_action::ServerGoalHandle<Fibonacci>;

// A goal of this order runs until it is cancelled.
constexpr int32_t ENDLESS = 1000;

void work(const std::shared_ptr<Goal> & goal)
{
  auto feedback = std::make_shared<Fibonacci::Feedback>();
  auto result = std::make_shared<Fibonacci::Result>();
  auto & sequence = feedback->sequence;
  sequence = {0, 1};
  const auto order = goal->get_goal()->order;
  for (int32_t step = 1; order == ENDLESS || step < order; ++step) {
    if (goal->is_canceling()) {
      goal->canceled(result);
      return;
    }
    if (sequence.size() < 20) {
      sequence.push_back(sequence[sequence.size() - 1] + sequence[sequence.size() - 2]);
    }
    goal->publish_feedback(feedback);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  result->sequence = sequence;
  goal->succeed(result);
}

void serve(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("action_server");
  std::vector<std::thread> workers;
  auto server = rclcpp_action::create_server<Fibonacci>(
    node, "fibonacci",
    [](const rclcpp_action::GoalUUID &, std::shared_ptr<const Fibonacci::Goal> goal) {
      return goal->order < 0 ? rclcpp_action::GoalResponse::REJECT :
             rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
    },
    [](const std::shared_ptr<Goal>) {return rclcpp_action::CancelResponse::ACCEPT;},
    [&workers](const std::shared_ptr<Goal> goal) {workers.emplace_back(work, goal);});
  {
    support::Spinning spinning(arguments, node);
    support::until_input_ends();
  }
  for (auto & worker : workers) {worker.join();}
}

void ask(const Arguments & arguments)
{
  using Client = rclcpp_action::Client<Fibonacci>;
  auto node = std::make_shared<rclcpp::Node>("action_client");
  auto client = rclcpp_action::create_client<Fibonacci>(node, "fibonacci");
  support::Spinning spinning(arguments, node);
  CHECK(client->wait_for_action_server(std::chrono::seconds(60)));
  Fibonacci::Goal order;
  order.order = -1;
  auto rejected = client->async_send_goal(order);
  CHECK(support::value_of(rejected, "the goal is rejected") == nullptr);

  std::atomic<int> feedbacks{0};
  Client::SendGoalOptions options;
  options.feedback_callback = [&feedbacks](auto, const auto & feedback) {
      CHECK(feedback->sequence.size() >= 3);
      ++feedbacks;
    };
  order.order = 8;
  auto sent = client->async_send_goal(order, options);
  auto goal = support::value_of(sent, "the goal is accepted");
  CHECK(goal != nullptr);
  auto asked = client->async_get_result(goal);
  auto result = support::value_of(asked, "the goal succeeds");
  CHECK(result.code == rclcpp_action::ResultCode::SUCCEEDED);
  CHECK((result.result->sequence == std::vector<int32_t> {0, 1, 1, 2, 3, 5, 8, 13, 21}));
  support::eventually("feedback came", [&] {return feedbacks > 0;});

  order.order = ENDLESS;
  const int before = feedbacks;
  auto endless = client->async_send_goal(order, options);
  goal = support::value_of(endless, "the endless goal is accepted");
  support::eventually("the endless goal works", [&] {return feedbacks > before;});
  auto canceled = client->async_cancel_goal(goal);
  CHECK_EQUAL(support::value_of(canceled, "it is cancelled")->goals_canceling.size(), 1u);
  asked = client->async_get_result(goal);
  CHECK(
    support::value_of(asked, "the result says so").code == rclcpp_action::ResultCode::CANCELED);
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"serve", serve}, {"ask", ask}});
}
