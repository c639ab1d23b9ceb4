// SPDX-License-Identifier: MIT
//
// Networks of `network` as models:
//   network_models NAME --write PATH
//       writes the definition of a network, of which models.py makes a model
//   network_models NAME --model FILE.onnx --device DEVICE
//       runs the model and the same network as an application describes it, and compares all
//       elements of their results; the precision is that of the model
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "by_hand.hpp"
#include "catalogue.hpp"
#include "definition.hpp"
#include "nvdla/import.hpp"
#include "nvdla/nvdla.hpp"

namespace {

using namespace network_models;

// Weights are drawn from it.
constexpr std::uint64_t kSeed = 1;

// Models have pictures channel by channel, and tokens one behind the other.
nvdla::Layout layout_of_models(const networks::Graph& graph) {
  return has_tokens(graph) ? nvdla::Layout::kNhwc : nvdla::Layout::kNchw;
}

std::vector<float> in_model_order(const ScaledNetwork& network) {
  const networks::Integers& image = network.image;
  if (has_tokens(network.graph)) return {image.begin(), image.end()};
  const std::size_t channels = network.graph.shape(networks::Graph::image()).channels;
  std::vector<float> out;
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t i = c; i < image.size(); i += channels) out.push_back(image[i]);
  return out;
}

// An input or output of a network.
struct End {
  std::string name;
  nvdla::Layout layout;
};

std::vector<float> run(const nvdla::Network& network, const nvdla::Device& device, const End& in,
                       const End& out, const ScaledNetwork& from) {
  nvdla::Request request = network.build(device);
  request.write(in.name, in.layout, in_model_order(from));
  request.run();
  std::vector<float> result(from.graph.layers().back().shape.elements());
  request.read(out.name, out.layout, result);
  return result;
}

int compare(const ScaledNetwork& network, const std::string& path, const std::string& name) {
  const nvdla::Device device = nvdla::Device::open(name);
  nvdla::ImportOptions options;
  options.cpu = nvdla::CpuUse::kAll;
  const nvdla::ImportedModel model = nvdla::import_model(path, device.info(), options);
  const nvdla::Network described = describe_by_hand(network, model.inputs.at(0).precision);
  const nvdla::Layout layout = layout_of_models(network.graph);
  const networks::Layer& last = network.graph.layers().back();
  const auto expected = run(described, device, {"image", layout}, {last.name, layout}, network);
  const auto found = run(model.network, device, {model.inputs[0].name, model.inputs[0].layout},
                         {model.outputs.at(0).name, model.outputs[0].layout}, network);
  std::size_t different = 0, zero = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    different += std::memcmp(&expected[i], &found[i], sizeof(float)) != 0;
    zero += expected[i] == 0;
  }
  fmt::print("{} elements, {} of them 0, {} differ\n", expected.size(), zero, different);
  return different == 0 && zero < expected.size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  std::map<std::string, std::string> options;
  for (int i = 2; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  if (argc < 4)
    throw std::runtime_error("expected NAME --write PATH or --model FILE --device NAME");
  const networks::Graph graph = networks::find_entry(argv[1]).graph();
  const ScaledNetwork network = with_scales(networks::draw(graph, kSeed, nvdla::Precision::kInt8));
  if (options.contains("--write")) {
    write_definition(network, options["--write"]);
    return 0;
  }
  return compare(network, options.at("--model"), options.at("--device"));
} catch (const std::exception& error) {
  fmt::print(stderr, "network_models: {}\n", error.what());
  return 2;
}
