// SPDX-License-Identifier: MIT
//
// Dumps of the driver: what is wrong with one, what is played of it, and what comes of it.
#include "tools/replay/dump.hpp"

#include <algorithm>

#include "common/command.hpp"
#include "dump_builder.hpp"
#include "expect_error.hpp"
#include "temporary_folder.hpp"

namespace nvdla::replay {
namespace {

// The format does not change by accident.
static_assert(sizeof(nvdla_dump_header) == 192);
static_assert(offsetof(nvdla_dump_header, configuration) == 64);
static_assert(sizeof(nvdla_dump_section) == 16);
static_assert(sizeof(nvdla_dump_register) == 16);
static_assert(sizeof(nvdla_dump_layer) == 48);
static_assert(sizeof(nvdla_dump_write) == 8);
static_assert(sizeof(nvdla_dump_access) == 32);
static_assert(sizeof(nvdla_dump_slot) == 24);
static_assert(sizeof(nvdla_dump_buffer) == 24);

std::string message(const std::string& bytes) {
  return error_of([&] { dump_script(parse_dump(bytes, "x.devcoredump"), "x.devcoredump"); });
}

std::string pattern() {
  std::string bytes(DumpBuilder::kBytes, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 3 + 1);
  return bytes;
}

// Layer 0 has copied the first buffer to the second, layer 1, to the third, did not end.
DumpBuilder chain() {
  DumpBuilder dump({{0, 1}, {1, 2}});
  dump.buffers[0].bytes = dump.buffers[1].bytes = pattern();
  return dump;
}

class DumpReplay : public testing::Test {
 protected:
  test::CommandResult replay(DumpBuilder& dump) {
    const auto path = folder_.write("hang.devcoredump", dump.bytes());
    test::CommandResult result = test::run_command(NVDLA_CLI, "replay -v " + path.string());
    // The place and the time differ.
    const std::size_t at = result.output.find(path.string());
    if (at != std::string::npos) result.output.replace(at, path.string().size(), "FILE");
    return result;
  }

  TemporaryFolder folder_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(DumpReplay, RunsTheJobAndComparesWhatHadEnded) {
  DumpBuilder dump = chain();
  const auto result = replay(dump);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(
      contains(result.output, "pass  FILE  (all layers end here; on the device layer 1 did not)\n"))
      << result.output;
  // Not the third buffer: a layer was writing it.
  EXPECT_TRUE(contains(result.output, "128 bytes compared")) << result.output;
}

TEST_F(DumpReplay, AWrongByteIsFound) {
  DumpBuilder dump = chain();
  dump.buffers[1].bytes[5] = '\x55';
  const auto result = replay(dump);
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.output,
                       "memory 0x80001005: expected 0x55, got 0x10 (first of 1 wrong bytes of 64 "
                       "in the buffer at 0x80001000)"))
      << result.output;
}

TEST_F(DumpReplay, WhatARunningLayerMayHaveWrittenIsNotCompared) {
  DumpBuilder dump = chain();
  dump.buffers[2].bytes = std::string(DumpBuilder::kBytes, '\x77');
  EXPECT_EQ(replay(dump).status, 0);
}

TEST_F(DumpReplay, NothingIsComparedWhenInputsAreGone) {
  DumpBuilder dump({{0, 1}, {1, 0}, {1, 2}});
  dump.buffers[1].bytes[5] = '\x55';
  const auto result = replay(dump);
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.output,
                       "warning: what layer 0 has read was written since: layers that had ended "
                       "are not run again, nor is memory compared"))
      << result.output;
  EXPECT_TRUE(contains(result.output, " 0 bytes compared")) << result.output;
}

TEST_F(DumpReplay, NothingIsComparedWithoutAllBuffers) {
  DumpBuilder dump = chain();
  dump.buffers[1].bytes.resize(8);
  const auto result = replay(dump);
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(
      contains(result.output,
               "warning: of the buffer at 0x80001000 the dump has 8 of 64 bytes; the others "
               "are zero here"))
      << result.output;
  EXPECT_TRUE(contains(result.output, " 0 bytes compared")) << result.output;
}

