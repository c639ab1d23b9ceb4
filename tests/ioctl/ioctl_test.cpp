// SPDX-License-Identifier: MIT
//
// The driver's ioctls, one fault per test. Runs where the driver is loaded.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "node.hpp"

namespace nvdla::ioctl_test {
namespace {

class Ioctl : public testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(node.fd(), 0) << "no node of the driver nvdla"; }

  std::uint32_t program(CopyProgram& copy, std::uint32_t flags = 0) {
    auto args = copy.args();
    args.flags = flags;
    EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), 0)
        << "rule " << copy.error.rule << " field " << copy.error.field;
    return args.program;
  }

  Node node;
};

// ---------------------------------------------------------------- QUERY ---

TEST_F(Ioctl, QueryNamesAKnownConfiguration) {
  const auto info = node.info();
  const std::string name(reinterpret_cast<const char*>(info.name));
  EXPECT_EQ(name.rfind("nv_", 0), 0u) << name;
  EXPECT_TRUE(info.atom_bytes == 8 || info.atom_bytes == 16 || info.atom_bytes == 32);
}

TEST_F(Ioctl, QueryTellsTheSizeWithoutAPointer) {
  drm_nvdla_query query{0, 0, DRM_NVDLA_QUERY_LIMITS};
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_QUERY, &query), 0);
  EXPECT_EQ(query.size, sizeof(drm_nvdla_limits));
}

TEST_F(Ioctl, QueryCutsForAnOlderUserAndClearsForANewerOne) {
  std::vector<std::uint8_t> bytes(sizeof(drm_nvdla_limits) + 16, 0xee);
  drm_nvdla_query query{reinterpret_cast<std::uintptr_t>(bytes.data()), 4, DRM_NVDLA_QUERY_LIMITS};
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_QUERY, &query), 0);
  EXPECT_EQ(bytes[4], 0xee);
  query.size = static_cast<std::uint32_t>(bytes.size());
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_QUERY, &query), 0);
  EXPECT_TRUE(std::all_of(bytes.end() - 16, bytes.end(), [](auto b) { return b == 0; }));
}

TEST_F(Ioctl, QueryClearsNoMoreThanAPage) {
  std::vector<std::uint8_t> bytes(2 * kPage, 0xee);
  drm_nvdla_query query{reinterpret_cast<std::uintptr_t>(bytes.data()), kPage + 1,
                        DRM_NVDLA_QUERY_LIMITS};
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_QUERY, &query), E2BIG);
  EXPECT_EQ(bytes[0], 0xee);
  query.size = kPage;
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_QUERY, &query), 0);
  EXPECT_EQ(bytes[kPage - 1], 0);
  EXPECT_EQ(bytes[kPage], 0xee);
}

TEST_F(Ioctl, QueryRefusesAnUnknownType) {
  drm_nvdla_query query{0, 0, 99};
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_QUERY, &query), EINVAL);
}

TEST_F(Ioctl, QueryRefusesABadPointer) {
  drm_nvdla_query query{8, 64, DRM_NVDLA_QUERY_DEVICE};
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_QUERY, &query), EFAULT);
}

// The driver is loaded without weight_gating=0.
TEST_F(Ioctl, QueryTellsWhetherWeightsMustStay) {
  EXPECT_EQ((node.info().flags & DRM_NVDLA_DEVICE_WEIGHT_GATING) != 0, node.info().generation == 2);
}

// ------------------------------------------------ one fault per argument ---

// Every ioctl with otherwise valid arguments and one that is not.
struct Fault {
  std::string name;
  std::function<int(Node&)> call;
  int error;
};

template <typename T>
Fault fault(std::string name, unsigned long request, T args, int error) {
  return {std::move(name), [=](Node& node) mutable { return node.call(request, &args); }, error};
}

// With a fresh buffer of one page.
template <typename T>
Fault buffer_fault(std::string name, unsigned long request, T args, int error) {
  return {std::move(name),
          [=](Node& node) mutable {
            args.handle = node.buffer(kPage);
            return node.call(request, &args);
          },
          error};
}

class Refused : public testing::TestWithParam<Fault> {};

TEST_P(Refused, WithItsErrno) {
  Node node;
  ASSERT_GE(node.fd(), 0);
  EXPECT_EQ(GetParam().call(node), GetParam().error);
}

