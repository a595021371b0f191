// The graph from the point of view of two processes: nodes, names, types, and endpoints with their
// QoS and type hashes.
#include <algorithm>
#include <vector>

#include "std_msgs/msg/int32.hpp"
#include "support.hpp"
#include "test_msgs/srv/empty.hpp"

namespace
{

using support::Arguments;
using Number = std_msgs::msg::Int32;
using Empty = test_msgs::srv::Empty;

void serve(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("seen", "/space");
  auto publisher = node->create_publisher<Number>(
    "numbers", rclcpp::QoS(7).reliable().transient_local());
  auto subscription = node->create_subscription<Number>("orders", 10, [](const Number &) {});
  auto service = node->create_service<Empty>(
    "service", [](Empty::Request::SharedPtr, Empty::Response::SharedPtr) {});
  auto client = node->create_client<Empty>("wanted");
  publisher->publish(Number());
  support::Spinning spinning(arguments, node);
  support::until_input_ends();
}

void ask(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("looking");
  support::Spinning spinning(arguments, node);
  auto graph = node->get_node_graph_interface();
  support::eventually("the node is seen", [&] {
      const auto names = node->get_node_names();
      return std::find(names.begin(), names.end(), "/space/seen") != names.end();
    });
  support::eventually("its endpoints are seen", [&] {
      return node->count_publishers("/space/numbers") == 1 &&
             node->count_subscribers("/space/orders") == 1 &&
             node->count_services("/space/service") == 1 &&
             node->count_clients("/space/wanted") == 1;
    });
  const auto topics = node->get_topic_names_and_types();
  CHECK((topics.at("/space/numbers") == std::vector<std::string> {"std_msgs/msg/Int32"}));
  CHECK((topics.at("/space/orders") == std::vector<std::string> {"std_msgs/msg/Int32"}));
  const auto services = node->get_service_names_and_types();
  CHECK((services.at("/space/service") == std::vector<std::string> {"test_msgs/srv/Empty"}));
  // A node announces later to whom its endpoints belong.
  support::eventually("its endpoints are those of the node", [&] {
      return node->get_service_names_and_types_by_node("seen", "/space").count("/space/service") &&
             graph->get_publisher_names_and_types_by_node("seen", "/space").count(
        "/space/numbers") &&
             graph->get_subscriber_names_and_types_by_node("seen", "/space").count(
        "/space/orders") &&
             graph->get_client_names_and_types_by_node("seen", "/space").count("/space/wanted");
    });

  const auto infos = node->get_publishers_info_by_topic("/space/numbers");
  CHECK_EQUAL(infos.size(), 1u);
  const auto & info = infos[0];
  CHECK_EQUAL(info.node_name(), std::string("seen"));
  CHECK_EQUAL(info.node_namespace(), std::string("/space"));
  CHECK_EQUAL(info.topic_type(), std::string("std_msgs/msg/Int32"));
  CHECK(info.endpoint_type() == rclcpp::EndpointType::Publisher);
  CHECK(info.qos_profile().reliability() == rclcpp::ReliabilityPolicy::Reliable);
  CHECK(info.qos_profile().durability() == rclcpp::DurabilityPolicy::TransientLocal);
  CHECK_EQUAL(+info.topic_type_hash().version, 1);

  // A late subscription gets earlier messages, and the graph shows the subscription.
  std::atomic<int> numbers{0};
  auto event = node->get_graph_event();
  auto subscription = node->create_subscription<Number>(
    "/space/numbers", rclcpp::QoS(7).reliable().transient_local(),
    [&numbers](const Number &) {++numbers;});
  support::eventually("the old number came", [&] {return numbers == 1;});
  node->wait_for_graph_change(event, std::chrono::seconds(60));
  CHECK(event->check_and_clear());
  CHECK_EQUAL(node->get_subscriptions_info_by_topic("/space/numbers").size(), 1u);
  CHECK(node->count_subscribers("/nobody") == 0);
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"serve", serve}, {"ask", ask}});
}
