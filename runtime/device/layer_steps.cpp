// SPDX-License-Identifier: MIT
#include "device/layer_steps.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "backend/backend.hpp"
#include "device/layer_cuts.hpp"
#include "device/program_accesses.hpp"
#include "nvdla/device.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"
#include "support/rules.hpp"

namespace nvdla::detail {

// `StepRange` names bytes of a buffer.
struct StepRange {
  std::uint64_t begin = 0, end = 0;
};
using StepRanges = std::vector<StepRange>;

namespace {

// Beside what layers touch, for what a faulty device writes there.
constexpr std::uint64_t kMargin = 4096;
constexpr std::size_t kChunk = 4096;

// Returns the ranges in order and apart, each with its margin, within `size` bytes.
StepRanges merged(StepRanges ranges, std::uint64_t size) {
  for (StepRange& range : ranges) {
    range.begin -= std::min(range.begin, kMargin);
    range.end = std::min(size, range.end) + std::min(kMargin, size - std::min(size, range.end));
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const StepRange& a, const StepRange& b) { return a.begin < b.begin; });
  StepRanges apart;
  for (const StepRange& range : ranges) {
    if (range.begin >= range.end) continue;
    if (!apart.empty() && range.begin <= apart.back().end) {
      apart.back().end = std::max(apart.back().end, range.end);
    } else {
      apart.push_back(range);
    }
  }
  return apart;
}

template <typename T>
std::span<T> part_of(std::span<T> bytes, const StepRange& range) {
  return bytes.subspan(static_cast<std::size_t>(range.begin),
                       static_cast<std::size_t>(range.end - range.begin));
}

// Copies what layers touch of it. Memory of a new buffer is zero; zeros are not written there, so
// that the system need not have pages for them.
Buffer duplicate(const Device& device, const Buffer& buffer, const StepRanges& ranges) {
  Buffer copy = device.allocate(buffer.size(), buffer.memory());
  const Map from = buffer.map(MapMode::kRead), to = copy.map(MapMode::kReadWrite);
  for (const StepRange& range : ranges) {
    const std::span<const std::byte> bytes =
        part_of(std::span<const std::byte>(from.bytes()), range);
    for (std::size_t at = 0; at < bytes.size(); at += kChunk) {
      const auto chunk = bytes.subspan(at, std::min(kChunk, bytes.size() - at));
      const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
      if (!std::all_of(chunk.begin(), chunk.end(), is_zero))
        std::copy(chunk.begin(), chunk.end(), to.data() + range.begin + at);
    }
  }
  return copy;
}

}  // namespace

struct LayerRunner::Impl {
  // A buffer of the owner on both devices.
  struct Pair {
    Buffer device;
    Buffer reference;  // empty without one
  };

  // A device, and which of a pair is its own.
  struct Side {
    const Device* device = nullptr;
    Buffer Pair::*own = nullptr;
    const char* what = nullptr;
  };

  // `Snapshot` saves the contents of buffers and can restore them.
  struct Snapshot {
    struct Content {
      Pair pair;
      std::uint64_t begin = 0;
      std::vector<std::byte> bytes;
    };
    std::vector<Content> contents;

    void take(const Pair& pair, const StepRanges& ranges) {
      const Map map = pair.device.map(MapMode::kRead);
      for (const StepRange& range : ranges) {
        const auto bytes = part_of(std::span<const std::byte>(map.bytes()), range);
        contents.push_back({pair, range.begin, {bytes.begin(), bytes.end()}});
      }
    }
    void restore() const {
      for (const Content& content : contents) {
        for (const Buffer* buffer : {&content.pair.device, &content.pair.reference}) {
          if (!*buffer) continue;
          // Other bytes stay.
          const Map map = buffer->map(MapMode::kReadWrite);
          std::copy(content.bytes.begin(), content.bytes.end(), map.data() + content.begin);
        }
      }
    }
  };

  Impl(const Device& on, const Device* beside) : device(on) {
    if (beside != nullptr) reference = *beside;
  }

  Device device;
  std::optional<Device> reference;
  std::span<const LayerStep> steps;
  // Copies of buffers, by the owner's buffer.
  std::map<const BufferImpl*, Pair> pairs;
  // The bytes of each buffer that the steps touch. A file may declare memory that no layer uses.
  std::map<const BufferImpl*, StepRanges> used;

  void use(const Binding& binding, std::uint64_t begin, std::uint64_t end) {
    const BufferImpl* key = Handles::impl(binding.buffer).get();
    if (key == nullptr) return;
    const std::uint64_t size = key->size();
    const auto within = [&](std::uint64_t at) {
      return at > size - std::min(size, binding.offset) ? size : binding.offset + at;
    };
    used[key].push_back({within(begin), within(end)});
  }