std::vector<Fault> faults() {
  using Create = drm_nvdla_bo_create;
  using Sync = drm_nvdla_bo_sync;
  using Wait = drm_nvdla_bo_wait;
  const auto bo_create = DRM_IOCTL_NVDLA_BO_CREATE;
  const auto bo_sync = DRM_IOCTL_NVDLA_BO_SYNC;
  const auto bo_wait = DRM_IOCTL_NVDLA_BO_WAIT;
  return {
      fault("ContextFlags", DRM_IOCTL_NVDLA_CONTEXT_CREATE, drm_nvdla_context_create{1, 0}, EINVAL),
      fault("ContextOutNotZero", DRM_IOCTL_NVDLA_CONTEXT_CREATE, drm_nvdla_context_create{0, 7},
            EINVAL),
      fault("ContextDestroyPad", DRM_IOCTL_NVDLA_CONTEXT_DESTROY, drm_nvdla_context_destroy{1, 1},
            EINVAL),
      fault("ContextDestroyUnknown", DRM_IOCTL_NVDLA_CONTEXT_DESTROY,
            drm_nvdla_context_destroy{77, 0}, ENOENT),
      fault("ContextQueryUnknown", DRM_IOCTL_NVDLA_CONTEXT_QUERY,
            drm_nvdla_context_query{77, 0, 0, 0}, ENOENT),
      fault("ContextQueryLayer", DRM_IOCTL_NVDLA_CONTEXT_QUERY, drm_nvdla_context_query{1, 0, 0, 1},
            EINVAL),
      fault("ContextQueryState", DRM_IOCTL_NVDLA_CONTEXT_QUERY, drm_nvdla_context_query{1, 1, 0, 0},
            EINVAL),
      fault("BoSizeZero", bo_create, Create{0, NVDLA_MEMORY_DRAM, 0, 0, 0}, EINVAL),
      fault("BoSizeHuge", bo_create, Create{~0ull, NVDLA_MEMORY_DRAM, 0, 0, 0}, E2BIG),
      fault("BoFlags", bo_create, Create{kPage, NVDLA_MEMORY_DRAM, 0x80, 0, 0}, EINVAL),
      fault("BoMemory", bo_create, Create{kPage, 2, 0, 0, 0}, EINVAL),
      fault("BoPad", bo_create, Create{kPage, NVDLA_MEMORY_DRAM, 0, 0, 1}, EINVAL),
      fault("BoOutNotZero", bo_create, Create{kPage, NVDLA_MEMORY_DRAM, 0, 1, 0}, EINVAL),
      fault("MmapUnknown", DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, drm_nvdla_bo_mmap_offset{99, 0, 0},
            ENOENT),
      buffer_fault("MmapPad", DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, drm_nvdla_bo_mmap_offset{0, 1, 0},
                   EINVAL),
      buffer_fault("MmapOutNotZero", DRM_IOCTL_NVDLA_BO_MMAP_OFFSET,
                   drm_nvdla_bo_mmap_offset{0, 0, 1}, EINVAL),
      fault("SyncUnknown", bo_sync, Sync{99, DRM_NVDLA_BO_SYNC_TO_DEVICE, 0, kPage}, ENOENT),
      buffer_fault("SyncNoDirection", bo_sync, Sync{0, 0, 0, kPage}, EINVAL),
      buffer_fault("SyncBothDirections", bo_sync, Sync{0, 3, 0, kPage}, EINVAL),
      buffer_fault("SyncEmpty", bo_sync, Sync{0, DRM_NVDLA_BO_SYNC_TO_DEVICE, 0, 0}, EINVAL),
      buffer_fault("SyncOneByteTooMuch", bo_sync, Sync{0, DRM_NVDLA_BO_SYNC_TO_DEVICE, 1, kPage},
                   EINVAL),
      buffer_fault("SyncWraps", bo_sync, Sync{0, DRM_NVDLA_BO_SYNC_TO_DEVICE, 16, ~0ull - 8},
                   EINVAL),
      fault("WaitUnknown", bo_wait, Wait{99, 0, 0}, ENOENT),
      buffer_fault("WaitFlags", bo_wait, Wait{0, 2, 0}, EINVAL),
      buffer_fault("SyncTheWholeBuffer", bo_sync, Sync{0, DRM_NVDLA_BO_SYNC_TO_DEVICE, 0, kPage},
                   0),
      buffer_fault("WaitIdle", bo_wait, Wait{0, 0, 0}, 0),
      fault("ProgramDestroyUnknown", DRM_IOCTL_NVDLA_PROGRAM_DESTROY,
            drm_nvdla_program_destroy{77, 0}, ENOENT),
      fault("ProgramDestroyPad", DRM_IOCTL_NVDLA_PROGRAM_DESTROY, drm_nvdla_program_destroy{1, 1},
            EINVAL),
  };
}

