// SPDX-License-Identifier: MIT
#include "measured_cycles.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "cost/unit_cycles.hpp"
#include "model/cdp/cdp_layer.hpp"
#include "model/predict.hpp"

namespace nvdla::test {
namespace {

using model::CdpLayer;
using model::ConvLayer;
using model::PdpLayer;
using model::Precision;
using model::Ram;
using model::SdpLayer;

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> words;
  // Lines may end as some systems end them.
  std::istringstream stream(line.substr(0, line.find('\r')));
  for (std::string word; std::getline(stream, word, separator);) words.push_back(word);
  return words;
}

unsigned number(const MeasuredLayer& layer, const std::string& name) {
  const auto found = layer.numbers.find(name);
  if (found == layer.numbers.end())
    throw std::runtime_error(layer.trace + ": the table has no " + name);
  return static_cast<unsigned>(found->second);
}

// "bankD=7" and "bs=0x17" are numbers; "pad=l1/r1/t0/b3" and "pflying=mem" are read elsewhere.
void take_parameter(MeasuredLayer& layer, const std::string& name, const std::string& value) {
  if (name == "pflying") layer.numbers[name] = value == "fly";
  if (value.find_first_not_of("0123456789abcdefx") != value.npos) return;
  if (value.find_first_of("0123456789") != 0) return;
  layer.numbers[name] = std::stoull(value, nullptr, 0);
}

ConvLayer conv_layer(const MeasuredLayer& row) {
  ConvLayer layer;
  layer.in = layer.proc = static_cast<Precision>(number(row, "prec"));
  layer.width = layer.csc_width = number(row, "W");
  layer.height = layer.csc_height = number(row, "H");
  layer.channels = layer.csc_channels = layer.weight_channels = number(row, "C");
  layer.kernel_width = number(row, "S");
  layer.kernel_height = number(row, "R");
  layer.kernels = number(row, "K");
  layer.out_width = number(row, "OW");
  layer.out_height = number(row, "OH");
  layer.data_banks = number(row, "bankD");
  layer.weight_banks = number(row, "bankW");
  layer.weight_bytes = number(row, "wbytes");
  layer.batches = number(row, "batch");
  layer.data.ram = layer.weight_ram = static_cast<Ram>(number(row, "datram"));
  return layer;
}

// D_*_CFG and D_*RDMA_CFG: bit 0 switches off, bits 1 and 2 choose, bit 3 is two bytes, bit 4 one
// operand for each element.
model::OperandDma operand(unsigned config) {
  return {.disabled = (config & 1) != 0,
          .use = config >> 1 & 3,
          .two_bytes = (config >> 3 & 1) != 0,
          .per_element = (config >> 4 & 1) != 0,
          .memory = {.ram = Ram::kPrimary}};
}

SdpLayer sdp_layer(const MeasuredLayer& row) {
  SdpLayer layer;
  layer.width = number(row, "sW");
  layer.height = number(row, "sH");
  layer.channels = number(row, "sC");
  layer.flying = number(row, "flying") != 0;
  layer.to_pdp = number(row, "todst_pdp") != 0;
  layer.proc = static_cast<Precision>(number(row, "sprec") & 3);
  layer.out = static_cast<Precision>(number(row, "sprec") >> 2 & 3);
  layer.x[0].active = (number(row, "bs") & 1) == 0;
  layer.x[1].active = (number(row, "bn") & 1) == 0;
  layer.y.active = (number(row, "ew") & 1) == 0;
  if (layer.flying) return layer;
  layer.has_rdma = true;
  layer.rdma.in = layer.rdma.proc = layer.proc;
  layer.rdma.source.ram = Ram::kPrimary;
  layer.rdma.operands[0] = operand(number(row, "brdma"));
  layer.rdma.operands[1] = operand(number(row, "nrdma"));
  layer.rdma.operands[2] = operand(number(row, "erdma"));
  return layer;
}

PdpLayer pdp_layer(const MeasuredLayer& row) {
  PdpLayer layer;
  layer.width = layer.rdma.width = number(row, "pW");
  layer.height = layer.rdma.height = number(row, "pH");
  layer.channels = layer.out_channels = layer.rdma.channels = number(row, "pC");
  layer.out_width = number(row, "poW");
  layer.out_height = number(row, "poH");
  layer.kernel_width = number(row, "kw");
  layer.kernel_height = number(row, "kh");
  layer.stride_width = number(row, "sx");
  layer.stride_height = number(row, "sy");
  layer.bands = number(row, "split");
  layer.precision = row.configuration == "nv_full" ? Precision::kInt16 : Precision::kInt8;
  // PDP.D_POOLING_PADDING_CFG
  const unsigned padding = number(row, "ppad");
  layer.left = padding & 7;
  layer.top = padding >> 4 & 7;
  layer.right = padding >> 8 & 7;
  layer.bottom = padding >> 12 & 7;
  layer.from_memory = layer.has_rdma = number(row, "pflying") == 0;
  layer.rdma.source.ram = Ram::kPrimary;
  return layer;
}

CdpLayer cdp_layer(const MeasuredLayer& row) {
  CdpLayer layer;
  layer.has_rdma = true;
  layer.rdma.width = number(row, "cW");
  layer.rdma.height = number(row, "cH");
  layer.rdma.channels = number(row, "cC");
  layer.rdma.source.ram = Ram::kPrimary;
  return layer;
}

}  // namespace

