// A node of real roscpp that follows commands: one command per line, {"done": ...} for each;
// messages that it receives are lines of their own, {"topic": ..., "message": {"data": ...}}, as
// from node.py.
#include <nodelet/loader.h>
#include <nodelet/nodelet.h>
#include <ros/ros.h>
#include <std_msgs/String.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

// Debian has no headers of std_srvs: this is the code that gencpp would write for SetBool.
namespace std_srvs {
struct SetBoolRequest {
  uint8_t data = 0;
};
struct SetBoolResponse {
  uint8_t success = 0;
  std::string message;
};
struct SetBool {
  using Request = SetBoolRequest;
  using Response = SetBoolResponse;
  Request request;
  Response response;
};
constexpr const char *MD5SUM = "09fb03525b03e7ea1fd3992bafd87e16";
}  // namespace std_srvs

namespace ros {
namespace message_traits {
#define SET_BOOL_PART(part)                                                 \
  template <> struct IsMessage<std_srvs::part> : TrueType {};               \
  template <> struct MD5Sum<std_srvs::part> {                               \
    static const char *value() { return std_srvs::MD5SUM; }                 \
    static const char *value(const std_srvs::part &) { return value(); }    \
  };                                                                        \
  template <> struct DataType<std_srvs::part> {                             \
    static const char *value() { return "std_srvs/" #part; }                \
    static const char *value(const std_srvs::part &) { return value(); }    \
  };
SET_BOOL_PART(SetBoolRequest)
SET_BOOL_PART(SetBoolResponse)
}  // namespace message_traits
namespace serialization {
template <> struct Serializer<std_srvs::SetBoolRequest> {
  template <typename Stream, typename T> static void allInOne(Stream &stream, T message) { stream.next(message.data); }
  ROS_DECLARE_ALLINONE_SERIALIZER
};
template <> struct Serializer<std_srvs::SetBoolResponse> {
  template <typename Stream, typename T> static void allInOne(Stream &stream, T message) {
    stream.next(message.success);
    stream.next(message.message);
  }
  ROS_DECLARE_ALLINONE_SERIALIZER
};
}  // namespace serialization
namespace service_traits {
template <> struct MD5Sum<std_srvs::SetBool> {
  static const char *value() { return std_srvs::MD5SUM; }
  static const char *value(const std_srvs::SetBool &) { return value(); }
};
template <> struct DataType<std_srvs::SetBool> {
  static const char *value() { return "std_srvs/SetBool"; }
  static const char *value(const std_srvs::SetBool &) { return value(); }
};
#define SET_BOOL_OF(part)                                                  \
  template <> struct MD5Sum<std_srvs::part> {                              \
    static const char *value() { return std_srvs::MD5SUM; }                \
    static const char *value(const std_srvs::part &) { return value(); }   \
  };                                                                       \
  template <> struct DataType<std_srvs::part> {                            \
    static const char *value() { return "std_srvs/SetBool"; }              \
    static const char *value(const std_srvs::part &) { return value(); }   \
  };
SET_BOOL_OF(SetBoolRequest)
SET_BOOL_OF(SetBoolResponse)
}  // namespace service_traits
}  // namespace ros

namespace {

std::mutex saying;

std::string json_text(const std::string &text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    out += character;
  }
  return out + '"';
}

void say(const std::string &line) {
  const std::lock_guard<std::mutex> guard(saying);
  std::cout << line << std::endl;
}

using Handle = std::function<void(ros::NodeHandle &)>;

/// A nodelet that runs a function when it is loaded.
class Part : public nodelet::Nodelet {
 public:
  explicit Part(Handle make) : make_(std::move(make)) {}

 private:
  void onInit() override { make_(getNodeHandle()); }

