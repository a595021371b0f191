// Loads component.cpp into a running container, talks to it, and unloads it.
#include "composition_interfaces/srv/list_nodes.hpp"
#include "composition_interfaces/srv/load_node.hpp"
#include "composition_interfaces/srv/unload_node.hpp"
#include "std_msgs/msg/int32.hpp"
#include "support.hpp"

namespace
{

using support::Arguments;
using List = composition_interfaces::srv::ListNodes;
using Load = composition_interfaces::srv::LoadNode;
using Unload = composition_interfaces::srv::UnloadNode;
using Number = std_msgs::msg::Int32;

void ask(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("composer");
  auto load = node->create_client<Load>("/ComponentManager/_container/load_node");
  auto list = node->create_client<List>("/ComponentManager/_container/list_nodes");
  auto unload = node->create_client<Unload>("/ComponentManager/_container/unload_node");
  auto publisher = node->create_publisher<Number>("/inside/there", 10);
  std::atomic<int> back{0};
  auto subscription = node->create_subscription<Number>(
    "/inside/back", 10, [&back](const Number & number) {back = number.data;});
  support::Spinning spinning(arguments, node);
  CHECK(load->wait_for_service(std::chrono::seconds(60)));
  CHECK(list->wait_for_service(std::chrono::seconds(60)));
  CHECK(unload->wait_for_service(std::chrono::seconds(60)));

  auto request = std::make_shared<Load::Request>();
  request->package_name = "rmw_tests";
  request->plugin_name = "rmw_tests::Missing";
  auto missing = load->async_send_request(request);
  CHECK(!support::value_of(missing, "an unknown component is refused")->success);
  request->plugin_name = "rmw_tests::Echo";
  request->node_namespace = "/inside";
  request->parameters.push_back(rclcpp::Parameter("add", 5).to_parameter_msg());
  for (int round = 0; round < 3; ++round) {
    auto loading = load->async_send_request(request);
    auto loaded = support::value_of(loading, "the component is loaded");
    if (!loaded->success) {support::fail(loaded->error_message, __FILE__, __LINE__);}
    CHECK_EQUAL(loaded->full_node_name, std::string("/inside/echo"));
    support::eventually("it matches", [&] {
        return publisher->get_subscription_count() == 1 && subscription->get_publisher_count() == 1;
      });
    Number number;
    number.data = 10 * round + 1;
    publisher->publish(number);
    support::eventually("it answers", [&] {return back == number.data + 5;});
    auto listing = list->async_send_request(std::make_shared<List::Request>());
    CHECK_EQUAL(support::value_of(listing, "it is listed")->full_node_names.size(), 1u);
    auto end = std::make_shared<Unload::Request>();
    end->unique_id = loaded->unique_id;
    auto unloading = unload->async_send_request(end);
    CHECK(support::value_of(unloading, "it is unloaded")->success);
    support::eventually("it is gone", [&] {return publisher->get_subscription_count() == 0;});
  }
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"ask", ask}});
}
