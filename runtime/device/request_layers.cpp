// SPDX-License-Identifier: MIT
//
// Requests layer by layer.
#include <vector>

#include "device/layer_steps.hpp"
#include "device/request_impl.hpp"

namespace nvdla {
namespace {

std::optional<LayerDifference> run_layers(const Request::Impl& request, const Device* reference,
                                          const LayerVisitor& visit) {
  const Request::Impl::Network& net = *request.net;
  std::vector<Binding> bindings;
  std::vector<detail::LayerStep> steps;
  std::optional<detail::LayerRunner> runner;
  {
    const std::lock_guard lock(request.mutex);
    request.check_idle("running layer by layer");
    bindings = request.bindings;
    steps = net.layer_steps(bindings);
    // The application may touch these meanwhile.
    std::vector<Buffer> changed;
    for (const auto* ports : {&net.inputs, &net.outputs})
      for (const Request::Impl::Port& port : *ports) changed.push_back(bindings[port.slot].buffer);
    runner.emplace(net.device, reference, steps, changed);
  }
  return runner->run(visit);
}

}  // namespace

void Request::visit_layers(const LayerVisitor& visit) const { run_layers(impl(), nullptr, visit); }

std::optional<LayerDifference> Request::compare_layers(const Device& reference,
                                                       const LayerVisitor& visit) const {
  return run_layers(impl(), &reference, visit);
}

}  // namespace nvdla
