// SPDX-License-Identifier: MIT
//
// Runs of a compiled network: its parts as one submission, or layer by layer.
#include <map>
#include <memory>
#include <memory_resource>
#include <utility>
#include <vector>

#include "device/chain_fence.hpp"
#include "device/compiled_impl.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"
#include "support/rules.hpp"
#include "support/stack_memory.hpp"

namespace nvdla {

// One map of each buffer, whoever shares it.
void detail::run_on(const CpuPart& part,
                    const std::function<const Buffer&(std::uint32_t slot)>& buffer) {
  std::map<const BufferImpl*, Map> maps;
  const auto map = [&](std::uint32_t slot, MapMode mode) {
    const Buffer& of_slot = buffer(slot);
    const BufferImpl* const key = Handles::impl(of_slot).get();
    const auto found = maps.find(key);
    return (found != maps.end() ? found : maps.emplace(key, of_slot.map(mode)).first)
        ->second.bytes();
  };
  const std::span<std::byte> destination = map(part.destination, MapMode::kReadWrite);
  std::vector<CpuPart::Bytes> sources;
  for (const std::uint32_t slot : part.sources) sources.emplace_back(map(slot, MapMode::kRead));
  part.run(sources, destination);
}

namespace {

using detail::CpuPart;
using detail::ProgramPart;

template <typename Bindings>
Bindings bindings_of(const ProgramPart& part, std::span<const Binding> of_network,
                     const typename Bindings::allocator_type& memory = {}) {
  Bindings bound(memory);
  bound.reserve(part.bound.size());
  for (const std::uint32_t slot : part.bound)
    bound.push_back(slot == ProgramPart::kOwn ? Binding() : of_network[slot]);
  return bound;
}

// Queue::submit(), with names: of slots where bindings are refused, of layers where they fail.
Fence submit_part(const ProgramPart& part, const Queue& queue, std::span<const Binding> bindings,
                  const SubmitOptions& options) {
  try {
    detail::StackMemory<NVDLA_MAX_SLOTS * sizeof(Binding)> memory;
    const auto bound = bindings_of<std::pmr::vector<Binding>>(part, bindings, memory.resource());
    const Fence fence = queue.submit(part.program, bound, options);
    detail::Handles::impl(fence)->name_layers(part.layer_names);
    return fence;
  } catch (const Error& error) {
    if (error.rule() == NVDLA_RULE_NONE) throw;
    throw Error(static_cast<ErrorCode>(error.code().value()),
                detail::rule_text(error.detail(), {.slots = part.slot_names}), error.detail());
  }
}

}  // namespace

// Checks that no two slots of the network share a buffer that is written. submit() checks this for
// the slots of one program; no program sees those of another.
void CompiledNetwork::Impl::check_shared_buffers(std::span<const Binding> bindings) const {
  std::vector<std::uint32_t> bound;
  for (const auto* ports : {&inputs, &outputs})
    for (const Port& port : *ports) bound.push_back(port.slot);
  for (const std::uint32_t a : bound) {
    for (std::uint32_t b = 0; b < bindings.size(); ++b) {
      const auto& buffer = detail::Handles::impl(bindings[a].buffer);
      const bool written = ((slots[a].access | slots[b].access) & NVDLA_SLOT_WRITE) != 0;
      if (a == b || !written || buffer == nullptr ||
          buffer != detail::Handles::impl(bindings[b].buffer))
        continue;
      detail::throw_error(ErrorCode::kInvalidBinding,
                          "{}: it shares its buffer with {}, and one of them is written",
                          slot_names[a], slot_names[b]);
    }
  }
}

CompiledNetwork::Impl::Queues CompiledNetwork::Impl::make_queues(Queue first) const {
  Queues queues{std::move(first), {}};
  if (parts.size() > 1) queues.later = device.create_queue();
  return queues;
}

Fence CompiledNetwork::Impl::submit(const Queues& queues, std::span<const Binding> bindings,
                                    const SubmitOptions& options) const {
  if (parts.size() == 1)
    if (const auto* program = std::get_if<ProgramPart>(&parts[0]))
      return submit_part(*program, queues.first, bindings, options);
  check_shared_buffers(bindings);
  struct Run {
    std::shared_ptr<const Impl> net;
    Queues queues;
    std::vector<Binding> bindings;
  };
  const auto run = std::make_shared<const Run>(
      Run{shared_from_this(), queues, std::vector(bindings.begin(), bindings.end())});
  std::vector<detail::ChainStep> chain;
  for (const detail::ChainPart& part : parts) {
    if (const auto* program = std::get_if<ProgramPart>(&part)) {
      const Queue& queue = chain.empty() ? run->queues.first : run->queues.later;
      chain.push_back({.submit =
                           [run, program, &queue](const SubmitOptions& terms) {
                             return submit_part(*program, queue, run->bindings, terms);
                           },
                       .first_layer = program->first_layer});
      continue;
    }
    const auto& cpu = std::get<CpuPart>(part);
    chain.push_back({.compute =
                         [run, &cpu] {
                           run_on(cpu, [&](std::uint32_t slot) -> const Buffer& {
                             return run->bindings[slot].buffer;
                           });
                         },
                     .counted = statistics && cpu.layer});
  }
  return detail::ChainFence::start(std::move(chain), options);
}

std::vector<detail::LayerStep> CompiledNetwork::Impl::layer_steps(
    std::span<const Binding> bindings) const {
  const auto quantization = [this](std::uint32_t slot) {
    for (const Port& port : outputs)
      if (port.slot == slot) return port.quantization;
    return Quantization();
  };
  std::vector<detail::LayerStep> steps;
  for (const detail::ChainPart& part : parts) {
    if (const auto* program = std::get_if<ProgramPart>(&part)) {
      steps.emplace_back(detail::ProgramStep{program,
                                             bindings_of<std::vector<Binding>>(*program, bindings),
                                             [program, quantization](std::uint32_t slot) {
                                               return quantization(program->bound[slot]);
                                             }});
      continue;
    }
    const auto& cpu = std::get<CpuPart>(part);
    steps.emplace_back(detail::CpuStep{&cpu, bindings, slot_names[cpu.destination],
                                       quantization(cpu.destination)});
  }
  return steps;
}

}  // namespace nvdla
