// SPDX-License-Identifier: MIT
//
// A cube in memory, as registers describe it, and the register encodings that all units share.
#ifndef NVDLA_MODEL_CORE_SURFACE_HPP
#define NVDLA_MODEL_CORE_SURFACE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model/core/bus.hpp"

namespace nvdla::model {

// The register encoding.
enum class Precision : std::uint8_t { kInt8 = 0, kInt16 = 1, kFp16 = 2 };
constexpr const char* precision_name(Precision precision) noexcept {
  constexpr const char* kNames[] = {"int8", "int16", "fp16", "reserved precision 3"};
  return kNames[static_cast<unsigned>(precision) % 4];
}
constexpr unsigned precision_bytes(Precision precision) noexcept {
  return precision == Precision::kInt8 ? 1 : 2;
}

struct Surface {
  Ram ram = Ram::kPrimary;
  std::uint64_t base = 0;
  std::uint64_t line = 0;
  std::uint64_t surface = 0;

  std::uint64_t at(std::uint64_t number, std::uint64_t y) const noexcept {
    return base + number * surface + y * line;
  }
  bool operator==(const Surface&) const = default;
};

// `AtomSink` takes what SDP hands on instead of writing it to memory.
class AtomSink {
 public:
  virtual ~AtomSink() = default;

  // `count` atoms of line `y` of a surface, from column `x` on; valid during the call.
  virtual void take(std::uint64_t surface, std::uint32_t y, std::uint32_t x, const void* atoms,
                    unsigned count) = 0;
};

// Lines of surfaces, cut into tasks of about so many bytes, of one surface each.
class LineTasks {
 public:
  struct Lines {
    std::uint64_t surface;
    std::uint32_t begin, end;
  };

  LineTasks(std::uint64_t surfaces, std::uint32_t lines, std::uint64_t line_bytes,
            std::uint64_t task_bytes) noexcept
      : lines_(lines),
        step_(static_cast<std::uint32_t>(
            std::clamp<std::uint64_t>(task_bytes / line_bytes, 1, lines))),
        bands_((lines + step_ - 1) / step_),
        count_(surfaces * bands_) {}

  std::size_t count() const noexcept { return count_; }
  Lines at(std::size_t task) const noexcept {
    const auto begin = static_cast<std::uint32_t>(task % bands_) * step_;
    return {task / bands_, begin, std::min(begin + step_, lines_)};
  }

 private:
  std::uint32_t lines_, step_, bands_;
  std::size_t count_;
};

constexpr Ram ram_type(std::uint32_t field) noexcept {
  return field != 0 ? Ram::kPrimary : Ram::kSecondary;
}

constexpr std::uint64_t join_address(std::uint32_t high, std::uint32_t low) noexcept {
  return static_cast<std::uint64_t>(high) << 32 | low;
}

// An address and a cube of a GroupView, by the names that registers have in nvdla_regs.h; `...` is
// the end of a name that is numbered.
#define NVDLA_VIEW_ADDRESS(view, reg, ...)                                        \
  ::nvdla::model::join_address((view).word(NVDLA_##reg##_ADDR_HIGH##__VA_ARGS__), \
                               (view).word(NVDLA_##reg##_ADDR_LOW##__VA_ARGS__))
#define NVDLA_VIEW_SURFACE(view, reg, ram_reg, ram_name)                                        \
  (::nvdla::model::Surface{::nvdla::model::ram_type(NVDLA_VIEW_FIELD(view, ram_reg, ram_name)), \
                           NVDLA_VIEW_ADDRESS(view, reg##_BASE),                                \
                           (view).word(NVDLA_##reg##_LINE_STRIDE),                              \
                           (view).word(NVDLA_##reg##_SURFACE_STRIDE)})

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_SURFACE_HPP
