// SPDX-License-Identifier: MIT
//
// From a network to a loadable. The network is built for the configuration as for running; layers
// become operations, and derived numbers are read from what the compiler makes of the layers.
#include <fmt/format.h>

#include <deque>
#include <fstream>
#include <string>

#include "backend/compiled_program.hpp"
#include "backend/info.hpp"
#include "core/check.hpp"
#include "core/handles.hpp"
#include "core/precision.hpp"
#include "core/session_impl.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "loadable/packed.hpp"
#include "loadable/task.hpp"
#include "loadable/writer.hpp"
#include "nvdla/loadable.hpp"

namespace nvdla {
namespace {

using namespace loadable;

constexpr std::uint32_t kBases[NVDLA_REGMAP_COUNT][NVDLA_UNIT_COUNT] = NVDLA_UNIT_BASES;

class Saver {
 public:
  Saver(const Session::Impl& session, const nvdla_hw& hw)
      : session_(session),
        hw_(hw),
        compiled_(0, hw,
                  {.layers = session.descriptors,
                   .slots = session.slots,
                   .luts = session.luts,
                   .transfers = session.transfers,
                   .control = session.control}) {}

  std::vector<std::byte> run() {
    for (const auto* ports : {&session_.inputs, &session_.outputs}) {
      for (const auto& port : *ports) check_port(port);
    }
    for (const nvdla_slot& slot : session_.slots) {
      if (slot.memory != NVDLA_MEMORY_DRAM) {
        detail::refuse(ErrorCode::kNotAvailable, "a tensor lies in SRAM: the writer has DRAM only");
      }
    }
    for (std::uint32_t i = 0; i < session_.descriptors.size(); ++i) add_layer(i);
    count_events();
    write_lists();
    return write_container(c_);
  }

 private:
  // What the writer has no form for yet.
  static void check_port(const Session::Impl::Port& port) {
    if (port.desc.shape.batch != 1) {
      detail::refuse(ErrorCode::kNotAvailable, "'{}' has a batch of {}: the writer has none",
                     port.name, port.desc.shape.batch);
    }
    if (port.image) {
      detail::refuse(ErrorCode::kNotAvailable, "'{}' is an image: the writer has tensors only",
                     port.name);
    }
    if (port.folded) {
      detail::refuse(ErrorCode::kNotAvailable,
                     "'{}' is folded in width, which a reader would not know: set "
                     "Convolution::folding to kNever",
                     port.name);
    }
  }

  void check_sdp(std::uint32_t index, const nvdla_sdp& sdp) const {
    const std::string& name = session_.layers[index].name;
    for (const std::uint32_t precision :
         {sdp.in_precision, sdp.proc_precision, sdp.out_precision}) {
      if (precision != NVDLA_PRECISION_INT8) {
        detail::refuse(ErrorCode::kNotAvailable, "layer {} '{}': the writer has int8 only, not {}",
                       index, name, detail::precision_name(static_cast<Precision>(precision)));
      }
    }
    if (sdp.y.flags != 0) {
      detail::refuse(ErrorCode::kNotAvailable, "layer {} '{}': the writer has no operator Y", index,
                     name);
    }
  }

  // Value of a register field that the compiler sets for a layer.
  std::uint32_t reg(std::uint32_t layer, std::uint32_t unit, std::uint32_t at, std::uint32_t mask,
                    std::uint32_t shift) const {
    const nvdla_program& p = compiled_.program();
    const nvdla_layer_image& image = p.layers[layer];
    for (std::uint32_t i = 0; i < image.num_writes; ++i) {
      const nvdla_reg_write& write = p.writes[image.first_write + i];
      if (write.offset == kBases[hw_.regmap][unit] + at) return (write.value & mask) >> shift;
    }
    detail::refuse_argument("layer {} sets no register {:#x} of unit {}", layer, at, unit);
  }

  // Position 0 of the address list is the network descriptor, slots follow.
  static std::int16_t address(std::uint32_t slot) { return static_cast<std::int16_t>(slot + 1); }

  DataCube cube(const nvdla_surface& s, std::uint32_t width, std::uint32_t height,
                std::uint32_t channels) const {
    DataCube cube = size(width, height, channels);
    cube.type = kCubeDram;
    cube.address = address(s.slot);
    cube.offset = static_cast<std::uint32_t>(s.offset);
    cube.size = static_cast<std::uint32_t>(session_.slots[s.slot].size - s.offset);
    cube.line_stride = s.line_stride;
    cube.surf_stride = s.surface_stride;
    return cube;
  }

  static DataCube table(const nvdla_span& span) {
    DataCube cube;
    cube.type = kCubeDram;
    cube.address = address(span.slot);
    cube.offset = static_cast<std::uint32_t>(span.offset);
    cube.size = span.bytes;
    return cube;
  }

