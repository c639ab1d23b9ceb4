// SPDX-License-Identifier: MIT
//
// Gathers the atoms of a cube in memory into positions with all their channels.
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
  // Copies the first `used` bytes of each atom, to places `pitch` apart.
  std::size_t used;
  std::byte* to;
  std::size_t pitch;
};

// Copies atoms; each byte is XORed with `flip`.
void spread_atoms(const Kernels& kernels, const Atoms& atoms, std::byte flip) noexcept;

// `Runs` joins the runs of each position, all of `size` bytes, one behind the other. A copy may
// read up to kCopiedTooMuch bytes behind a run, and write as many behind the last one.
constexpr std::size_t kCopiedTooMuch = 15;
struct Runs {
  const std::uint8_t* const* positions;
  std::uint32_t count;
  const std::int32_t* runs;
  std::size_t run_count, size;
  std::byte* to;
  std::size_t pitch;  // from one position to the next: at least the size of all runs
};
void join_runs(const Runs& runs) noexcept;

// XORs `size` bytes with `flip` in place.
void flip_bytes(std::byte* bytes, std::size_t size, std::byte flip) noexcept;

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_ATOMS_HPP
