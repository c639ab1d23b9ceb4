// SPDX-License-Identifier: MIT
//
// What a record of a run holds, that it can be run again bit for bit, and what happens when it
// cannot be written or read.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backend/backend.hpp"
#include "backend/record/record_backend.hpp"
#include "backend/record/record_format.hpp"
#include "common/property.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/manual_fence.hpp"
#include "common/runtime/random_layers.hpp"
#include "common/runtime/small_program.hpp"
#include "common/share.hpp"
#include "recorded.hpp"
#include "tools/diff/difference.hpp"
#include "tools/diff/rerun.hpp"
#include "tools/replay/load.hpp"
#include "tools/replay/player.hpp"
#include "unit/tools/expect_error.hpp"
#include "unit/tools/temporary_folder.hpp"

namespace nvdla {
namespace {

using replay::Dump;
using replay::error_of;
using replay::TemporaryFolder;
using test::SmallProgram;

class Records : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string contents(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return text.str();
  }
  // Plays a record on the model of its configuration.
  replay::Outcome play(const std::string& name) const {
    const auto jobs = replay::read_jobs(path(name));
    auto target = test::model_for(jobs);
    return replay::play(replay::record_script(jobs, name), target);
  }

  TemporaryFolder folder_;
};

// Layers as those of test_network, each with two inputs; some have more lines than fit the
// convolution buffer and go on from what the layer before left there.
TEST_F(Records, RandomNetworksRunAgainBitForBit) {
  test::for_all(test::share(24), [&](test::Random& random) -> std::string {
    auto drawn = test::random_conv(random, random() % 6 == 0);
    if (!drawn) test::discard();
    const test::RefConv& c = drawn->ref;
    test::KernelHolder holder;
    Convolution layer = test::layer_of(c, holder.hold(c.weights, c.processing));
    const test::Finish finish(c.processing, c.kernels, c.weights.size() / c.kernels, random);
    finish.tell(layer);
    Network net;
    net.output(net.convolution(net.input("in", drawn->in.shape, c.processing), layer), "out");
    {
      const Device device =
          Device::open("model:" + drawn->configuration, {.record = path("any.record")});
      Request request = net.build(device);
      for (int run = 0; run < 2; ++run) {
        test::write(request, "in", test::random_tensor(drawn->in.shape, c.processing, random));
        request.run();
      }
    }
    const replay::Outcome outcome = play("any.record");
    if (outcome.bytes_compared == 0) return "nothing is compared";
    return outcome.reason;
  });
}

TEST_F(Records, MemoryThatHasNotChangedIsWrittenOnce) {
  const Device device = Device::open("model:nv_small", {.record = path("a.record")});
  const SmallProgram small(device);
  const Program program = small.create();
  const Buffer in = small.buffer(3), out = small.buffer();
  const std::vector<Binding> bindings = {in, out};
  for (int i = 0; i < 3; ++i) {
    if (i == 2) small.fill(in, 9);
    device.submit(program, bindings).wait();
  }
  EXPECT_EQ(small.value(out), 10);
  const auto jobs = replay::read_jobs(path("a.record"));
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].buffers.size(), 2U);
  EXPECT_EQ(jobs[1].buffers.size(), 0U);
  EXPECT_EQ(jobs[1].kept.size(), 2U);
  EXPECT_EQ(jobs[2].buffers.size(), 1U);
  EXPECT_EQ(jobs[2].kept.size(), 1U);
  for (const Dump& job : jobs) EXPECT_EQ(job.written.size(), 1U);
  EXPECT_EQ(play("a.record").verdict, replay::Verdict::kPass);
}