INSTANTIATE_TEST_SUITE_P(Ioctl, Refused, testing::ValuesIn(faults()),
                         [](const auto& test) { return test.param.name; });

// ------------------------------------------------------------- contexts ---

TEST_F(Ioctl, ContextsAreNumberedFromOneAndGood) {
  const auto id = node.context();
  EXPECT_NE(id, 0u);
  drm_nvdla_context_query query{id, 0, 0, 0};
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_CONTEXT_QUERY, &query), 0);
  EXPECT_EQ(query.state, DRM_NVDLA_CONTEXT_GOOD);
  EXPECT_EQ(query.resets, 0u);
  EXPECT_EQ(query.layer, 0u);
}

TEST_F(Ioctl, ContextsBelongToTheirFile) {
  const auto id = node.context();
  Node other;
  drm_nvdla_context_query query{id, 0, 0, 0};
  EXPECT_EQ(other.call(DRM_IOCTL_NVDLA_CONTEXT_QUERY, &query), ENOENT);
}

TEST_F(Ioctl, ADestroyedContextIsUnknown) {
  drm_nvdla_context_destroy destroy{node.context(), 0};
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy), 0);
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy), ENOENT);
}

// -------------------------------------------------------------- buffers ---

TEST_F(Ioctl, BuffersAreZeroAndRoundedToPages) {
  for (const std::uint32_t flags : {0u, DRM_NVDLA_BO_WRITE_COMBINED}) {
    const auto* bytes = node.map(node.buffer(1, flags), kPage);
    EXPECT_TRUE(std::all_of(bytes, bytes + kPage, [](auto b) { return b == 0; }));
  }
}

TEST_F(Ioctl, AMappingKeepsItsBuffer) {
  const auto handle = node.buffer(kPage);
  auto* bytes = node.map(handle, kPage);
  drm_gem_close close{handle, 0};
  EXPECT_EQ(node.call(DRM_IOCTL_GEM_CLOSE, &close), 0);
  bytes[0] = 1;
  EXPECT_EQ(bytes[0], 1);
  munmap(bytes, kPage);
}

TEST_F(Ioctl, AMappingEndsWithItsBuffer) {
  drm_nvdla_bo_mmap_offset offset{node.buffer(kPage), 0, 0};
  ASSERT_EQ(node.call(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset), 0);
  EXPECT_EQ(
      mmap(nullptr, 2 * kPage, PROT_READ, MAP_SHARED, node.fd(), static_cast<off_t>(offset.offset)),
      MAP_FAILED);
}

TEST_F(Ioctl, ABufferThatCannotBeContiguousIsRefused) {
  drm_nvdla_bo_create create{1ull << 27, NVDLA_MEMORY_DRAM, 0, 0, 0};
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_BO_CREATE, &create), ENOMEM);
}

// ------------------------------------------------------------- programs ---

TEST_F(Ioctl, AValidProgramIsAccepted) {
  CopyProgram copy(node.info().atom_bytes);
  EXPECT_NE(program(copy), 0u);
}

struct ProgramFault {
  std::string name;
  std::function<void(CopyProgram&, drm_nvdla_program_create&)> break_it;
  int error;
  std::uint32_t rule;   // 0: no rule is broken, the error struct stays as it was
  std::uint32_t field;  // in struct nvdla_layer
};

class ProgramRefused : public testing::TestWithParam<ProgramFault> {};

TEST_P(ProgramRefused, WithErrnoAndRule) {
  Node node;
  ASSERT_GE(node.fd(), 0);
  CopyProgram copy(node.info().atom_bytes);
  auto args = copy.args();
  GetParam().break_it(copy, args);
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), GetParam().error);
  EXPECT_EQ(copy.error.rule, GetParam().rule);
  if (GetParam().rule != 0) {
    EXPECT_EQ(copy.error.object, static_cast<std::uint32_t>(NVDLA_OBJECT_LAYER));
    EXPECT_EQ(copy.error.field, GetParam().field);
  }
}

using Args = drm_nvdla_program_create;

