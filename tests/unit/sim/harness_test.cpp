// SPDX-License-Identifier: MIT
//
// The harness for Verilator that is shipped, compiled as it is, around a top that behaves as the
// published logic where a harness can go wrong (standin/Vnvdla.h): all steps of the self-test, and
// networks whose buffers end within a beat, are what they are on the model.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "backend/open/open_registers.hpp"
#include "common/command.hpp"
#include "firmware/nvdla_hw.h"
#include "nvdla/nvdla.hpp"
#include "selftest/selftest.hpp"
#include "socket.hpp"

namespace nvdla::sim_test {
namespace {

struct Around {
  const char* configuration;
  std::vector<std::string> options;
};

std::string program_of(const char* configuration) {
  return std::string(NVDLA_STANDIN_PREFIX) + configuration;
}

// The harness as a process that serves one user.
class Process {
 public:
  explicit Process(const Around& around) {
    std::vector<std::string> words = {program_of(around.configuration), path_.name(), "--users=1",
                                      std::string("--config=") + around.configuration};
    words.insert(words.end(), around.options.begin(), around.options.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    process_ = ::fork();
    if (process_ == 0) {
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    while (::access(path_.name().c_str(), F_OK) != 0 && !ended())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~Process() {
    // It ends by itself behind its user; where there was none, it would wait for ever.
    using Clock = std::chrono::steady_clock;
    for (const auto until = Clock::now() + std::chrono::minutes(1); !ended();) {
      if (Clock::now() > until) ::kill(process_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(WIFEXITED(status_)) << status_;
    EXPECT_EQ(WEXITSTATUS(status_), 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::string device() const { return "sim:" + path_.name(); }

 private:
  bool ended() { return ended_ = ended_ || ::waitpid(process_, &status_, WNOHANG) == process_; }

  SocketPath path_;
  pid_t process_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

std::vector<std::int8_t> ramp(std::size_t size, unsigned step) {
  std::vector<std::int8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::int8_t>(i * step % 255 - 127);
  return bytes;
}

struct Layer {
  std::uint32_t channels, kernels, side;
};

std::vector<std::int8_t> run_on(const Device& device, const Layer& layer) {
  const auto weights = ramp(std::size_t{layer.kernels} * layer.channels, 91);
  const auto pixels = ramp(std::size_t{layer.channels} * layer.side * layer.side, 37);
  Network network;
  const Tensor in =
      network.input("in", {.channels = layer.channels, .height = layer.side, .width = layer.side});
  network.output(
      network.convolution(
          in, {.kernels = layer.kernels, .weights = weights, .output = requantize(0.01)}),
      "out");
  Request request = network.build(device);
  request.write("in", Layout::kNchw, std::span<const std::int8_t>(pixels));
  request.run();
  std::vector<std::int8_t> out(std::size_t{layer.kernels} * layer.side * layer.side);
  request.read("out", Layout::kNchw, std::span<std::int8_t>(out));
  return out;
}

class Harness : public testing::TestWithParam<Around> {};

TEST_P(Harness, PassesTheSelfTest) {
  const Process process(GetParam());
  const auto device = detail::open_bare(process.device());
  const auto report = selftest::test(*device, nvdla_hw_find(GetParam().configuration), {});
  for (const auto& entry : report.entries)
    for (const auto& finding : entry.result.findings)
      ADD_FAILURE() << entry.step.name << ": " << finding.saw << ", not " << finding.expected;
  EXPECT_TRUE(report.passed());
}

// Cubes of 7x7 end within a beat of 64 bytes: the interface reads, and with strobes writes, beyond.
TEST_P(Harness, RunsNetworksWhoseBuffersEndWithinABeat) {
  const Process process(GetParam());
  const Device device = Device::open(process.device());
  const Device model = Device::open(std::string("model:") + GetParam().configuration);
  for (const Layer& layer : {Layer{96, 96, 7}, Layer{64, 32, 7}, Layer{5, 3, 1}, Layer{40, 70, 5}})
    EXPECT_EQ(run_on(device, layer), run_on(model, layer))
        << layer.channels << " to " << layer.kernels;
}

// Images, whose lines may end anywhere.
TEST_P(Harness, RunsImagesWhoseLinesEndWithinABeat) {
  const Process process(GetParam());
  const auto run = [&](const Device& device) {
    Network network;
    const Tensor in = network.image(
        "in", {.format = NVDLA_PIXEL_A8B8G8R8, .width = 70, .height = 17, .line_stride = 288});
    const auto weights = ramp(std::size_t{8} * 4 * 9, 53);
    network.output(network.convolution(in, {.kernels = 8,
                                            .kernel_height = 3,
                                            .kernel_width = 3,
                                            .weights = weights,
                                            .output = requantize(0.01)}),
                   "out");
    Request request = network.build(device);
    std::vector<std::byte> pixels(std::size_t{70} * 17 * 4);
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::byte>(i * 29);
    request.write_pixels("in", pixels);
    request.run();
    std::vector<std::int8_t> out(std::size_t{8} * 15 * 68);
    request.read("out", Layout::kNchw, std::span<std::int8_t>(out));
    return out;
  };
  EXPECT_EQ(run(Device::open(process.device())),
            run(Device::open(std::string("model:") + GetParam().configuration)));
}

INSTANTIATE_TEST_SUITE_P(
    All, Harness,
    testing::Values(Around{"nv_small", {}}, Around{"nv_small", {"--latency=0", "--seed=7"}},
                    Around{"nv_small", {"--hold=100", "--jitter=30", "--memory=messages"}},
                    Around{"nv_medium_512", {"--latency=100", "--seed=3"}},
                    Around{"nv_large", {"--jitter=9"}}, Around{"nv_full", {}},
                    Around{"nv_full", {"--latency=1", "--hold=60", "--seed=5", "--gates=off"}}),
    [](const auto& test) {
      return std::string(test.param.configuration) + std::to_string(test.index);
    });

TEST(HarnessOptions, AreChecked) {
  const std::string program = program_of("nv_small");
  const std::pair<const char*, const char*> wrong[] = {
      {"", "expected the path of a socket"},
      {"/tmp/s --latency=x", "'--latency=x': expected a number from 0 to 100000"},
      {"/tmp/s --latency", "'--latency': expected a number from 0 to 100000"},
      {"/tmp/s --hold=256", "'--hold=256': expected a number from 0 to 255"},
      {"/tmp/s --gates=on", "'--gates=on' is no option"},
      {"/tmp/s /tmp/t", "'/tmp/t' is no option"}};
  for (const auto& [arguments, message] : wrong) {
    const auto result = test::run_command(program, arguments);
    EXPECT_EQ(result.status, 2) << arguments;
    EXPECT_NE(result.output.find(message), std::string::npos) << result.output;
  }
  const auto nowhere = test::run_command(program, "/nonexistent/s");
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_NE(nowhere.output.find("/nonexistent/s: No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace nvdla::sim_test
