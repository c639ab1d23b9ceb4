// SPDX-License-Identifier: MIT
//
// Transposes between operators, as models have them whose framework has channels behind lines and
// columns: the graph behind the pass that moves them, and networks of such models.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "import/onnx/reader.hpp"
#include "import/passes/passes.hpp"
#include "import/reference/reference.hpp"
#include "model_maker.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla::import_test {
namespace {

using import::Graph;
using import::kNoValue;
using import::Node;
using import::ValueId;

const Sizes kToLast = {0, 2, 3, 1}, kToFirst = {0, 3, 1, 2};

std::vector<float> numbers(std::size_t count, int seed) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>((static_cast<int>(i) * 37 + seed * 11) % 31 - 15) / 16);
  return values;
}

Graph read(const ModelMaker& m) {
  Graph graph = import::onnx_file::read_model(m.bytes(), {"model", ""}, {});
  std::vector<std::string> notices;
  std::vector<ImportedNode> nodes;
  import::fix_inputs(graph, {}, {}, notices);
  import::fold_constants(graph, nodes);
  import::remove_dead_nodes(graph);
  return graph;
}

std::string list_text(const Graph& graph, const Node& node) {
  std::string text;
  for (const char* const name : {"axis", "axes", "perm"}) {
    const auto found = node.attributes.find(name);
    if (found == node.attributes.end()) continue;
    if (const auto* const axis = std::get_if<std::int64_t>(&found->second))
      text += fmt::format(" {}={}", name, *axis);
    if (const auto* const all = std::get_if<Sizes>(&found->second))
      text += fmt::format(" {}={}", name, import::dims_text(*all));
  }
  for (const ValueId id : node.inputs)
    if (id != kNoValue && graph.value(id).constant && graph.value(id).constant->size() <= 8 &&
        is_integer(graph.value(id).type))
      text += " " + import::dims_text(graph.value(id).constant->integers());
  return text;
}

// A line for each node; a value has its own name, or the number of the node that computes it.
std::string print(const Graph& graph) {
  std::map<ValueId, std::string> names;
  for (const ValueId id : graph.inputs) names[id] = graph.value(id).name;
  std::string text;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    std::string inputs, outputs, sizes;
    for (const ValueId id : node.inputs)
      if (id != kNoValue && !graph.value(id).constant) inputs += " " + names.at(id);
    for (const ValueId id : node.outputs) {
      names[id] = fmt::format("{}", n + 1);
      for (const ValueId output : graph.outputs)
        if (output == id) names[id] = graph.value(id).name;
      outputs += (outputs.empty() ? "" : " ") + names[id];
      sizes += " " + import::dims_text(*graph.value(id).dims);
    }
    text +=
        fmt::format("{} = {}{}{}:{}\n", outputs, node.op, inputs, list_text(graph, node), sizes);
  }
  return text;
}

std::string behind(const ModelMaker& m) {
  Graph graph = read(m);
  import::move_transposes(graph);
  return print(graph);
}

// Computes all outputs in floats.
std::vector<std::vector<float>> compute(const Graph& graph) {
  std::vector<std::vector<float>> inputs;
  for (const ValueId id : graph.inputs)
    inputs.push_back(numbers(static_cast<std::size_t>(import::elements(*graph.value(id).dims)),
                             static_cast<int>(inputs.size())));
  std::map<ValueId, std::vector<float>> all;
  import::Reference(graph).run(inputs, [&](ValueId id, std::span<float> values) {
    all[id].assign(values.begin(), values.end());
});
std::vector<std::vector<float>> outputs;
for (const ValueId id : graph.outputs) outputs.push_back(all.at(id));
return outputs;
}  // namespace

void transpose(ModelMaker& m, const std::string& from, const std::string& to, const Sizes& order) {
  set(m.node("Transpose", {from}, {to}), "perm", order);
}

// `Between` stands between Transposes in both directions: it computes "b" of "a", of 2x4x5x6.
struct Between {
  const char* name;
  void (*add)(ModelMaker& m);
  Sizes back = kToFirst;
};

void axis_node(ModelMaker& m, const char* op, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs, std::int64_t axis) {
  set(m.node(op, inputs, outputs), "axis", axis);
}

