// SPDX-License-Identifier: MIT
#include "half_file.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "host_ops/cube.hpp"
#include "loadable/format/container.hpp"
#include "loadable/format/packed.hpp"
#include "unit/loadable/maker.hpp"

namespace nvdla::test {

using namespace loadable;

namespace {

constexpr std::uint8_t kFp16 = 2;

// Kernel group, block of channels, row, column, kernel, channel.
std::vector<std::byte> pack_kernels(const Kernels& k) {
  std::vector<std::byte> stream;
  constexpr int kGroup = 16, kBlock = 64;
  for (int group = 0; group < k.count; group += kGroup) {
    for (int block = 0; block < k.channels; block += kBlock) {
      for (int r = 0; r < k.size; ++r) {
        for (int s = 0; s < k.size; ++s) {
          for (int n = group; n < std::min<int>(group + kGroup, k.count); ++n) {
            for (int c = block; c < std::min<int>(block + kBlock, k.channels); ++c) {
              const std::uint16_t half =
                  cpu::half_or_infinity(static_cast<float>(k.at(n, c, r, s)));
              stream.push_back(static_cast<std::byte>(half & 0xff));
              stream.push_back(static_cast<std::byte>(half >> 8));
            }
          }
        }
      }
    }
  }
  stream.resize((stream.size() + 127) / 128 * 128);
  return stream;
}

std::vector<std::byte> pack_bias(const Kernels& k) {
  std::vector<std::byte> stream((k.count + kHalfLanes - 1U) / kHalfLanes * kHalfAtom);
  for (std::size_t i = 0; i < k.bias.size(); ++i) {
    const std::uint16_t half = cpu::half_or_infinity(static_cast<float>(k.bias[i]));
    std::memcpy(&stream[2 * i], &half, sizeof(half));
  }
  return stream;
}

}  // namespace

HalfFile::HalfFile(Revision revision) : revision_(revision) { container_.version = {0, 7, 0}; }

std::uint16_t HalfFile::memory(std::uint64_t bytes, std::uint16_t flags) {
  MemoryEntry memory;
  memory.flags = flags;
  memory.size = bytes;
  container_.memories.push_back(memory);
  const auto number = static_cast<std::uint16_t>(container_.memories.size() - 1);
  container_.addresses.push_back({number, 0, bytes});
  return number;
}

std::uint16_t HalfFile::constant(std::vector<std::byte> bytes, Version version) {
  const std::uint16_t number = memory(bytes.size(), kMemoryAlloc | kMemorySet);
  kept_.push_back(std::move(bytes));
  Blob blob;
  blob.name = "tb-" + std::to_string(number);
  blob.version = version;
  blob.data = kept_.back();
  container_.blobs.push_back(blob);
  container_.memories[number].contents.push_back(
      {static_cast<std::uint32_t>(container_.blobs.size() - 1), 0});
  return number;
}

std::uint16_t HalfFile::tensor(const char* name, const HalfCube& size, bool input) {
  const std::uint16_t number =
      memory(size.bytes(),
             static_cast<std::uint16_t>(kMemoryAlloc | (input ? kMemoryInput : kMemoryOutput)));
  container_.memories[number].tensor = static_cast<std::uint16_t>(container_.tensors.size());
  TensorEntry t;
  t.name = name;
  t.id = container_.memories[number].tensor;
  t.memory = number;
  t.size = size.bytes();
  t.data_format = 3;
  t.data_type = 2;
  t.data_category = 2;
  t.pixel_format = 36;
  t.n = 1;
  t.c = size.channels;
  t.h = size.height;
  t.w = size.width;
  t.stride[0] = 2;
  t.stride[1] = size.line();
  t.stride[2] = size.surface();
  container_.tensors.push_back(t);
  return number;
}

void HalfFile::task(std::uint32_t interface, std::uint16_t descriptor) {
  TaskEntry task;
  task.interface = interface;
  task.addresses.push_back(descriptor);
  for (std::size_t i = 0; i < container_.memories.size(); ++i) {
    task.addresses.push_back(static_cast<std::uint16_t>(i));
  }
  container_.tasks.push_back(task);
  container_.submits.push_back({static_cast<std::uint16_t>(container_.tasks.size() - 1)});
}

DataCube HalfFile::cube(std::uint16_t memory, const HalfCube& size) {
  DataCube c;
  c.type = kCubeDram;
  c.address = position(memory);
  c.size = size.bytes();
  c.width = size.width;
  c.height = size.height;
  c.channel = size.channels;
  c.line_stride = size.line();
  c.surf_stride = size.surface();
  return c;
}

void HalfFile::emu_task(EmuType type, float scale, std::uint16_t from, std::uint16_t to,
                        const HalfCube& size) {
  const bool old = revision_ == Revision::kOld;
  std::vector<std::byte> op, buffers;
  Packer put_op{op}, put_buffer{buffers};
  std::uint8_t kind = type;
  float one = 1, zero = 0;
  put_op("", kind);
  if (!old) {
    op.resize(4);
    put_op("", one);
    put_op("", one);
  }
  if (type == kPower) {
    put_op("", one);
    put_op("", scale);
    put_op("", zero);
  }
  op.resize(old ? 16 : 24);
  for (std::uint16_t memory : {from, to}) {
    buffers.resize(memory == from ? 0 : 256);
    std::int16_t address = position(memory);
    std::uint32_t offset = 0, bytes = size.bytes(), line = size.line(), surface = size.surface();
    std::uint16_t format = old ? 2 : 3, w = size.width, h = size.height, c = size.channels;
    put_buffer("", address);
    if (!old) put_buffer("", offset);
    put_buffer("", bytes);
    put_buffer("", format);
    put_buffer("", w);
    put_buffer("", h);
    put_buffer("", c);
    put_buffer("", line);
    put_buffer("", surface);
  }
  buffers.resize(512);
  const std::uint16_t ops = constant(op), list = constant(buffers);
  std::vector<std::byte> descriptor;
  Packer put{descriptor};
  std::int16_t op_index = position(ops), list_index = position(list);
  std::uint16_t count = 1;
  put("", op_index);
  put("", list_index);
  put("", count);
  descriptor.resize(256);
  task(kInterfaceEmu, constant(descriptor, {0, 0, 1}));
}

void HalfFile::dla_task(const std::vector<Operation>& operations) {
  std::vector<std::byte> graph, ops, surfaces;
  NetworkDesc n;
  for (const Operation& operation : operations) {
    const CommonDesc& common = operation.common;
    if (n.op_head[common.op_type] == -1) n.op_head[common.op_type] = common.index;
    const auto bytes = pack_descriptor(common, revision_);
    graph.insert(graph.end(), bytes.begin(), bytes.end());
    std::visit(
        [&](const auto& part) {
          auto op = pack_descriptor(part.op, revision_);
          op.resize(kOpStride);
          ops.insert(ops.end(), op.begin(), op.end());
          auto surface = pack_descriptor(part.surface, revision_);
          surface.resize(kSurfaceStride);
          surfaces.insert(surfaces.end(), surface.begin(), surface.end());
        },
        operation.part);
  }
  n.dependency_graph_index = position(constant(graph));
  n.operation_desc_index = position(constant(ops));
  n.surface_desc_index = position(constant(surfaces));
  n.num_operations = static_cast<std::uint16_t>(operations.size());
  const Version version = {0, static_cast<std::uint8_t>(revision_ == Revision::kOld ? 11 : 12), 0};
  task(kInterfaceDla, constant(pack_descriptor(n, revision_), version));
}

std::vector<std::byte> HalfFile::bytes() const { return write_container(container_); }

void HalfLayers::convolution(const Kernels& k, std::uint8_t data_banks) {
  const HalfCube out = {k.count, static_cast<std::uint16_t>(size_.height - k.size + 1),
                        static_cast<std::uint16_t>(size_.width - k.size + 1)};
  ConvPart conv;
  ConvOp& op = conv.op;
  // Entries of 128 bytes hold four atoms; a line's last atoms may share one in halves.
  const unsigned atoms = (k.channels + kHalfLanes - 1U) / kHalfLanes;
  const unsigned rest = atoms % 4, w = size_.width;
  op.entry_per_slice = static_cast<std::uint16_t>(atoms / 4 * w + (rest == 3   ? w
                                                                   : rest == 2 ? (w + 1) / 2
                                                                   : rest == 1 ? (w + 3) / 4
                                                                               : 0));
  op.data_format = kFormatFeature;
  op.fetch_grain = 1;
  op.batch = 1;
  op.data_bank = data_banks;
  op.weight_bank = static_cast<std::uint8_t>(16 - data_banks);
  op.release = op.input_height_csc = size_.height;
  op.input_width_csc = size_.width;
  op.input_channel_csc = op.kernel_channel_csc = k.channels;
  op.kernel_width_csc = op.kernel_height_csc = k.size;
  op.input_width_cmac = out.width;
  op.input_height_cmac = out.height;
  op.bytes_per_kernel = 2U * k.channels * k.size * k.size;
  op.conv_stride_x = op.conv_stride_y = op.dilation_x = op.dilation_y = 1;
  op.in_precision = op.out_precision = kFp16;
  op.out_cvt = {.scale = 1, .truncate = 0, .enable = 1, .offset = 0};
  const std::vector<std::byte> stream = pack_kernels(k);
  DataCube& weights = conv.surface.weight_data;
  weights.type = kCubeDram;
  weights.address = HalfFile::position(file_.constant(stream));
  weights.size = static_cast<std::uint32_t>(stream.size());
  weights.width = weights.height = k.size;
  weights.channel = k.channels;
  conv.surface.src_data = HalfFile::cube(memory_, size_);
  conv.surface.dst_data.width = out.width;
  conv.surface.dst_data.height = out.height;
  conv.surface.dst_data.channel = out.channels;

  const std::int16_t parent = add(kConv, conv);
  SdpPart part = sdp(out);
  part.surface.src_data = {};
  part.op.x1_op = {.enable = 1,
                   .alu_type = 2,
                   .type = 2,
                   .mode = 1,
                   .act = 0,
                   .shift_value = 0,
                   .truncate = 0,
                   .precision = kFp16,
                   .alu_operand = 0,
                   .mul_operand = 0,
                   .cvt = {}};
  const std::vector<std::byte> bias = pack_bias(k);
  part.surface.x1_data = HalfFile::cube(file_.constant(bias), {k.count, 1, 1});
  const std::int16_t index = add(kSdp, part);
  tell(parent, index, kProgrammed);
  operations_[static_cast<std::size_t>(index)].common.fused_parent = {parent, kEnabled, 0};
  end(index, out);
}

void HalfLayers::relu() {
  SdpPart part = sdp(size_);
  part.op.x1_op.enable = part.op.x1_op.act = 1;
  part.op.x1_op.precision = kFp16;
  end(add(kSdp, part), size_);
}

void HalfLayers::pooling() {
  const HalfCube out = {size_.channels, static_cast<std::uint16_t>(size_.height / 2),
                        static_cast<std::uint16_t>(size_.width / 2)};
  PdpPart part;
  part.op.split_num = 1;
  part.op.pool_mode = part.op.pool_width = part.op.pool_height = 1;
  part.op.stride_x = part.op.stride_y = 2;
  part.op.precision = kFp16;
  part.surface.src_data = HalfFile::cube(memory_, size_);
  part.surface.dst_data = HalfFile::cube(file_.memory(out.bytes()), out);
  end(add(kPdp, part), out);
}

std::vector<Operation> HalfLayers::operations() {
  for (const Operation& op : operations_) {
    for (const Consumer& c : op.common.consumers) count(c);
    count(op.common.fused_parent);
  }
  return operations_;
}

SdpPart HalfLayers::sdp(const HalfCube& out) {
  SdpPart part;
  part.op.src_precision = part.op.dst_precision = kFp16;
  part.op.out_cvt = {.scale = 1, .truncate = 0, .enable = 1, .offset = 0};
  part.op.batch_num = 1;
  part.surface.src_data = HalfFile::cube(memory_, size_);
  part.surface.dst_data = HalfFile::cube(file_.memory(out.bytes()), out);
  return part;
}

template <typename Part>
std::int16_t HalfLayers::add(std::uint8_t type, const Part& part) {
  const auto index = static_cast<std::int16_t>(operations_.size());
  Operation op = make_operation(type, index);
  op.part = part;
  operations_.push_back(op);
  // An operation waits for the layer before, unless it is SDP on the fly behind a convolution
  // that does. The hardware keeps the order within a type.
  const bool on_the_fly = type == kSdp && index != 0 &&
                          operations_[static_cast<std::size_t>(index - 1)].common.op_type == kConv;
  if (last_of_[type] != -1) tell(last_of_[type], index, kProgrammed);
  if (end_ != -1 && !on_the_fly) tell(end_, index, kCompleted);
  last_of_[type] = index;
  return index;
}

void HalfLayers::tell(std::int16_t from, std::int16_t to, std::uint8_t event) {
  const std::uint8_t type = operations_[static_cast<std::size_t>(to)].common.op_type;
  operations_[static_cast<std::size_t>(from)].common.consumers[type] = {to, event, 0};
}

void HalfLayers::count(const Consumer& c) {
  if (c.index != -1) ++operations_[static_cast<std::size_t>(c.index)].common.dependency_count;
}

void HalfLayers::end(std::int16_t index, const HalfCube& out) {
  end_ = index;
  size_ = out;
  memory_ = static_cast<std::uint16_t>(std::visit(
                                           [](const auto& part) -> int {
                                             if constexpr (requires { part.surface.dst_data; }) {
                                               return part.surface.dst_data.address;
                                             }
                                             return 0;
                                           },
                                           operations_[static_cast<std::size_t>(index)].part) -
                                       1);
}

}  // namespace nvdla::test
