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
#include "base/check.hpp"
#include "base/handles.hpp"
#include "device/compiled_impl.hpp"
#include "loadable/packed.hpp"
#include "loadable/quantization.hpp"
#include "loadable/save_parts.hpp"
#include "loadable/task.hpp"
#include "loadable/writer.hpp"
#include "nvdla/loadable.hpp"

namespace nvdla {
namespace {

using namespace loadable;

class Saver {
 public:
  Saver(const CompiledNetwork::Impl& net, const nvdla_hw& hw, LoadableInterface interface)
      : net_(net),
        parts_(net, hw),
        revision_(interface == LoadableInterface::kDla0_11 ? Revision::kOld : Revision::kNew) {}

  std::vector<std::byte> run() {
    for (std::uint32_t i = 0; i < net_.descriptors.size(); ++i) add_layer(i);
    if (revision_ == Revision::kOld) place_cubes();
    count_events();
    write_lists();
    return write_container(c_);
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
    const std::uint32_t kind = net_.descriptors[index].kind;
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
        add_part(kBdma, copies(net_.descriptors[index].bdma));
        break;
      default:
        parts_.lacks(index, fmt::format("the writer has no {}", layer_kind_name(kind)));
    }
    link(fused);
  }

  // Transfers name positions of the address list and no offset: each gets positions of its own.
  BdmaPart copies(const nvdla_bdma& bdma) {
    BdmaPart part;
    part.op.num_transfers = part.surface.num_transfers =
        static_cast<std::uint16_t>(bdma.num_transfers);
    for (std::uint32_t i = 0; i < bdma.num_transfers; ++i) {
      const nvdla_transfer& from = net_.transfers[bdma.first_transfer + i];
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
      places_.push_back(
          {static_cast<std::uint16_t>(slot_address(slot)), offset, net_.slots[slot].size - offset});
    }
    return static_cast<std::int16_t>(net_.slots.size() + lists() + 1 + known->second);
  }

  // Finds the data cubes of a descriptor.
  struct CubePlacer {
    Saver& saver;

    template <typename T>
    void operator()(const char*, T& value) {
      if constexpr (std::is_same_v<T, DataCube>) {
        saver.place(value);
      } else if constexpr (!std::is_arithmetic_v<T>) {
        value.walk(*this);
      }
    }
    template <typename T, std::size_t N>
    void operator()(const char*, std::array<T, N>& values) {
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
  std::size_t lists() const { return net_.luts.empty() ? 3 : 4; }

  // One layer after another: the first operation of each starts when the last one of the layer
  // before has ended. Besides, each tells the next of its type, however far that is.
  void link(const std::vector<std::int16_t>& fused) {
    for (std::size_t i = 0; i < fused.size(); ++i) {
      const std::uint8_t type = operation(fused[i]).common.op_type;
      if (last_[type] != -1) tell(last_[type], fused[i], kProgrammed);
      last_[type] = fused[i];
      if (i == 0) continue;
      tell(fused[i - 1], fused[i], kProgrammed);
      operation(fused[i]).common.fused_parent = {fused[i - 1], kEnabled, 0};
    }
    if (end_ != -1) tell(end_, fused[0], kCompleted);
    end_ = fused.back();
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

  void add_memory(MemoryEntry memory, const std::string& name, std::vector<std::byte> bytes) {
    if (!bytes.empty()) {
      kept_.push_back(std::move(bytes));
      Blob blob;
      blob.name = name;
      blob.interface = kInterfaceDla;
      if (revision_ == Revision::kOld) {
        blob.version = {0, 11, 0};
      } else {
        blob.version = {0, 12, 3};
      }
      blob.data = kept_.back();
      memory.flags |= kMemorySet;
      memory.contents.push_back({static_cast<std::uint32_t>(c_.blobs.size()), 0});
      c_.blobs.push_back(blob);
    }
    memory.flags |= kMemoryAlloc;
    memory.alignment = 4096;
    c_.addresses.push_back({static_cast<std::uint16_t>(c_.memories.size()), 0, memory.size});
    c_.memories.push_back(std::move(memory));
  }

  void add_list(const char* name, std::vector<std::byte> bytes) {
    MemoryEntry memory;
    memory.size = bytes.size();
    add_memory(memory, fmt::format("task-0-{}", name), std::move(bytes));
  }

  void add_port(const CompiledNetwork::Impl::Port& port, std::size_t bind, std::uint16_t flag,
                MemoryEntry& memory) {
    if ((memory.flags & (kMemoryInput | kMemoryOutput)) != 0) {
      detail::refuse_argument("'{}' is bound twice; a loadable binds a tensor once", port.name);
    }
    memory.flags |= flag;
    memory.bind_id = static_cast<std::uint16_t>(bind);
    memory.tensor = static_cast<std::uint16_t>(c_.tensors.size());
    TensorEntry tensor = make_tensor(net_, port);
    tensor.id = memory.tensor;
    c_.tensors.push_back(std::move(tensor));
  }

  void write_lists() {
    c_.version = {0, 7, 0};
    const std::size_t slots = net_.slots.size();
    const auto first = static_cast<std::int16_t>(slots + 1);
    network_.dependency_graph_index = first;
    network_.operation_desc_index = static_cast<std::int16_t>(first + 1);
    network_.surface_desc_index = static_cast<std::int16_t>(first + 2);
    network_.num_operations = static_cast<std::uint16_t>(operations_.size());
    network_.num_luts = static_cast<std::uint16_t>(net_.luts.size());
    if (!net_.luts.empty()) network_.lut_data_index = static_cast<std::int16_t>(first + 3);
    if (const std::size_t most = slots + lists() + 1 + places_.size(); most > kMaxAddresses) {
      detail::refuse(ErrorCode::kNotAvailable, "{} addresses: a task of a loadable has {} at most",
                     most, kMaxAddresses);
    }
    network_.num_addresses = static_cast<std::uint16_t>(slots + lists() + 1 + places_.size());
    add_list("addr0", pack_descriptor(network_));
    for (std::uint32_t slot = 0; slot < slots; ++slot) add_slot(slot);
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
            append(surfaces, pack_descriptor(part.surface, revision_), kSurfaceStride);
          },
          op.part);
    }
    add_list("dep_graph", std::move(graph));
    add_list("op_list", std::move(ops));
    add_list("surf_list", std::move(surfaces));
    for (const nvdla_lut& lut : net_.luts) {
      append(luts, pack_descriptor(make_lut(lut)), kLutStride);
    }
    if (!luts.empty()) add_list("lut_list", std::move(luts));
    c_.addresses.insert(c_.addresses.end(), places_.begin(), places_.end());
    TaskEntry task;
    task.interface = kInterfaceDla;
    task.instance = -1;
    for (std::size_t i = 0; i < c_.addresses.size(); ++i) {
      task.addresses.push_back(static_cast<std::uint16_t>(i));
    }
    add_quantizations();
    c_.tasks.push_back(task);
    c_.submits.push_back({0});
  }

