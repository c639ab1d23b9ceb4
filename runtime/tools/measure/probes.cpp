// SPDX-License-Identifier: MIT
#include "tools/measure/probes.hpp"

#include <algorithm>
#include <utility>

#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/lowlevel/weights.hpp"

namespace nvdla::program {
namespace {

// Copies of a chain, each of which is enabled while the one before runs.
constexpr std::uint32_t kChain = 8;
// Positions of a line of a copy.
constexpr std::uint32_t kWidth = 64;
// No more lines than a cube may have.
constexpr std::uint32_t kMostLines = 8192;

// Returns a copy of so many lines.
nvdla_layer copy(const DeviceInfo& info, std::uint32_t lines) {
  const TensorDesc cube = packed_tensor(info, {info.atom, lines, kWidth});
  nvdla_sdp sdp = make_sdp();
  sdp.width = kWidth;
  sdp.height = lines;
  sdp.channels = info.atom;
  sdp.input = tensor_surface(cube, 0);
  sdp.output = tensor_surface(cube, 1);
  return make_layer(sdp);
}

Probe copies(const DeviceInfo& info, Memory memory, std::string name, std::uint32_t count,
             std::uint32_t lines) {
  Probe probe{.name = std::move(name), .layers = {count, copy(info, lines)}, .slots = {}};
  const std::uint64_t bytes = tensor_bytes(packed_tensor(info, {info.atom, lines, kWidth}));
  for (const std::uint32_t access : {NVDLA_SLOT_READ, NVDLA_SLOT_WRITE})
    probe.slots.push_back(make_slot(info, bytes, access, memory));
  return probe;
}

// Kernels of one position, so many that their bytes fill two thirds of the convolution buffer.
Probe weights(const DeviceInfo& info, Memory memory) {
  const std::uint64_t buffer =
      std::uint64_t{info.cbuf_banks} * info.cbuf_entries * info.cbuf_entry_bytes;
  const std::uint32_t channels = 8 * info.atomic_c;
  const auto kernels = static_cast<std::uint32_t>(
      std::max<std::uint64_t>(buffer * 2 / 3 / channels / info.atomic_k, 1) * info.atomic_k);
  const TensorDesc input = packed_tensor(info, {channels, 1, 1});
  const TensorDesc output = packed_tensor(info, {kernels, 1, 1});
  const WeightsDesc stream{.kernels = kernels, .channels = channels};
  nvdla_conv conv = make_conv(input, stream);
  conv.input = tensor_surface(input, 0);
  conv.weights = {.offset = 0, .slot = 1, .bytes = 0};
  choose_banks(info, conv);
  nvdla_sdp sdp = make_sdp();
  sdp.output = tensor_surface(output, 2);
  Probe probe{.name = "weights", .layers = {make_layer(conv, sdp)}, .slots = {}};
  const std::pair<std::uint64_t, std::uint32_t> slots[] = {
      {tensor_bytes(input), NVDLA_SLOT_READ},
      {weights_bytes(stream), NVDLA_SLOT_READ},
      {tensor_bytes(output), NVDLA_SLOT_WRITE}};
  for (const auto& [bytes, access] : slots)
    probe.slots.push_back(make_slot(info, bytes, access, memory));
  return probe;
}

}  // namespace

std::vector<Probe> memory_probes(const DeviceInfo& info, const cost::Machine& machine,
                                 Memory memory, std::uint64_t cycles) {
  // Nothing but an atom of the interface, or of SDP without an operator, sets the pace.
  const std::uint64_t elements = std::max(machine.sdp_x_throughput, machine.sdp_throughput);
  const std::uint64_t line = kWidth * std::max(info.atom / elements, std::uint64_t{1});
  const auto lines =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(cycles / line, 1, kMostLines / kChain));
  return {copies(info, memory, "copy", 1, lines),
          copies(info, memory, "long copy", 1, kChain * lines),
          copies(info, memory, "copies", kChain, lines), weights(info, memory)};
}

}  // namespace nvdla::program