  static DataCube size(std::uint32_t width, std::uint32_t height, std::uint32_t channels) {
    DataCube cube;
    cube.width = static_cast<std::uint16_t>(width);
    cube.height = static_cast<std::uint16_t>(height);
    cube.channel = static_cast<std::uint16_t>(channels);
    return cube;
  }

  Operation& add(std::uint8_t type) {
    Operation& op = operations_.emplace_back();
    op.common.op_type = type;
    op.common.index = static_cast<std::int16_t>(operations_.size() - 1);
    if (network_.op_head[type] == -1) network_.op_head[type] = op.common.index;
    return op;
  }

  void add_layer(std::uint32_t index) {
    const nvdla_layer& layer = session_.descriptors[index];
    const std::int16_t before = sdp_;
    std::int16_t conv = -1;
    if (layer.kind == NVDLA_LAYER_CONV_SDP) {
      if (layer.conv.mode == NVDLA_CONV_WINOGRAD) {
        detail::refuse(ErrorCode::kNotAvailable,
                       "layer {} '{}': the writer has no Winograd convolutions", index,
                       session_.layers[index].name);
      }
      Operation& op = add(kConv);
      op.part = make_conv_part(index, layer.conv);
      conv = op.common.index;
    } else if (layer.kind != NVDLA_LAYER_SDP) {
      detail::refuse(ErrorCode::kNotAvailable, "layer {} '{}': the writer has no {}", index,
                     session_.layers[index].name, layer_kind_name(layer.kind));
    }
    check_sdp(index, layer.sdp);
    Operation& op = add(kSdp);
    op.part = make_sdp_part(index, layer.sdp, conv != -1);
    sdp_ = op.common.index;
    // One layer after another: each starts when the one before has ended.
    if (conv == -1) {
      if (before != -1) tell(before, sdp_, kCompleted);
      return;
    }
    tell(conv, sdp_, kProgrammed);
    operations_[static_cast<std::size_t>(sdp_)].common.fused_parent = {conv, kEnabled, 0};
    if (conv_ != -1) tell(conv_, conv, kProgrammed);
    conv_ = conv;
    if (before != -1) {
      tell(before, sdp_, kProgrammed);
      tell(before, conv, kCompleted);
    }
  }

  void tell(std::int16_t from, std::int16_t to, std::uint8_t event) {
    const std::uint8_t type = operations_[static_cast<std::size_t>(to)].common.op_type;
    operations_[static_cast<std::size_t>(from)].common.consumers[type] = {to, event, 0};
  }