const Between kBetween[] = {
    {"Unary", [](ModelMaker& m) { m.node("Sigmoid", {"a"}, {"b"}); }},
    {"Constants",
     [](ModelMaker& m) {
       m.floats("f", {6}, numbers(6, 1)).floats("g", {5, 1}, numbers(5, 2));
       m.floats("lo", {}, {-0.5F}).floats("hi", {}, {0.5F}).floats("slope", {6}, numbers(6, 3));
       m.node("Mul", {"a", "f"}, {"c"});
       m.node("Add", {"g", "c"}, {"d"});
       m.node("PRelu", {"d", "slope"}, {"e"});
       m.node("Clip", {"e", "lo", "hi"}, {"b"});
     }},
    {"Binary",
     [](ModelMaker& m) {
       transpose(m, "z", "za", kToLast);
       m.node("Sub", {"a", "za"}, {"c"});
       m.node("Max", {"c", "a", "za"}, {"b"});
     }},
    {"Concat",
     [](ModelMaker& m) {
       m.floats("f", {2, 4, 5, 1}, numbers(40, 1));
       transpose(m, "z", "za", kToLast);
       axis_node(m, "Concat", {"a", "f", "za"}, {"b"}, 3);
     }},
    {"Split",
     [](ModelMaker& m) {
       m.integers("parts", {2}, {2, 4});
       axis_node(m, "Split", {"a", "parts"}, {"c", "d"}, -1);
       axis_node(m, "Concat", {"d", "c"}, {"b"}, -1);
     }},
    {"Slice",
     [](ModelMaker& m) {
       m.integers("from", {2}, {1, 4}).integers("to", {2}, {3, 1}).integers("at", {2}, {1, -1});
       m.integers("by", {2}, {1, -1});
       m.node("Slice", {"a", "from", "to", "at", "by"}, {"b"});
     }},
    {"SliceOfFirstAxes",
     [](ModelMaker& m) {
       m.integers("from", {3}, {0, 1, 2}).integers("to", {3}, {2, 3, 9});
       m.node("Slice", {"a", "from", "to"}, {"b"});
     }},
    {"Gather",
     [](ModelMaker& m) {
       m.integers("at", {3}, {5, 0, 2});
       axis_node(m, "Gather", {"a", "at"}, {"b"}, 3);
     }},
    {"Pad",
     [](ModelMaker& m) {
       m.integers("pads", {8}, {0, 1, 2, 0, 0, 0, 1, 3}).floats("v", {}, {0.25F});
       m.node("Pad", {"a", "pads", "v"}, {"b"});
     }},
    {"Tile",
     [](ModelMaker& m) {
       m.integers("times", {4}, {1, 2, 1, 3});
       m.node("Tile", {"a", "times"}, {"b"});
     }},
    {"Resize",
     [](ModelMaker& m) {
       m.floats("scales", {4}, {1, 2, 3, 1});
       m.node("Resize", {"a", "", "scales"}, {"b"});
     }},
    {"ResizeToSizes",
     [](ModelMaker& m) {
       m.integers("sizes", {4}, {2, 8, 10, 6});
       m.node("Resize", {"a", "", "", "sizes"}, {"b"});
     }},
    {"ReduceAndGate",
     [](ModelMaker& m) {
       auto& mean = m.node("ReduceMean", {"a"}, {"c"});
       set(mean, "axes", Sizes{1, 2});
       set(mean, "keepdims", std::int64_t{0});
       m.floats("w", {6, 6}, numbers(36, 4)).integers("gate", {4}, {2, 1, 1, 6});
       m.node("MatMul", {"c", "w"}, {"d"});
       m.node("Reshape", {"d", "gate"}, {"e"});
       m.node("Mul", {"e", "a"}, {"b"});
     }},
    {"ReduceChannels",
     [](ModelMaker& m) {
       set(m.node("ReduceMax", {"a"}, {"c"}), "axes", Sizes{-1});
       set(m.node("ReduceMean", {"c"}, {"d"}), "axes", Sizes{1});
       m.node("Mul", {"d", "a"}, {"b"});
     }},
    {"Softmax", [](ModelMaker& m) { axis_node(m, "Softmax", {"a"}, {"b"}, -1); }},
    {"Reshape",
     [](ModelMaker& m) {
       m.integers("rows", {3}, {2, 20, 6});
       m.node("Reshape", {"a", "rows"}, {"b"});
     },
     {0, 2, 1}},
    {"ReshapeWithOnes",
     [](ModelMaker& m) {
       m.integers("rows", {6}, {2, 1, 4, 5, 1, 6}).integers("whole", {4}, {2, 4, 5, 6});
       m.node("Reshape", {"a", "rows"}, {"c"});
       m.node("Relu", {"c"}, {"d"});
       m.node("Reshape", {"d", "whole"}, {"b"});
     }},
    {"ScalesOfAFile",
     [](ModelMaker& m) {
       m.floats("s", {}, {0.125F}).integers("zero", {}, {3}, ::onnx::TensorProto::INT8);
       m.node("QuantizeLinear", {"a", "s", "zero"}, {"q"});
       m.node("DequantizeLinear", {"q", "s", "zero"}, {"b"});
     }},
};

