// SPDX-License-Identifier: MIT
#include "import/calibration/ranges.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "import/graph/refusal.hpp"
#include "import/reference/reference.hpp"
#include "support/printable.hpp"

namespace nvdla::import {
namespace {

using detail::printable;

void check_samples(const Graph& graph, const std::vector<Sample>& samples) {
  for (std::size_t s = 0; s < samples.size(); ++s) {
    if (samples[s].size() != graph.inputs.size())
      throw_invalid_model("{}: sample {} is for {} inputs; the model has {}", printable(graph.file),
                          s + 1, samples[s].size(), graph.inputs.size());
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const Value& value = graph.value(graph.inputs[i]);
      const std::vector<float>& numbers = samples[s][i];
      if (numbers.size() != static_cast<std::size_t>(elements(*value.dims)))
        throw_invalid_model("{}: sample {} has {} elements for input '{}'; it takes {}",
                            printable(graph.file), s + 1, numbers.size(), printable(value.name),
                            dims_text(*value.dims));
      if (!std::all_of(numbers.begin(), numbers.end(), [](float v) { return std::isfinite(v); }))
        throw_invalid_model("{}: sample {} has infinity or no number (NaN) for input '{}'",
                            printable(graph.file), s + 1, printable(value.name));
    }
  }
}

}  // namespace

Sample numbers_of_sample(const Graph& graph, const Sample& sample,
                         const std::map<ValueId, PixelInput>& pixels) {
  Sample numbers = sample;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    if (const auto found = pixels.find(graph.inputs[i]); found != pixels.end())
      for (float& v : numbers[i]) v = found->second.number(v);
  return numbers;
}

NumberRange PixelInput::range() const {
  NumberRange range;
  const float ends[] = {number(0), number(255)};
  range.add(ends);
  return range;
}

Quantization PixelInput::of_pixels() const {
  return {static_cast<float>(factor), static_cast<std::int32_t>(std::nearbyint(-shift / factor))};
}

void NumberRange::add(const NumberRange& other) {
  low = std::min(low, other.low);
  high = std::max(high, other.high);
}

void NumberRange::add(std::span<const float> numbers) {
  for (const float v : numbers) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
}

void report_sample(const Progress& progress, std::string_view what, std::size_t done,
                   std::size_t samples) {
  if (!progress) return;
  const std::string step = fmt::format("{} {}", what, done + 1);
  progress({step, static_cast<std::uint32_t>(done), static_cast<std::uint32_t>(samples)});
}

std::map<ValueId, NumberRange> find_ranges(const Graph& graph, const std::vector<Sample>& samples,
                                           const std::map<ValueId, PixelInput>& pixels,
                                           const Progress& progress) {
  check_samples(graph, samples);
  const Reference reference(graph);
  std::map<ValueId, NumberRange> ranges;
  std::mutex mutex;
  std::exception_ptr failure;
  // The thread that imports takes the first sample, so that it reports one.
  std::atomic<std::size_t> next = 1;
  // The ranges do not depend on which thread takes which sample, nor does the first error.
  std::size_t failed = samples.size();
  const auto work = [&](std::size_t first, bool reports) {
    for (std::size_t s = first; s < samples.size(); s = next++) {
      try {
        if (reports) report_sample(progress, "sample", s, samples.size());
        std::map<ValueId, NumberRange> own;
        reference.run(numbers_of_sample(graph, samples[s], pixels),
                      [&](ValueId id, std::span<const float> numbers) { own[id].add(numbers); });
        const std::lock_guard lock(mutex);
        for (const auto& [id, range] : own) ranges[id].add(range);
      } catch (...) {
        const std::lock_guard lock(mutex);
        next = samples.size();
        if (s < failed) {
          failed = s;
          failure = std::current_exception();
        }
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t count =
        std::min<std::size_t>(std::max(std::thread::hardware_concurrency(), 1U), samples.size());
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back([&] { work(next++, false); });
    work(0, true);
  }
  if (failure) std::rethrow_exception(failure);
  return ranges;
}

Quantization quantization_of(const NumberRange& range, bool symmetric, Precision precision) {
  // A value that is always 0 has any scale.
  constexpr float kNothing = 0x1p-7F;
  if (precision == Precision::kInt16) {
    // Numbers beyond those of the samples have as much room again: 15 bits are enough.
    const float scale = std::max(-range.low, range.high) / 16384;
    return {scale >= 0x1p-126F ? scale : kNothing, 0};
  }
  if (symmetric) {
    const float most = std::max(-range.low, range.high);
    return {most > 0 ? most / 127 : kNothing, 0};
  }
  const double span = static_cast<double>(range.high) - static_cast<double>(range.low);
  const auto scale = static_cast<float>(span / 255);
  if (!(scale >= 0x1p-126F)) return {kNothing, 0};
  const double zero = -128 - static_cast<double>(range.low) / static_cast<double>(scale);
  return {scale, static_cast<std::int32_t>(std::clamp(std::nearbyint(zero), -128.0, 127.0))};
}

}  // namespace nvdla::import
