// The tf2 of C++ (libtf2 of ROS 1, as Debian has it), driven by lines on standard input, to compare
// results and speed. Built by tests/cpp/mod.rs.
//
//   set CHILD PARENT NANOS X Y Z QX QY QZ QW STATIC      -> ok | refused
//   get TARGET SOURCE NANOS                              -> NANOS X Y Z QX QY QZ QW | error KIND
//   bench TARGET SOURCE NANOS COUNT                      -> seconds for COUNT lookups
//   can TARGET SOURCE NANOS COUNT                        -> seconds for COUNT questions
//   insert FRAMES STEP_NANOS COUNT                       -> seconds for COUNT transforms
//   clear                                                -> ok
#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <time.h>

#include <console_bridge/console.h>
#include <geometry_msgs/TransformStamped.h>
#include <tf2/buffer_core.h>
#include <tf2/exceptions.h>

static ros::Time at(long long nanos) { return ros::Time().fromNSec(nanos); }

// The processor time of this thread.
static double processor_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

int main() {
  console_bridge::noOutputHandler();
  auto buffer = std::make_unique<tf2::BufferCore>();
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "set") {
      geometry_msgs::TransformStamped t;
      long long nanos;
      int is_static;
      auto &move = t.transform.translation;
      auto &turn = t.transform.rotation;
      words >> t.child_frame_id >> t.header.frame_id >> nanos >> move.x >> move.y >> move.z >>
          turn.x >> turn.y >> turn.z >> turn.w >> is_static;
      t.header.stamp = at(nanos);
      std::puts(buffer->setTransform(t, "peer", is_static) ? "ok" : "refused");
    } else if (verb == "get") {
      std::string target, source;
      long long nanos;
      words >> target >> source >> nanos;
      try {
        auto t = buffer->lookupTransform(target, source, at(nanos));
        auto &move = t.transform.translation;
        auto &turn = t.transform.rotation;
        std::printf("%llu %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n",
                    (unsigned long long)t.header.stamp.toNSec(), move.x, move.y, move.z, turn.x,
                    turn.y, turn.z, turn.w);
      } catch (const tf2::ConnectivityException &) {
        std::puts("error connectivity");
      } catch (const tf2::ExtrapolationException &) {
        std::puts("error extrapolation");
      } catch (const tf2::LookupException &) {
        std::puts("error lookup");
      } catch (const tf2::TransformException &) {
        std::puts("error other");
      }
    } else if (verb == "bench" || verb == "can") {
      std::string target, source;
      long long nanos, count;
      words >> target >> source >> nanos >> count;
      double sum = 0;
      double began = processor_seconds();
      if (verb == "bench") {
        for (long long i = 0; i < count; ++i) {
          sum += buffer->lookupTransform(target, source, at(nanos)).transform.translation.x;
        }
      } else {
        for (long long i = 0; i < count; ++i) {
          sum += buffer->canTransform(target, source, at(nanos));
        }
      }
      double took = processor_seconds() - began;
      std::printf("%.9f %g\n", took, sum);
    } else if (verb == "insert") {
      long long frames, step, count;
      words >> frames >> step >> count;
      std::vector<geometry_msgs::TransformStamped> all(frames);
      for (long long i = 0; i < frames; ++i) {
        all[i].header.frame_id = "root";
        all[i].child_frame_id = "inserted" + std::to_string(i);
        all[i].transform.rotation.w = 1;
      }
      tf2::BufferCore fresh; // the stamps repeat in each round
      double began = processor_seconds();
      for (long long i = 0; i < count; ++i) {
        auto &t = all[i % frames];
        t.header.stamp = at(1000000000LL + i / frames * step);
        fresh.setTransform(t, "peer", false);
      }
      std::printf("%.9f 0\n", processor_seconds() - began);
    } else if (verb == "clear") {
      buffer = std::make_unique<tf2::BufferCore>();
      std::puts("ok");
    }
    std::fflush(stdout);
  }
}
