// SPDX-License-Identifier: MIT
//
// An encoder block of BERT-base for 128 tokens, which are the positions of a plane of 8 x 16. The
// normalisations come before attention and feed-forward. All that is multiplied with weights is a
// convolution of 1 x 1, as are the sums with what the block began with.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "catalogue.hpp"

namespace networks {
namespace {

constexpr std::uint32_t kWidth = 768, kHeads = 12, kForward = 3072;

Value linear(Graph& net, Value input, const std::string& name, std::uint32_t width,
             Value shortcut = kNoValue) {
  return net.conv(input, name,
                  {.kernels = width, .activation = Activation::kNone, .shortcut = shortcut});
}

// So that the CPU has all heads between two programs.
Value attention(Graph& net, Value input) {
  constexpr std::uint32_t kEach = kWidth / kHeads;
  const Value query = linear(net, input, "query", kWidth), key = linear(net, input, "key", kWidth);
  const Value value = linear(net, input, "value", kWidth);
  struct Head {
    Value query, key, value;
  };
  std::vector<Head> heads;
  for (std::uint32_t i = 0; i < kHeads; ++i) {
    const auto part = [&](Value of, const char* name) {
      return net.slice(of, fmt::format("head{}.{}", i + 1, name), i * kEach, kEach);
    };
    heads.push_back({part(query, "query"), part(key, "key"), part(value, "value")});
  }
  std::vector<Value> results;
  for (const Head& head : heads) {
    const std::string name = fmt::format("head{}", results.size() + 1);
    const Value scores = net.product(head.query, head.key, name + ".scores", true);
    const Value weights = net.softmax(scores, name + ".softmax");
    results.push_back(net.product(weights, head.value, name, false));
  }
  return net.concat(results, "heads");
}

}  // namespace

Graph transformer() {
  Graph net({.channels = kWidth, .height = 8, .width = 16});
  const Value heads = attention(net, net.layer_norm(Graph::image(), "norm1"));
  const Value middle = linear(net, heads, "projection", kWidth, Graph::image());
  const Value x = linear(net, net.layer_norm(middle, "norm2"), "forward1", kForward);
  linear(net, net.gelu(x, "gelu"), "forward2", kWidth, middle);
  return net;
}

}  // namespace networks
