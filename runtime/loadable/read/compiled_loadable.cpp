// SPDX-License-Identifier: MIT
#include "loadable/read/compiled_loadable.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "compiler/lower/schedule_text.hpp"
#include "device/buffers.hpp"
#include "device/build_steps.hpp"
#include "loadable/read/convert.hpp"
#include "loadable/read/cpu_step.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"

namespace nvdla::loadable {
namespace {

using detail::throw_invalid_argument;

void copy_contents(const Container& c, const MemoryEntry& memory, const Buffer& buffer) {
  if (memory.contents.empty()) return;
  const Map map = buffer.map(MapMode::kWrite);
  for (const Content& content : memory.contents) {
    const auto data = c.blobs[content.blob].data;
    if (!data.empty()) std::memcpy(map.data() + content.offset, data.data(), data.size());
  }
}

}  // namespace

CompiledLoadable::CompiledLoadable(Loadable file, const Device& on, const nvdla_hw& hw,
                                   const BuildOptions& options)
    : Impl(on), loadable_(std::move(file)) {
  statistics = options.statistics;
  const Container& c = this->file().container;
  uses_.resize(c.memories.size());
  std::size_t tasks = 0;
  for (const auto& submit : c.submits) tasks += submit.size();
  detail::BuildSteps steps(options, tasks + 1);
  for (const auto& submit : c.submits) {
    for (const std::uint16_t task : submit) {
      steps.begin(fmt::format("task {}", task));
      add(this->file().tasks[task], hw);
    }
  }
  steps.begin("constants");
  add_ports();
  // Others only hold descriptors.
  for (std::size_t i = 0; i < c.memories.size(); ++i) {
    const MemoryEntry& from = c.memories[i];
    nvdla_slot slot = {};
    if (uses_[i].used) slot.size = buffer_bytes(from);
    slot.access = uses_[i].written ? NVDLA_SLOT_WRITE : NVDLA_SLOT_READ;
    slot.memory = from.domain == kDomainSram ? NVDLA_MEMORY_SRAM : NVDLA_MEMORY_DRAM;
    slots.push_back(slot);
    slot_names.push_back(memory_name(c, static_cast<std::uint16_t>(i)));
  }
  add_constants();
}

void CompiledLoadable::add_cpu(const Task& task, const nvdla_hw& hw) {
  for (CpuStep& step : resolve_cpu(file().container, task, hw)) {
    detail::CpuPart part;
    part.name = file().step_name(steps_++, step.name);
    for (const CpuStep::Range& source : step.sources) {
      uses_[source.memory].used = true;
      part.sources.push_back(source.memory);
    }
    uses_[step.destination.memory].used = uses_[step.destination.memory].written = true;
    part.destination = step.destination.memory;
    part.output = std::move(step.output);
    part.run = std::move(step.run);
    part.operation = std::move(step.operation);
    part.inputs = std::move(step.inputs);
    parts.emplace_back(std::move(part));
  }
}

void CompiledLoadable::add(const Task& task, const nvdla_hw& hw) {
  if (!task.of_hardware()) return add_cpu(task, hw);
  ConvertedProgram source = convert_task(file().container, task, hw);
  check_program(source, hw);
  for (std::string& name : source.names) name = file().step_name(steps_++, std::move(name));
  detail::ProgramPart part;
  part.program = device.create_program(source.desc(statistics));
  part.first_layer = static_cast<std::uint32_t>(layers.size());
  for (std::size_t slot = 0; slot < source.memories.size(); ++slot) {
    const std::uint16_t in = source.memories[slot];
    const bool own = in == ConvertedProgram::kNoMemory;
    part.bound.push_back(own ? detail::ProgramPart::kOwn : in);
    if (own) continue;
    uses_[in].used = true;
    if ((source.slots[slot].access & NVDLA_SLOT_WRITE) != 0) uses_[in].written = true;
  }
  for (const nvdla_layer& layer : source.layers) {
    if (layer.conv.mode != NVDLA_CONV_IMAGE) continue;
    images_.push_back({source.memories[layer.conv.input.slot], layer.conv});
  }
  for (std::uint32_t i = 0; i < source.names.size(); ++i) {
    layers.push_back({source.names[i], 0, part.program.cycles(i)});
  }
  part.slot_names = std::move(source.slot_names);
  part.layer_names = std::make_shared<const std::vector<std::string>>(std::move(source.names));
  detail::Handles::impl(part.program)->name_layers(part.layer_names);
  static_cast<detail::OwnedProgram&>(part) = std::move(source);
  parts.emplace_back(std::move(part));
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

// All requests may read memories that are loaded and never written.
void CompiledLoadable::add_constants() {
  const std::vector<MemoryEntry>& memories = file().container.memories;
  for (std::uint32_t i = 0; i < memories.size(); ++i) {
    const bool shared =
        !memories[i].contents.empty() && !uses_[i].written && !memories[i].bindable();
    constants.emplace_back();
    if (!uses_[i].used) continue;
    if (shared) constants.back() = constant(i);
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

// Returns the pages of a blob that are all of the memory, or nullptr.
std::shared_ptr<detail::HostPages> CompiledLoadable::pages_of(std::uint32_t slot) const {
  const Container& c = file().container;
  const std::vector<Content>& contents = c.memories[slot].contents;
  if (contents.size() != 1 || contents[0].offset != 0) return nullptr;
  const auto& pages = c.blobs[contents[0].blob].pages;
  return pages != nullptr && pages->size() == slots[slot].size ? pages : nullptr;
}

Buffer CompiledLoadable::constant(std::uint32_t slot) const {
  const std::shared_ptr<detail::HostPages> pages = pages_of(slot);
  if (pages == nullptr) return allocate(slot);
  return detail::adopt_pages(device, pages, static_cast<Memory>(slots[slot].memory));
}

Buffer CompiledLoadable::allocate(std::uint32_t slot) const {
  const Buffer buffer = device.allocate(slots[slot].size, static_cast<Memory>(slots[slot].memory));
  copy_contents(file().container, file().container.memories[slot], buffer);
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

// The file has where a tensor begins; convolutions that read it have where both planes do.
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
  desc.pixel = t.pixel;
  return resolve(desc);
}

ImageDesc CompiledLoadable::image_desc(std::string_view name) const {
  const Loadable::Impl::Port& port = file().port(name);
  const LoadableTensor t = file().describe(port);
  if (!t.image()) throw_invalid_argument("'{}' is a tensor, not an image", name);
  ImageDesc desc;
  desc.format = static_cast<nvdla_pixel_format>(t.pixel_format);
  desc.width = t.shape.width;
  desc.height = t.shape.height;
  desc.line_stride = t.line_stride;
  if (pixel_layout(desc.format).planes == 2) find_second_plane(port, t, desc);
  return resolve(device.info(), desc);
}

std::string schedule_text(const Loadable& file, const Device& device) {
  const CompiledNetwork compiled = file.compile(device);
  return detail::print_schedule(detail::schedule_of(*detail::Handles::impl(compiled)));
}

}  // namespace nvdla::loadable
