// SPDX-License-Identifier: MIT
//
// The worst wait of a light user beside others, as a table in Markdown: what the promise of
// fairness_test.cpp is worth with short and with long layers, a context and thousands of them. The
// kernel's trace says who had the device while the light user waited, so the pace of this program
// is not what is counted. An emulated machine stands still at times: times are printed, turns are
// judged.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "crowd.hpp"
#include "emulator/device/fault_capability.h"
#include "emulator/guest/seen.hpp"
#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

using emulator_test::FaultControl;

// Shorter layers belong to one turn for this long together.
constexpr std::uint64_t kTurnNs = 5'000'000;
// The promise adds this to the turns.
constexpr std::uint64_t kMarginNs = 10'000'000;
// Turns that begin within that.
constexpr unsigned kMarginTurns = 2;

// `Wait` describes how long one job waited, and for how much of others.
struct Wait {
  double ms = 0;
  unsigned layers = 0;
  unsigned turns = 0;
  // The longest of those layers.
  double layer_ms = 0;
  // False if the trace does not show its start.
  bool started = false;
};

// The driver's events, for a while.
class Trace {
 public:
  Trace() {
    FaultControl::put(root() + "tracing_on", "0");
    FaultControl::put(root() + "options/overwrite", "0");
    for (const char* event : {"nvdla_job_queue", "nvdla_job_start", "nvdla_layer_end"})
      FaultControl::put(root() + "events/nvdla/" + event + "/enable", "1");
  }
  ~Trace() {
    FaultControl::put(root() + "tracing_on", "0");
    FaultControl::put(root() + "events/nvdla/enable", "0");
    FaultControl::put(root() + "tracing_on", "1");
    FaultControl::put(root() + "options/overwrite", "1");
  }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  static void begin() {
    // Whoever truncates the trace clears it.
    std::ofstream(root() + "trace", std::ios::trunc);
    FaultControl::put(root() + "tracing_on", "1");
  }
  // Marks in the trace that the device goes on.
  static void mark() { FaultControl::put(root() + "trace_marker", "nvdla_mark"); }
  // Returns how the one job waited after the mark that this process has submitted since begin().
  static Wait end() {
    FaultControl::put(root() + "tracing_on", "0");
    std::istringstream text(emulator_test::read_text(root() + "trace"));
    const std::string ours = "-" + std::to_string(::getpid()) + " ";
    Wait wait;
    std::string fence;
    double marked = 0;
    std::map<std::string, std::string> users;  // of each fence
    // The turn that goes on: whose it is, how long it is, and the job whose layer is enabled ahead.
    std::string user, ahead;
    std::uint64_t turn_ns = 0, last_end = 0;
    for (std::string line; std::getline(text, line);) {
      if (line.find("nvdla_job_start:") != npos)
        users[value(line, "fence")] = value(line, "user") + " " + value(line, "cgroup");
      if (fence.empty()) {
        if (line.find(ours) == std::string::npos || line.find("nvdla_job_queue:") == npos) continue;
        fence = value(line, "fence");
        continue;
      }
      if (line.find(": nvdla_mark") != npos) {
        marked = seconds(line.replace(line.find(": tracing_mark"), npos, ": nvdla_"));
        continue;
      }
      if (line.find("nvdla_job_start:") != npos && value(line, "fence") == fence) {
        wait.ms = (seconds(line) - marked) * 1e3;
        wait.started = true;
        break;
      }
      if (line.find("nvdla_layer_end:") == npos) continue;
      const std::string job = value(line, "fence");
      const std::uint64_t start = std::stoull(value(line, "start"));
      const std::uint64_t end = std::stoull(value(line, "end"));
      // Layers overlap where one is enabled ahead.
      const std::uint64_t ns = end - std::min(end, std::max(start, last_end));
      last_end = end;
      ++wait.layers;
      // The first one stood still, and its job began before the trace.
      if (wait.layers > 1) wait.layer_ms = std::max(wait.layer_ms, static_cast<double>(ns) / 1e6);
      const std::string whose = users[job];
      if (wait.turns == 0 || whose != user || (turn_ns >= kTurnNs && job != ahead)) {
        ++wait.turns;
        turn_ns = 0;
      } else if (turn_ns >= kTurnNs) {
        // There is one of them in a turn.
        ahead.clear();
      }
      if (turn_ns < kTurnNs) ahead = job;
      turn_ns += std::max<std::uint64_t>(ns, 1);
      user = whose;
    }
    return wait;
  }

 private:
  static constexpr auto npos = std::string::npos;
  static std::string root() { return "/sys/kernel/tracing/"; }
  // Returns the value of "key=value" in a line of the trace.
  static std::string value(const std::string& line, const std::string& key) {
    const std::size_t at = line.find(" " + key + "=");
    if (at == npos) return {};
    const std::size_t begin = at + key.size() + 2;
    return line.substr(begin, line.find(' ', begin) - begin);
  }
  // The time stamp, which stands before the name of the event.
  static double seconds(const std::string& line) {
    const std::size_t end = line.find(": nvdla_");
    const std::size_t begin = line.rfind(' ', end) + 1;
    return std::stod(line.substr(begin, end - begin));
  }
};

