// Lists, reads, describes and sets the parameters of another node, tries refused values, and
// receives the events of changes.
#include <vector>

#include "support.hpp"

namespace
{

using support::Arguments;

void serve(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("holder");
  rcl_interfaces::msg::ParameterDescriptor descriptor;
  descriptor.description = "how fast";
  descriptor.floating_point_range.resize(1);
  descriptor.floating_point_range[0].from_value = 0.0;
  descriptor.floating_point_range[0].to_value = 10.0;
  node->declare_parameter("speed", 1.5, descriptor);
  node->declare_parameter("names", std::vector<std::string> {"a", "b"});
  node->declare_parameter("bits", std::vector<bool> {true, false, true});
  node->declare_parameter("bytes", std::vector<uint8_t> {1, 2, 255});
  auto refusing = node->add_on_set_parameters_callback(
    [](const std::vector<rclcpp::Parameter> & parameters) {
      rcl_interfaces::msg::SetParametersResult result;
      result.successful = true;
      for (const auto & parameter : parameters) {
        if (parameter.get_name() == "names" && parameter.as_string_array().empty()) {
          result.successful = false;
          result.reason = "names may not be empty";
        }
      }
      return result;
    });
  support::Spinning spinning(arguments, node);
  support::until_input_ends();
}

void ask(const Arguments & arguments)
{
  auto node = std::make_shared<rclcpp::Node>("asker");
  auto client = std::make_shared<rclcpp::AsyncParametersClient>(node, "holder");
  std::mutex mutex;
  std::vector<double> told;
  auto events = client->on_parameter_event(
    [&](const rcl_interfaces::msg::ParameterEvent & event) {
      std::lock_guard<std::mutex> lock(mutex);
      for (const auto & changed : event.changed_parameters) {
        if (event.node == "/holder" && changed.name == "speed") {
          told.push_back(changed.value.double_value);
        }
      }
    });
  support::Spinning spinning(arguments, node);
  CHECK(client->wait_for_service(std::chrono::seconds(60)));
  support::eventually("events of both nodes are heard", [&] {
      return events->get_publisher_count() == 2;
    });
  auto listing = client->list_parameters({}, 10);
  const auto names = support::value_of(listing, "the list comes").names;
  for (const std::string name : {"speed", "names", "bits", "bytes", "use_sim_time"}) {
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
  }
  auto getting = client->get_parameters({"speed", "names", "bits", "bytes"});
  const auto values = support::value_of(getting, "values come");
  CHECK_EQUAL(values.size(), 4u);
  CHECK_EQUAL(values[0].as_double(), 1.5);
  CHECK((values[1].as_string_array() == std::vector<std::string> {"a", "b"}));
  CHECK((values[2].as_bool_array() == std::vector<bool> {true, false, true}));
  CHECK((values[3].as_byte_array() == std::vector<uint8_t> {1, 2, 255}));
  auto describing = client->describe_parameters({"speed"});
  const auto described = support::value_of(describing, "the description comes");
  CHECK_EQUAL(described.at(0).description, std::string("how fast"));
  CHECK_EQUAL(described[0].floating_point_range.at(0).to_value, 10.0);
  auto setting = client->set_parameters(
    {{"speed", 2.5}, {"speed", 11.0}, {"names", std::vector<std::string> {}}});
  const auto results = support::value_of(setting, "values are set");
  CHECK_EQUAL(results.size(), 3u);
  CHECK(results[0].successful);
  CHECK(!results[1].successful);
  CHECK(!results[2].successful);
  CHECK_EQUAL(results[2].reason, std::string("names may not be empty"));
  auto together = client->set_parameters_atomically(
    {rclcpp::Parameter("speed", 3.5), rclcpp::Parameter("bits", std::vector<bool>(9, true))});
  CHECK(support::value_of(together, "values are set together").successful);
  support::eventually("both changes were told", [&] {
      std::lock_guard<std::mutex> lock(mutex);
      return told == std::vector<double> {2.5, 3.5};
    });
  auto again = client->get_parameters({"bits"});
  CHECK_EQUAL(support::value_of(again, "bits come").at(0).as_bool_array().size(), 9u);
}

}  // namespace

int main(int argc, char ** argv)
{
  return support::run(argc, argv, {{"serve", serve}, {"ask", ask}});
}
