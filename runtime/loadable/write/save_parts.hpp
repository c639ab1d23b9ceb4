// SPDX-License-Identifier: MIT
//
// From the layers of a compiled network to the operations of a loadable: the inverse of
// TaskConverter, with a file for each kind of unit. What a loadable has no form for is refused as
// kNotAvailable.
#ifndef NVDLA_LOADABLE_WRITE_SAVE_PARTS_HPP
#define NVDLA_LOADABLE_WRITE_SAVE_PARTS_HPP

#include <cstdint>
#include <string_view>

#include "backend/compiled_program.hpp"
#include "device/compiled_impl.hpp"
#include "loadable/format/reg_field.hpp"
#include "loadable/format/task.hpp"
#include "loadable/write/save_file.hpp"

namespace nvdla::loadable {

// Position 0 of the address list is the network descriptor, slots follow.
inline std::int16_t slot_address(std::uint32_t slot) { return static_cast<std::int16_t>(slot + 1); }
inline std::uint32_t address_slot(std::int16_t address) {
  return static_cast<std::uint32_t>(address - 1);
}

LutParam make_lut(const nvdla_lut& lut);

// `port` is an input or output of the network; its id is left to the caller.
TensorEntry make_tensor(const CompiledNetwork::Impl& net, const CompiledNetwork::Impl::Port& port);

// None of the operations has a field for it.
constexpr std::string_view kNoNanToZero = "a loadable has no NaN as zero";

// Both arguments outlive it.
class PartMaker {
 public:
  PartMaker(const detail::ProgramPart& part, const nvdla_hw& hw);

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
  static std::uint8_t byte(std::uint32_t value) { return static_cast<std::uint8_t>(value); }
  static CvtParam converter(const nvdla_convert& c);
  // A cube that lies nowhere.
  static DataCube size(std::uint32_t width, std::uint32_t height, std::uint32_t channels);

  // Value of a register field that the compiler sets for a layer, and the count of which it is one
  // less.
  std::uint32_t value(std::uint32_t layer, const RegField& field) const;
  std::uint32_t count(std::uint32_t layer, const RegField& field) const {
    return value(layer, field) + 1;
  }
  std::uint16_t count16(std::uint32_t layer, const RegField& field) const {
    return static_cast<std::uint16_t>(count(layer, field));
  }
  DataCube cube(const nvdla_surface& s, std::uint32_t width, std::uint32_t height,
                std::uint32_t channels) const;
  DataCube table(const nvdla_span& span) const;
  // Sets what is special about pixels. `offset` is that of the first plane in its slot, `kept`
  // lines of the layer lie before it.
  void image(std::uint32_t i, std::uint64_t offset, std::uint64_t kept, ConvPart& part) const;
  template <typename X>
  void operands(const X& x, SdpSubOp& op, DataCube& data, const DataCube& size) const;
  void convert(std::uint32_t i, const nvdla_sdp_y& y, SdpSubOp& op, DataCube& data,
               const DataCube& size) const;
  void convert(std::uint32_t i, const nvdla_sdp_x& x, SdpSubOp& op, DataCube& data,
               const DataCube& size) const;

  const detail::ProgramPart& part_;
  const nvdla_hw& hw_;
  detail::CompiledProgram compiled_;
};

// Writes an operation of the CPU in the standard form where that has it, else as one of our own.
void save_cpu_task(const CompiledNetwork::Impl& net, const detail::CpuPart& part, SavedFile& file);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_WRITE_SAVE_PARTS_HPP