TEST_F(DumpReplay, RegistersThatTheDeviceDidNotHoldAreFound) {
  DumpBuilder dump = chain();
  // SDP in group 1.
  dump.layers[1].groups = 1u << NVDLA_UNIT_SDP;
  const auto write = std::find_if(
      dump.writes.begin() + dump.layers[1].first_write, dump.writes.end(),
      [](const auto& one) { return one.offset == 0x9000 + NVDLA_SDP_D_DATA_CUBE_CHANNEL; });
  ASSERT_NE(write, dump.writes.end());
  dump.registers.push_back({write->offset, 0, 0x15, 0});
  dump.registers.push_back({write->offset, 1, write->value, 0});
  EXPECT_EQ(replay(dump).status, 0) << "group 0 is not the layer's";
  dump.registers.back().value ^= 2;
  const auto result = replay(dump);
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.output,
                       "(layer 1: 0x00000007 was written to SDP.D_DATA_CUBE_CHANNEL, the device "
                       "held 0x00000005 in group 1)"))
      << result.output;
}

// SDP is to get more from its read DMA than that reads.
TEST_F(DumpReplay, AHangIsReproduced) {
  DumpBuilder dump = chain();
  for (auto& write : dump.writes)
    if (&write >= &dump.writes[dump.layers[1].first_write] &&
        write.offset == 0x9000 + NVDLA_SDP_D_DATA_CUBE_HEIGHT)
      write.value = 5;
  auto result = replay(dump);
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.output, "(layer 1 does not end, as on the device ("))
      << result.output;

  dump.header.layer = 0;
  result = replay(dump);
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.output, "(layer 1 does not end here (")) << result.output;
}

// Nothing was read from a device that does not answer; the rest is as ever.
TEST_F(DumpReplay, ADeviceThatWasGoneHasNoRegisters) {
  DumpBuilder dump = chain();
  dump.header.result = 3;
  const auto result = replay(dump);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output,
                       "pass  FILE  (all layers end here; the device was gone in layer 1)\n"))
      << result.output;
  EXPECT_TRUE(contains(result.output,
                       "warning: the device answered all ones: the dump has no registers, so none "
                       "are compared"))
      << result.output;
  EXPECT_TRUE(contains(result.output, "128 bytes compared")) << result.output;
  dump.buffers[1].bytes[5] = '\x55';
  EXPECT_EQ(replay(dump).status, 1);
  dump.layers.clear();
  EXPECT_TRUE(contains(replay(dump).output,
                       "skip  FILE  (the dump holds no registers, as the device was gone, and no "
                       "job; expected one of the parameter dump=full)"));
}

// The driver found a register of no unit of the layer in what it was to write: so does replay.
TEST_F(DumpReplay, AProgramThatWasChangedIsToldAsSuch) {
  DumpBuilder dump = chain();
  dump.header.result = 5;
  dump.layers[1].state = NVDLA_DUMP_WAITING;
  auto result = replay(dump);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output,
                       "pass  FILE  (all layers end here; the driver did not write layer 1 to the "
                       "device)\n"))
      << result.output;

  auto& write = dump.writes[dump.layers[1].first_write + 2];
  // PDP's.
  write = {0xa010, 0x1234};
  result = replay(dump);
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_TRUE(contains(result.output,
                       "(layer 1: the driver was to write 0x00001234 to 0xa010, a register of none "
                       "of the layer's units: its program was changed after it was checked)"))
      << result.output;
  EXPECT_TRUE(contains(result.output, "192 bytes compared")) << "what layer 0 did" << result.output;
}

TEST_F(DumpReplay, RegistersAloneAreSkipped) {
  DumpBuilder dump = chain();
  dump.layers.clear();
  const auto result = replay(dump);
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.output,
                       "skip  FILE  (the dump holds registers only; expected one of the parameter "
                       "dump=full)"))
      << result.output;
}

TEST(DumpParser, ReadsWhatTheDriverTells) {
  DumpBuilder builder = chain();
  const Dump dump = parse_dump(builder.bytes(), "x");
  EXPECT_EQ(dump.hw, nvdla_hw_find("nv_small"));
  EXPECT_EQ(dump.driver, "nvdla 0.1");
  EXPECT_EQ(dump.release, "6.12");
  EXPECT_EQ(dump.layers.size(), 2u);
  EXPECT_EQ(dump.buffers.size(), 3u);
}

TEST(DumpParser, SkipsWhatItDoesNotKnow) {
  DumpBuilder builder = chain();
  std::string bytes = builder.bytes();
  const nvdla_dump_section section{1000, 0, 3};
  bytes.append(reinterpret_cast<const char*>(&section), sizeof(section)).append(8, '\0');
  builder.header.bytes = bytes.size();
  ++builder.header.num_sections;
  std::memcpy(bytes.data(), &builder.header, sizeof(builder.header));
  EXPECT_EQ(parse_dump(bytes, "x").buffers.size(), 3u);
}

TEST(DumpParser, EveryCutIsAnError) {
  const std::string bytes = chain().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(message(bytes.substr(0, size)), "no error") << size;
  EXPECT_EQ(message(bytes), "no error");
}

