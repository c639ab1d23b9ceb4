// SPDX-License-Identifier: MIT
//
// Files made by hand: what the reader makes of both revisions, and that it runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/runtime/expect_error.hpp"
#include "loadable/format/container.hpp"
#include "loadable/format/dimg.hpp"
#include "loadable/format/packed.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/types/shape.hpp"
#include "unit/loadable/maker.hpp"

namespace nvdla {
namespace {

using namespace loadable;
using test::expect_error;
using test::Maker;

TEST(Descriptors, HaveTheSizesOfBothRevisions) {
  for (const Revision r : {Revision::kOld, Revision::kNew}) {
    const bool old = r == Revision::kOld;
    EXPECT_EQ(packed_bytes<NetworkDesc>(r), kNetworkBytes);
    EXPECT_EQ(packed_bytes<CommonDesc>(r), kDependencyStride);
    EXPECT_EQ(packed_bytes<DataCube>(r), old ? 28U : 32U);
    EXPECT_EQ(packed_bytes<BdmaSurface>(r), 644U);
    EXPECT_EQ(packed_bytes<ConvSurface>(r), old ? 152U : 172U);
    EXPECT_EQ(packed_bytes<SdpSurface>(r), old ? 140U : 160U);
    EXPECT_EQ(packed_bytes<PairSurface>(r), old ? 56U : 64U);
    EXPECT_EQ(packed_bytes<BdmaOp>(r), 4U);
    EXPECT_EQ(packed_bytes<ConvOp>(r), 92U);
    EXPECT_EQ(packed_bytes<SdpOp>(r), 116U);
    EXPECT_EQ(packed_bytes<PdpOp>(r), 52U);
    EXPECT_EQ(packed_bytes<CdpOp>(r), 24U);
    EXPECT_EQ(packed_bytes<RubikOp>(r), 4U);
    EXPECT_EQ(packed_bytes<LutParam>(r), kLutStride);
  }
}

// Of every element of the input, ReLU.
void expect_relu(Request& request, const std::vector<std::byte>& source) {
  request.run();
  const Map map = request.buffer("result").map(MapMode::kRead);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const int value = static_cast<std::int8_t>(source[i]);
    ASSERT_EQ(static_cast<std::int8_t>(map.bytes()[i]), std::max(value, 0)) << i;
  }
}

TEST(Reader, RunsBothRevisions) {
  for (const Revision revision : {Revision::kOld, Revision::kNew}) {
    Maker maker;
    maker.revision = revision;
    maker.version = revision == Revision::kOld ? Version{0, 10, 0} : Version{0, 12, 3};
    Request request = Loadable::load(maker.file()).open(Device::open("model:nv_small"));
    EXPECT_EQ(request.network().layers(), 1U);
    EXPECT_EQ(request.network().layer_name(0), "sdp 0");
    expect_relu(request, maker.source);
    expect_relu(request, maker.source);
  }
}

TEST(Reader, TakesFilesThatAreFourBytesEarly) {
  Maker maker;
  const std::vector<std::byte> file = maker.file();
  // Four bytes less in front, behind a root offset that is four less: as some writers leave it.
  std::vector<std::byte> early(file.begin() + 4, file.end());
  ASSERT_EQ(file[1], std::byte{0});
  ASSERT_GE(file[0], std::byte{12});
  early[0] = static_cast<std::byte>(static_cast<unsigned>(file[0]) - 4);
  early[1] = early[2] = early[3] = std::byte{0};
  Request request = Loadable::load(early).open(Device::open("model:nv_small"));
  expect_relu(request, maker.source);
}

TEST(Reader, ShowsAndBindsTensors) {
  Maker maker;
  const Loadable file = Loadable::load(maker.file());
  EXPECT_EQ(file.inputs(), 0U);
  ASSERT_EQ(file.outputs(), 1U);
  const LoadableTensor output = file.output(0);
  EXPECT_EQ(output.name, "result");
  EXPECT_EQ(output.shape, (Shape{.channels = 32, .height = 8, .width = 8}));
  EXPECT_EQ(output.type, LoadableType::kInt8);
  const Device device = Device::open("model:nv_small");
  Request request = file.open(device);
  const Buffer mine = device.allocate(output.buffer_bytes);
  request.bind("result", mine);
  request.run();
  std::vector<std::int8_t> elements(2048);
  request.read("result", Layout::kNchw, elements);
  // Element (c, y, x) lies in surface c / 8.
  for (std::size_t c = 0; c < 32; ++c) {
    const std::size_t at = c / 8 * 512 + 3 * 64 + 5 * 8 + c % 8;
    EXPECT_EQ(elements[c * 64 + 3 * 8 + 5],
              std::max<int>(static_cast<std::int8_t>(maker.source[at]), 0));
  }
  expect_error(ErrorCode::kInvalidArgument,
               "no input or output is called 'prob'; there is 'result'",
               [&] { request.buffer("prob"); });
  expect_error(ErrorCode::kInvalidArgument, "has 16 bytes, 4096 are needed",
               [&] { request.bind("result", device.allocate(16)); });
  expect_error(ErrorCode::kInvalidArgument, "'result' is an output", [&] {
    request.write("result", Layout::kNchw, std::span<const std::int8_t>(elements));
  });
}

// Nothing is read that no run has written.
TEST(Reader, GivesResultsOfTheLastRunOnly) {
  Maker maker;
  const Device device = Device::open("model:nv_small");
  Request request = Loadable::load(maker.file()).open(device, {.statistics = true});
  std::vector<std::int8_t> elements(2048);
  const auto read = [&] { request.read("result", Layout::kNchw, elements); };
  expect_error(ErrorCode::kInvalidArgument,
               "reading 'result': the request has not run yet: run it first", read);
  expect_error(ErrorCode::kInvalidArgument, "statistics: the request has not run yet",
               [&] { request.statistics(); });
  request.run();
  EXPECT_NO_THROW(read());
  request.bind("result", device.allocate(4096));
  expect_error(ErrorCode::kInvalidArgument,
               "reading 'result': it was bound to another buffer after the last run", read);
  EXPECT_EQ(request.statistics().size(), 1U);
  request.run();
  EXPECT_NO_THROW(read());
  expect_error(ErrorCode::kInvalidArgument, "the buffer for 'result' belongs to another device",
               [&] { request.bind("result", Device::open("model:nv_small").allocate(4096)); });
}

TEST(Reader, CountsWhenAsked) {
  Maker maker;
  const Loadable file = Loadable::load(maker.file());
  Request request = file.open(Device::open("model:nv_small"), {.statistics = true});
  request.run();
  ASSERT_EQ(request.statistics().size(), 1U);
  EXPECT_NE(request.statistics()[0].valid, 0U);
  request.run();
  EXPECT_EQ(request.statistics().size(), 1U);
}

// One fault each, and what the error says about it.
struct Fault {
  const char* text;
  void (*breaks)(Container&);
};

// Entries that only fill the list, as the old compiler leaves them behind a task's own.
TEST(Reader, TakesMemoriesWithoutBytes) {
  Maker maker;
  Container c = maker.container();
  c.memories.push_back({});
  c.addresses.push_back({static_cast<std::uint16_t>(c.memories.size() - 1), 0, 0});
  c.tasks[0].addresses.push_back(static_cast<std::uint16_t>(c.addresses.size() - 1));
  Request request = Loadable::load(write_container(c)).open(Device::open("model:nv_small"));
  expect_relu(request, maker.source);
}

TEST(Reader, FindsEventsByTheirId) {
  Maker maker;
  Container c = maker.container();
  c.events.push_back({.id = 7, .type = 0, .target = 0, .value = 1, .op = 1});
  c.tasks[0].post_actions = {7};
  EXPECT_EQ(Loadable::load(write_container(c)).impl().container.tasks[0].post_actions[0], 7);
  c.tasks[0].post_actions = {0};
  expect_error(ErrorCode::kInvalidArgument, "task 0: there is no event 0",
               [&] { Loadable::load(write_container(c)); });
}

// Old files have a number there for feature cubes, too.
TEST(Reader, FeatureCubesAreNoPixels) {
  Maker maker;
  Container c = maker.container();
  c.tensors[0].pixel_format = NVDLA_PIXEL_R8;
  const Loadable file = Loadable::load(write_container(c));
  Request request = file.open(Device::open("model:nv_small"));
  EXPECT_FALSE(file.tensor("result").image());
  EXPECT_EQ(request.network().desc("result").shape.channels, 32U);
}

// Of atoms of 8 bytes, where the file knows of them, the dump is what it says it is.
TEST(Reader, DumpsSmallAtoms) {
  Maker maker;
  Container c = maker.container();
  c.tensors[0].pixel_format = 37;
  const Loadable file = Loadable::load(write_container(c));
  Request request = file.open(Device::open("model:nv_small"));
  request.run();
  std::vector<std::int8_t> elements(2048);
  request.read("result", Layout::kNchw, elements);
  const Map map = request.buffer("result").map(MapMode::kRead);
  const std::vector<std::byte> dump = make_dimg(file.tensor("result"), map.bytes());
  ASSERT_EQ(dump.size(), 36U + 2048U);
  EXPECT_EQ(dump[8], std::byte{41});
  const auto expected = std::as_bytes(std::span(elements));
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), dump.begin() + 36));
}