  void count_events() {
    const auto count = [&](const Consumer& c) {
      if (c.index != -1) {
        ++operations_[static_cast<std::size_t>(c.index)].common.dependency_count;
      }
    };
    for (const Operation& op : operations_) {
      for (const Consumer& c : op.common.consumers) count(c);
      count(op.common.fused_parent);
    }
  }

#define REG(unit, name, field)                                                \
  static_cast<std::uint16_t>(reg(i, NVDLA_UNIT_##unit, NVDLA_##unit##_##name, \
                                 NVDLA_##unit##_##name##_##field##_MASK,      \
                                 NVDLA_##unit##_##name##_##field##_SHIFT) +   \
                             1)

  ConvPart make_conv_part(std::uint32_t i, const nvdla_conv& conv) const {
    ConvPart part;
    ConvOp& op = part.op;
    const auto byte = [](auto value) { return static_cast<std::uint8_t>(value); };
    op.data_reuse = (conv.flags & NVDLA_CONV_REUSE_DATA) != 0;
    op.weight_reuse = (conv.flags & NVDLA_CONV_REUSE_WEIGHTS) != 0;
    op.skip_data_rls = (conv.flags & NVDLA_CONV_KEEP_DATA) != 0;
    op.skip_weight_rls = (conv.flags & NVDLA_CONV_KEEP_WEIGHTS) != 0;
    op.data_format = kFormatFeature;
    op.batch = 1;
    op.fetch_grain = REG(CDMA, D_FETCH_GRAIN, GRAINS);
    op.data_bank = byte(conv.data_banks);
    op.weight_bank = byte(conv.weight_banks);
    op.release = static_cast<std::uint16_t>(conv.release != 0 ? conv.release : conv.height);
    op.entry_per_slice = REG(CDMA, D_ENTRY_PER_SLICE, ENTRIES);
    op.input_width_csc = REG(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT);
    op.input_height_csc = REG(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT);
    op.input_channel_csc = REG(CSC, D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT);
    op.kernel_width_csc = REG(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT);
    op.kernel_height_csc = REG(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT);
    op.kernel_channel_csc = REG(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT);
    op.input_width_cmac = REG(CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH);
    op.input_height_cmac = REG(CSC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT);
    op.bytes_per_kernel = conv.kernel_width * conv.kernel_height * conv.channels;
    op.conv_stride_x = byte(conv.stride_x);
    op.conv_stride_y = byte(conv.stride_y);
    op.pad_x_left = byte(conv.pad_left);
    op.pad_x_right = byte(conv.pad_right);
    op.pad_y_top = byte(conv.pad_top);
    op.pad_y_bottom = byte(conv.pad_bottom);
    op.dilation_x = byte(conv.dilation_x);
    op.dilation_y = byte(conv.dilation_y);
    op.pad_val = static_cast<std::int16_t>(conv.pad_value);
    op.out_cvt = {.scale = 1, .truncate = byte(conv.clip_truncate), .enable = 1, .offset = 0};
    part.surface.src_data = cube(conv.input, conv.width, conv.height, conv.channels);
    nvdla_surface weights = {};
    weights.slot = conv.weights.slot;
    weights.offset = conv.weights.offset;
    part.surface.weight_data = cube(weights, conv.kernel_width, conv.kernel_height, conv.channels);
    part.surface.weight_data.size = reg(i, NVDLA_UNIT_CDMA, NVDLA_CDMA_D_WEIGHT_BYTES, ~0U, 0);
    if ((conv.flags & NVDLA_CONV_COMPRESSED) != 0) {
      op.weight_format = 1;
      part.surface.wgs_data = table(conv.wgs);
      part.surface.wmb_data = table(conv.wmb);
    }
    part.surface.dst_data = size(op.input_width_cmac, op.input_height_cmac, conv.kernels);
    return part;
  }

  SdpPart make_sdp_part(std::uint32_t i, const nvdla_sdp& sdp, bool flying) const {
    SdpPart part;
    const std::uint32_t width = REG(SDP, D_DATA_CUBE_WIDTH, WIDTH);
    const std::uint32_t height = REG(SDP, D_DATA_CUBE_HEIGHT, HEIGHT);
    const std::uint32_t channels = REG(SDP, D_DATA_CUBE_CHANNEL, CHANNEL);
    part.op.batch_num = 1;
    part.op.out_cvt = {.scale = static_cast<std::int16_t>(sdp.out_cvt.scale),
                       .truncate = static_cast<std::uint8_t>(sdp.out_cvt.truncate),
                       .enable = 1,
                       .offset = sdp.out_cvt.offset};
    part.surface.src_data =
        flying ? size(width, height, channels) : cube(sdp.input, width, height, channels);
    part.surface.dst_data = cube(sdp.output, width, height, channels);
    convert(sdp.x1, part.op.x1_op, part.surface.x1_data, width, height, channels);
    convert(sdp.x2, part.op.x2_op, part.surface.x2_data, width, height, channels);
    return part;
  }
#undef REG

  void convert(const nvdla_sdp_x& x, SdpSubOp& op, DataCube& data, std::uint32_t width,
               std::uint32_t height, std::uint32_t channels) const {
    op.alu_type = 2;
    if ((x.flags & NVDLA_SDP_ENABLE) == 0) return;
    const bool relu = (x.flags & NVDLA_SDP_RELU) != 0, prelu = x.mul == NVDLA_MUL_PRELU;
    if (relu && prelu) {
      throw Error(ErrorCode::kNotAvailable, "a loadable has no ReLU after a PReLU");
    }
    op.enable = 1;
    op.type = static_cast<std::uint8_t>((x.alu != NVDLA_ALU_NONE ? 2 : 0) |
                                        (x.mul != NVDLA_MUL_NONE ? 1 : 0));
    if (x.alu != NVDLA_ALU_NONE) op.alu_type = static_cast<std::uint8_t>(x.alu - 1);
    op.mode = static_cast<std::uint8_t>(x.mode);
    op.act = relu ? 1 : prelu ? 3 : 0;
    op.shift_value = static_cast<std::uint8_t>(x.alu_shift);
    op.truncate = static_cast<std::uint8_t>(x.mul_shift);
    op.precision = x.operand_bytes == 2 ? 1 : 0;
    op.alu_operand = x.alu_value;
    op.mul_operand = x.mul_value;
    if (op.type == 0 || x.mode == NVDLA_OPERAND_LAYER) return;
    const bool element = x.mode == NVDLA_OPERAND_ELEMENT;
    data = cube(x.operand, element ? width : 1, element ? height : 1, channels);
  }

  /* --------------------------------------------------------- lists --- */

  void add_memory(MemoryEntry memory, const std::string& name, std::vector<std::byte> bytes) {
    if (!bytes.empty()) {
      kept_.push_back(std::move(bytes));
      Blob blob;
      blob.name = name;
      blob.interface = kInterfaceDla;
      blob.version = {0, 12, 3};
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

  void add_port(const Session::Impl::Port& port, std::size_t bind, std::uint16_t flag,
                MemoryEntry& memory) {
    if ((memory.flags & (kMemoryInput | kMemoryOutput)) != 0) {
      detail::refuse_argument("'{}' is bound twice; a loadable binds a tensor once", port.name);
    }
    memory.flags |= flag;
    memory.bind_id = static_cast<std::uint16_t>(bind);
    memory.tensor = static_cast<std::uint16_t>(c_.tensors.size());
    TensorEntry t;
    t.name = port.name;
    t.id = memory.tensor;
    t.memory = static_cast<std::uint16_t>(address(port.slot));
    t.size = memory.size;
    t.data_format = 3;
    t.data_type = static_cast<std::uint8_t>(LoadableType::kInt8);
    t.data_category = 2;
    t.pixel_format = 36;
    const TensorDesc desc = resolve(port.desc);
    t.n = 1;
    t.c = static_cast<std::int32_t>(desc.shape.channels);
    t.h = static_cast<std::int32_t>(desc.shape.height);
    t.w = static_cast<std::int32_t>(desc.shape.width);
    t.stride[0] = 1;
    t.stride[1] = desc.line_stride;
    t.stride[2] = desc.surface_stride;
    c_.tensors.push_back(t);
  }

  void write_lists() {
    c_.version = {0, 7, 0};
    const std::size_t slots = session_.slots.size();
    const auto lists = static_cast<std::int16_t>(slots + 1);
    network_.dependency_graph_index = lists;
    network_.operation_desc_index = static_cast<std::int16_t>(lists + 1);
    network_.surface_desc_index = static_cast<std::int16_t>(lists + 2);
    network_.num_operations = static_cast<std::uint16_t>(operations_.size());
    network_.num_addresses = static_cast<std::uint16_t>(slots + 4);
    add_list("addr0", pack_descriptor(network_));
    for (std::uint32_t slot = 0; slot < slots; ++slot) add_slot(slot);
    std::vector<std::byte> graph, ops, surfaces;
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
            append(surfaces, pack_descriptor(part.surface), kSurfaceStride);
          },
          op.part);
    }
    add_list("dep_graph", std::move(graph));
    add_list("op_list", std::move(ops));
    add_list("surf_list", std::move(surfaces));
    TaskEntry task;
    task.interface = kInterfaceDla;
    task.instance = -1;
    for (std::size_t i = 0; i < c_.addresses.size(); ++i) {
      task.addresses.push_back(static_cast<std::uint16_t>(i));
    }
    c_.tasks.push_back(task);
    c_.submits.push_back({0});
  }

