// SPDX-License-Identifier: MIT
//
// Transposes of more axes than a cube has.
#include <gtest/gtest.h>

#include <vector>

#include "model_maker.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla::import_test {
namespace {

std::int64_t product(const Sizes& sizes) {
  std::int64_t all = 1;
  for (const std::int64_t size : sizes) all *= size;
  return all;
}

std::vector<float> count_up(std::int64_t count) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i));
  return numbers;
}

// Returns the elements of a tensor in another order of axes.
std::vector<float> transposed(const std::vector<float>& in, const Sizes& sizes,
                              const Sizes& order) {
  std::vector<float> out;
  Sizes at(sizes.size(), 0);  // in the order of the result
  for (std::int64_t n = 0; n < product(sizes); ++n) {
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      std::size_t place = 0;
      while (order[place] != static_cast<std::int64_t>(axis)) ++place;
      from = from * sizes[axis] + at[place];
    }
    out.push_back(in[static_cast<std::size_t>(from)]);
    for (std::size_t i = order.size(); i-- > 0;) {
      if (++at[i] < sizes[static_cast<std::size_t>(order[i])]) break;
      at[i] = 0;
    }
  }
  return out;
}

// A Reshape to `parts`, a Transpose and a Reshape.
ModelMaker reordered(const Sizes& in, const Sizes& parts, const Sizes& order, const Sizes& out) {
  ModelMaker m;
  m.input("x", in).output("y");
  m.integers("parts", {static_cast<std::int64_t>(parts.size())}, parts)
      .integers("out", {static_cast<std::int64_t>(out.size())}, out);
  m.node("Reshape", {"x", "parts"}, {"a"});
  set(m.node("Transpose", {"a"}, {"b"}), "perm", order);
  m.node("Reshape", {"b", "out"}, {"y"});
  return m;
}

// Pixel shuffles in both orders of channels, and what undoes them, as exporters without an operator
// for them write it: one layer, or two where channels change places, none of the CPU.
TEST(ImportMoves, BlocksOfPositionsNeedNoTranspose) {
  struct Case {
    Sizes in, parts, order, out;
    std::uint32_t layers;
  };
  const Case cases[] = {{{1, 18, 4, 5}, {1, 2, 3, 3, 4, 5}, {0, 1, 4, 2, 5, 3}, {1, 2, 12, 15}, 1},
                        {{2, 8, 3, 2}, {2, 2, 2, 2, 3, 2}, {0, 3, 4, 1, 5, 2}, {2, 2, 6, 4}, 1},
                        {{1, 3, 4, 6}, {1, 3, 2, 2, 3, 2}, {0, 1, 3, 5, 2, 4}, {1, 12, 2, 3}, 2},
                        {{1, 3, 4, 6}, {1, 3, 2, 2, 3, 2}, {0, 3, 5, 1, 2, 4}, {1, 12, 2, 3}, 1}};
  for (const Case& c : cases) {
    const ModelMaker m = reordered(c.in, c.parts, c.order, c.out);
    const auto in = count_up(product(c.in));
    EXPECT_EQ(m.import().network.layers(), c.layers);
    EXPECT_EQ(m.run(in, {.cpu = CpuUse::kNone}), transposed(in, c.parts, c.order));
  }
}

// Windows of a picture and heads of attention, with a batch and without.
TEST(ImportMoves, TransposesOfManyRunsOfAxes) {
  struct Case {
    Sizes in, parts, order, out;
  };
  const Case cases[] = {{{1, 6, 4, 5}, {1, 3, 2, 2, 2, 5}, {0, 1, 3, 2, 4, 5}, {6, 4, 5}},
                        {{1, 24, 6}, {4, 3, 2, 2, 3}, {2, 0, 3, 1, 4}, {2, 4, 6, 3}},
                        {{1, 8, 6, 5}, {4, 2, 6, 5}, {0, 2, 1, 3}, {4, 12, 5}},
                        {{2, 8, 6, 5}, {2, 4, 2, 6, 5}, {0, 4, 2, 1, 3}, {2, 5, 48}},
                        {{1, 720}, {2, 3, 4, 5, 6}, {4, 3, 2, 1, 0}, {1, 720}}};
  for (const Case& c : cases) {
    const ModelMaker m = reordered(c.in, c.parts, c.order, c.out);
    const auto in = count_up(product(c.in));
    EXPECT_EQ(m.run(in, {.cpu = CpuUse::kAll}), transposed(in, c.parts, c.order));
  }
}

}  // namespace
}  // namespace nvdla::import_test
