// SPDX-License-Identifier: MIT
//
// Control data of programs: copied when a program is created, bound by the driver, and nobody
// else's. Any device has the slot; compressed weights, which need it, only the first generation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "node.hpp"

namespace nvdla::ioctl_test {
namespace {

// The copy with a third slot for control data, which its layer does not use.
struct ControlProgram : CopyProgram {
  explicit ControlProgram(std::uint32_t atom) : CopyProgram(atom) {
    slots.push_back({control.size(), atom, NVDLA_MEMORY_DRAM, NVDLA_SLOT_CONTROL, 0});
  }
  drm_nvdla_program_create args() {
    auto args = CopyProgram::args();
    args.control = array_of(control);
    return args;
  }

  std::vector<std::uint8_t> control = std::vector<std::uint8_t>(256, 0x3c);
};

struct ControlFault {
  std::string name;
  std::function<void(ControlProgram&, drm_nvdla_program_create&)> break_it;
  int error;
  std::uint32_t rule = 0, object = 0, index = 0;
};

class ControlRefused : public testing::TestWithParam<ControlFault> {};

TEST_P(ControlRefused, WithErrnoAndRule) {
  Node node;
  ASSERT_GE(node.fd(), 0);
  ControlProgram program(node.info().atom_bytes);
  auto args = program.args();
  GetParam().break_it(program, args);
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), GetParam().error);
  EXPECT_EQ(program.error.rule, GetParam().rule);
  EXPECT_EQ(program.error.object, GetParam().object);
  EXPECT_EQ(program.error.index, GetParam().index);
}

using Args = drm_nvdla_program_create;

INSTANTIATE_TEST_SUITE_P(
    Ioctl, ControlRefused,
    testing::Values(
        ControlFault{"NotMapped", [](ControlProgram&, Args& a) { a.control.pointer = 64; }, EFAULT},
        ControlFault{"PartlyMapped",
                     [](ControlProgram&, Args& a) { a.control.pointer = ~0ull - 128; }, EFAULT},
        ControlFault{"StrideOfTwo", [](ControlProgram&, Args& a) { a.control.stride = 2; }, EINVAL},
        ControlFault{"StrideOfNone", [](ControlProgram&, Args& a) { a.control.stride = 0; },
                     EINVAL},
        ControlFault{"PointerWithoutCount", [](ControlProgram&, Args& a) { a.control.count = 0; },
                     EINVAL},
        ControlFault{
            "TooMuch",
            [](ControlProgram&, Args& a) { a.control.count = NVDLA_MAX_CONTROL_BYTES + 1; }, E2BIG},
        ControlFault{"Missing", [](ControlProgram&, Args& a) { a.control = {}; }, EINVAL,
                     NVDLA_RULE_CONTROL_SIZE, NVDLA_OBJECT_SLOT, 2},
        ControlFault{"ShortByOne", [](ControlProgram&, Args& a) { a.control.count -= 1; }, EINVAL,
                     NVDLA_RULE_CONTROL_SIZE, NVDLA_OBJECT_SLOT, 2},
        ControlFault{"WithoutSlot", [](ControlProgram&, Args& a) { a.slots.count = 2; }, EINVAL,
                     NVDLA_RULE_CONTROL_SIZE, NVDLA_OBJECT_PROGRAM, 0},
        ControlFault{"TwoSlots",
                     [](ControlProgram& p, Args& a) {
                       p.slots.push_back(p.slots.back());
                       a.slots = array_of(p.slots);
                     },
                     EINVAL, NVDLA_RULE_CONTROL_SLOT, NVDLA_OBJECT_SLOT, 3},
        ControlFault{"ReadByALayer",
                     [](ControlProgram& p, Args&) { p.layers[0].sdp.input.slot = 2; }, EINVAL,
                     NVDLA_RULE_SLOT_ACCESS, NVDLA_OBJECT_LAYER, 0},
        ControlFault{"WrittenByALayer",
                     [](ControlProgram& p, Args&) { p.layers[0].sdp.output.slot = 2; }, EINVAL,
                     NVDLA_RULE_SLOT_ACCESS, NVDLA_OBJECT_LAYER, 0}),
    [](const auto& test) { return test.param.name; });

