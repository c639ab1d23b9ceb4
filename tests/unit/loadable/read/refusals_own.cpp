// SPDX-License-Identifier: MIT
//
// Operations of our own.
#include <bit>

#include "refusals.hpp"
#include "unit/loadable/witness/own.hpp"

namespace nvdla::witness {

namespace {

Refusal in_own(const char* format, const char* name, std::function<void(Own&)> change,
               const std::string& message) {
  return {format,
          [name, change = std::move(change)] {
            Own own = Own::of(name);
            change(own);
            return write(own.file());
          },
          message};
}

constexpr std::uint32_t kInt8 = 0, kInt16 = 1, kFp16 = 2;
constexpr const char* kKnown =
    "argmax/1, average/1, instance-normalization/1, layer-normalization/1, power/1, product/1, "
    "reshape/1, softmax/1, table/1, transpose/1";

void all_of(Own& own, std::uint32_t precision) {
  for (OwnCube& cube : own.cubes) {
    cube.precision = precision;
    // Twice as many surfaces.
    cube.surface_stride = cube.height * cube.line_stride;
  }
}

constexpr const char* kRange = "{}, {}: {} is not in {}..{}";
constexpr const char* kShape = "{}: the output is {}, expected {}";
constexpr const char* kZeroPoint = "{}, {}: zero point {} of {} is not in {}..{}";
constexpr const char* kStandard = "{}: its rounding is that of the standard form, which has no {}";

std::vector<Refusal> of_the_format() {
  return {
      in_own(
          "{}, {}: {} bytes are left; it takes {}", "argmax",
          [](Own& own) { own.cubes.pop_back(); },
          "task 0 (argmax), output, address: 0 bytes are left; it takes 4"),
      in_own(
          "{}: {} bytes follow its last field", "argmax", [](Own& own) { own.fields.push_back(0); },
          "task 0 (argmax): 4 bytes follow its last field"),
      in_own(
          "{}, {}: {} of {} bytes each do not fit the {} bytes that are left",
          "layer-normalization", [](Own& own) { own.fields[6] = 2; },
          "task 0 (layer-normalization), gamma: 2 of 4 bytes each do not fit the 4 bytes that are "
          "left"),
      in_own(
          "loadable: {}: the CPU has no operation '{}' of version {} here; it has {}", "argmax",
          [](Own& own) { own.name = "argmin"; },
          std::string("task 0: the CPU has no operation 'argmin' of version 1 here; it has ") +
              kKnown),
      in_own(
          "loadable: {}: the CPU has no operation '{}' of version {} here; it has {}", "argmax",
          [](Own& own) { own.version = 2; },
          std::string("task 0: the CPU has no operation 'argmax' of version 2 here; it has ") +
              kKnown),
      in_own(
          "loadable: {}: the file needs '{}', an operation of the CPU that is not known here; "
          "known "
          "are {}",
          "argmax",
          [](Own& own) {
            own.needs = {"nvdla-cpu:argmax/1", "nvdla-cpu:argmax/2"};
          },
          std::string("memory 4: the file needs 'nvdla-cpu:argmax/2', an operation of the CPU that "
                      "is not known here; known are ") +
              kKnown),
      in_own(
          kRange, "product", [](Own& own) { own.inputs = 1; },
          "task 0 (product), inputs: 1 is not in 2..2"),
      in_own(
          kRange, "argmax", [](Own& own) { own.cubes[0].address = 0; },
          "task 0 (argmax), input 0, address: 0 is not in 1..32767"),
      in_own(
          kRange, "argmax", [](Own& own) { own.cubes[1].precision = 3; },
          "task 0 (argmax), output, precision: 3 is not in 0..2"),
      in_own(
          kRange, "product", [](Own& own) { own.fields[1] = 40000; },
          "task 0 (product), b_zero_point: 40000 is not in -32768..32767"),
      in_own(
          kRange, "product", [](Own& own) { own.fields[3] = 2; },
          "task 0 (product), transposed: 2 is not in 0..1"),
      in_own(
          kRange, "softmax", [](Own& own) { own.fields[0] = 2; },
          "task 0 (softmax), rounding: 2 is not in 0..1"),
      in_own(
          kRange, "average", [](Own& own) { own.fields[2] = 0; },
          "task 0 (average), stride_height: 0 is not in 1..8192"),
      in_own(
          kRange, "average", [](Own& own) { own.fields[13] = 3; },
          "task 0 (average), steps: 3 is not in 0..2"),
      in_own(
          kRange, "average", [](Own& own) { own.fields[15] = 64; },
          "task 0 (average), left_shift: 64 is not in 0..63"),
      in_own(
          "{}, {}: scale {} is not a positive number", "softmax",
          [](Own& own) { own.fields[3] = 0; },
          "task 0 (softmax), output: scale 0 is not a positive number"),
      in_own(
          "{}, {}: {} is not a finite number", "power",
          [](Own& own) { own.fields[6] = 0x7f800000; },
          "task 0 (power), scale: inf is not a finite number"),
      in_own(
          kAddress, "argmax", [](Own& own) { own.cubes[0].address = 4; },
          "task 0 (argmax), input 0: address 4 is not in 0..3"),
      in_own(
          "{}: it ends at {}, memory {} has {} bytes", "argmax",
          [](Own& own) { own.cubes[0].offset = 15456; },
          "task 0 (argmax), input 0: it ends at 16416, memory 1 has 16384 bytes"),
      in_own(
          "loadable: {}: its atoms have {} bytes, those of {} have {}", "argmax",
          [](Own& own) { own.cubes[1].atom = 8; },
          "task 0 (argmax), output: its atoms have 8 bytes, those of nv_full have 32"),
  };
}

std::vector<Refusal> of_operations() {
  return {
      in_own(
          "{}: {} is {}, the input {}", "softmax", [](Own& own) { own.cubes[1].precision = kFp16; },
          "task 0 (softmax): the output is fp16, the input int8"),
      in_own(
          "{}: {} is {}, the input {}", "product",
          [](Own& own) { own.cubes[1].precision = kInt16; },
          "task 0 (product): the second input is int16, the input int8"),
      in_own(
          kShape, "softmax", [](Own& own) { own.cubes[1].channels = 39; },
          "task 0 (softmax): the output is 1x39x3x5, expected 1x40x3x5"),
      in_own(
          kShape, "argmax", [](Own& own) { own.cubes[1].channels = 2; },
          "task 0 (argmax): the output is 1x2x3x5, expected 1x1x3x5"),
      in_own(
          kShape, "product", [](Own& own) { own.cubes[2].channels = 16; },
          "task 0 (product): the output is 1x16x3x5, expected 1x15x3x5"),
      in_own(
          kShape, "transpose", [](Own& own) { own.cubes[1].width = 4; },
          "task 0 (transpose): the output is 1x3x40x4, expected 1x3x40x5"),
      in_own(
          kShape, "average", [](Own& own) { own.cubes[1].channels = 41; },
          "task 0 (average): the output is 1x41x2x3, expected 1x40x2x3"),
      in_own(
          kZeroPoint, "softmax", [](Own& own) { own.fields[2] = 128; },
          "task 0 (softmax), input: zero point 128 of int8 is not in -128..127"),
      in_own(
          kZeroPoint, "product", [](Own& own) { all_of(own, kFp16); },
          "task 0 (product), a_zero_point: zero point 1 of fp16 is not in 0..0"),
      in_own(
          "{}: its rounding is that of the standard form, which has no int16", "softmax",
          [](Own& own) {
            all_of(own, kInt16);
            own.fields[0] = 1;
          },
          "task 0 (softmax): its rounding is that of the standard form, which has no int16"),
      in_own(
          kStandard, "softmax", [](Own& own) { own.fields[0] = 1; },
          "task 0 (softmax): its rounding is that of the standard form, which has no zero point"),
      in_own(
          kStandard, "power",
          [](Own& own) {
            all_of(own, kFp16);
            own.fields[0] = 1;
          },
          "task 0 (power): its rounding is that of the standard form, which has no scale of fp16"),
      in_own(
          "{}: {} bytes of results; those of {} have {}", "table",
          [](Own& own) { all_of(own, kInt16); },
          "task 0 (table): 256 bytes of results; those of int16 have 131072"),
      in_own(
          "{}: epsilon {} is less than 0", "layer-normalization",
          [](Own& own) { own.fields[5] |= 0x80000000; },
          "task 0 (layer-normalization): epsilon -0.25 is less than 0"),
      in_own(
          "{}: {} values of {} for {} channels; expected as many, or none", "layer-normalization",
          [](Own& own) {
            own.fields[7] = 1;
            own.fields.push_back(0);
          },
          "task 0 (layer-normalization): 1 values of beta for 40 channels; expected as many, or "
          "none"),
      in_own(
          "{}: the first input has {} channels, but the second one {} {}", "product",
          [](Own& own) { own.cubes[1].channels = 39; },
          "task 0 (product): the first input has 40 channels, but the second one 39 channels"),
      in_own(
          "{}: the first input has {} channels, but the second one {} {}", "product",
          [](Own& own) { own.fields[3] = 0; },
          "task 0 (product): the first input has 40 channels, but the second one 15 positions"),
      in_own(
          "{}: the first input has {} cubes, the second one {}", "product",
          [](Own& own) { own.cubes[0].batch = 2; },
          "task 0 (product): the first input has 2 cubes, the second one 1"),
      in_own(
          "{}: the output is fp16; channels are numbered in int8 or int16", "argmax",
          [](Own& own) { own.cubes[1].precision = kFp16; },
          "task 0 (argmax): the output is fp16; channels are numbered in int8 or int16"),
      in_own(
          "{}: int8 has numbers for 128 channels, the input has {}", "argmax",
          [](Own& own) { own.cubes[0].channels = 129; },
          "task 0 (argmax): int8 has numbers for 128 channels, the input has 129"),
      in_own(
          "{}: it has scales, which are for int8; the input is {}", "average",
          [](Own& own) { all_of(own, kInt16); },
          "task 0 (average): it has scales, which are for int8; the input is int16"),
      in_own(
          "{}: the output is {}, which are not the {} elements of each cube of the input",
          "reshape", [](Own& own) { own.cubes[1].channels = 25; },
          "task 0 (reshape): the output is 1x25x5x5, which are not the 600 elements of each cube "
          "of "
          "the input"),
      in_own(
          "{}: its axes are {} {} {}; expected each of 0, 1, 2 once", "transpose",
          [](Own& own) { own.fields[1] = 1; },
          "task 0 (transpose): its axes are 1 1 2; expected each of 0, 1, 2 once"),
      in_own(
          "{}: {} elements of padding before the {}, whose kernel has {}; expected fewer",
          "average", [](Own& own) { own.fields[4] = 3; },
          "task 0 (average): 3 elements of padding before the height, whose kernel has 3; expected "
          "fewer"),
      in_own(
          "{}: the last window of the {} begins at {}, behind the {} elements of the input",
          "average", [](Own& own) { own.fields[3] = 3; },
          "task 0 (average): the last window of the width begins at 6, behind the 5 elements of "
          "the "
          "input"),
      in_own(
          "{}, pad_value: {} of {} is not in {}..{}", "average",
          [](Own& own) { own.fields[7] = 128; },
          "task 0 (average), pad_value: 128 of int8 is not in -128..127"),
  };
}

}  // namespace

std::vector<Refusal> own_refusals() {
  std::vector<Refusal> all = of_the_format();
  for (Refusal& refusal : of_operations()) all.push_back(std::move(refusal));
  return all;
}

}  // namespace nvdla::witness
