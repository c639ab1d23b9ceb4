// SPDX-License-Identifier: MIT
//
// Numbers out of a fuzzer's bytes.
#ifndef NVDLA_TESTS_FUZZ_INPUT_HPP
#define NVDLA_TESTS_FUZZ_INPUT_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace nvdla::fuzz {

// Reads numbers from the front of the input; zeros when it is used up.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T take() {
    T value{};
    const std::size_t size = bytes_.size() < sizeof(T) ? bytes_.size() : sizeof(T);
    if (size != 0) std::memcpy(&value, bytes_.data(), size);
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
  // Once in `times`; not when the input is used up.
  bool once_in(std::uint32_t times) { return take<std::uint8_t>() % times == times - 1; }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace nvdla::fuzz

#endif  // NVDLA_TESTS_FUZZ_INPUT_HPP