  void add_slot(std::uint32_t slot) {
    MemoryEntry memory;
    memory.size = session_.slots[slot].size;
    for (std::size_t i = 0; i < session_.inputs.size(); ++i) {
      if (session_.inputs[i].slot == slot) add_port(session_.inputs[i], i, kMemoryInput, memory);
    }
    for (std::size_t i = 0; i < session_.outputs.size(); ++i) {
      if (session_.outputs[i].slot == slot) add_port(session_.outputs[i], i, kMemoryOutput, memory);
    }
    // What is neither bound nor written is constant.
    std::vector<std::byte> bytes;
    const bool bound = memory.bindable();
    if (!bound && session_.slots[slot].access == NVDLA_SLOT_READ) {
      const Map map = session_.bindings[slot].buffer.map(MapMode::kRead);
      bytes.assign(map.bytes().begin(),
                   map.bytes().begin() + static_cast<std::ptrdiff_t>(memory.size));
    }
    if (session_.slots[slot].access == NVDLA_SLOT_CONTROL) bytes = session_.control;
    add_memory(std::move(memory), fmt::format("tb-{}", slot), std::move(bytes));
  }

  const Session::Impl& session_;
  const nvdla_hw& hw_;
  detail::CompiledProgram compiled_;
  Container c_;
  NetworkDesc network_;
  std::deque<Operation> operations_;
  std::deque<std::vector<std::byte>> kept_;
  std::int16_t conv_ = -1, sdp_ = -1;  // the last ones
};

}  // namespace

void save_loadable(const Network& network, std::string_view configuration, std::string_view path) {
  const Session session = network.build(Device::open(fmt::format("model:{}", configuration)));
  const nvdla_hw& hw = *detail::find_configuration(configuration);
  const std::vector<std::byte> bytes = Saver(*detail::Handles::impl(session), hw).run();
  std::ofstream file(std::string(path), std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.flush();
  if (!file) detail::refuse_argument("cannot write '{}'", path);
}

}  // namespace nvdla
