// SPDX-License-Identifier: MIT
#include "check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "describe.hpp"
#include "real_reference.hpp"
#include "tools/common/program.hpp"

namespace networks {
namespace {

// Outputs of a network that is checked: each has a buffer of its own, of which a program can name
// so many and some more.
constexpr std::size_t kShown = 100;

Elements read(const nvdla::Request& request, const Layer& layer, nvdla::Precision precision) {
  if (precision != nvdla::Precision::kInt8) {
    Elements elements(layer.shape.elements());
    request.read(layer.name, nvdla::Layout::kNhwc, elements);
    return elements;
  }
  Integers elements(layer.shape.elements());
  request.read(layer.name, nvdla::Layout::kNhwc, elements);
  return {elements.begin(), elements.end()};
}

void judge(const Layer& layer, const Elements& found, const std::vector<Expected>& expected,
           Verdict& verdict) {
  ++verdict.tensors;
  verdict.elements += found.size();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error = std::abs(found[i] - expected[i].value), bound = expected[i].bound();
    if (bound > 0) verdict.greatest = std::max(verdict.greatest, error / bound);
    // Also if it is NaN.
    if (error <= bound) continue;
    if (verdict.different++ != 0) continue;
    const std::size_t position = i / layer.shape.channels;
    verdict.first = fmt::format("'{}' at channel {}, line {}, column {}: {}, expected {}",
                                layer.name, i % layer.shape.channels, position / layer.shape.width,
                                position % layer.shape.width, found[i], expected[i].value);
    if (bound > 0) verdict.first += fmt::format(" and at most {:.3g} beside it", bound);
  }
}

std::vector<Expected> exactly(const auto& elements) {
  std::vector<Expected> expected(elements.size());
  std::transform(elements.begin(), elements.end(), expected.begin(), [](auto element) {
    return Expected{static_cast<double>(element), 0};
  });
  return expected;
}

// The results of all layers, as the device leaves them.
std::vector<Elements> all_results(const nvdla::Device& device, const Network& network,
                                  nvdla::Precision precision, const Say& say) {
  const std::vector<Layer>& layers = network.graph.layers();
  std::vector<Elements> results;
  results.emplace_back(network.results[0].begin(), network.results[0].end());
  while (results.size() < layers.size()) {
    std::vector<Value> shown;
    for (std::size_t i = results.size(); i < layers.size() && shown.size() < kShown; ++i)
      shown.push_back(static_cast<Value>(i));
    say(fmt::format("running '{}' to '{}'", layers[shown.front()].name, layers[shown.back()].name));
    nvdla::Request request = describe(network, precision, shown)
                                 .build(device, nvdla::program::build_options(device.info()));
    write_image(request, network, precision);
    request.run();
    for (const Value value : shown) results.push_back(read(request, layers[value], precision));
  }
  return results;
}

}  // namespace

std::vector<Elements> check_every_tensor(const nvdla::Device& device, const Network& network,
                                         nvdla::Precision precision, Verdict& verdict,
                                         const Say& say) {
  std::vector<Elements> results = all_results(device, network, precision, say);
  const std::vector<double> sizes = steps(network);
  for (Value value = 1; value < results.size(); ++value) {
    say(fmt::format("comparing '{}'", network.graph.layers()[value].name));
    judge(network.graph.layers()[value], results[value],
          precision == nvdla::Precision::kInt8 ? exactly(network.results[value])
                                               : expect_reals(network, sizes, value, results),
          verdict);
  }
  return results;
}

void write_image(nvdla::Request& request, const Network& network, nvdla::Precision precision) {
  const Integers& image = network.results.front();
  if (precision == nvdla::Precision::kInt8) {
    request.write("image", nvdla::Layout::kNhwc, image);
  } else {
    request.write("image", nvdla::Layout::kNhwc, Elements(image.begin(), image.end()));
  }
}

void check_result(const nvdla::Request& request, const Network& network, nvdla::Precision precision,
                  const Elements& expected, Verdict& verdict) {
  const Layer& last = network.graph.layers().back();
  judge(last, read(request, last, precision), exactly(expected), verdict);
}

Use use_of(const Integers& result) {
  Use use;
  for (const std::int8_t element : result) {
    use.zero += element == 0;
    use.saturated += element == 127 || element == -128;
  }
  use.zero /= static_cast<double>(result.size());
  use.saturated /= static_cast<double>(result.size());
  return use;
}

}  // namespace networks
