// SPDX-License-Identifier: MIT
#include "loadable/compiled_loadable.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "device/chain_fence.hpp"

namespace nvdla::loadable {
namespace {

using detail::refuse_argument;

void copy_contents(const Container& c, const MemoryEntry& memory, const Buffer& buffer) {
  if (memory.contents.empty()) return;
  const Map map = buffer.map(MapMode::kWrite);
  for (const Content& content : memory.contents) {
    const auto data = c.blobs[content.blob].data;
    if (!data.empty()) std::memcpy(map.data() + content.offset, data.data(), data.size());
  }
}

void run_emulated(const EmuStep& op, const Buffer& source, const Buffer& destination) {
  // One map where both are one buffer.
  const Map to = destination.map(MapMode::kReadWrite);
  if (op.source_memory == op.destination_memory) {
    run_emu(op, to.bytes(), to.bytes());
  } else {
    const Map from = source.map(MapMode::kRead);
    run_emu(op, from.bytes(), to.bytes());
  }
}

}  // namespace

CompiledLoadable::CompiledLoadable(Loadable file, const Device& on, const nvdla_hw& hw,
                                   const BuildOptions& options)
    : Impl(on), loadable_(std::move(file)) {
  statistics = options.statistics;
  const Container& c = this->file().container;
  uses_.resize(c.memories.size());
  for (const auto& submit : c.submits) {
    for (const std::uint16_t task : submit) add(this->file().tasks[task], hw);
  }
  add_ports();
  // Others only hold descriptors.
  for (std::size_t i = 0; i < c.memories.size(); ++i) {
    const MemoryEntry& from = c.memories[i];
    nvdla_slot slot = {};
    if (uses_[i].used) slot.size = buffer_bytes(from);
    slot.memory = from.domain == kDomainSram ? NVDLA_MEMORY_SRAM : NVDLA_MEMORY_DRAM;
    slots.push_back(slot);
    slot_names.push_back(memory_name(c, static_cast<std::uint16_t>(i)));
  }
  add_constants();
}

void CompiledLoadable::add(const Task& task, const nvdla_hw& hw) {
  const Container& c = file().container;
  if (!std::holds_alternative<DlaTask>(task.work)) {
    EmuSteps operations = resolve_emu(c, task);
    for (const EmuStep& op : operations) {
      uses_[op.source_memory].used = uses_[op.destination_memory].used = true;
      uses_[op.destination_memory].written = true;
    }
    steps_.emplace_back(std::move(operations));
    return;
  }
  DlaStep step;
  step.source = convert_task(c, task, hw);
  const ConvertedProgram& source = step.source;
  check_program(source, hw);
  step.program = device.create_program(source.desc(statistics));
  step.names = std::make_shared<const std::vector<std::string>>(source.names);
  for (std::size_t slot = 0; slot < source.memories.size(); ++slot) {
    if (source.memories[slot] == ConvertedProgram::kNoMemory) continue;
    Use& use = uses_[source.memories[slot]];
    use.used = true;
    if ((source.slots[slot].access & NVDLA_SLOT_WRITE) != 0) use.written = true;
  }
  for (const nvdla_layer& layer : source.layers) {
    if (layer.conv.mode != NVDLA_CONV_IMAGE) continue;
    images_.push_back({source.memories[layer.conv.input.slot], layer.conv});
  }
  for (std::uint32_t i = 0; i < source.names.size(); ++i) {
    layers.push_back({source.names[i], 0, step.program.cycles(i)});
  }
  steps_.emplace_back(std::move(step));
}

void CompiledLoadable::add_ports() {
  for (const auto* ports : {&file().inputs, &file().outputs}) {
    for (const Loadable::Impl::Port& from : *ports) {
      uses_[from.memory].used = true;
      const LoadableTensor t = file().describe(from);
      Port port;
      port.name = from.name;
      port.slot = from.memory;
      port.offset = t.offset;
      port.quantization = t.quantization.value_or(Quantization());
      port.integers_only = !t.quantization;
      try {
        if (from.input && t.image()) {
          port.image = image_desc(from.name);
        } else {
          port.desc = tensor_desc(from.name);
        }
      } catch (const Error& error) {
        port.unusable = error;
      }
      (from.input ? inputs : outputs).push_back(std::move(port));
    }
  }
}

// What is loaded and never written all requests may read.
void CompiledLoadable::add_constants() {
  const std::vector<MemoryEntry>& memories = file().container.memories;
  for (std::uint32_t i = 0; i < memories.size(); ++i) {
    const bool shared =
        !memories[i].contents.empty() && !uses_[i].written && !memories[i].bindable();
    constants.emplace_back();
    if (!uses_[i].used) continue;
    if (shared) constants.back() = allocate(i);
    const std::uint64_t bytes = slots[i].size;
    memory.buffers.push_back(
        {.memory = static_cast<Memory>(slots[i].memory),
         .bytes = bytes,
         .shared = shared,
         .tenants = {{.name = slot_names[i], .bytes = bytes, .always = true}}});
    memory.total += bytes;
    if (shared) memory.shared += bytes;
  }
  memory.apart = memory.peak = memory.total;
}

Buffer CompiledLoadable::allocate(std::uint32_t memory) const {
  const Buffer buffer =
      device.allocate(slots[memory].size, static_cast<Memory>(slots[memory].memory));
  copy_contents(file().container, file().container.memories[memory], buffer);
  return buffer;
}

std::vector<Binding> CompiledLoadable::make_bindings() const {
  std::vector<Binding> bindings;
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    if (!uses_[i].used || constants[i]) {
      bindings.emplace_back(constants[i]);
    } else {
      bindings.emplace_back(allocate(i));
    }
  }
  return bindings;
}

