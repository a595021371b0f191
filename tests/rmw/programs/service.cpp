// A service and its client, with calls that overlap, stay unanswered, or come from many clients.
#include <vector>

#include "support.hpp"
#include "test_msgs/srv/arrays.hpp"
#include "test_msgs/srv/basic_types.hpp"
#include "test_msgs/srv/empty.hpp"

namespace
{

using support::Arguments;
using BasicTypes = test_msgs::srv::BasicTypes;
using Arrays = test_msgs::srv::Arrays;
using Empty = test_msgs::srv::Empty;

void serve(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("server");
  auto numbers = node->create_service<BasicTypes>(
    "numbers", [](BasicTypes::Request::SharedPtr request, BasicTypes::Response::SharedPtr response) {
      response->int64_value = request->int64_value + 1;
      response->float64_value = -request->float64_value;
      response->string_value = request->string_value + "!";
    });
  auto arrays = node->create_service<Arrays>(
    "arrays", [](Arrays::Request::SharedPtr request, Arrays::Response::SharedPtr response) {
      response->string_values = request->string_values;
      response->uint64_values = request->uint64_values;
    });
  auto empty = node->create_service<Empty>(
    "empty", [](Empty::Request::SharedPtr, Empty::Response::SharedPtr) {});
  // The requests are answered later, in reverse order: the header assigns a response to its
  // request.
  std::vector<std::pair<std::shared_ptr<rmw_request_id_t>, int64_t>> open;
  auto late = node->create_service<BasicTypes>(
    "late", [&open](
      std::shared_ptr<rclcpp::Service<BasicTypes>> service,
      std::shared_ptr<rmw_request_id_t> header, BasicTypes::Request::SharedPtr request) {
      open.emplace_back(header, request->int64_value);
      if (open.size() < 3) {return;}
      while (!open.empty()) {
        BasicTypes::Response response;
        response.int64_value = open.back().second * 10;
        service->send_response(*open.back().first, response);
        open.pop_back();
      }
    });
  support::Spinning spinning(arguments, node);
  support::until_input_ends();
}

void ask(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("client");
  auto numbers = node->create_client<BasicTypes>("numbers");
  auto second = node->create_client<BasicTypes>("numbers");
  auto arrays = node->create_client<Arrays>("arrays");
  auto empty = node->create_client<Empty>("empty");
  auto late = node->create_client<BasicTypes>("late");
  auto nobody = node->create_client<BasicTypes>("nobody");
  support::Spinning spinning(arguments, node);
  CHECK(!nobody->service_is_ready());
  for (auto & client : std::vector<rclcpp::ClientBase::SharedPtr> {
      numbers, second, arrays, empty, late})
  {
    CHECK(client->wait_for_service(std::chrono::seconds(60)));
    CHECK(client->service_is_ready());
  }
  for (int64_t value = 0; value < 50; ++value) {
    auto request = std::make_shared<BasicTypes::Request>();
    request->int64_value = value;
    request->float64_value = 0.5 * value;
    request->string_value = "text " + std::to_string(value);
    // Each client gets only the responses to its own requests.
    auto & client = value % 2 ? numbers : second;
    auto future = client->async_send_request(request);
    auto response = support::value_of(future, "numbers answers");
    CHECK_EQUAL(response->int64_value, value + 1);
    CHECK_EQUAL(response->float64_value, -0.5 * value);
    CHECK_EQUAL(response->string_value, request->string_value + "!");
  }
  auto request = std::make_shared<Arrays::Request>();
  request->string_values = {"a", "", "c"};
  request->uint64_values = {1, 2, UINT64_MAX};
  auto answered = arrays->async_send_request(request);
  auto response = support::value_of(answered, "arrays answers");
  CHECK(response->string_values == request->string_values);
  CHECK(response->uint64_values == request->uint64_values);
  auto nothing = empty->async_send_request(std::make_shared<Empty::Request>());
  CHECK(support::value_of(nothing, "empty answers") != nullptr);
  std::vector<rclcpp::Client<BasicTypes>::FutureAndRequestId> open;
  for (int64_t value = 1; value <= 3; ++value) {
    auto request = std::make_shared<BasicTypes::Request>();
    request->int64_value = value;
    open.push_back(late->async_send_request(request));
  }
  for (int64_t value = 1; value <= 3; ++value) {
    CHECK_EQUAL(support::value_of(open[value - 1], "late answers")->int64_value, value * 10);
  }
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"serve", serve}, {"ask", ask}});
}
