// SPDX-License-Identifier: MIT
//
// Walkers over descriptors: from bytes, to bytes, and how many bytes. Little-endian and packed,
// whatever the machine does.
#ifndef NVDLA_LOADABLE_FORMAT_PACKED_HPP
#define NVDLA_LOADABLE_FORMAT_PACKED_HPP

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "loadable/format/descriptors.hpp"

namespace nvdla::loadable {

// Takes descriptors from the front of `bytes`, of which there are enough (see packed_bytes()).
struct Unpacker {
  std::span<const std::byte> bytes;
  Revision revision = Revision::kNew;
  std::size_t at = 0;

  template <typename T>
  void operator()(std::string_view, T& value) {
    if constexpr (std::is_integral_v<T>) {
      std::make_unsigned_t<T> bits = 0;
      for (std::size_t i = 0; i < sizeof(T); ++i) {
        bits = static_cast<std::make_unsigned_t<T>>(
            bits | static_cast<std::make_unsigned_t<T>>(
                       static_cast<std::make_unsigned_t<T>>(bytes[at + i]) << (8 * i)));
      }
      value = static_cast<T>(bits);
      at += sizeof(T);
    } else if constexpr (std::is_same_v<T, float>) {
      std::uint32_t bits = 0;
      (*this)("", bits);
      value = std::bit_cast<float>(bits);
    } else {
      value.walk(*this);
    }
  }
  template <typename T, std::size_t N>
  void operator()(std::string_view, std::array<T, N>& values) {
    for (T& value : values) (*this)("", value);
  }
};

// Appends descriptors to `bytes`.
struct Packer {
  std::vector<std::byte>& bytes;
  Revision revision = Revision::kNew;

  template <typename T>
  void operator()(std::string_view, T& value) {
    if constexpr (std::is_integral_v<T>) {
      const auto bits = static_cast<std::make_unsigned_t<T>>(value);
      for (std::size_t i = 0; i < sizeof(T); ++i) {
        bytes.push_back(static_cast<std::byte>((bits >> (8 * i)) & 0xff));
      }
    } else if constexpr (std::is_same_v<T, float>) {
      auto bits = std::bit_cast<std::uint32_t>(value);
      (*this)("", bits);
    } else {
      value.walk(*this);
    }
  }
  template <typename T, std::size_t N>
  void operator()(std::string_view, std::array<T, N>& values) {
    for (T& value : values) (*this)("", value);
  }
};

// Bytes of a descriptor.
template <typename T>
std::size_t packed_bytes(Revision revision) {
  std::vector<std::byte> bytes;
  Packer pack{bytes, revision};
  T value{};
  pack("", value);
  return bytes.size();
}

template <typename T>
T unpack_descriptor(std::span<const std::byte> bytes, Revision revision) {
  Unpacker unpack{bytes, revision};
  T value{};
  unpack("", value);
  return value;
}

template <typename T>
std::vector<std::byte> pack_descriptor(T value, Revision revision = Revision::kNew) {
  std::vector<std::byte> bytes;
  Packer pack{bytes, revision};
  pack("", value);
  return bytes;
}

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_FORMAT_PACKED_HPP