std::vector<Binding> CompiledLoadable::step_bindings(const DlaStep& step,
                                                     std::span<const Binding> memories) {
  std::vector<Binding> bound;
  for (const std::uint16_t memory : step.source.memories) {
    const bool some = memory != ConvertedProgram::kNoMemory;
    bound.push_back(some ? memories[memory] : Binding());
  }
  return bound;
}

Fence CompiledLoadable::submit(const DlaStep& step, const Queue& queue,
                               std::span<const Binding> memories,
                               const SubmitOptions& options) const {
  return detail::submit_named(queue, step.program, step_bindings(step, memories), options,
                              step.source.slot_names, step.names);
}

Fence CompiledLoadable::submit(const Queue& queue, std::span<const Binding> bindings,
                               const SubmitOptions& options) const {
  if (steps_.size() == 1 && std::holds_alternative<DlaStep>(steps_[0])) {
    return submit(std::get<DlaStep>(steps_[0]), queue, bindings, options);
  }
  struct Run {
    std::shared_ptr<const CompiledLoadable> net;
    Queue queue;
    std::vector<Binding> bindings;
  };
  const auto run = std::make_shared<const Run>(
      Run{shared_from_this(), queue, std::vector(bindings.begin(), bindings.end())});
  std::vector<detail::ChainStep> chain;
  for (const Step& step : steps_) {
    if (const auto* dla = std::get_if<DlaStep>(&step)) {
      chain.push_back({.submit = [run, dla](const SubmitOptions& terms) {
        return run->net->submit(*dla, run->queue, run->bindings, terms);
      }});
      continue;
    }
    for (const EmuStep& op : std::get<EmuSteps>(step)) {
      chain.push_back({.compute = [run, &op] {
        run_emulated(op, run->bindings[op.source_memory].buffer,
                     run->bindings[op.destination_memory].buffer);
      }});
    }
  }
  return detail::ChainFence::start(std::move(chain), options);
}