INSTANTIATE_TEST_SUITE_P(
    Ioctl, ProgramRefused,
    testing::Values(
        ProgramFault{"Flags", [](CopyProgram&, Args& a) { a.flags = 0x80; }, EINVAL, 0, 0},
        ProgramFault{"OutNotZero", [](CopyProgram&, Args& a) { a.program = 1; }, EINVAL, 0, 0},
        ProgramFault{"StrideTooSmall",
                     [](CopyProgram&, Args& a) { a.layers.stride = sizeof(nvdla_layer) - 8; },
                     EINVAL, 0, 0},
        ProgramFault{"StrideOdd",
                     [](CopyProgram&, Args& a) { a.layers.stride = sizeof(nvdla_layer) + 4; },
                     EINVAL, 0, 0},
        ProgramFault{"StrideHuge", [](CopyProgram&, Args& a) { a.layers.stride = 8192; }, EINVAL, 0,
                     0},
        ProgramFault{"PointerWithoutCount", [](CopyProgram&, Args& a) { a.luts.pointer = 8; },
                     EINVAL, 0, 0},
        ProgramFault{"TooManyLayers",
                     [](CopyProgram&, Args& a) { a.layers.count = NVDLA_MAX_LAYERS + 1; }, E2BIG, 0,
                     0},
        ProgramFault{"TooManySlots",
                     [](CopyProgram&, Args& a) { a.slots.count = NVDLA_MAX_SLOTS + 1; }, E2BIG, 0,
                     0},
        ProgramFault{"LayersNotMapped", [](CopyProgram&, Args& a) { a.layers.pointer = 64; },
                     EFAULT, 0, 0},
        ProgramFault{"SlotsNotMapped", [](CopyProgram&, Args& a) { a.slots.pointer = 64; }, EFAULT,
                     0, 0},
        ProgramFault{"ErrorNotMapped",
                     [](CopyProgram& copy, Args& a) {
                       copy.layers[0].sdp.width = 0;
                       a.error = 64;
                     },
                     EFAULT, 0, 0},
        ProgramFault{"Pad", [](CopyProgram&, Args& a) { a.pad = 1; }, EINVAL, 0, 0},
        ProgramFault{"ErrorWithoutRoom", [](CopyProgram&, Args& a) { a.error_bytes = 0; }, EINVAL,
                     0, 0},
        ProgramFault{"RoomWithoutError", [](CopyProgram&, Args& a) { a.error = 0; }, EINVAL, 0, 0},
        ProgramFault{"RoomOdd", [](CopyProgram&, Args& a) { a.error_bytes -= 4; }, EINVAL, 0, 0},
        ProgramFault{"RoomHuge", [](CopyProgram&, Args& a) { a.error_bytes = 1 << 20; }, E2BIG, 0,
                     0},
        ProgramFault{"LayerWidth", [](CopyProgram& copy, Args&) { copy.layers[0].sdp.width = 0; },
                     EINVAL, NVDLA_RULE_RANGE, offsetof(nvdla_layer, sdp.width)},
        ProgramFault{"SlotTooSmallByOne", [](CopyProgram& copy, Args&) { copy.slots[1].size -= 1; },
                     EINVAL, NVDLA_RULE_EXTENT, offsetof(nvdla_layer, sdp.output)},
        ProgramFault{"SlotNotWritable",
                     [](CopyProgram& copy, Args&) { copy.slots[1].access = NVDLA_SLOT_READ; },
                     EINVAL, NVDLA_RULE_SLOT_ACCESS, offsetof(nvdla_layer, sdp.output.slot)}),
    [](const auto& test) { return test.param.name; });

TEST_F(Ioctl, AnElementOfANewerUserMustEndInZeros) {
  CopyProgram copy(node.info().atom_bytes);
  std::vector<std::uint8_t> larger(sizeof(nvdla_layer) + 8);
  std::memcpy(larger.data(), copy.layers.data(), sizeof(nvdla_layer));
  auto args = copy.args();
  args.layers.pointer = reinterpret_cast<std::uintptr_t>(larger.data());
  args.layers.stride = static_cast<std::uint32_t>(larger.size());
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), 0);
  larger.back() = 1;
  args.program = 0;
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), E2BIG);
}

// Bytes around a report of an error, and the report as this version has it.
struct Room {
  std::array<std::uint8_t, 256> bytes;
  nvdla_error whole{};

