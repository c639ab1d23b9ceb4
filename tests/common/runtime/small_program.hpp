// SPDX-License-Identifier: MIT
//
// The smallest useful program, by hand: y = x + value on a cube of int8, slot 0 to slot 1, as
// often as asked for.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_SMALL_PROGRAM_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_SMALL_PROGRAM_HPP

#include <gtest/gtest.h>

#include <vector>

#include "backend/compiled_program.hpp"
#include "model/core/register_info.hpp"
#include "nvdla/nvdla.hpp"
#include "support/handles.hpp"

namespace nvdla::test {

struct SmallProgram {
  explicit SmallProgram(const Device& on, std::int32_t add = 1, Shape shape = {8, 2, 2},
                        std::uint32_t copies = 1, bool statistics = false)
      : device(on), tensor(packed_tensor(on.info(), shape)) {
    nvdla_sdp sdp = make_sdp();
    sdp.width = shape.width;
    sdp.height = shape.height;
    sdp.channels = shape.channels;
    sdp.x1.flags = NVDLA_SDP_ENABLE;
    sdp.x1.alu = NVDLA_ALU_SUM;
    sdp.x1.alu_value = add;
    sdp.input = tensor_surface(tensor, 0);
    sdp.output = tensor_surface(tensor, 1);
    layers.assign(copies, make_layer(sdp));
    slots = {make_slot(on.info(), tensor_bytes(tensor), NVDLA_SLOT_READ),
             make_slot(on.info(), tensor_bytes(tensor), NVDLA_SLOT_WRITE)};
    desc.layers = layers;
    desc.slots = slots;
    desc.statistics = statistics;
  }
  SmallProgram(const SmallProgram&) = delete;
  SmallProgram& operator=(const SmallProgram&) = delete;

  Program create() const { return device.create_program(desc); }

  Buffer buffer(std::int8_t value = 0) const {
    Buffer b = device.allocate(tensor_bytes(tensor));
    fill(b, value);
    return b;
  }
  void fill(const Buffer& b, std::int8_t value) const {
    const std::vector<std::int8_t> values(tensor.shape.elements(), value);
    pack(tensor, Layout::kNchw, values, b.map(MapMode::kWrite).bytes());
  }
  // The value that all elements have, or 999.
  int value(const Buffer& b) const {
    std::vector<std::int8_t> values(tensor.shape.elements());
    unpack(tensor, Layout::kNchw, b.map(MapMode::kRead).bytes(), values);
    for (const std::int8_t v : values) {
      if (v != values[0]) return 999;
    }
    return values[0];
  }

  Device device;
  TensorDesc tensor;
  std::vector<nvdla_layer> layers;
  std::vector<nvdla_slot> slots;
  ProgramDesc desc;
};

// The compiled form of a program of a model device, to break on purpose.
inline const nvdla_program& compiled(const Program& program) {
  return static_cast<const detail::CompiledProgram&>(*detail::Handles::impl(program)).program();
}

// An SDP layer of a program of a model device that cannot end, because two units disagree about its
// size.
inline void break_layer(const Device& device, const Program& program, std::uint32_t layer) {
  const model::RegisterInfo* info = model::find_register("SDP_RDMA.D_DATA_CUBE_WIDTH");
  ASSERT_NE(info, nullptr);
  const auto map =
      device.info().configuration == "nv_full" ? NVDLA_REGMAP_NV_FULL : NVDLA_REGMAP_NV_SMALL;
  const auto address = model::register_address(map, *info);
  const nvdla_program& p = compiled(program);
  const nvdla_layer_image& image = p.layers[layer];
  int found = 0;
  for (std::uint32_t i = 0; i < image.num_writes; ++i) {
    nvdla_reg_write& write = p.writes[image.first_write + i];
    if (write.offset == address) {
      write.value -= 1;
      ++found;
    }
  }
  ASSERT_EQ(found, 1);
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_SMALL_PROGRAM_HPP
