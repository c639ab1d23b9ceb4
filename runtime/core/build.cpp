// SPDX-License-Identifier: MIT
//
// From a network to a session: slots and buffers, packed constants, descriptors, waits.
#include <string>
#include <utility>

#include "core/cbuf.hpp"
#include "core/check.hpp"
#include "core/network_impl.hpp"
#include "core/session_impl.hpp"
#include "nvdla/weights.hpp"

namespace nvdla {
namespace {

using detail::LayerNode;
using detail::OperatorNode;
using detail::TensorNode;

// Where a stream of constants starts; the widest alignment that any of them asks for.
constexpr std::uint64_t kBlobAlign = 256;

class Builder {
 public:
  Builder(const Network::Impl& net, const Device& device, Session::Impl& session)
      : net_(net), info_(device.info()), device_(device), session_(session) {}

  void build(bool statistics) {
    if (net_.layers.empty()) detail::refuse_argument("the network has no layer");
    if (net_.outputs.empty()) detail::refuse_argument("the network has no output");
    for (const TensorNode& tensor : net_.tensors) add_tensor(tensor);
    for (std::uint32_t i = 0; i < net_.layers.size(); ++i) add_layer(i);
    for (const auto& port : net_.inputs) session_.inputs.push_back(make_port(port));
    for (const auto& port : net_.outputs) session_.outputs.push_back(make_port(port));
    create_program(statistics);
    session_.descriptors = std::move(layers_);
    session_.slots = std::move(slots_);
  }

 private:
  // Constants of one layer: laid out first, then allocated and filled.
  struct Blob {
    std::uint32_t slot = 0;
    std::uint64_t size = 0;

    std::uint64_t add(std::uint64_t bytes) {
      const std::uint64_t offset = size;
      size = (size + bytes + kBlobAlign - 1) / kBlobAlign * kBlobAlign;
      return offset;
    }
  };

  std::uint32_t add_slot(std::uint64_t bytes, std::uint32_t access) {
    slots_.push_back(make_slot(info_, bytes, access));
    session_.bindings.emplace_back(device_.allocate(bytes));
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }

  void add_tensor(const TensorNode& tensor) {
    const TensorDesc desc = packed_tensor(info_, tensor.shape);
    std::uint32_t access = 0;
    if (tensor.read || !tensor.producer) access |= NVDLA_SLOT_READ;
    if (tensor.producer) access |= NVDLA_SLOT_WRITE;
    // Slots of tensors come first: the index of one is that of the other.
    add_slot(tensor_bytes(desc), access);
    descs_.push_back(desc);
  }

  void add_layer(std::uint32_t index) {
    const LayerNode& node = net_.layers[index];
    Blob blob;
    blob.slot = static_cast<std::uint32_t>(slots_.size());
    nvdla_sdp sdp = make_sdp();
    nvdla_conv conv = node.conv;
    WeightsDesc weights;
    if (node.has_conv) {
      weights.kernels = conv.kernels;
      weights.channels = conv.channels;
      weights.kernel_height = conv.kernel_height;
      weights.kernel_width = conv.kernel_width;
      conv.input = tensor_surface(descs_[node.input], node.input);
      conv.weights.slot = blob.slot;
      conv.weights.offset = blob.add(weights_bytes(weights));
    } else {
      const Shape& shape = descs_[node.input].shape;
      sdp.width = shape.width;
      sdp.height = shape.height;
      sdp.channels = shape.channels;
      sdp.input = tensor_surface(descs_[node.input], node.input);
    }
    const Shape& out = descs_[node.output].shape;
    place(node.operators.x1, out, blob, sdp.x1);
    place(node.operators.x2, out, blob, sdp.x2);
    sdp.out_cvt.offset = node.converter.offset;
    sdp.out_cvt.scale = node.converter.scale;
    sdp.out_cvt.truncate = node.converter.shift;
    sdp.output = tensor_surface(descs_[node.output], node.output);

    if (blob.size != 0) {
      add_slot(blob.size, NVDLA_SLOT_READ);
      const Map map = session_.bindings.back().buffer.map(MapMode::kWrite);
      if (node.has_conv) pack_weights(info_, weights, node.weights, map.bytes());
      fill(node.operators.x1, out, sdp.x1, map.bytes());
      fill(node.operators.x2, out, sdp.x2, map.bytes());
    }

    if (node.has_conv) {
      add_bands(index, conv, sdp);
    } else {
      commit(node, make_layer(sdp), node.name, node.macs);
    }
    last_.push_back(static_cast<std::uint32_t>(layers_.size() - 1));
  }

  // A convolution, in as many bands of lines as the convolution buffer makes necessary.
  void add_bands(std::uint32_t index, const nvdla_conv& conv, const nvdla_sdp& sdp) {
    const LayerNode& node = net_.layers[index];
    const std::vector<detail::Band> bands = split(index, conv);
    const Shape& out = descs_[node.output].shape;
    for (std::size_t i = 0; i < bands.size(); ++i) {
      const detail::Band& band = bands[i];
      nvdla_layer layer = make_layer(band.conv, sdp);
      layer.conv.input.offset += std::uint64_t{band.input_line} * layer.conv.input.line_stride;
      layer.sdp.output.offset += std::uint64_t{band.output_line} * layer.sdp.output.line_stride;
      for (nvdla_sdp_x* x : {&layer.sdp.x1, &layer.sdp.x2}) {
        // 0 unless there is one operand for each element.
        x->operand.offset += std::uint64_t{band.output_line} * x->operand.line_stride;
      }
      commit(
          node, layer,
          bands.size() == 1 ? node.name : fmt::format("{} {}/{}", node.name, i + 1, bands.size()),
          node.macs / out.height * band.output_lines);
    }
  }

