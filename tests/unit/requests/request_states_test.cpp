// SPDX-License-Identifier: MIT
//
// What a request allows in each of its states, the table in nvdla/request.hpp.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/manual_fence.hpp"
#include "common/runtime/only_program.hpp"
#include "common/runtime/small_program.hpp"
#include "device/compiled_impl.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/network.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {
namespace {

using test::expect_error;
using test::fence_of;
using test::ManualFence;

enum class State { kNew, kRunning, kEnded, kFailed };
constexpr State kStates[] = {State::kNew, State::kRunning, State::kEnded, State::kFailed};
constexpr const char* kStateNames[] = {"new", "running", "ended", "failed"};

// One layer that adds 1, from "in" to "out".
Network network() {
  static const std::vector<std::int16_t> kOne = {1};
  Network net;
  net.output(net.pointwise(net.input("in", {8, 2, 2}), {.name = "more", .x1 = bias(kOne)}), "out");
  net.output(net.convolution(net.image("camera", {.width = 4, .height = 4}),
                             {.name = "filter", .weights = std::vector<std::int8_t>{1}}),
             "filtered");
  return net;
}

// A request in a state; what runs ends with it.
class Rig {
 public:
  explicit Rig(State state, bool statistics = true)
      : request(network().build(device, {.statistics = statistics})) {
    request.write("in", Layout::kNchw, values);
    if (state == State::kNew) return;
    const std::vector<Fence> waits = {fence_of(gate)};
    fence = request.submit({.wait_fences = waits});
    if (state == State::kRunning) return;
    end(state == State::kFailed ? std::optional(Error(ErrorCode::kHang, "the other is stuck"))
                                : std::nullopt);
  }
  ~Rig() { end(std::nullopt); }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  void end(const std::optional<Error>& error) {
    if (ended_) return;
    ended_ = true;
    gate->end(error);
    try {
      fence.wait();
    } catch (const Error& failed) {
      EXPECT_TRUE(error.has_value()) << failed.what();
    }
  }

  Device device = Device::open("model:nv_small");
  std::vector<std::int8_t> values = std::vector<std::int8_t>(32, 3);
  std::shared_ptr<ManualFence> gate = std::make_shared<ManualFence>();
  Request request;
  Fence fence;

