// SPDX-License-Identifier: MIT
#include "model_maker.hpp"

#include <span>

#include "nvdla/nvdla.hpp"

namespace nvdla::import_test {

ModelMaker::ModelMaker(std::int64_t opset) {
  model_.set_ir_version(8);
  model_.add_opset_import()->set_version(opset);
  model_.mutable_graph()->set_name("test");
}

ModelMaker& ModelMaker::input(const std::string& name, const Sizes& sizes, int type) {
  ::onnx::ValueInfoProto& info = *model_.mutable_graph()->add_input();
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  auto& shape = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const std::int64_t size : sizes) {
    auto& dim = *shape.add_dim();
    if (size == -1)
      dim.set_dim_param("open");
    else
      dim.set_dim_value(size);
  }
  return *this;
}

ModelMaker& ModelMaker::output(const std::string& name) {
  model_.mutable_graph()->add_output()->set_name(name);
  return *this;
}

ModelMaker& ModelMaker::floats(const std::string& name, const Sizes& sizes,
                               const std::vector<float>& values) {
  ::onnx::TensorProto& t = *model_.mutable_graph()->add_initializer();
  t.set_name(name);
  t.set_data_type(::onnx::TensorProto::FLOAT);
  for (const std::int64_t size : sizes) t.add_dims(size);
  for (const float v : values) t.add_float_data(v);
  return *this;
}

ModelMaker& ModelMaker::integers(const std::string& name, const Sizes& sizes,
                                 const std::vector<std::int64_t>& values, int type) {
  ::onnx::TensorProto& t = *model_.mutable_graph()->add_initializer();
  t.set_name(name);
  t.set_data_type(type);
  for (const std::int64_t size : sizes) t.add_dims(size);
  for (const std::int64_t v : values) {
    if (type == ::onnx::TensorProto::INT64)
      t.add_int64_data(v);
    else
      t.add_int32_data(static_cast<std::int32_t>(v));
  }
  return *this;
}

::onnx::NodeProto& ModelMaker::node(const std::string& op, const std::vector<std::string>& inputs,
                                    const std::vector<std::string>& outputs) {
  ::onnx::NodeProto& node = *model_.mutable_graph()->add_node();
  node.set_op_type(op);
  for (const std::string& name : inputs) node.add_input(name);
  for (const std::string& name : outputs) node.add_output(name);
  return node;
}

std::vector<std::byte> ModelMaker::bytes() const {
  const std::string text = model_.SerializeAsString();
  const auto all = std::as_bytes(std::span(text));
  return {all.begin(), all.end()};
}

ImportedModel ModelMaker::import(const ImportOptions& options,
                                 std::string_view configuration) const {
  return import_model(bytes(), configuration_info(configuration), options);
}

std::string ModelMaker::refusal(const ImportOptions& options) const {
  try {
    import(options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::vector<float> ModelMaker::run(const std::vector<float>& input,
                                   const ImportOptions& options) const {
  const ImportedModel imported = import(options);
  Request request = imported.network.compile(Device::open("model:nv_full")).create_request();
  request.write(imported.inputs[0].name, imported.inputs[0].layout, std::span<const float>(input));
  request.run();
  std::vector<float> output(imported.outputs[0].shape.elements());
  request.read(imported.outputs[0].name, imported.outputs[0].layout, std::span<float>(output));
  return output;
}

void set(::onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  ::onnx::AttributeProto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(::onnx::AttributeProto::INT);
  a.set_i(value);
}

void set(::onnx::NodeProto& node, const std::string& name, const Sizes& values) {
  ::onnx::AttributeProto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(::onnx::AttributeProto::INTS);
  for (const std::int64_t v : values) a.add_ints(v);
}

void set(::onnx::NodeProto& node, const std::string& name, float value) {
  ::onnx::AttributeProto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(::onnx::AttributeProto::FLOAT);
  a.set_f(value);
}

}  // namespace nvdla::import_test
