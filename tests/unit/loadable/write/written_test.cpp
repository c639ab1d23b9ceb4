// SPDX-License-Identifier: MIT
//
// What the writer writes, read by the tests' own reader: every field of every descriptor, against
// what follows from the network. What is not named must be 0.
#include "written.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "nvdla/lowlevel/lut.hpp"

namespace nvdla::witness {
namespace {

// A layer of each of three units, in a row.
struct Chain {
  Chain() {
    std::iota(weights.begin(), weights.end(), 0);
    const Tensor in = network.input("in", {.channels = 40, .height = 8, .width = 10});
    Convolution conv{.name = "conv", .kernels = 20, .kernel_height = 3, .kernel_width = 2};
    conv.stride_height = 2;
    conv.pad_top = 1;
    conv.pad_left = 1;
    conv.pad_value = -3;
    conv.weights = weights;
    conv.bias = bias;
    conv.relu = true;
    conv.output = {.offset = 5, .scale = 7, .shift = 9};
    const Tensor a = network.convolution(in, conv);
    const Tensor b = network.pooling(a, {.name = "pool",
                                         .method = NVDLA_POOL_AVERAGE,
                                         .kernel_height = 3,
                                         .kernel_width = 2,
                                         .stride_height = 1,
                                         .stride_width = 2,
                                         .pad_top = 1,
                                         .pad_bottom = 2,
                                         .pad_left = 1,
                                         .pad_right = 1,
                                         .pad_value = 4});
    table.unit = NVDLA_LUT_CDP;
    table.flags = NVDLA_LUT_LE_LINEAR | NVDLA_LUT_OVERFLOW_LO;
    table.le_index_select = -3;
    table.lo_index_select = 2;
    table.le_start = -70000;
    table.le_end = -70000 + 64 / 8;
    table.lo_start = 1000;
    table.lo_end = 1000 + 256 * 4;
    table.le_underflow = {11, -1};
    table.le_overflow = {12, 2};
    table.lo_underflow = {13, -3};
    table.lo_overflow = {14, 4};
    for (int i = 0; i < 65; ++i) table.le[i] = static_cast<std::int16_t>(-300 + i);
    for (int i = 0; i < 257; ++i) table.lo[i] = static_cast<std::int16_t>(3000 - i);
    Normalization norm{.name = "norm", .window = 7};
    norm.input = {.offset = 1, .scale = 2, .shift = 3};
    norm.output = {.offset = 4, .scale = 5, .shift = 6};
    norm.lut = &table;
    network.output(network.normalization(b, norm), "out");
  }