  std::vector<detail::Band> split(std::uint32_t index, const nvdla_conv& conv) const {
    try {
      return detail::split_lines(info_, conv);
    } catch (const Error& error) {
      nvdla_error detail = {};
      detail.object = NVDLA_OBJECT_LAYER;
      detail.index = index;
      throw Error(static_cast<ErrorCode>(error.code().value()),
                  fmt::format("layer {} '{}': {}", index, net_.layers[index].name, error.what()),
                  detail);
    }
  }

  // The next layer of the program, after those whose tensors it reads.
  void commit(const LayerNode& node, nvdla_layer layer, std::string name, std::uint64_t macs) {
    wait_for(layer, node.input);
    for (const OperatorNode* op : {&node.operators.x1, &node.operators.x2}) {
      if (op->tensor) wait_for(layer, *op->tensor);
    }
    layers_.push_back(layer);
    session_.layers.push_back({std::move(name), macs});
  }

  OperandDesc operand_desc(const OperatorNode& op, const Shape& out) const {
    OperandDesc desc;
    desc.channels = out.channels;
    desc.per_element = op.mode == NVDLA_OPERAND_ELEMENT;
    if (desc.per_element) {
      desc.height = out.height;
      desc.width = out.width;
    }
    desc.parts = op.alu != NVDLA_ALU_NONE && op.mul != NVDLA_MUL_NONE ? 2 : 1;
    desc.bytes = 2;
    desc.atom = info_.atom;
    return desc;
  }

  void place(const OperatorNode& op, const Shape& out, Blob& blob, nvdla_sdp_x& x) {
    if (!op.active()) return;
    x.flags = NVDLA_SDP_ENABLE | (op.relu ? NVDLA_SDP_RELU : 0);
    x.alu = op.alu;
    x.mul = op.mul;
    x.alu_shift = op.alu_shift;
    x.mul_shift = op.mul_shift;
    if (op.alu == NVDLA_ALU_NONE && op.mul == NVDLA_MUL_NONE) return;
    x.mode = op.mode;
    if (op.tensor) {
      x.operand_bytes = 1;
      x.operand = tensor_surface(descs_[*op.tensor], *op.tensor);
      if (op.mode != NVDLA_OPERAND_ELEMENT) x.operand.line_stride = x.operand.surface_stride = 0;
    } else if (op.mode == NVDLA_OPERAND_LAYER) {
      if (!op.alu_values.empty()) x.alu_value = op.alu_values[0];
      if (!op.mul_values.empty()) x.mul_value = op.mul_values[0];
    } else {
      const OperandDesc desc = operand_desc(op, out);
      x.operand_bytes = desc.bytes;
      x.operand.slot = blob.slot;
      x.operand.offset = blob.add(operand_bytes(desc));
      x.operand.line_stride = desc.line_stride();
      x.operand.surface_stride = desc.surface_stride();
    }
  }

  void fill(const OperatorNode& op, const Shape& out, const nvdla_sdp_x& x,
            std::span<std::byte> blob) const {
    if (!op.has_memory() || op.tensor) return;
    pack_operand(operand_desc(op, out), op.alu_values, op.mul_values,
                 blob.subspan(static_cast<std::size_t>(x.operand.offset)));
  }

  void wait_for(nvdla_layer& layer, std::uint32_t tensor) const {
    // Bands of one layer end in order, as they use the same units: the last one is enough.
    if (const auto producer = net_.tensors[tensor].producer) add_wait(layer, last_[*producer]);
  }

  Session::Impl::Port make_port(const detail::PortNode& node) const {
    return {node.name, descs_[node.tensor], node.quantization, node.tensor};
  }

  void create_program(bool statistics) {
    ProgramDesc desc;
    desc.layers = layers_;
    desc.slots = slots_;
    desc.statistics = statistics;
    try {
      session_.program = device_.create_program(desc);
    } catch (const Error& error) {
      if (error.rule() == NVDLA_RULE_NONE || error.layer() < 0 ||
          error.layer() >= static_cast<std::int64_t>(layers_.size())) {
        throw;
      }
      throw Error(static_cast<ErrorCode>(error.code().value()), error.detail(),
                  session_.layers[static_cast<std::size_t>(error.layer())].name);
    }
  }

  const Network::Impl& net_;
  const DeviceInfo& info_;
  const Device& device_;
  Session::Impl& session_;
  std::vector<TensorDesc> descs_;
  std::vector<nvdla_slot> slots_;
  std::vector<nvdla_layer> layers_;
  std::vector<std::uint32_t> last_;  // of the program, by layer of the network
};

}  // namespace

Session Network::build(const Device& device, const BuildOptions& options) const {
  auto session = std::make_unique<Session::Impl>(device);
  Builder(*impl_, device, *session).build(options.statistics);
  return Session(std::move(session));
}

}  // namespace nvdla
