// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "tools/profile/layer_profile.hpp"

namespace nvdla::program {
namespace {

using Json = nlohmann::ordered_json;
using cost::LayerCycles;
using cost::Span;

// Tracks from top to bottom, as data pass. A layer takes a group if it has the span `takes`: CDMA's
// two ways share its groups, also where one of them has nothing to fetch.
struct UnitTrack {
  const char* name;
  Span LayerCycles::*span;
  Span LayerCycles::*takes;
};
constexpr UnitTrack kTracks[] = {
    {"CDMA data", &LayerCycles::data, &LayerCycles::mac},
    {"CDMA weights", &LayerCycles::weights, &LayerCycles::mac},
    {"CMAC", &LayerCycles::mac, &LayerCycles::mac},
    {"SDP", &LayerCycles::sdp, &LayerCycles::sdp},
    {"PDP", &LayerCycles::pdp, &LayerCycles::pdp},
    {"CDP", &LayerCycles::cdp, &LayerCycles::cdp},
    {"RUBIK", &LayerCycles::rubik, &LayerCycles::rubik},
    {"BDMA", &LayerCycles::bdma, &LayerCycles::bdma},
};
constexpr int kProcess = 1;

// A cycle is a nanosecond, times are in microseconds.
double time_of(std::uint64_t cycle) { return static_cast<double>(cycle) / 1000; }

Json metadata(const char* kind, int track, Json arguments) {
  return {{"name", kind},
          {"ph", "M"},
          {"pid", kProcess},
          {"tid", track},
          {"args", std::move(arguments)}};
}

Json slice(const std::string& name, const char* category, int track, std::uint64_t begin,
           std::uint64_t end, Json arguments) {
  return {{"name", name},
          {"cat", category},
          {"ph", "X"},
          {"pid", kProcess},
          {"tid", track},
          {"ts", time_of(begin)},
          {"dur", time_of(end - begin)},
          {"args", std::move(arguments)}};
}

// Slices of one unit: its layers take its groups in turn.
void add_unit(Json& events, std::span<const LayerProfile> layers, const UnitTrack& unit,
              int track) {
  std::uint64_t free[2] = {};  // when a group had its last end
  std::uint64_t programmed = 0;
  unsigned next = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerProfile& layer = layers[i];
    const Span& span = layer.cycles.*unit.span;
    if ((layer.cycles.*unit.takes).empty()) continue;
    const unsigned group = next;
    next ^= 1;
    if (span.empty()) continue;
    const std::uint64_t begin = span.begin, end = span.end;
    const int tid = track + static_cast<int>(group);
    // In order, as soon as the group is free.
    programmed = std::max(programmed, free[group]);
    if (programmed < begin)
      events.push_back(slice(layer.name, "programmed", tid, programmed, begin, {{"layer", i}}));
    events.push_back(slice(layer.name, "running", tid, begin, end,
                           {{"layer", i},
                            {"cycles", layer.alone.total},
                            {"macs", layer.cycles.macs},
                            {"bytes_read", layer.cycles.read},
                            {"bytes_written", layer.cycles.written},
                            {"bound_by", bound_name(layer.cycles.bound)},
                            {"host_ns", layer.nanoseconds}}));
    free[group] = end;
  }
}

}  // namespace

std::string profile_trace(std::span<const LayerProfile> layers, std::string_view device) {
  Json events = Json::array();
  events.push_back(
      metadata("process_name", 0, {{"name", fmt::format("NVDLA, predicted: {}", device)}}));
  for (std::size_t i = 0; i < std::size(kTracks); ++i) {
    const UnitTrack& unit = kTracks[i];
    const bool used = std::any_of(layers.begin(), layers.end(), [&](const LayerProfile& layer) {
      return !(layer.cycles.*unit.span).empty();
    });
    if (!used) continue;
    const int track = 1 + 2 * static_cast<int>(i);
    for (int group = 0; group < 2; ++group) {
      events.push_back(metadata("thread_name", track + group,
                                {{"name", fmt::format("{}, group {}", unit.name, group)}}));
      events.push_back(
          metadata("thread_sort_index", track + group, {{"sort_index", track + group}}));
    }
    add_unit(events, layers, unit, track);
  }
  const Json document = {{"traceEvents", std::move(events)},
                         {"displayTimeUnit", "ns"},
                         {"otherData", {{"clock", "a cycle of the device is a nanosecond"}}}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nvdla::program
