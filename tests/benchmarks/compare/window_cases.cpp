// SPDX-License-Identifier: MIT
//
// PDP and CDP: pooling, and normalisation across channels.
#include <algorithm>

#include "compare/unit_layer.hpp"

namespace nvdla::bench {
namespace {

// `relu`: of what a ReLU leaves.
Case pooling_case(Precision precision, bool average, bool relu = false) {
  UnitLayer layer{.input = unit_tensor(kUnitShape, precision)};
  for (float& value : layer.input.values)
    if (relu) value = std::max(value, 0.0F);
  const PeerPooling window{.average = average, .size = 3, .stride = 2, .pad = average ? 0U : 1U};
  layer.build = [&](Network& network, Tensor input, Tensor) {
    Pooling pool{.name = "pool",
                 .method = average ? NVDLA_POOL_AVERAGE : NVDLA_POOL_MAX,
                 .kernel_height = window.size,
                 .kernel_width = window.size,
                 .stride_height = window.stride,
                 .stride_width = window.stride};
    pool.pad_top = pool.pad_bottom = pool.pad_left = pool.pad_right = window.pad;
    return network.pooling(input, pool);
  };
  return unit_case(layer, pooling(layer.input, window), unit_tolerance(precision, average ? 1 : 0));
}

Case normalization_case(Precision precision) {
  const PeerNormalization norm{.size = 5, .alpha = 0.1F, .beta = 0.75F, .k = 1};
  UnitLayer layer{.input = unit_tensor(kUnitShape, precision)};
  const Lut lut =
      lut::lrn(norm.alpha, norm.beta, norm.k, norm.size, table_format(layer, kUnitStep), 16);
  layer.build = [&](Network& network, Tensor input, Tensor) {
    Normalization normalization{.name = "lrn"};
    lut.apply(normalization);
    return network.normalization(input, normalization);
  };
  return unit_case(layer, normalization(layer.input, norm),
                   {1.5 * lut.report().error + kUnitStep / 2});
}

}  // namespace

void add_window_cases(const Settings& settings) {
  add_unit(settings, "max pooling",
           [](Precision precision) { return pooling_case(precision, false); });
  add_unit(settings, "average pooling",
           [](Precision precision) { return pooling_case(precision, true); });
  add_unit(settings, "average, after ReLU",
           [](Precision precision) { return pooling_case(precision, true, true); });
  add_unit(settings, "LRN", normalization_case);
}

}  // namespace nvdla::bench
