// SPDX-License-Identifier: MIT
//
/// @file
/// A program: layers that were checked and compiled once, to be run any number of times with
/// whatever buffers fit its slots.
#ifndef NVDLA_PROGRAM_HPP
#define NVDLA_PROGRAM_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "nvdla/types/export.hpp"

namespace nvdla {

namespace detail {
class ProgramImpl;
struct Handles;
}  // namespace detail

/// A program, in the terms of <drm/nvdla_layer.h>. Copied; nothing is read again later.
struct ProgramDesc {
  std::span<const nvdla_layer> layers = {};        ///< layers in the order in which they start
  std::span<const nvdla_slot> slots = {};          ///< memory that layers name by its index
  std::span<const nvdla_lut> luts = {};            ///< look-up tables of the layers
  std::span<const nvdla_transfer> transfers = {};  ///< copies of BDMA layers
  /// Contents of the slot with NVDLA_SLOT_CONTROL, which the program binds itself: the tables of
  /// compressed weights.
  std::span<const std::byte> control = {};
  /// Count for every layer; Fence::statistics() has the numbers.
  bool statistics = false;
};

/// Immutable, a handle: copies name the same program, threads may share it.
class NVDLA_API Program {
 public:
  Program() noexcept;                           ///< An empty handle.
  Program(const Program&) noexcept;             ///< Copies the handle.
  Program(Program&&) noexcept;                  ///< Moves; the source is empty afterwards.
  Program& operator=(const Program&) noexcept;  ///< Copies the handle.
  Program& operator=(Program&&) noexcept;       ///< Moves; the source is empty afterwards.
  ~Program();                                   ///< Releases what it refers to.

  /// True unless the handle is empty.
  explicit operator bool() const noexcept { return impl_ != nullptr; }
  std::uint32_t layers() const noexcept;  ///< Returns the number of layers; 0 for an empty handle.
  std::uint32_t slots() const noexcept;   ///< Returns the number of slots; 0 for an empty handle.
  bool statistics() const noexcept;  ///< Returns true if layers count (ProgramDesc::statistics).
  /// Estimate of the worst case of one layer, in cycles of the device; 0 past the end.
  std::uint64_t cycles(std::uint32_t layer) const noexcept;

 private:
  friend struct detail::Handles;
  explicit Program(std::shared_ptr<const detail::ProgramImpl> impl) noexcept;
  std::shared_ptr<const detail::ProgramImpl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_PROGRAM_HPP
