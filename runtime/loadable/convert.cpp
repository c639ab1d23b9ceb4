// SPDX-License-Identifier: MIT
#include "loadable/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "core/check.hpp"
#include "core/pool_node.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "loadable/order.hpp"

namespace nvdla::loadable {
namespace {

// Planes lie on 64 bytes; buffers of devices do anyway.
constexpr std::uint32_t kSlotAlign = 64;
// Buffers are whole pages, as they always were: the hardware may read beyond an odd end.
constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kTableAlign = 128;

std::int64_t sign_extend(std::uint64_t value, unsigned bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

// A field of a register, as expect() takes it.
#define OF(unit, name, field)                                                       \
  NVDLA_UNIT_##unit, NVDLA_##unit##_##name, NVDLA_##unit##_##name##_##field##_MASK, \
      NVDLA_##unit##_##name##_##field##_SHIFT

class TaskConverter {
 public:
  TaskConverter(const Container& c, const Task& task, const nvdla_hw& hw)
      : c_(c), entry_(c.tasks[task.index]), dla_(std::get<DlaTask>(task.work)), hw_(hw) {
    what_ = fmt::format("task {}", task.index);
  }

  ConvertedProgram run() {
    const std::vector<LayerGroup> order = order_operations(dla_, what_);
    if (order.size() > NVDLA_MAX_LAYERS) {
      refuse("{} layers exceed {}", order.size(), NVDLA_MAX_LAYERS);
    }
    check_atom();
    find_reuse(order);
    for (const LayerGroup& group : order) add_layer(group);
    if (!program_.control.empty()) add_control_slot();
    return std::move(program_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
  }
  [[noreturn]] void fail(ErrorCode code, const std::string& text) const {
    throw Error(code, fmt::format("loadable: {}: {}", what_, text));
  }
  [[noreturn]] void lacks(const char* feature) const {
    fail(ErrorCode::kNotAvailable,
         fmt::format("needs {}, which {} does not have", feature, hw_.name));
  }
  void need(std::uint32_t feature, const char* name) const {
    if ((hw_.features & feature) == 0) lacks(name);
  }

  void check_atom() const {
    if (const auto atom = implied_atom(dla_); atom && *atom != hw_.atom) {
      fail(ErrorCode::kNotAvailable,
           fmt::format("its surfaces lie in atoms of {} bytes, those of {} have {}", *atom,
                       hw_.name, hw_.atom));
    }
  }

  // What a convolution keeps matters only if the next one reuses it.
  void find_reuse(const std::vector<LayerGroup>& order) {
    const ConvOp* last = nullptr;
    for (const LayerGroup& group : order) {
      const auto* conv = std::get_if<ConvPart>(&operation(group, 0).part);
      if (conv == nullptr) continue;
      if (last != nullptr) {
        data_reused_[last] = conv->op.data_reuse != 0;
        weights_reused_[last] = conv->op.weight_reuse != 0;
      }
      last = &conv->op;
    }
  }

  const Operation& operation(const LayerGroup& group, std::size_t i) const {
    return dla_.operations[group.operations[i]];
  }

  void add_layer(const LayerGroup& group) {
    nvdla_layer layer = {};
    if (group.waits.size() > NVDLA_MAX_WAITS) {
      refuse("{} waits for {} layers; {} at most", group_name(dla_, group), group.waits.size(),
             NVDLA_MAX_WAITS);
    }
    layer.num_waits = static_cast<std::uint32_t>(group.waits.size());
    std::copy(group.waits.begin(), group.waits.end(), layer.waits);

    const std::string task_name = what_;
    layer_ = static_cast<std::uint32_t>(program_.layers.size());
    std::uint32_t kind = 0;
    const ConvPart* conv = nullptr;
    const SdpPart* sdp = nullptr;
    for (std::size_t i = 0; i < group.operations.size(); ++i) {
      const Operation& op = operation(group, i);
      op_name_ = fmt::format("operation {} ({})", group.operations[i], op_type_name(op.type()));
      what_ = task_name + ", " + op_name_;
      switch (op.type()) {
        case kConv:
          conv = &std::get<ConvPart>(op.part);
          kind = NVDLA_LAYER_CONV_SDP;
          convert(*conv, layer.conv);
          break;
        case kSdp:
          sdp = &std::get<SdpPart>(op.part);
          if (conv == nullptr) kind = NVDLA_LAYER_SDP;
          convert(*sdp, conv, layer);
          break;
        case kPdp:
          kind = conv != nullptr  ? NVDLA_LAYER_CONV_SDP_PDP
                 : sdp != nullptr ? NVDLA_LAYER_SDP_PDP
                                  : NVDLA_LAYER_PDP;
          convert(std::get<PdpPart>(op.part), sdp != nullptr, layer.pdp);
          break;
        case kCdp:
          kind = NVDLA_LAYER_CDP;
          convert(std::get<CdpPart>(op.part), layer);
          break;
        case kRubik:
          kind = NVDLA_LAYER_RUBIK;
          convert(std::get<RubikPart>(op.part), layer.rubik);
          break;
        default:
          kind = NVDLA_LAYER_BDMA;
          convert(std::get<BdmaPart>(op.part), layer.bdma);
          break;
      }
    }
    what_ = task_name;
    layer.kind = kind;
    program_.layers.push_back(layer);
    program_.names.push_back(group_name(dla_, group));
  }

  /* ------------------------------------------------------- memory --- */

  // What a position of the address list means.
  Place locate(std::uint16_t type, std::int16_t address, std::uint64_t offset,
               const char* field) const {
    if (type > kCubeSram) refuse("{}: type {} is neither 0 (DRAM) nor 1 (SRAM)", field, type);
    Place at = resolve_address(c_, entry_, address, what_ + ", " + field);
    const MemoryEntry& memory = c_.memories[at.memory];
    if ((memory.domain == kDomainSram) != (type == kCubeSram)) {
      refuse("{}: it says {}, but memory {} is {}", field, type == kCubeSram ? "SRAM" : "DRAM",
             at.memory, memory.domain == kDomainSram ? "SRAM" : "DRAM");
    }
    if (memory.domain == kDomainSram) need(NVDLA_HW_SRAM, "a secondary memory (SRAM)");
    if (offset > memory.size || at.offset > memory.size - offset) {
      refuse("{}: offset {} is beyond memory {} of {} bytes", field, offset, at.memory,
             memory.size);
    }
    at.offset += offset;
    return at;
  }

  // The slot of what a position of the address list means, and where in it.
  std::pair<std::uint32_t, std::uint64_t> place(std::uint16_t type, std::int16_t address,
                                                std::uint64_t offset, std::uint32_t access,
                                                const char* field) {
    const Place at = locate(type, address, offset, field);
    const MemoryEntry& memory = c_.memories[at.memory];
    auto [found, added] =
        slot_of_.try_emplace(at.memory, static_cast<std::uint32_t>(program_.slots.size()));
    if (added) {
      nvdla_slot slot = {};
      slot.size = (memory.size + kPage - 1) / kPage * kPage;
      if (slot.size < memory.size) refuse("memory {}: {} bytes", at.memory, memory.size);
      slot.alignment = kSlotAlign;
      slot.memory = memory.domain == kDomainSram ? NVDLA_MEMORY_SRAM : NVDLA_MEMORY_DRAM;
      program_.slots.push_back(slot);
      program_.memories.push_back(at.memory);
    }
    program_.slots[found->second].access |= access;
    return {found->second, at.offset};
  }

  nvdla_surface surface(const DataCube& cube, std::uint32_t access, const char* field) {
    nvdla_surface s = {};
    std::tie(s.slot, s.offset) = place(cube.type, cube.address, cube.offset, access, field);
    s.line_stride = cube.line_stride;
    s.surface_stride = cube.surf_stride;
    return s;
  }

  nvdla_span span(const DataCube& cube, const char* field) {
    nvdla_span s = {};
    std::tie(s.slot, s.offset) =
        place(cube.type, cube.address, cube.offset, NVDLA_SLOT_READ, field);
    s.bytes = cube.size;
    return s;
  }

  // A table of compressed weights decides whether its layer ends: the program brings a copy. Its
  // slot is the last one, whose number is not known yet.
  nvdla_span table(const DataCube& cube, const char* field) {
    const Place at = locate(cube.type, cube.address, cube.offset, field);
    const MemoryEntry& memory = c_.memories[at.memory];
    std::vector<std::byte>& control = program_.control;
    if (cube.size > memory.size - at.offset) {
      refuse("{}: {} bytes from {} on are beyond memory {} of {} bytes", field, cube.size,
             at.offset, at.memory, memory.size);
    }
    if (memory.bindable() || memory.contents.empty()) {
      refuse("{}: memory {} has no contents in the file, and tables of compressed weights must",
             field, at.memory);
    }
    // Read in whole atoms, and laid out as wide as anybody asks for.
    const std::size_t bytes =
        (std::size_t{cube.size} + kTableAlign - 1) / kTableAlign * kTableAlign;
    if (bytes > NVDLA_MAX_CONTROL_BYTES - control.size()) {
      refuse("{}: with its {} bytes the tables of compressed weights exceed {}", field, cube.size,
             NVDLA_MAX_CONTROL_BYTES);
    }
    nvdla_span span = {control.size(), 0, cube.size};
    control.resize(control.size() + bytes);
    for (const Content& content : memory.contents) {
      const auto data = c_.blobs[content.blob].data;
      const std::uint64_t begin = std::max(at.offset, content.offset);
      const std::uint64_t end = std::min(at.offset + cube.size, content.offset + data.size());
      if (begin < end) {
        std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(begin - content.offset), end - begin,
                    control.begin() + static_cast<std::ptrdiff_t>(span.offset + begin - at.offset));
      }
    }
    return span;
  }

  void add_control_slot() {
    nvdla_slot slot = {};
    slot.size = program_.control.size();
    slot.alignment = kSlotAlign;
    slot.access = NVDLA_SLOT_CONTROL;
    for (nvdla_layer& layer : program_.layers) {
      if ((layer.conv.flags & NVDLA_CONV_COMPRESSED) == 0) continue;
      layer.conv.wgs.slot = layer.conv.wmb.slot = static_cast<std::uint32_t>(program_.slots.size());
      // Where the weights are: one register says it of all three.
      slot.memory = program_.slots[layer.conv.weights.slot].memory;
    }
    program_.slots.push_back(slot);
    program_.memories.push_back(ConvertedProgram::kNoMemory);
  }

  /* ------------------------------------------------------ numbers --- */

  std::uint32_t precision(std::uint8_t code, const char* field) const {
    if (code == NVDLA_PRECISION_INT16) need(NVDLA_HW_INT16, "int16");
    if (code == NVDLA_PRECISION_FP16) need(NVDLA_HW_FP16, "fp16");
    if (code > NVDLA_PRECISION_FP16) {
      refuse("{} {} is not 0 (int8), 1 (int16) or 2 (fp16)", field, code);
    }
    return code;
  }

  template <typename T>
  void check_zero_or(const char* field, T value, T other) const {
    if (value != 0 && value != other) refuse("{} is {}, expected {}", field, value, other);
  }

  static nvdla_convert converter(const CvtParam& p) {
    nvdla_convert convert = {};
    convert.offset = p.offset;
    convert.scale = p.enable != 0 ? p.scale : 1;
    convert.truncate = p.truncate;
    if (p.enable == 0) {
      convert.offset = 0;
      convert.truncate = 0;
    }
    return convert;
  }

  void expect(std::uint32_t unit, std::uint32_t reg, std::uint32_t mask, std::uint32_t shift,
              std::uint32_t count, const char* field) {
    program_.derived.push_back(
        {layer_, unit, reg, mask, shift, count - 1, op_name_ + ", " + field});
  }
  /* -------------------------------------------------------- units --- */

  void convert(const ConvPart& part, nvdla_conv& conv) {
    const ConvOp& op = part.op;
    const ConvSurface& s = part.surface;
    if (op.conv_mode > 1)
      refuse("conv_mode {} is neither 0 (direct) nor 1 (Winograd)", op.conv_mode);
    if (op.data_format > kFormatFeature) {
      refuse("data_format {} is not in 0..{}", op.data_format, kFormatFeature);
    }
    const bool image = op.data_format != kFormatFeature;
    if (image && op.conv_mode == 1) refuse("Winograd of pixels");
    conv.mode = image               ? NVDLA_CONV_IMAGE
                : op.conv_mode == 1 ? NVDLA_CONV_WINOGRAD
                                    : NVDLA_CONV_DIRECT;
    if (conv.mode == NVDLA_CONV_WINOGRAD) need(NVDLA_HW_WINOGRAD, "Winograd");
    if (op.batch > 1) need(NVDLA_HW_BATCH, "batch");
    if (op.pixel_mapping != 0) refuse("pixel_mapping {} is not 0 (lines)", op.pixel_mapping);
    conv.in_precision = precision(op.in_precision, "in_precision");
    conv.proc_precision = precision(op.out_precision, "out_precision");
    conv.width = s.src_data.width;
    conv.height = s.src_data.height;
    conv.channels = s.src_data.channel;
    conv.batch = op.batch;
    conv.kernels = s.dst_data.channel;
    conv.kernel_width = s.weight_data.width;
    conv.kernel_height = s.weight_data.height;
    conv.stride_x = op.conv_stride_x;
    conv.stride_y = op.conv_stride_y;
    conv.dilation_x = op.dilation_x;
    conv.dilation_y = op.dilation_y;
    conv.pad_left = op.pad_x_left;
    conv.pad_right = op.pad_x_right;
    conv.pad_top = op.pad_y_top;
    conv.pad_bottom = op.pad_y_bottom;
    conv.pad_value = conv.proc_precision == NVDLA_PRECISION_FP16
                         ? static_cast<std::uint16_t>(op.pad_val)
                         : op.pad_val;
    conv.data_banks = op.data_bank;
    conv.weight_banks = op.weight_bank;
    conv.fetch_grain = op.fetch_grain;
    if (op.post_extension > 2) refuse("post_extension {} is not in 0..2", op.post_extension);
    conv.post_extension = 1U << op.post_extension;
    conv.pra_truncate = op.pra_truncate;
    // The accumulator only shifts.
    check_zero_or("out_cvt.scale", op.out_cvt.scale, std::int16_t{1});
    check_zero_or("out_cvt.offset", op.out_cvt.offset, 0);
    conv.clip_truncate = op.out_cvt.truncate;
    if (op.in_cvt.enable != 0) {
      conv.flags |= NVDLA_CONV_CONVERT;
      conv.cvt_offset = op.in_cvt.offset;
      conv.cvt_scale = op.in_cvt.scale;
      conv.cvt_truncate = op.in_cvt.truncate;
    }

    conv.input = surface(s.src_data, NVDLA_SLOT_READ, "src_data");
    if (op.batch > 1) conv.input.batch_stride = op.batch_stride;
    if (image) convert_image(part, conv);

    conv.weights = span(s.weight_data, "weight_data");
    if (op.weight_format > 1) refuse("weight_format {} is neither 0 nor 1", op.weight_format);
    if (op.weight_format == 1) {
      need(NVDLA_HW_COMPRESSION, "compressed weights");
      conv.flags |= NVDLA_CONV_COMPRESSED;
      for (const DataCube* cube : {&s.wgs_data, &s.wmb_data}) {
        if (cube->type != s.weight_data.type) {
          refuse("tables of compressed weights in memory of type {}, the weights in type {}",
                 cube->type, s.weight_data.type);
        }
      }
      conv.wgs = table(s.wgs_data, "wgs_data");
      conv.wmb = table(s.wmb_data, "wmb_data");
    }
    convert_reuse(part, conv);
    expect_conv(part);
  }

  void convert_image(const ConvPart& part, nvdla_conv& conv) {
    const ConvOp& op = part.op;
    conv.pixel_format = op.data_format;
    conv.input.surface_stride = 0;
    if (op.data_format >= NVDLA_PIXEL_Y8_U8V8) {
      conv.input_uv = conv.input;
      const std::int64_t uv = static_cast<std::int64_t>(conv.input.offset) + part.surface.offset_u;
      if (part.surface.offset_u > (std::int64_t{1} << 40) || uv < 0) {
        refuse("offset_u {} leaves the memory", part.surface.offset_u);
      }
      conv.input_uv.offset = static_cast<std::uint64_t>(uv);
      conv.input_uv.line_stride = part.surface.in_line_uv_stride;
    }
    if (op.pixel_override != 0) conv.flags |= NVDLA_CONV_SIGNED_PIXELS;
    if (op.mean_format != 0) {
      conv.flags |= NVDLA_CONV_MEAN;
      const std::int32_t mean[] = {op.mean_ry, op.mean_gu, op.mean_bv, op.mean_ax};
      std::copy(std::begin(mean), std::end(mean), conv.mean);
    }
  }

  void convert_reuse(const ConvPart& part, nvdla_conv& conv) {
    const ConvOp& op = part.op;
    if (op.skip_data_rls == 0) {
      conv.release = op.release;
    } else if (data_reused_[&op]) {
      conv.flags |= NVDLA_CONV_KEEP_DATA;
    }
    if (op.skip_weight_rls != 0 && weights_reused_[&op]) conv.flags |= NVDLA_CONV_KEEP_WEIGHTS;
    if (op.weight_reuse != 0) conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
    if (op.data_reuse == 0) return;
    conv.flags |= NVDLA_CONV_REUSE_DATA;
    // The loadable says what is fetched, a layer all that it works on.
    if (op.input_height_csc <= conv.height) return;
    const std::uint64_t kept =
        std::uint64_t{op.input_height_csc - conv.height} * conv.input.line_stride;
    if (kept > conv.input.offset) {
      refuse("input_height_csc {}: the {} lines before those of src_data are not in its memory",
             op.input_height_csc, op.input_height_csc - conv.height);
    }
    conv.height = op.input_height_csc;
    conv.input.offset -= kept;
  }

  void expect_conv(const ConvPart& part) {
    const ConvOp& op = part.op;
    expect(OF(CDMA, D_ENTRY_PER_SLICE, ENTRIES), op.entry_per_slice, "entry_per_slice");
    expect(OF(CDMA, D_WEIGHT_SIZE_0, BYTE_PER_KERNEL), op.bytes_per_kernel, "bytes_per_kernel");
    expect(OF(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT), op.input_width_csc, "input_width_csc");
    expect(OF(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT), op.input_height_csc,
           "input_height_csc");
    expect(OF(CSC, D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT), op.input_channel_csc,
           "input_channel_csc");
    expect(OF(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT), op.kernel_width_csc, "kernel_width_csc");
    expect(OF(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT), op.kernel_height_csc,
           "kernel_height_csc");
    expect(OF(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT), op.kernel_channel_csc,
           "kernel_channel_csc");
    expect(OF(CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH), op.input_width_cmac, "input_width_cmac");
    expect(OF(CSC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT), op.input_height_cmac, "input_height_cmac");
  }

  void convert(const SdpPart& part, const ConvPart* conv, nvdla_layer& layer) {
    const SdpOp& op = part.op;
    const SdpSurface& s = part.surface;
    nvdla_sdp& sdp = layer.sdp;
    const std::uint32_t src = precision(op.src_precision, "src_precision");
    const std::uint32_t dst = precision(op.dst_precision, "dst_precision");
    // Between precisions SDP works in the source's, but from int16 to int8 in int8.
    const std::uint32_t proc =
        src == NVDLA_PRECISION_INT16 && dst == NVDLA_PRECISION_INT8 ? dst : src;
    const bool to_pdp = !s.dst_data.in_memory();
    if (op.batch_num > 1 && conv == nullptr) refuse("batch_num {} without a conv", op.batch_num);
    if (conv != nullptr) {
      if (src != conv->op.out_precision) {
        refuse("src_precision {} is not the conv's out_precision {}", src, conv->op.out_precision);
      }
      if (op.conv_mode != conv->op.conv_mode) {
        refuse("conv_mode {} is not the conv's {}", op.conv_mode, conv->op.conv_mode);
      }
      if (std::max<unsigned>(op.batch_num, 1) != std::max<unsigned>(conv->op.batch, 1)) {
        refuse("batch_num {} is not the conv's batch {}", op.batch_num, conv->op.batch);
      }
    } else {
      sdp.in_precision = src;
      sdp.width = s.src_data.width;
      sdp.height = s.src_data.height;
      sdp.channels = s.src_data.channel;
      sdp.input = surface(s.src_data, NVDLA_SLOT_READ, "src_data");
    }
    sdp.proc_precision = proc;
    sdp.out_precision = dst;
    convert(op.x1_op, s.x1_data, proc, "x1", sdp.x1);
    convert(op.x2_op, s.x2_data, proc, "x2", sdp.x2);
    convert(op.y_op, s.y_data, sdp.y);
    if (op.y_op.enable != 0 && op.y_op.act == 2) {
      layer.lut = add_lut(op.lut_index, NVDLA_LUT_SDP, proc);
    }
    // With fp16 operators results are only rounded.
    if (proc != NVDLA_PRECISION_FP16) sdp.out_cvt = converter(op.out_cvt);
    const bool compare = sdp.y.alu == NVDLA_ALU_EQUAL;
    if (!to_pdp && !compare) {
      sdp.output = surface(s.dst_data, NVDLA_SLOT_WRITE, "dst_data");
      if (op.batch_num > 1) sdp.output.batch_stride = op.batch_stride;
    }
    expect(OF(SDP, D_DATA_CUBE_WIDTH, WIDTH), s.dst_data.width, "dst_data.width");
    expect(OF(SDP, D_DATA_CUBE_HEIGHT, HEIGHT), s.dst_data.height, "dst_data.height");
    expect(OF(SDP, D_DATA_CUBE_CHANNEL, CHANNEL), s.dst_data.channel, "dst_data.channel");
  }

  // What X and Y have in common: which parts are active, and their operands.
  struct Parts {
    std::uint32_t alu = NVDLA_ALU_NONE, mul = NVDLA_MUL_NONE, mode = 0, bytes = 0;
    std::int32_t alu_value = 0, mul_value = 0;
    nvdla_surface operand = {};
  };

  Parts parts(const SdpSubOp& op, const DataCube& cube, const std::string& name) {
    if (op.type > 3) refuse("{}.type {} is not in 0..3", name, op.type);
    if (op.alu_type > 3) refuse("{}.alu_type {} is not in 0..3", name, op.alu_type);
    if (op.mode > 2) refuse("{}.mode {} is not in 0..2", name, op.mode);
    if (op.act > 3) refuse("{}.act {} is not in 0..3", name, op.act);
    Parts p;
    if ((op.type & 2) != 0) p.alu = op.alu_type + 1U;
    if ((op.type & 1) != 0) p.mul = op.act == 3 ? NVDLA_MUL_PRELU : NVDLA_MUL_MUL;
    if (op.type == 0) return p;
    p.mode = op.mode;
    if (op.mode == NVDLA_OPERAND_LAYER) {
      if (p.alu != NVDLA_ALU_NONE) p.alu_value = op.alu_operand;
      if (p.mul != NVDLA_MUL_NONE) p.mul_value = op.mul_operand;
      return p;
    }
    const std::string field = name + "_data";
    // The size of operands, which every configuration has in both.
    if (op.precision > NVDLA_PRECISION_FP16) {
      refuse("{}.precision {} is not in 0..2", name, op.precision);
    }
    p.bytes = op.precision == NVDLA_PRECISION_INT8 ? 1 : 2;
    p.operand = surface(cube, NVDLA_SLOT_READ, field.c_str());
    if (op.mode != NVDLA_OPERAND_ELEMENT) p.operand.line_stride = p.operand.surface_stride = 0;
    return p;
  }

  void convert(const SdpSubOp& op, const DataCube& cube, std::uint32_t proc, const char* name,
               nvdla_sdp_x& x) {
    if (op.enable == 0) return;
    const Parts p = parts(op, cube, name);
    if (op.act == 2) refuse("{}: only the third operator (y) has a look-up table", name);
    if (p.alu == NVDLA_ALU_EQUAL) refuse("{}: only the third operator (y) compares", name);
    x.flags = NVDLA_SDP_ENABLE | (op.act == 1 ? NVDLA_SDP_RELU : 0);
    x.alu = p.alu;
    x.mul = p.mul;
    x.mode = p.mode;
    x.operand_bytes = p.bytes;
    const bool real = proc == NVDLA_PRECISION_FP16;
    x.alu_value = real ? p.alu_value & 0xffff : p.alu_value;
    x.mul_value = real ? p.mul_value & 0xffff : p.mul_value;
    if (p.alu != NVDLA_ALU_NONE) x.alu_shift = op.shift_value;
    x.mul_shift = op.truncate;
    x.operand = p.operand;
  }

  void convert(const SdpSubOp& op, const DataCube& cube, nvdla_sdp_y& y) {
    if (op.enable == 0) return;
    need(NVDLA_HW_SDP_Y, "the third SDP operator (Y)");
    const Parts p = parts(op, cube, "y");
    if (op.act == 1) refuse("y: the third operator has no ReLU");
    y.flags = NVDLA_SDP_ENABLE;
    if (op.act == 2) {
      need(NVDLA_HW_LUT, "SDP's look-up table");
      y.flags |= NVDLA_SDP_LUT;
    }
    y.alu = p.alu;
    y.mul = p.mul;
    y.mode = p.mode;
    y.operand_bytes = p.bytes;
    y.alu_value = p.alu_value;
    y.mul_value = p.mul_value;
    y.mul_truncate = op.truncate;
    y.operand = p.operand;
    // Only operands from memory pass the converters.
    const bool memory = p.mode != NVDLA_OPERAND_LAYER;
    if (memory && p.alu != NVDLA_ALU_NONE && op.cvt.alu_cvt.enable != 0) {
      y.flags |= NVDLA_SDP_CONVERT_ALU;
      y.alu_cvt = converter(op.cvt.alu_cvt);
    }
    if (memory && p.mul != NVDLA_MUL_NONE && op.cvt.mul_cvt.enable != 0) {
      y.flags |= NVDLA_SDP_CONVERT_MUL;
      y.mul_cvt = converter(op.cvt.mul_cvt);
    }
  }

  void convert(const PdpPart& part, bool flying, nvdla_pdp& pdp) {
    const PdpOp& op = part.op;
    const PairSurface& s = part.surface;
    const std::uint32_t type = precision(op.precision, "precision");
    pdp.method = op.pool_mode;
    if (op.pool_mode > NVDLA_POOL_MIN) refuse("pool_mode {} is not in 0..2", op.pool_mode);
    if (op.pool_width > 7 || op.pool_height > 7) {
      refuse("pool_width {} and pool_height {} are not in 0..7", op.pool_width, op.pool_height);
    }
    if (!flying) {
      pdp.precision = type;
      pdp.width = s.src_data.width;
      pdp.height = s.src_data.height;
      pdp.channels = s.src_data.channel;
      pdp.input = surface(s.src_data, NVDLA_SLOT_READ, "src_data");
    }
    pdp.kernel_width = op.pool_width + 1U;
    pdp.kernel_height = op.pool_height + 1U;
    pdp.stride_x = op.stride_x;
    pdp.stride_y = op.stride_y;
    pdp.pad_left = op.pad_left;
    pdp.pad_right = op.pad_right;
    pdp.pad_top = op.pad_top;
    pdp.pad_bottom = op.pad_bottom;
    if (op.pool_mode == NVDLA_POOL_AVERAGE) {
      const bool padded = (op.pad_left | op.pad_right | op.pad_top | op.pad_bottom) != 0;
      if (padded) {
        std::copy(op.padding_value.begin(), op.padding_value.end(), pdp.pad_value);
      }
      const bool real = type == NVDLA_PRECISION_FP16;
      pdp.recip_width = detail::pool_reciprocal(pdp.kernel_width, real);
      pdp.recip_height = detail::pool_reciprocal(pdp.kernel_height, real);
    }
    if (op.split_num == 0 || op.split_num > 64)
      refuse("split_num {} is not in 1..64", op.split_num);
    pdp.bands = op.split_num;
    if (op.split_num > 1) {
      pdp.first_out = op.partial_width_first;
      if (op.split_num > 2) pdp.mid_out = op.partial_width_mid;
      expect(OF(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_FIRST), op.partial_in_width_first,
             "partial_in_width_first");
      expect(OF(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_LAST), op.partial_in_width_last,
             "partial_in_width_last");
      expect(OF(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST), op.partial_width_last,
             "partial_width_last");
      if (op.split_num > 2) {
        expect(OF(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_MID), op.partial_in_width_mid,
               "partial_in_width_mid");
      }
    }
    pdp.output = surface(s.dst_data, NVDLA_SLOT_WRITE, "dst_data");
    expect(OF(PDP, D_DATA_CUBE_OUT_WIDTH, CUBE_OUT_WIDTH), s.dst_data.width, "dst_data.width");
    expect(OF(PDP, D_DATA_CUBE_OUT_HEIGHT, CUBE_OUT_HEIGHT), s.dst_data.height, "dst_data.height");
    expect(OF(PDP, D_DATA_CUBE_OUT_CHANNEL, CUBE_OUT_CHANNEL), s.dst_data.channel,
           "dst_data.channel");
  }

  void convert(const CdpPart& part, nvdla_layer& layer) {
    const CdpOp& op = part.op;
    const PairSurface& s = part.surface;
    nvdla_cdp& cdp = layer.cdp;
    cdp.precision = precision(op.in_precision, "in_precision");
    if (op.out_precision != op.in_precision) {
      refuse("out_precision {} is not in_precision {}: CDP does not convert", op.out_precision,
             op.in_precision);
    }
    if (s.dst_data.width != s.src_data.width || s.dst_data.height != s.src_data.height ||
        s.dst_data.channel != s.src_data.channel) {
      refuse("dst_data {}x{}x{} is not of the size of src_data {}x{}x{}", s.dst_data.channel,
             s.dst_data.height, s.dst_data.width, s.src_data.channel, s.src_data.height,
             s.src_data.width);
    }
    cdp.width = s.src_data.width;
    cdp.height = s.src_data.height;
    cdp.channels = s.src_data.channel;
    if (op.bypass_sqsum != 0) {
      cdp.flags |= NVDLA_CDP_BYPASS_SQUARE_SUM;
    } else {
      cdp.window = op.local_size;
    }
    if (op.bypass_out_mul != 0) cdp.flags |= NVDLA_CDP_BYPASS_MUL;
    if (cdp.precision != NVDLA_PRECISION_FP16) {
      cdp.in_cvt = converter(op.in_cvt);
      cdp.out_cvt = converter(op.out_cvt);
    }
    cdp.input = surface(s.src_data, NVDLA_SLOT_READ, "src_data");
    cdp.output = surface(s.dst_data, NVDLA_SLOT_WRITE, "dst_data");
    layer.lut = add_lut(op.lut_index, NVDLA_LUT_CDP, cdp.precision);
  }

  void convert(const RubikPart& part, nvdla_rubik& rubik) {
    need(NVDLA_HW_RUBIK, "Rubik");
    const RubikOp& op = part.op;
    const DataCube& src = part.surface.src_data;
    const DataCube& dst = part.surface.dst_data;
    if (op.mode > NVDLA_RUBIK_MERGE) refuse("mode {} is not in 0..2", op.mode);
    rubik.mode = op.mode;
    rubik.precision = precision(op.precision, "precision");
    rubik.width = src.width;
    rubik.height = src.height;
    rubik.channels = src.channel;
    rubik.input = surface(src, NVDLA_SLOT_READ, "src_data");
    rubik.output = surface(dst, NVDLA_SLOT_WRITE, "dst_data");
    std::uint32_t x = 1, y = 1;
    if (op.mode == NVDLA_RUBIK_CONTRACT) {
      rubik.stride_x = x = op.stride_x;
      rubik.stride_y = y = op.stride_y;
    }
    // Planes are stepped over by what a loadable calls a plane stride.
    if (op.mode == NVDLA_RUBIK_SPLIT) rubik.output.surface_stride = dst.plane_stride;
    if (op.mode == NVDLA_RUBIK_MERGE) rubik.input.surface_stride = src.plane_stride;
    if (dst.width != src.width * x || dst.height != src.height * y ||
        dst.channel * x * y != src.channel) {
      refuse("dst_data {}x{}x{} does not follow from src_data {}x{}x{}", dst.channel, dst.height,
             dst.width, src.channel, src.height, src.width);
    }
  }

  void convert(const BdmaPart& part, nvdla_bdma& bdma) {
    need(NVDLA_HW_BDMA, "BDMA");
    const BdmaSurface& s = part.surface;
    if (part.op.num_transfers != s.num_transfers) {
      refuse("num_transfers is {} in the operation, {} in the surfaces", part.op.num_transfers,
             s.num_transfers);
    }
    if (s.num_transfers == 0 || s.num_transfers > kMaxTransfers) {
      refuse("num_transfers {} is not in 1..{}", s.num_transfers, kMaxTransfers);
    }
    bdma.first_transfer = static_cast<std::uint32_t>(program_.transfers.size());
    bdma.num_transfers = s.num_transfers;
    for (std::size_t i = 0; i < s.num_transfers; ++i) {
      const BdmaTransfer& from = s.transfers[i];
      nvdla_transfer t = {};
      t.line_bytes = from.line_size;
      t.lines = from.line_repeat;
      t.surfaces = from.surface_repeat;
      std::tie(t.source.slot, t.source.offset) =
          place(s.source_type, from.source_address, 0, NVDLA_SLOT_READ, "source_address");
      t.source.line_stride = from.source_line;
      t.source.surface_stride = from.source_surface;
      std::tie(t.destination.slot, t.destination.offset) = place(
          s.destination_type, from.destination_address, 0, NVDLA_SLOT_WRITE, "destination_address");
      t.destination.line_stride = from.destination_line;
      t.destination.surface_stride = from.destination_surface;
      program_.transfers.push_back(t);
    }
  }

  /* -------------------------------------------------------- tables --- */

  // Index plus one, as a layer names it. A table is one for each unit and precision that uses it.
  std::uint32_t add_lut(std::int16_t index, std::uint32_t unit, std::uint32_t type) {
    if (index < 0 || static_cast<std::size_t>(index) >= dla_.luts.size()) {
      refuse("lut_index {}: the task has {} tables", index, dla_.luts.size());
    }
    const auto key = std::tuple(index, unit, type);
    if (const auto found = lut_of_.find(key); found != lut_of_.end()) return found->second;
    const LutParam& from = dla_.luts[static_cast<std::size_t>(index)];
    const bool real = type == NVDLA_PRECISION_FP16;
    nvdla_lut lut = {};
    lut.unit = unit;
    const auto low = [](std::uint16_t offset) { return static_cast<std::int8_t>(offset & 0xff); };
    if (from.method == 1) {
      lut.flags |= NVDLA_LUT_LE_LINEAR;
      lut.le_index_select = low(from.linear_exp_offset);
    } else {
      lut.le_index_offset = low(from.linear_exp_offset);
    }
    if (from.underflow_priority != 0) lut.flags |= NVDLA_LUT_UNDERFLOW_LO;
    if (from.overflow_priority != 0) lut.flags |= NVDLA_LUT_OVERFLOW_LO;
    if (from.hybrid_priority != 0) lut.flags |= NVDLA_LUT_HYBRID_LO;
    lut.lo_index_select = low(from.linear_only_offset);
    const auto input = [&](std::uint64_t value) {
      if (real) return static_cast<std::int64_t>(value & 0xffffffff);
      return sign_extend(value, unit == NVDLA_LUT_CDP ? 38 : 32);
    };
    lut.le_start = input(from.linear_exp_start);
    lut.le_end = input(from.linear_exp_end);
    lut.lo_start = input(from.linear_only_start);
    lut.lo_end = input(from.linear_only_end);
    const auto slope = [&](const LutSlope& s) {
      nvdla_lut_slope out = {};
      out.scale = real ? static_cast<std::uint16_t>(s.scale) : s.scale;
      out.shift = real ? 0 : s.shifter;
      return out;
    };
    lut.le_underflow = slope(from.linear_exp_underflow_slope);
    lut.le_overflow = slope(from.linear_exp_overflow_slope);
    lut.lo_underflow = slope(from.linear_only_underflow_slope);
    lut.lo_overflow = slope(from.linear_only_overflow_slope);
    std::copy(from.linear_exp_table.begin(), from.linear_exp_table.end(), lut.le);
    std::copy(from.linear_only_table.begin(), from.linear_only_table.end(), lut.lo);
    program_.luts.push_back(lut);
    const auto number = static_cast<std::uint32_t>(program_.luts.size());
    lut_of_.emplace(key, number);
    return number;
  }

  const Container& c_;
  const TaskEntry& entry_;
  const DlaTask& dla_;
  const nvdla_hw& hw_;
  std::string what_;
  std::string op_name_;
  std::uint32_t layer_ = 0;
  ConvertedProgram program_;
  std::map<std::uint16_t, std::uint32_t> slot_of_;
  std::map<std::tuple<std::int16_t, std::uint32_t, std::uint32_t>, std::uint32_t> lut_of_;
  std::map<const ConvOp*, bool> data_reused_, weights_reused_;
};

#undef OF

// Feature cubes in memory, each of which has lines of whole atoms.
template <typename F>
void for_each_cube(const DlaTask& task, F&& visit) {
  for (const Operation& op : task.operations) {
    if (const auto* conv = std::get_if<ConvPart>(&op.part)) {
      if (conv->op.data_format == kFormatFeature) visit(conv->surface.src_data);
    } else if (const auto* sdp = std::get_if<SdpPart>(&op.part)) {
      visit(sdp->surface.src_data);
      visit(sdp->surface.dst_data);
    } else if (const auto* pdp = std::get_if<PdpPart>(&op.part)) {
      visit(pdp->surface.src_data);
      visit(pdp->surface.dst_data);
    } else if (const auto* cdp = std::get_if<CdpPart>(&op.part)) {
      visit(cdp->surface.src_data);
      visit(cdp->surface.dst_data);
    } else if (const auto* rubik = std::get_if<RubikPart>(&op.part)) {
      if (rubik->op.mode != NVDLA_RUBIK_MERGE) visit(rubik->surface.src_data);
      if (rubik->op.mode != NVDLA_RUBIK_SPLIT) visit(rubik->surface.dst_data);
    }
  }
}

}  // namespace

std::optional<std::uint32_t> implied_atom(const DlaTask& task) {
  for (const std::uint32_t atom : {32U, 16U, 8U}) {
    bool possible = true, packed = false;
    for_each_cube(task, [&](const DataCube& cube) {
      if (!cube.in_memory()) return;
      const std::uint64_t line = std::uint64_t{cube.width} * atom;
      if (cube.line_stride < line || cube.line_stride % atom != 0) possible = false;
      if (cube.line_stride == line) packed = true;
    });
    if (possible && packed) return atom;
  }
  return std::nullopt;
}

ConvertedProgram convert_task(const Container& c, const Task& task, const nvdla_hw& hw) {
  return TaskConverter(c, task, hw).run();
}

}  // namespace nvdla::loadable
