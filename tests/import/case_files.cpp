// SPDX-License-Identifier: MIT
//
// Reading cases, and elements of tensors.
#include "import/case_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <set>
#include <stdexcept>

#include "nvdla/types/half.hpp"

namespace nvdla::import_test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Operators whose results are some of their inputs, perhaps with another sign.
bool is_exact(const std::string& op) {
  static const std::set<std::string> kExact = {"Abs",
                                               "And",
                                               "Clip",
                                               "Concat",
                                               "DepthToSpace",
                                               "Dropout",
                                               "Equal",
                                               "Expand",
                                               "Flatten",
                                               "Gather",
                                               "GlobalMaxPool",
                                               "Greater",
                                               "GreaterOrEqual",
                                               "Identity",
                                               "Less",
                                               "LessOrEqual",
                                               "Max",
                                               "MaxPool",
                                               "Min",
                                               "Neg",
                                               "Not",
                                               "Or",
                                               "Pad",
                                               "ReduceMax",
                                               "ReduceMin",
                                               "Relu",
                                               "Reshape",
                                               "Slice",
                                               "SpaceToDepth",
                                               "Split",
                                               "Squeeze",
                                               "Tile",
                                               "Transpose",
                                               "Unsqueeze",
                                               "Where",
                                               "Xor",
                                               "Cast"};
  return kExact.contains(op);
}

// Operators of sums and products alone, which have no table.
bool is_arithmetic(const std::string& op) {
  static const std::set<std::string> kArithmetic = {"Add",
                                                    "AveragePool",
                                                    "BatchNormalization",
                                                    "Constant",
                                                    "Conv",
                                                    "ConvTranspose",
                                                    "Gemm",
                                                    "GlobalAveragePool",
                                                    "HardSigmoid",
                                                    "LeakyRelu",
                                                    "MatMul",
                                                    "Mean",
                                                    "Mul",
                                                    "PRelu",
                                                    "ReduceL1",
                                                    "ReduceMean",
                                                    "ReduceProd",
                                                    "ReduceSum",
                                                    "ReduceSumSquare",
                                                    "Resize",
                                                    "Sub",
                                                    "Sum",
                                                    "Upsample"};
  return kArithmetic.contains(op) || is_exact(op);
}

}  // namespace

bool is_integer(int type) {
  return type != ::onnx::TensorProto::FLOAT && type != ::onnx::TensorProto::DOUBLE &&
         type != ::onnx::TensorProto::FLOAT16 && type != ::onnx::TensorProto::BFLOAT16;
}

std::vector<double> values_of(const ::onnx::TensorProto& t) {
  std::vector<double> out;
  std::size_t count = 1;
  for (const auto d : t.dims()) count *= static_cast<std::size_t>(d);
  const std::string& raw = t.raw_data();
  const auto from_raw = [&]<typename T>(T) {
    for (std::size_t i = 0; i < count && (i + 1) * sizeof(T) <= raw.size(); ++i) {
      T v{};
      std::copy_n(raw.data() + i * sizeof(T), sizeof(T), reinterpret_cast<char*>(&v));
      out.push_back(static_cast<double>(v));
    }
  };
  switch (t.data_type()) {
    case ::onnx::TensorProto::FLOAT:
      if (!t.has_raw_data()) return {t.float_data().begin(), t.float_data().end()};
      from_raw(float{});
      break;
    case ::onnx::TensorProto::DOUBLE:
      if (!t.has_raw_data()) return {t.double_data().begin(), t.double_data().end()};
      from_raw(double{});
      break;
    case ::onnx::TensorProto::FLOAT16:
      for (const auto v : t.int32_data())
        out.push_back(static_cast<double>(from_half(static_cast<std::uint16_t>(v))));
      if (!t.has_raw_data()) return out;
      from_raw(std::uint16_t{});
      for (double& v : out) v = static_cast<double>(from_half(static_cast<std::uint16_t>(v)));
      break;
    case ::onnx::TensorProto::BFLOAT16:
      for (const auto v : t.int32_data())
        out.push_back(
            static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(v) << 16)));
      if (!t.has_raw_data()) return out;
      from_raw(std::uint16_t{});
      for (double& v : out)
        v = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(v) << 16));
      break;
    case ::onnx::TensorProto::INT64:
      if (!t.has_raw_data()) return {t.int64_data().begin(), t.int64_data().end()};
      from_raw(std::int64_t{});
      break;
    case ::onnx::TensorProto::INT32:
      if (!t.has_raw_data()) return {t.int32_data().begin(), t.int32_data().end()};
      from_raw(std::int32_t{});
      break;
    case ::onnx::TensorProto::INT8:
      if (!t.has_raw_data()) return {t.int32_data().begin(), t.int32_data().end()};
      from_raw(std::int8_t{});
      break;
    default:
      if (!t.has_raw_data()) return {t.int32_data().begin(), t.int32_data().end()};
      from_raw(std::uint8_t{});
  }
  return out;
}

Case load_case(const fs::path& folder) {
  Case c;
  c.model = read(folder / "model.onnx");
  ::onnx::ModelProto model;
  if (!model.ParseFromString(c.model)) throw std::runtime_error("no model");
  c.exact = true;
  for (const auto& node : model.graph().node()) {
    c.exact = c.exact && is_exact(node.op_type());
    c.arithmetic = c.arithmetic && is_arithmetic(node.op_type());
  }
  c.nodes = model.graph().node_size();
  std::set<std::string> initialisers;
  for (const auto& t : model.graph().initializer()) initialisers.insert(t.name());
  for (const auto& i : model.graph().input())
    if (!initialisers.contains(i.name())) c.input_names.push_back(i.name());
  for (const auto& o : model.graph().output()) c.output_names.push_back(o.name());
  if (model.graph().node_size() > 0) c.op = model.graph().node(0).op_type();
  for (std::size_t i = 0; i < c.input_names.size(); ++i) {
    const std::string bytes = read(folder / "test_data_set_0" / fmt::format("input_{}.pb", i));
    ::onnx::TensorProto t;
    if (!t.ParseFromString(bytes)) t.Clear();
    c.inputs.push_back(t);
    c.input_bytes.push_back(bytes);
  }
  for (std::size_t i = 0; i < c.output_names.size(); ++i) {
    ::onnx::TensorProto t;
    if (!t.ParseFromString(read(folder / "test_data_set_0" / fmt::format("output_{}.pb", i))))
      t.Clear();
    c.outputs.push_back(t);
  }
  return c;
}

}  // namespace nvdla::import_test