 private:
  bool ended_ = false;
};

struct Call {
  std::string name;
  enum Kind { kInput, kRun, kResult, kOther } kind;
  std::function<void(Rig&)> make;
};

template <typename T>
Call write_call(const char* name) {
  return {name, Call::kInput,
          [](Rig& r) { r.request.write("in", Layout::kNchw, std::vector<T>(32)); }};
}

template <typename T>
Call read_call(const char* name) {
  return {name, Call::kResult, [](Rig& r) {
            std::vector<T> target(32);
            r.request.read("out", Layout::kNchw, target);
          }};
}

std::vector<Call> calls() {
  return {
      write_call<std::int8_t>("writing 'in'"),
      write_call<float>("writing 'in'"),
      {"writing 'camera'", Call::kInput,
       [](Rig& r) { r.request.write_pixels("camera", std::vector<std::byte>(16)); }},
      {"binding 'in'", Call::kInput, [](Rig& r) { r.request.bind("in", r.device.allocate(4096)); }},
      {"binding 'out'", Call::kInput,
       [](Rig& r) { r.request.bind("out", r.device.allocate(4096)); }},
      {"submitting", Call::kRun, [](Rig& r) { r.request.submit().wait(); }},
      {"submitting", Call::kRun, [](Rig& r) { r.request.run(); }},
      read_call<std::int8_t>("reading 'out'"),
      read_call<float>("reading 'out'"),
      {"reading 'in'", Call::kInput,
       [](Rig& r) {
         std::vector<std::int8_t> target(32);
         r.request.read("in", Layout::kNchw, target);
       }},
      {"running layer by layer", Call::kInput,
       [](Rig& r) { r.request.visit_layers([](const LayerTensor&) {}); }},
      {"running layer by layer", Call::kInput,
       [](Rig& r) { EXPECT_FALSE(r.request.compare_layers(r.device)); }},
      {"statistics", Call::kResult,
       [](Rig& r) { EXPECT_EQ(r.request.statistics().size(), r.request.network().layers()); }},
      {"inputs", Call::kOther, [](Rig& r) { EXPECT_EQ(r.request.network().inputs(), 2U); }},
      {"outputs", Call::kOther, [](Rig& r) { EXPECT_EQ(r.request.network().outputs(), 2U); }},
      {"input_name", Call::kOther,
       [](Rig& r) { EXPECT_EQ(r.request.network().input_name(0), "in"); }},
      {"output_name", Call::kOther,
       [](Rig& r) { EXPECT_EQ(r.request.network().output_name(0), "out"); }},
      {"desc", Call::kOther,
       [](Rig& r) { EXPECT_EQ(r.request.network().desc("out").shape.channels, 8U); }},
      {"image", Call::kOther,
       [](Rig& r) { EXPECT_EQ(r.request.network().image("camera").width, 4U); }},
      {"buffer", Call::kOther,
       [](Rig& r) { EXPECT_TRUE(static_cast<bool>(r.request.buffer("in"))); }},
      {"layers", Call::kOther, [](Rig& r) { EXPECT_EQ(r.request.network().layers(), 2U); }},
      {"layer_name", Call::kOther,
       [](Rig& r) { EXPECT_EQ(r.request.network().layer_name(0), "more"); }},
      {"layer_cycles", Call::kOther,
       [](Rig& r) { EXPECT_GT(r.request.network().layer_cycles(0), 0U); }},
      {"layer_macs", Call::kOther,
       [](Rig& r) { EXPECT_EQ(r.request.network().layer_macs(0), 0U); }},
  };
}

TEST(RequestStates, AllowWhatTheTableSays) {
  for (const State state : kStates) {
    for (const Call& call : calls()) {
      SCOPED_TRACE(std::string(kStateNames[static_cast<int>(state)]) + ": " + call.name);
      Rig rig(state);
      const auto refused = [&](ErrorCode code, const std::string& why) {
        expect_error(code, call.name + ": " + why, [&] { call.make(rig); });
      };
      if (call.kind == Call::kOther) {
        EXPECT_NO_THROW(call.make(rig));
      } else if (state == State::kRunning) {
        refused(ErrorCode::kBusy, "the request is running: wait for its fence first");
      } else if (call.kind != Call::kResult || state == State::kEnded) {
        EXPECT_NO_THROW(call.make(rig));
      } else if (state == State::kNew) {
        refused(ErrorCode::kInvalidArgument, "the request has not run yet");
      } else {
        refused(ErrorCode::kCanceled,
                "the last run failed: a job that this one waits for failed: the other is stuck");
      }
    }
  }
}

TEST(RequestStates, StatisticsThatNobodyAskedForAreEmpty) {
  for (const State state : kStates) EXPECT_TRUE(Rig(state, false).request.statistics().empty());
}

TEST(RequestStates, AMovedRequestIsEmpty) {
  for (const Call& call : calls()) {
    SCOPED_TRACE(call.name);
    Rig rig(State::kEnded);
    const Request moved = std::move(rig.request);
    EXPECT_EQ(moved.network().layers(), 2U);
    // NOLINTBEGIN(bugprone-use-after-move): what is left is refused.
    expect_error(ErrorCode::kInvalidArgument, "the request is empty: it was moved from",
                 [&] { call.make(rig); });
    // NOLINTEND(bugprone-use-after-move)
  }
}

TEST(RequestStates, ARunGoesOnWithoutItsRequest) {
  Device device = Device::open("model:nv_small");
  const auto gate = std::make_shared<ManualFence>();
  const std::vector<Fence> waits = {fence_of(gate)};
  std::optional<Request> request = network().build(device);
  std::vector<std::int8_t> values(32, 3);
  request->write("in", Layout::kNchw, values);
  const Fence fence = request->submit({.wait_fences = waits});
  const Buffer out = request->buffer("out");
  const TensorDesc desc = request->network().desc("out");
  request.reset();
  gate->end();
  fence.wait();
  unpack(desc, Layout::kNchw, out.map(MapMode::kRead).bytes(), values);
  EXPECT_EQ(values, std::vector<std::int8_t>(32, 4));
}

// ---- what a run gave, and what makes it stale

TEST(RequestResults, OfABoundOutputComesWithTheNextRun) {
  Rig rig(State::kEnded);
  std::vector<std::int8_t> found(32);
  const Buffer before = rig.request.buffer("out");
  rig.request.bind("out", rig.device.allocate(4096));
  expect_error(ErrorCode::kInvalidArgument,
               "reading 'out': it was bound to another buffer after the last run: run again first",
               [&] { rig.request.read("out", Layout::kNchw, found); });
  // Other outputs are as they were.
  std::vector<std::int8_t> filtered(16);
  EXPECT_NO_THROW(rig.request.read("filtered", Layout::kNchw, filtered));
  rig.request.run();
  rig.request.read("out", Layout::kNchw, found);
  EXPECT_EQ(found, std::vector<std::int8_t>(32, 4));
  // The first buffer keeps what the first run left there.
  unpack(rig.request.network().desc("out"), Layout::kNchw, before.map(MapMode::kRead).bytes(),
         found);
  EXPECT_EQ(found, std::vector<std::int8_t>(32, 4));
}

TEST(RequestResults, StayWhenInputsChange) {
  Rig rig(State::kEnded);
  rig.request.write("in", Layout::kNchw, std::vector<std::int8_t>(32, 90));
  rig.request.bind("in", rig.device.allocate(4096));
  std::vector<std::int8_t> found(32);
  rig.request.read("out", Layout::kNchw, found);
  EXPECT_EQ(found, std::vector<std::int8_t>(32, 4));
}

TEST(RequestResults, OfAnInputAreWhatWasWritten) {
  Rig rig(State::kNew);
  rig.request.write("in", Layout::kNchw, std::vector<std::int8_t>(32, 90));
  std::vector<std::int8_t> found(32);
  rig.request.read("in", Layout::kNchw, found);
  EXPECT_EQ(found, std::vector<std::int8_t>(32, 90));
  expect_error(ErrorCode::kInvalidArgument, "'camera' is an image",
               [&] { rig.request.read("camera", Layout::kNchw, found); });
}

TEST(RequestResults, StayWhenASubmissionIsRefused) {
  Rig rig(State::kEnded);
  const Buffer in = rig.request.buffer("in");
  rig.request.bind("in", rig.request.buffer("out"));
  EXPECT_THROW(rig.request.submit(), Error);
  std::vector<std::int8_t> found(32);
  rig.request.read("out", Layout::kNchw, found);
  EXPECT_EQ(found, std::vector<std::int8_t>(32, 4));
  rig.request.bind("in", in);
  EXPECT_NO_THROW(rig.request.run());
}

TEST(RequestResults, OfAFailedRunAreGoneUntilTheNextOne) {
  Rig rig(State::kFailed);
  std::vector<std::int8_t> found(32);
  EXPECT_THROW(rig.request.read("out", Layout::kNchw, found), Error);
  rig.request.run();
  rig.request.read("out", Layout::kNchw, found);
  EXPECT_EQ(found, std::vector<std::int8_t>(32, 4));
}

// ---- buffers of the application

TEST(RequestBind, RefusesWhatCannotTakeThePlace) {
  Rig rig(State::kNew);
  const auto refused = [&](const std::string& text, const Buffer& buffer) {
    expect_error(ErrorCode::kInvalidArgument, text, [&] { rig.request.bind("in", buffer); });
  };
  refused("the buffer for 'in' is an empty handle", Buffer());
  refused("the buffer for 'in' has 31 bytes, 32 are needed", rig.device.allocate(31));
  refused("the buffer for 'in' belongs to another device",
          Device::open("model:nv_small").allocate(4096));
  const Device full = Device::open("model:nv_full");
  Request request = network().build(full);
  expect_error(ErrorCode::kInvalidArgument,
               "the buffer for 'in' is in SRAM, the tensor lies in DRAM",
               [&] { request.bind("in", full.allocate(4096, Memory::kSram)); });
  expect_error(ErrorCode::kInvalidArgument, "no input or output is called 'x'",
               [&] { request.bind("x", full.allocate(4096)); });
}

// What only the submission knows is said by name.
TEST(RequestBind, BuffersThatDoNotGoTogetherAreNamed) {
  Rig rig(State::kNew);
  const Buffer both = rig.device.allocate(4096);
  rig.request.bind("in", both);
  rig.request.bind("out", both);
  for (const auto& call :
       {std::function([&] { rig.request.run(); }), std::function([&] { rig.request.submit(); })}) {
    const auto error = expect_error(ErrorCode::kInvalidBinding, "shares bytes with ", call);
    const std::string text = error->what();
    EXPECT_NE(text.find("input 'in'"), std::string::npos) << text;
    EXPECT_NE(text.find("output 'out'"), std::string::npos) << text;
    EXPECT_EQ(text.find("slot"), std::string::npos) << text;
    EXPECT_EQ(error->rule(), static_cast<std::uint32_t>(NVDLA_RULE_BINDING_OVERLAP));
  }
}

// A layer that does not end: run(), read() and the fence name it.
TEST(RequestErrors, OfARunNameItsLayer) {
  Rig rig(State::kNew);
  test::break_layer(rig.device, test::only_program(rig.request).program, 0);
  expect_error(ErrorCode::kHang, "'more': layer 0 (sdp) does not end", [&] { rig.request.run(); });
  std::vector<std::int8_t> found(32);
  expect_error(ErrorCode::kHang,
               "reading 'out': the last run failed: 'more': layer 0 (sdp) does not end",
               [&] { rig.request.read("out", Layout::kNchw, found); });
  const Fence fence = rig.request.submit();
  expect_error(ErrorCode::kHang, "'more': layer 0 (sdp) does not end", [&] { fence.wait(); });
  expect_error(ErrorCode::kHang, "'more': layer 0 (sdp) does not end",
               [&] { fence.wait(std::chrono::nanoseconds(0)); });
}

}  // namespace
}  // namespace nvdla
