// Graphs of lab/graphs for the role `graph`: their description, what each step does with a message, and the figures of the
// whole. It does the same as ../contract/src/graph.rs, whose comments explain it. The contract is in ../README.md.
#ifndef FEROS_LAB_RCLCPP_GRAPH_HPP
#define FEROS_LAB_RCLCPP_GRAPH_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "../contract.h"

namespace feros_lab {

/// A callback of a node, with its topics.
struct Step {
  std::string kind, node;
  uint64_t work, period_ms;
  std::string output; // empty: none
  std::vector<std::string> inputs;

  bool is_transform() const { return kind == "transform" || kind == "intersection"; }
};

struct Graph {
  size_t message_bytes = 0;
  std::vector<Step> steps;
  std::string path_to;
  std::vector<std::string> path_from;

  uint64_t subscriptions(const std::string &topic) const {
    uint64_t found = 0;
    for (const Step &step : steps) found += std::count(step.inputs.begin(), step.inputs.end(), topic);
    return found;
  }
};

/// Reads the graph from the folder that FEROS_LAB_GRAPHS names; the tests of ../contract check the files.
inline Graph read_graph(const std::string &name) {
  const char *folder = std::getenv("FEROS_LAB_GRAPHS");
  const std::string path = std::string(folder == nullptr ? "." : folder) + "/" + name + ".txt";
  std::ifstream file(path);
  if (!file) contract_error("failed", "the graph cannot be read", path.c_str());
  Graph graph;
  std::string line, first;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> first) || first[0] == '#') continue;
    if (first == "message_bytes") {
      words >> graph.message_bytes;
    } else if (first == "path") {
      words >> graph.path_to;
      while (words >> word) graph.path_from.push_back(word);
    } else {
      Step step;
      step.kind = first;
      if (!(words >> step.node >> step.work >> step.period_ms >> step.output))
        contract_error("failed", "a line of the graph has too few words", line.c_str());
      if (step.output == "-") step.output.clear();
      while (words >> word) step.inputs.push_back(word);
      graph.steps.push_back(step);
    }
  }
  if (graph.message_bytes < 24 || graph.steps.empty()) contract_error("failed", "the graph has no messages", path.c_str());
  return graph;
}

/// The beginning of each message: when the chain began (0: not of the chain), its number there, and that of its topic.
struct Head {
  uint64_t at, number, sequence;

  void write(uint8_t *message) const { std::memcpy(message, this, sizeof *this); }
  static Head read(const uint8_t *message) {
    Head head;
    std::memcpy(&head, message, sizeof head);
    return head;
  }
};
static_assert(sizeof(Head) == 24, "three numbers");

/// Looks for the primes from 3 to a number, by trial division.
inline uint64_t crunch(uint64_t most) {
  uint64_t found = 0;
  for (uint64_t number = 3; number <= most; number += 2) {
    uint64_t divisor = 3;
    while (divisor * divisor <= number && number % divisor != 0) divisor += 2;
    found += divisor * divisor > number;
  }
  __asm__ volatile("" : : "r"(found) : "memory");
  return found;
}

/// The figures of a graph so far.
class Figures {
 public:
  Figures(uint64_t warm_up, uint64_t period_ms) : warm_up_(warm_up), period_(period_ms * 1000000u) {}