struct Row {
  std::string others;
  unsigned users;
  std::uint32_t layer_us;
  std::function<void(Crowd&)> start;
};

class FairnessTable : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    open_nodes_to_all();
  }

  // The first of the users has that many contexts, each other one ten at most.
  static Row contexts_row(unsigned contexts, unsigned users, std::uint32_t layer_us) {
    return {std::to_string(contexts) + " contexts", users, layer_us, [=](Crowd& crowd) {
              for (unsigned i = 0; i < users; ++i) {
                const unsigned count = i == 0 ? contexts : std::min(contexts, 10u);
                // Enough for a minute, within the limit of jobs.
                const unsigned depth = std::max(1u, 200 / count);
                crowd.start({kHeavy + i, false, {}}, {count, depth, 2000, false});
              }
            }};
  }
  static std::vector<Row> rows() {
    const bool is_long = std::getenv("NVDLA_HOSTILE_LONG") != nullptr;
    std::vector<Row> rows;
    for (const std::uint32_t layer_us : {50u, 5000u}) {
      for (const unsigned users : {1u, 8u}) {
        for (const unsigned contexts : is_long ? std::vector<unsigned>{1, 10, 100, 1000, 4000}
                                               : std::vector<unsigned>{1, 100})
          rows.push_back(contexts_row(contexts, users, layer_us));
        rows.push_back({"streams of new contexts", users, layer_us, [=](Crowd& crowd) {
                          for (unsigned i = 0; i < users; ++i)
                            crowd.start_stream({kHeavy + i, false, {}}, users == 1 ? 16 : 4, 1);
                        }});
      }
      // A sample of the 65,536, opened one after the other.
      const unsigned uids = is_long ? 2048 : 100;
      rows.push_back({"a context of each of " + std::to_string(uids) + " sub-uids", 1, layer_us,
                      [=](Crowd& crowd) {
                        crowd.start({kHeavy, true, {}}, sub_uid_load(uids));
                      }});
    }
    return rows;
  }

  // The worst of some jobs; nothing if the device was reset.
  std::optional<Wait> measure(const Row& row) {
    faults().set(NVDLA_FAULT_DELAY_US, row.layer_us);
    Crowd crowd;
    row.start(crowd);
    std::unique_ptr<Client> client;
    {
      const AsUser light(kLight);
      client = std::make_unique<Client>();
    }
    Wait worst;
    worst.layer_ms = row.layer_us / 1e3;
    worst.started = true;
    ShareKeeper share(*client);
    for (int job = 0; job < 10 && worst.started; ++job) {
      // One layer in that time is less than a share.
      ::usleep(200000);
      // The device stands still while the job is submitted, so that it waits for others alone.
      faults().block(1);
      wait_until_blocked();
      Trace::begin();
      const std::uint32_t done = client->start();
      wait_until_ready(*client);
      Trace::mark();
      go_on();
      const int error = client->end(done, 60);
      const Wait wait = Trace::end();
      EXPECT_TRUE(error == 0 || error == ETIMEDOUT) << error;
      // It stood still for too long, on a machine that is slow.
      if (client->state().resets != 0) return std::nullopt;
      if (wait.turns >= worst.turns) {
        worst.turns = wait.turns;
        worst.layers = wait.layers;
      }
      worst.ms = std::max(worst.ms, wait.ms);
      worst.layer_ms = std::max(worst.layer_ms, wait.layer_ms);
      worst.started = wait.started;
      share.keep();
    }
    faults().set(NVDLA_FAULT_DELAY_US, 0);
    crowd.stop();
    return worst;
  }
};

TEST_F(FairnessTable, EveryRowHolds) {
  const Trace trace;
  std::string table =
      "| other users | what they have | layer, us | worst wait: turns | promised | layers | ms | "
      "promised, with layers as long as they were |\n|--:|---|--:|--:|--:|--:|--:|--:|\n";
  for (const Row& row : rows()) {
    std::optional<Wait> measured;
    for (int tries = 0; tries < 5 && !measured; ++tries) measured = measure(row);
    ASSERT_TRUE(measured) << "the device is reset each time";
    const Wait worst = *measured;
    const unsigned promised = row.users + kMarginTurns;
    const double turn_ms = std::max(kTurnNs / 1e6, worst.layer_ms) + worst.layer_ms;
    char line[256];
    std::snprintf(line, sizeof(line), "| %u | %s | %u | %s%u | %u | %u | %s%.1f | %.1f |\n",
                  row.users, row.others.c_str(), row.layer_us, worst.started ? "" : "> ",
                  worst.turns, promised, worst.layers, worst.started ? "" : "> ", worst.ms,
                  row.users * turn_ms + kMarginNs / 1e6);
    std::printf("%s", line);
    std::fflush(stdout);
    table += line;
    EXPECT_TRUE(worst.started) << "a job that does not start: " << line;
    EXPECT_LE(worst.turns, promised) << line;
  }
  std::printf("\n%s\n", table.c_str());
}

}  // namespace
}  // namespace nvdla::hostile