  std::vector<std::int8_t> weights = std::vector<std::int8_t>(20 * 40 * 6);
  std::vector<std::int32_t> bias = std::vector<std::int32_t>(20, 0x1234);
  nvdla_lut table = {};
  Network network;
};

class WrittenChain : public testing::TestWithParam<bool> {
 protected:
  Chain chain;
  Written written{chain.network, GetParam()};
};

// Addresses where input, output, weights and operands lie, and what is handed on.
TEST_P(WrittenChain, Addresses) {
  const auto at = [&](std::int64_t i, const char* unit, const char* cube) {
    return written.memory_of(written.surface(i, unit).get(std::string(cube) + ".address"));
  };
  const std::uint64_t in = at(0, "conv", "src_data"), weights = at(0, "conv", "weight_data");
  const std::uint64_t out = at(3, "cdp", "dst_data");
  EXPECT_EQ(written.number("memory_list", in, "flags"), kInputMemory);
  EXPECT_EQ(written.number("memory_list", out, "flags"), kOutputMemory);
  EXPECT_EQ(written.number("memory_list", weights, "flags"), kConstantMemory);
  EXPECT_EQ(at(2, "pdp", "dst_data"), at(3, "cdp", "src_data"));
  const std::set<std::uint64_t> all = {in, weights, out, at(2, "pdp", "dst_data")};
  EXPECT_EQ(all.size(), 4U);
  // The bias behind the weights, in 16 bits. Older cubes have an address of their own for it.
  EXPECT_EQ(at(1, "sdp", "x1_data"), weights);
  const Record surface = written.surface(1, "sdp");
  EXPECT_EQ(written.offset_of(surface, "x1_data"), 4864);
  const auto& bytes = written.content(surface.get("x1_data.address"));
  EXPECT_EQ(bytes.at(4864), std::byte{0x34});
  EXPECT_EQ(bytes.at(4865), std::byte{0x12});
  EXPECT_EQ(bytes.at(4864 + 2 * 19), std::byte{0x34});
}

TEST_P(WrittenChain, Convolution) {
  const Record op = written.op(0, "conv");
  expect_fields(op,
                {{"entry_per_slice", 5},
                 {"data_format", 36},
                 {"batch", 1},
                 {"release", 8},
                 {"input_width_csc", 10},
                 {"input_height_csc", 8},
                 {"input_channel_csc", 40},
                 {"kernel_width_csc", 2},
                 {"kernel_height_csc", 3},
                 {"kernel_channel_csc", 40},
                 {"input_width_cmac", 10},
                 {"input_height_cmac", 4},
                 {"bytes_per_kernel", 240},
                 {"conv_stride_x", 1},
                 {"conv_stride_y", 2},
                 {"pad_x_left", 1},
                 {"pad_y_top", 1},
                 {"dilation_x", 1},
                 {"dilation_y", 1},
                 {"pad_val", -3},
                 {"out_cvt.scale", 1},
                 {"out_cvt.enable", 1}},
                {"data_bank", "weight_bank", "fetch_grain"});
  EXPECT_GE(op.get("data_bank"), 1);
  EXPECT_GE(op.get("weight_bank"), 1);
  EXPECT_LE(op.get("data_bank") + op.get("weight_bank"), 16);
  EXPECT_GE(op.get("fetch_grain"), 1);
  EXPECT_LE(op.get("fetch_grain"), 8);

  Fields surface;
  add_cube(surface, "src_data", 40, 8, 10);
  add_no_cube(surface, "wmb_data");
  add_no_cube(surface, "wgs_data");
  add_passed(surface, "dst_data", 20, 4, 10);
  surface["weight_data.size"] = 4864;
  surface["weight_data.width"] = 2;
  surface["weight_data.height"] = 3;
  surface["weight_data.channel"] = 40;
  expect_fields(written.surface(0, "conv"), surface, {"src_data.address", "weight_data.address"});
}

TEST_P(WrittenChain, Sdp) {
  Fields op = {{"lut_index", -1},     {"out_cvt.scale", 7},  {"out_cvt.truncate", 9},
               {"out_cvt.enable", 1}, {"out_cvt.offset", 5}, {"batch_num", 1},
               {"x1_op.enable", 1},   {"x1_op.alu_type", 2}, {"x1_op.type", 2},
               {"x1_op.mode", 1},     {"x1_op.act", 1},      {"x1_op.precision", 1},
               {"x2_op.alu_type", 2}, {"y_op.alu_type", 2}};
  expect_fields(written.op(1, "sdp"), op);
  Fields surface;
  for (const char* cube : {"x2_data", "y_data"}) add_no_cube(surface, cube);
  // From one unit to another, with the size of what passes.
  for (const char* cube : {"src_data", "dst_data"}) add_passed(surface, cube, 20, 4, 10);
  surface["x1_data.width"] = surface["x1_data.height"] = 1;
  surface["x1_data.channel"] = 20;
  expect_fields(written.surface(1, "sdp"), surface,
                {"x1_data.address", "x1_data.offset", "x1_data.size"});
}

TEST_P(WrittenChain, Pooling) {
  Fields op = {{"split_num", 1}, {"pool_width", 1}, {"pool_height", 2},
               {"stride_x", 2},  {"stride_y", 1},   {"pad_left", 1},
               {"pad_right", 1}, {"pad_top", 1},    {"pad_bottom", 2}};
  // One value for each number of padded positions.
  for (int i = 0; i < 7; ++i) op["padding_value[" + std::to_string(i) + "]"] = 4 * (i + 1);
  expect_fields(written.op(2, "pdp"), op);
  Fields surface;
  add_passed(surface, "src_data", 20, 4, 10);
  add_cube(surface, "dst_data", 20, 5, 6);
  expect_fields(written.surface(2, "pdp"), surface, {"dst_data.address"});
}

TEST_P(WrittenChain, Normalization) {
  expect_fields(written.op(3, "cdp"), {{"in_cvt.scale", 2},
                                       {"in_cvt.truncate", 3},
                                       {"in_cvt.enable", 1},
                                       {"in_cvt.offset", 1},
                                       {"out_cvt.scale", 5},
                                       {"out_cvt.truncate", 6},
                                       {"out_cvt.enable", 1},
                                       {"out_cvt.offset", 4},
                                       {"local_size", 7}});
  Fields surface;
  add_cube(surface, "src_data", 20, 5, 6);
  add_cube(surface, "dst_data", 20, 5, 6);
  expect_fields(written.surface(3, "cdp"), surface, {"src_data.address", "dst_data.address"});
  Fields table = {{"linear_exp_offset", 0xfd},
                  {"linear_only_offset", 2},
                  {"linear_exp_start", -70000},
                  {"linear_exp_end", -69992},
                  {"linear_only_start", 1000},
                  {"linear_only_end", 2024},
                  {"linear_exp_underflow_slope.scale", 11},
                  {"linear_exp_underflow_slope.shifter", -1},
                  {"linear_exp_overflow_slope.scale", 12},
                  {"linear_exp_overflow_slope.shifter", 2},
                  {"linear_only_underflow_slope.scale", 13},
                  {"linear_only_underflow_slope.shifter", -3},
                  {"linear_only_overflow_slope.scale", 14},
                  {"linear_only_overflow_slope.shifter", 4},
                  {"overflow_priority", 1},
                  {"method", 1}};
  for (int i = 0; i < 65; ++i) table["linear_exp_table[" + std::to_string(i) + "]"] = -300 + i;
  for (int i = 0; i < 257; ++i) table["linear_only_table[" + std::to_string(i) + "]"] = 3000 - i;
  expect_fields(written.entry("lut_data_index", 0, 700, "dla_lut_param"), table);
}

// The first three start together, the last when they have ended.
TEST_P(WrittenChain, OrderOfOperations) {
  constexpr int kCount = 4;
  const int types[kCount] = {1, 2, 3, 4}, events[kCount] = {2, 2, 1};
  const int parents[kCount] = {-1, 0, 1, -1}, counts[kCount] = {1, 2, 1, 1};
  for (int i = 0; i < kCount; ++i) {
    SCOPED_TRACE(i);
    Fields common = {{"index", i},
                     {"op_type", types[i]},
                     {"dependency_count", counts[i]},
                     {"fused_parent.index", parents[i]}};
    if (parents[i] >= 0) common["fused_parent.event"] = 3;
    for (int t = 0; t < 6; ++t) {
      common["consumers[" + std::to_string(t) + "].index"] = -1;
    }
    if (i + 1 < kCount) {
      const std::string next = "consumers[" + std::to_string(types[i + 1]) + "]";
      common[next + ".index"] = i + 1;
      common[next + ".event"] = events[i];
    }
    expect_fields(written.common(i), common);
  }
  const auto& addresses = written.file().lists.at("task_list").at(0).lists.at("address_list");
  expect_fields(
      written.network(),
      {{"roi_array_index", -1},
       {"surface_index", -1},
       {"stat_list_index", -1},
       {"op_head[0]", -1},
       {"op_head[1]", 0},
       {"op_head[2]", 1},
       {"op_head[3]", 2},
       {"op_head[4]", 3},
       {"op_head[5]", -1},
       {"num_rois", 1},
       {"num_operations", 4},
       {"num_luts", 1},
       {"num_addresses", static_cast<std::int64_t>(addresses.size())}},
      {"operation_desc_index", "surface_desc_index", "dependency_graph_index", "lut_data_index"});
}

TEST_P(WrittenChain, Container) {
  const File& f = written.file();
  EXPECT_EQ(f.version, (std::array<std::uint8_t, 3>{0, 7, 0}));
  const std::array<std::uint8_t, 3> revision = {0, static_cast<std::uint8_t>(GetParam() ? 11 : 12),
                                                static_cast<std::uint8_t>(GetParam() ? 0 : 3)};
  for (const Entry& blob : f.lists.at("blobs")) {
    EXPECT_EQ(blob.numbers.at("size"), blob.bytes.at("data").size());
    // What is not of the interface has a version of its own.
    const std::string& name = blob.texts.at("name");
    const bool own = name == "nvdla-quantization" || name == "nvdla-layers";
    EXPECT_EQ(blob.versions.at("version"), own ? (std::array<std::uint8_t, 3>{1, 0, 0}) : revision);
  }
  for (std::uint64_t i = 0; i < f.lists.at("memory_list").size(); ++i) {
    EXPECT_EQ(written.number("memory_list", i, "id"), i);
    EXPECT_EQ(written.number("memory_list", i, "domain"), 0U);
    EXPECT_EQ(written.number("memory_list", i, "alignment"), 4096U);
  }
  for (std::uint64_t i = 0; i < f.lists.at("address_list").size(); ++i) {
    EXPECT_EQ(written.number("address_list", i, "id"), i);
    const std::uint64_t memory = written.number("address_list", i, "mem_id");
    EXPECT_EQ(
        written.number("address_list", i, "offset") + written.number("address_list", i, "size"),
        written.number("memory_list", memory, "size"));
  }
  ASSERT_EQ(f.lists.at("task_list").size(), 1U);
  EXPECT_EQ(written.number("task_list", 0, "interface"), 1U);
  EXPECT_EQ(written.number("task_list", 0, "instance"), 0xffffU);
  ASSERT_EQ(f.lists.at("submit_list").size(), 1U);
  EXPECT_EQ(f.lists.at("submit_list")[0].lists.at("task_id"), std::vector<std::uint64_t>{0});
  ASSERT_EQ(f.lists.at("tensor_desc_list").size(), 2U);
  const std::map<std::string, std::uint64_t> sides[] = {
      {{"c", 40}, {"h", 8}, {"w", 10}, {"stride_1", 320}, {"stride_2", 2560}, {"size", 5120}},
      {{"c", 20}, {"h", 5}, {"w", 6}, {"stride_1", 192}, {"stride_2", 960}, {"size", 960}}};
  for (std::uint64_t i = 0; i < 2; ++i) {
    const auto& tensor = f.lists.at("tensor_desc_list")[i];
    EXPECT_EQ(tensor.texts.at("name"), i == 0 ? "in" : "out");
    std::map<std::string, std::uint64_t> expected = sides[i];
    for (const auto& [field, value] : std::map<std::string, std::uint64_t>{{"id", i},
                                                                           {"data_format", 3},
                                                                           {"data_type", 4},
                                                                           {"data_category", 2},
                                                                           {"pixel_format", 36},
                                                                           {"n", 1},
                                                                           {"stride_0", 1}}) {
      expected[field] = value;
    }
    for (const auto& [field, value] : tensor.numbers) {
      if (field == "mem_id") continue;
      EXPECT_EQ(value, expected[field]) << field;
      expected.erase(field);
    }
    for (const auto& [field, value] : expected) EXPECT_EQ(value, 0U) << field << " is not there";
    EXPECT_EQ(written.number("memory_list", tensor.numbers.at("mem_id"), "tensor_desc_id"), i);
  }
}

INSTANTIATE_TEST_SUITE_P(Loadable, WrittenChain, testing::Bool(), [](const auto& test) {
  return test.param ? "Interface11" : "Interface12";
});

}  // namespace
}  // namespace nvdla::witness