  Room() { bytes.fill(0xa5); }
  std::uint64_t pointer() { return reinterpret_cast<std::uintptr_t>(bytes.data()); }
  // The first `room` bytes are the report as far as it goes, then zeros; the rest is untouched.
  void expect_report(std::size_t room) const {
    std::array<std::uint8_t, 256> expected{};
    std::memcpy(expected.data(), &whole, std::min(room, sizeof(whole)));
    std::fill(expected.begin() + room, expected.end(), 0xa5);
    EXPECT_EQ(bytes, expected) << room;
  }
};

constexpr std::uint32_t kRooms[] = {8, sizeof(nvdla_error), sizeof(nvdla_error) + 64};

TEST_F(Ioctl, AnErrorIsReportedAsFarAsThereIsRoom) {
  CopyProgram copy(node.info().atom_bytes);
  copy.layers[0].sdp.width = 0;
  auto args = copy.args();
  ASSERT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), EINVAL);
  ASSERT_EQ(copy.error.rule, NVDLA_RULE_RANGE);
  for (const std::uint32_t bytes : kRooms) {
    Room room;
    room.whole = copy.error;
    args.error = room.pointer();
    args.error_bytes = bytes;
    EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), EINVAL);
    room.expect_report(bytes);
  }
}

// --------------------------------------------------------------- submit ---

class Submit : public Ioctl {
 protected:
  void SetUp() override {
    Ioctl::SetUp();
    copy.emplace_back(node.info().atom_bytes);
    context = node.context();
    source = node.buffer(kPage);
    target = node.buffer(kPage);
    done = node.syncobj();
    bindings = {{0, source, 0}, {0, target, 0}};
    syncs = {{done, DRM_NVDLA_SYNC_SIGNAL, 0}};
    auto* bytes = node.map(source, kPage);
    for (std::uint64_t i = 0; i < kPage; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + 1);
    auto* out = node.map(target, kPage);
    std::fill(out, out + kPage, 0xa5);
    for (const std::uint32_t handle : {source, target})
      node.sync(handle, DRM_NVDLA_BO_SYNC_TO_DEVICE, kPage);
  }

  drm_nvdla_submit args(std::uint32_t program_flags = 0) {
    drm_nvdla_submit submit{};
    submit.bindings = array_of(bindings);
    submit.syncs = array_of(syncs);
    submit.error = reinterpret_cast<std::uintptr_t>(&error);
    submit.error_bytes = sizeof(error);
    submit.context = context;
    submit.program = program(copy.front(), program_flags);
    return submit;
  }
  int submit(drm_nvdla_submit& args) { return node.call(DRM_IOCTL_NVDLA_SUBMIT, &args); }

  void expect_copied() {
    const auto bytes = copy.front().bytes;
    const auto* from = node.map(source, kPage);
    const auto* to = node.map(target, kPage);
    node.sync(target, DRM_NVDLA_BO_SYNC_FROM_DEVICE, kPage);
    EXPECT_EQ(std::memcmp(from, to, bytes), 0);
    EXPECT_TRUE(std::all_of(to + bytes, to + kPage, [](auto b) { return b == 0xa5; }));
  }

  std::vector<CopyProgram> copy;
  std::uint32_t context = 0, source = 0, target = 0, done = 0;
  std::vector<drm_nvdla_binding> bindings;
  std::vector<drm_nvdla_sync> syncs;
  nvdla_error error{};
};

TEST_F(Submit, CopiesAndWritesNothingElse) {
  auto submission = args();
  ASSERT_EQ(submit(submission), 0);
  ASSERT_EQ(node.wait(done, kAfterDeadline), 0);
  expect_copied();
}

TEST_F(Submit, AProgramRunsAgain) {
  auto submission = args();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(submit(submission), 0);
    ASSERT_EQ(node.wait(done, kAfterDeadline), 0);
  }
  expect_copied();
}

TEST_F(Submit, OutlivesItsHandles) {
  auto submission = args();
  for (int i = 0; i < 8; ++i) ASSERT_EQ(submit(submission), 0);
  drm_nvdla_program_destroy program{submission.program, 0};
  EXPECT_EQ(node.call(DRM_IOCTL_NVDLA_PROGRAM_DESTROY, &program), 0);
  drm_gem_close close{source, 0};
  const auto* from = node.map(source, kPage);
  EXPECT_EQ(node.call(DRM_IOCTL_GEM_CLOSE, &close), 0);
  ASSERT_EQ(node.wait(done, kAfterDeadline), 0);
  node.sync(target, DRM_NVDLA_BO_SYNC_FROM_DEVICE, kPage);
  EXPECT_EQ(std::memcmp(from, node.map(target, kPage), copy.front().bytes), 0);
}

