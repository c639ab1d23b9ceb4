// SPDX-License-Identifier: MIT
//
// What can be seen of the driver from outside: device core dumps, fdinfo, debugfs and trace
// points. Runs in the guest of an emulator run, on a function that can be reset.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "emulator/device/fault_capability.h"
#include "fault_control.hpp"
#include "ioctl/client.hpp"
#include "ioctl/node.hpp"
#include "seen.hpp"

namespace nvdla::emulator_test {
namespace {

namespace fs = std::filesystem;
using ioctl_test::array_of;
using ioctl_test::Client;
using ioctl_test::CopyProgram;
using ioctl_test::kAfterDeadline;
using ioctl_test::kPage;
using ioctl_test::Node;

void must(int error, const char* what) {
  if (error != 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(error));
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text << std::flush;
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

// Layers hand a cube on, from one buffer to the next.
class Chain {
 public:
  explicit Chain(std::uint32_t layers) : copy_(node_.info().atom_bytes), context_(node_.context()) {
    copy_.layers.resize(layers, copy_.layers[0]);
    copy_.slots.resize(layers + 1, copy_.slots[0]);
    for (std::uint32_t i = 0; i < layers; ++i) {
      copy_.layers[i].sdp.input.slot = i;
      copy_.layers[i].sdp.output.slot = i + 1;
      if (i > 0) {
        copy_.layers[i].num_waits = 1;
        copy_.layers[i].waits[0] = i - 1;
      }
    }
    for (nvdla_slot& slot : copy_.slots) slot.access = NVDLA_SLOT_READ | NVDLA_SLOT_WRITE;
    auto args = copy_.args();
    must(node_.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), "PROGRAM_CREATE");
    program_ = args.program;
    for (std::size_t i = 0; i < copy_.slots.size(); ++i)
      bindings_.push_back({0, node_.buffer(kPage), 0});
    auto* first = node_.map(bindings_[0].handle, kPage);
    for (std::uint64_t i = 0; i < kPage; ++i) first[i] = static_cast<std::uint8_t>(i * 7 + 1);
  }

  std::uint32_t start() {
    const std::uint32_t done = node_.syncobj();
    const std::vector<drm_nvdla_sync> syncs = {{done, DRM_NVDLA_SYNC_SIGNAL, 0}};
    drm_nvdla_submit submit{};
    submit.bindings = array_of(bindings_);
    submit.syncs = array_of(syncs);
    submit.context = context_;
    submit.program = program_;
    must(node_.call(DRM_IOCTL_NVDLA_SUBMIT, &submit), "SUBMIT");
    return done;
  }
  int wait(std::uint32_t done) { return node_.wait(done, kAfterDeadline); }
  void run() { must(wait(start()), "wait"); }

  // Of its file.
  std::map<std::string, std::string> fdinfo() const { return emulator_test::fdinfo(node_.fd()); }
  bool ready() const { return has_ready_job(node_.fd()); }

 private:
  Node node_;
  CopyProgram copy_;
  std::uint32_t context_ = 0;
  std::uint32_t program_ = 0;
  std::vector<drm_nvdla_binding> bindings_;
};

class Seeing : public testing::Test {
 protected:
  void SetUp() override {
    faults_.clear();
    ASSERT_GE(Node().fd(), 0) << "no node of the driver nvdla";
  }
  void TearDown() override { faults_.clear(); }

