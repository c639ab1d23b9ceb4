// SPDX-License-Identifier: MIT
#include "model/conv/conv_atoms.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace nvdla::model {
namespace {

// Words and vectors by their size, the compiler's own: it copies arrays of bytes by way of the
// stack.
template <std::size_t kSize>
struct Word {
  using Type [[gnu::vector_size(kSize), gnu::may_alias]] = std::uint8_t;
};

template <std::size_t kSize>
void copy(std::byte* to, const std::byte* from, std::byte flip) noexcept {
  constexpr std::size_t kPart = std::min<std::size_t>(kSize, 16);
  using Part = typename Word<kPart>::Type;
  for (std::size_t at = 0; at < kSize; at += kPart) {
    Part bytes;
    std::memcpy(&bytes, from + at, kPart);
    bytes ^= std::to_integer<std::uint8_t>(flip);
    std::memcpy(to + at, &bytes, kPart);
  }
}

void copy(std::byte* to, const std::byte* from, std::size_t size, std::byte flip) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) copy<8>(to + i, from + i, flip);
  for (; i < size; ++i) to[i] = from[i] ^ flip;
}

// A constant size makes it a few moves: not less than what is used. Where positions follow each
// other without gaps the surplus of each is overwritten by the next; the last ones are copied
// exactly, so that nothing behind them is touched.
template <std::size_t kSize>
void spread(const Atoms& atoms, std::byte flip) noexcept {
  std::byte* to = atoms.to;
  const std::byte* from = atoms.from;
  // Stores might change the members, for all that the compiler knows.
  const std::size_t pitch = atoms.pitch, atom = atoms.atom, used = atoms.used;
  const auto exact = static_cast<std::uint32_t>(kSize == used ? 0 : (kSize + pitch - 1) / pitch);
  std::uint32_t left = atoms.count;
#pragma GCC unroll 4
  for (; left > exact; --left, to += pitch, from += atom) copy<kSize>(to, from, flip);
  for (; left != 0; --left, to += pitch, from += atom) copy(to, from, used, flip);
}

// In whole vectors of 16 bytes: the next run overwrites what is too much.
template <std::size_t kVectors>
void join(const Runs& runs) noexcept {
  constexpr std::size_t kVector = kCopiedTooMuch + 1;
  std::byte* line = runs.to;
  for (std::uint32_t i = 0; i < runs.count; ++i, line += runs.pitch) {
    std::byte* to = line;
    for (std::size_t run = 0; run < runs.run_count; ++run, to += runs.size)
      std::memcpy(to, runs.positions[i] + runs.runs[run], kVectors * kVector);
  }
}

}  // namespace

void join_runs(const Runs& runs) noexcept {
  if (runs.size <= 16) return join<1>(runs);
  if (runs.size <= 32) return join<2>(runs);
  if (runs.size <= 48) return join<3>(runs);
  std::byte* line = runs.to;
  for (std::uint32_t i = 0; i < runs.count; ++i, line += runs.pitch)
    for (std::size_t run = 0; run < runs.run_count; ++run)
      std::memcpy(line + run * runs.size, runs.positions[i] + runs.runs[run], runs.size);
}

void spread_atoms(const Kernels& kernels, const Atoms& atoms, std::byte flip) noexcept {
  const std::size_t used = atoms.used;
  if (used <= 4 && used == atoms.pitch && kernels.pack_atoms != nullptr)
    return kernels.pack_atoms({reinterpret_cast<const std::uint8_t*>(atoms.from), atoms.atom,
                               atoms.count, static_cast<unsigned>(used),
                               reinterpret_cast<std::uint8_t*>(atoms.to),
                               std::to_integer<std::uint8_t>(flip)});
  if (used == 32) return spread<32>(atoms, flip);
  if (used == 16) return spread<16>(atoms, flip);
  if (used == 8) return spread<8>(atoms, flip);
  if (used == atoms.pitch) {
    if (used <= 4) return spread<4>(atoms, flip);
    if (used <= 8) return spread<8>(atoms, flip);
    if (used <= 16 && atoms.atom >= 16) return spread<16>(atoms, flip);
  }
  std::byte* to = atoms.to;
  const std::byte* from = atoms.from;
  for (std::uint32_t i = 0; i < atoms.count; ++i, to += atoms.pitch, from += atoms.atom)
    copy(to, from, used, flip);
}

void flip_bytes(std::byte* bytes, std::size_t size, std::byte flip) noexcept {
  if (flip == std::byte{0}) return;
  for (std::size_t i = 0; i < size; ++i) bytes[i] ^= flip;
}

}  // namespace nvdla::model
