// SPDX-License-Identifier: MIT
//
// Whole networks through the public interface: their build, first run and warm run, and ten
// requests in flight. They have their shortcuts, a multiplier and a bias for each kernel, and their
// poolings; oneDNN computes the same convolutions with the sums, and no pooling.
#include <memory>
#include <vector>

#include "compare/cases.hpp"
#include "compare/memory_growth.hpp"
#include "compare/ours.hpp"
#include "network/random_network.hpp"
#include "peer/network.hpp"

namespace nvdla::bench {
namespace {

constexpr std::uint32_t kRequests = 10;

// The same network for both, with the weights that they are built from.
struct Pair {
  std::shared_ptr<RandomNetwork> ours;
  std::shared_ptr<const PeerNetwork> peer;
  std::vector<std::int8_t> image = ours->image();
};

Pair resnet50(Shortcut shortcut = Shortcut::kX) {
  return {std::make_shared<ResNet50>(shortcut),
          std::make_shared<const PeerNetwork>(PeerNetwork::resnet50())};
}

Pair mobilenetv1() {
  return {std::make_shared<MobileNetV1>(),
          std::make_shared<const PeerNetwork>(PeerNetwork::mobilenetv1())};
}

void run_all(const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) operation.run();
}

Case case_of(const Pair& pair, std::vector<Side> sides) {
  Case one;
  one.sides = std::move(sides);
  one.macs = static_cast<double>(pair.ours->network().macs());
  return one;
}

Case warm_case(const Pair& pair, unsigned threads) {
  const auto build = [&](unsigned count) {
    auto request = std::make_shared<Request>(pair.ours->network().build(model(count)));
    request->write("image", Layout::kNchw, pair.image);
    return [request = std::move(request)] { request->run(); };
  };
  std::vector<Side> sides = {{"ours", build(threads)},
                             {"s8s8", [operations = pair.peer->build()] { run_all(operations); }}};
  if (threads > 1) sides.push_back({"ours, 1 thread", build(1)});
  return case_of(pair, std::move(sides));
}

Case build_case(const Pair& pair) {
  return case_of(pair, {{"ours", [pair] { pair.ours->network().compile(model(1)); }},
                        {"s8s8", [pair] { pair.peer->build(); }}});
}

// Weights are packed when a device first sees them, so each time on a new one.
Case first_run_case(const Pair& pair) {
  Case one = case_of(pair, {{"ours",
                             [pair] {
                               const Device device = Device::open("model:nv_full,threads=1");
                               Request request = pair.ours->network().build(device);
                               request.write("image", Layout::kNchw, pair.image);
                               request.run();
                             }},
                            {"s8s8", [pair] { run_all(pair.peer->build()); }}});
  // What libraries keep for good is there.
  for (const Side& side : one.sides) side.run();
  for (const Side& side : one.sides) one.mebibytes.emplace_back(side.name, memory_growth(side.run));
  return one;
}

// oneDNN has no requests: it runs as often, always in the same memory.
Case requests_case(const Pair& pair, unsigned threads) {
  const CompiledNetwork compiled = pair.ours->network().compile(model(threads));
  const auto pool = std::make_shared<RequestPool>(compiled, kRequests);
  const auto ours = [pair, pool] {
    std::vector<std::int8_t> classes(RandomNetwork::kClasses);
    pool->run(
        kRequests,
        [&](Request& request, std::uint64_t) { request.write("image", Layout::kNchw, pair.image); },
        [&](Request& request, std::uint64_t) { request.read("classes", Layout::kNchw, classes); });
  };
  const auto peer = [operations = pair.peer->build()] {
    for (std::uint32_t i = 0; i < kRequests; ++i) run_all(operations);
  };
  return case_of(pair, {{"ours", ours}, {"s8s8", peer}});
}

void add_life_cases(const Settings& settings, const std::string& network, Pair (*make)()) {
  add_case(settings, {"life", network + ": build"}, [make] { return build_case(make()); });
  add_case(settings, {"life", network + ": open, build, run"},
           [make] { return first_run_case(make()); });
  for (const unsigned threads : {1U, 2U})
    add_case(settings, {"life", network + ": ten requests", threads},
             [make, threads] { return requests_case(make(), threads); });
}

}  // namespace

void add_network_cases(const Settings& settings) {
  for (const unsigned threads : {1U, 2U}) {
    add_case(settings, {"network", "resnet50", threads},
             [threads] { return warm_case(resnet50(), threads); });
    add_case(settings, {"network", "resnet50 by Y", threads},
             [threads] { return warm_case(resnet50(Shortcut::kY), threads); });
    add_case(settings, {"network", "mobilenetv1", threads},
             [threads] { return warm_case(mobilenetv1(), threads); });
  }
  add_life_cases(settings, "resnet50", [] { return resnet50(); });
  add_life_cases(settings, "mobilenetv1", mobilenetv1);
}

}  // namespace nvdla::bench
