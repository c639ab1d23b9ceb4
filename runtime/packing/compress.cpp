// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "nvdla/lowlevel/compression.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/precision.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla {
namespace {

using arith::round_up;
using detail::throw_invalid_argument;

constexpr std::uint64_t kStreamAlign = 128;
// The bank of mask bits keeps so many bytes beside a kernel group's.
constexpr std::uint64_t kGroupMargin = 128;

// The elements of a packed stream by kernel groups, which follow each other without gaps.
class Groups {
 public:
  Groups(const DeviceInfo& info, const WeightsDesc& desc, std::span<const std::byte> stream)
      : bytes_(precision_bytes(desc.precision)), elements_(desc.elements()), stream_(stream) {
    if (const std::uint64_t plain = weights_bytes(desc); stream.size() < plain) {
      throw_invalid_argument("{} bytes of weights given, {}x{}x{}x{} (KCRS) take {}", stream.size(),
                             desc.kernels, desc.channels, desc.kernel_height, desc.kernel_width,
                             plain);
    }
    if (info.atomic_k < 2 || info.atom == 0) {
      throw_invalid_argument("the configuration has atomic_k {} and an atom of {}: not a device's",
                             info.atomic_k, info.atom);
    }
    group_ = elements_ / desc.kernels * (info.atomic_k / bytes_);
  }

  std::uint64_t count() const { return (elements_ + group_ - 1) / group_; }
  std::uint64_t elements() const { return elements_; }
  // The most that a group has.
  std::uint64_t largest() const { return std::min(group_, elements_); }
  std::uint32_t element_bytes() const { return bytes_; }

  // Elements of a group that are not zero.
  std::uint64_t count_nonzero(std::uint64_t group) const {
    return bytes_ == 1 ? count_nonzero<std::uint8_t>(group) : count_nonzero<std::uint16_t>(group);
  }

  // Calls `visit(index, bytes)` for each of these.
  template <typename Visit>
  void each(std::uint64_t group, Visit visit) const {
    const std::uint64_t end = group_end(group);
    for (std::uint64_t i = group * group_; i < end; ++i) {
      // Most of them are zero where it pays.
      while (i + kWord / bytes_ <= end && zeros(i)) i += kWord / bytes_;
      if (i == end) return;
      const auto element = stream_.subspan(static_cast<std::size_t>(i * bytes_), bytes_);
      if (element.front() != std::byte{0} || element.back() != std::byte{0}) visit(i, element);
    }
  }

 private:
  std::uint64_t group_end(std::uint64_t group) const {
    return std::min(elements_, (group + 1) * group_);
  }
  template <typename T>
  std::uint64_t count_nonzero(std::uint64_t group) const {
    // Counts some at a time, so that a byte holds the count.
    constexpr std::uint64_t kSome = 128;
    std::uint64_t count = 0;
    const std::uint64_t end = group_end(group);
    for (std::uint64_t i = group * group_; i < end;) {
      const std::uint64_t some_end = std::min(end, i + kSome);
      std::uint8_t some = 0;
      for (; i < some_end; ++i) {
        T element;
        std::memcpy(&element, stream_.data() + i * sizeof(T), sizeof(T));
        some = static_cast<std::uint8_t>(some + (element != 0 ? 1 : 0));
      }
      count += some;
    }
    return count;
  }

  static constexpr std::size_t kWord = sizeof(std::uint64_t);
  // Returns true if the elements of a word are zero.
  bool zeros(std::uint64_t first) const {
    std::uint64_t word;
    std::memcpy(&word, stream_.data() + first * bytes_, kWord);
    return word == 0;
  }

  std::uint32_t bytes_;
  std::uint64_t elements_;
  std::uint64_t group_ = 0;
  std::span<const std::byte> stream_;
};

void check_size(const char* what, std::size_t given, std::uint64_t need) {
  if (given < need) throw_invalid_argument("{} bytes for {} that take {}", given, what, need);
}

}  // namespace

CompressedSizes compressed_sizes(const DeviceInfo& info, const WeightsDesc& desc,
                                 std::span<const std::byte> stream) {
  const Groups groups(info, desc, stream);
  CompressedSizes sizes;
  sizes.plain = weights_bytes(desc);
  sizes.wgs = round_up(groups.count() * sizeof(std::uint32_t), info.atom);
  sizes.wmb = round_up((groups.elements() + 7) / 8, kStreamAlign);
  const std::uint64_t bank = std::uint64_t{info.cbuf_entries} * info.cbuf_entry_bytes;
  sizes.possible = info.has_compression && (groups.largest() + 7) / 8 + kGroupMargin <= bank;
  for (std::uint64_t g = 0; g < groups.count(); ++g) {
    const std::uint64_t left = groups.count_nonzero(g);
    sizes.weights += left * groups.element_bytes();
    sizes.possible = sizes.possible && left != 0;
  }
  sizes.weights = round_up(sizes.weights, kStreamAlign);
  return sizes;
}

void compress_weights(const DeviceInfo& info, const WeightsDesc& desc,
                      std::span<const std::byte> stream, std::span<std::byte> weights,
                      std::span<std::byte> wgs, std::span<std::byte> wmb) {
  const CompressedSizes sizes = compressed_sizes(info, desc, stream);
  check_size("compressed weights", weights.size(), sizes.weights);
  check_size("group sizes", wgs.size(), sizes.wgs);
  check_size("mask bits", wmb.size(), sizes.wmb);
  std::fill_n(wgs.data(), sizes.wgs, std::byte{0});
  std::fill_n(wmb.data(), sizes.wmb, std::byte{0});
  const Groups groups(info, desc, stream);
  std::byte* out = weights.data();
  for (std::uint64_t g = 0; g < groups.count(); ++g) {
    const std::byte* begin = out;
    groups.each(g, [&](std::uint64_t i, std::span<const std::byte> element) {
      wmb[static_cast<std::size_t>(i / 8)] |= std::byte{1} << i % 8;
      out = std::copy(element.begin(), element.end(), out);
    });
    const auto size = static_cast<std::uint32_t>(out - begin);
    std::memcpy(wgs.data() + g * sizeof(size), &size, sizeof(size));
  }
  std::fill(out, weights.data() + sizes.weights, std::byte{0});
}

}  // namespace nvdla
