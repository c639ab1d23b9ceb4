// SPDX-License-Identifier: MIT
//
// The tables that messages are made of are complete, and the messages say what they should.
#include "nvdla/types/error.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/core/register_info.hpp"
#include "support/fields.hpp"
#include "support/rules.hpp"

namespace nvdla {
namespace {

class Fields : public ::testing::TestWithParam<std::uint32_t> {};

// Every byte of the structure belongs to exactly one named field.
TEST_P(Fields, CoverTheStructure) {
  std::uint32_t next = 0;
  std::set<std::string_view> names;
  for (const detail::Field& field : detail::object_fields(GetParam())) {
    EXPECT_EQ(field.offset, next) << field.name;
    EXPECT_FALSE(field.name.empty());
    EXPECT_EQ(field.size % field.element, 0U) << field.name;
    EXPECT_TRUE(names.insert(field.name).second) << field.name << " is there twice";
    next = field.offset + field.size;
  }
  EXPECT_EQ(next, detail::object_size(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, Fields,
                         ::testing::Values(NVDLA_OBJECT_PROGRAM, NVDLA_OBJECT_LAYER,
                                           NVDLA_OBJECT_SLOT, NVDLA_OBJECT_LUT,
                                           NVDLA_OBJECT_TRANSFER),
                         ::testing::PrintToStringParamName());

TEST(FieldName, OfEveryObject) {
  EXPECT_EQ(field_name(NVDLA_OBJECT_LAYER, offsetof(nvdla_layer, conv.input.line_stride)),
            "conv.input.line_stride");
  EXPECT_EQ(field_name(NVDLA_OBJECT_SLOT, offsetof(nvdla_slot, alignment)), "alignment");
  EXPECT_EQ(field_name(NVDLA_OBJECT_LUT, offsetof(nvdla_lut, lo_overflow.shift)),
            "lo_overflow.shift");
  EXPECT_EQ(field_name(NVDLA_OBJECT_TRANSFER, offsetof(nvdla_transfer, destination.slot)),
            "destination.slot");
  EXPECT_EQ(field_name(NVDLA_OBJECT_LAYER, sizeof(nvdla_layer)), "");
  EXPECT_EQ(field_name(NVDLA_OBJECT_BINDING, 0), "");
  EXPECT_EQ(field_name(999, 0), "");
}

TEST(Names, AreThereForEveryEnumerator) {
  std::set<std::string_view> names;
  for (std::uint32_t i = 0; i < NVDLA_COUNTER_COUNT; ++i) {
    EXPECT_FALSE(counter_name(i).empty()) << i;
    EXPECT_TRUE(names.insert(counter_name(i)).second) << counter_name(i);
  }
  EXPECT_EQ(counter_name(NVDLA_COUNTER_COUNT), "");
  EXPECT_EQ(counter_name(NVDLA_COUNTER_CACC_SATURATION), "cacc.saturation");
  EXPECT_EQ(counter_name(NVDLA_COUNTER_BDMA_WRITE_STALL), "bdma.write_stall");
  for (std::uint32_t i = NVDLA_LAYER_CONV_SDP; i <= NVDLA_LAYER_BDMA; ++i) {
    EXPECT_FALSE(layer_kind_name(i).empty()) << i;
  }
  for (std::uint32_t i = 0; i <= NVDLA_DMA_BDMA_WRITE; ++i) EXPECT_FALSE(dma_name(i).empty()) << i;
  for (std::uint32_t i = 1; i <= NVDLA_FEATURE_NOT_IMPLEMENTED; ++i) {
    EXPECT_FALSE(feature_name(i).empty()) << i;
  }
}

// A rule without a text, or with a text that does not format, shows here.
TEST(Rules, AllHaveNameAndText) {
  std::set<std::string_view> names;
  for (std::uint32_t rule = 0; rule < NVDLA_RULE_COUNT; ++rule) {
    EXPECT_FALSE(rule_name(rule).empty()) << "rule " << rule;
    EXPECT_TRUE(names.insert(rule_name(rule)).second) << rule_name(rule);
    for (std::uint32_t object = 0; object <= NVDLA_OBJECT_BINDING; ++object) {
      nvdla_error e = {};
      e.rule = rule;
      e.object = object;
      e.index = 7;
      e.value = 100;
      e.multiple = 32;
      const Error error(ErrorCode::kInvalidProgram, e);
      EXPECT_EQ(std::string(error.what()).find('{'), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find("no text for"), std::string::npos) << error.what();
      EXPECT_EQ(error.rule(), rule);
    }
  }
  EXPECT_EQ(rule_name(NVDLA_RULE_COUNT), "");
}

nvdla_error layer_error(std::uint32_t rule, std::uint32_t field, std::int64_t value) {
  nvdla_error e = {};
  e.rule = rule;
  e.object = NVDLA_OBJECT_LAYER;
  e.index = 3;
  e.field = field;
  e.value = value;
  return e;
}

TEST(Message, OfAStride) {
  nvdla_error e =
      layer_error(NVDLA_RULE_MULTIPLE, offsetof(nvdla_layer, conv.input.line_stride), 100);
  e.multiple = 32;
  const Error error(ErrorCode::kInvalidProgram, e);
  EXPECT_STREQ(error.what(),
               "layer 3 (conv): input.line_stride 100 is not a multiple of the atom (32); nearest "
               "valid: 128");
  EXPECT_EQ(error.layer(), 3);
  EXPECT_EQ(error.field(), "conv.input.line_stride");
  EXPECT_EQ(error.code(), std::errc::invalid_argument);
  EXPECT_EQ(error.detail().value, 100);
}

TEST(Message, NamesTheLayer) {
  nvdla_error e = layer_error(NVDLA_RULE_RANGE, offsetof(nvdla_layer, conv.kernel_width), 33);
  e.min = 1;
  e.max = 32;
  const Error error(ErrorCode::kInvalidProgram, e, "conv2");
  EXPECT_STREQ(error.what(),
               "layer 3 'conv2' (conv): kernel_width 33 is not in 1..32; nearest valid: 32");
}

TEST(Message, OfAnArrayElement) {
  nvdla_error e = layer_error(NVDLA_RULE_WAIT_ORDER, offsetof(nvdla_layer, waits) + 8, 5);
  EXPECT_STREQ(Error(ErrorCode::kInvalidProgram, e).what(),
               "layer 3: waits[2] waits for layer 5, which is not an earlier one");
}

TEST(Message, OfAnExtent) {
  nvdla_error e = layer_error(NVDLA_RULE_EXTENT, offsetof(nvdla_layer, sdp.output.offset), 4095);
  e.dma = NVDLA_DMA_SDP_WDMA;
  e.slot = 2;
  e.min = 0;
  e.max = 4000;
  EXPECT_STREQ(Error(ErrorCode::kInvalidProgram, e).what(),
               "layer 3 (sdp): output.offset SDP WDMA would touch bytes 0..4095 of slot 2, which "
               "has 4000");
}

TEST(Message, OfABinding) {
  nvdla_error e = {};
  e.rule = NVDLA_RULE_BINDING_SIZE;
  e.object = NVDLA_OBJECT_BINDING;
  e.index = 4;
  e.value = 99;
  e.min = 100;
  const Error error(ErrorCode::kInvalidBinding, e);
  EXPECT_STREQ(error.what(), "binding of slot 4: buffer has 99 bytes, 100 are needed");
  EXPECT_EQ(error.layer(), -1);
  EXPECT_EQ(error.field(), "");
}

TEST(Message, OfALimit) {
  nvdla_error e = {};
  e.rule = NVDLA_RULE_LIMIT;
  e.object = NVDLA_OBJECT_PROGRAM;
  e.field = NVDLA_PART_SLOTS;
  e.value = 257;
  e.max = 256;
  EXPECT_STREQ(Error(ErrorCode::kInvalidProgram, e).what(),
               "program: slots 257 exceed the limit of 256");
}

TEST(Message, OfPrecisions) {
  nvdla_error e = layer_error(NVDLA_RULE_PRECISIONS, offsetof(nvdla_layer, sdp.out_precision), 1);
  e.min = 2;
  EXPECT_STREQ(Error(ErrorCode::kInvalidProgram, e).what(),
               "layer 3 (sdp): out_precision int16 input, fp16 processing and int8 output do not "
               "work together");
}

TEST(Message, OfBanks) {
  nvdla_error e = layer_error(NVDLA_RULE_DATA_BANKS, offsetof(nvdla_layer, conv.data_banks), 2);
  e.min = 20;
  e.max = 15;
  EXPECT_STREQ(Error(ErrorCode::kInvalidProgram, e).what(),
               "layer 3 (conv): data_banks 2 do not hold all input lines: 20 are needed, only 15 "
               "are left: split the layer");
}

TEST(Message, OfARuleFromTheFuture) {
  nvdla_error e = layer_error(NVDLA_RULE_COUNT + 5, offsetof(nvdla_layer, kind), 1);
  EXPECT_NE(std::string(Error(ErrorCode::kInvalidProgram, e).what()).find("no text for"),
            std::string::npos);
}

// Pixel formats have one name: that of the register, which the enumerator shortens.
TEST(Names, OfPixelFormatsAreTheRegisters) {
  const model::RegisterInfo* info = model::find_register("CDMA.D_DATAIN_FORMAT");
  ASSERT_NE(info, nullptr);
  const model::FieldInfo* field = info->find_field("PIXEL_FORMAT");
  ASSERT_NE(field, nullptr);
  ASSERT_EQ(field->enums.size(), 36U);
  std::map<std::string, std::int64_t> enumerators;
#define VALUE(name, value) enumerators[#name] = value;
#define STRUCT(name, size)
#define MEMBER(structure, name, offset, size)
#include "unit/uapi/layout.inc"
#undef VALUE
#undef STRUCT
#undef MEMBER
  for (const model::EnumInfo& format : field->enums) {
    EXPECT_EQ(pixel_format_name(format.value), format.name);
    // "T_Y8___U8V8_N444" is NVDLA_PIXEL_Y8_U8V8_N444.
    std::string name(format.name.substr(2));
    if (const auto at = name.find("___"); at != std::string::npos) name.replace(at, 3, "_");
    ASSERT_EQ(enumerators.count("NVDLA_PIXEL_" + name), 1U) << name;
    EXPECT_EQ(enumerators["NVDLA_PIXEL_" + name], format.value);
  }
  EXPECT_EQ(pixel_format_name(36), "");
}

// An error in the words of who made the things that it has numbers of.
TEST(Message, WithNamesHasNoNumbersOfSlots) {
  const std::vector<std::string> slots = {"input 'in'", "the output of layer 0 'a'"};
  nvdla_error e = layer_error(NVDLA_RULE_OVERLAP, offsetof(nvdla_layer, sdp.output.slot), 64);
  e.slot = 1;
  e.dma = NVDLA_DMA_SDP_WDMA;
  e.max = 127;
  EXPECT_EQ(detail::rule_text(e, {.layer = "b", .slots = slots}),
            "layer 3 'b' (sdp): output SDP WDMA would write the output of layer 0 'a' from byte 64 "
            "on, over bytes 0..127 that the layer reads: only exactly in place is allowed");
  e.object = NVDLA_OBJECT_SLOT;
  e.index = 0;
  e.field = offsetof(nvdla_slot, size);
  e.rule = NVDLA_RULE_RANGE;
  EXPECT_EQ(detail::rule_text(e, {.slots = slots}).find("input 'in': size 64"), 0U);
}

TEST(Category, MapsToErrc) {
  EXPECT_EQ(make_error_code(ErrorCode::kHang), std::errc::timed_out);
  EXPECT_EQ(make_error_code(ErrorCode::kGone), std::errc::no_such_device);
  EXPECT_EQ(make_error_code(ErrorCode::kNoDevice), std::errc::no_such_device);
  EXPECT_EQ(make_error_code(ErrorCode::kCanceled), std::errc::operation_canceled);
  EXPECT_EQ(make_error_code(ErrorCode::kBusFault), std::errc::bad_address);
  EXPECT_EQ(make_error_code(ErrorCode::kDeadline), std::errc::timed_out);
  EXPECT_EQ(make_error_code(ErrorCode::kNoMemory), std::errc::not_enough_memory);
  EXPECT_EQ(make_error_code(ErrorCode::kNotAvailable), std::errc::not_supported);
  EXPECT_EQ(make_error_code(ErrorCode::kBusy), std::errc::device_or_resource_busy);
  EXPECT_EQ(make_error_code(ErrorCode::kNotWritten), std::errc::io_error);
  for (int code = 1; code <= static_cast<int>(ErrorCode::kBusy); ++code) {
    EXPECT_EQ(error_category().message(code).find("unknown"), std::string::npos) << code;
  }
  EXPECT_STREQ(error_category().name(), "nvdla");
}

TEST(ErrorObject, CopiesShareTheText) {
  const Error one(ErrorCode::kBusy, "in use");
  Error two = one;
  EXPECT_STREQ(two.what(), "in use");
  two = Error(ErrorCode::kHang, "stuck");
  EXPECT_STREQ(one.what(), "in use");
  EXPECT_STREQ(two.what(), "stuck");
  EXPECT_EQ(two.rule(), static_cast<std::uint32_t>(NVDLA_RULE_NONE));
  EXPECT_EQ(two.layer(), -1);
}

}  // namespace
}  // namespace nvdla