// The record begins each job with what the device had, so a wrong one does not make others wrong.
TEST_F(Records, AWrongByteIsFoundInItsJobAlone) {
  {
    const Device device = Device::open("model:nv_small", {.record = path("a.record")});
    const SmallProgram small(device);
    const Buffer first = small.buffer(3), second = small.buffer(), third = small.buffer();
    const Program program = small.create();
    device.submit(program, std::vector<Binding>{first, second}).wait();
    device.submit(program, std::vector<Binding>{second, third}).wait();
  }
  auto jobs = replay::read_jobs(path("a.record"));
  jobs[0].written[0].bytes[5] ^= std::byte{1};
  auto target = test::model_for(jobs);
  const auto outcome = replay::play(replay::record_script(jobs, "a.record"), target);
  EXPECT_EQ(outcome.verdict, replay::Verdict::kFail);
  // The second job reads the wrong byte, as the device would have.
  ASSERT_EQ(outcome.failures.size(), 2U);
  EXPECT_TRUE(outcome.failures[0].starts_with("job 1: memory ")) << outcome.failures[0];
  EXPECT_NE(outcome.failures[0].find("expected 0x05, got 0x04"), std::string::npos)
      << outcome.failures[0];
  EXPECT_TRUE(outcome.failures[1].starts_with("job 2: memory ")) << outcome.failures[1];
}

// The environment serves programs that know nothing of records; each device gets a file.
TEST_F(Records, TheEnvironmentNamesThem) {
  setenv("NVDLA_RECORD", path("env.record").c_str(), 1);
  {
    const Device idle = Device::open("model:nv_small");
    const Device device = Device::open("model:nv_small"), other = Device::open("model:nv_full");
    for (const Device* one : {&device, &other}) {
      const SmallProgram small(*one);
      one->submit(small.create(), std::vector<Binding>{small.buffer(3), small.buffer()}).wait();
    }
  }
  unsetenv("NVDLA_RECORD");
  EXPECT_EQ(replay::read_jobs(path("env.record")).front().hw->name, std::string("nv_small"));
  EXPECT_EQ(replay::read_jobs(path("env.2.record")).front().hw->name, std::string("nv_full"));
  EXPECT_FALSE(std::filesystem::exists(path("env.3.record")));
}

// The contents make a file a record, whatever it is called.
TEST_F(Records, AnyNameWillDo) {
  setenv("NVDLA_RECORD", path("folder.d/run").c_str(), 1);
  std::filesystem::create_directory(path("folder.d"));
  {
    const Device device = Device::open("model:nv_small"), other = Device::open("model:nv_full");
    for (const Device* one : {&device, &other}) {
      const SmallProgram small(*one);
      one->submit(small.create(), std::vector<Binding>{small.buffer(3), small.buffer()}).wait();
    }
  }
  unsetenv("NVDLA_RECORD");
  EXPECT_EQ(replay::read_jobs(path("folder.d/run")).front().hw->name, std::string("nv_small"));
  EXPECT_EQ(replay::read_jobs(path("folder.d/run.2")).front().hw->name, std::string("nv_full"));
  EXPECT_EQ(replay::kind_of(path("folder.d/run")), replay::Kind::kRecord);
  std::filesystem::rename(path("folder.d/run"), path("run.cfg"));
  EXPECT_EQ(replay::kind_of(path("run.cfg")), replay::Kind::kRecord);
}

TEST_F(Records, WhatCannotBeWrittenIsAnError) {
  std::filesystem::create_symlink("/dev/full", path("full.record"));
  const auto submit = [&](const std::string& record) {
    const Device device = Device::open("model:nv_small", {.record = record});
    const SmallProgram small(device);
    device.submit(small.create(), std::vector<Binding>{small.buffer(3), small.buffer()}).wait();
  };
  test::expect_error(
      ErrorCode::kNotWritten,
      "the record " + path("full.record") + " cannot be written: No space left on device",
      [&] { submit(path("full.record")); });
  test::expect_error(
      ErrorCode::kNotWritten,
      "the record " + path("no/folder.record") + " cannot be created: No such file or directory",
      [&] { submit(path("no/folder.record")); });
}

