// SPDX-License-Identifier: MIT
//
// Every field of what the writer writes for SDP alone, PDP alone, Rubik and BDMA.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "written.hpp"

namespace nvdla::witness {
namespace {

// Interface 0.11 instead of 0.12.
class WrittenUnits : public testing::TestWithParam<bool> {};

// One operator of SDP at a time.
struct Operand {
  const char* name;  // of the operator, as descriptors have it
  std::size_t count;
  std::int64_t mode;
};
constexpr Operand kOperands[] = {
    {"x1", 1, 0},   {"x1", 20, 1}, {"x1", 600, 2}, {"x2", 1, 0},  {"x2", 20, 1},
    {"x2", 600, 2}, {"y", 1, 0},   {"y", 20, 1},   {"y", 600, 2},
};

constexpr Shape kShape{.channels = 20, .height = 5, .width = 6};

// The fields that SDP from memory has whatever its operators are.
Fields plain_sdp() {
  return {{"lut_index", -1},       {"batch_num", 1},      {"out_cvt.scale", 7},
          {"out_cvt.truncate", 4}, {"out_cvt.enable", 1}, {"out_cvt.offset", -6},
          {"x1_op.alu_type", 2},   {"x2_op.alu_type", 2}, {"y_op.alu_type", 2}};
}

Fields plain_sdp_surface() {
  Fields surface;
  add_cube(surface, "src_data", 20, 5, 6);
  add_cube(surface, "dst_data", 20, 5, 6);
  for (const char* cube : {"x1_data", "x2_data", "y_data"}) add_no_cube(surface, cube);
  return surface;
}

// Where the operand of an operator lies: `parts` numbers of `bytes` bytes for each element.
void add_operand(Fields& to, const std::string& cube, std::int64_t mode, std::int64_t bytes) {
  to[cube + ".type"] = 0;
  to.erase(cube + ".address");
  const bool element = mode == 2;
  to[cube + ".width"] = element ? 6 : 1;
  to[cube + ".height"] = element ? 5 : 1;
  to[cube + ".channel"] = 20;
  if (!element) return;
  to[cube + ".line_stride"] = 32 * 6 * bytes;
  to[cube + ".surf_stride"] = 32 * 6 * 5 * bytes;
}

TEST_P(WrittenUnits, SdpWithEachOperand) {
  for (const Operand& o : kOperands) {
    SCOPED_TRACE(std::string(o.name) + ", " + std::to_string(o.count) + " values");
    // Both parts, of two bytes each.
    std::vector<std::int16_t> alu(o.count, 0x123), mul(o.count, -0x321);
    const std::vector<std::int32_t> alu_y(o.count, 0x123), mul_y(o.count, -0x321);
    Pointwise layer{.name = "sdp"};
    layer.output = {.offset = -6, .scale = 7, .shift = 4};
    const std::string name = o.name, op = name + "_op", cube = name + "_data";
    Fields fields = plain_sdp();
    fields[op + ".enable"] = 1;
    fields[op + ".type"] = 3;
    fields[op + ".mode"] = o.mode;
    fields[op + ".truncate"] = 9;
    if (o.mode == 0) {
      fields[op + ".alu_operand"] = 0x123;
      fields[op + ".mul_operand"] = -0x321;
    } else {
      fields[op + ".precision"] = 1;
    }
    if (name == "y") {
      layer.y.alu = NVDLA_ALU_MIN;
      layer.y.mul = NVDLA_MUL_MUL;
      layer.y.alu_values = alu_y;
      layer.y.mul_values = mul_y;
      layer.y.mul_shift = 9;
      fields[op + ".alu_type"] = 1;
      if (o.mode != 0) {
        layer.y.alu_converter = Converter{.offset = -11, .scale = 13, .shift = 5};
        layer.y.mul_converter = Converter{.offset = 17, .scale = -19, .shift = 3};
        for (const auto& [field, value] : Fields{{"alu_cvt.offset", -11},
                                                 {"alu_cvt.scale", 13},
                                                 {"alu_cvt.truncate", 5},
                                                 {"alu_cvt.enable", 1},
                                                 {"mul_cvt.offset", 17},
                                                 {"mul_cvt.scale", -19},
                                                 {"mul_cvt.truncate", 3},
                                                 {"mul_cvt.enable", 1}}) {
          fields[op + ".cvt." + field] = value;
        }
      }
    } else {
      Operator& x = name == "x1" ? layer.x1 : layer.x2;
      x.alu = NVDLA_ALU_SUM;
      x.mul = NVDLA_MUL_MUL;
      x.alu_values = alu;
      x.mul_values = mul;
      x.alu_shift = 2;
      x.mul_shift = 9;
      x.relu = true;
      fields[op + ".act"] = 1;
      fields[op + ".shift_value"] = 2;
    }
    Network network;
    network.output(network.pointwise(network.input("in", kShape), layer), "out");
    const Written written(network, GetParam());
    ASSERT_EQ(written.operations(), 1);
    expect_fields(written.op(0, "sdp"), fields);

    Fields surface = plain_sdp_surface();
    std::vector<std::string> free = {"src_data.address", "dst_data.address"};
    if (o.mode != 0) {
      add_operand(surface, cube, o.mode, 4);
      for (const char* field : {".address", ".size"}) free.push_back(cube + field);
    }
    const Record found = written.surface(0, "sdp");
    expect_fields(found, surface, free);
    EXPECT_EQ(written.memory_flags(found.get("src_data.address")), kInputMemory);
    EXPECT_EQ(written.memory_flags(found.get("dst_data.address")), kOutputMemory);
    if (o.mode == 0) continue;
    // The ALU's part first, in the first element.
    const std::int64_t position = found.get(cube + ".address");
    EXPECT_EQ(written.memory_flags(position), kConstantMemory);
    EXPECT_EQ(written.offset_of(found, cube), 0);
    const auto& bytes = written.content(position);
    EXPECT_EQ(found.get(cube + ".size"), static_cast<std::int64_t>(bytes.size()));
    const std::vector<std::byte> first(bytes.begin(), bytes.begin() + 4);
    EXPECT_EQ(first, (std::vector<std::byte>{std::byte{0x23}, std::byte{0x01}, std::byte{0xdf},
                                             std::byte{0xfc}}));
  }
}

// Codes of all that an ALU can do, of one part or the other, and of operands of one byte.
TEST_P(WrittenUnits, SdpPartsOfOperators) {
  const std::vector<std::int16_t> small(20, 5);
  struct Part {
    nvdla_alu alu;
    nvdla_mul mul;
    std::int64_t type, alu_type, act;
  };
  for (const Part& part :
       {Part{NVDLA_ALU_MAX, NVDLA_MUL_NONE, 2, 0, 0}, Part{NVDLA_ALU_MIN, NVDLA_MUL_NONE, 2, 1, 0},
        Part{NVDLA_ALU_SUM, NVDLA_MUL_NONE, 2, 2, 0}, Part{NVDLA_ALU_NONE, NVDLA_MUL_MUL, 1, 2, 0},
        Part{NVDLA_ALU_NONE, NVDLA_MUL_PRELU, 1, 2, 3}}) {
    SCOPED_TRACE("alu " + std::to_string(part.alu) + ", mul " + std::to_string(part.mul));
    Operator x;
    x.alu = part.alu;
    x.mul = part.mul;
    (part.alu != NVDLA_ALU_NONE ? x.alu_values : x.mul_values) = small;
    Network network;
    network.output(network.pointwise(
                       network.input("in", kShape),
                       {.name = "sdp", .x2 = x, .output = {.offset = -6, .scale = 7, .shift = 4}}),
                   "out");
    const Written written(network, GetParam());
    Fields fields = plain_sdp();
    fields["x2_op.enable"] = 1;
    fields["x2_op.mode"] = 1;
    fields["x2_op.type"] = part.type;
    fields["x2_op.alu_type"] = part.alu_type;
    fields["x2_op.act"] = part.act;
    expect_fields(written.op(0, "sdp"), fields);
    Fields surface = plain_sdp_surface();
    add_operand(surface, "x2_data", 1, 1);
    expect_fields(written.surface(0, "sdp"), surface,
                  {"src_data.address", "dst_data.address", "x2_data.address", "x2_data.size"});
  }
}

// Elements of another tensor, two bytes each as the layer works in; results of another type.
TEST_P(WrittenUnits, SdpWithATensor) {
  Network network;
  const Tensor in = network.input("in", kShape, Precision::kInt16);
  const Tensor other = network.input("other", kShape, Precision::kInt16);
  network.output(network.pointwise(in, {.name = "sdp",
                                        .x1 = elementwise(NVDLA_ALU_MAX, other, 3),
                                        .output = {.offset = -6, .scale = 7, .shift = 4},
                                        .precision = Precision::kFp16}),
                 "out");
  const Written written(network, GetParam());
  Fields fields = plain_sdp();
  fields["src_precision"] = 1;
  fields["dst_precision"] = 2;
  fields["x1_op.enable"] = 1;
  fields["x1_op.type"] = 2;
  fields["x1_op.mode"] = 2;
  fields["x1_op.alu_type"] = 0;
  fields["x1_op.shift_value"] = 3;
  fields["x1_op.precision"] = 1;
  expect_fields(written.op(0, "sdp"), fields);
  Fields surface;
  for (const char* cube : {"src_data", "x1_data", "dst_data"}) add_cube(surface, cube, 20, 5, 6, 2);
  for (const char* cube : {"x2_data", "y_data"}) add_no_cube(surface, cube);
  const Record found = written.surface(0, "sdp");
  expect_fields(found, surface, {"src_data.address", "x1_data.address", "dst_data.address"});
  EXPECT_EQ(written.memory_flags(found.get("x1_data.address")), kInputMemory);
  EXPECT_NE(found.get("x1_data.address"), found.get("src_data.address"));
}

TEST_P(WrittenUnits, SdpWithATable) {
  nvdla_lut table = {};
  table.unit = NVDLA_LUT_SDP;
  table.flags = NVDLA_LUT_UNDERFLOW_LO | NVDLA_LUT_HYBRID_LO;
  table.le_index_offset = -2;
  table.lo_index_select = 1;
  table.le_start = -100;
  table.le_end = 4000;
  table.lo_start = -256;
  table.lo_end = -256 + 512;
  table.le[64] = 77;
  table.lo[256] = 0xffff;
  Network network;
  network.output(
      network.pointwise(
          network.input("in", kShape),
          {.name = "sdp", .y = {.lut = &table}, .output = {.offset = -6, .scale = 7, .shift = 4}}),
      "out");
  const Written written(network, GetParam());
  Fields fields = plain_sdp();
  fields["lut_index"] = 0;
  fields["y_op.enable"] = 1;
  fields["y_op.act"] = 2;
  expect_fields(written.op(0, "sdp"), fields);
  expect_fields(written.surface(0, "sdp"), plain_sdp_surface(),
                {"src_data.address", "dst_data.address"});
  expect_fields(written.entry("lut_data_index", 0, 700, "dla_lut_param"),
                {{"linear_exp_table[64]", 77},
                 {"linear_only_table[256]", -1},
                 {"linear_exp_offset", 0xfe},
                 {"linear_only_offset", 1},
                 {"linear_exp_start", -100},
                 {"linear_exp_end", 4000},
                 {"linear_only_start", -256},
                 {"linear_only_end", 256},
                 {"underflow_priority", 1},
                 {"hybrid_priority", 1}});
}

TEST_P(WrittenUnits, Pooling) {
  struct Method {
    nvdla_pool method;
    std::int64_t code;
  };
  for (const Method& m :
       {Method{NVDLA_POOL_AVERAGE, 0}, Method{NVDLA_POOL_MAX, 1}, Method{NVDLA_POOL_MIN, 2}}) {
    Network network;
    Pooling layer{.name = "pool", .method = m.method};
    layer.kernel_height = 3;
    layer.kernel_width = 2;
    layer.stride_height = 2;
    layer.stride_width = 3;
    layer.pad_top = 2;
    layer.pad_left = 1;
    network.output(network.pooling(network.input("in", {.channels = 40, .height = 9, .width = 10},
                                                 Precision::kInt16),
                                   layer),
                   "out");
    const Written written(network, GetParam());
    ASSERT_EQ(written.operations(), 1);
    expect_fields(written.op(0, "pdp"), {{"split_num", 1},
                                         {"pool_mode", m.code},
                                         {"pool_width", 1},
                                         {"pool_height", 2},
                                         {"stride_x", 3},
                                         {"stride_y", 2},
                                         {"pad_left", 1},
                                         {"pad_top", 2},
                                         {"precision", 1}});
    // (1 + 10 - 2) / 3 + 1 columns, (2 + 9 - 3) / 2 + 1 lines
    Fields surface;
    add_cube(surface, "src_data", 40, 9, 10, 2);
    add_cube(surface, "dst_data", 40, 5, 4, 2);
    // Room for pairs of surfaces, that other units may write.
    surface["src_data.size"] = 4 * 32 * 9 * 10;
    surface["dst_data.size"] = 4 * 32 * 5 * 4;
    const Record found = written.surface(0, "pdp");
    expect_fields(found, surface, {"src_data.address", "dst_data.address"});
    EXPECT_EQ(written.memory_flags(found.get("src_data.address")), kInputMemory);
    EXPECT_EQ(written.memory_flags(found.get("dst_data.address")), kOutputMemory);
  }
}

// Eight lines are in the line buffer at once, so that it holds 16 columns of results.
TEST_P(WrittenUnits, PoolingInBands) {
  Network network;
  Pooling layer{.name = "pool", .kernel_height = 8, .kernel_width = 3};
  layer.stride_width = 2;
  layer.pad_left = layer.pad_right = 1;
  network.output(
      network.pooling(network.input("in", {.channels = 8, .height = 8, .width = 101}), layer),
      "out");
  const Written written(network, GetParam());
  // (1 + 101 + 1 - 3) / 2 + 1 = 51 = 16 + 2 * 16 + 3 columns
  expect_fields(written.op(0, "pdp"), {{"split_num", 4},
                                       {"pool_mode", 1},
                                       {"pool_width", 2},
                                       {"pool_height", 7},
                                       {"stride_x", 2},
                                       {"stride_y", 1},
                                       {"pad_left", 1},
                                       {"pad_right", 1},
                                       {"partial_width_first", 16},
                                       {"partial_width_mid", 16},
                                       {"partial_width_last", 3},
                                       {"partial_in_width_first", 15 * 2 + 3 - 1},
                                       {"partial_in_width_mid", 16 * 2},
                                       {"partial_in_width_last", 3 * 2 - 1}});
}

TEST_P(WrittenUnits, RubikContracts) {
  Network network;
  network.output(
      network.contract(network.input("in", {.channels = 2 * 3 * 32, .height = 4, .width = 5}),
                       {.name = "contract", .stride_height = 2, .stride_width = 3}),
      "out");
  const Written written(network, GetParam());
  ASSERT_EQ(written.operations(), 1);
  expect_fields(written.op(0, "rubik"), {{"stride_x", 3}, {"stride_y", 2}});
  Fields surface;
  add_cube(surface, "src_data", 192, 4, 5);
  add_cube(surface, "dst_data", 32, 8, 15);
  const Record found = written.surface(0, "rubik");
  expect_fields(found, surface, {"src_data.address", "dst_data.address"});
  EXPECT_EQ(written.memory_flags(found.get("src_data.address")), kInputMemory);
  EXPECT_EQ(written.memory_flags(found.get("dst_data.address")), kOutputMemory);
}

// Planes for nv_full in memory: lines of whole 64 bytes.
void add_planes(Fields& to, const std::string& name, std::int64_t channels, std::int64_t height,
                std::int64_t width, std::int64_t element_bytes) {
  const std::int64_t line = (width * element_bytes + 63) / 64 * 64;
  to[name + ".size"] = line * height * channels;
  to[name + ".width"] = width;
  to[name + ".height"] = height;
  to[name + ".channel"] = channels;
  to[name + ".line_stride"] = line;
  to[name + ".plane_stride"] = line * height;
}

TEST_P(WrittenUnits, RubikSplits) {
  Network network;
  network.output(
      network.split(network.input("in", {.channels = 40, .height = 4, .width = 70}), "split"),
      "out");
  const Written written(network, GetParam());
  expect_fields(written.op(0, "rubik"), {{"mode", 1}});
  Fields surface;
  add_cube(surface, "src_data", 40, 4, 70);
  add_planes(surface, "dst_data", 40, 4, 70, 1);
  expect_fields(written.surface(0, "rubik"), surface, {"src_data.address", "dst_data.address"});
}

TEST_P(WrittenUnits, RubikMerges) {
  Network network;
  network.output(network.merge(network.planar_input("in", {.channels = 20, .height = 4, .width = 5},
                                                    Precision::kFp16),
                               "merge"),
                 "out");
  const Written written(network, GetParam());
  expect_fields(written.op(0, "rubik"), {{"mode", 2}, {"precision", 2}});
  Fields surface;
  add_planes(surface, "src_data", 20, 4, 5, 2);
  add_cube(surface, "dst_data", 20, 4, 5, 2);
  expect_fields(written.surface(0, "rubik"), surface, {"src_data.address", "dst_data.address"});
}

// Cube by cube from memory to SRAM, and back.
TEST_P(WrittenUnits, Bdma) {
  Network network;
  const Tensor in = network.input("in", {.channels = 40, .height = 9, .width = 11, .batch = 2});
  const Tensor there = network.copy(in, "there");
  network.place(there, nvdla::Memory::kSram);
  network.output(network.copy(there, "back"), "out");
  const Written written(network, GetParam());
  ASSERT_EQ(written.operations(), 2);
  std::uint64_t sram = 0;
  for (std::int64_t i = 0; i < 2; ++i) {
    SCOPED_TRACE(i);
    expect_fields(written.op(i, "bdma"), {{"num_transfers", 2}});
    Fields surface = {{"num_transfers", 2}};
    surface[i == 0 ? "destination_type" : "source_type"] = 1;
    for (int t = 2; t < 20; ++t) {
      for (const char* side : {"source", "destination"}) {
        surface["transfers[" + std::to_string(t) + "]." + side + "_address"] = -1;
      }
    }
    std::vector<std::string> free;
    for (const std::string transfer : {"transfers[0]", "transfers[1]"}) {
      surface[transfer + ".line_size"] = 32 * 11;
      surface[transfer + ".line_repeat"] = 9;
      surface[transfer + ".surface_repeat"] = 2;
      for (const char* side : {"source", "destination"}) {
        surface[transfer + "." + side + "_line"] = 32 * 11;
        surface[transfer + "." + side + "_surface"] = 32 * 11 * 9;
        free.push_back(transfer + "." + side + "_address");
      }
    }
    const Record found = written.surface(i, "bdma");
    expect_fields(found, surface, free);
    // The second cube lies two surfaces behind the first, on both sides.
    for (const std::string side : {"source", "destination"}) {
      const std::int64_t first = found.get("transfers[0]." + side + "_address");
      const std::int64_t second = found.get("transfers[1]." + side + "_address");
      EXPECT_EQ(written.memory_of(first), written.memory_of(second));
      EXPECT_EQ(written.offset_of(first), 0);
      EXPECT_EQ(written.offset_of(second), 2 * 32 * 11 * 9);
      const bool in_sram = (side == "source") == (i == 1);
      const std::uint64_t memory = written.memory_of(first);
      EXPECT_EQ(written.number("memory_list", memory, "domain"), in_sram ? 1U : 0U);
      if (!in_sram) {
        EXPECT_EQ(written.memory_flags(first), i == 0 ? kInputMemory : kOutputMemory);
      } else if (i == 0) {
        sram = memory;
      } else {
        EXPECT_EQ(memory, sram);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Loadable, WrittenUnits, testing::Bool(), [](const auto& test) {
  return test.param ? "Interface11" : "Interface12";
});

}  // namespace
}  // namespace nvdla::witness
