// SPDX-License-Identifier: MIT
//
// Files that are damaged or odd: errors name the model and the node or value.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "model_maker.hpp"
#include "nvdla/types/error.hpp"

namespace nvdla::import_test {
namespace {

using testing::Test;

ModelMaker relu() {
  ModelMaker m;
  m.input("x", {1, 2, 3, 3}).output("y");
  m.node("Relu", {"x"}, {"y"});
  return m;
}

TEST(ImportReader, ReadsAModel) {
  const ImportedModel model = relu().import();
  ASSERT_EQ(model.inputs.size(), 1U);
  EXPECT_EQ(model.inputs[0].name, "x");
  EXPECT_EQ(model.inputs[0].sizes, (Sizes{1, 2, 3, 3}));
  EXPECT_EQ(model.inputs[0].type, "float");
  ASSERT_EQ(model.outputs.size(), 1U);
  EXPECT_EQ(model.outputs[0].name, "y");
}

TEST(ImportReader, EveryTruncationIsRefusedOrReads) {
  const auto bytes = relu().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    try {
      (void)import_model(std::span(bytes).first(size), configuration_info("nv_full"));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("model"), std::string::npos) << error.what();
    }
  }
}

TEST(ImportReader, EveryFlippedByteIsRefusedOrReads) {
  auto bytes = relu().bytes();
  for (std::byte& byte : bytes) {
    for (const std::byte flip : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
      byte ^= flip;
      try {
        (void)import_model(bytes, configuration_info("nv_full"));
      } catch (const Error&) {
      }
      byte ^= flip;
    }
  }
}

TEST(ImportReader, FirstOutputsAreNeeded) {
  for (const char* op : {"Relu", "Dropout", "MaxPool"}) {
    ModelMaker m;
    m.input("x", {1, 1, 4, 4}).output("y");
    auto& node = m.node(op, {"x"}, {"", "y"});
    node.set_name("n");
    if (std::string(op) == "MaxPool") set(node, "kernel_shape", Sizes{2, 2});
    EXPECT_EQ(m.refusal(), "model: 1 node is not possible on nv_full:\n  node 'n' (" +
                               std::string(op) + "): it leaves out its first output");
  }
}

TEST(ImportReader, ACycleNamesANode) {
  ModelMaker m;
  m.input("x", {1, 2}).output("y");
  m.node("Add", {"x", "z"}, {"y"}).set_name("first");
  m.node("Relu", {"y"}, {"z"}).set_name("second");
  EXPECT_NE(m.refusal().find("node 'first' (Add): it is part of a cycle"), std::string::npos)
      << m.refusal();
}

TEST(ImportReader, NodesMayComeInAnyOrder) {
  ModelMaker m;
  m.input("x", {1, 2}).output("y");
  m.node("Relu", {"z"}, {"y"});
  m.node("Neg", {"x"}, {"z"});
  EXPECT_EQ(m.run({1, -2}), (std::vector<float>{0, 2}));
}

TEST(ImportReader, ValuesThatNobodyComputes) {
  ModelMaker m;
  m.input("x", {1, 2}).output("y");
  m.node("Add", {"x", "lost"}, {"y"});
  EXPECT_EQ(m.refusal(), "model: node 'y' (Add): nothing computes its input 'lost'");
}

TEST(ImportReader, ValuesThatTwoNodesCompute) {
  ModelMaker m;
  m.input("x", {1, 2}).output("y");
  m.node("Relu", {"x"}, {"y"});
  m.node("Neg", {"x"}, {"y"});
  EXPECT_EQ(m.refusal(), "model: node 'y': the value 'y' is there already");
}

TEST(ImportReader, NegativeSizes) {
  ModelMaker m;
  m.input("x", {1, 2}).floats("w", {-1}, {}).output("y");
  m.node("Add", {"x", "w"}, {"y"});
  EXPECT_EQ(m.refusal(), "model: initialiser 'w': size -1 is negative");
}

TEST(ImportReader, SizesThatOverflow) {
  ModelMaker m;
  m.input("x", {std::int64_t{1} << 40, std::int64_t{1} << 40}).output("y");
  m.node("Relu", {"x"}, {"y"});
  EXPECT_NE(m.refusal().find("are too many elements"), std::string::npos) << m.refusal();
}

TEST(ImportReader, ElementsThatDoNotGoWithTheSizes) {
  ModelMaker m;
  m.input("x", {1, 2}).floats("w", {3}, {1, 2}).output("y");
  m.node("Add", {"x", "w"}, {"y"});
  EXPECT_EQ(m.refusal(), "model: initialiser 'w': 8 bytes of elements, and 3 float are 12");
}

TEST(ImportReader, Opsets) {
  for (const std::int64_t opset : {1, 5, 22, 1000}) {
    ModelMaker m(opset);
    m.input("x", {1, 2}).output("y");
    m.node("Relu", {"x"}, {"y"});
    EXPECT_EQ(m.refusal(),
              "model: opset " + std::to_string(opset) + " is not supported; expected 6 to 21");
  }
}

// External data of another folder is none of the model's.
TEST(ImportReader, ExternalData) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "nvdla-import-external";
  fs::create_directories(folder / "inside");
  const float values[2] = {3, 4};
  for (const char* name : {"inside/data.bin", "outside.bin"})
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(values), sizeof values);
  const auto with = [&](const std::string& location) {
    ModelMaker m;
    m.input("x", {1, 2}).output("y");
    ::onnx::TensorProto& t = *m.model().mutable_graph()->add_initializer();
    t.set_name("w");
    t.set_data_type(::onnx::TensorProto::FLOAT);
    t.add_dims(2);
    t.set_data_location(::onnx::TensorProto::EXTERNAL);
    auto& entry = *t.add_external_data();
    entry.set_key("location");
    entry.set_value(location);
    m.node("Add", {"x", "w"}, {"y"});
    return m;
  };
  ImportOptions options;
  options.folder = (folder / "inside").string();
  EXPECT_EQ(with("data.bin").run({1, 1}, options), (std::vector<float>{4, 5}));
  for (const char* bad : {"../outside.bin", "/etc/passwd", "", "nothing.bin", "."})
    EXPECT_NE(with(bad).refusal(options).find("model's folder"), std::string::npos) << bad;
  fs::create_symlink(folder / "outside.bin", folder / "inside" / "link.bin");
  EXPECT_NE(with("link.bin").refusal(options).find("outside of the model's folder"),
            std::string::npos);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace nvdla::import_test