// A job that was refused leaves nothing, and what it was to read is in the record all the same.
TEST_F(Records, ARefusedJobLeavesNoTrace) {
  const Device device = Device::open("model:nv_small", {.record = path("a.record")});
  const SmallProgram small(device);
  const Program program = small.create();
  const Buffer in = small.buffer(3), out = small.buffer();
  EXPECT_THROW(device.submit(program, std::vector<Binding>{in, {out, 8}}), Error);
  device.submit(program, std::vector<Binding>{in, out}).wait();
  const auto jobs = replay::read_jobs(path("a.record"));
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].buffers.size(), 2U);
  EXPECT_EQ(play("a.record").verdict, replay::Verdict::kPass);
}

// Runs nothing: every job hangs in layer 1.
class HangingQueue final : public detail::QueueImpl {
 public:
  using QueueImpl::QueueImpl;
  std::shared_ptr<detail::FenceImpl> submit(std::shared_ptr<const detail::ProgramImpl>,
                                            std::span<const detail::BoundBuffer>,
                                            const detail::JobTerms&) override {
    auto fence = std::make_shared<test::ManualFence>();
    nvdla_error detail{};
    detail.object = NVDLA_OBJECT_LAYER;
    detail.index = 1;
    fence->end(Error(ErrorCode::kHang, "layer 1 does not end", detail));
    return fence;
  }
};

class HangingBackend final : public detail::Backend {
 public:
  const DeviceInfo& info() const noexcept override { return model_->info(); }
  std::shared_ptr<detail::BufferImpl> allocate(std::uint64_t bytes, Memory memory) override {
    return model_->allocate(bytes, memory);
  }
  std::shared_ptr<const detail::ProgramImpl> create_program(const ProgramDesc& desc) override {
    return model_->create_program(desc);
  }
  std::shared_ptr<detail::QueueImpl> create_queue() override {
    return std::make_shared<HangingQueue>(model_->create_queue()->device());
  }

 private:
  std::shared_ptr<detail::Backend> model_ = detail::open_backend("model:nv_small");
};

TEST_F(Records, AJobThatHangsIsRecordedUpToThere) {
  {
    const auto device = detail::Handles::make<Device>(detail::make_record_backend(
        std::make_shared<HangingBackend>(), path("hang.record"), false));
    const SmallProgram small(device, 1, {8, 2, 2}, 3);
    const Fence fence =
        device.submit(small.create(), std::vector<Binding>{small.buffer(3), small.buffer()});
    EXPECT_THROW(fence.wait(), Error);
  }
  const auto jobs = replay::read_jobs(path("hang.record"));
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].header.result, detail::kJobHung);
  EXPECT_EQ(jobs[0].header.layer, 1U);
  EXPECT_TRUE(jobs[0].written.empty());
  const replay::Outcome outcome = play("hang.record");
  EXPECT_EQ(outcome.verdict, replay::Verdict::kPass);
  EXPECT_EQ(outcome.note, "all layers end here; on the device layer 1 of job 1 did not");
  auto target = test::model_for(jobs);
  const auto found = compare::first_difference(jobs, compare::rerun(jobs, "hang.record", target));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(compare::text(*found), "job 1, layer 1 (sdp): how it ends: not at all in A, well in B");
}

class DamagedRecords : public Records {
 protected:
  void SetUp() override {
    const Device device = Device::open("model:nv_small", {.record = path("good.record")});
    const SmallProgram small(device);
    const Program program = small.create();
    const Buffer in = small.buffer(3), out = small.buffer();
    for (int i = 0; i < 2; ++i) device.submit(program, std::vector<Binding>{in, out}).wait();
    good_ = contents("good.record");
    std::memcpy(&first_, good_.data(), sizeof(first_));
  }
  std::string message(const std::string& bytes) const {
    return error_of(
        [&] { replay::record_script(replay::parse_record(bytes, "x.record"), "x.record"); });
  }

  std::string good_;
  nvdla_dump_header first_;
};

TEST_F(DamagedRecords, EveryCutButThoseBetweenJobsIsAnError) {
  for (std::size_t size = 0; size < good_.size(); size += 1 + size / 64) {
    if (size == first_.bytes) continue;
    EXPECT_NE(message(good_.substr(0, size)), "no error") << size;
  }
  EXPECT_EQ(message(good_.substr(0, first_.bytes)), "no error");
  EXPECT_EQ(message(good_), "no error");
}