TEST_F(Submit, BufferWaitFollowsTheJob) {
  auto submission = args();
  ASSERT_EQ(submit(submission), 0);
  drm_nvdla_bo_wait wait{target, 0, INT64_MAX};
  ASSERT_EQ(node.call(DRM_IOCTL_NVDLA_BO_WAIT, &wait), 0);
  expect_copied();
}

TEST_F(Submit, WaitsForASyncObject) {
  const auto gate = node.syncobj();
  ASSERT_EQ(drmSyncobjTimelineSignal(node.fd(), &gate, std::vector<std::uint64_t>{1}.data(), 1), 0);
  syncs.insert(syncs.begin(), {gate, DRM_NVDLA_SYNC_WAIT, 1});
  auto submission = args();
  ASSERT_EQ(submit(submission), 0);
  ASSERT_EQ(node.wait(done, kAfterDeadline), 0);
  expect_copied();
}

TEST_F(Submit, SignalsAPointOfATimeline) {
  syncs = {{done, DRM_NVDLA_SYNC_SIGNAL, 3}};
  auto submission = args();
  ASSERT_EQ(submit(submission), 0);
  std::uint64_t point = 3;
  EXPECT_EQ(drmSyncobjTimelineWait(node.fd(), &done, &point, 1, INT64_MAX,
                                   DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, nullptr),
            0);
  expect_copied();
}

TEST_F(Submit, StatisticsTellWhenTheLayerRan) {
  auto submission = args(DRM_NVDLA_PROGRAM_STATS);
  submission.stats_handle = node.buffer(kPage);
  submission.stats_offset = 64;
  submission.stats_stride = sizeof(nvdla_layer_stats);
  ASSERT_EQ(submit(submission), 0);
  ASSERT_EQ(node.wait(done, kAfterDeadline), 0);
  nvdla_layer_stats stats;
  std::memcpy(&stats, node.map(submission.stats_handle, kPage) + 64, sizeof(stats));
  EXPECT_GT(stats.start_ns, 0u);
  EXPECT_GE(stats.end_ns, stats.start_ns);
  EXPECT_TRUE(stats.valid >> NVDLA_COUNTER_SDP_SATURATION & 1);
}

TEST_F(Submit, StatisticsOfLayersAreAStrideApart) {
  copy.front().layers.push_back(copy.front().layers.front());
  auto submission = args(DRM_NVDLA_PROGRAM_STATS);
  constexpr std::uint32_t kStride = sizeof(nvdla_layer_stats) + 64;
  submission.stats_handle = node.buffer(kPage);
  submission.stats_stride = kStride;
  auto* bytes = node.map(submission.stats_handle, kPage);
  std::fill(bytes, bytes + kPage, 0xa5);
  ASSERT_EQ(submit(submission), 0);
  ASSERT_EQ(node.wait(done, kAfterDeadline), 0);
  nvdla_layer_stats stats[2];
  for (int i = 0; i < 2; ++i) {
    std::memcpy(&stats[i], bytes + i * kStride, sizeof(stats[i]));
    EXPECT_TRUE(stats[i].valid >> NVDLA_COUNTER_SDP_SATURATION & 1) << i;
    const auto* gap = bytes + i * kStride + sizeof(stats[i]);
    EXPECT_TRUE(std::all_of(gap, gap + 64, [](auto b) { return b == 0xa5; })) << i;
  }
  EXPECT_GE(stats[1].start_ns, stats[0].end_ns);
}

TEST_F(Submit, AnErrorIsReportedAsFarAsThereIsRoom) {
  auto submission = args();
  bindings[1].offset = 4;
  ASSERT_EQ(submit(submission), EINVAL);
  ASSERT_EQ(error.rule, NVDLA_RULE_BINDING_ALIGNMENT);
  for (const std::uint32_t bytes : kRooms) {
    Room room;
    room.whole = error;
    submission.error = room.pointer();
    submission.error_bytes = bytes;
    EXPECT_EQ(submit(submission), EINVAL);
    room.expect_report(bytes);
  }
}

// A valid submission, to be broken.
struct Draft {
  Node& node;
  std::vector<drm_nvdla_binding>& bindings;
  std::vector<drm_nvdla_sync>& syncs;
  drm_nvdla_submit& submit;
};

