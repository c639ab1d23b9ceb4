// SPDX-License-Identifier: MIT
//
// Operations that no layer can be made of.
#include "refusals.hpp"

namespace nvdla::witness {

namespace {

// A field of the first operation, set to a value.
Refusal set(const char* format, const char* base, const char* field, std::int64_t value,
            const char* message) {
  return in_task(
      format, base, [=](Task& t) { t[0].set(field, value); }, message);
}
Refusal set_second(const char* format, const char* base, const char* field, std::int64_t value,
                   const char* message) {
  return in_task(
      format, base, [=](Task& t) { t[1].set(field, value); }, message);
}

constexpr const char* kPrecision = "{} {} is not 0 (int8), 1 (int16) or 2 (fp16)";
constexpr const char* kType = "{}: type {} is neither 0 (DRAM) nor 1 (SRAM)";
constexpr const char* kMemory = "{}: it says {}, but memory {} is {}";
constexpr const char* kTables =
    "tables of compressed weights in memory of type {}, the weights in type {}";
constexpr const char* kSize = "dst_data {}x{}x{} is not of the size of src_data {}x{}x{}";
constexpr const char* kFollow = "dst_data {}x{}x{} does not follow from src_data {}x{}x{}";
constexpr const char* kMode = "{}.mode {} is not in 0..2";
constexpr const char* kZeroOr = "{} is {}, expected {}";

std::vector<Refusal> of_conv() {
  return {
      set("conv_mode {} is neither 0 (direct) nor 1 (Winograd)", "winograd", "op.conv_mode", 2,
          "task 0, operation 0 (conv): conv_mode 2 is neither 0 (direct) nor 1 (Winograd)"),
      set("data_format {} is not in 0..{}", "conv", "op.data_format", 37,
          "task 0, operation 0 (conv): data_format 37 is not in 0..36"),
      set("Winograd of pixels", "winograd", "op.data_format", 35,
          "task 0, operation 0 (conv): Winograd of pixels"),
      set("pixel_mapping {} is not 0 (lines)", "conv", "op.pixel_mapping", 1,
          "task 0, operation 0 (conv): pixel_mapping 1 is not 0 (lines)"),
      set(kPrecision, "conv", "op.in_precision", 3,
          "task 0, operation 0 (conv): in_precision 3 is not 0 (int8), 1 (int16) or 2 (fp16)"),
      set(kPrecision, "conv", "op.out_precision", 3,
          "task 0, operation 0 (conv): out_precision 3 is not 0 (int8), 1 (int16) or 2 (fp16)"),
      set("post_extension {} is not in 0..2", "conv", "op.post_extension", 3,
          "task 0, operation 0 (conv): post_extension 3 is not in 0..2"),
      set(kZeroOr, "conv", "op.out_cvt.scale", 2,
          "task 0, operation 0 (conv): out_cvt.scale is 2, expected 1"),
      set(kZeroOr, "conv", "op.out_cvt.offset", 1,
          "task 0, operation 0 (conv): out_cvt.offset is 1, expected 0"),
      set("weight_format {} is neither 0 nor 1", "conv", "op.weight_format", 2,
          "task 0, operation 0 (conv): weight_format 2 is neither 0 nor 1"),
      set(kTables, "compressed", "surface.wgs_data.type", 1,
          "task 0, operation 0 (conv): tables of compressed weights in memory of type 1, the "
          "weights in type 0"),
      set(kTables, "compressed", "surface.wmb_data.type", 2,
          "task 0, operation 0 (conv): tables of compressed weights in memory of type 2, the "
          "weights in type 0"),
      set("{}: {} bytes from {} on are beyond memory {} of {} bytes", "compressed",
          "surface.wgs_data.size", 0x3fc1,
          "task 0, operation 0 (conv): wgs_data: 16321 bytes from 64 on are beyond memory 1 of "
          "16384 bytes"),
      set("{}: memory {} has no contents in the file, and tables of compressed weights must",
          "compressed", "surface.wmb_data.address", kResult,
          "task 0, operation 0 (conv): wmb_data: memory 2 has no contents in the file, and tables "
          "of compressed weights must"),
      set("offset_u {} leaves the memory", "image", "surface.offset_u", -0x41,
          "task 0, operation 0 (conv): offset_u -65 leaves the memory"),
      set("offset_u {} leaves the memory", "image", "surface.offset_u", 0x10000000001,
          "task 0, operation 0 (conv): offset_u 1099511627777 leaves the memory"),
      set("offset_u {} leaves the memory", "image", "surface.offset_u", -0x10000000001,
          "task 0, operation 0 (conv): offset_u -1099511627777 leaves the memory"),
      in_task(
          "input_height_csc {}: the {} lines before those of {} are not in its memory", "chain",
          [](Task& t) { t[2].set("op.input_height_csc", 11); },
          "task 0, operation 2 (conv): input_height_csc 11: the 3 lines before those of "
          "src_data are not in its memory"),
      in_task(
          "input_height_csc {}: the {} lines before those of {} are not in its memory",
          "image_chain", [](Task& t) { t[2].set("op.input_height_csc", 11); },
          "task 0, operation 2 (conv): input_height_csc 11: the 3 lines before those of "
          "the second plane are not in its memory"),
      set(kType, "conv", "surface.src_data.type", 2,
          "task 0, operation 0 (conv): src_data: type 2 is neither 0 (DRAM) nor 1 (SRAM)"),
      set(kType, "conv", "surface.weight_data.type", 2,
          "task 0, operation 0 (conv): weight_data: type 2 is neither 0 (DRAM) nor 1 (SRAM)"),
      set(kMemory, "conv", "surface.src_data.type", 1,
          "task 0, operation 0 (conv): src_data: it says SRAM, but memory 1 is DRAM"),
      set(kMemory, "conv", "surface.src_data.address", kSram,
          "task 0, operation 0 (conv): src_data: it says DRAM, but memory 7 is SRAM"),
      set("{}: offset {} is beyond memory {} of {} bytes", "conv", "surface.src_data.offset",
          0x4001,
          "task 0, operation 0 (conv): src_data: offset 16385 is beyond memory 1 of 16384 bytes"),
      in_task(
          "{}: offset {} is beyond memory {} of {} bytes", "conv",
          [](Task& t) {
            t[0].set("surface.src_data.address", kFurtherData);
            t[0].set("surface.src_data.offset", 0x1001);
          },
          "task 0, operation 0 (conv): src_data: offset 4097 is beyond memory 1 of 16384 "
          "bytes"),
      set(kAddress, "conv", "surface.src_data.address", 10,
          "task 0, operation 0 (conv), src_data: address 10 is not in 0..9"),
      set(kAddress, "conv", "surface.weight_data.address", -1,
          "task 0, operation 0 (conv), weight_data: address -1 is not in 0..9"),
      set(kAddress, "compressed", "surface.wgs_data.address", 10,
          "task 0, operation 0 (conv), wgs_data: address 10 is not in 0..9"),
      set(kAddress, "compressed", "surface.wmb_data.address", 10,
          "task 0, operation 0 (conv), wmb_data: address 10 is not in 0..9"),
  };
}

std::vector<Refusal> of_sdp() {
  std::vector<Refusal> all = {
      set_second("src_precision {} is not the conv's out_precision {}", "conv", "op.src_precision",
                 1, "task 0, operation 1 (sdp): src_precision 1 is not the conv's out_precision 0"),
      set_second("conv_mode {} is not the conv's {}", "conv", "op.conv_mode", 1,
                 "task 0, operation 1 (sdp): conv_mode 1 is not the conv's 0"),
      set_second("batch_num {} is not the conv's batch {}", "batch", "op.batch_num", 4,
                 "task 0, operation 1 (sdp): batch_num 4 is not the conv's batch 3"),
      set("batch_num {} without a conv", "sdp_values", "op.batch_num", 2,
          "task 0, operation 0 (sdp): batch_num 2 without a conv"),
      set(kPrecision, "sdp_values", "op.src_precision", 3,
          "task 0, operation 0 (sdp): src_precision 3 is not 0 (int8), 1 (int16) or 2 (fp16)"),
      set(kPrecision, "sdp_values", "op.dst_precision", 3,
          "task 0, operation 0 (sdp): dst_precision 3 is not 0 (int8), 1 (int16) or 2 (fp16)"),
      set("lut_index {}: the task has {} tables", "sdp_operands", "op.lut_index", 2,
          "task 0, operation 0 (sdp): lut_index 2: the task has 2 tables"),
      set("lut_index {}: the task has {} tables", "cdp", "op.lut_index", -1,
          "task 0, operation 0 (cdp): lut_index -1: the task has 2 tables"),
      set("{}: only the third operator (y) has a look-up table", "sdp_values", "op.x1_op.act", 2,
          "task 0, operation 0 (sdp): x1: only the third operator (y) has a look-up table"),
      set("{}: only the third operator (y) has a look-up table", "sdp_values", "op.x2_op.act", 2,
          "task 0, operation 0 (sdp): x2: only the third operator (y) has a look-up table"),
      set("{}: only the third operator (y) compares", "sdp_values", "op.x1_op.alu_type", 3,
          "task 0, operation 0 (sdp): x1: only the third operator (y) compares"),
      set("{}: only the third operator (y) compares", "sdp_values", "op.x2_op.alu_type", 3,
          "task 0, operation 0 (sdp): x2: only the third operator (y) compares"),
      set("y: the third operator has no ReLU", "sdp_values", "op.y_op.act", 1,
          "task 0, operation 0 (sdp): y: the third operator has no ReLU"),
  };
  static const char* const kFields[][3] = {
      {"{}.type {} is not in 0..3", "type", "4 is not in 0..3"},
      {"{}.alu_type {} is not in 0..3", "alu_type", "4 is not in 0..3"},
      {kMode, "mode", "3 is not in 0..2"},
      {"{}.act {} is not in 0..3", "act", "4 is not in 0..3"},
      {"{}.precision {} is not in 0..2", "precision", "3 is not in 0..2"}};
  for (const std::string op : {"x1", "x2", "y"}) {
    for (const auto& [format, field, text] : kFields) {
      const std::string place = op + "_op." + field;
      const std::string message = "task 0, operation 0 (sdp): " + op + "." + field + " " + text;
      const std::int64_t value = text[0] - '0';
      all.push_back(in_task(
          format, "sdp_operands", [=](Task& t) { t[0].set("op." + place, value); }, message));
    }
    const std::string cube = op + "_data";
    all.push_back(in_task(
        kType, "sdp_operands", [=](Task& t) { t[0].set("surface." + cube + ".type", 2); },
        ("task 0, operation 0 (sdp): " + cube + ": type 2 is neither 0 (DRAM) nor 1 (SRAM)")));
    all.push_back(in_task(
        kAddress, "sdp_operands", [=](Task& t) { t[0].set("surface." + cube + ".address", 10); },
        ("task 0, operation 0 (sdp), " + cube + ": address 10 is not in 0..9")));
  }
  return all;
}

std::vector<Refusal> of_units() {
  std::vector<Refusal> all = {
      set(kPrecision, "pdp", "op.precision", 3,
          "task 0, operation 0 (pdp): precision 3 is not 0 (int8), 1 (int16) or 2 (fp16)"),
      set("pool_mode {} is not in 0..2", "pdp", "op.pool_mode", 3,
          "task 0, operation 0 (pdp): pool_mode 3 is not in 0..2"),
      set("pool_width {} and pool_height {} are not in 0..7", "pdp", "op.pool_width", 8,
          "task 0, operation 0 (pdp): pool_width 8 and pool_height 2 are not in 0..7"),
      set("pool_width {} and pool_height {} are not in 0..7", "pdp", "op.pool_height", 8,
          "task 0, operation 0 (pdp): pool_width 2 and pool_height 8 are not in 0..7"),
      set("split_num {} is not in 1..64", "pdp", "op.split_num", 0,
          "task 0, operation 0 (pdp): split_num 0 is not in 1..64"),
      set("split_num {} is not in 1..64", "pdp", "op.split_num", 65,
          "task 0, operation 0 (pdp): split_num 65 is not in 1..64"),
      set(kPrecision, "cdp", "op.in_precision", 3,
          "task 0, operation 0 (cdp): in_precision 3 is not 0 (int8), 1 (int16) or 2 (fp16)"),
      set("out_precision {} is not in_precision {}: CDP does not convert", "cdp",
          "op.out_precision", 1,
          "task 0, operation 0 (cdp): out_precision 1 is not in_precision 0: CDP does not convert"),
      set(kSize, "cdp", "surface.dst_data.width", 9,
          "task 0, operation 0 (cdp): dst_data 64x8x9 is not of the size of src_data 64x8x8"),
      set(kSize, "cdp", "surface.dst_data.height", 7,
          "task 0, operation 0 (cdp): dst_data 64x7x8 is not of the size of src_data 64x8x8"),
      set(kSize, "cdp", "surface.dst_data.channel", 65,
          "task 0, operation 0 (cdp): dst_data 65x8x8 is not of the size of src_data 64x8x8"),
      set("mode {} is not in 0..2", "rubik_split", "op.mode", 3,
          "task 0, operation 0 (rubik): mode 3 is not in 0..2"),
      set(kPrecision, "rubik_split", "op.precision", 3,
          "task 0, operation 0 (rubik): precision 3 is not 0 (int8), 1 (int16) or 2 (fp16)"),
      set(kFollow, "rubik_contract", "surface.dst_data.width", 17,
          "task 0, operation 0 (rubik): dst_data 32x24x17 does not follow from src_data 192x8x8"),
      set(kFollow, "rubik_contract", "surface.dst_data.height", 25,
          "task 0, operation 0 (rubik): dst_data 32x25x16 does not follow from src_data 192x8x8"),
      set(kFollow, "rubik_contract", "surface.dst_data.channel", 33,
          "task 0, operation 0 (rubik): dst_data 33x24x16 does not follow from src_data 192x8x8"),
      set("num_transfers is {} in the operation, {} in the surfaces", "bdma", "op.num_transfers",
          19,
          "task 0, operation 0 (bdma): num_transfers is 19 in the operation, 20 in the surfaces"),
      in_task(
          "num_transfers {} is not in 1..{}", "bdma",
          [](Task& t) {
            t[0].set("op.num_transfers", 21);
            t[0].set("surface.num_transfers", 21);
          },
          "task 0, operation 0 (bdma): num_transfers 21 is not in 1..20"),
      in_task(
          "num_transfers {} is not in 1..{}", "bdma",
          [](Task& t) {
            t[0].set("op.num_transfers", 0);
            t[0].set("surface.num_transfers", 0);
          },
          "task 0, operation 0 (bdma): num_transfers 0 is not in 1..20"),
      set(kAddress, "bdma", "surface.transfers[19].source_address", 10,
          "task 0, operation 0 (bdma), source_address: address 10 is not in 0..9"),
      set(kAddress, "bdma", "surface.transfers[19].destination_address", 10,
          "task 0, operation 0 (bdma), destination_address: address 10 is not in 0..9"),
      set(kType, "bdma", "surface.source_type", 2,
          "task 0, operation 0 (bdma): source_address: type 2 is neither 0 (DRAM) nor 1 (SRAM)"),
      set(kType, "bdma", "surface.destination_type", 2,
          "task 0, operation 0 (bdma): destination_address: type 2 is neither 0 (DRAM) nor 1 "
          "(SRAM)"),
  };
  for (const char* base : {"sdp_values", "pdp", "cdp", "rubik_split"}) {
    for (const std::string cube : {"src_data", "dst_data"}) {
      std::string unit = base;
      unit = unit.substr(0, unit.find('_'));
      all.push_back(in_task(
          kAddress, base, [=](Task& t) { t[0].set("surface." + cube + ".address", 10); },
          ("task 0, operation 0 (" + unit + "), " + cube + ": address 10 is not in 0..9")));
    }
  }
  return all;
}

}  // namespace

std::vector<Refusal> conversion_refusals() {
  std::vector<Refusal> all = of_conv();
  for (auto* more : {of_sdp, of_units}) {
    for (Refusal& refusal : more()) all.push_back(std::move(refusal));
  }
  all.push_back(one_more("{} layers exceed {}", "many", "task 0: 4097 layers exceed 4096"));
  // As much as the tables of a program may take, of a memory that is larger.
  all.push_back(in_file(
      "{}: with its {} bytes the tables of compressed weights exceed {}", "large_tables",
      [](File& f) { f.at("memory_list", kData).numbers["size"] = 8 << 20; },
      "task 0, operation 0 (conv): wmb_data: with its 1 bytes the tables of "
      "compressed weights exceed 4194304"));
  // A memory that no number of pages holds.
  all.push_back(in_file(
      "memory {}: {} bytes", "sdp_values",
      [](File& f) { f.at("memory_list", kResult).numbers["size"] = ~0ULL; },
      "task 0, operation 0 (sdp): memory 2: 18446744073709551615 bytes"));
  return all;
}

}  // namespace nvdla::witness
