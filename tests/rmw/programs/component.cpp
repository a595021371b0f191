// A component for the containers of rclcpp, which sends back the messages that it receives.
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_components/register_node_macro.hpp"
#include "std_msgs/msg/int32.hpp"

namespace rmw_tests
{

class Echo : public rclcpp::Node
{
public:
  explicit Echo(const rclcpp::NodeOptions & options)
  : Node("echo", options)
  {
    const auto add = declare_parameter("add", 1);
    publisher_ = create_publisher<std_msgs::msg::Int32>("back", 10);
    subscription_ = create_subscription<std_msgs::msg::Int32>(
      "there", 10, [this, add](const std_msgs::msg::Int32 & number) {
        std_msgs::msg::Int32 back;
        back.data = number.data + static_cast<int32_t>(add);
        publisher_->publish(back);
      });
  }

private:
  rclcpp::Publisher<std_msgs::msg::Int32>::SharedPtr publisher_;
  rclcpp::Subscription<std_msgs::msg::Int32>::SharedPtr subscription_;
};

}  // namespace rmw_tests

RCLCPP_COMPONENTS_REGISTER_NODE(rmw_tests::Echo)
