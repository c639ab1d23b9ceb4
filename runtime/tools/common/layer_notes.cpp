// SPDX-License-Identifier: MIT
#include "tools/common/layer_notes.hpp"

#include <fmt/format.h>

#include <array>

namespace nvdla::program {
namespace {

constexpr std::array kNanOut = {NVDLA_COUNTER_SDP_NAN_OUT, NVDLA_COUNTER_PDP_NAN_OUT,
                                NVDLA_COUNTER_CDP_NAN_OUT};
// The counters of NaNs that came from memory. PDP may also count those that SDP hands over.
constexpr std::array kNanIn = {NVDLA_COUNTER_CDMA_NAN_DATA, NVDLA_COUNTER_CDMA_NAN_WEIGHT,
                               NVDLA_COUNTER_SDP_RDMA_NAN, NVDLA_COUNTER_PDP_NAN_IN,
                               NVDLA_COUNTER_CDP_NAN_IN};
constexpr std::array kSaturation = {NVDLA_COUNTER_CACC_SATURATION, NVDLA_COUNTER_SDP_SATURATION,
                                    NVDLA_COUNTER_CDP_SATURATION};

template <std::size_t N>
std::uint64_t sum(const nvdla_layer_stats& stats, const std::array<nvdla_counter, N>& counters) {
  std::uint64_t all = 0;
  for (const nvdla_counter counter : counters)
    if ((stats.valid >> counter & 1U) != 0) all += stats.counter[counter];
  return all;
}

template <std::size_t N>
std::optional<LayerNote> first(std::span<const nvdla_layer_stats> layers,
                               const std::array<nvdla_counter, N>& counters) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (const std::uint64_t count = sum(layers[i], counters); count != 0)
      return LayerNote{i, count, sum(layers[i], kNanIn)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<LayerNote> first_nan(std::span<const nvdla_layer_stats> layers) {
  return first(layers, kNanOut);
}

std::optional<LayerNote> first_saturated(std::span<const nvdla_layer_stats> layers) {
  return first(layers, kSaturation);
}

std::string nan_text(const LayerNote& note, std::string_view layer_name) {
  return fmt::format("the first NaN come from layer {} '{}': {}{}", note.layer, layer_name,
                     note.count, note.read == 0 ? "" : fmt::format(", and it reads {}", note.read));
}

std::string saturation_text(const LayerNote& note, std::string_view layer_name) {
  return fmt::format("the first results that saturate are of layer {} '{}': {}", note.layer,
                     layer_name, note.count);
}

}  // namespace nvdla::program
