// SPDX-License-Identifier: MIT
#include "measured.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "model/core/machine.hpp"

namespace nvdla::test {
namespace {

using cost::ceil_div;
using cost::Interface;

// The cells of a line; one in quotation marks may have commas.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else if (c != '\r')
      cells.back() += c;
  }
  return cells;
}

// The number in a cell, decimal or after 0x; `otherwise` where there is none.
unsigned number(const Cells& cells, const std::string& name, int otherwise = -1) {
  const auto found = cells.find(name);
  if (found == cells.end() || found->second.empty()) {
    if (otherwise >= 0) return static_cast<unsigned>(otherwise);
    throw std::runtime_error("the table has no " + name);
  }
  return static_cast<unsigned>(std::stoul(found->second, nullptr, 0));
}

// "k=v,k=v" or "k=v k=v"; words without a value become keys of "".
Cells parameters_of(const std::string& text) {
  Cells parameters;
  std::string word;
  const auto take = [&] {
    const std::size_t equals = std::min(word.find('='), word.size());
    parameters[word.substr(0, equals)] = word.substr(std::min(equals + 1, word.size()));
    word.clear();
  };
  for (const char c : text) {
    if (c == ' ' || c == ',')
      take();
    else
      word += c;
  }
  take();
  return parameters;
}

Interface interface_of_ram(unsigned ram) {
  return ram == 1 ? Interface::kPrimary : Interface::kSecondary;
}

unsigned bytes_of(unsigned precision) { return precision == 0 ? 1 : 2; }

// --- cycles.csv: traces, by what their registers say.

cost::ConvGeometry traced_conv(const Cells& row) {
  cost::ConvGeometry conv;
  conv.element_bytes = bytes_of(number(row, "prec"));
  conv.width = number(row, "W");
  conv.height = number(row, "H");
  conv.channels = conv.weight_channels = conv.winograd_channels = number(row, "C");
  conv.batches = number(row, "batch");
  conv.grain = number(row, "grain");
  conv.kernel_width = number(row, "S");
  conv.kernel_height = number(row, "R");
  conv.kernels = number(row, "K");
  conv.weight_bytes = number(row, "wbytes");
  conv.weight_banks = number(row, "bankW");
  conv.out_width = number(row, "OW");
  conv.out_height = number(row, "OH");
  conv.data = conv.weights = interface_of_ram(number(row, "datram"));
  return conv;
}

// D_*RDMA_CFG: bit 0 switches off, bits 1 and 2 choose, bit 3 is two bytes, bit 4 one operand for
// each element.
cost::OperandGeometry traced_operand(unsigned config) {
  return {.read = (config & 1) == 0,
          .both = (config >> 1 & 3) == 2,
          .two_bytes = (config >> 3 & 1) != 0,
          .per_element = (config >> 4 & 1) != 0};
}

cost::SdpGeometry traced_sdp(const Cells& row) {
  cost::SdpGeometry sdp;
  sdp.width = number(row, "sW");
  sdp.height = number(row, "sH");
  sdp.channels = number(row, "sC");
  sdp.element_bytes = sdp.in_bytes = bytes_of(number(row, "sprec") & 3);
  sdp.out_bytes = bytes_of(number(row, "sprec") >> 2 & 3);
  sdp.x1 = (number(row, "bs") & 1) == 0;
  sdp.x2 = (number(row, "bn") & 1) == 0;
  sdp.y = (number(row, "ew") & 1) == 0;
  sdp.writes_cube = number(row, "todst_pdp") == 0;
  sdp.reads_cube = number(row, "flying") == 0;
  if (!sdp.reads_cube) return sdp;
  const char* const kConfigs[] = {"brdma", "nrdma", "erdma"};
  for (unsigned i = 0; i < 3; ++i) sdp.operands[i] = traced_operand(number(row, kConfigs[i]));
  return sdp;
}

cost::PdpGeometry traced_pdp(const Cells& row, unsigned element_bytes) {
  cost::PdpGeometry pdp;
  pdp.width = number(row, "pW");
  pdp.height = number(row, "pH");
  pdp.channels = number(row, "pC");
  pdp.out_width = number(row, "poW");
  pdp.out_height = number(row, "poH");
  pdp.kernel_width = number(row, "kw");
  pdp.kernel_height = number(row, "kh");
  pdp.stride_width = number(row, "sx");
  pdp.stride_height = number(row, "sy");
  pdp.element_bytes = element_bytes;
  pdp.left = number(row, "ppad") & 7;
  pdp.top = number(row, "ppad") >> 4 & 7;
  pdp.reads_cube = row.at("pflying") == "mem";
  return pdp;
}

// --- cycles-nv_full-logic.csv: jobs, by the words that they were made with.

constexpr std::uint64_t kBank = 256 * 128;  // bytes

