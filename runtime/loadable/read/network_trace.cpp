// SPDX-License-Identifier: MIT
#include "loadable/read/network_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "backend/info.hpp"
#include "device/layer_outputs.hpp"
#include "device/program_accesses.hpp"
#include "loadable/read/convert.hpp"
#include "loadable/read/cpu_step.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "packing/precision.hpp"
#include "support/layer_places.hpp"

namespace nvdla::loadable {
namespace {

// So many lines are told apart; a tensor of more counts as written from its first to its last byte.
constexpr std::uint64_t kMostLines = 1 << 16;

// `Writers` knows which box wrote the bytes of a memory last.
class Writers {
 public:
  void write(std::uint64_t begin, std::uint64_t end, std::uint32_t box) {
    if (begin >= end) return;
    cut(begin);
    cut(end);
    parts_.erase(parts_.lower_bound(begin), parts_.lower_bound(end));
    parts_[begin] = {end, box};
  }
  std::set<std::uint32_t> of(std::uint64_t begin, std::uint64_t end) {
    std::set<std::uint32_t> boxes;
    cut(begin);
    for (auto i = parts_.lower_bound(begin); i != parts_.end() && i->first < end; ++i)
      boxes.insert(i->second.box);
    return boxes;
  }

 private:
  struct Part {
    std::uint64_t end = 0;
    std::uint32_t box = 0;
  };
  void cut(std::uint64_t at) {
    auto i = parts_.lower_bound(at);
    if (i == parts_.begin()) return;
    --i;
    if (i->second.end <= at) return;
    parts_[at] = i->second;
    i->second.end = at;
  }

  std::map<std::uint64_t, Part> parts_;
};

std::string text_of(const Shape& shape, Precision precision) {
  return fmt::format("{}{}x{}x{} {}", shape.batch > 1 ? fmt::format("{}x", shape.batch) : "",
                     shape.channels, shape.height, shape.width, detail::precision_name(precision));
}

class Tracing {
 public:
  Tracing(const Loadable& file, const nvdla_hw& hw)
      : impl_(file.impl()), hw_(hw), info_(detail::make_info(hw, "model")) {
    for (std::uint32_t i = 0; i < file.inputs(); ++i) add_input(impl_.inputs[i], file.input(i));
    for (const auto& submit : impl_.container.submits) {
      for (const std::uint16_t index : submit) {
        const Task& task = impl_.tasks[index];
        if (task.of_hardware()) {
          add(convert_task(impl_.container, task, hw));
        } else {
          for (const CpuStep& step : resolve_cpu(impl_.container, task, hw)) add(step);
        }
      }
    }
    for (std::uint32_t i = 0; i < file.outputs(); ++i) add_output(impl_.outputs[i], file.output(i));
  }

  NetworkTrace trace() && { return std::move(trace_); }

 private:
  std::uint32_t add_box(std::string name, TracedBox::Kind kind, std::uint32_t layer = 0) {
    trace_.boxes.push_back({std::move(name), kind, layer, {}});
    return static_cast<std::uint32_t>(trace_.boxes.size() - 1);
  }

  void read(std::uint16_t memory, std::uint64_t begin, std::uint64_t end, std::uint32_t box) {
    for (const std::uint32_t writer : writers_[memory].of(begin, end))
      if (writer != box) from_.insert(writer);
  }
  void finish_reading(std::uint32_t box) {
    for (const std::uint32_t from : from_) trace_.arrows.emplace_back(from, box);
    from_.clear();
  }

