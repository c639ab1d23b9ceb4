// SPDX-License-Identifier: MIT
//
// From atoms as they lie in memory to positions with all their channels.
#ifndef NVDLA_MODEL_CONV_CONV_ATOMS_HPP
#define NVDLA_MODEL_CONV_CONV_ATOMS_HPP

#include <cstddef>
#include <cstdint>

#include "model/simd/kernels.hpp"

namespace nvdla::model {

struct Atoms {
  const std::byte* from;
  std::size_t atom;
  std::uint32_t count;
  // Of each the first bytes, to places `pitch` apart.
  std::size_t used;
  std::byte* to;
  std::size_t pitch;
};

// Bytes change by `flip` on the way.
void spread_atoms(const Kernels& kernels, const Atoms& atoms, std::byte flip) noexcept;

// Of each position the runs, which are so long, one behind the other. Up to kCopiedTooMuch bytes
// behind a run are read, too, and as many behind all of it written.
constexpr std::size_t kCopiedTooMuch = 15;
struct Runs {
  const std::uint8_t* const* positions;
  std::uint32_t count;
  const std::int32_t* runs;
  std::size_t run_count, size;
  std::byte* to;
  std::size_t pitch;  // from one position to the next: no less than all runs
};
void join_runs(const Runs& runs) noexcept;

// `size` bytes in place.
void flip_bytes(std::byte* bytes, std::size_t size, std::byte flip) noexcept;

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_ATOMS_HPP
