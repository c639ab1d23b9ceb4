// SPDX-License-Identifier: MIT
#include "backend/model/model_backend.hpp"

#include "backend/inprocess/address_space.hpp"
#include "backend/inprocess/local_backend.hpp"
#include "backend/model/model_buffer.hpp"
#include "backend/model/runner.hpp"

namespace nvdla::detail {

std::shared_ptr<Backend> make_model_backend(const nvdla_hw& hw, const ModelOptions& given) {
  const model::Options options = {.quirks = model::silicon_quirks(hw),
                                  .threads = given.threads,
                                  .fast_half = given.fast_fp16,
                                  .memory = given.memory};
  LocalDevice device{.hw = &hw, .backend = "model"};
  device.fast_fp16 = given.fast_fp16;
  device.runner = std::make_unique<ModelRunner>(hw, options);
  device.allocate = [space = std::make_shared<AddressSpace>(hw.address_bits)](
                        DeviceId id, std::uint64_t bytes, Memory memory) {
    return std::make_shared<ModelBuffer>(id, space, bytes, memory);
  };
  return make_local_backend(std::move(device));
}

}  // namespace nvdla::detail