unsigned banks_for(std::uint64_t bytes) { return static_cast<unsigned>(ceil_div(bytes, kBank)); }

// Banks for all kernels, else for two kernel groups, else for one, beside so many banks of data.
unsigned banks_for_weights(const cost::ConvGeometry& conv, unsigned data_banks) {
  const std::uint64_t kernel = conv.weight_bytes / conv.kernels;
  const std::uint64_t group = std::min<std::uint64_t>(conv.kernels, 32 / conv.element_bytes);
  const std::uint64_t margin = conv.kernels > group ? 128 : 0;
  for (const std::uint64_t kernels : {std::uint64_t{conv.kernels}, 2 * group}) {
    const unsigned banks = banks_for(kernel * kernels + margin);
    if (data_banks + banks <= 16) return banks;
  }
  return banks_for(kernel * group + margin);
}

// Entries of the convolution buffer that a line of a cube takes.
std::uint64_t line_entries(std::uint64_t width, std::uint64_t surfaces) {
  const std::uint64_t rest = surfaces % 4;
  return width * (surfaces / 4) + ceil_div(width * (rest == 3 ? 4 : rest), 4);
}

MeasuredLayer conv_of(Cells words, const std::string& mode, unsigned element_bytes) {
  MeasuredLayer layer;
  cost::ConvGeometry& conv = layer.conv;
  const bool image = mode == "image";
  const unsigned kernel = number(words, "r"), stride = number(words, "s", 1);
  const unsigned pad = number(words, "p", kernel == 3 ? 1 : 0);
  const unsigned height = number(words, "h"), width = number(words, "w", static_cast<int>(height));
  const unsigned channels = number(words, "c", image ? 3 : -1);
  conv.element_bytes = element_bytes;
  conv.width = width;
  conv.height = height;
  conv.channels = conv.winograd_channels = channels;
  conv.kernel_width = conv.kernel_height = kernel;
  conv.kernels = number(words, "k");
  conv.out_width = (width + 2 * pad - kernel) / stride + 1;
  conv.out_height = (height + 2 * pad - kernel) / stride + 1;
  conv.weight_channels = channels;
  conv.weight_bytes = std::uint64_t{conv.kernels} * kernel * kernel * channels * element_bytes;
  std::uint64_t entries = 0;
  if (image) {
    conv.image = true;
    conv.planes = 1;
    conv.plane_bytes[0] = 4;
    conv.kernel_width = 1;
    conv.weight_channels = kernel * channels;
    // So many lines of the kernel lie side by side as 64 channels have room for.
    unsigned lines = 1;
    while (lines < 4 && lines < kernel && 2 * lines * conv.weight_channels <= 64) lines *= 2;
    conv.post_lines = number(words, "post", static_cast<int>(lines));
    entries = height * ceil_div(std::uint64_t{width} * channels, 128);
  } else {
    // Without gaps between its lines a cube is fetched in runs of eight atoms and more.
    conv.grain = std::min<unsigned>(height, static_cast<unsigned>(ceil_div(8, width)));
    const std::uint64_t surfaces = ceil_div(std::uint64_t{channels} * element_bytes, 32);
    entries = height * line_entries(width, surfaces);
  }
  if (mode == "wino") {
    conv.winograd = true;
    conv.grain = 1;
    conv.weight_bytes = conv.weight_bytes / 9 * 16;
    conv.out_width = (conv.out_width + 3) / 4 * 4;
    conv.out_height = (conv.out_height + 3) / 4 * 4;
    entries = (conv.out_height + 2) * ceil_div(conv.out_width + 2, 4) *
              ceil_div(std::uint64_t{channels} * element_bytes, 32);
  }
  conv.data_entries = entries;
  conv.data_banks = std::min(banks_for(entries * 128), 15U);
  conv.weight_banks = banks_for_weights(conv, conv.data_banks);
  cost::SdpGeometry& sdp = layer.sdp;
  sdp.width = conv.out_width;
  sdp.height = conv.out_height;
  sdp.channels = conv.kernels;
  sdp.element_bytes = sdp.in_bytes = sdp.out_bytes = element_bytes;
  const std::string add = words.contains("add") ? words.at("add") : "";
  if (add == "x2") {
    sdp.x2 = true;
    sdp.operands[1] = {.read = true, .two_bytes = element_bytes == 2, .per_element = true};
  } else if (add == "y") {
    sdp.y = true;
    sdp.operands[2] = {.read = true, .two_bytes = element_bytes == 2, .per_element = true};
  }
  return layer;
}

