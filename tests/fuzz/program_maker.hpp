// SPDX-License-Identifier: MIT
//
// Programs out of a fuzzer's bytes: layers that would be valid, then a few fields overwritten.
// Random descriptors alone would never get past the first check.
#ifndef NVDLA_TESTS_FUZZ_PROGRAM_MAKER_HPP
#define NVDLA_TESTS_FUZZ_PROGRAM_MAKER_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "firmware/compile/nvdla_compile.h"

namespace nvdla::fuzz {

// Reads numbers from the front of the input; zeros when it is used up.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T take() {
    T value{};
    const std::size_t size = bytes_.size() < sizeof(T) ? bytes_.size() : sizeof(T);
    std::memcpy(&value, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return value;
  }
  // 0 .. limit - 1
  std::uint32_t below(std::uint32_t limit) { return take<std::uint16_t>() % limit; }
  // first .. last
  std::uint32_t within(std::uint32_t first, std::uint32_t last) {
    return first + below(last - first + 1);
  }
  bool flag() { return (take<std::uint8_t>() & 1) != 0; }

 private:
  std::span<const std::uint8_t> bytes_;
};

struct Made {
  const nvdla_hw* hw = nullptr;
  std::uint32_t flags = 0;  // NVDLA_PROGRAM_*
  std::vector<nvdla_slot> slots;
  std::vector<nvdla_layer> layers;
};

Made make_program(Input& input);

}  // namespace nvdla::fuzz

#endif  // NVDLA_TESTS_FUZZ_PROGRAM_MAKER_HPP
