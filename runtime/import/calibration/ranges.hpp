// SPDX-License-Identifier: MIT
//
// The ranges of the numbers that values take, and scales that hold them.
#ifndef NVDLA_IMPORT_CALIBRATION_RANGES_HPP
#define NVDLA_IMPORT_CALIBRATION_RANGES_HPP

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "import/graph/graph.hpp"
#include "nvdla/import.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla::import {

// The type of ImportOptions::progress.
using Progress = std::function<void(const BuildProgress&)>;
// Reports that a sample is next, if somebody wants to know that.
void report_sample(const Progress& progress, std::string_view what, std::size_t done,
                   std::size_t samples);

// All ranges contain 0, which has to be an element of its own: padding is made of it.
struct NumberRange {
  float low = 0;
  float high = 0;

  bool holds(const NumberRange& other) const { return low <= other.low && other.high <= high; }
  void add(const NumberRange& other);
  void add(std::span<const float> numbers);
};

// An input that is a picture: its number is pixel * factor + shift.
struct PixelInput {
  double factor = 1;
  double shift = 0;

  float number(float pixel) const {
    return static_cast<float>(static_cast<double>(pixel) * factor + shift);
  }
  NumberRange range() const;
  // Returns the scale and zero point by which elements of int16 are pixels.
  Quantization of_pixels() const;
};

// Returns the numbers of a sample that the model computes with.
Sample numbers_of_sample(const Graph& graph, const Sample& sample,
                         const std::map<ValueId, PixelInput>& pixels);
// Computes samples in floats, on all processors, and returns the ranges of all values that are
// computed. Samples of `pixels` are pixels. Throws Error for samples that do not go with the
// inputs.
std::map<ValueId, NumberRange> find_ranges(const Graph& graph, const std::vector<Sample>& samples,
                                           const std::map<ValueId, PixelInput>& pixels,
                                           const Progress& progress = {});
// Returns the scale and zero point of integers that hold a range; `symmetric`: the zero point is 0,
// as it is of all in int16, where a half of the elements is more than enough.
Quantization quantization_of(const NumberRange& range, bool symmetric, Precision precision);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_CALIBRATION_RANGES_HPP