cost::PdpGeometry pooling_of(const Cells& words, unsigned width, unsigned height,
                             unsigned channels) {
  cost::PdpGeometry pdp;
  const unsigned kernel = number(words, "r"), stride = number(words, "s"), pad = number(words, "p");
  pdp.width = width;
  pdp.height = height;
  pdp.channels = channels;
  pdp.kernel_width = pdp.kernel_height = kernel;
  pdp.stride_width = pdp.stride_height = stride;
  pdp.left = pdp.top = pad;
  // Windows that begin in the input; the right border is as wide as they need.
  pdp.out_width = (width + 2 * pad - kernel) / stride + 1;
  pdp.out_height = (height + 2 * pad - kernel) / stride + 1;
  return pdp;
}

MeasuredLayer other_of(const Cells& words, const std::string& kind) {
  MeasuredLayer layer;
  const unsigned channels = number(words, "c"), height = number(words, "h");
  const unsigned width = number(words, "w", static_cast<int>(height));
  if (kind == "sdp") {
    layer.kind = MeasuredLayer::Kind::kSdp;
    cost::SdpGeometry& sdp = layer.sdp;
    sdp.width = width;
    sdp.height = height;
    sdp.channels = channels;
    sdp.reads_cube = true;
    const std::string add = words.contains("add") ? words.at("add") : "";
    sdp.x2 = add == "x2";
    sdp.y = add == "y";
    sdp.operands[1] = {.read = sdp.x2, .per_element = true};
    sdp.operands[2] = {.read = sdp.y, .per_element = true};
  } else if (kind == "pdp") {
    layer.kind = MeasuredLayer::Kind::kPdp;
    layer.pdp = pooling_of(words, width, height, channels);
    layer.pdp.reads_cube = true;
  } else if (kind == "cdp") {
    layer.kind = MeasuredLayer::Kind::kCdp;
    layer.cdp = {.width = width, .height = height, .channels = channels};
  } else {
    layer.kind = MeasuredLayer::Kind::kRubik;
    cost::RubikGeometry& rubik = layer.rubik;
    rubik.mode = kind == "split"   ? cost::RubikMode::kSplit
                 : kind == "merge" ? cost::RubikMode::kMerge
                                   : cost::RubikMode::kContract;
    rubik.width = width;
    rubik.height = height;
    rubik.out_channels = channels;
    if (kind == "contract") {
      rubik.stride_width = rubik.stride_height = number(words, "s");
      rubik.out_channels = channels / (rubik.stride_width * rubik.stride_height);
    }
  }
  return layer;
}

// "conv,c=64,h=14,k=64,r=3>pdp,r=3,s=2,p=1": layers on one another's results behind '>', others
// behind '+'.
void add_layers(const Cells& cells, MeasuredRow& row) {
  const unsigned element_bytes =
      cells.at("precision") == "int16" || cells.at("precision") == "fp16" ? 2 : 1;
  std::string job = cells.at("job");
  unsigned channels = 0, height = 0;
  while (!job.empty()) {
    const std::size_t end = std::min(job.find_first_of("+>"), job.size());
    const Cells words = parameters_of(job.substr(0, end));
    const std::string rest = job.substr(std::min(end + 1, job.size()));
    const std::string kind = job.substr(0, job.find(','));
    if (kind == "pdp" && !row.layers.empty()) {
      MeasuredLayer& before = row.layers.back();
      before.pooled = true;
      before.sdp.writes_cube = false;
      before.pdp = pooling_of(words, before.sdp.width, before.sdp.height, before.sdp.channels);
    } else if (kind == "conv" || kind == "img") {
      Cells full = words;
      if (!full.contains("c") && kind == "conv") full["c"] = std::to_string(channels);
      if (!full.contains("h")) full["h"] = std::to_string(height);
      const std::string mode = kind == "img"                                          ? "image"
                               : words.contains("mode") && words.at("mode") == "wino" ? "wino"
                                                                                      : "direct";
      row.layers.push_back(conv_of(full, mode, element_bytes));
      channels = row.layers.back().conv.kernels;
      height = row.layers.back().conv.out_height;
      row.follows |= row.layers.size() > 1 && cells.at("job").find('>') != std::string::npos;
    } else {
      row.layers.push_back(other_of(words, kind));
    }
    job = rest;
  }
}

}  // namespace

std::vector<Cells> read_table(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) throw std::runtime_error(path.string() + ": is empty");
  const std::vector<std::string> heads = cells_of(line);
  std::vector<Cells> rows;
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != heads.size())
      throw std::runtime_error(path.string() + ":" + std::to_string(number) + ": " +
                               std::to_string(cells.size()) + " cells, expected " +
                               std::to_string(heads.size()));
    Cells& row = rows.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) row[heads[i]] = cells[i];
  }
  return rows;
}

