// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "arith/integers.hpp"
#include "base/check.hpp"
#include "base/handles.hpp"
#include "compiler/graph/user_network.hpp"
#include "compiler/lower/builder.hpp"
#include "compiler/passes/expand.hpp"
#include "compiler/passes/plan_check.hpp"
#include "compiler/passes/winograd_plan.hpp"
#include "device/build_steps.hpp"
#include "device/check_memory.hpp"
#include "layout/cbuf.hpp"
#include "layout/layer_order.hpp"
#include "nvdla/folding.hpp"

namespace nvdla {
namespace detail {
namespace {

constexpr std::uint64_t kBlobAlign = 256;

// Bytes of one cube of a packed tensor. Where SDP processes int8 and a cube is int16 it walks pairs
// of surfaces, so there is room for an even number of them.
std::uint64_t cube_bytes(const TensorDesc& desc) {
  const bool pairs = desc.precision == Precision::kInt16 && !desc.planar;
  const std::uint32_t surfaces = desc.surfaces() + (pairs ? desc.surfaces() % 2 : 0);
  return std::uint64_t{surfaces} * desc.surface_stride;
}

// Moves a surface on to another cube of its batch; the layer works on one.
void select_cube(nvdla_surface& surface, std::uint32_t cube) {
  surface.offset += std::uint64_t{cube} * surface.batch_stride;
  surface.batch_stride = 0;
}

void select_cube(nvdla_layer& layer, std::uint32_t cube) {
  for (nvdla_surface* surface :
       {&layer.conv.input, &layer.conv.input_uv, &layer.sdp.x1.operand, &layer.sdp.x2.operand,
        &layer.sdp.y.operand, &layer.sdp.input, &layer.sdp.output, &layer.pdp.input,
        &layer.pdp.output, &layer.cdp.input, &layer.cdp.output, &layer.rubik.input,
        &layer.rubik.output}) {
    select_cube(*surface, cube);
  }
}

// Moves a convolution on to other cubes of its batch, on which it works at once.
void select_cubes(nvdla_layer& layer, std::uint32_t first) {
  for (nvdla_surface* surface : {&layer.conv.input, &layer.sdp.output}) {
    surface->offset += std::uint64_t{first} * surface->batch_stride;
  }
}

}  // namespace

std::uint64_t ConstantPool::add(std::uint64_t bytes) {
  const std::uint64_t offset = bytes_.size();
  const auto size =
      static_cast<std::size_t>((offset + bytes + kBlobAlign - 1) / kBlobAlign * kBlobAlign);
  // Weights come first, and much smaller operands follow: these do not move them.
  if (size > bytes_.capacity()) bytes_.reserve(size + size / 4);
  bytes_.resize(size);
  return offset;
}

void Builder::build(const BuildOptions& options, const ProgramLimits& limits) {
  if (net_.layers.empty()) refuse_argument("the network has no layer");
  const bool silent = std::any_of(net_.layers.begin(), net_.layers.end(),
                                  [](const LayerNode& l) { return l.output == kNoTensor; });
  if (net_.outputs.empty() && !silent) refuse_argument("the network has no output");
  fold_inputs_ = options.fold_inputs;
  fused_.resize(net_.layers.size());
  for (std::uint32_t i = 0; i < net_.layers.size(); ++i) {
    const LayerNode& node = net_.layers[i];
    const auto* part = std::get_if<ConvNode>(&node.part);
    cubes_.push_back(part == nullptr ? 1 : in_layer(i, [&] { return plan_cubes(node, *part); }));
  }
  parts_.emplace(net_, info_);
  for (std::uint32_t i = 0; i < net_.tensors.size(); ++i) add_tensor(i);
  BuildSteps steps(options, net_.layers.size() + 3);
  for (std::uint32_t i = 0; i < net_.layers.size(); ++i) {
    steps.begin(layer_text(i, net_.layers[i].name));
    add_layer(i);
  }
  steps.begin("memory");
  for (const auto* ports : {&net_.inputs, &net_.outputs})
    for (const IoTensor& port : *ports) allocations_[port.tensor].dedicated = true;
  cut_programs(schedule_, allocations_, limits);
  // Only a plan tells how many buffers a program has.
  do {
    place_allocations({.share = options.share_memory, .sram = options.sram_bytes});
  } while (cut_for_slots(schedule_, placed_, allocations_, limits));
  steps.begin("programs");
  create_parts(options.statistics);
  check_plan(plan_, allocations_, schedule_, accesses());
  steps.begin("constants");
  allocate_constants();
  for (const auto& port : net_.inputs) compiled_.inputs.push_back(make_port(port));
  for (const auto& port : net_.outputs) compiled_.outputs.push_back(make_port(port));
  compiled_.statistics = options.statistics;
  compiled_.user = user_network(net_, compiled_.layers, fused_);
}

std::uint32_t Builder::add_allocation(std::string name, std::uint64_t bytes, std::uint32_t access,
                                      Memory memory) {
  allocations_.push_back({std::move(name), make_slot(info_, bytes, access, memory), {}, false});
  return static_cast<std::uint32_t>(allocations_.size() - 1);
}

void Builder::place_allocations(const MemoryPlanOptions& options) {
  if (options.sram != 0) check_memory(info_, Memory::kSram);
  plan_ = plan_memory(allocations_, schedule_, options);
  placed_ = schedule_;
  assign_slots(plan_, placed_);
  compiled_.slots.clear();
  compiled_.slot_names.clear();
  for (const MemoryPlan::Slot& planned : plan_.slots) {
    std::string name = allocations_[planned.live_ranges.front().allocation].name;
    if (planned.live_ranges.size() > 1)
      name += fmt::format(" and {} more", planned.live_ranges.size() - 1);
    compiled_.slots.push_back(planned.slot);
    compiled_.slot_names.push_back(std::move(name));
    at_place(compiled_.slot_names.back(), std::nullopt,
             [&] { check_memory(info_, static_cast<Memory>(planned.slot.memory)); });
  }
  compiled_.memory = memory_use(plan_, allocations_);
}

void Builder::allocate_constants() {
  for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
    const MemoryPlan::Slot& planned = plan_.slots[i];
    Buffer& buffer = compiled_.constants.emplace_back();
    if (!holds_constants(planned, allocations_)) continue;
    at_place(compiled_.slot_names[i], std::nullopt, [&] {
      buffer = device_.allocate(planned.slot.size, static_cast<Memory>(planned.slot.memory));
    });
    const Map map = buffer.map(MapMode::kWrite);
    for (const MemoryPlan::LiveRange& tenant : planned.live_ranges) {
      const std::vector<std::byte>& contents = allocations_[tenant.allocation].contents;
      std::copy(contents.begin(), contents.end(),
                map.data() + plan_.places[tenant.allocation].offset);
    }
  }
}

std::string Builder::place_of(std::uint32_t tensor) const {
  for (const IoTensor& port : net_.outputs) {
    if (port.tensor == tensor) return fmt::format("output '{}'", port.name);
  }
  return net_.tensor_name(tensor);
}

std::uint32_t Builder::cubes_at_once(std::uint32_t tensor) const {
  const auto& producer = net_.tensors[tensor].producer;
  return producer ? cubes_[*producer] : 1;
}

TensorDesc Builder::tensor_desc(std::uint32_t index) const {
  const TensorNode& tensor = net_.tensors[index];
  if (const auto& part = parts_->of(index)) {
    TensorDesc desc = tensor_desc(part->whole);
    desc.shape = tensor.shape;
    return desc;
  }
  if (const nvdla_conv* conv = folded_for(index)) {
    return packed_tensor(info_, fold_width(*conv).shape, tensor.precision);
  }
  TensorDesc desc;
  desc.shape = tensor.shape;
  desc.precision = tensor.precision;
  desc.atom = info_.atom;
  desc.planar = tensor.planar;
  desc = resolve(desc);
  if (!tensor.producer) return desc;
  // Some layers write more than the tensor has.
  Shape room = tensor.shape;
  const auto& part = net_.layers[*tensor.producer].part;
  if (const auto* deconv = std::get_if<DeconvNode>(&part)) room = deconvolution_room(*deconv);
  if (const auto* conv = std::get_if<ConvNode>(&part)) {
    const auto winograd =
        in_layer(*tensor.producer, [&] { return plan_winograd(info_, *conv, tensor.precision); });
    if (winograd) room = conv_output(winograd->conv);
  }
  TensorDesc wide = desc;
  wide.shape = room;
  wide.line_stride = wide.surface_stride = wide.batch_stride = 0;
  wide = resolve(wide);
  desc.line_stride = wide.line_stride;
  desc.surface_stride = wide.surface_stride;
  desc.batch_stride = 0;
  if (cubes_[*tensor.producer] > 1) {
    desc.line_stride = static_cast<std::uint32_t>(arith::round_up(desc.line_stride, kBatchAlign));
    desc.surface_stride = desc.line_stride * desc.shape.height;
  }
  return desc;
}

// Slices are as far apart as what they are slices of; nothing else of several cubes is a part.
std::uint32_t Builder::batch_stride(std::uint32_t index, std::uint64_t bytes) const {
  const auto& part = parts_->of(index);
  return part ? descs_[part->whole].batch_stride : static_cast<std::uint32_t>(bytes);
}

void Builder::add_tensor(std::uint32_t index) {
  const TensorNode& tensor = net_.tensors[index];
  const std::string place = place_of(index);
  if (tensor.image) {
    at_place(place, std::nullopt,
             [&] { add_allocation(place, image_bytes(info_, *tensor.image), NVDLA_SLOT_READ); });
    descs_.push_back({.shape = tensor.shape, .precision = tensor.precision, .atom = info_.atom});
    return;
  }
  TensorDesc desc = tensor_desc(index);
  const std::uint64_t bytes = cube_bytes(desc);
  if (tensor.shape.batch > 1) desc.batch_stride = batch_stride(index, bytes);
  desc = resolve(desc);
  std::uint32_t access = 0;
  if (parts_->is_read(index) || !tensor.producer) access |= NVDLA_SLOT_READ;
  if (tensor.producer) access |= NVDLA_SLOT_WRITE;
  at_place(place, std::nullopt,
           [&] { add_allocation(place, bytes * tensor.shape.batch, access, tensor.memory); });
  nvdla_slot& slot = allocations_.back().slot;
  if (tensor.planar) slot.alignment = kPlaneAlign;
  if (tensor.producer && cubes_[*tensor.producer] > 1) slot.alignment = kBatchAlign;
  descs_.push_back(desc);
}

Builder::Scratch Builder::add_scratch(const Shape& shape, Precision precision, bool planar) {
  TensorDesc desc;
  desc.shape = shape;
  desc.precision = precision;
  desc.atom = info_.atom;
  desc.planar = planar;
  desc = resolve(desc);
  const std::uint64_t bytes = cube_bytes(desc);
  if (shape.batch > 1) desc.batch_stride = static_cast<std::uint32_t>(bytes);
  Scratch scratch;
  scratch.desc = desc;
  scratch.surface =
      tensor_surface(desc, add_allocation("an intermediate tensor of " + this_layer(),
                                          bytes * shape.batch, NVDLA_SLOT_READ | NVDLA_SLOT_WRITE));
  if (planar) allocations_.back().slot.alignment = kPlaneAlign;
  return scratch;
}

void Builder::commit_constants(ConstantPool blob) {
  if (blob.bytes().empty()) return;
  // Some of the kernels may begin inside an entry of the buffer, and are fetched in whole ones.
  const std::uint64_t more = info_.has_weight_gating ? info_.cbuf_entry_bytes : 0;
  add_allocation("the constants of " + this_layer(), blob.bytes().size() + more, NVDLA_SLOT_READ);
  allocations_.back().contents = std::move(blob).take();
}

void Builder::add_layer(std::uint32_t index) {
  const LayerNode& node = net_.layers[index];
  if (fused_[index]) {
    ends_.push_back(ends_[*net_.tensors[node.input].producer]);
    return;
  }
  this_layer_ = index;
  const std::size_t before = layers_.size();
  in_layer(index, [&] { std::visit([&](const auto& part) { add_part(node, part); }, node.part); });
  if (is_held_apart(node)) in_layer(index, [&] { add_bounds(node); });
  std::vector<std::uint32_t> ends;
  for (const std::uint32_t part : made_before(node)) {
    const auto& producer = net_.tensors[part].producer;
    if (!producer) continue;
    const auto& of_part = ends_[*producer];
    ends.insert(ends.end(), of_part.begin(), of_part.end());
  }
  if (layers_.size() > before) ends.push_back(static_cast<std::uint32_t>(layers_.size() - 1));
  ends_.push_back(std::move(ends));
}

void Builder::commit(const LayerNode& node, const nvdla_layer& layer, const std::string& name,
                     std::uint64_t macs) {
  const std::uint32_t cubes = descs_[node.input].shape.batch;
  const std::uint32_t most = std::max(layer.conv.batch, 1U);
  const bool keep = layer.conv.kernels != 0 && holds_all_weights(info_, layer.conv);
  for (std::uint32_t cube = 0; cube < cubes; cube += most) {
    const std::uint32_t count = std::min(most, cubes - cube);
    nvdla_layer one = layer;
    one.conv.batch = std::min(layer.conv.batch, count);
    if (keep && cube != 0) one.conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
    if (keep && cube + count < cubes) one.conv.flags |= NVDLA_CONV_KEEP_WEIGHTS;
    std::string own = name;
    if (count > 1) {
      select_cubes(one, cube);
      if (count < cubes) own += fmt::format(" cubes {}..{}/{}", cube + 1, cube + count, cubes);
    } else {
      select_cube(one, cube);
      if (cubes > 1) own += fmt::format(" cube {}/{}", cube + 1, cubes);
    }
    commit_one(node, one, own, macs / cubes * count);
  }
}

void Builder::commit_one(const LayerNode& node, nvdla_layer layer, const std::string& name,
                         std::uint64_t macs) {
  wait_for(layer, node.input);
  for (const std::uint32_t tensor : node.operands) wait_for(layer, tensor);
  layers_.push_back(layer);
  compiled_.layers.push_back({name, macs, 0, false, this_layer_});
}

void Builder::wait_for(nvdla_layer& layer, std::uint32_t tensor) const {
  // Bands and cubes of one layer end in order, as they use the same units: the last one is enough.
  if (const auto producer = net_.tensors[tensor].producer)
    for (const std::uint32_t end : ends_[*producer]) wait_for_end(layer, end);
}

void Builder::wait_for_end(nvdla_layer& layer, std::uint32_t end) const {
  const std::uint32_t unit = last_unit(layers_[end].kind);
  for (std::uint32_t w = 0; w < layer.num_waits; ++w) {
    if (last_unit(layers_[layer.waits[w]].kind) != unit) continue;
    layer.waits[w] = std::max(layer.waits[w], end);
    return;
  }
  add_wait(layer, end);
}

CompiledNetwork::Impl::Port Builder::make_port(const IoTensor& node) const {
  CompiledNetwork::Impl::Port port;
  port.name = node.name;
  port.desc = descs_[node.tensor];
  port.quantization = node.quantization;
  port.slot = plan_.places[node.tensor].slot;
  if (const auto& image = net_.tensors[node.tensor].image) port.image = resolve(info_, *image);
  if (const nvdla_conv* conv = folded_for(node.tensor)) port.folded = *conv;
  return port;
}

CompiledNetwork compile(const Network::Impl& net, const Device& device, const BuildOptions& options,
                        const ProgramLimits& limits) {
  auto compiled = std::make_shared<CompiledNetwork::Impl>(device);
  const auto expanded = expand_cpu_layers(net, device.info());
  Builder(expanded ? *expanded : net, device, *compiled).build(options, limits);
  return Handles::make<CompiledNetwork>(
      std::shared_ptr<const CompiledNetwork::Impl>(std::move(compiled)));
}

}  // namespace detail

CompiledNetwork Network::compile(const Device& device, const BuildOptions& options) const {
  return detail::compile(impl(), device, options, {});
}

Session Network::build(const Device& device, const BuildOptions& options) const {
  return Session(compile(device, options));
}

}  // namespace nvdla
