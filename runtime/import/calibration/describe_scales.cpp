// SPDX-License-Identifier: MIT
//
// The noise that integers bring, by computing samples in floats and with their scales.
#include <algorithm>
#include <cmath>
#include <limits>

#include "import/calibration/quantize_graph.hpp"
#include "import/reference/reference.hpp"
#include "support/printable.hpp"

namespace nvdla::import {
namespace {

constexpr std::size_t kMostSamples = 4;

// Sums of squares of numbers and of what they were changed by.
struct Noise {
  double numbers = 0, changes = 0;

  void add(std::span<const float> exact, std::span<const float> changed) {
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const auto x = static_cast<double>(exact[i]);
      const double d = static_cast<double>(changed[i]) - x;
      numbers += x * x;
      changes += d * d;
    }
  }
  double decibels() const {
    if (changes == 0) return std::numeric_limits<double>::infinity();
    return 10 * std::log10(numbers / changes);
  }
};

double share_beyond(std::span<const float> numbers, const QuantizedValue& value) {
  const Quantization& q = value.quantization;
  const auto end = [&](int element) {
    return (element - q.zero_point) * static_cast<double>(q.scale);
  };
  // Numbers that are rounded to the last element are held.
  const int least = value.precision == Precision::kInt16 ? -32768 : -128;
  const double half = static_cast<double>(q.scale) / 2, low = end(least) - half;
  const double high = end(-least - 1) + half;
  const auto beyond = std::count_if(numbers.begin(), numbers.end(), [&](float v) {
    const auto x = static_cast<double>(v);
    return x < low || x > high;
  });
  return numbers.empty() ? 0 : static_cast<double>(beyond) / static_cast<double>(numbers.size());
}

}  // namespace

std::vector<ImportedScale> describe_scales(const Graph& floats, const Graph& integers,
                                           const std::vector<QuantizedValue>& values,
                                           const std::vector<Sample>& samples,
                                           const std::map<ValueId, PixelInput>& pixels,
                                           const Progress& progress) {
  const Reference exact(floats), rounded(integers);
  std::map<ValueId, std::size_t> by_number, by_rounded;
  for (std::size_t i = 0; i < values.size(); ++i) {
    by_number[values[i].number] = i;
    by_rounded[values[i].rounded] = i;
  }
  std::vector<Noise> alone(values.size()), until(values.size());
  std::vector<double> beyond(values.size());
  const std::size_t count = std::min(samples.size(), kMostSamples);
  for (std::size_t s = 0; s < count; ++s) {
    report_sample(progress, "noise of sample", s, count);
    const Sample sample = numbers_of_sample(floats, samples[s], pixels);
    std::vector<std::vector<float>> numbers(values.size());
    exact.run(sample, [&](ValueId id, std::span<float> all) {
      const auto found = by_number.find(id);
      if (found == by_number.end()) return;
      numbers[found->second].assign(all.begin(), all.end());
      beyond[found->second] +=
          share_beyond(all, values[found->second]) / static_cast<double>(count);
    });
    for (const bool whole : {true, false})
      rounded.run(sample, [&](ValueId id, std::span<float> all) {
        const auto found = by_rounded.find(id);
        if (found == by_rounded.end()) return;
        const auto& right = numbers[found->second];
        (whole ? until : alone)[found->second].add(right, all);
        // The next layer gets exact numbers.
        if (!whole) std::copy(right.begin(), right.end(), all.begin());
      });
  }
  std::vector<ImportedScale> scales;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const QuantizedValue& v = values[i];
    // A pass has made values that the model does not have.
    const bool own = static_cast<std::size_t>(v.number) < floats.values.size();
    const std::string& name = (own ? floats : integers).value(v.number).name;
    scales.push_back({detail::printable(name), detail::printable(v.node), v.quantization,
                      v.range.low, v.range.high, beyond[i], alone[i].decibels(),
                      until[i].decibels()});
  }
  return scales;
}

}  // namespace nvdla::import