std::vector<MeasuredLayer> read_measured(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) throw std::runtime_error(path.string() + ": is empty");
  const std::vector<std::string> heads = split(line, ',');
  std::vector<MeasuredLayer> layers;
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    const std::vector<std::string> cells = split(line, ',');
    if (cells.size() != heads.size())
      throw std::runtime_error(path.string() + ":" + std::to_string(number) + ": " +
                               std::to_string(cells.size()) + " cells, expected " +
                               std::to_string(heads.size()));
    MeasuredLayer& layer = layers.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) take_parameter(layer, heads[i], cells[i]);
    layer.configuration = cells[0];
    layer.trace = cells[1];
    layer.units = cells[2];
    layer.memory = {.latency = test::number(layer, "lat"),
                    .outstanding = test::number(layer, "os"),
                    .request_gap = test::number(layer, "argap"),
                    .beat_gap = test::number(layer, "rgap")};
    layer.cycles = test::number(layer, "op_cycles");
    for (const std::string& parameter : split(cells.back(), ' ')) {
      const std::size_t equals = parameter.find('=');
      if (equals != parameter.npos)
        take_parameter(layer, parameter.substr(0, equals), parameter.substr(equals + 1));
    }
  }
  return layers;
}

cost::LayerCycles predict(const MeasuredLayer& layer) {
  const nvdla_hw* const hw = nvdla_hw_find(layer.configuration.c_str());
  if (hw == nullptr) throw std::runtime_error("no configuration " + layer.configuration);
  const cost::Machine machine = model::machine_of(*hw);
  const bool pooled = layer.units.find("PDP") != layer.units.npos;
  const bool shaped = layer.numbers.contains("sW");
  const PdpLayer pdp = pooled ? pdp_layer(layer) : PdpLayer{};
  const PdpLayer* const behind = pooled ? &pdp : nullptr;
  if (layer.numbers.contains("S") && layer.units.starts_with("CONV")) {
    const ConvLayer conv = conv_layer(layer);
    return model::predict_conv(machine, layer.memory, conv, true, true, sdp_layer(layer), behind);
  }
  if (shaped) return model::predict_sdp(machine, layer.memory, sdp_layer(layer), behind);
  if (pooled) return cost::pdp_cycles(machine, layer.memory, geometry(pdp));
  return cost::cdp_cycles(machine, layer.memory, geometry(cdp_layer(layer)));
}

}  // namespace nvdla::test
