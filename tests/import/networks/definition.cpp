// SPDX-License-Identifier: MIT
#include "definition.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

namespace network_models {
namespace {

using namespace networks;
using nlohmann::json;

class NumberFile {
 public:
  explicit NumberFile(const std::filesystem::path& path) : file_(path, std::ios::binary) {
    file_.exceptions(std::ios::badbit | std::ios::failbit);
  }

  template <typename T>
  void add(json& layer, const char* name, const char* type, const std::vector<T>& list) {
    if (list.empty()) return;
    layer[name] = {{"type", type}, {"at", at_}, {"count", list.size()}};
    const auto bytes = static_cast<std::streamsize>(list.size() * sizeof(T));
    file_.write(reinterpret_cast<const char*>(list.data()), bytes);
    at_ += bytes;
  }

 private:
  std::ofstream file_;
  std::streamsize at_ = 0;
};

const char* name_of(Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return "none";
    case Activation::kRelu:
      return "relu";
    case Activation::kLeaky:
      return "leaky";
    case Activation::kSwish:
      return "swish";
    case Activation::kSigmoid:
      return "sigmoid";
    case Activation::kHardSigmoid:
      break;  // no network that frameworks have
  }
  throw std::logic_error("a hard sigmoid stands for a sigmoid, and has no form of its own");
}

// The attributes of a layer.
struct Attributes {
  json operator()(const Image&) const { return {{"kind", "image"}}; }
  json operator()(const Conv& conv) const {
    return {{"kind", "conv"},        {"size", {conv.height, conv.width}},
            {"stride", conv.stride}, {"pad", conv.pad},
            {"groups", conv.groups}, {"activation", name_of(conv.activation)}};
  }
  json operator()(const Double&) const { return {{"kind", "double"}}; }
  json operator()(const Pool& pool) const {
    return {{"kind", pool.method == NVDLA_POOL_MAX ? "maximum" : "average"},
            {"size", pool.size},
            {"stride", pool.stride},
            {"pads", {pool.pad, pool.pad, pool.pad_end, pool.pad_end}}};
  }
  json operator()(const Lrn& lrn) const {
    return {{"kind", "lrn"},
            {"size", lrn.size},
            {"alpha", lrn.alpha},
            {"beta", lrn.beta},
            {"bias", lrn.k}};
  }
  json operator()(const Norm&) const { return {{"kind", "norm"}}; }
  json operator()(const Concat&) const { return {{"kind", "concat"}}; }
  json operator()(const Scale&) const { return {{"kind", "scale"}}; }
  json operator()(const Slice& slice) const { return {{"kind", "slice"}, {"first", slice.first}}; }
  json operator()(const Product& product) const {
    return {{"kind", "product"}, {"transposed", product.transposed}};
  }
  json operator()(const Softmax&) const { return {{"kind", "softmax"}}; }
  json operator()(const LayerNorm&) const {
    return {{"kind", "layer_norm"}, {"epsilon", LayerNorm::kEpsilon}};
  }
  json operator()(const Gelu&) const { return {{"kind", "gelu"}, {"unit", Gelu::kUnit}}; }
};

}  // namespace

void write_definition(const ScaledNetwork& network, const std::filesystem::path& path) {
  NumberFile numbers(path.string() + ".bin");
  json layers = json::array();
  for (Value value = 0; value < network.layers.size(); ++value) {
    const Layer& layer = network.graph.layers()[value];
    const Scaled& scaled = network.layers[value];
    json entry = std::visit(Attributes(), layer.what);
    entry["name"] = layer.name;
    entry["inputs"] = layer.inputs;
    entry["shape"] = {layer.shape.channels, layer.shape.height, layer.shape.width};
    entry["step"] = scaled.step;
    entry["inner_step"] = scaled.inner_step;
    entry["factor"] = scaled.product_factor;
    entry["fully_connected"] = is_fully_connected(network.graph, value);
    numbers.add(entry, "weights", "int8", scaled.weights);
    numbers.add(entry, "scales", "float32", scaled.scales);
    numbers.add(entry, "bias", "int32", scaled.bias);
    numbers.add(entry, "real_weights", "float32", scaled.real_weights);
    numbers.add(entry, "real_bias", "float32", scaled.real_bias);
    numbers.add(entry, "gamma", "float32", scaled.gamma);
    numbers.add(entry, "beta", "float32", scaled.beta);
    layers.push_back(std::move(entry));
  }
  std::ofstream file(path.string() + ".json");
  file.exceptions(std::ios::badbit | std::ios::failbit);
  file << json{{"tokens", has_tokens(network.graph)}, {"layers", layers}}.dump(1) << '\n';
}

}  // namespace network_models
