// SPDX-License-Identifier: MIT
//
// From a network to a loadable. The network is built for the configuration as for running; layers
// become operations (save_parts.hpp), with derived numbers as the compiler makes them.
#include <fmt/format.h>

#include <array>
#include <deque>
#include <fstream>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/info.hpp"
#include "backend/name/device_name.hpp"
#include "device/compiled_impl.hpp"
#include "loadable/format/packed.hpp"
#include "loadable/format/task.hpp"
#include "loadable/write/save_file.hpp"
#include "loadable/write/save_parts.hpp"
#include "nvdla/loadable.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

using namespace loadable;

// A program as a task of the interface.
class ProgramSaver {
 public:
  ProgramSaver(const detail::ProgramPart& part, const nvdla_hw& hw, SavedFile& file)
      : program_(part), parts_(part, hw), file_(file) {}

  void save() {
    for (std::uint32_t i = 0; i < program_.layers.size(); ++i) add_layer(i);
    if (file_.revision() == Revision::kOld) place_cubes();
    count_events();
    write_lists();
  }

 private:
  Operation& add(std::uint8_t type) {
    Operation& op = operations_.emplace_back();
    op.common.op_type = type;
    op.common.index = static_cast<std::int16_t>(operations_.size() - 1);
    if (network_.op_head[type] == -1) network_.op_head[type] = op.common.index;
    return op;
  }

  void add_layer(std::uint32_t index) {
    std::vector<std::int16_t> fused;
    const auto add_part = [&](std::uint8_t type, auto part) {
      Operation& op = add(type);
      op.part = std::move(part);
      fused.push_back(op.common.index);
    };
    const std::uint32_t kind = program_.layers[index].kind;
    switch (kind) {
      case NVDLA_LAYER_CONV_SDP:
        add_part(kConv, parts_.conv(index));
        add_part(kSdp, parts_.sdp(index));
        break;
      case NVDLA_LAYER_CONV_SDP_PDP:
        add_part(kConv, parts_.conv(index));
        add_part(kSdp, parts_.sdp(index));
        add_part(kPdp, parts_.pdp(index));
        break;
      case NVDLA_LAYER_SDP:
        add_part(kSdp, parts_.sdp(index));
        break;
      case NVDLA_LAYER_SDP_PDP:
        add_part(kSdp, parts_.sdp(index));
        add_part(kPdp, parts_.pdp(index));
        break;
      case NVDLA_LAYER_PDP:
        add_part(kPdp, parts_.pdp(index));
        break;
      case NVDLA_LAYER_CDP:
        add_part(kCdp, parts_.cdp(index));
        break;
      case NVDLA_LAYER_RUBIK:
        add_part(kRubik, parts_.rubik(index));
        break;
      case NVDLA_LAYER_BDMA:
        add_part(kBdma, copies(program_.layers[index].bdma));
        break;
      default:
        parts_.lacks(index, fmt::format("the writer has no {}", layer_kind_name(kind)));
    }
    link(index, fused);
  }

  // Transfers name positions of the address list and no offset: each gets positions of its own.
  BdmaPart copies(const nvdla_bdma& bdma) {
    BdmaPart part;
    part.op.num_transfers = part.surface.num_transfers =
        static_cast<std::uint16_t>(bdma.num_transfers);
    for (std::uint32_t i = 0; i < bdma.num_transfers; ++i) {
      const nvdla_transfer& from = program_.transfers[bdma.first_transfer + i];
      part.surface.source_type = parts_.memory(from.source.slot);
      part.surface.destination_type = parts_.memory(from.destination.slot);
      const nvdla_surface &source = from.source, &destination = from.destination;
      part.surface.transfers[i] = {
          .source_address = position(source.slot, source.offset),
          .destination_address = position(destination.slot, destination.offset),
          .line_size = from.line_bytes,
          .line_repeat = from.lines,
          .source_line = from.source.line_stride,
          .destination_line = from.destination.line_stride,
          .surface_repeat = from.surfaces,
          .source_surface = from.source.surface_stride,
          .destination_surface = from.destination.surface_stride};
    }
    return part;
  }

  // Behind the slots and the lists.
  std::int16_t position(std::uint32_t slot, std::uint64_t offset) {
    const auto [known, added] = positions_.try_emplace({slot, offset}, places_.size());
    if (added) {
      places_.emplace_back(slot, offset);
    }
    return static_cast<std::int16_t>(program_.slots.size() + lists() + 1 + known->second);
  }

  // Finds the data cubes of a descriptor.
  struct CubePlacer {
    ProgramSaver& saver;

