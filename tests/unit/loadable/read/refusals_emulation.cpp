// SPDX-License-Identifier: MIT
//
// Operations of the CPU.
#include "refusals.hpp"

namespace nvdla::witness {

namespace {

Refusal in_emulation(const char* format, std::function<void(Emulated&)> change,
                     const char* message) {
  return {format,
          [change = std::move(change)] {
            Emulated e;
            change(e);
            return write(e.file());
          },
          message};
}

constexpr const char* kBufferEnd = "it ends at {}, memory {} has {} bytes";

}  // namespace

std::vector<Refusal> emulation_refusals() {
  std::vector<Refusal> all = {
      in_emulation(
          "{}: it has no operation", [](Emulated& e) { e.network.set("num_operations", 0); },
          "task 0: it has no operation"),
      in_emulation(
          kAddress, [](Emulated& e) { e.network.set("operation_desc_index", 6); },
          "task 0: operation list: address 6 is not in 0..5"),
      in_emulation(
          kAddress, [](Emulated& e) { e.network.set("operation_buffer_desc_index", -1); },
          "task 0: operation buffer list: address -1 is not in 0..5"),
      in_emulation(
          "{}: {} bytes for {} operations are neither {} nor {} for each",
          [](Emulated& e) { e.network.set("num_operations", 2); },
          "task 0: 24 bytes for 2 operations are neither 24 nor 16 for each"),
      in_emulation(
          "{}: type {} is neither 0 (power) nor 1 (softmax)",
          [](Emulated& e) { e.op.set("op_type", 2); },
          "task 0, operation 0: type 2 is neither 0 (power) nor 1 (softmax)"),
      in_emulation(
          kUnset, [](Emulated& e) { e.network.set("operation_buffer_desc_index", 3); },
          "task 0, operation 0: source: no blob sets 32 bytes at 0 of memory 3"),
      in_emulation(
          kUnset, [](Emulated& e) { e.network.set("operation_buffer_desc_index", 0); },
          "task 0, operation 0: destination: no blob sets 32 bytes at 256 of memory 0"),
      in_emulation(
          kAddress, [](Emulated& e) { e.source.set("address", 6); },
          "task 0, operation 0 (softmax), source: address 6 is not in 0..5"),
      in_emulation(
          kAddress, [](Emulated& e) { e.destination.set("address", 6); },
          "task 0, operation 0 (softmax), destination: address 6 is not in 0..5"),
      in_emulation(
          "{}: format {} of the source is not {} of the destination",
          [](Emulated& e) { e.source.set("format", 2); },
          "task 0, operation 0 (softmax): format 2 of the source is not 3 of the destination"),
      in_emulation(
          "loadable: {}: format {} is not executed; 0, 1 (int8) and 3 (fp16) are",
          [](Emulated& e) {
            e.source.set("format", 4);
            e.destination.set("format", 4);
          },
          "task 0, operation 0 (softmax): format 4 is not executed; 0, 1 (int8) and 3 (fp16) "
          "are"),
      in_emulation(
          "it lies in SRAM, which the CPU does not reach",
          [](Emulated& e) { e.source.set("address", 5); },
          "task 0, operation 0 (softmax), source: it lies in SRAM, which the CPU does not reach"),
      // Of 40 channels the last 8 are half an atom: the whole ones before them end further on.
      in_emulation(
          kBufferEnd, [](Emulated& e) { e.source.set("offset", 17); },
          "task 0, operation 0 (softmax), source: it ends at 193, memory 3 has 192 bytes"),
      in_emulation(
          kBufferEnd, [](Emulated& e) { e.destination.set("surf_stride", 73); },
          "task 0, operation 0 (softmax), destination: it ends at 194, memory 4 has 192 bytes"),
      in_emulation(
          kBufferEnd,
          [](Emulated& e) {
            e.source.set("surf_stride", 0);
            e.source.set("offset", 129);
          },
          "task 0, operation 0 (softmax), source: it ends at 193, memory 3 has 192 bytes"),
      in_emulation(
          kBufferEnd,
          [](Emulated& e) {
            e.destination.set("surf_stride", 8);
            e.destination.set("offset", 121);
          },
          "task 0, operation 0 (softmax), destination: it ends at 193, memory 4 has 192 bytes"),
  };
  for (const char* side : {"width", "height", "channel"}) {
    all.push_back(in_emulation(
        "its size is {}x{}x{}",
        [=](Emulated& e) {
          e.source.set(side, 0);
          e.destination.set(side, 0);
        },
        side[0] == 'w'   ? "task 0, operation 0 (softmax), source: its size is 40x1x0"
        : side[0] == 'h' ? "task 0, operation 0 (softmax), source: its size is 40x0x2"
                         : "task 0, operation 0 (softmax), source: its size is "
                           "0x1x2"));
    all.push_back(in_emulation(
        "{}: the source is {}x{}x{}, the destination {}x{}x{}",
        [=](Emulated& e) { e.destination.set(side, 3); },
        side[0] == 'w'
            ? "task 0, operation 0 (softmax): the source is 40x1x2, the destination 40x1x3"
        : side[0] == 'h'
            ? "task 0, operation 0 (softmax): the source is 40x1x2, the destination 40x3x2"
            : "task 0, operation 0 (softmax): the source is 40x1x2, the destination 3x1x2"));
  }
  return all;
}

}  // namespace nvdla::witness
