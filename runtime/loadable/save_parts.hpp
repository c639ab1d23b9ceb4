// SPDX-License-Identifier: MIT
//
// From the layers of a session to the operations of a loadable: the inverse of convert.cpp. What a
// loadable has no form for is refused as kNotAvailable.
#ifndef NVDLA_LOADABLE_SAVE_PARTS_HPP
#define NVDLA_LOADABLE_SAVE_PARTS_HPP

#include <cstdint>

#include "backend/compiled_program.hpp"
#include "core/session_impl.hpp"
#include "loadable/reg_field.hpp"
#include "loadable/task.hpp"

namespace nvdla::loadable {

// Position 0 of the address list is the network descriptor, slots follow.
inline std::int16_t slot_address(std::uint32_t slot) { return static_cast<std::int16_t>(slot + 1); }

LutParam make_lut(const nvdla_lut& lut);

// Both arguments outlive it.
class PartMaker {
 public:
  PartMaker(const Session::Impl& session, const nvdla_hw& hw);

  // Parts of layer `i`, which has them.
  ConvPart conv(std::uint32_t i) const;
  SdpPart sdp(std::uint32_t i) const;
  PdpPart pdp(std::uint32_t i) const;
  CdpPart cdp(std::uint32_t i) const;
  RubikPart rubik(std::uint32_t i) const;
  // Type of a data cube there.
  std::uint8_t memory(std::uint32_t slot) const;

  // Throws kNotAvailable, naming the layer: "layer 0 'name': <what>".
  [[noreturn]] void lacks(std::uint32_t i, std::string_view what) const;

 private:
  // Value of a register field that the compiler sets for a layer.
  std::uint32_t reg(std::uint32_t layer, const RegField& field) const;
  DataCube cube(const nvdla_surface& s, std::uint32_t width, std::uint32_t height,
                std::uint32_t channels) const;
  DataCube table(const nvdla_span& span) const;
  template <typename X>
  void operands(const X& x, SdpSubOp& op, DataCube& data, const DataCube& size) const;
  void convert(std::uint32_t i, const nvdla_sdp_y& y, SdpSubOp& op, DataCube& data,
               const DataCube& size) const;
  void convert(std::uint32_t i, const nvdla_sdp_x& x, SdpSubOp& op, DataCube& data,
               const DataCube& size) const;

  const Session::Impl& session_;
  const nvdla_hw& hw_;
  detail::CompiledProgram compiled_;
};

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_SAVE_PARTS_HPP