  // No memory names the blob.
  void add_quantizations() {
    kept_.push_back(pack_quantizations(c_.tensors));
    Blob blob;
    blob.name = kQuantizationBlob;
    blob.version = {kQuantizationVersion, 0, 0};
    blob.data = kept_.back();
    c_.blobs.push_back(blob);
  }

  void add_slot(std::uint32_t slot) {
    MemoryEntry memory;
    memory.size = net_.slots[slot].size;
    if (memory.size > UINT32_MAX) {
      detail::refuse(ErrorCode::kNotAvailable,
                     "a buffer of {} bytes: offsets in a loadable have 32 bits", memory.size);
    }
    if (net_.slots[slot].memory == NVDLA_MEMORY_SRAM) memory.domain = kDomainSram;
    for (std::size_t i = 0; i < net_.inputs.size(); ++i) {
      if (net_.inputs[i].slot == slot) add_port(net_.inputs[i], i, kMemoryInput, memory);
    }
    for (std::size_t i = 0; i < net_.outputs.size(); ++i) {
      if (net_.outputs[i].slot == slot) add_port(net_.outputs[i], i, kMemoryOutput, memory);
    }
    std::vector<std::byte> bytes;
    if (const Buffer& constants = net_.constants[slot]) {
      const Map map = constants.map(MapMode::kRead);
      bytes.assign(map.bytes().begin(),
                   map.bytes().begin() + static_cast<std::ptrdiff_t>(memory.size));
    }
    if (net_.slots[slot].access == NVDLA_SLOT_CONTROL) bytes = net_.control;
    add_memory(std::move(memory), fmt::format("tb-{}", slot), std::move(bytes));
  }

  const CompiledNetwork::Impl& net_;
  const PartMaker parts_;
  const Revision revision_;
  Container c_;
  NetworkDesc network_;
  std::deque<Operation> operations_;
  // Within slots, that transfers and old data cubes name; and which of them are known.
  std::vector<AddressEntry> places_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> positions_;
  std::deque<std::vector<std::byte>> kept_;
  std::array<std::int16_t, kOpTypes> last_ = {-1, -1, -1, -1, -1, -1};  // of each type
  std::int16_t end_ = -1;  // last operation of the layer before
};

}  // namespace

std::vector<std::byte> make_loadable(const Network& network, std::string_view configuration,
                                     LoadableInterface interface) {
  // Whoever reads the file packs its inputs, and knows of no folding.
  const CompiledNetwork net =
      network.compile(Device::open(fmt::format("model:{}", configuration)), {.fold_inputs = false});
  const nvdla_hw& hw = *detail::find_configuration(configuration);
  return Saver(*detail::Handles::impl(net), hw, interface).run();
}

void save_loadable(const Network& network, std::string_view configuration, std::string_view path,
                   LoadableInterface interface) {
  const std::vector<std::byte> bytes = make_loadable(network, configuration, interface);
  std::ofstream file(std::string(path), std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.flush();
  if (!file) detail::refuse_argument("cannot write '{}'", path);
}

}  // namespace nvdla