TEST_F(DamagedRecords, AnyByteMayBeWrong) {
  for (std::size_t i = 0; i < good_.size(); i += 1 + i % 3) {
    std::string bytes = good_;
    bytes[i] = static_cast<char>(bytes[i] ^ 0xff);
    message(bytes);
  }
}

TEST_F(DamagedRecords, ErrorsSayWhatAndWhere) {
  EXPECT_EQ(message(""),
            "x.record: at byte 0: the magic number has 8 bytes, 0 are left; expected "
            "them");
  EXPECT_EQ(message(good_ + "more"),
            "x.record: at byte " + std::to_string(good_.size()) +
                ": the magic number has 8 bytes, 4 are left; expected them");
  // The second job alone has none of the memory that it keeps.
  const std::string second = good_.substr(first_.bytes);
  EXPECT_TRUE(message(second).starts_with("x.record: job 1 keeps a buffer of ")) << message(second);
  std::string other = good_;
  std::memcpy(other.data() + first_.bytes + offsetof(nvdla_dump_header, configuration), "nv_full\0",
              9);
  EXPECT_EQ(message(other),
            "x.record: job 2 is of nv_full, the first of nv_small, or of another device of that "
            "kind; expected one device");
}

TEST_F(DamagedRecords, WhatWasWrittenLiesInABuffer) {
  const auto jobs = replay::parse_record(good_, "x.record");
  const nvdla_dump_buffer info = jobs[0].written[0].info;
  std::string bytes = good_.substr(0, first_.bytes);
  const nvdla_dump_section section{detail::kSectionWritten, sizeof(info), sizeof(info) + info.size};
  const std::size_t at =
      bytes.find(std::string_view(reinterpret_cast<const char*>(&section), sizeof(section)));
  ASSERT_NE(at, std::string::npos);
  const std::uint64_t elsewhere = info.address + 0x100000;
  std::memcpy(bytes.data() + at + sizeof(section), &elsewhere, sizeof(elsewhere));
  EXPECT_TRUE(message(bytes).ends_with("expected them to lie in one of its buffers"))
      << message(bytes);
}

// One job of a network, whose layers have names.
class RecordedNames : public Records {
 protected:
  static std::string message(const std::string& bytes) {
    return error_of([&] { replay::parse_record(bytes, "x.record"); });
  }
  replay::Dump job() const {
    const test::RecordedNetwork network = {
        "named",
        "nv_small",
        {.channels = 8, .height = 3, .width = 4},
        Precision::kInt8,
        [](Network& net, Tensor in) {
          const Tensor conv = test::convolve(net, in, 8, 8, Precision::kInt8);
          return net.pointwise(conv, {.name = "after", .output = {.scale = 2}});
        }};
    return test::record(path("names.record"), network).jobs.at(0);
  }
  static std::string bytes_of(const replay::Dump& job) {
    const auto bytes = compare::record_bytes(job);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

TEST_F(RecordedNames, AreThoseOfTheNetwork) {
  const replay::Dump first = job();
  EXPECT_EQ(first.layer_names, (std::vector<std::string>{"conv", "after"}));
  EXPECT_EQ(replay::parse_record(bytes_of(first), "x.record").at(0).layer_names, first.layer_names);
}

TEST_F(RecordedNames, ThatAreNotOneForEachLayerAreRefused) {
  replay::Dump wrong = job();
  wrong.layer_names.emplace_back("more");
  EXPECT_EQ(message(bytes_of(wrong)),
            "x.record: names of 3 layers; expected one for each of the 2");
  std::string bytes = bytes_of(job());
  const std::string names("conv\0after\0", 11);
  const std::size_t at = bytes.find(names);
  ASSERT_NE(at, std::string::npos);
  bytes[at + names.size() - 1] = 'x';
  const std::string text = message(bytes);
  EXPECT_TRUE(text.ends_with("the name of layer 1 has no end; expected a zero behind it")) << text;
}

}  // namespace
}  // namespace nvdla