std::vector<detail::LayerStep> CompiledLoadable::layer_steps(std::span<const Binding> bindings,
                                                             KeptBindings& kept) const {
  std::vector<detail::LayerStep> all;
  std::uint32_t first_layer = 0;
  for (const Step& step : steps_) {
    if (const auto* operations = std::get_if<EmuSteps>(&step)) {
      for (const EmuStep& op : *operations) {
        const Buffer& to = bindings[op.destination_memory].buffer;
        all.emplace_back(
            detail::CpuStep{bindings[op.source_memory].buffer, to, emu_name(op),
                            slot_names[op.destination_memory], emu_output(op, to.size()),
                            [&op](auto source, auto target) { run_emu(op, source, target); }});
      }
      continue;
    }
    const auto& dla = std::get<DlaStep>(step);
    kept.push_back(step_bindings(dla, bindings));
    all.emplace_back(detail::ProgramStep{dla.source.desc(),
                                         kept.back(),
                                         dla.source.slot_names,
                                         {dla.source.names.begin(), dla.source.names.end()},
                                         first_layer,
                                         [this, &dla](std::uint32_t slot) {
                                           return written_quantization(dla.source.memories[slot]);
                                         }});
    first_layer += static_cast<std::uint32_t>(dla.source.names.size());
  }
  return all;
}

Quantization CompiledLoadable::written_quantization(std::uint32_t memory) const {
  for (const Port& port : outputs)
    if (port.slot == memory) return port.quantization;
  return {};
}

// Of a tensor the file says where it begins, convolutions that read it where both planes do.
void CompiledLoadable::find_second_plane(const Loadable::Impl::Port& port, const LoadableTensor& t,
                                         ImageDesc& desc) const {
  for (const Image& image : images_) {
    if (image.memory != port.memory || image.conv.pixel_format != t.pixel_format) continue;
    const nvdla_surface& first = image.conv.input;
    const nvdla_surface& second = image.conv.input_uv;
    // Other lines than the first of both planes.
    const std::uint64_t skipped = first.offset - t.offset;
    if (first.offset < t.offset || t.line_stride == 0 || skipped % t.line_stride != 0) continue;
    const std::uint64_t before = skipped / t.line_stride * second.line_stride + t.offset;
    if (second.offset < before) continue;
    desc.offset_uv = second.offset - before;
    desc.line_stride_uv = second.line_stride;
    return;
  }
  throw Error(ErrorCode::kNotAvailable,
              fmt::format("no convolution tells where the second plane of '{}' lies", t.name));
}

TensorDesc CompiledLoadable::tensor_desc(std::string_view name) const {
  const LoadableTensor t = file().describe(file().port(name));
  if (t.image()) {
    throw Error(ErrorCode::kNotAvailable,
                fmt::format("tensor '{}' is pixels of format {}: write_pixels() writes them", name,
                            pixel_format_name(t.pixel_format)));
  }
  TensorDesc desc;
  desc.shape = t.shape;
  switch (t.type) {
    case LoadableType::kInt8:
      desc.precision = Precision::kInt8;
      break;
    case LoadableType::kInt16:
      desc.precision = Precision::kInt16;
      break;
    case LoadableType::kFp16:
      desc.precision = Precision::kFp16;
      break;
    default:
      throw Error(ErrorCode::kNotAvailable,
                  fmt::format("tensor '{}' has elements of type {}, which feature cubes have not: "
                              "use its buffer",
                              name, static_cast<std::uint32_t>(t.type)));
  }
  desc.atom = device.info().atom;
  desc.line_stride = t.line_stride;
  desc.surface_stride = t.surface_stride;
  if (t.shape.batch > 1) desc.batch_stride = t.batch_stride;
  desc.planar = t.planar;
  return resolve(desc);
}

ImageDesc CompiledLoadable::image_desc(std::string_view name) const {
  const Loadable::Impl::Port& port = file().port(name);
  const LoadableTensor t = file().describe(port);
  if (!t.image()) refuse_argument("'{}' is a tensor, not an image", name);
  ImageDesc desc;
  desc.format = static_cast<nvdla_pixel_format>(t.pixel_format);
  desc.width = t.shape.width;
  desc.height = t.shape.height;
  desc.line_stride = t.line_stride;
  if (pixel_layout(desc.format).planes == 2) find_second_plane(port, t, desc);
  return resolve(device.info(), desc);
}

}  // namespace nvdla::loadable
