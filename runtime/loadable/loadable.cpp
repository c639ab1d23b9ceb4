// SPDX-License-Identifier: MIT
#include "nvdla/loadable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "backend/info.hpp"
#include "base/check.hpp"
#include "base/rules.hpp"
#include "device/bound_buffer.hpp"
#include "device/layer_steps.hpp"
#include "loadable/convert.hpp"
#include "loadable/emulate.hpp"
#include "loadable/loadable_impl.hpp"
#include "nvdla/error.hpp"

namespace nvdla {
namespace {

using detail::refuse_argument;
using loadable::MemoryEntry;
using Port = Loadable::Impl::Port;

std::uint64_t buffer_bytes(const MemoryEntry& memory) {
  const std::uint64_t bytes = loadable::whole_pages(memory.size);
  if (bytes < memory.size) {
    refuse_argument("loadable: a memory of {} bytes does not fit the address space", memory.size);
  }
  return bytes;
}

std::shared_ptr<const Loadable::Impl> parse(std::vector<std::byte> file) {
  auto impl = std::make_shared<Loadable::Impl>();
  impl->container = loadable::parse_container(std::move(file));
  const loadable::Container& c = impl->container;
  for (std::size_t i = 0; i < c.tasks.size(); ++i) {
    impl->tasks.push_back(loadable::decode_task(c, static_cast<std::uint16_t>(i)));
  }
  const auto collect = [&](bool input, std::vector<Port>& ports) {
    for (std::size_t i = 0; i < c.memories.size(); ++i) {
      const MemoryEntry& memory = c.memories[i];
      if (!(input ? memory.input() : memory.output())) continue;
      if (ports.size() <= memory.bind_id) ports.resize(memory.bind_id + 1U);
      Port& port = ports[memory.bind_id];
      port.memory = static_cast<std::uint16_t>(i);
      port.tensor = memory.tensor;
      port.input = input;
      port.name = c.tensors[memory.tensor].name;
      if (port.name.empty()) {
        port.name = fmt::format("{}{}", input ? "input" : "output", memory.bind_id);
      }
    }
  };
  collect(true, impl->inputs);
  collect(false, impl->outputs);
  return impl;
}

const Port& at(const std::vector<Port>& ports, std::uint32_t index, const char* what) {
  if (index >= ports.size()) refuse_argument("{} {} of {}", what, index, ports.size());
  return ports[index];
}

}  // namespace

LoadableTensor Loadable::Impl::describe(const Port& port) const {
  const loadable::TensorEntry& entry = container.tensors[port.tensor];
  LoadableTensor tensor;
  tensor.name = port.name;
  tensor.input = port.input;
  tensor.shape = {.channels = static_cast<std::uint32_t>(entry.c),
                  .height = static_cast<std::uint32_t>(entry.h),
                  .width = static_cast<std::uint32_t>(entry.w),
                  .batch = static_cast<std::uint32_t>(entry.n)};
  tensor.type = entry.data_type <= static_cast<std::uint8_t>(LoadableType::kUint16)
                    ? static_cast<LoadableType>(entry.data_type)
                    : LoadableType::kUnknown;
  tensor.pixel_format = entry.pixel_format;
  // A feature cube has no pixels, whatever a file says of them.
  if (entry.data_category == loadable::kDataFeature) {
    tensor.pixel_format = std::max(tensor.pixel_format, std::uint32_t{loadable::kFormatFeature});
  }
  tensor.offset = entry.offset;
  tensor.bytes = entry.size;
  tensor.line_stride = entry.stride[1];
  tensor.surface_stride = entry.stride[2];
  tensor.batch_stride = entry.stride[3];
  tensor.planar = entry.data_category == loadable::kDataPlanar;
  tensor.buffer_bytes = buffer_bytes(container.memories[port.memory]);
  return tensor;
}

const Port& Loadable::Impl::port(std::string_view name) const {
  std::string names;
  for (const auto* ports : {&inputs, &outputs}) {
    for (const Port& port : *ports) {
      if (port.name == name) return port;
      names += (names.empty() ? "'" : ", '") + port.name + "'";
    }
  }
  refuse_argument("no tensor is called '{}'; there is {}", name, names);
}

void Loadable::Impl::check(const nvdla_hw& hw) const {
  for (const loadable::Task& task : tasks) {
    if (std::holds_alternative<loadable::DlaTask>(task.work)) {
      loadable::check_program(loadable::convert_task(container, task, hw), hw);
    } else {
      loadable::resolve_emu(container, task);
    }
  }
}

std::vector<const char*> Loadable::Impl::made_for() const {
  std::vector<const char*> names;
  for (std::uint32_t i = 0; i < nvdla_hw_count(); ++i) {
    // Whoever made the file may have had logic that was mended.
    const nvdla_hw& hw = detail::without_weight_gating(*nvdla_hw_get(i));
    try {
      check(hw);
      names.push_back(hw.name);
    } catch (const Error& error) {
      if (error.rule() == NVDLA_RULE_FEATURE &&
          error.detail().value == NVDLA_FEATURE_NOT_IMPLEMENTED) {
        names.push_back(hw.name);
      }
    }
  }
  return names;
}

Loadable::Loadable(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
Loadable::Loadable(const Loadable&) noexcept = default;
Loadable::Loadable(Loadable&&) noexcept = default;
Loadable& Loadable::operator=(const Loadable&) noexcept = default;
Loadable& Loadable::operator=(Loadable&&) noexcept = default;
Loadable::~Loadable() = default;

Loadable Loadable::load(std::string_view path) {
  return Loadable(parse(loadable::read_loadable(path)));
}

Loadable Loadable::load(std::span<const std::byte> bytes) {
  return Loadable(parse(std::vector<std::byte>(bytes.begin(), bytes.end())));
}

std::uint32_t Loadable::inputs() const noexcept {
  return static_cast<std::uint32_t>(impl_->inputs.size());
}

std::uint32_t Loadable::outputs() const noexcept {
  return static_cast<std::uint32_t>(impl_->outputs.size());
}

LoadableTensor Loadable::input(std::uint32_t index) const {
  return impl_->describe(at(impl_->inputs, index, "input"));
}

LoadableTensor Loadable::output(std::uint32_t index) const {
  return impl_->describe(at(impl_->outputs, index, "output"));
}

std::uint32_t Loadable::configurations() const {
  return static_cast<std::uint32_t>(impl_->made_for().size());
}

std::string_view Loadable::configuration(std::uint32_t index) const {
  const std::vector<const char*> names = impl_->made_for();
  if (index >= names.size()) refuse_argument("configuration {} of {}", index, names.size());
  return names[index];
}

/* --------------------------------------------------------- on a device --- */

struct LoadedNetwork::Impl {
  struct DlaStep {
    Program program;
    loadable::ConvertedProgram source;
  };
  using Step = std::variant<DlaStep, std::vector<loadable::EmuStep>>;

  Impl(Loadable file, Device on) : loadable(std::move(file)), device(std::move(on)) {}

  Loadable loadable;
  Device device;
  // By memory; empty for those that only hold descriptors.
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  struct Layer {
    std::string name;
    std::uint64_t cycles = 0;
  };
  std::vector<Layer> layers;
  // Convolutions that read pixels, and the memory of each.
  struct Image {
    std::uint16_t memory = 0;
    nvdla_conv conv = {};
  };
  std::vector<Image> images;
  std::vector<nvdla_layer_stats> statistics;
  bool counts = false;
  // The last run: whether it ended well, or why it failed, and memories that it did not have.
  bool ran = false;
  std::optional<Error> failure;
  std::set<std::uint16_t> rebound;

  const Loadable::Impl& file() const { return loadable.impl(); }
  const Port& input(std::string_view name) const {
    const Port& port = file().port(name);
    if (!port.input) refuse_argument("'{}' is an output: it is read, not written", name);
    return port;
  }

  // There was a run, and it ended well; `what` needs its results.
  void check_ran(std::string_view what) const {
    if (failure) {
      throw Error(static_cast<ErrorCode>(failure->code().value()),
                  fmt::format("{}: the last run failed: {}", what, failure->what()),
                  failure->detail());
    }
    if (!ran) refuse_argument("{}: the loadable has not run yet: run() it first", what);
  }

  // A tensor that can be read: an input, or an output of the last run.
  const Port& readable(std::string_view name) const {
    const Port& port = file().port(name);
    if (port.input) return port;
    const std::string what = fmt::format("reading '{}'", name);
    check_ran(what);
    if (rebound.contains(port.memory)) {
      refuse_argument("{}: it was bound to another buffer after the last run: run again first",
                      what);
    }
    return port;
  }

  // The bytes of a tensor in its mapped buffer.
  std::span<std::byte> bytes(const Port& port, const Map& map) const {
    return map.bytes().subspan(static_cast<std::size_t>(file().describe(port).offset));
  }

  void allocate(std::uint16_t memory) {
    if (buffers[memory]) return;
    const MemoryEntry& entry = file().container.memories[memory];
    buffers[memory] = device.allocate(
        buffer_bytes(entry), entry.domain == loadable::kDomainSram ? Memory::kSram : Memory::kDram);
    if (entry.contents.empty()) return;
    const Map map = buffers[memory].map(MapMode::kWrite);
    for (const loadable::Content& content : entry.contents) {
      const auto data = file().container.blobs[content.blob].data;
      if (!data.empty()) std::memcpy(map.data() + content.offset, data.data(), data.size());
    }
  }

  void add(const loadable::Task& task, const nvdla_hw& hw, bool count) {
    if (!std::holds_alternative<loadable::DlaTask>(task.work)) {
      auto steps_of_task = loadable::resolve_emu(file().container, task);
      for (const loadable::EmuStep& step : steps_of_task) {
        allocate(step.source_memory);
        allocate(step.destination_memory);
      }
      steps.emplace_back(std::move(steps_of_task));
      return;
    }
    DlaStep step;
    step.source = loadable::convert_task(file().container, task, hw);
    const loadable::ConvertedProgram& program = step.source;
    loadable::check_program(program, hw);
    step.program = device.create_program(program.desc(count));
    for (const std::uint16_t memory : program.memories) {
      if (memory != loadable::ConvertedProgram::kNoMemory) allocate(memory);
    }
    for (const nvdla_layer& layer : program.layers) {
      if (layer.conv.mode != NVDLA_CONV_IMAGE) continue;
      images.push_back({program.memories[layer.conv.input.slot], layer.conv});
    }
    for (std::uint32_t i = 0; i < program.names.size(); ++i) {
      layers.push_back({program.names[i], step.program.cycles(i)});
    }
    steps.emplace_back(std::move(step));
  }

  // Of a tensor the file says where it begins, convolutions that read it where both planes do.
  void find_second_plane(const Port& port, const LoadableTensor& t, ImageDesc& desc) const {
    for (const Image& image : images) {
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

  // A failure of a program, with operations and tensors by name.
  static Error named(const Error& error, const DlaStep& step) {
    const auto code = static_cast<ErrorCode>(error.code().value());
    if (error.rule() != NVDLA_RULE_NONE) {
      return Error(code, detail::rule_text(error.detail(), {.slots = step.source.slot_names}),
                   error.detail());
    }
    const std::int64_t layer = error.layer();
    const std::vector<std::string>& names = step.source.names;
    if (layer < 0 || layer >= static_cast<std::int64_t>(names.size())) return error;
    const std::string& name = names[static_cast<std::size_t>(layer)];
    return Error(code, fmt::format("'{}': {}", name, error.what()), error.detail());
  }

  std::vector<Binding> bindings(const DlaStep& step) const {
    std::vector<Binding> bound;
    for (const std::uint16_t memory : step.source.memories) {
      const bool some = memory != loadable::ConvertedProgram::kNoMemory;
      bound.push_back(some ? Binding(buffers[memory]) : Binding());
    }
    return bound;
  }

  void run(const DlaStep& step) {
    Fence fence;
    try {
      fence = device.submit(step.program, bindings(step));
      fence.wait();
    } catch (const Error& error) {
      throw named(error, step);
    }
    const auto counted = fence.statistics();
    statistics.insert(statistics.end(), counted.begin(), counted.end());
  }

  void run(const std::vector<loadable::EmuStep>& operations) {
    for (const loadable::EmuStep& op : operations) {
      // One map where both are one buffer.
      const Map to = buffers[op.destination_memory].map(MapMode::kReadWrite);
      if (op.source_memory == op.destination_memory) {
        loadable::run_emu(op, to.bytes(), to.bytes());
      } else {
        const Map from = buffers[op.source_memory].map(MapMode::kRead);
        loadable::run_emu(op, from.bytes(), to.bytes());
      }
    }
  }

  // All steps, layer by layer; `bound` is room for their bindings.
  std::vector<detail::LayerStep> layer_steps(std::vector<std::vector<Binding>>& bound) const {
    std::vector<detail::LayerStep> all;
    std::uint32_t first_layer = 0;
    bound.reserve(steps.size());
    for (const Step& step : steps) {
      if (const auto* operations = std::get_if<std::vector<loadable::EmuStep>>(&step)) {
        for (const loadable::EmuStep& op : *operations) {
          all.emplace_back(detail::CpuStep{
              buffers[op.source_memory], buffers[op.destination_memory], loadable::emu_name(op),
              loadable::memory_name(file().container, op.destination_memory),
              loadable::emu_output(op, buffers[op.destination_memory].size()),
              [&op](auto source, auto target) { loadable::run_emu(op, source, target); }});
        }
        continue;
      }
      const auto& dla = std::get<DlaStep>(step);
      bound.push_back(bindings(dla));
      all.emplace_back(detail::ProgramStep{dla.source.desc(),
                                           bound.back(),
                                           dla.source.slot_names,
                                           {dla.source.names.begin(), dla.source.names.end()},
                                           first_layer,
                                           {}});
      first_layer += static_cast<std::uint32_t>(dla.source.names.size());
    }
    return all;
  }

  std::optional<LayerDifference> run_layers(const Device* reference,
                                            const LayerVisitor& visit) const {
    std::vector<std::vector<Binding>> bound;
    const std::vector<detail::LayerStep> all = layer_steps(bound);
    return detail::LayerRunner(device, reference, all, {}).run(visit);
  }
};

LoadedNetwork Loadable::open(const Device& device, const BuildOptions& options) const {
  const std::string_view name = device.info().configuration;
  const nvdla_hw* hw = detail::find_configuration(device.info());
  if (hw == nullptr) {
    throw Error(ErrorCode::kNotAvailable,
                fmt::format("loadable: the device's configuration '{}' is unknown", name));
  }
  auto network = std::make_unique<LoadedNetwork::Impl>(*this, device);
  network->counts = options.statistics;
  network->buffers.resize(impl_->container.memories.size());
  try {
    for (const auto& submit : impl_->container.submits) {
      for (const std::uint16_t task : submit) {
        network->add(impl_->tasks[task], *hw, options.statistics);
      }
    }
  } catch (const Error& error) {
    std::string others;
    for (const char* other : impl_->made_for()) {
      if (name == other) throw;
      others += (others.empty() ? "" : ", ") + std::string(other);
    }
    if (others.empty()) throw;
    throw Error(ErrorCode::kNotAvailable,
                fmt::format("the loadable was made for {}, the device is {}: {}", others, name,
                            error.what()),
                error.detail());
  }
  for (const auto* ports : {&impl_->inputs, &impl_->outputs}) {
    for (const Impl::Port& port : *ports) network->allocate(port.memory);
  }
  return LoadedNetwork(std::move(network));
}

LoadedNetwork::LoadedNetwork(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
LoadedNetwork::LoadedNetwork(LoadedNetwork&&) noexcept = default;
LoadedNetwork& LoadedNetwork::operator=(LoadedNetwork&&) noexcept = default;
LoadedNetwork::~LoadedNetwork() = default;

LoadableTensor LoadedNetwork::tensor(std::string_view name) const {
  return impl_->file().describe(impl_->file().port(name));
}

TensorDesc LoadedNetwork::desc(std::string_view name) const {
  const LoadableTensor t = tensor(name);
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
  desc.atom = impl_->device.info().atom;
  desc.line_stride = t.line_stride;
  desc.surface_stride = t.surface_stride;
  if (t.shape.batch > 1) desc.batch_stride = t.batch_stride;
  desc.planar = t.planar;
  return resolve(desc);
}

ImageDesc LoadedNetwork::image(std::string_view name) const {
  const Port& port = impl_->input(name);
  const LoadableTensor t = impl_->file().describe(port);
  if (!t.image()) refuse_argument("'{}' is a tensor, not an image", name);
  ImageDesc desc;
  desc.format = static_cast<nvdla_pixel_format>(t.pixel_format);
  desc.width = t.shape.width;
  desc.height = t.shape.height;
  desc.line_stride = t.line_stride;
  if (pixel_layout(desc.format).planes == 2) impl_->find_second_plane(port, t, desc);
  return resolve(impl_->device.info(), desc);
}

const Buffer& LoadedNetwork::buffer(std::string_view name) const {
  return impl_->buffers[impl_->file().port(name).memory];
}

void LoadedNetwork::bind(std::string_view name, const Buffer& buffer) {
  const Port& port = impl_->file().port(name);
  const LoadableTensor t = impl_->file().describe(port);
  detail::check_bound(name, buffer, impl_->buffers[port.memory], t.buffer_bytes);
  impl_->buffers[port.memory] = buffer;
  impl_->rebound.insert(port.memory);
}

void LoadedNetwork::write(std::string_view name, Layout layout,
                          std::span<const std::int8_t> source) {
  const Port& port = impl_->input(name);
  const Map map = buffer(name).map(MapMode::kReadWrite);
  pack(desc(name), layout, source, impl_->bytes(port, map));
}

void LoadedNetwork::write(std::string_view name, Layout layout,
                          std::span<const std::int16_t> source) {
  const Port& port = impl_->input(name);
  const Map map = buffer(name).map(MapMode::kReadWrite);
  pack(desc(name), layout, source, impl_->bytes(port, map));
}

void LoadedNetwork::write(std::string_view name, Layout layout,
                          std::span<const std::uint16_t> source) {
  const Port& port = impl_->input(name);
  const Map map = buffer(name).map(MapMode::kReadWrite);
  pack(desc(name), layout, source, impl_->bytes(port, map));
}

void LoadedNetwork::write_pixels(std::string_view name, std::span<const std::byte> plane,
                                 std::span<const std::byte> plane_uv) {
  const ImageDesc desc = image(name);
  const Map map = buffer(name).map(MapMode::kReadWrite);
  pack_image(impl_->device.info(), desc, plane, plane_uv, impl_->bytes(impl_->input(name), map));
}

void LoadedNetwork::read(std::string_view name, Layout layout,
                         std::span<std::int8_t> target) const {
  const Port& port = impl_->readable(name);
  const Map map = buffer(name).map(MapMode::kRead);
  unpack(desc(name), layout, impl_->bytes(port, map), target);
}

void LoadedNetwork::read(std::string_view name, Layout layout,
                         std::span<std::int16_t> target) const {
  const Port& port = impl_->readable(name);
  const Map map = buffer(name).map(MapMode::kRead);
  unpack(desc(name), layout, impl_->bytes(port, map), target);
}

void LoadedNetwork::read(std::string_view name, Layout layout,
                         std::span<std::uint16_t> target) const {
  const Port& port = impl_->readable(name);
  const Map map = buffer(name).map(MapMode::kRead);
  unpack(desc(name), layout, impl_->bytes(port, map), target);
}

void LoadedNetwork::run() {
  impl_->statistics.clear();
  impl_->failure.reset();
  impl_->rebound.clear();
  impl_->ran = false;
  try {
    for (const Impl::Step& step : impl_->steps) {
      std::visit([&](const auto& work) { impl_->run(work); }, step);
    }
    impl_->ran = true;
  } catch (const Error& error) {
    impl_->failure = error;
    throw;
  }
}

std::uint32_t LoadedNetwork::layers() const noexcept {
  return static_cast<std::uint32_t>(impl_->layers.size());
}

std::string_view LoadedNetwork::layer_name(std::uint32_t layer) const {
  if (layer >= impl_->layers.size()) {
    refuse_argument("layer {}: the loadable has {}", layer, impl_->layers.size());
  }
  return impl_->layers[layer].name;
}

std::uint64_t LoadedNetwork::layer_cycles(std::uint32_t layer) const {
  layer_name(layer);
  return impl_->layers[layer].cycles;
}

std::span<const nvdla_layer_stats> LoadedNetwork::statistics() const {
  if (!impl_->counts) return {};
  impl_->check_ran("statistics");
  return impl_->statistics;
}

void LoadedNetwork::visit_layers(const LayerVisitor& visit) const {
  impl_->run_layers(nullptr, visit);
}

std::optional<LayerDifference> LoadedNetwork::compare_layers(const Device& reference,
                                                             const LayerVisitor& visit) const {
  return impl_->run_layers(&reference, visit);
}

}  // namespace nvdla