struct SubmitFault {
  std::string name;
  std::function<void(Draft&)> break_it;
  int error;
  std::uint32_t rule;
};

class SubmitRefused : public Submit, public testing::WithParamInterface<SubmitFault> {};

TEST_P(SubmitRefused, WithErrnoAndRule) {
  auto submission = args();
  Draft draft{node, bindings, syncs, submission};
  GetParam().break_it(draft);
  submission.bindings.pointer = reinterpret_cast<std::uintptr_t>(bindings.data());
  submission.bindings.count = static_cast<std::uint32_t>(bindings.size());
  submission.syncs = array_of(syncs);
  EXPECT_EQ(submit(submission), GetParam().error);
  EXPECT_EQ(error.rule, GetParam().rule);
  // Nothing of it ran.
  const auto* out = node.map(target, kPage);
  node.sync(target, DRM_NVDLA_BO_SYNC_FROM_DEVICE, kPage);
  EXPECT_TRUE(std::all_of(out, out + kPage, [](auto b) { return b == 0xa5; }));
}

INSTANTIATE_TEST_SUITE_P(
    Ioctl, SubmitRefused,
    testing::Values(
        SubmitFault{"Flags", [](Draft& d) { d.submit.flags = 1; }, EINVAL, 0},
        SubmitFault{"ContextUnknown", [](Draft& d) { d.submit.context = 99; }, ENOENT, 0},
        SubmitFault{"ProgramUnknown", [](Draft& d) { d.submit.program = 99; }, ENOENT, 0},
        SubmitFault{"BufferUnknown", [](Draft& d) { d.bindings[0].handle = 99; }, ENOENT, 0},
        SubmitFault{"BindingPad", [](Draft& d) { d.bindings[0].pad = 1; }, EINVAL, 0},
        SubmitFault{"BindingBeyondItsBuffer", [](Draft& d) { d.bindings[0].offset = kPage + 1; },
                    EINVAL, 0},
        SubmitFault{"BindingMissing", [](Draft& d) { d.bindings.pop_back(); }, EINVAL,
                    NVDLA_RULE_BINDING_MISSING},
        SubmitFault{"BindingTooMany", [](Draft& d) { d.bindings.push_back(d.bindings[0]); }, EINVAL,
                    NVDLA_RULE_BINDING_MISSING},
        SubmitFault{"BindingTooSmall", [](Draft& d) { d.bindings[1].offset = kPage - 32; }, EINVAL,
                    NVDLA_RULE_BINDING_SIZE},
        SubmitFault{"BindingMisaligned", [](Draft& d) { d.bindings[1].offset = 4; }, EINVAL,
                    NVDLA_RULE_BINDING_ALIGNMENT},
        SubmitFault{"BindingStride",
                    [](Draft& d) { d.submit.bindings.stride = sizeof(drm_nvdla_binding) - 8; },
                    EINVAL, 0},
        SubmitFault{"StatisticsNotAskedFor",
                    [](Draft& d) { d.submit.stats_handle = d.bindings[0].handle; }, EINVAL, 0},
        SubmitFault{"StatisticsOffsetAlone", [](Draft& d) { d.submit.stats_offset = 8; }, EINVAL,
                    0},
        SubmitFault{"StatisticsStrideAlone",
                    [](Draft& d) { d.submit.stats_stride = sizeof(nvdla_layer_stats); }, EINVAL, 0},
        SubmitFault{"ErrorWithoutRoom", [](Draft& d) { d.submit.error_bytes = 0; }, EINVAL, 0},
        SubmitFault{"RoomWithoutError", [](Draft& d) { d.submit.error = 0; }, EINVAL, 0},
        SubmitFault{"RoomOdd", [](Draft& d) { d.submit.error_bytes -= 4; }, EINVAL, 0},
        SubmitFault{"RoomHuge", [](Draft& d) { d.submit.error_bytes = 1 << 20; }, E2BIG, 0},
        SubmitFault{"SyncFlagsNone", [](Draft& d) { d.syncs[0].flags = 0; }, EINVAL, 0},
        SubmitFault{"SyncFlagsBoth", [](Draft& d) { d.syncs[0].flags = 3; }, EINVAL, 0},
        SubmitFault{"SyncUnknown", [](Draft& d) { d.syncs[0].handle = 99; }, ENOENT, 0},
        SubmitFault{"SyncNeverSubmitted",
                    [](Draft& d) {
                      d.syncs.push_back({d.node.syncobj(), DRM_NVDLA_SYNC_WAIT, 0});
                    },
                    EINVAL, 0},
        SubmitFault{"SyncsTooMany",
                    [](Draft& d) { d.syncs.resize(DRM_NVDLA_MAX_SYNCS + 1, d.syncs[0]); }, E2BIG,
                    0}),
    [](const auto& test) { return test.param.name; });