TEST(ImportTransposes, AreGoneAroundOperatorsInTheirOrder) {
  for (const Between& between : kBetween) {
    ModelMaker m;
    m.input("x", {2, 6, 4, 5}).input("z", {2, 6, 4, 5}).output("y").output("unused");
    m.node("Neg", {"z"}, {"unused"});
    transpose(m, "x", "a", kToLast);
    between.add(m);
    transpose(m, "b", "c2", between.back);
    m.node("Neg", {"c2"}, {"y"});
    Graph graph = read(m);
    const auto before = compute(graph);
    import::move_transposes(graph);
    EXPECT_EQ(print(graph).find("Transpose"), std::string::npos) << between.name << '\n'
                                                                 << print(graph);
    EXPECT_EQ(compute(graph), before) << between.name << '\n' << print(graph);
  }
}

// A picture with channels last, and convolutions that are given Transposes on both sides.
TEST(ImportTransposes, StayAtTheEndsOfANetwork) {
  ModelMaker m;
  m.input("x", {1, 4, 5, 3}).output("y");
  m.floats("w", {6, 3, 1, 1}, numbers(18, 1)).floats("v", {3, 6, 1, 1}, numbers(18, 2));
  m.floats("bias", {6}, numbers(6, 3));
  transpose(m, "x", "a", kToFirst);
  m.node("Conv", {"a", "w"}, {"b"});
  transpose(m, "b", "c", kToLast);
  m.node("Add", {"c", "bias"}, {"d"});
  m.node("Relu", {"d"}, {"e"});
  transpose(m, "e", "f", kToFirst);
  m.node("Conv", {"f", "v"}, {"g"});
  transpose(m, "g", "h", kToLast);
  m.node("Add", {"h", "x"}, {"y"});
  EXPECT_EQ(behind(m),
            "1 = Transpose x perm=0x3x1x2: 1x3x4x5\n"
            "2 = Conv 1: 1x6x4x5\n"
            "3 = Add 2: 1x6x4x5\n"
            "4 = Relu 3: 1x6x4x5\n"
            "5 = Conv 4: 1x3x4x5\n"
            "6 = Add 5 1: 1x3x4x5\n"
            "y = Transpose 6 perm=0x2x3x1: 1x4x5x3\n");
}

// An application writes an input as the model has it: operators do not go in front of the
// Transpose that brings it into the device's order. The CPU may compute a softmax at the end.
TEST(ImportTransposes, StayBehindInputsAndBeforeChoices) {
  ModelMaker m;
  m.input("x", {1, 4, 5, 3}).output("y").output("z");
  transpose(m, "x", "a", kToFirst);
  m.node("Relu", {"a"}, {"b"});
  transpose(m, "b", "c", kToLast);
  axis_node(m, "Softmax", {"c"}, {"y"}, 3);
  auto& most = m.node("ArgMax", {"c"}, {"z"});
  set(most, "axis", std::int64_t{3});
  set(most, "keepdims", std::int64_t{0});
  EXPECT_EQ(behind(m),
            "1 = Transpose x perm=0x3x1x2: 1x3x4x5\n"
            "2 = Relu 1: 1x3x4x5\n"
            "3 = Transpose 2 perm=0x2x3x1: 1x4x5x3\n"
            "y = Softmax 3 axis=3: 1x4x5x3\n"
            "z = ArgMax 2 axis=1: 1x4x5\n");
}

// A value that several nodes take is transposed once, and not at all where only axes of one element
// move.
TEST(ImportTransposes, AreMadeOnce) {
  ModelMaker m;
  m.input("x", {1, 6, 4, 4}).output("y").output("z").output("p");
  m.integers("all", {2}, {1, 96}).integers("mixed", {3}, {1, 8, 12});
  m.node("Relu", {"x"}, {"r"});
  transpose(m, "r", "a", kToLast);
  transpose(m, "r", "b", kToLast);
  m.node("Reshape", {"a", "all"}, {"y"});
  m.node("Reshape", {"b", "mixed"}, {"z"});
  m.node("GlobalAveragePool", {"x"}, {"g"});
  transpose(m, "g", "p", kToLast);
  EXPECT_EQ(behind(m),
            "1 = Relu x: 1x6x4x4\n"
            "2 = Transpose 1 perm=0x2x3x1: 1x4x4x6\n"
            "y = Reshape 2 1x96: 1x96\n"
            "z = Reshape 2 1x8x12: 1x8x12\n"
            "5 = GlobalAveragePool x: 1x6x1x1\n"
            "p = Reshape 5 1x1x1x6: 1x1x1x6\n");
}

