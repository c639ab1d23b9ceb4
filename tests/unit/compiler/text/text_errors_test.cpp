// SPDX-License-Identifier: MIT
//
// Texts of graphs and schedules that are wrong, and what is said of each.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "compiler/graph/graph_text.hpp"
#include "compiler/lower/schedule_text.hpp"
#include "nvdla/types/error.hpp"

namespace nvdla {
namespace {

struct Wrong {
  std::string_view text, error;
};

template <typename Parse>
std::string error_of(const Parse& parse, std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "none";
}

constexpr std::string_view kInput = "graph\n%0 = input \"in\" : int8 3x4x4\n";

// Each follows the lines of kInput.
constexpr Wrong kWrongLines[] = {
    {"%1 = sdp %0 : int9 3x4x4",
     "line 3, column 15: expected a precision (int8, int16, fp16), found 'int9'"},
    {"%1 = sdp %0 : 7", "line 3, column 15: expected a precision (int8, int16, fp16), found '7'"},
    {"%1 = sdp %0 : int8 3x9000x4",
     "line 3, column 22: expected a size in 1..8192, found '9000x4'"},
    {"%1 = sdp %0 : int8 3x4",
     "line 3, column 23: expected 'x' and another size, as in 3x32x32, "
     "found the end of the text"},
    {"%1 = sdp %0 : int8 33x3x4x4", "line 3, column 20: expected a batch in 1..32, found '33'"},
    {"%1 = sdp %0 : int8 1x2x3x4x5",
     "line 3, column 20: a shape has three sizes, or four with a batch"},
    {"%1 = sdp %2 : int8 3x4x4", "line 3, column 10: %2 is not on a line before"},
    {"%1 = sdp %1 : int8 3x4x4", "line 3, column 10: %1 is not on a line before"},
    {"%0 = sdp %0 : int8 3x4x4", "line 3, column 1: %0 is there already"},
    {"%1 = cpu.softmax %0 sums_on_device : int8 3x4x4",
     "line 3, column 1: the layer has sums_on_device, which is for averages only"},
    {"%2 = sdp %0 : int8 3x4x4",
     "line 3, column 25: %1 is on no line, but %2 is: numbers have no gaps"},
    {"%4000000000 = sdp %0 : int8 3x4x4",
     "line 3, column 1: %4000000000: the text has no 4000000001 tensors"},
    {"%1 = sdo %0 : int8 3x4x4",
     "line 3, column 6: unknown kind of layer 'sdo': there are sdp, conv, deconv, pool, norm, "
     "rubik, copy, concat, slice, pad, reshape, upsample, cpu with one of softmax, power, table, "
     "layer-normalization, product, argmax, average, reshape, transpose, "
     "instance-normalization"},
    {"%1 = slice %0 corner={chanel=1} : int8 1x4x4",
     "line 3, column 23: unknown field 'chanel': the fields here are channel, line, column"},
    {"%1 = copy %0 scale=1 : int8 3x4x4",
     "line 3, column 14: unknown field 'scale': the fields here are macs, absorbed_by"},
    {"%1 = sdp %0 x1={alu=add} : int8 3x4x4",
     "line 3, column 21: expected alu (none, max, min, sum, equal), found 'add'"},
    {"%1 = sdp %0 x1={alu=sum} x1={alu=max} : int8 3x4x4",
     "line 3, column 26: the field 'x1' is there twice"},
    {"%1 = sdp %0 converter={scale=40000} : int8 3x4x4",
     "line 3, column 30: expected scale in -32768..32767, found '40000'"},
    {"%1 = sdp %0 x1={alu_values=omitted(3, 0xab)} : int8 3x4x4",
     "line 3, column 28: the text leaves 3 values out: it is read only with the option that fills "
     "them with zeros"},
    {"%1 = conv %0 kernels=8192 kernel=32x32 weights=fill(1) channels=8192 : int8 1x1x1",
     "line 3, column 48: 68719476736 values of 1 bytes exceed what a text may make, 1073741824 "
     "bytes"},
    {"%1 = conv %0 kernels=2 weights=[1, 2, 3] : int8 2x4x4",
     "line 3, column 24: weights has 3 values, expected 6"},
    {"%1 = conv %0 weights=[1, 200, 3] : int8 1x4x4",
     "line 3, column 26: expected a value in -128..127, found '200'"},
    {"%1 = sdp %0 x1={alu=sum",
     "line 3, column 24: expected a field or '}', found the end of the text"},
    {"%1 = norm %0 : int8 3x4x4", "line 3, column 1: the layer names lut 0, 0 are on lines before"},
    {"%1 = conv %0 : int8 3x4x4", "line 3, column 1: the field 'weights' is missing"},
    {"%1 = copy %0 : int8 3x4x4 view={whole=2}",
     "line 3, column 33: the field names tensor 2, the graph has 2"},
    {"lut 1 unit=sdp", "line 3, column 5: expected lut 0: they are numbered in order"},
    {"%1 = cpu.table %0 : int8 3x4x4", "line 3, column 1: the field 'results' is missing"},
    {"%1 = cpu.table %0 results=fill(0, 255) : int8 3x4x4",
     "line 3, column 19: results has 255 values, expected 256"},
    {"%1 = sdp %0 : int8 3x4x4 producer=1",
     "line 3, column 26: the field names layer 1, the graph has 1"},
    {"%1 = input \"in\" : int8 3x4x4",
     "line 3, column 12: \"in\" is there already: names of inputs and outputs are unique"},
    {"output %0 \"out", "line 3, column 11: the quotation mark is not closed"},
    {"output %0 \"\\u\"", R"(line 3, column 12: expected \", \\ or \xHH behind the backslash)"},
    {"output %0 \"out\" \"other\"", "line 3, column 17: expected the end of the line, found '\"'"},
    {"%a = copy %0 : int8 3x4x4\n%1 = copy %0 : int8 3x4x4",
     "line 4, column 1: %1 would be tensor 1, which is there already: name all tensors by their "
     "numbers, or none"},
};

TEST(TextErrors, OfGraphs) {
  const auto parse = [](std::string_view text) { detail::parse_graph(text); };
  EXPECT_EQ(error_of(parse, kInput), "none");
  for (const auto& [line, error] : kWrongLines)
    EXPECT_EQ(error_of(parse, std::string(kInput) + std::string(line)), error) << line;
  EXPECT_EQ(error_of(parse, "grape\n"), "line 1, column 1: expected 'graph', found 'grape'");
  EXPECT_EQ(error_of(parse, ""), "line 1, column 1: expected 'graph', found the end of the text");
  // Columns count characters.
  EXPECT_EQ(error_of(parse, "graph\n%0 = input \"\u00e4\u00f6\u00fc\" ; int8 3x4x4"),
            "line 2, column 18: expected ':', found ';'");
}

constexpr std::string_view kAllocation = "schedule\nallocation 0 \"in\" size=64\n";

constexpr Wrong kWrongSchedules[] = {
    {"layer 0 conv",
     "line 3, column 9: expected kind (conv+sdp, conv+sdp+pdp, sdp, sdp+pdp, pdp, "
     "cdp, rubik, bdma), found 'conv'"},
    {"layer 1 sdp", "line 3, column 7: expected layer 0: they are numbered in order"},
    {"layer 0 sdp waits 0",
     "line 3, column 19: layer 0 waits for layer 0, which is not an earlier one"},
    {"layer 0 sdp\n  sdp input=@1",
     "line 4, column 15: layer 0 names @1, the text has 1 allocations"},
    {"layer 0 sdp\n  sdp input=@0[stride=3]",
     "line 4, column 16: expected one of line_stride, surface_stride, batch_stride, found "
     "'stride'"},
    {"layer 0 sdp\n  sdp widht=3",
     "line 4, column 7: unknown field 'widht': the fields here are flags, in_precision, "
     "proc_precision, out_precision, width, height, channels, pad, x1.flags, x1.alu, x1.mul, "
     "x1.mode, x1.operand_bytes, x1.alu_value, x1.mul_value, x1.alu_shift, x1.mul_shift, x1.pad, "
     "x1.operand, x2.flags, x2.alu, x2.mul, x2.mode, x2.operand_bytes, x2.alu_value, "
     "x2.mul_value, x2.alu_shift, x2.mul_shift, x2.pad, x2.operand, y.flags, y.alu, y.mul, "
     "y.mode, y.operand_bytes, y.alu_value, y.mul_value, y.mul_truncate, y.alu_cvt.offset, "
     "y.alu_cvt.scale, y.alu_cvt.truncate, y.alu_cvt.pad, y.mul_cvt.offset, y.mul_cvt.scale, "
     "y.mul_cvt.truncate, y.mul_cvt.pad, y.operand, out_cvt.offset, out_cvt.scale, "
     "out_cvt.truncate, out_cvt.pad, input, output"},
    {"layer 0 conv+sdp\n  conv mean=[1, 2, 3, 4, 5]",
     "line 4, column 13: mean has 4 elements, found 5"},
    {"layer 0 bdma\n  bdma num_transfers=2",
     "line 4, column 23: layer 0 has transfers 0..1, the text has 0"},
    {"layer 0 cpu\n  softmin",
     "line 4, column 3: unknown operation 'softmin': there are softmax, power, table, "
     "layer-normalization, product, argmax, average, reshape, transpose, "
     "instance-normalization"},
    {"layer 0 cpu\n  softmax\n  source @0 : int8 1x1x1",
     "line 5, column 25: expected a source or destination, found the end of the text"},
    {"layer 0 4294967295", "line 3, column 9: expected 'cpu' for this kind"},
    {"allocation 1 \"b\" contents=[1]",
     "line 3, column 27: contents are not in the text: expected omitted(count, hash)"},
    {"allocation 1 \"b\" contents=omitted(9999999999999, 1)",
     "line 3, column 27: 9999999999999 values of 1 bytes exceed what a text may make, 1073741824 "
     "bytes"},
    {"allocation 1 \"b\" size=1 size=2", "line 3, column 25: the field 'size' is there twice"},
    {"buffer 0",
     "line 3, column 1: unknown line 'buffer': there are lut, allocation, transfer, "
     "control, layer, and --- before a segment"},
    {"--", "line 3, column 3: expected '-', found the end of the text"},
};

TEST(TextErrors, OfSchedules) {
  const auto parse = [](std::string_view text) { detail::parse_schedule(text); };
  EXPECT_EQ(error_of(parse, kAllocation), "none");
  for (const auto& [line, error] : kWrongSchedules)
    EXPECT_EQ(error_of(parse, std::string(kAllocation) + std::string(line)), error) << line;
}

}  // namespace
}  // namespace nvdla