class Control : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(node.fd(), 0) << "no node of the driver nvdla";
    context = node.context();
    done = node.syncobj();
  }

  // Returns the errno of SUBMIT, or of the wait for its end.
  int run(std::uint32_t program, const std::vector<drm_nvdla_binding>& bindings) {
    const std::vector<drm_nvdla_sync> syncs = {{done, DRM_NVDLA_SYNC_SIGNAL, 0}};
    drm_nvdla_submit submit{};
    submit.bindings = array_of(bindings);
    submit.syncs = array_of(syncs);
    submit.error = reinterpret_cast<std::uintptr_t>(&error);
    submit.error_bytes = sizeof(error);
    submit.context = context;
    submit.program = program;
    const int result = node.call(DRM_IOCTL_NVDLA_SUBMIT, &submit);
    return result != 0 ? result : node.wait(done, kAfterDeadline);
  }

  Node node;
  std::uint32_t context = 0, done = 0;
  nvdla_error error{};
};

TEST_F(Control, LimitIsTold) { EXPECT_EQ(node.limits().control_bytes, NVDLA_MAX_CONTROL_BYTES); }

TEST_F(Control, OnlyAnEmptyBindingStandsForIt) {
  ControlProgram program(node.info().atom_bytes);
  auto create = program.args();
  ASSERT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &create), 0);
  const auto source = node.buffer(kPage), target = node.buffer(kPage), other = node.buffer(kPage);
  std::memset(node.map(source, kPage), 0x71, kPage);
  node.sync(source, DRM_NVDLA_BO_SYNC_TO_DEVICE, kPage);

  for (const drm_nvdla_binding& wrong :
       {drm_nvdla_binding{0, other, 0}, drm_nvdla_binding{64, 0, 0},
        drm_nvdla_binding{0, 9999, 0}}) {
    EXPECT_EQ(run(create.program, {{0, source, 0}, {0, target, 0}, wrong}), EINVAL);
    EXPECT_EQ(error.rule, NVDLA_RULE_BINDING_CONTROL);
    EXPECT_EQ(error.object, NVDLA_OBJECT_BINDING);
    EXPECT_EQ(error.index, 2u);
  }
  error = {};
  EXPECT_EQ(run(create.program, {{0, source, 0}, {0, target, 0}, {0, 0, 1}}), EINVAL);
  EXPECT_EQ(error.rule, NVDLA_RULE_NONE);
  // Nothing stands for an ordinary slot.
  EXPECT_EQ(run(create.program, {{0, source, 0}, {0, 0, 0}, {0, 0, 0}}), ENOENT);
  const auto* to = node.map(target, kPage);
  node.sync(target, DRM_NVDLA_BO_SYNC_FROM_DEVICE, kPage);
  EXPECT_TRUE(std::all_of(to, to + kPage, [](auto b) { return b == 0; }));

  EXPECT_EQ(run(create.program, {{0, source, 0}, {0, target, 0}, {0, 0, 0}}), 0);
  node.sync(target, DRM_NVDLA_BO_SYNC_FROM_DEVICE, kPage);
  EXPECT_TRUE(std::all_of(to, to + program.bytes, [](auto b) { return b == 0x71; }));
}

// 4 x 1 x 32, one kernel of 1 x 1 whose only weight that is not zero doubles channel 3.
struct CompressedConvolution {
  enum Slot : std::uint32_t { kInput, kWeights, kOutput, kControl };

  CompressedConvolution() : control(128 + 32) {
    nvdla_layer layer{};
    nvdla_conv& conv = layer.conv;
    layer.kind = NVDLA_LAYER_CONV_SDP;
    conv.flags = NVDLA_CONV_COMPRESSED;
    conv.width = 4;
    conv.height = conv.batch = conv.kernels = conv.kernel_width = conv.kernel_height = 1;
    conv.stride_width = conv.stride_height = conv.dilation_width = conv.dilation_height = 1;
    conv.channels = 32;
    conv.data_banks = conv.weight_banks = conv.post_extension = 1;
    conv.input = {0, kInput, 128, 128, 0};
    conv.weights = {0, kWeights, 128};
    conv.wmb = {0, kControl, 128};
    conv.wgs = {128, kControl, 4};
    layer.sdp.out_cvt.scale = 1;
    layer.sdp.output = {0, kOutput, 128, 128, 0};
    layers.push_back(layer);
    for (const std::uint32_t access :
         {NVDLA_SLOT_READ, NVDLA_SLOT_READ, NVDLA_SLOT_WRITE, NVDLA_SLOT_CONTROL})
      slots.push_back({128, 32, NVDLA_MEMORY_DRAM, access, 0});
    slots[kControl].size = control.size();
    control[0] = 0x08;
    control[128] = 1;
  }
  drm_nvdla_program_create args() {
    drm_nvdla_program_create args{};
    args.layers = array_of(layers);
    args.slots = array_of(slots);
    args.control = array_of(control);
    args.error = reinterpret_cast<std::uintptr_t>(&error);
    args.error_bytes = sizeof(error);
    return args;
  }