  void arrived(uint64_t number, uint64_t nanos) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (number < warm_up_ || latencies_.size() >= MOST) return;
    first_ = latencies_.empty() ? number : std::min(first_, number);
    last_ = latencies_.empty() ? number : std::max(last_, number);
    latencies_.push_back(nanos);
  }

  void received(uint64_t missed) {
    const std::lock_guard<std::mutex> lock(mutex_);
    received_ += 1;
    missed_ += missed;
  }

  void tick(uint64_t now) {
    const std::lock_guard<std::mutex> lock(mutex_);
    before_ += 1;
    if (before_ > warm_up_ && ticks_.size() < MOST) ticks_.push_back(now);
  }

  size_t messages() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return latencies_.size();
  }

  std::map<std::string, double> values() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::map<std::string, double> found;
    statistics("hot_path_nanos", latencies_, found);
    if (!latencies_.empty()) {
      const double possible = static_cast<double>(last_ - first_) + 1, came = static_cast<double>(latencies_.size());
      found["hot_path_messages"] = came;
      found["hot_path_lost_percent"] = percent(possible - came, possible);
    }
    const double possible = static_cast<double>(received_) + static_cast<double>(missed_);
    if (possible > 0) found["transforms_lost_percent"] = percent(static_cast<double>(missed_), possible);
    std::vector<uint64_t> jitter;
    for (size_t i = 1; i < ticks_.size(); ++i) {
      const uint64_t interval = ticks_[i] - ticks_[i - 1];
      jitter.push_back(interval > period_ ? interval - period_ : period_ - interval);
    }
    statistics("planner_jitter_nanos", jitter, found);
    if (ticks_.size() > 1) {
      const double wanted = static_cast<double>(period_) * static_cast<double>(ticks_.size() - 1);
      found["planner_drift_nanos"] = std::fabs(static_cast<double>(ticks_.back() - ticks_.front()) - wanted);
    }
    return found;
  }

 private:
  static constexpr size_t MOST = 100000;

  static double percent(double part, double whole) { return std::clamp(100 * part / whole, 0.0, 100.0); }

  static void statistics(const std::string &name, std::vector<uint64_t> samples, std::map<std::string, double> &found) {
    if (samples.empty()) return;
    std::sort(samples.begin(), samples.end());
    double sum = 0;
    for (const uint64_t nanos : samples) sum += static_cast<double>(nanos);
    const auto at = [&samples](size_t percent) { return static_cast<double>(samples[(samples.size() - 1) * percent / 100]); };
    found[name + "_mean"] = sum / static_cast<double>(samples.size());
    found[name + "_median"] = at(50);
    found[name + "_p99"] = at(99);
    found[name + "_max"] = at(100);
  }

  std::mutex mutex_;
  const uint64_t warm_up_, period_;
  uint64_t first_ = 0, last_ = 0, received_ = 0, missed_ = 0, before_ = 0;
  std::vector<uint64_t> latencies_, ticks_;
};

/// A step at work. Its methods compute as long as the step has to, and never at the same time.
class Worker {
 public:
  Worker(const Graph &graph, const Step &step, Figures &figures)
      : step_(step),
        begins_path_(std::count(graph.path_from.begin(), graph.path_from.end(), step.output) > 0),
        ends_path_(!step.output.empty() && step.output == graph.path_to),
        figures_(figures),
        waiting_(step.inputs.size()),
        next_(step.inputs.size()) {}

  /// A message came on an input. Returns the head of the message to publish, if there is one.
  std::optional<Head> receive(size_t input, const Head &head) {
    count(input, head);
    waiting_[input] = head;
    if (step_.is_transform()) return compute();
    if (step_.kind == "fusion" && std::all_of(waiting_.begin(), waiting_.end(), [](const auto &one) { return one.has_value(); }))
      return compute();
    if (step_.kind == "command") crunch(step_.work);
    return std::nullopt;
  }

  /// The timer of the step is due.
  Head tick() {
    const uint64_t now = contract_now();
    if (step_.kind == "cyclic") {
      figures_.tick(now);
      return compute();
    }
    const uint64_t sequence = sequence_++;
    return Head{begins_path_ ? now : 0, sequence, sequence};
  }

  std::mutex mutex;

 private:
  void count(size_t input, const Head &head) {
    const uint64_t next = next_[input].value_or(head.sequence);
    next_[input] = head.sequence + 1;
    if (step_.is_transform()) figures_.received(head.sequence > next ? head.sequence - next : 0);
  }

  Head compute() {
    crunch(step_.work);
    Head made{0, 0, 0};
    for (auto &head : waiting_) {
      if (head && head->at > 0 && (made.at == 0 || head->at < made.at)) made = *head;
      head.reset();
    }
    if (ends_path_ && made.at > 0) figures_.arrived(made.number, contract_now() - made.at);
    made.sequence = sequence_++;
    return made;
  }

  const Step &step_;
  const bool begins_path_, ends_path_;
  Figures &figures_;
  std::vector<std::optional<Head>> waiting_;
  std::vector<std::optional<uint64_t>> next_;
  uint64_t sequence_ = 0;
};

} // namespace feros_lab

#endif
