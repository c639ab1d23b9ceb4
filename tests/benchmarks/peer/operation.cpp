// SPDX-License-Identifier: MIT
#include "peer/operation.hpp"

#include <omp.h>

#include <algorithm>
#include <stdexcept>

#include "peer/onednn.hpp"

namespace nvdla::bench {

using dnnl::memory;

namespace {

// All dimensions as they are, the last one fastest.
memory::desc plain(const memory::dims& shape, memory::data_type type) {
  memory::dims strides(shape.size());
  memory::dim stride = 1;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
  return {shape, type, strides};
}

template <typename Value>
memory filled_from(const memory::desc& desc, const memory::desc& from_desc,
                   std::span<const Value> values) {
  memory from(from_desc, peer_engine());
  if (from_desc.get_size() != values.size_bytes())
    throw std::logic_error("a memory of oneDNN is given the wrong number of values");
  std::copy(values.begin(), values.end(), static_cast<Value*>(from.get_data_handle()));
  memory to(desc, peer_engine());
  dnnl::reorder(from, to).execute(peer_stream(), from, to);
  peer_stream().wait();
  return to;
}

}  // namespace

dnnl::engine& peer_engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& peer_stream() {
  static dnnl::stream stream(peer_engine());
  return stream;
}

memory::dims dims_of(const Shape& shape) {
  return {shape.batch, shape.channels, shape.height, shape.width};
}

memory filled(const memory::desc& desc, const memory::dims& shape, std::span<const float> values) {
  return filled_from(desc, plain(shape, memory::data_type::f32), values);
}

memory filled(const memory::desc& desc, const memory::dims& shape,
              std::span<const std::int8_t> values) {
  return filled_from(desc, plain(shape, memory::data_type::s8), values);
}

std::vector<float> values_of(memory from) {
  memory to(plain(from.get_desc().dims(), memory::data_type::f32), peer_engine());
  dnnl::reorder(from, to).execute(peer_stream(), from, to);
  peer_stream().wait();
  const auto* first = static_cast<const float*>(to.get_data_handle());
  return {first, first + to.get_desc().get_size() / sizeof(float)};
}

void Operation::run() const {
  for (const Impl::Step& step : impl_->steps) step.primitive.execute(peer_stream(), step.arguments);
  peer_stream().wait();
}

std::vector<float> Operation::output() const { return values_of(impl_->result); }

const std::string& Operation::name() const { return impl_->name; }

void set_peer_threads(unsigned threads) { omp_set_num_threads(static_cast<int>(threads)); }

std::string peer_instruction_set() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
      return "SSE4.1";
    case dnnl::cpu_isa::avx:
      return "AVX";
    case dnnl::cpu_isa::avx2:
      return "AVX2";
    case dnnl::cpu_isa::avx2_vnni:
      return "AVX-VNNI";
    case dnnl::cpu_isa::avx512_core:
      return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "AVX-512 VNNI";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "AVX-512 VNNI, BF16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "AMX";
    default:
      return "unknown";
  }
}

std::string peer_version() {
  const dnnl_version_t& version = *dnnl::version();
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

bool peer_is_exact() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx2_vnni:
    case dnnl::cpu_isa::avx512_core_vnni:
    case dnnl::cpu_isa::avx512_core_bf16:
    case dnnl::cpu_isa::avx512_core_amx:
      return true;
    default:
      return false;
  }
}

}  // namespace nvdla::bench
