// SPDX-License-Identifier: MIT
//
// The layers whose cycles were measured on the published logic, as geometry: the tables of
// ../shared/hw.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cost/layer_cycles.hpp"
#include "cost/machine.hpp"
#include "cost/memory_timing.hpp"
#include "cost/sequence_cycles.hpp"

namespace nvdla::test {

using MeasuredLayer = cost::LayerGeometry;

// `MeasuredRow` is a row of a table: a layer, or several in a job.
struct MeasuredRow {
  std::string configuration, name;
  std::uint32_t revision = 0;  // year of the logic, 0 where it was published once
  std::string group;           // "convolution", "image", "winograd", "sdp", ...
  cost::MemoryTiming memory;
  bool ahead = false;    // the engine enables layers ahead of time
  bool follows = false;  // each layer reads what the one before wrote
  std::uint64_t cycles = 0;
  std::vector<MeasuredLayer> layers;
  bool narrow = false;  // true where memory brings less than a beat a cycle
};

// Cells of a row by the heads of their columns.
using Cells = std::map<std::string, std::string>;

// Read cycles.csv, cycles-nv_full-logic.csv and cycles-squeezenet.csv. All throw std::runtime_error
// that names the file, and the line where there is one, for what is no such table.
std::vector<Cells> read_table(const std::filesystem::path& path);
std::vector<MeasuredRow> read_traces(const std::filesystem::path& path);
std::vector<MeasuredRow> read_jobs(const std::filesystem::path& path);
std::vector<MeasuredRow> read_squeezenet(const std::filesystem::path& path);

// Returns the device of a row.
cost::Machine machine_of(const MeasuredRow& row);

// Returns the prediction for all of a row.
std::uint64_t predict(const MeasuredRow& row);

// Returns a convolution of `kernel` x `kernel` that fetches `lines` lines of a cube and writes
// `out_lines`, without banks.
MeasuredLayer direct_layer(const cost::Machine& machine, unsigned width, unsigned lines,
                           unsigned channels, unsigned kernels, unsigned kernel,
                           unsigned out_lines);

}  // namespace nvdla::test