struct StatsFault {
  std::string name;
  std::uint64_t offset;
  std::uint32_t stride = sizeof(nvdla_layer_stats);
  int layers = 1;
};

class StatsRefused : public Submit, public testing::WithParamInterface<StatsFault> {};

TEST_P(StatsRefused, WhereTheyDoNotFit) {
  copy.front().layers.resize(GetParam().layers, copy.front().layers.front());
  auto submission = args(DRM_NVDLA_PROGRAM_STATS);
  submission.stats_handle = node.buffer(kPage);
  submission.stats_offset = GetParam().offset;
  submission.stats_stride = GetParam().stride;
  EXPECT_EQ(submit(submission), EINVAL);
}

INSTANTIATE_TEST_SUITE_P(
    Ioctl, StatsRefused,
    testing::Values(StatsFault{"Misaligned", 4},
                    StatsFault{"EightBytesTooFar", (kPage - sizeof(nvdla_layer_stats) + 8) & ~7ull},
                    StatsFault{"Wrapping", ~7ull}, StatsFault{"StrideZero", 0, 0},
                    StatsFault{"StrideTooSmall", 0, sizeof(nvdla_layer_stats) - 8},
                    StatsFault{"StrideOdd", 0, sizeof(nvdla_layer_stats) + 4},
                    StatsFault{"SecondLayerBeyondTheBuffer", 0, kPage, 2},
                    StatsFault{"StrideThatWouldWrap", 0, ~7u, 3}),
    [](const auto& test) { return test.param.name; });

// ------------------------------------------------------------ processes ---

// Runs the copy `runs` times in a process of its own; exit status 0 when all is well.
int copy_in_child(int runs) {
  Node node;
  if (node.fd() < 0) return 2;
  CopyProgram copy(node.info().atom_bytes);
  auto create = copy.args();
  if (node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &create) != 0) return 3;
  const auto source = node.buffer(kPage);
  const auto target = node.buffer(kPage);
  const auto done = node.syncobj();
  auto* from = node.map(source, kPage);
  const auto* to = node.map(target, kPage);
  const std::vector<drm_nvdla_binding> bindings = {{0, source, 0}, {0, target, 0}};
  const std::vector<drm_nvdla_sync> syncs = {{done, DRM_NVDLA_SYNC_SIGNAL, 0}};
  drm_nvdla_submit submit{};
  submit.bindings = array_of(bindings);
  submit.syncs = array_of(syncs);
  submit.context = node.context();
  submit.program = create.program;
  for (int i = 0; i < runs; ++i) {
    std::memset(from, getpid() + i, copy.bytes);
    node.sync(source, DRM_NVDLA_BO_SYNC_TO_DEVICE, kPage);
    if (node.call(DRM_IOCTL_NVDLA_SUBMIT, &submit) != 0) return 4;
    if (node.wait(done, kAfterDeadline) != 0) return 5;
    node.sync(target, DRM_NVDLA_BO_SYNC_FROM_DEVICE, kPage);
    if (std::memcmp(from, to, copy.bytes) != 0) return 6;
  }
  return 0;
}

pid_t spawn(int runs) {
  const pid_t child = fork();
  if (child == 0) _exit(copy_in_child(runs));
  return child;
}

TEST_F(Ioctl, TwoProcessesAtOnce) {
  const pid_t children[] = {spawn(30), spawn(30)};
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }
}

TEST_F(Ioctl, AKilledProcessHarmsNobody) {
  for (int i = 0; i < 5; ++i) {
    const pid_t victim = spawn(1000000);
    usleep(20000);
    ASSERT_EQ(kill(victim, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(victim, &status, 0), victim);
    EXPECT_TRUE(WIFSIGNALED(status)) << "ended by itself with status " << status;
  }
  EXPECT_EQ(copy_in_child(3), 0);
}

}  // namespace
}  // namespace nvdla::ioctl_test
