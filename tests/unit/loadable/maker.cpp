// SPDX-License-Identifier: MIT
#include "maker.hpp"

#include <algorithm>

#include "loadable/format/container.hpp"
#include "loadable/format/packed.hpp"

namespace nvdla::test {

using namespace loadable;

Operation make_operation(std::uint8_t type, std::int16_t index) {
  Operation op;
  op.common.index = index;
  op.common.op_type = type;
  switch (type) {
    case kConv:
      op.part = ConvPart{};
      break;
    case kSdp:
      op.part = SdpPart{};
      break;
    case kPdp:
      op.part = PdpPart{};
      break;
    case kCdp:
      op.part = CdpPart{};
      break;
    case kRubik:
      op.part = RubikPart{};
      break;
    default:
      break;
  }
  return op;
}

SdpPart make_sdp_part(std::uint32_t atom) {
  SdpPart part;
  part.op.out_cvt = {.scale = 1, .truncate = 0, .enable = 1, .offset = 0};
  part.op.batch_num = 1;
  part.op.x1_op.enable = 1;
  part.op.x1_op.act = 1;
  DataCube cube;
  cube.type = kCubeDram;
  cube.size = 2048;
  cube.width = cube.height = 8;
  cube.channel = 32;
  cube.line_stride = 8 * atom;
  cube.surf_stride = 64 * atom;
  part.surface.src_data = part.surface.dst_data = cube;
  part.surface.src_data.address = 1;
  part.surface.dst_data.address = 2;
  return part;
}

Maker::Maker(std::uint32_t atom_bytes) : atom(atom_bytes) {
  operations.push_back(make_operation(kSdp, 0));
  operations[0].part = make_sdp_part(atom);
  network.op_head[kSdp] = 0;
  for (std::size_t i = 0; i < 2048; ++i) source.push_back(static_cast<std::byte>(i * 37 % 256));
}

std::uint32_t Maker::add_blob(Container& c, const std::string& name, std::vector<std::byte> bytes) {
  kept_.push_back(std::move(bytes));
  Blob blob;
  blob.name = name;
  blob.version = version;
  blob.data = kept_.back();
  c.blobs.push_back(blob);
  return static_cast<std::uint32_t>(c.blobs.size() - 1);
}

Container Maker::container() {
  Container c;
  c.version = {0, 7, 0};
  const auto add = [&](const char* name, std::vector<std::byte> bytes) {
    MemoryEntry memory;
    memory.flags = kMemoryAlloc | kMemorySet;
    memory.size = bytes.size();
    memory.contents.push_back({add_blob(c, name, std::move(bytes)), 0});
    c.memories.push_back(memory);
  };
  std::vector<std::byte> graph, ops, surfaces, tables;
  for (const Operation& operation : operations) {
    const auto common = pack_descriptor(operation.common, revision);
    graph.insert(graph.end(), common.begin(), common.end());
    std::visit(
        [&](const auto& part) {
          auto op = pack_descriptor(part.op, revision);
          op.resize(kOpStride);
          ops.insert(ops.end(), op.begin(), op.end());
          auto surface = pack_descriptor(part.surface, revision);
          surface.resize(kSurfaceStride);
          surfaces.insert(surfaces.end(), surface.begin(), surface.end());
        },
        operation.part);
  }
  for (const LutParam& lut : luts) {
    const auto bytes = pack_descriptor(lut, revision);
    tables.insert(tables.end(), bytes.begin(), bytes.end());
  }
  NetworkDesc n = network;
  n.dependency_graph_index = 3;
  n.operation_desc_index = 4;
  n.surface_desc_index = 5;
  n.num_operations = static_cast<std::uint16_t>(operations.size());
  n.num_luts = static_cast<std::uint16_t>(luts.size());
  if (!luts.empty()) n.lut_data_index = 6;
  n.num_addresses = luts.empty() ? 6 : 7;
  add("net", pack_descriptor(n, revision));
  add("source", source);
  MemoryEntry output;
  output.flags = kMemoryAlloc | kMemoryOutput;
  output.size = tensor_bytes;
  c.memories.push_back(output);
  add("graph", graph);
  add("ops", ops);
  add("surfaces", surfaces);
  if (!luts.empty()) add("tables", tables);

  TaskEntry task;
  task.interface = kInterfaceDla;
  for (std::size_t i = 0; i < c.memories.size(); ++i) {
    c.addresses.push_back({static_cast<std::uint16_t>(i), 0, c.memories[i].size});
    task.addresses.push_back(static_cast<std::uint16_t>(i));
  }
  c.tasks.push_back(task);
  c.submits.push_back({0});

  TensorEntry tensor;
  tensor.name = "result";
  tensor.memory = 2;
  tensor.size = tensor_bytes;
  tensor.data_format = 3;
  tensor.data_type = 4;
  tensor.data_category = 2;
  tensor.pixel_format = 36;
  tensor.n = 1;
  tensor.c = 32;
  tensor.h = tensor.w = 8;
  tensor.stride[0] = 1;
  tensor.stride[1] = 8 * atom;
  tensor.stride[2] = 64 * atom;
  c.tensors.push_back(tensor);
  return c;
}

std::vector<std::byte> Maker::file() { return write_container(container()); }

}  // namespace nvdla::test
