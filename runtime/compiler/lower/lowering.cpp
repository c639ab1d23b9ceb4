// SPDX-License-Identifier: MIT
#include "compiler/lower/lowering.hpp"

#include <algorithm>
#include <utility>

#include "compiler/graph/bounds.hpp"
#include "compiler/graph/views.hpp"
#include "compiler/lower/constant_pool.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla::detail {

std::string place_of(const Graph& graph, std::uint32_t tensor) {
  for (const IoTensor& port : graph.outputs) {
    if (port.tensor == tensor) return fmt::format("output '{}'", port.name);
  }
  return graph.tensor_name(tensor);
}

// SDP that processes int8 walks pairs of surfaces of an int16 cube, so there is room for an even
// number of them.
std::uint64_t cube_bytes(const TensorDesc& desc) {
  const bool pairs = desc.precision == Precision::kInt16 && !desc.planar && desc.pixel == 0;
  const std::uint32_t surfaces = desc.surfaces() + (pairs ? desc.surfaces() % 2 : 0);
  return std::uint64_t{surfaces} * desc.surface_stride;
}

Lowering::Lowering(const Graph& graph, const DeviceInfo& info) : graph_(graph), info_(info) {
  for (std::uint32_t i = 0; i < graph_.tensors.size(); ++i) allocate_tensor(i);
  for (const auto* tensors : {&graph_.inputs, &graph_.outputs})
    for (const IoTensor& port : *tensors) schedule_.allocations[port.tensor].dedicated = true;
}

std::uint32_t Lowering::allocate(std::string name, std::uint64_t bytes, std::uint32_t access,
                                 Memory memory) {
  schedule_.allocations.push_back(
      {std::move(name), make_slot(info_, bytes, access, memory), {}, false});
  return static_cast<std::uint32_t>(schedule_.allocations.size() - 1);
}

void Lowering::allocate_tensor(std::uint32_t index) {
  const TensorNode& tensor = graph_.tensors[index];
  const std::string place = place_of(graph_, index);
  with_error_context(place, std::nullopt, [&] {
    if (tensor.image) {
      allocate(place, image_bytes(info_, *tensor.image), NVDLA_SLOT_READ);
      return;
    }
    std::uint32_t access = 0;
    if (is_read(graph_, index) || !tensor.producer) access |= NVDLA_SLOT_READ;
    if (tensor.producer) access |= NVDLA_SLOT_WRITE;
    allocate(place, cube_bytes(tensor.desc) * tensor.shape.batch, access, tensor.memory);
  });
  nvdla_slot& slot = schedule_.allocations.back().slot;
  if (tensor.planar) slot.alignment = kPlaneAlign;
  if (!tensor.producer) return;
  const auto* conv = std::get_if<ConvNode>(&graph_.layers[*tensor.producer].part);
  if (conv != nullptr && conv->form.images > 1) slot.alignment = kBatchAlign;
}

nvdla_surface Lowering::surface(std::uint32_t tensor) const {
  nvdla_surface surface = tensor_surface(desc(tensor), tensor);
  for (const auto* view = &graph_.tensors[tensor].view; *view;
       view = &graph_.tensors[(*view)->whole].view) {
    surface = inside(surface, (*view)->corner, desc(tensor));
    surface.slot = (*view)->whole;
  }
  return surface;
}

Scratch Lowering::add_scratch(const Shape& shape, Precision precision, bool planar,
                              std::uint32_t lines) {
  TensorDesc desc;
  desc.shape = shape;
  desc.precision = precision;
  desc.atom = info_.atom;
  desc.planar = planar;
  desc = resolve(desc);
  desc.surface_stride = std::max(desc.surface_stride, desc.line_stride * lines);
  const std::uint64_t bytes = cube_bytes(desc);
  if (shape.batch > 1) desc.batch_stride = static_cast<std::uint32_t>(bytes);
  Scratch scratch;
  scratch.desc = desc;
  scratch.surface =
      tensor_surface(desc, allocate("an intermediate tensor of " + this_layer(),
                                    bytes * shape.batch, NVDLA_SLOT_READ | NVDLA_SLOT_WRITE));
  if (planar) schedule_.allocations.back().slot.alignment = kPlaneAlign;
  return scratch;
}

void Lowering::mark_read(std::uint32_t allocation) {
  schedule_.allocations[allocation].slot.access |= NVDLA_SLOT_READ;
}

ConstantPool Lowering::begin_constants() const {
  return ConstantPool(static_cast<std::uint32_t>(schedule_.allocations.size()));
}

void Lowering::commit_constants(ConstantPool pool, std::uint32_t alignment) {
  if (pool.bytes().empty()) return;
  // Some of the kernels may begin inside an entry of the buffer, and are fetched in whole ones.
  const std::uint64_t more = info_.has_weight_gating ? info_.cbuf_entry_bytes : 0;
  allocate("the constants of " + this_layer(), pool.bytes().size() + more, NVDLA_SLOT_READ);
  Allocation& constants = schedule_.allocations.back();
  constants.contents = std::move(pool).take();
  if (alignment != 0) constants.slot.alignment = alignment;
}