// Any byte may be wrong: an error or another script, and nothing else.
TEST(DumpParser, AnyByteMayBeWrong) {
  const std::string good = chain().bytes();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0xff);
    message(bytes);
  }
}

TEST(DumpParser, Header) {
  const auto of = [](auto change) {
    DumpBuilder builder = chain();
    change(builder);
    return message(builder.bytes());
  };
  EXPECT_EQ(of([](auto& dump) { dump.header.magic = 1; }),
            "x.devcoredump: at byte 0: no dump of the driver nvdla; expected one to start with "
            "NVDLADMP");
  EXPECT_EQ(of([](auto& dump) {
              dump.header.magic = __builtin_bswap64(std::uint64_t{NVDLA_DUMP_MAGIC});
            }),
            "x.devcoredump: at byte 0: the dump is of a machine with the other byte order; "
            "expected this one's");
  EXPECT_EQ(of([](auto& dump) { dump.header.version = 2; }),
            "x.devcoredump: at byte 192: version 2 of the format; expected 1");
  EXPECT_EQ(of([](auto& dump) { dump.header.header_bytes = 8; }),
            "x.devcoredump: at byte 192: a header of 8 bytes; expected at least 192");
  EXPECT_EQ(of([](auto& dump) { dump.header.configuration[3] = 'x'; }),
            "x.devcoredump: at byte 192: unknown configuration 'nv_xmall'; expected one that "
            "`nvdla info` lists");
  EXPECT_EQ(of([](auto& dump) { std::memset(dump.header.driver, 'x', 32); }),
            "x.devcoredump: at byte 192: the driver's name does not end; expected a zero in it");
  EXPECT_EQ(of([](auto& dump) { dump.header.layer = 2; }),
            "x.devcoredump: layer 2 of 2 failed; expected one of them");
}

TEST(DumpParser, Program) {
  const auto of = [](auto change) {
    DumpBuilder builder = chain();
    change(builder);
    return message(builder.bytes());
  };
  EXPECT_EQ(of([](auto& dump) { dump.layers[1].state = 4; }),
            "x.devcoredump: layer 1: state 4; expected at most 3");
  EXPECT_EQ(of([](auto& dump) { dump.layers[1].lut = 1; }),
            "x.devcoredump: layer 1: look-up table 1 of 0; expected it to be there");
  EXPECT_EQ(of([](auto& dump) { dump.layers[1].num_transfers = 1; }),
            "x.devcoredump: layer 1: transfers 0 to 1 of 0; expected them to be there");
  EXPECT_EQ(of([](auto& dump) {
              dump.layers[1].first_access = 0xffffffff;
              dump.layers[1].num_accesses = 2;
            }),
            "x.devcoredump: layer 1: accesses 4294967295 to 4294967297 of 4; expected them to be "
            "there");
  EXPECT_EQ(of([](auto& dump) { dump.layers[1].kind = 99; }),
            "x.devcoredump: layer 1 is none that the driver makes; expected what was submitted");
  EXPECT_EQ(of([](auto& dump) { dump.writes[0].offset = 0x3010; }),
            "x.devcoredump: layer 0 writes a register of none of its units; expected what was "
            "submitted");
  EXPECT_EQ(of([](auto& dump) {
              dump.registers.push_back({0x9000, 2, 0, 0});
            }),
            "x.devcoredump: register group 2; expected 0 or 1");
  EXPECT_EQ(of([](auto& dump) { dump.accesses[0].memory = 2; }),
            "x.devcoredump: an access to memory 2; expected 0 or 1");
  EXPECT_EQ(of([](auto& dump) { dump.luts.resize(1), dump.luts[0].unit = 2; }),
            "x.devcoredump: a look-up table of unit 2; expected 0 or 1");
  EXPECT_EQ(of([](auto& dump) {
              dump.transfers.resize(1);
              dump.transfers[0].destination.slot = 3;
            }),
            "x.devcoredump: a transfer names slot 3 of 3; expected one of them");
  // Two layers with the same writes.
  EXPECT_EQ(of([](auto& dump) {
              dump.layers[1].first_write = 0;
              dump.layers[1].num_writes = static_cast<std::uint32_t>(dump.writes.size());
            }).find("x.devcoredump: layers have "),
            0u);
}

TEST(DumpParser, Buffers) {
  DumpBuilder builder = chain();
  builder.buffers[0].size = 8;
  EXPECT_TRUE(
      contains(message(builder.bytes()),
               "a buffer of 8 bytes in memory 0 with 64; expected no more, in memory 0 or 1"));
}

}  // namespace
}  // namespace nvdla::replay
