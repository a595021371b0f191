// A server of /theirs/fib and a client of /ours/fib, with rclcpp_action. Input lines: `send ORDER`
// and `cancel_all` for the client; `succeed`, `canceled` and `abort` end the server's oldest goal.
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

#include "rclcpp/rclcpp.hpp"
#include "rclcpp_action/rclcpp_action.hpp"
#include "test_msgs/action/fibonacci.hpp"

using Fibonacci = test_msgs::action::Fibonacci;
using ServerGoal = rclcpp_action::ServerGoalHandle<Fibonacci>;

std::mutex mutex;
std::deque<std::shared_ptr<ServerGoal>> goals;

void say(const std::string & line)
{
  std::lock_guard<std::mutex> lock(mutex);
  std::cout << line << std::endl;
}

std::shared_ptr<ServerGoal> oldest()
{
  std::lock_guard<std::mutex> lock(mutex);
  auto goal = goals.front();
  goals.pop_front();
  return goal;
}

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  auto node = std::make_shared<rclcpp::Node>("stock_cpp", "/theirs");
  auto server = rclcpp_action::create_server<Fibonacci>(
    node, "/theirs/fib",
    [](const rclcpp_action::GoalUUID &, std::shared_ptr<const Fibonacci::Goal> goal) {
      return goal->order < 0 ? rclcpp_action::GoalResponse::REJECT :
             rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
    },
    [](const std::shared_ptr<ServerGoal> goal) {
      return goal->get_goal()->order == 13 ? rclcpp_action::CancelResponse::REJECT :
             rclcpp_action::CancelResponse::ACCEPT;
    },
    [](const std::shared_ptr<ServerGoal> goal) {
      {
        std::lock_guard<std::mutex> lock(mutex);
        goals.push_back(goal);
      }
      say("goal " + std::to_string(goal->get_goal()->order));
    });
  auto client = rclcpp_action::create_client<Fibonacci>(node, "/ours/fib");
  std::thread spinning([node]() {rclcpp::spin(node);});
  client->wait_for_action_server();
  say("ready");
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "send") {
      Fibonacci::Goal goal;
      words >> goal.order;
      rclcpp_action::Client<Fibonacci>::SendGoalOptions options;
      options.goal_response_callback = [](auto handle) {say(handle ? "accepted" : "rejected");};
      options.feedback_callback = [](auto, const auto feedback) {
          say("feedback " + std::to_string(feedback->sequence.size()));
        };
      options.result_callback = [](const auto & result) {
          say(
            "result " + std::to_string(static_cast<int>(result.code)) + " " +
            std::to_string(result.result->sequence.size()));
        };
      client->async_send_goal(goal, options);
    } else if (word == "cancel_all") {
      client->async_cancel_all_goals([](auto response) {
          say(
            "canceling " + std::to_string(response->goals_canceling.size()) + " " +
            std::to_string(static_cast<int>(response->return_code)));
        });
    } else {
      auto goal = oldest();
      auto result = std::make_shared<Fibonacci::Result>();
      result->sequence.push_back(goal->get_goal()->order);
      if (word == "succeed") {
        auto feedback = std::make_shared<Fibonacci::Feedback>();
        feedback->sequence = result->sequence;
        goal->publish_feedback(feedback);
        goal->succeed(result);
      } else if (word == "canceled") {
        while (!goal->is_canceling()) {
          std::this_thread::yield();
        }
        goal->canceled(result);
      } else {
        goal->abort(result);
      }
    }
  }
  rclcpp::shutdown();
  spinning.join();
}