MeasuredLayer direct_layer(const cost::Machine& machine, unsigned width, unsigned lines,
                           unsigned channels, unsigned kernels, unsigned kernel,
                           unsigned out_lines) {
  MeasuredLayer layer;
  cost::ConvGeometry& conv = layer.conv;
  conv.width = conv.out_width = width;
  conv.height = lines;
  conv.out_height = out_lines;
  conv.channels = conv.weight_channels = conv.winograd_channels = channels;
  conv.kernels = kernels;
  conv.kernel_width = conv.kernel_height = kernel;
  conv.grain = std::min<unsigned>(lines, static_cast<unsigned>(ceil_div(8, width)));
  conv.weight_bytes = std::uint64_t{kernels} * kernel * kernel * channels;
  const std::uint64_t in_entry = machine.cbuf_entry_bytes / machine.atom;
  const std::uint64_t surfaces = ceil_div(channels, machine.atom);
  conv.data_entries = lines * ceil_div(width * surfaces, in_entry);
  layer.sdp.width = width;
  layer.sdp.height = out_lines;
  layer.sdp.channels = kernels;
  return layer;
}

std::vector<MeasuredRow> read_traces(const std::filesystem::path& path) {
  std::vector<MeasuredRow> rows;
  for (Cells cells : read_table(path)) {
    MeasuredRow& row = rows.emplace_back();
    cells.merge(parameters_of(cells.at("params")));
    row.configuration = cells.at("config");
    row.name = cells.at("trace");
    row.memory = {.latency = number(cells, "lat"),
                  .outstanding = number(cells, "os"),
                  .request_gap = number(cells, "argap"),
                  .beat_gap = number(cells, "rgap")};
    row.narrow = row.memory.beat_gap > 1;
    row.cycles = number(cells, "op_cycles");
    MeasuredLayer& layer = row.layers.emplace_back();
    const std::string& units = cells.at("units");
    const unsigned bytes = row.configuration == "nv_full" ? 2 : 1;
    if (units.find("PDP") != units.npos) {
      layer.pdp = traced_pdp(cells, bytes);
      layer.kind = MeasuredLayer::Kind::kPdp;
      layer.pooled = units != "PDP";
      row.group = "pdp";
    }
    if (units.starts_with("CONV")) {
      layer.kind = MeasuredLayer::Kind::kConv;
      layer.conv = traced_conv(cells);
      row.group = "convolution";
    } else if (units.starts_with("SDP")) {
      layer.kind = MeasuredLayer::Kind::kSdp;
      row.group = "sdp";
    } else if (units == "CDP") {
      layer.kind = MeasuredLayer::Kind::kCdp;
      layer.cdp = {.width = number(cells, "cW"),
                   .height = number(cells, "cH"),
                   .channels = number(cells, "cC")};
      row.group = "cdp";
    }
    if (units.find("SDP") != units.npos) layer.sdp = traced_sdp(cells);
  }
  return rows;
}

std::vector<MeasuredRow> read_jobs(const std::filesystem::path& path) {
  std::vector<MeasuredRow> rows;
  for (const Cells& cells : read_table(path)) {
    MeasuredRow& row = rows.emplace_back();
    row.configuration = "nv_full";
    row.name = cells.at("job");
    // One beat in two passes each way where beats are held back in half of the cycles.
    row.memory = {
        .latency = number(cells, "latency"),
        .write_latency = number(cells, "write_latency"),
        .beat_gap = number(cells, "hold") != 0 ? 2 : number(cells, "read_cycles_per_beat")};
    row.narrow = row.memory.beat_gap > 1;
    row.ahead = number(cells, "enabled_ahead") != 0;
    row.cycles = number(cells, "simulated");
    add_layers(cells, row);
    const std::string& mode = cells.at("mode");
    row.group = row.layers.size() > 1 ? "job"
                : mode == "wino"      ? "winograd"
                : mode == "image"     ? "image"
                : mode == "direct"    ? "convolution"
                                      : cells.at("kind");
  }
  return rows;
}

cost::Machine machine_of(const MeasuredRow& row) {
  const nvdla_hw* const found = nvdla_hw_find(row.configuration.c_str());
  if (found == nullptr) throw std::runtime_error("no configuration " + row.configuration);
  nvdla_hw hw = *found;
  hw.revision = row.revision;
  return model::machine_of(hw);
}

std::uint64_t predict(const MeasuredRow& row) {
  const cost::Machine machine = machine_of(row);
  if (row.layers.size() == 1) return cost::layer_cycles(machine, row.memory, row.layers[0]).total;
  std::vector<cost::SequenceLayer> layers;
  for (const MeasuredLayer& layer : row.layers) {
    cost::SequenceLayer& next = layers.emplace_back();
    next.layer = layer;
    if (row.follows && layers.size() > 1)
      next.waits.push_back(static_cast<std::uint32_t>(layers.size()) - 2);
  }
  return cost::sequence_cycles(machine, row.memory, layers, {.ahead = row.ahead}).total;
}

}  // namespace nvdla::test