TEST(Reader, SaysWhatIsWrongInTheLists) {
  const Fault faults[] = {
      {"it has no submit", [](Container& c) { c.submits.clear(); }},
      {"submit 0: there is no task 1; the file has 1", [](Container& c) { c.submits[0][0] = 1; }},
      {"submit 0: task 0 is submitted twice", [](Container& c) { c.submits[0].push_back(0); }},
      {"task 0: interface 3 is none of", [](Container& c) { c.tasks[0].interface = 3; }},
      {"task 0: there is no address 9", [](Container& c) { c.tasks[0].addresses[1] = 9; }},
      {"task 0: it has no addresses", [](Container& c) { c.tasks[0].addresses.clear(); }},
      {"task 0: there is no event 0", [](Container& c) { c.tasks[0].pre_actions = {0}; }},
      {"address 1: there is no memory 77", [](Container& c) { c.addresses[1].memory = 77; }},
      {"address 1: 2049 bytes at 0 do not fit memory 1 of 2048 bytes",
       [](Container& c) { c.addresses[1].size = 2049; }},
      {"address 1: 0 bytes at 18446744073709551615 do not fit",
       [](Container& c) {
         c.addresses[1] = {1, UINT64_MAX, 0};
       }},
      {"memory 1: blob 'source' of 2048 bytes at 18446744073709551615 does not fit",
       [](Container& c) { c.memories[1].contents[0].offset = UINT64_MAX; }},
      {"memory 1: blob 'source' of 2048 bytes at 0 does not fit 0 bytes",
       [](Container& c) { c.memories[1].size = 0; }},
      {"memory 1: alignment 48 is not a power of two",
       [](Container& c) { c.memories[1].alignment = 48; }},
      {"memory 1: domain 2 is neither", [](Container& c) { c.memories[1].domain = 2; }},
      {"memory 2: flags 0x29 are not all known", [](Container& c) { c.memories[2].flags |= 32; }},
      {"memory 2: it is both", [](Container& c) { c.memories[2].flags |= kMemoryInput; }},
      {"memory 2: output 7 leaves a gap", [](Container& c) { c.memories[2].bind_id = 7; }},
      {"there are 1 outputs but none with bind_id 0",
       [](Container& c) { c.memories[2].bind_id = 1; }},
      {"memory 2: there is no tensor 5", [](Container& c) { c.memories[2].tensor = 5; }},
      {"tensor 0: there is no memory 60", [](Container& c) { c.tensors[0].memory = 60; }},
      {"tensor 0: 1x0x8x8 has a side", [](Container& c) { c.tensors[0].c = 0; }},
      {"tensor 0: 4096 bytes at 0 do not fit", [](Container& c) { c.tensors[0].size = 4096; }},
      {"relocation 0: 4 bytes at 39 do not fit memory 0 of 40 bytes",
       [](Container& c) {
         c.relocs.push_back({0, 0, 39, 1, 3, 1});
       }},
      {"format 1.0.0 is unknown",
       [](Container& c) {
         c.version = {1, 0, 0};
       }},
      {"event 0: operation 2 is neither",
       [](Container& c) {
         c.events.push_back({0, 0, 0, 0, 2});
       }},
      {"interface DLA1 0.9.0 of blob 'net' is unknown",
       [](Container& c) {
         c.blobs[0].version = {0, 9, 0};
       }},
      {"no blob sets 40 bytes at 0 of memory 0",
       [](Container& c) { c.blobs[0].data = c.blobs[0].data.subspan(1); }},
      {"operation list, operation 0: no blob sets 116 bytes at 0 of memory 4",
       [](Container& c) { c.blobs[3].data = c.blobs[3].data.subspan(4); }},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.text);
    Maker maker;
    Container container = maker.container();
    fault.breaks(container);
    const std::vector<std::byte> file = write_container(container);
    expect_error(ErrorCode::kInvalidArgument, fault.text, [&] { Loadable::load(file); });
  }
}

TEST(Reader, SaysWhatIsWrongWithTheFile) {
  expect_error(ErrorCode::kInvalidArgument, "cannot open '/nowhere/x.nvdla': No such file",
               [] { Loadable::load("/nowhere/x.nvdla"); });
  expect_error(ErrorCode::kInvalidArgument, "0 bytes are too few",
               [] { Loadable::load(std::span<const std::byte>()); });
  const std::vector<std::byte> zeros(4096);
  expect_error(ErrorCode::kInvalidArgument, "the 4096 bytes are no valid FlatBuffer",
               [&] { Loadable::load(zeros); });
}

}  // namespace
}  // namespace nvdla
