// SPDX-License-Identifier: MIT
#include "nvdla/loadable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backend/info.hpp"
#include "loadable/format/note.hpp"
#include "loadable/read/compiled_loadable.hpp"
#include "loadable/read/convert.hpp"
#include "loadable/read/cpu_step.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "nvdla/types/error.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

using detail::throw_invalid_argument;
using loadable::MemoryEntry;
using Port = Loadable::Impl::Port;

std::shared_ptr<const Loadable::Impl> parse(loadable::Container container) {
  auto impl = std::make_shared<Loadable::Impl>();
  impl->container = std::move(container);
  const loadable::Container& c = impl->container;
  impl->user = loadable::read_user_table(c);
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
  if (index >= ports.size()) throw_invalid_argument("{} {} of {}", what, index, ports.size());
  return ports[index];
}

}  // namespace

std::uint64_t loadable::buffer_bytes(const MemoryEntry& memory) {
  const std::uint64_t bytes = loadable::whole_pages(memory.size);
  if (bytes < memory.size) {
    throw_invalid_argument("loadable: a memory of {} bytes does not fit the address space",
                           memory.size);
  }
  return bytes;
}

// Returns the bytes of a pixel of a tensor that lies as pixels, else 0. Such a tensor is stored as
// an image whose components have a sign and stand for reals.
std::uint32_t loadable::pixel_of(const TensorEntry& entry) {
  if (entry.data_category != kDataImage || !entry.quantization) return 0;
  const auto of = [&](LoadableType type, std::uint32_t bytes) {
    return entry.data_type == static_cast<std::uint8_t>(type) ? bytes : 0;
  };
  switch (entry.pixel_format) {
    case NVDLA_PIXEL_R8:
      return of(LoadableType::kInt8, 1);
    case NVDLA_PIXEL_A8B8G8R8:
      return of(LoadableType::kInt8, 4);
    case NVDLA_PIXEL_R16_I:
      return of(LoadableType::kInt16, 2);
    case NVDLA_PIXEL_A16B16G16R16:
      return of(LoadableType::kInt16, 8);
    case NVDLA_PIXEL_R16_F:
      return of(LoadableType::kFp16, 2);
    case NVDLA_PIXEL_A16B16G16R16_F:
      return of(LoadableType::kFp16, 8);
    default:
      return 0;
  }
}

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
  tensor.pixel = loadable::pixel_of(entry);
  tensor.quantization = entry.quantization;
  if (entry.has_model_sizes)
    tensor.model_sizes.emplace(entry.model_sizes.begin(), entry.model_sizes.end());
  tensor.model_layout = entry.channels_last ? Layout::kNhwc : Layout::kNchw;
  tensor.buffer_bytes = loadable::buffer_bytes(container.memories[port.memory]);
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
  throw_invalid_argument("no tensor is called '{}'; there is {}", name, names);
}

void Loadable::Impl::check(const nvdla_hw& hw) const {
  for (const loadable::Task& task : tasks) {
    if (task.of_hardware()) {
      loadable::check_program(loadable::convert_task(container, task, hw), hw);
    } else {
      loadable::resolve_cpu(container, task, hw);
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
  return Loadable(parse(loadable::parse_container(loadable::read_loadable(path))));
}

Loadable Loadable::load(std::span<const std::byte> bytes) {
  return Loadable(parse(loadable::parse_container(bytes)));
}

std::string_view Loadable::device() const noexcept { return loadable::device_of(impl_->container); }

std::string_view Loadable::cut_short() const noexcept {
  return loadable::cut_short_of(impl_->container);
}

std::string_view Loadable::note() const noexcept { return loadable::note_of(impl_->container); }

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

LoadableTensor Loadable::tensor(std::string_view name) const {
  return impl_->describe(impl_->port(name));
}

std::uint32_t Loadable::configurations() const {
  return static_cast<std::uint32_t>(impl_->made_for().size());
}

std::string_view Loadable::configuration(std::uint32_t index) const {
  const std::vector<const char*> names = impl_->made_for();
  if (index >= names.size()) throw_invalid_argument("configuration {} of {}", index, names.size());
  return names[index];
}

CompiledNetwork Loadable::compile(const Device& device, const BuildOptions& options) const {
  const std::string_view name = device.info().configuration;
  const nvdla_hw* hw = detail::find_configuration(device.info());
  if (hw == nullptr) {
    throw Error(ErrorCode::kNotAvailable,
                fmt::format("loadable: the device's configuration '{}' is unknown", name));
  }
  std::shared_ptr<const CompiledNetwork::Impl> compiled;
  try {
    compiled = std::make_shared<const loadable::CompiledLoadable>(*this, device, *hw, options);
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
  return detail::Handles::make<CompiledNetwork>(std::move(compiled));
}

Request Loadable::open(const Device& device, const BuildOptions& options) const {
  return compile(device, options).create_request();
}

}  // namespace nvdla