  std::vector<nvdla_layer> layers;
  std::vector<nvdla_slot> slots;
  std::vector<std::uint8_t> control;
  nvdla_error error{};
};

class Compressed : public Control {
 protected:
  void SetUp() override {
    Control::SetUp();
    first_generation = node.info().generation == 1;
  }
  bool first_generation = false;
};

TEST_F(Compressed, RunsOnWhatWasChecked) {
  CompressedConvolution conv;
  auto create = conv.args();
  if (!first_generation) {
    EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &create), EINVAL);
    EXPECT_EQ(conv.error.rule, NVDLA_RULE_FEATURE);
    EXPECT_EQ(conv.error.value, NVDLA_FEATURE_COMPRESSION);
    return;
  }
  ASSERT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &create), 0)
      << "rule " << conv.error.rule << " field " << conv.error.field;
  // What becomes of the user's copy is nobody's business any more.
  std::fill(conv.control.begin(), conv.control.end(), 0xff);

  const auto input = node.buffer(kPage), weights = node.buffer(kPage), output = node.buffer(kPage);
  auto* in = node.map(input, kPage);
  for (int i = 0; i < 128; ++i) in[i] = static_cast<std::uint8_t>(i % 50);
  node.map(weights, kPage)[0] = 2;
  for (const std::uint32_t handle : {input, weights})
    node.sync(handle, DRM_NVDLA_BO_SYNC_TO_DEVICE, kPage);
  auto* out = node.map(output, kPage);
  for (int runs = 0; runs < 3; ++runs) {
    std::fill(out, out + kPage, 0xa5);
    node.sync(output, DRM_NVDLA_BO_SYNC_TO_DEVICE, kPage);
    ASSERT_EQ(run(create.program, {{0, input, 0}, {0, weights, 0}, {0, output, 0}, {0, 0, 0}}), 0);
    node.sync(output, DRM_NVDLA_BO_SYNC_FROM_DEVICE, kPage);
    for (int x = 0; x < 4; ++x) EXPECT_EQ(out[x * 32], 2 * in[x * 32 + 3]) << x;
    EXPECT_EQ(out[128], 0xa5);
  }
  // A job holds its program.
  drm_nvdla_program_destroy destroy{create.program, 0};
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_DESTROY, &destroy), 0);
}

TEST_F(Compressed, TablesThatWouldHangAreRefused) {
  if (!first_generation) return;
  struct {
    std::size_t byte;
    std::uint8_t value;
    std::uint32_t rule;
  } const faults[] = {{128, 2, NVDLA_RULE_GROUP_SIZE},
                      {0, 0x0c, NVDLA_RULE_GROUP_SIZE},
                      {0, 0, NVDLA_RULE_GROUP_EMPTY},
                      {4, 1, NVDLA_RULE_MASK_PADDING}};
  for (const auto& fault : faults) {
    CompressedConvolution conv;
    conv.control[fault.byte] = fault.value;
    auto create = conv.args();
    EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &create), EINVAL);
    EXPECT_EQ(conv.error.rule, fault.rule);
  }
  CompressedConvolution conv;
  conv.layers[0].conv.weights.bytes = 256;
  conv.slots[CompressedConvolution::kWeights].size = 256;
  auto create = conv.args();
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &create), EINVAL);
  EXPECT_EQ(conv.error.rule, NVDLA_RULE_RANGE);
}

}  // namespace
}  // namespace nvdla::ioctl_test
