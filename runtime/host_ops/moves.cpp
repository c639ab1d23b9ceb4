// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstring>
#include <vector>

#include "host_ops/compute.hpp"

namespace nvdla::cpu {
namespace {

// The offset of an element is the sum of one entry of each axis.
struct Offsets {
  std::array<std::vector<std::size_t>, 3> axis;  // channels, height, width

  explicit Offsets(const CubeLayout& layout) {
    const auto add = [&](std::vector<std::size_t>& list, std::uint32_t size,
                         std::uint32_t Position::*index) {
      for (std::uint32_t i = 0; i < size; ++i) {
        Position p;
        p.*index = i;
        list.push_back(static_cast<std::size_t>(layout.at(p)));
      }
    };
    add(axis[0], layout.shape.channels, &Position::c);
    add(axis[1], layout.shape.height, &Position::y);
    add(axis[2], layout.shape.width, &Position::x);
  }
};

// Calls move(source, target) with the first bytes of both cubes, for each of a batch.
template <typename Move>
void for_each_cube(const Source& from, const Target& to, const Move& move) {
  for (std::uint32_t n = 0; n < to.shape().batch; ++n) move(from.at({.n = n}), to.at({.n = n}));
}

template <std::size_t kBytes>
void permute_as(const Source& from, const Target& to, const std::array<std::uint32_t, 3>& order) {
  const Offsets source(from.layout()), target(to.layout());
  for_each_cube(from, to, [&](const std::byte* in, std::byte* out) {
    for (std::size_t c = 0; c < target.axis[0].size(); ++c) {
      for (std::size_t y = 0; y < target.axis[1].size(); ++y) {
        const std::byte* const line = in + source.axis[order[0]][c] + source.axis[order[1]][y];
        std::byte* const place = out + target.axis[0][c] + target.axis[1][y];
        for (std::size_t x = 0; x < target.axis[2].size(); ++x)
          std::memcpy(place + target.axis[2][x], line + source.axis[order[2]][x], kBytes);
      }
    }
  });
}

template <std::size_t kBytes>
void reshape_as(const Source& from, const Target& to) {
  const Offsets source(from.layout()), target(to.layout());
  const std::size_t width = source.axis[2].size(), height = source.axis[1].size();
  for_each_cube(from, to, [&](const std::byte* in, std::byte* out) {
    std::size_t x = 0, y = 0, c = 0;
    const std::byte* line = in;
    for (const std::size_t channel : target.axis[0]) {
      for (const std::size_t row : target.axis[1]) {
        for (const std::size_t column : target.axis[2]) {
          if (x == width) {
            x = 0;
            if (++y == height) {
              y = 0;
              ++c;
            }
            line = in + source.axis[0][c] + source.axis[1][y];
          }
          std::memcpy(out + channel + row + column, line + source.axis[2][x++], kBytes);
        }
      }
    }
  });
}

}  // namespace

void permute(const Source& from, const Target& to, const std::array<std::uint32_t, 3>& order) {
  to.layout().element_bytes == 1 ? permute_as<1>(from, to, order) : permute_as<2>(from, to, order);
}

void reshape(const Source& from, const Target& to) {
  to.layout().element_bytes == 1 ? reshape_as<1>(from, to) : reshape_as<2>(from, to);
}

}  // namespace nvdla::cpu