void Lowering::append(const LayerNode& node, const nvdla_layer& layer, Operation operation) {
  const auto wait_for = [&](std::uint32_t tensor) {
    const auto producer = graph_.tensors[tensor].producer;
    if (!producer) return;
    operation.after.insert(operation.after.end(), ends_[*producer].begin(), ends_[*producer].end());
  };
  wait_for(node.input);
  for (const std::uint32_t tensor : node.operands) wait_for(tensor);
  operation.origin = index_;
  schedule_.layers.push_back(layer);
  schedule_.operations.push_back(std::move(operation));
}

void Lowering::emit(const LayerNode& node, const nvdla_layer& layer, Operation operation) {
  operation.images = desc(node.input).shape.batch;
  append(node, layer, std::move(operation));
}

void Lowering::emit_transfers(const LayerNode& node, const std::vector<nvdla_transfer>& transfers) {
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_BDMA;
  layer.bdma.first_transfer = static_cast<std::uint32_t>(schedule_.transfers.size());
  layer.bdma.num_transfers = static_cast<std::uint32_t>(transfers.size());
  schedule_.transfers.insert(schedule_.transfers.end(), transfers.begin(), transfers.end());
  append(node, layer, {.name = node.name});
}

void Lowering::emit_cpu(const LayerNode& node, CpuWork work) {
  const auto index = static_cast<std::uint32_t>(schedule_.layers.size());
  schedule_.cpu.emplace(index, std::move(work));
  schedule_.segment_starts.insert({index, index + 1});
  nvdla_layer layer = {};
  layer.kind = Schedule::kCpu;
  schedule_.layers.push_back(layer);
  schedule_.operations.push_back({.name = node.name, .macs = node.macs, .origin = index_});
}

std::optional<std::uint32_t> Lowering::last() const {
  if (schedule_.layers.empty()) return std::nullopt;
  return static_cast<std::uint32_t>(schedule_.layers.size() - 1);
}

std::string Lowering::this_layer() const { return layer_text(index_, graph_.layers[index_].name); }

std::vector<std::uint32_t> Lowering::made_before(const LayerNode& node) const {
  std::vector<std::uint32_t> made;
  if (node.output == kNoTensor) return made;
  std::vector<std::uint32_t> parts = {node.input};
  if (const auto* concat = std::get_if<ConcatNode>(&node.part)) parts = concat->parts;
  for (const std::uint32_t part : parts) {
    const auto& view = graph_.tensors[part].view;
    if (view && view->whole == node.output) made.push_back(part);
  }
  // A slice that lies in its input was made with it.
  const bool slice = std::holds_alternative<SliceNode>(node.part);
  if (slice && graph_.tensors[node.output].view) made.push_back(node.input);
  return made;
}

void Lowering::lower_layer(std::uint32_t index) {
  const LayerNode& node = graph_.layers[index];
  if (!Graph::is_live(node)) {
    ends_.emplace_back();
    return;
  }
  index_ = index;
  const std::size_t before = schedule_.layers.size();
  with_error_context(this_layer(), index, [&] {
    std::visit([&](const auto& part) { lower(*this, node, part); }, node.part);
    if (is_held_apart(graph_, node, info_.has_sdp_y)) lower_bounds(*this, node);
  });
  std::vector<std::uint32_t> ends;
  for (const std::uint32_t part : made_before(node)) {
    const auto& producer = graph_.tensors[part].producer;
    if (!producer) continue;
    ends.insert(ends.end(), ends_[*producer].begin(), ends_[*producer].end());
  }
  if (schedule_.layers.size() > before) ends.push_back(*last());
  ends_.push_back(std::move(ends));
}

Schedule Lowering::take() && {
  schedule_.control = std::move(control_).take();
  return std::move(schedule_);
}

namespace {

constexpr std::uint64_t kStreamAlign = 256;

}  // namespace

std::uint64_t ConstantPool::add(std::uint64_t bytes) {
  const std::uint64_t offset = bytes_.size();
  const auto size =
      static_cast<std::size_t>((offset + bytes + kStreamAlign - 1) / kStreamAlign * kStreamAlign);
  // Weights come first, and much smaller operands follow: these do not move them.
  if (size > bytes_.capacity()) bytes_.reserve(size + size / 4);
  bytes_.resize(size);
  return offset;
}

void lower(Lowering& lowering, const LayerNode& node, const CpuNode& cpu) {
  const auto place = [&](std::uint32_t tensor) {
    return CpuPlace{lowering.surface(tensor), lowering.desc(tensor)};
  };
  CpuWork work{cpu, {place(node.input)}, place(node.output)};
  for (const std::uint32_t operand : node.operands) work.sources.push_back(place(operand));
  lowering.emit_cpu(node, std::move(work));
}

}  // namespace nvdla::detail