  Handle make_;
};

class Node {
 public:
  std::string run(const std::string &command) {
    std::istringstream words(command);
    std::string what, name, more;
    words >> what >> name;
    std::getline(words >> std::ws, more);
    if (what == "subscribe") return subscribe(node_, name);
    if (what == "advertise") return advertise(node_, name, more == "latch");
    if (what == "publish") return publish(name, more);
    if (what == "serve") return serve(name);
    if (what == "call") return call(name, more == "true");
    if (what == "load_talker")
      return load(name, [this, more](ros::NodeHandle &node) { advertise(node, more, false); });
    if (what == "load_listener")
      return load(name, [this, more](ros::NodeHandle &node) { subscribe(node, more); });
    return json_text("unknown command " + what);
  }

 private:
  std::string subscribe(ros::NodeHandle &node, const std::string &topic) {
    const boost::function<void(const std_msgs::StringConstPtr &)> heard = [topic](const std_msgs::StringConstPtr &message) {
      say("{\"topic\": " + json_text(topic) + ", \"message\": {\"data\": " + json_text(message->data) + "}}");
    };
    subscribers_.push_back(node.subscribe<std_msgs::String>(topic, 100, heard));
    return "true";
  }

  std::string advertise(ros::NodeHandle &node, const std::string &topic, bool is_latched) {
    publishers_[topic] = node.advertise<std_msgs::String>(topic, 100, is_latched);
    return "true";
  }

  /// Publishes, by pointer as nodelets do, if a subscriber is connected or the topic is latched;
  /// returns whether it did.
  std::string publish(const std::string &topic, const std::string &text) {
    const ros::Publisher &publisher = publishers_.at(topic);
    if (publisher.getNumSubscribers() == 0 && !publisher.isLatched()) return "false";
    const auto message = boost::make_shared<std_msgs::String>();
    message->data = text;
    publisher.publish(message);
    return "true";
  }

  std::string serve(const std::string &name) {
    const boost::function<bool(std_srvs::SetBoolRequest &, std_srvs::SetBoolResponse &)> answer =
        [](std_srvs::SetBoolRequest &request, std_srvs::SetBoolResponse &response) {
          response.success = request.data;
          response.message = "from roscpp";
          return true;
        };
    servers_.push_back(node_.advertiseService(name, answer));
    return "true";
  }

  std::string call(const std::string &name, bool data) {
    std_srvs::SetBool service;
    service.request.data = data;
    if (!ros::service::waitForService(name, ros::Duration(50)) || !ros::service::call(name, service)) return "null";
    return std::string("{\"success\": ") + (service.response.success ? "true" : "false") +
           ", \"message\": " + json_text(service.response.message) + "}";
  }

  /// Loads a part into the manager of this process: its loader, with its thread pool and its
  /// services.
  std::string load(const std::string &name, Handle make) {
    next_ = std::move(make);
    if (!manager_)
      manager_ = std::make_unique<nodelet::Loader>([this](const std::string &) { return boost::make_shared<Part>(next_); });
    return manager_->load(name, "feros_test/Part", nodelet::M_string(), nodelet::V_string()) ? "true" : "false";
  }

  ros::NodeHandle node_;
  std::map<std::string, ros::Publisher> publishers_;
  std::vector<ros::Subscriber> subscribers_;
  std::vector<ros::ServiceServer> servers_;
  Handle next_;
  std::unique_ptr<nodelet::Loader> manager_;
};

}  // namespace

int main(int argc, char **argv) {
  ros::init(argc, argv, argv[1], ros::init_options::NoRosout | ros::init_options::NoSigintHandler);
  Node node;
  ros::AsyncSpinner spinner(1);
  spinner.start();
  say("{\"ready\": true}");
  for (std::string line; std::getline(std::cin, line);) {
    // A command is JSON text without any character that JSON would escape.
    if (line.size() >= 2 && line.front() == '"') line = line.substr(1, line.size() - 2);
    say("{\"done\": " + node.run(line) + "}");
  }
  std::_Exit(0);  // threads of the manager may still use the node
}
