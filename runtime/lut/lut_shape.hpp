// SPDX-License-Identifier: MIT
//
// One of the two tables of a unit while a fit looks for the best: where it lies, its entries, and
// the lines that go on from its ends.
#ifndef NVDLA_LUT_LUT_SHAPE_HPP
#define NVDLA_LUT_LUT_SHAPE_HPP

#include <bit>
#include <cstdint>
#include <vector>

#include "lut/lut_eval.hpp"
#include "lut/lut_fit.hpp"

namespace nvdla::detail {

struct LutShape {
  LutTable table = LutTable::kLo;
  bool exponential = false;
  int log = 0;       // of the step, or of the first step
  double start = 0;  // integer, or a number of fp32
  // Entries lie beside the function by half of what straight lines between them would miss, so
  // that a bend costs half as much; the function is not met at the knots then.
  bool balanced = false;

  unsigned last() const noexcept {
    return table == LutTable::kLo ? NVDLA_LUT_LO_ENTRIES - 1 : NVDLA_LUT_LE_ENTRIES - 1;
  }
  double knot(unsigned index) const noexcept {
    // 2^exponent, which is far from the ends of a double.
    const auto power = [](int exponent) {
      return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
    };
    return exponential ? start + power(log + static_cast<int>(index)) : start + index * power(log);
  }
};

// Inputs below and beyond which the table misses.
inline double lower_edge(const LutShape& s) { return s.knot(0); }
inline double upper_edge(const LutShape& s) { return s.knot(s.last()); }

// Sets the table's own fields of `lut`, but for its slopes: where it lies, and entries that follow
// the problem's function.
void lut_place(const LutProblem& problem, const LutShape& shape, nvdla_lut& lut);
// Returns the slope below or above a table that was placed which suits those of `samples` that miss
// the table at that end. Samples are in the order of inputs.
nvdla_lut_slope lut_slope(const LutProblem& problem, const LutShape& shape, const nvdla_lut& lut,
                          LutSide end, const std::vector<LutSample>& samples);

}  // namespace nvdla::detail

#endif  // NVDLA_LUT_LUT_SHAPE_HPP