  void find_used() {
    for (const LayerStep& step : steps) {
      if (const auto* cpu = std::get_if<CpuStep>(&step)) {
        // The access of a CPU operator is not described, so it may touch all bytes.
        use(cpu->bindings[cpu->part->destination], 0, ~std::uint64_t{0});
        for (const std::uint32_t slot : cpu->part->sources)
          use(cpu->bindings[slot], 0, ~std::uint64_t{0});
        continue;
      }
      const auto& program = std::get<ProgramStep>(step);
      for (const ProgramAccess& access : program_accesses(device.info(), program.part->desc()))
        use(program.bindings[access.slot], access.begin, access.end);
    }
    for (auto& [buffer, ranges] : used) ranges = merged(std::move(ranges), buffer->size());
  }

  const StepRanges& used_of(const Buffer& buffer) const {
    static const StepRanges kNone;
    const auto found = used.find(Handles::impl(buffer).get());
    return found == used.end() ? kNone : found->second;
  }

  void add(const Buffer& buffer, bool changed) {
    const BufferImpl* key = Handles::impl(buffer).get();
    if (key == nullptr || pairs.contains(key)) return;
    Pair pair;
    pair.device = changed ? duplicate(device, buffer, used_of(buffer)) : buffer;
    if (reference) pair.reference = duplicate(*reference, buffer, used_of(buffer));
    pairs.emplace(key, std::move(pair));
  }

  const Pair& pair(const Buffer& buffer) const { return pairs.at(Handles::impl(buffer).get()); }

  std::vector<Side> sides() const {
    std::vector<Side> all = {{&device, &Pair::device, "the device"}};
    if (reference) all.push_back({&*reference, &Pair::reference, "the reference"});
    return all;
  }

  Fence run_cut(const ProgramStep& step, const LayerCut& cut, const Side& side) const {
    std::vector<nvdla_layer> layers;
    std::vector<Binding> bindings;
    for (const Binding& binding : step.bindings) {
      bindings.push_back(binding.buffer ? Binding(pair(binding.buffer).*side.own, binding.offset)
                                        : Binding());
    }
    try {
      const Program program =
          side.device->create_program(cut_program(step.part->desc(), cut, layers));
      Fence fence = side.device->submit(program, bindings);
      fence.wait();
      return fence;
    } catch (const Error& error) {
      throw named(error, step, cut, side);
    }
  }

  // An error of a cut, whose layers have numbers of their own, in the owner's words.
  static Error named(const Error& error, const ProgramStep& step, const LayerCut& cut,
                     const Side& side) {
    const bool known = error.layer() >= 0 && error.layer() <= cut.last - cut.first;
    const std::uint32_t layer =
        known ? cut.first + static_cast<std::uint32_t>(error.layer()) : cut.last;
    const std::string& name = (*step.part->layer_names)[layer];
    const std::uint32_t first = step.part->first_layer;
    nvdla_error detail = error.detail();
    if (known) detail.index = first + layer;
    const std::string text =
        error.rule() == NVDLA_RULE_NONE
            ? fmt::format("{}, in a program of layers {}..{}: {}", layer_text(first + layer, name),
                          first + cut.first, first + cut.last, error.what())
            : rule_text(detail, {.layer = name, .slots = step.part->slot_names});
    return Error(static_cast<ErrorCode>(error.code().value()),
                 fmt::format("on {}, {}: {}", side.what, side.device->info().backend, text),
                 detail);
  }

