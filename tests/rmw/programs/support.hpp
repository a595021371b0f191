// Code that the test programs share: roles, checks that end the program with a message, and waiting
// for conditions. A serving role ends when its standard input ends.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "rclcpp/experimental/executors/events_executor/events_executor.hpp"
#include "rclcpp/rclcpp.hpp"

namespace support
{

using namespace std::chrono_literals;

// The time after which an alarm ends a program that hangs. No program takes this long otherwise.
constexpr unsigned WATCHDOG_SECONDS = 100;

[[noreturn]] inline void fail(const std::string & what, const char * file, int line)
{
  std::cerr << file << ":" << line << ": " << what << std::endl;
  _exit(1);
}

#define CHECK(holds) \
  do {if (!(holds)) {support::fail("does not hold: " #holds, __FILE__, __LINE__);}} while (false)

#define CHECK_EQUAL(left, right) \
  do { \
    const auto left_ = (left); \
    const auto right_ = (right); \
    if (!(left_ == right_)) { \
      std::ostringstream words; \
      words << #left " is " << left_ << ", not " << right_; \
      support::fail(words.str(), __FILE__, __LINE__); \
    } \
  } while (false)

// Waits until `holds` returns true. The watchdog ends a program that would wait forever; `what`
// names the condition in its message.
template<typename Holds>
void eventually(const std::string & what, Holds && holds)
{
  const auto began = std::chrono::steady_clock::now();
  bool said = false;
  while (!holds()) {
    std::this_thread::sleep_for(2ms);
    if (!said && std::chrono::steady_clock::now() - began > 20s) {
      said = true;
      std::cerr << "still waiting until " << what << std::endl;
    }
  }
}

// The arguments of the command line.
struct Arguments
{
  std::string role;
  std::string executor = "single";
  // Whether the other process uses another rmw.
  bool is_mixed = false;

  std::unique_ptr<rclcpp::Executor> make_executor() const
  {
    if (executor == "single") {return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();}
    if (executor == "multi") {
      return std::make_unique<rclcpp::executors::MultiThreadedExecutor>(
        rclcpp::ExecutorOptions(), 3);
    }
    if (executor == "events") {
      return std::make_unique<rclcpp::experimental::executors::EventsExecutor>();
    }
    fail("no executor is called " + executor, __FILE__, __LINE__);
  }
};

// An executor that spins on a separate thread until this value is destroyed.
class Spinning
{
public:
  Spinning(const Arguments & arguments, const rclcpp::Node::SharedPtr & node)
  : Spinning(arguments, node->get_node_base_interface()) {}

  Spinning(
    const Arguments & arguments,
    const rclcpp::node_interfaces::NodeBaseInterface::SharedPtr & node)
  : executor_(arguments.make_executor())
  {
    executor_->add_node(node);
    thread_ = std::thread([this] {executor_->spin();});
    // A cancel before the spin begins would have no effect.
    eventually("the executor spins", [this] {return executor_->is_spinning();});
  }

  ~Spinning()
  {
    executor_->cancel();
    thread_.join();
  }

private:
  std::unique_ptr<rclcpp::Executor> executor_;
  std::thread thread_;
};

// Waits until the standard input ends; the harness closes it to end the program.
inline void until_input_ends()
{
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {}
}

template<typename Future>
auto value_of(Future & future, const std::string & what)
{
  eventually(what, [&future] {return future.wait_for(0s) == std::future_status::ready;});
  return future.get();
}

using Role = std::function<void (const Arguments &)>;

// Runs the role that the first argument names; returns 0 and prints a line on success.
inline int run(int argc, char ** argv, const std::map<std::string, Role> & roles)
{
  Arguments arguments;
  if (argc > 1) {arguments.role = argv[1];}
  if (argc > 2) {arguments.executor = argv[2];}
  arguments.is_mixed = argc > 3 && std::string(argv[3]) == "mixed";
  const auto role = roles.find(arguments.role);
  if (role == roles.end()) {
    std::cerr << "usage: " << argv[0] << " ROLE [single|multi|events] [mixed]; roles:";
    for (const auto & known : roles) {std::cerr << " " << known.first;}
    std::cerr << std::endl;
    return 2;
  }
  alarm(WATCHDOG_SECONDS);
  rclcpp::init(1, argv);
  role->second(arguments);
  rclcpp::shutdown();
  std::cout << "ok " << arguments.role << " " << rmw_get_implementation_identifier() << std::endl;
  return 0;
}

}  // namespace support