    template <typename T>
    void operator()(std::string_view, T& value) {
      if constexpr (std::is_same_v<T, DataCube>) {
        saver.place(value);
      } else if constexpr (!std::is_arithmetic_v<T>) {
        value.walk(*this);
      }
    }
    template <typename T, std::size_t N>
    void operator()(std::string_view, std::array<T, N>& values) {
      for (T& value : values) (*this)("", value);
    }
  };

  // An old data cube says a position and no offset either.
  void place_cubes() {
    CubePlacer placer{*this};
    for (Operation& op : operations_) {
      std::visit([&](auto& part) { placer("", part.surface); }, op.part);
    }
  }

  void place(DataCube& cube) {
    if (cube.offset == 0) return;
    cube.address = position(address_slot(cube.address), cube.offset);
    cube.offset = 0;
  }

  // Besides the network descriptor.
  std::size_t lists() const { return program_.luts.empty() ? 3 : 4; }

  // Each operation tells the next of its type, however far that is, and the last one of a layer
  // tells the first ones of the layers that wait for it.
  void link(std::uint32_t index, const std::vector<std::int16_t>& fused) {
    for (std::size_t i = 0; i < fused.size(); ++i) {
      const std::uint8_t type = operation(fused[i]).common.op_type;
      if (last_[type] != -1) tell(last_[type], fused[i], kProgrammed);
      last_[type] = fused[i];
      if (i == 0) continue;
      tell(fused[i - 1], fused[i], kProgrammed);
      operation(fused[i]).common.fused_parent = {fused[i - 1], kEnabled, 0};
    }
    const nvdla_layer& layer = program_.layers[index];
    for (std::uint32_t w = 0; w < layer.num_waits; ++w) wait(fused[0], ends_[layer.waits[w]]);
    ends_.push_back(fused.back());
  }

  // Lets the operation `to` start when `from` has ended. An operation tells one other of each type.
  // That is enough: those of a type start in their order, so that who comes later has waited, too.
  void wait(std::int16_t to, std::int16_t from) {
    const std::uint8_t type = operation(to).common.op_type;
    Consumer& next = operation(from).common.consumers[type];
    if (next.index == -1) {
      tell(from, to, kCompleted);
    } else if (operation(from).common.op_type == type) {
      next.event = kCompleted;
    }
  }

  Operation& operation(std::int16_t index) { return operations_[static_cast<std::size_t>(index)]; }

  void tell(std::int16_t from, std::int16_t to, std::uint8_t event) {
    operation(from).common.consumers[operation(to).common.op_type] = {to, event, 0};
  }

  void count_events() {
    const auto count = [&](const Consumer& c) {
      if (c.index != -1) ++operation(c.index).common.dependency_count;
    };
    for (const Operation& op : operations_) {
      for (const Consumer& c : op.common.consumers) count(c);
      count(op.common.fused_parent);
    }
  }

  /* --------------------------------------------------------- lists --- */

  void write_lists() {
    const std::size_t slots = program_.slots.size();
    const auto first = static_cast<std::int16_t>(slots + 1);
    network_.dependency_graph_index = first;
    network_.operation_desc_index = static_cast<std::int16_t>(first + 1);
    network_.surface_desc_index = static_cast<std::int16_t>(first + 2);
    network_.num_operations = static_cast<std::uint16_t>(operations_.size());
    network_.num_luts = static_cast<std::uint16_t>(program_.luts.size());
    if (!program_.luts.empty()) network_.lut_data_index = static_cast<std::int16_t>(first + 3);
    const std::size_t most = slots + lists() + 1 + places_.size();
    if (most > kMaxAddresses) {
      const std::vector<std::string>& names = *program_.layer_names;
      const auto text = [&](std::size_t i) {
        return detail::layer_text(program_.first_layer + i, names[i]);
      };
      detail::throw_error(ErrorCode::kNotAvailable,
                          "{} to {} need {} addresses; a task of a loadable has {} at most",
                          text(0), text(names.size() - 1), most, kMaxAddresses);
    }
    network_.num_addresses = static_cast<std::uint16_t>(most);
    file_.begin_task(kInterfaceDla, pack_descriptor(network_));
    for (const std::uint32_t slot : program_.bound) {
      if (slot == detail::ProgramPart::kOwn) {
        file_.add_control(program_.control);
      } else {
        file_.add_slot(slot);
      }
    }
    std::vector<std::byte> graph, ops, surfaces, luts;
    const auto append = [](std::vector<std::byte>& list, std::vector<std::byte> entry,
                           std::size_t stride) {
      entry.resize(stride);
      list.insert(list.end(), entry.begin(), entry.end());
    };
    for (const Operation& op : operations_) {
      append(graph, pack_descriptor(op.common), kDependencyStride);
      std::visit(
          [&](const auto& part) {
            append(ops, pack_descriptor(part.op), kOpStride);
            append(surfaces, pack_descriptor(part.surface, file_.revision()), kSurfaceStride);
          },
          op.part);
    }
    file_.add_list("dep_graph", std::move(graph));
    file_.add_list("op_list", std::move(ops));
    file_.add_list("surf_list", std::move(surfaces));
    for (const nvdla_lut& lut : program_.luts) {
      append(luts, pack_descriptor(make_lut(lut)), kLutStride);
    }
    if (!luts.empty()) file_.add_list("lut_list", std::move(luts));
    for (const auto& [slot, offset] : places_)
      file_.add_place(static_cast<std::size_t>(slot_address(slot)), offset);
  }

