// SPDX-License-Identifier: MIT
//
// All packings of weights share checks of what is given, and the stream that is written.
#ifndef NVDLA_PACKING_WEIGHT_STREAM_HPP
#define NVDLA_PACKING_WEIGHT_STREAM_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/weights.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/precision.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

// Streams are padded to the widest entry of all configurations; each fetches whole ones of its own.
constexpr std::uint64_t stream_bytes(std::uint64_t bytes) { return (bytes + 127) / 128 * 128; }

// Sizes in range.
void check_weights(const WeightsDesc& desc);

// Also the element type and number of the weights given.
template <typename T>
void check_weights(const WeightsDesc& d, std::span<const T> kcrs) {
  check_weights(d);
  if (precision_bytes(d.precision) != sizeof(T)) {
    throw_invalid_argument("weights are given in {} bytes each, the description says {}", sizeof(T),
                           precision_bytes(d.precision));
  }
  if (kcrs.size() != d.elements()) {
    throw_invalid_argument("{} weights given, {}x{}x{}x{} (KCRS) are {}", kcrs.size(), d.kernels,
                           d.channels, d.kernel_height, d.kernel_width, d.elements());
  }
}

// Returns true if transformed weights of fp16, given as their bits, are fp16 again: sums of nine
// may be too large.
bool winograd_weights_fit(const WinogradDesc& desc, std::span<const std::int16_t> halves);

// Kernels of a group: half in 16 bit.
std::uint32_t kernel_group(const DeviceInfo& info, const WeightsDesc& desc);

// Refuses a stream that is too short.
inline void check_stream(std::span<const std::byte> stream, std::uint64_t bytes) {
  if (stream.size() < bytes)
    throw_invalid_argument("{} bytes for weights that take {}", stream.size(), bytes);
}

// One element after the other, and zeros up to the end.
template <typename T>
class WeightStream {
 public:
  WeightStream(std::span<std::byte> stream, std::uint64_t bytes)
      : next_(stream.data()), end_(stream.data() + bytes) {
    check_stream(stream, bytes);
  }
  WeightStream(const WeightStream&) = delete;
  WeightStream& operator=(const WeightStream&) = delete;
  ~WeightStream() { std::fill(next_, end_, std::byte{0}); }

  void put(T value) {
    std::memcpy(next_, &value, sizeof value);
    next_ += sizeof value;
  }

 private:
  std::byte* next_;
  std::byte* end_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_WEIGHT_STREAM_HPP