  void wait_until_blocked() const {
    while ((faults_.get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_BLOCKED) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // The second of three layers does not end.
  void hang() {
    Chain chain(3);
    faults_.block(2);
    chain.run();
  }

  FaultControl faults_;
};

class CoreDump : public Seeing {
 protected:
  static constexpr const char* kParameter = "/sys/module/nvdla/parameters/dump";
  static constexpr const char* kFile = "/tmp/hang.devcoredump";

  void SetUp() override {
    Seeing::SetUp();
    forget();
  }
  void TearDown() override {
    write_text(kParameter, "full");
    Seeing::TearDown();
  }

  static std::vector<std::string> dumps() {
    return paths_like("/sys/class/devcoredump/devcd*/data");
  }
  // A write to a dump's file removes it.
  static void forget() {
    for (const std::string& dump : dumps()) write_text(dump, "0");
  }
  // A worker makes the dump: waits until it is there, and copies it. False if none comes.
  static bool save() {
    for (int i = 0; i < 12000 && dumps().empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (dumps().empty()) return false;
    write_text(kFile, read_text(dumps().front()));
    return true;
  }
  // What `nvdla replay` says of the copy, and how it exits.
  static std::pair<std::string, int> replay() {
    std::string said;
    std::FILE* pipe = ::popen((std::string("nvdla replay -v ") + kFile + " 2>&1").c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("nvdla cannot be run");
    std::array<char, 256> part;
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) said += part.data();
    const int status = ::pclose(pipe);
    return {said, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
  }
};

TEST_F(CoreDump, OfAHangRunsOnTheModel) {
  hang();
  ASSERT_TRUE(save()) << "no dump";
  const auto [said, status] = replay();
  EXPECT_EQ(status, 0) << said;
  EXPECT_NE(said.find("(all layers end here; on the device layer 1 did not)"), std::string::npos)
      << said;
  // Layer 0 had ended; of what layer 1 writes nothing is compared, of the other pages all.
  std::smatch counts;
  ASSERT_TRUE(std::regex_search(
      said, counts, std::regex("([0-9]+) register writes, ([0-9]+) registers and ([0-9]+) bytes")))
      << said;
  EXPECT_GT(std::stoul(counts[1]), 0u);
  EXPECT_GT(std::stoul(counts[2]), 10u) << "those of layer 1 are held by the device";
  EXPECT_GT(std::stoul(counts[3]), 3 * kPage);
  EXPECT_LT(std::stoul(counts[3]), 4 * kPage);
  EXPECT_EQ(said.find("warning"), std::string::npos) << said;
}

// It is reset and works on: one read of ones is what a link that flaps gives.
TEST_F(CoreDump, OfADeviceThatWasGoneRunsOnTheModelToo) {
  Chain chain(3);
  faults_.block(2);
  const std::uint32_t done = chain.start();
  wait_until_blocked();
  faults_.set(NVDLA_FAULT_ONES_READS, 1);
  // The first bit of a unit that no test here uses: makes the driver look.
  faults_.set(NVDLA_FAULT_RAISE, 0x4);
  must(chain.wait(done), "wait");
  ASSERT_TRUE(save()) << "no dump";
  const auto [said, status] = replay();
  EXPECT_EQ(status, 0) << said;
  EXPECT_NE(said.find("(all layers end here; the device was gone in layer 1)"), std::string::npos)
      << said;
  EXPECT_NE(said.find("the dump has no registers, so none are compared"), std::string::npos)
      << said;
  EXPECT_TRUE(std::regex_search(said, std::regex(" 0 registers and [1-9][0-9]* bytes"))) << said;
}

// What the replay compares is the memory of the dump.
TEST_F(CoreDump, AWrongResultIsFound) {
  hang();
  ASSERT_TRUE(save()) << "no dump";
  // The cube that layer 0 wrote is the second copy in the file of what layer 0 has read.
  std::string bytes = read_text(kFile);
  std::string cube;
  for (int i = 0; i < 64; ++i) cube += static_cast<char>(i * 7 + 1);
  const std::size_t first = bytes.find(cube);
  ASSERT_NE(first, std::string::npos);
  const std::size_t second = bytes.find(cube, first + kPage);
  ASSERT_NE(second, std::string::npos) << "layer 0 had ended";
  bytes[second + 9] = static_cast<char>(bytes[second + 9] ^ 1);
  write_text(kFile, bytes);
  const auto [said, status] = replay();
  EXPECT_EQ(status, 1) << said;
  EXPECT_NE(said.find("first of 1 wrong bytes of 4096 in the buffer at"), std::string::npos)
      << said;
}

TEST_F(CoreDump, OfRegistersAlone) {
  write_text(kParameter, "registers");
  hang();
  ASSERT_TRUE(save()) << "no dump";
  const auto [said, status] = replay();
  EXPECT_EQ(status, 0) << said;
  EXPECT_NE(said.find("(the dump holds registers only; "), std::string::npos) << said;
}

// A dump is queued before the job's end is told, so a later one comes after the one that is not to
// be: if the first of two hangs had left one, it would be there.
TEST_F(CoreDump, NoneIfNoneIsWanted) {
  write_text(kParameter, "0");
  hang();
  write_text(kParameter, "registers");
  hang();
  ASSERT_TRUE(save()) << "no dump";
  EXPECT_NE(replay().first.find("registers only"), std::string::npos);
  EXPECT_FALSE(std::ofstream(kParameter) << "some" << std::flush) << "not a level";
}

TEST_F(Seeing, FdinfoTellsTimeAndMemoryOfAFile) {
  Chain busy(3);
  const Chain lazy(1);
  const auto before = busy.fdinfo();
  EXPECT_EQ(before.at("drm-engine-dla"), "0 ns");
  busy.run();
  const auto after = busy.fdinfo();
  EXPECT_EQ(after.at("drm-driver"), "nvdla");
  EXPECT_EQ(after.count("drm-pdev"), 1u);
  EXPECT_GT(std::stoull(after.at("drm-engine-dla")), 0u);
  EXPECT_EQ(lazy.fdinfo().at("drm-engine-dla"), "0 ns") << "another file's";
  EXPECT_NE(after.at("drm-client-id"), lazy.fdinfo().at("drm-client-id"));
  // Four pages. Older kernels have a key of their own for it.
  const std::string key = after.count("drm-total-dram") ? "drm-total-dram" : "drm-memory-dram";
  EXPECT_EQ(after.at(key), "16 KiB");
  EXPECT_EQ(lazy.fdinfo().at(key), "8 KiB");
}

// How many jobs have left the device.
unsigned long jobs() {
  std::smatch parts;
  const std::string text = debugfs("status");
  return std::regex_search(text, parts, std::regex("jobs: ([0-9]+)\n")) ? std::stoul(parts[1]) : 0;
}

// With nvdla_spoil.ko: no program that the driver accepts, and no device, leads there.
class Spoiled : public CoreDump {
 protected:
  static constexpr const char* kLayers = "/sys/module/nvdla_spoil/parameters/layers";
};

TEST_F(Spoiled, AProgramThatWasChangedIsDumpedAndHarmsNobodyElse) {
  Client innocent;
  Client client(3);
  write_text(kLayers, "2");
  EXPECT_EQ(client.run(), ECANCELED);
  EXPECT_EQ(read_text(kLayers), "0\n");
  ASSERT_TRUE(save()) << "no dump";
  const std::string status = debugfs("status");
  EXPECT_TRUE(std::regex_search(
      status, std::regex("last failure: broken in layer 1 of program [0-9]+ at [0-9]+ ns\n")))
      << status;
  const auto [said, result] = replay();
  EXPECT_EQ(result, 1) << said;
  EXPECT_TRUE(std::regex_search(
      said, std::regex("FAIL .*\\(layer 1: the driver was to write 0x[0-9a-f]{8} to 0x3f000, a "
                       "register of none of the layer's units: its program was changed after it "
                       "was checked\\)")))
      << said;
  // Registers are there: layer 0 was in the device.
  std::smatch counts;
  ASSERT_TRUE(std::regex_search(said, counts, std::regex(" ([0-9]+) registers and"))) << said;
  EXPECT_GT(std::stoul(counts[1]), 10u);
  // Nobody is guilty, and the device works on, but for this program.
  EXPECT_EQ(client.state().state, std::uint32_t{DRM_NVDLA_CONTEXT_INNOCENT});
  EXPECT_EQ(innocent.run(), 0);
  EXPECT_TRUE(innocent.copied());
  EXPECT_EQ(client.run(), ECANCELED);
}

TEST_F(Seeing, DebugfsNamesTheRegisters) {
  Chain(1).run();
  std::istringstream text(debugfs("registers"));
  const std::regex form("0x([0-9a-f]{5}) 0x([0-9a-f]{8}) ([A-Z0-9_]+\\.[A-Z0-9_]+)( group [01])?");
  std::map<std::string, std::string> values;
  for (std::string line; std::getline(text, line);) {
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(line, parts, form)) << line;
    EXPECT_TRUE(values.emplace(parts[3].str() + parts[4].str(), parts[2]).second) << line;
  }
  EXPECT_GT(values.size(), 600u);
  EXPECT_EQ(values.at("GLB.S_NVDLA_HW_VERSION"), "00303031");
  // One group was used since the reset, the other was not, and is shown all the same.
  EXPECT_EQ(values.count("SDP.D_DATA_CUBE_HEIGHT group 0"), 1u);
  EXPECT_EQ(values.count("SDP.D_DATA_CUBE_HEIGHT group 1"), 1u);
  EXPECT_EQ(values.count("SDP.S_LUT_ACCESS_DATA"), 0u) << "reading it moves it on";
}

// Layers alternate between the groups: a pointer left wrong would spoil the next.
TEST_F(Seeing, ReadingRegistersDisturbsNothing) {
  for (int i = 0; i < 4; ++i) {
    Chain chain(3);
    faults_.set(NVDLA_FAULT_DELAY_US, 50000);
    const std::uint32_t done = chain.start();
    EXPECT_FALSE(debugfs("registers").empty());
    EXPECT_EQ(chain.wait(done), 0);
    faults_.set(NVDLA_FAULT_DELAY_US, 0);
    chain.run();
  }
  // It may have gone to sleep since.
  const std::string status = debugfs("status");
  EXPECT_TRUE(std::regex_search(status, std::regex("state: (running|paused)\n"))) << status;
}

TEST_F(Seeing, DebugfsTellsJobsContextsAndBuffers) {
  hang();
  const std::string status = debugfs("status");
  EXPECT_NE(status.find("configuration: nv_"), std::string::npos) << status;
  EXPECT_TRUE(std::regex_search(
      status, std::regex("last failure: hang in layer 1 of program [0-9]+ at [0-9]+ ns\n")))
      << status;
  Chain chain(1);
  Chain other(1);
  faults_.block(1);
  const auto before = jobs();
  const std::uint32_t first = chain.start();
  std::string queue;
  // Otherwise the other may be the one that blocks.
  do {
    queue = debugfs("queue");
  } while (queue.find("running: program") == std::string::npos);
  const std::uint32_t second = other.start();
  // The scheduler takes its time to find the second ready; the first takes longer to fail.
  do {
    queue = debugfs("queue");
  } while (queue.find("ready") == std::string::npos &&
           queue.find("guilty, layer 0") == std::string::npos);
  EXPECT_TRUE(
      std::regex_search(queue, std::regex("running: program [0-9]+, layer 0 of 1, [0-9]+ ns\n")))
      << queue;
  EXPECT_TRUE(std::regex_search(
      queue, std::regex("  context [0-9]+: good\n    ready: program [0-9]+, layer 0 of 1\n")))
      << queue;
  must(chain.wait(first), "wait");
  must(other.wait(second), "wait");
  EXPECT_EQ(jobs(), before + 2);
  queue = debugfs("queue");
  EXPECT_NE(queue.find("running: nothing\n"), std::string::npos) << queue;
  EXPECT_TRUE(std::regex_search(queue, std::regex("  context [0-9]+: guilty, layer 0\n"))) << queue;
  const std::string memory = debugfs("memory");
  EXPECT_TRUE(
      std::regex_search(memory, std::regex("  buffer 1: dram, 4096 bytes at 0x[0-9a-f]+\n")))
      << memory;
}

class Tracing : public Seeing {
 protected:
  static constexpr const char* kFolder = "/sys/kernel/tracing/";

  void SetUp() override {
    Seeing::SetUp();
    write_text(std::string(kFolder) + "trace", "");
    write_text(std::string(kFolder) + "events/nvdla/enable", "1");
  }
  void TearDown() override {
    write_text(std::string(kFolder) + "events/nvdla/enable", "0");
    Seeing::TearDown();
  }

  // "nvdla_job_start: fence=..." and so on, in their order.
  static std::vector<std::string> events() {
    std::istringstream text(read_text(std::string(kFolder) + "trace"));
    std::vector<std::string> result;
    for (std::string line; std::getline(text, line);) {
      const std::size_t at = line.find("nvdla_");
      if (line.rfind('#', 0) != 0 && at != std::string::npos) result.push_back(line.substr(at));
    }
    return result;
  }
  // As an algorithm wants it.
  static auto is(const char* name) {
    return [name](const std::string& event) { return name_of(event) == name; };
  }
  static std::string name_of(const std::string& event) { return event.substr(0, event.find(':')); }
  static std::string fence_of(const std::string& event) {
    std::smatch parts;
    return std::regex_search(event, parts, std::regex("fence=([0-9]+:[0-9]+)")) ? parts[1].str()
                                                                                : "";
  }
  static std::string device_of(const std::string& event) {
    std::smatch parts;
    return std::regex_search(event, parts, std::regex(": dev=(\\S+) ")) ? parts[1].str() : "";
  }
};

TEST_F(Tracing, FollowsAJobThroughItsLayers) {
  Chain(2).run();
  auto seen = events();
  // That of an earlier test is told after the first job may run again.
  seen.erase(std::remove_if(seen.begin(), seen.end(), is("nvdla_reset")), seen.end());
  std::vector<std::string> names;
  for (const std::string& event : seen) names.push_back(name_of(event));
  // The layers start and end one after the other: the second waits for the first.
  const std::vector<std::string> expected = {
      "nvdla_job_queue",   "nvdla_job_start", "nvdla_layer_start",
      "nvdla_layer_start", "nvdla_layer_end", "nvdla_layer_start",
      "nvdla_layer_start", "nvdla_layer_end", "nvdla_job_end"};
  ASSERT_EQ(names, expected);
  for (const std::string& event : seen) {
    EXPECT_EQ(fence_of(event), fence_of(seen[0])) << event;
    EXPECT_NE(fence_of(event), "") << event;
    EXPECT_EQ(device_of(event), device_of(seen[0])) << event;
    EXPECT_NE(device_of(event), "") << event;
  }
  EXPECT_NE(seen.back().find(" result=1 "), std::string::npos) << seen.back();
}

// Two contexts want the device, and a layer takes longer than the share of one. The device stands
// still until both do.
TEST_F(Tracing, TellsThatAJobIsCut) {
  Chain one(3);
  Chain other(3);
  faults_.set(NVDLA_FAULT_DELAY_US, 100000);
  const auto before = jobs();
  faults_.block(1);
  const std::uint32_t first = one.start();
  wait_until_blocked();
  const std::uint32_t second = other.start();
  while (!other.ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  faults_.set(NVDLA_FAULT_BLOCK, 0);
  must(one.wait(first), "wait");
  must(other.wait(second), "wait");
  EXPECT_EQ(jobs(), before + 2) << "a job counts once, however often it was cut";
  const auto seen = events();
  const auto cut = std::find_if(seen.begin(), seen.end(), [](const std::string& event) {
    return event.find(" result=6 ") != std::string::npos;
  });
  ASSERT_NE(cut, seen.end());
  std::vector<std::string> results;
  std::ptrdiff_t starts = 0;
  for (const std::string& event : seen) {
    if (fence_of(event) != fence_of(*cut)) continue;
    if (name_of(event) == "nvdla_job_start") ++starts;
    if (name_of(event) == "nvdla_job_end")
      results.push_back(event.substr(event.find(" result="), 9));
  }
  EXPECT_EQ(starts, std::ssize(results));
  EXPECT_EQ(results.back(), " result=1");
  EXPECT_EQ(std::count(results.begin(), results.end(), " result=6"), starts - 1);
}

TEST_F(Tracing, TellsAHangAndTheReset) {
  hang();
  auto seen = events();
  // The job ends first, then a worker resets the device.
  const auto reset_after = [&seen](auto from) {
    return std::find_if(from, seen.end(), is("nvdla_reset"));
  };
  const auto find_end = [&seen] {
    return std::find_if(seen.begin(), seen.end(), is("nvdla_job_end"));
  };
  for (int i = 0; i < 12000 && reset_after(find_end()) == seen.end(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    seen = events();
  }
  const auto end = find_end();
  ASSERT_NE(end, seen.end());
  EXPECT_NE(end->find(" result=2 layer=1 "), std::string::npos) << *end;
  EXPECT_EQ(std::count_if(seen.begin(), seen.end(), is("nvdla_layer_end")), 1);
  const auto reset = reset_after(end);
  ASSERT_NE(reset, seen.end());
  EXPECT_NE(reset->find(" ret=0"), std::string::npos) << *reset;
}

}  // namespace
}  // namespace nvdla::emulator_test
