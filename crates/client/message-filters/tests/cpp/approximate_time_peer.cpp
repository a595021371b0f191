// Approximate time of C++ (message_filters of ROS 1, as Debian has it), driven by lines on standard
// input, to compare sets. Built by tests/against_cpp.rs.
//
//   INPUTS QUEUE_SIZE AGE_PENALTY MAX_INTERVAL_NANOS BOUND_NANOS... COUNT (INPUT NANOS)...
//     -> the sets, each "NANOS,NANOS,..." and a semicolon
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include <boost/make_shared.hpp>
#include <geometry_msgs/PointStamped.h>
#include <message_filters/sync_policies/approximate_time.h>
#include <message_filters/synchronizer.h>
#include <ros/time.h>

using geometry_msgs::PointStamped;
using Message = PointStamped::ConstPtr;

static void say(std::initializer_list<Message> set) {
  const char *separator = "";
  for (auto &message : set) {
    std::printf("%s%llu", separator, (unsigned long long)message->header.stamp.toNSec());
    separator = ",";
  }
  std::printf(";");
}

static void say2(const Message &a, const Message &b) { say({a, b}); }
static void say4(const Message &a, const Message &b, const Message &c, const Message &d) {
  say({a, b, c, d});
}

template <class Policy, class Add>
static void run(message_filters::Synchronizer<Policy> &sync, int inputs, std::istringstream &words,
                double penalty, long long interval, Add add) {
  sync.setAgePenalty(penalty);
  if (interval >= 0) sync.setMaxIntervalDuration(ros::Duration().fromNSec(interval));
  for (int i = 0; i < inputs; ++i) {
    long long bound;
    words >> bound;
    sync.setInterMessageLowerBound(i, ros::Duration().fromNSec(bound));
  }
  int count;
  words >> count;
  for (int i = 0; i < count; ++i) {
    int input;
    long long nanos;
    words >> input >> nanos;
    auto message = boost::make_shared<PointStamped>();
    message->header.stamp.fromNSec(nanos);
    add(input, message);
  }
  std::puts("");
  std::fflush(stdout);
}

int main() {
  ros::Time::init();
  using message_filters::sync_policies::ApproximateTime;
  using Two = ApproximateTime<PointStamped, PointStamped>;
  using Four = ApproximateTime<PointStamped, PointStamped, PointStamped, PointStamped>;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    int inputs, queue;
    double penalty;
    long long interval;
    words >> inputs >> queue >> penalty >> interval;
    if (inputs == 2) {
      message_filters::Synchronizer<Two> sync((Two(queue)));
      sync.registerCallback(say2);
      run(sync, 2, words, penalty, interval, [&](int input, const Message &m) {
        input == 0 ? sync.add<0>(m) : sync.add<1>(m);
      });
    } else {
      message_filters::Synchronizer<Four> sync((Four(queue)));
      sync.registerCallback(say4);
      run(sync, 4, words, penalty, interval, [&](int input, const Message &m) {
        switch (input) {
          case 0: return sync.add<0>(m);
          case 1: return sync.add<1>(m);
          case 2: return sync.add<2>(m);
          default: return sync.add<3>(m);
        }
      });
    }
  }
}
