// SPDX-License-Identifier: MIT
//
// Types of elements, sizes, and constants of a model that is being imported.
#ifndef NVDLA_IMPORT_GRAPH_TYPES_HPP
#define NVDLA_IMPORT_GRAPH_TYPES_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nvdla::import {

// The types of elements, with ONNX's numbers.
enum class Type : std::uint8_t {
  kUnknown = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
};

// Returns ONNX's name of a type, such as "float" or "int64".
std::string_view type_name(Type type) noexcept;
// Returns the bytes of an element; 0 if the importer does not keep such elements.
std::size_t type_bytes(Type type) noexcept;
// True of the four types of real numbers.
bool is_real(Type type) noexcept;
// True of integers and bool.
bool is_integer(Type type) noexcept;

// The sizes of a tensor, slowest first. They are never negative.
using Dims = std::vector<std::int64_t>;

// No tensor of a model has more elements: sizes and strides stay within 64 bits by far.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;
// The importer computes no constant of more elements than this, whatever a model asks for.
inline constexpr std::int64_t kMaxFolded = std::int64_t{1} << 24;

// Returns the number of elements. Sizes must have passed check_dims().
std::int64_t elements(const Dims& dims) noexcept;
// Returns "2x3x4", or "scalar" where there is no size.
std::string dims_text(const Dims& dims);
// Returns the distance between neighbours along each axis of a packed tensor.
Dims strides(const Dims& dims);
// Returns the sizes that two tensors are broadcast to; throws Refusal for sizes that differ.
Dims broadcast(const Dims& a, const Dims& b);

// A tensor whose elements are known. Copies share the elements, which never change.
class Constant {
 public:
  Constant() = default;
  // `bytes` has exactly the bytes of all elements in the order of this machine.
  Constant(Type type, Dims dims, std::vector<std::byte> bytes);

  static Constant of_doubles(Type type, Dims dims, std::span<const double> values);
  static Constant of_integers(Type type, Dims dims, std::span<const std::int64_t> values);

  Type type() const noexcept { return type_; }
  const Dims& dims() const noexcept { return dims_; }
  std::int64_t size() const noexcept { return elements(dims_); }
  std::span<const std::byte> bytes() const noexcept {
    return bytes_ ? std::span<const std::byte>(*bytes_) : std::span<const std::byte>();
  }
  // Returns an element as a real number; integers beyond 2^53 are rounded.
  double real(std::int64_t index) const noexcept;
  // Returns an element as an integer; doubles are cut towards zero and saturated.
  std::int64_t integer(std::int64_t index) const noexcept;
  std::vector<double> doubles() const;
  std::vector<float> floats() const;
  std::vector<std::int64_t> integers() const;
  // Returns the same elements with other sizes, as many of them.
  Constant with_dims(Dims dims) const;
  // Returns a constant of the elements that `indices` name.
  Constant gather(Dims dims, std::span<const std::int64_t> indices) const;

 private:
  Type type_ = Type::kUnknown;
  Dims dims_;
  std::shared_ptr<const std::vector<std::byte>> bytes_;
};

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_GRAPH_TYPES_HPP
