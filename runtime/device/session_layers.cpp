// SPDX-License-Identifier: MIT
//
// Sessions layer by layer.
#include <vector>

#include "device/layer_steps.hpp"
#include "device/session_impl.hpp"

namespace nvdla {
namespace {

std::optional<LayerDifference> run_layers(const Session::Impl& session, const Device* reference,
                                          const LayerVisitor& visit) {
  detail::ProgramStep step;
  step.desc = {.layers = session.descriptors,
               .slots = session.slots,
               .luts = session.luts,
               .transfers = session.transfers,
               .control = session.control};
  step.slot_names = session.slot_names;
  for (const Session::Impl::Layer& layer : session.layers) step.layer_names.push_back(layer.name);
  step.quantization = [&](std::uint32_t slot) {
    for (const Session::Impl::Port& port : session.outputs)
      if (port.slot == slot) return port.quantization;
    return Quantization();
  };
  std::vector<Binding> bindings;
  std::vector<detail::LayerStep> steps;
  std::optional<detail::LayerRunner> runner;
  {
    const std::lock_guard lock(session.mutex);
    session.check_idle("running layer by layer");
    bindings = session.bindings;
    step.bindings = bindings;
    steps.emplace_back(std::move(step));
    // The application may touch these meanwhile.
    std::vector<Buffer> changed;
    for (const auto* ports : {&session.inputs, &session.outputs})
      for (const Session::Impl::Port& port : *ports) changed.push_back(bindings[port.slot].buffer);
    runner.emplace(session.device, reference, steps, changed);
  }
  return runner->run(visit);
}

}  // namespace

void Session::visit_layers(const LayerVisitor& visit) const { run_layers(impl(), nullptr, visit); }

std::optional<LayerDifference> Session::compare_layers(const Device& reference,
                                                       const LayerVisitor& visit) const {
  return run_layers(impl(), &reference, visit);
}

}  // namespace nvdla