  const detail::ProgramPart& program_;
  const PartMaker parts_;
  SavedFile& file_;
  NetworkDesc network_;
  std::deque<Operation> operations_;
  // Within slots, that transfers and old data cubes name; and which of them are known.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> places_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> positions_;
  std::array<std::int16_t, kOpTypes> last_ = {-1, -1, -1, -1, -1, -1};  // of each type
  std::vector<std::int16_t> ends_ = {};  // the last operation of each layer
};

// Returns the passes that a budget has cut short.
std::string passes_cut_short(const CompiledNetwork& net) {
  std::string names;
  for (const PassReport& pass : net.passes())
    if (pass.cut_short) names += (names.empty() ? "" : " ") + pass.name;
  return names;
}

}  // namespace

std::vector<std::byte> make_loadable(const Network& network, std::string_view configuration,
                                     LoadableInterface interface) {
  return make_loadable(network, configuration, LoadableOptions{.interface = interface});
}

std::vector<std::byte> make_loadable(const Network& network, std::string_view configuration,
                                     const LoadableOptions& options) {
  const LoadableInterface interface = options.interface;
  if (interface != LoadableInterface::kDla0_11 && interface != LoadableInterface::kDla0_12) {
    detail::throw_invalid_argument("interface {} is none of DLA 0.11 (0), DLA 0.12 (1)",
                                   static_cast<int>(interface));
  }
  // Whoever reads the file packs its inputs, and knows of no folding.
  const bool mended = !options.weight_gating && configuration_info(configuration).has_weight_gating;
  const Device device = Device::open(
      fmt::format("model:{}{}{}", configuration, mended ? ",gating=off" : "",
                  options.revision == 0 ? "" : fmt::format(",revision={}", options.revision)));
  const CompiledNetwork net = network.compile(device, {.fold_inputs = false,
                                                       .sram_bytes = options.sram_bytes,
                                                       .disabled_passes = options.disabled_passes,
                                                       .memory = options.memory,
                                                       .allow_rounding = options.allow_rounding,
                                                       .choices = options.choices,
                                                       .optimise = options.optimise,
                                                       .memory_limit = options.memory_limit,
                                                       .search_budget = options.search_budget});
  if (options.passes != nullptr) *options.passes = net.passes();
  const nvdla_hw& hw = *detail::find_configuration(device.info());
  const CompiledNetwork::Impl& compiled = *detail::Handles::impl(net);
  SavedFile file(compiled,
                 interface == LoadableInterface::kDla0_11 ? Revision::kOld : Revision::kNew);
  for (const detail::ChainPart& part : compiled.parts) {
    if (const auto* program = std::get_if<detail::ProgramPart>(&part)) {
      ProgramSaver(*program, hw, file).save();
    } else {
      save_cpu_task(compiled, std::get<detail::CpuPart>(part), file);
    }
  }
  file.add_note(options.note);
  const std::string made_for = detail::model_name(hw, options.memory, options.sram_bytes);
  if (made_for != detail::model_name(*detail::find_configuration(configuration)))
    file.add_device(made_for);
  file.add_cut_short(passes_cut_short(net));
  file.add_model_sizes(options.model_sizes);
  return file.write();
}

void save_loadable(const Network& network, std::string_view configuration, std::string_view path,
                   LoadableInterface interface) {
  const std::vector<std::byte> bytes = make_loadable(network, configuration, interface);
  std::ofstream file(std::string(path), std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.flush();
  if (!file) detail::throw_invalid_argument("cannot write '{}'", path);
}

}  // namespace nvdla
