// SPDX-License-Identifier: MIT
//
// What there is beside computing: the way of a submission to its end, and the start of a network.
#include <memory>
#include <vector>

#include "compare/alike.hpp"
#include "compare/cases.hpp"
#include "compare/ours.hpp"
#include "network/random_network.hpp"

namespace nvdla::bench {
namespace {

// One atom through SDP.
Case latency_case() {
  Network network;
  network.output(network.pointwise(network.input("in", Shape{32, 1, 1}), {.name = "layer"}), "out");
  const Ours model(network, 1);
  const std::vector<float> numbers = Numbers().integers(32, -128, 127);
  model.write("in", numbers);
  expect_alike(model.output(), numbers, 0);
  return {.sides = {model.side()}};
}

// ResNet-50 with its weights, as a file in memory.
std::shared_ptr<const std::vector<std::byte>> resnet50_file() {
  static const auto file = std::make_shared<const std::vector<std::byte>>(
      make_loadable(ResNet50(Shortcut::kX).network(), "nv_full"));
  return file;
}

Case load_case() {
  const auto file = resnet50_file();
  return {.sides = {{"ours", [file] { Loadable::load(*file); }}}};
}

Case open_case() {
  const Loadable loadable = Loadable::load(*resnet50_file());
  return {.sides = {{"ours", [loadable] { loadable.open(model(1)); }}}};
}

Case first_run_case() {
  const Loadable loadable = Loadable::load(*resnet50_file());
  return {.sides = {{"ours", [loadable] { loadable.open(model(1)).run(); }}}};
}

}  // namespace

void add_latency_cases(const Settings& settings) {
  CaseName tiny{"latency", "tiny layer, submit to end"};
  tiny.wall = true;
  add_case(settings, tiny, latency_case);
  add_case(settings, {"latency", "ResNet-50 loadable: load"}, load_case);
  add_case(settings, {"latency", "ResNet-50 loadable: open"}, open_case);
  add_case(settings, {"latency", "ResNet-50 loadable: open, first run"}, first_run_case);
}

}  // namespace nvdla::bench