  // Lines apart, unless they lie without gaps.
  void write(std::uint16_t memory, const detail::LayerOutput& output, std::uint32_t box) {
    const TensorDesc& d = output.desc;
    const std::uint64_t line = d.shape.width * (d.planar ? d.element_bytes() : d.atom);
    const bool lines = d.line_stride == line || d.shape.height == 1;
    const bool surfaces = lines && (d.surface_stride == line * d.shape.height || d.surfaces() == 1);
    if (std::uint64_t{d.shape.batch} * d.surfaces() * d.shape.height > kMostLines) {
      writers_[memory].write(output.offset, output.offset + tensor_bytes(d), box);
      return;
    }
    for (std::uint32_t n = 0; n < d.shape.batch; ++n) {
      const std::uint64_t cube = output.offset + std::uint64_t{n} * d.batch_stride;
      for (std::uint32_t s = 0; s < (surfaces ? 1 : d.surfaces()); ++s) {
        const std::uint64_t surface = cube + std::uint64_t{s} * d.surface_stride;
        for (std::uint32_t y = 0; y < (lines ? 1 : d.shape.height); ++y) {
          const std::uint64_t begin = surface + std::uint64_t{y} * d.line_stride;
          const std::uint64_t bytes =
              line * (lines ? d.shape.height : 1) * (surfaces ? d.surfaces() : 1);
          writers_[memory].write(begin, begin + bytes, box);
        }
      }
    }
  }

  void add_input(const Loadable::Impl::Port& port, const LoadableTensor& tensor) {
    const std::uint32_t box =
        add_box(fmt::format("input '{}'", tensor.name), TracedBox::Kind::kInput);
    writers_[port.memory].write(0, impl_.container.memories[port.memory].size, box);
  }

  void add_output(const Loadable::Impl::Port& port, const LoadableTensor& tensor) {
    const std::uint32_t box =
        add_box(fmt::format("output '{}'", tensor.name), TracedBox::Kind::kOutput);
    read(port.memory, tensor.offset, tensor.offset + tensor.bytes, box);
    finish_reading(box);
  }

  void add(const ConvertedProgram& program) {
    const ProgramDesc desc = program.desc();
    const auto accesses = detail::program_accesses(info_, desc);
    auto access = accesses.begin();
    for (std::uint32_t i = 0; i < program.layers.size(); ++i) {
      const std::uint32_t box = add_box(impl_.step_name(steps_++, program.names[i]),
                                        TracedBox::Kind::kLayer, program.layers[i].kind);
      std::vector<detail::ProgramAccess> reads;
      for (; access != accesses.end() && access->layer == i; ++access) reads.push_back(*access);
      // All but one for each place that it writes, from where that begins.
      detail::for_each_place(program.layers[i], program.transfers,
                             [&](const auto& place, bool written) {
                               const auto there = [&](const detail::ProgramAccess& a) {
                                 return written && a.slot == place.slot && a.begin == place.offset;
                               };
                               const auto found = std::find_if(reads.begin(), reads.end(), there);
                               if (found != reads.end()) reads.erase(found);
                             });
      for (const detail::ProgramAccess& from : reads)
        read(program.memories[from.slot], from.begin, from.end, box);
      finish_reading(box);
      for (const detail::LayerOutput& output : detail::layer_outputs(desc, i, hw_.atom)) {
        write(program.memories[output.slot], output, box);
        trace_.boxes[box].tensor = text_of(output.desc.shape, output.desc.precision);
      }
    }
  }

  void add(const CpuStep& step) {
    const std::uint32_t box = add_box(impl_.step_name(steps_++, step.name), TracedBox::Kind::kCpu);
    for (const CpuStep::Range& source : step.sources)
      read(source.memory, source.begin, source.end, box);
    finish_reading(box);
    const CpuStep::Range& to = step.destination;
    if (step.output) {
      write(to.memory, *step.output, box);
      trace_.boxes[box].tensor = text_of(step.output->desc.shape, step.output->desc.precision);
    } else {
      writers_[to.memory].write(to.begin, to.end, box);
    }
  }

  const Loadable::Impl& impl_;
  const nvdla_hw& hw_;
  const DeviceInfo info_;
  NetworkTrace trace_;
  std::size_t steps_ = 0;
  std::map<std::uint16_t, Writers> writers_;
  std::set<std::uint32_t> from_;  // of the box that is added
};

}  // namespace

NetworkTrace trace_network(const Loadable& file, const nvdla_hw& hw) {
  return Tracing(file, hw).trace();
}

}  // namespace nvdla::loadable
