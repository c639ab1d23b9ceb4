// SPDX-License-Identifier: MIT
//
// The conversion of one task, whose parts are a file for each kind of unit: convert_conv.cpp,
// convert_sdp.cpp, convert_pool.cpp, convert_move.cpp, convert_lut.cpp, convert_memory.cpp.
#ifndef NVDLA_LOADABLE_READ_TASK_CONVERTER_HPP
#define NVDLA_LOADABLE_READ_TASK_CONVERTER_HPP

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "loadable/read/convert.hpp"
#include "loadable/read/order.hpp"
#include "support/check.hpp"

namespace nvdla::loadable {

class TaskConverter {
 public:
  // All arguments outlive it.
  TaskConverter(const Container& c, const Task& task, const nvdla_hw& hw);

  ConvertedProgram run();

 private:
  template <typename... Args>
  [[noreturn]] void throw_error(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
  }
  [[noreturn]] void fail(ErrorCode code, const std::string& text) const;
  void need(std::uint32_t feature, const char* name) const;

  void check_atom() const;
  void choose_banks(const std::vector<LayerGroup>& order);
  void find_reuse(const std::vector<LayerGroup>& order);
  const Operation& operation(const LayerGroup& group, std::size_t i) const {
    return dla_.operations[group.operations[i]];
  }
  void add_layer(const LayerGroup& group);

  /* ------------------------------------------------------- memory --- */

  // Returns what a position of the address list means.
  Place locate(std::uint16_t type, std::int16_t address, std::uint64_t offset,
               const char* field) const;
  // The slot of what a position of the address list means, and where in it.
  std::pair<std::uint32_t, std::uint64_t> place(std::uint16_t type, std::int16_t address,
                                                std::uint64_t offset, std::uint32_t access,
                                                const char* field);
  nvdla_surface surface(const DataCube& cube, std::uint32_t access, const char* field);
  nvdla_span span(const DataCube& cube, const char* field);
  // A table of compressed weights decides whether its layer ends: the program brings a copy. Its
  // slot is the last one, whose number is not known yet.
  nvdla_span table(const DataCube& cube, const char* field);
  void add_control_slot();

  /* ------------------------------------------------------ numbers --- */

  std::uint32_t precision(std::uint8_t code, const char* field) const;
  template <typename T>
  void check_zero_or(const char* field, T value, T other) const {
    if (value != 0 && value != other) throw_error("{} is {}, expected {}", field, value, other);
  }
  static nvdla_convert converter(const CvtParam& p);
  void expect(const RegField& where, std::uint32_t count, const char* field);

  /* -------------------------------------------------------- units --- */

  void convert(const ConvPart& part, nvdla_conv& conv);
  void convert_kernel(const ConvPart& part, nvdla_conv& conv);
  void convert_image(const ConvPart& part, nvdla_conv& conv);
  void convert_reuse(const ConvPart& part, nvdla_conv& conv);
  void expect_conv(const ConvPart& part);
  std::uint64_t resident_banks(const ConvPart& part) const;

  // X and Y have this in common: which parts are active, and their operands.
  struct Parts {
    std::uint32_t alu = NVDLA_ALU_NONE, mul = NVDLA_MUL_NONE, mode = 0, bytes = 0;
    std::int32_t alu_value = 0, mul_value = 0;
    nvdla_surface operand = {};
  };
  Parts parts(const SdpSubOp& op, const DataCube& cube, const std::string& name);
  void convert(const SdpPart& part, const ConvPart* conv, nvdla_layer& layer);
  void pack_position(nvdla_sdp& sdp, bool input, bool output) const;
  void convert(const SdpSubOp& op, const DataCube& cube, std::uint32_t proc, const char* name,
               nvdla_sdp_x& x);
  void convert(const SdpSubOp& op, const DataCube& cube, std::uint32_t proc, nvdla_sdp_y& y);

  void convert(const PdpPart& part, bool flying, nvdla_pdp& pdp);
  void convert(const CdpPart& part, nvdla_layer& layer);
  void convert(const RubikPart& part, nvdla_rubik& rubik);
  void convert(const BdmaPart& part, nvdla_bdma& bdma);

  // Index plus one, as a layer names it. A table is one for each unit and precision that uses it.
  std::uint32_t add_lut(std::int16_t index, std::uint32_t unit, std::uint32_t type);

  const Container& c_;
  const TaskEntry& entry_;
  const DlaTask& dla_;
  const nvdla_hw& hw_;
  std::string what_;
  std::string op_name_;
  std::uint32_t layer_ = 0;
  ConvertedProgram program_;
  std::map<std::uint16_t, std::uint32_t> slot_of_;
  std::map<std::tuple<std::int16_t, std::uint32_t, std::uint32_t>, std::uint32_t> lut_of_;
  // `Reuse` is what a convolution takes of the one before, and leaves for the next.
  struct Reuse {
    bool data = false, weights = false, keeps_data = false, keeps_weights = false;
  };
  std::map<const ConvOp*, Reuse> reuse_;
  std::map<const ConvOp*, std::uint32_t> weight_banks_;
};

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_READ_TASK_CONVERTER_HPP