  std::optional<LayerDifference> run(const ProgramStep& step, const LayerVisitor& visit) const {
    const std::uint32_t atom = device.info().atom;
    const std::vector<LayerCut> cuts = cut_layers(step.part->desc(), atom);
    Snapshot before;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const LayerCut& cut = cuts[i];
      if (cut.again) {
        before.restore();
      } else if (i + 1 < cuts.size() && cuts[i + 1].again) {
        before = {};
        for (std::size_t slot = 0; slot < step.bindings.size(); ++slot) {
          if ((step.part->slots[slot].access & NVDLA_SLOT_WRITE) != 0)
            before.take(pair(step.bindings[slot].buffer), used_of(step.bindings[slot].buffer));
        }
      }
      std::vector<Fence> fences;
      for (const Side& side : sides()) fences.push_back(run_cut(step, cut, side));
      if (auto found = look(step, cut, fences, visit)) return found;
    }
    return std::nullopt;
  }

  std::vector<LayerOutput> outputs_of(const ProgramStep& step, std::uint32_t layer) const {
    return layer_outputs(step.part->desc(), layer, device.info().atom);
  }

  std::optional<LayerDifference> look(const ProgramStep& step, const LayerCut& cut,
                                      std::span<const Fence> fences,
                                      const LayerVisitor& visit) const {
    for (std::uint32_t layer = cut.shown; layer <= cut.last; ++layer) {
      LayerTensor tensor;
      tensor.layer = step.part->first_layer + layer;
      tensor.layer_name = (*step.part->layer_names)[layer];
      tensor.kind = layer_kind_name(step.part->layers[layer].kind);
      for (const LayerOutput& output : outputs_of(step, layer)) {
        tensor.name = step.part->slot_names[output.slot];
        if (step.quantization) tensor.quantization = step.quantization(output.slot);
        const Binding& binding = step.bindings[output.slot];
        if (auto found = look(tensor, output, pair(binding.buffer), binding.offset, visit))
          return found;
      }
      if (reference) {
        const std::uint32_t at = layer - cut.first;
        auto found =
            compare_verdicts(tensor, fences[0].statistics()[at], fences[1].statistics()[at]);
        if (found) return found;
      }
    }
    return reference ? compare_rest(step, cut) : std::nullopt;
  }

  // `from` is where the slot begins in its buffer.
  std::optional<LayerDifference> look(LayerTensor& tensor, const LayerOutput& output,
                                      const Pair& buffers, std::uint64_t from,
                                      const LayerVisitor& visit) const {
    tensor.unit = output.unit;
    tensor.desc = output.desc;
    tensor.offset = from + output.offset;
    const auto begin = static_cast<std::size_t>(tensor.offset);
    const Map map = buffers.device.map(MapMode::kRead);
    tensor.bytes = map.bytes().subspan(begin);
    if (visit) visit(tensor);
    if (!reference) return std::nullopt;
    const Map other = buffers.reference.map(MapMode::kRead);
    return compare_elements(tensor, other.bytes().subspan(begin));
  }

  // All other bytes of the buffers that the layers write.
  std::optional<LayerDifference> compare_rest(const ProgramStep& step, const LayerCut& cut) const {
    for (std::uint32_t layer = cut.first; layer <= cut.last; ++layer) {
      for (const LayerOutput& output : outputs_of(step, layer)) {
        const Pair& buffers = pair(step.bindings[output.slot].buffer);
        const Map map = buffers.device.map(MapMode::kRead);
        const Map other = buffers.reference.map(MapMode::kRead);
        LayerTensor tensor;
        tensor.layer = step.part->first_layer + layer;
        tensor.layer_name = (*step.part->layer_names)[layer];
        tensor.unit = output.unit;
        tensor.name = step.part->slot_names[output.slot];
        std::optional<LayerDifference> first;
        for (const StepRange& range : used_of(step.bindings[output.slot].buffer)) {
          tensor.bytes = part_of(std::span<const std::byte>(map.bytes()), range);
          auto found =
              compare_bytes(tensor, part_of(std::span<const std::byte>(other.bytes()), range));
          if (!found) continue;
          found->offset += range.begin;
          found->elements = map.bytes().size();
          if (first) {
            first->different += found->different;
          } else {
            first = std::move(found);
          }
        }
        if (first) return first;
      }
    }
    return std::nullopt;
  }

  std::optional<LayerDifference> run(const CpuStep& step, const LayerVisitor& visit) const {
    for (const Side& side : sides()) {
      run_on(*step.part, [&](std::uint32_t slot) -> const Buffer& {
        return pair(step.bindings[slot].buffer).*side.own;
      });
    }
    if (!step.part->output) return std::nullopt;
    LayerTensor tensor;
    tensor.layer = step.part->layer.value_or(LayerTensor::kNoLayer);
    tensor.layer_name = step.part->name;
    tensor.kind = "cpu";
    tensor.name = step.tensor;
    tensor.quantization = step.quantization;
    const Binding& to = step.bindings[step.part->destination];
    return look(tensor, *step.part->output, pair(to.buffer), to.offset, visit);
  }
};

LayerRunner::LayerRunner(const Device& device, const Device* reference,
                         std::span<const LayerStep> steps, std::span<const Buffer> changed)
    : impl_(std::make_unique<Impl>(device, reference)) {
  if (reference != nullptr && reference->info().configuration != device.info().configuration) {
    throw_error(
        ErrorCode::kNotAvailable,
        "layers are compared on devices of one configuration: the device is {}, the reference "
        "{}",
        device.info().configuration, reference->info().configuration);
  }
  impl_->steps = steps;
  impl_->find_used();
  for (const Buffer& buffer : changed) impl_->add(buffer, true);
  const auto add = [&](bool changes) {
    for (const LayerStep& step : steps) {
      if (const auto* cpu = std::get_if<CpuStep>(&step)) {
        if (changes) impl_->add(cpu->bindings[cpu->part->destination].buffer, true);
        if (changes) continue;
        for (const std::uint32_t slot : cpu->part->sources)
          impl_->add(cpu->bindings[slot].buffer, false);
        continue;
      }
      const auto& program = std::get<ProgramStep>(step);
      for (std::size_t i = 0; i < program.bindings.size(); ++i) {
        const bool written = (program.part->slots[i].access & NVDLA_SLOT_WRITE) != 0;
        if (written == changes) impl_->add(program.bindings[i].buffer, changes);
      }
    }
  };
  add(true);
  add(false);
}

LayerRunner::~LayerRunner() = default;

std::optional<LayerDifference> LayerRunner::run(const LayerVisitor& visit) {
  for (const LayerStep& step : impl_->steps) {
    auto found = std::visit([&](const auto& work) { return impl_->run(work, visit); }, step);
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace nvdla::detail
