// SPDX-License-Identifier: MIT
#include "tools/common/layer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "nvdla/types/error.hpp"
#include "tools/common/text.hpp"

namespace nvdla::program {
namespace {

// Counters that mean the same in different units are one column.
struct Column {
  const char* first;  // lines of its head
  const char* second;
  std::size_t width;
  std::vector<std::uint32_t> counters;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> kColumnsOfCounters = {
      {"read",
       "stall",
       8,
       {NVDLA_COUNTER_CDMA_DATA_STALL, NVDLA_COUNTER_SDP_MRDMA_STALL, NVDLA_COUNTER_PDP_RDMA_STALL,
        NVDLA_COUNTER_CDP_RDMA_STALL, NVDLA_COUNTER_RUBIK_READ_STALL,
        NVDLA_COUNTER_BDMA_READ_STALL}},
      {"weight", "stall", 8, {NVDLA_COUNTER_CDMA_WEIGHT_STALL}},
      {"write",
       "stall",
       8,
       {NVDLA_COUNTER_SDP_WRITE_STALL, NVDLA_COUNTER_PDP_WRITE_STALL, NVDLA_COUNTER_CDP_WRITE_STALL,
        NVDLA_COUNTER_RUBIK_WRITE_STALL, NVDLA_COUNTER_BDMA_WRITE_STALL}},
      {"", "saturated", 9, {NVDLA_COUNTER_SDP_SATURATION, NVDLA_COUNTER_CDP_SATURATION}},
  };
  return kColumnsOfCounters;
}

bool counted(const nvdla_layer_stats& stats, std::uint32_t counter) {
  return (stats.valid >> counter & 1U) != 0;
}

bool indicative(const DeviceInfo& info, std::uint32_t counter) {
  return counter_worth(info, counter) != CounterWorth::kExact;
}

bool any_indicative(std::span<const LayerRow> layers, const DeviceInfo& info) {
  return std::any_of(layers.begin(), layers.end(), [&](const LayerRow& layer) {
    for (std::uint32_t i = 0; i < NVDLA_COUNTER_COUNT; ++i)
      if (counted(layer.stats, i) && indicative(info, i)) return true;
    return false;
  });
}

std::string cell(const nvdla_layer_stats& stats, const Column& column, const DeviceInfo& info) {
  std::uint64_t sum = 0;
  bool any = false, vague = false;
  for (const std::uint32_t counter : column.counters) {
    if (!counted(stats, counter)) continue;
    sum += stats.counter[counter];
    any = true;
    vague = vague || indicative(info, counter);
  }
  return any ? (vague ? "~" : "") + count_text(sum) : "-";
}

bool has_column(std::uint32_t counter) {
  return std::any_of(columns().begin(), columns().end(), [=](const Column& column) {
    return std::find(column.counters.begin(), column.counters.end(), counter) !=
           column.counters.end();
  });
}

// A sum over all reads, never 0.
bool is_latency(std::uint32_t counter) {
  return counter == NVDLA_COUNTER_CDMA_DATA_LATENCY || counter == NVDLA_COUNTER_CDMA_WEIGHT_LATENCY;
}

// Counters without a column that say something.
std::string others(std::span<const LayerRow> layers, const DeviceInfo& info) {
  std::string lines;
  for (const LayerRow& layer : layers) {
    for (std::uint32_t i = 0; i < NVDLA_COUNTER_COUNT; ++i) {
      if (has_column(i) || is_latency(i) || !counted(layer.stats, i) || layer.stats.counter[i] == 0)
        continue;
      lines +=
          fmt::format("{:<34} {:<24} {:>11}\n", elide(layer.name, 34), counter_name(i),
                      fmt::format("{}{}", indicative(info, i) ? "~" : "", layer.stats.counter[i]));
    }
  }
  if (lines.empty()) return lines;
  return fmt::format("\n{:<34} {:<24} {:>11}\n", "layer", "counters that are not 0", "value") +
         lines;
}

}  // namespace

std::string layer_table(std::span<const LayerRow> layers, const DeviceInfo& info) {
  const bool macs = std::any_of(layers.begin(), layers.end(),
                                [](const LayerRow& layer) { return layer.macs.has_value(); });
  // "layer" is as narrow as it gets; what the other columns leave is as wide.
  std::size_t name_width = 5;
  for (const LayerRow& layer : layers) name_width = std::max(name_width, layer.name.size());
  name_width = std::min<std::size_t>(name_width, macs ? 18 : 26);

  const auto line = [&](std::string_view name, std::string_view mac, std::string_view cycles,
                        std::string_view time) {
    return fmt::format("{:<{}}{} {:>7} {:>8}", name, name_width,
                       macs ? fmt::format(" {:>7}", mac) : "", cycles, time);
  };
  std::string first = line("", "", "at most", "");
  std::string second = line("layer", "MACs", "cycles", "time");
  for (const Column& column : columns()) {
    first += fmt::format(" {:>{}}", column.first, column.width);
    second += fmt::format(" {:>{}}", column.second, column.width);
  }
  first.erase(first.find_last_not_of(' ') + 1);
  std::string table = first + "\n" + second + "\n";
  for (const LayerRow& layer : layers) {
    table +=
        line(elide(layer.name, name_width), layer.macs ? count_text(*layer.macs) : "-",
             count_text(layer.cycles), duration_text(layer.stats.end_ns - layer.stats.start_ns));
    for (const Column& column : columns()) {
      table += fmt::format(" {:>{}}", cell(layer.stats, column, info), column.width);
    }
    table += '\n';
  }
  table += others(layers, info);
  if (any_indicative(layers, info))
    table += "~ is indicative: it moves with the load, and is not comparable.\n";
  return table;
}

}  // namespace nvdla::program