// Channels that change places become those of the second axis.
TEST(ImportTransposes, LeaveShufflesOfChannels) {
  ModelMaker m;
  m.input("x", {1, 6, 4, 5}).output("y");
  m.integers("apart", {5}, {1, 4, 5, 2, 3}).integers("together", {4}, {1, 4, 5, 6});
  transpose(m, "x", "a", kToLast);
  m.node("Reshape", {"a", "apart"}, {"b"});
  transpose(m, "b", "c", {0, 1, 2, 4, 3});
  m.node("Reshape", {"c", "together"}, {"d"});
  transpose(m, "d", "e", kToFirst);
  m.node("Neg", {"e"}, {"y"});
  EXPECT_EQ(behind(m),
            "1 = Reshape x 1x2x3x4x5: 1x2x3x4x5\n"
            "2 = Transpose 1 perm=0x2x1x3x4: 1x3x2x4x5\n"
            "3 = Reshape 2 1x6x4x5: 1x6x4x5\n"
            "y = Neg 3: 1x6x4x5\n");
}

// An average of positions is one of whole planes, where a Reshape has channels behind them.
TEST(ImportTransposes, LeaveAveragesOfPlanes) {
  ModelMaker m;
  m.input("x", {1, 6, 4, 5}).output("y");
  m.integers("rows", {3}, {1, 20, 6});
  transpose(m, "x", "a", kToLast);
  m.node("Reshape", {"a", "rows"}, {"b"});
  auto& mean = m.node("ReduceMean", {"b"}, {"y"});
  set(mean, "axes", Sizes{1});
  set(mean, "keepdims", std::int64_t{0});
  EXPECT_EQ(behind(m),
            "1 = Reshape x 1x6x20: 1x6x20\n"
            "y = ReduceMean 1 2: 1x6\n");
}

// A network as converters write it, with Transposes around each layer of the device, and the same
// without.
ModelMaker small_network(bool transposed) {
  ModelMaker m;
  m.input("x", {1, 8, 16, 16}).output("y");
  m.floats("w1", {8, 8, 3, 3}, numbers(576, 1)).floats("w2", {8, 1, 3, 3}, numbers(72, 2));
  m.floats("w3", {8, 8, 1, 1}, numbers(64, 3)).floats("w4", {8, 5}, numbers(40, 4));
  const Sizes channels = transposed ? Sizes{8} : Sizes{8, 1, 1};
  m.floats("f", channels, numbers(8, 5)).floats("b", channels, numbers(8, 6));
  m.integers("pads", {8},
             transposed ? Sizes{0, 1, 1, 0, 0, 1, 1, 0} : Sizes{0, 0, 1, 1, 0, 0, 1, 1});
  const auto layer = [&](const std::string& in, const std::string& out,
                         const std::function<void(const std::string&, const std::string&)>& add) {
    if (!transposed) return add(in, out);
    transpose(m, in, in + out + " first", kToFirst);
    add(in + out + " first", out + " first");
    transpose(m, out + " first", out, kToLast);
  };
  if (transposed)
    transpose(m, "x", "x0", kToLast);
  else
    m.node("Identity", {"x"}, {"x0"});
  m.node("Pad", {"x0", "pads"}, {"p"});
  layer("p", "c1", [&](const auto& in, const auto& out) { m.node("Conv", {in, "w1"}, {out}); });
  m.node("Mul", {"c1", "f"}, {"n1"});
  m.node("Add", {"n1", "b"}, {"n2"});
  m.node("Relu", {"n2"}, {"r1"});
  layer("r1", "c2", [&](const auto& in, const auto& out) {
    auto& conv = m.node("Conv", {in, "w2"}, {out});
    set(conv, "group", std::int64_t{8});
    set(conv, "pads", Sizes{1, 1, 1, 1});
  });
  m.node("Add", {"c2", "b"}, {"n3"});
  m.node("Relu", {"n3"}, {"r2"});
  layer("r2", "c3", [&](const auto& in, const auto& out) { m.node("Conv", {in, "w3"}, {out}); });
  m.node("Add", {"c3", "r1"}, {"s"});
  layer("s", "q", [&](const auto& in, const auto& out) {
    auto& pool = m.node("MaxPool", {in}, {out});
    set(pool, "kernel_shape", Sizes{2, 2});
    set(pool, "strides", Sizes{2, 2});
  });
  auto& mean = m.node("ReduceMean", {"q"}, {"m"});
  set(mean, "axes", transposed ? Sizes{1, 2} : Sizes{2, 3});
  set(mean, "keepdims", std::int64_t{0});
  m.node("MatMul", {"m", "w4"}, {"y"});
  return m;
}

TEST(ImportTransposes, NetworksAreThoseOfModelsWithoutThem) {
  const ModelMaker with = small_network(true), without = small_network(false);
  const auto in = numbers(2048, 7);
  const ImportOptions int8{.samples = {{numbers(2048, 8)}, {numbers(2048, 9)}}};
  for (const ImportOptions& options : {ImportOptions{}, int8}) {
    EXPECT_EQ(with.import(options).network.layers(), without.import(options).network.layers());
    EXPECT_EQ(with.run(in, options), without.run(in, options));
  }
}

}  // namespace nvdla::import_test
}  // namespace nvdla::import_test
