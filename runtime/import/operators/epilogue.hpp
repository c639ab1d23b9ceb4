// SPDX-License-Identifier: MIT
//
// The operators of SDP that one layer computes behind its sums, or alone.
#ifndef NVDLA_IMPORT_OPERATORS_EPILOGUE_HPP
#define NVDLA_IMPORT_OPERATORS_EPILOGUE_HPP

#include <array>
#include <optional>
#include <vector>

#include "import/operators/lowering.hpp"

namespace nvdla::import {

// `Epilogue` collects steps in X1, X2 and Y as long as they fit. Operands are those of fp16 layers.
class Epilogue {
 public:
  // `behind_sums`: it belongs to a convolution, whose layer there is in any case.
  Epilogue(Lowering& lowering, const Dims& dims, const View& view, bool behind_sums = false)
      : lowering_(lowering), dims_(dims), view_(view), behind_sums_(behind_sums) {}

  // Takes a step behind those that it has; returns false, and changes nothing, if it does not fit.
  bool add(const Step& step);
  // Takes all of the steps or none. `behind` are scalar steps that will follow them: a table that
  // fits with these is fitted only once.
  bool add_all(const std::vector<Step>& steps, const std::vector<Step>& behind = {});
  // Takes a shift by one number for each channel, first of all.
  void add_channels(const Constant& bias);
  // Leaves out steps whose operands have an element for each position, from now on.
  void keep_to_channels() { per_channel_ = true; }
  bool is_empty() const { return used_ == 0 && !table_; }
  // Returns the table that is all it has, or nullptr.
  const Step* only_table() const { return used_ == 0 && table_ ? &*table_ : nullptr; }

  // Sets X1, X2 and Y; the epilogue must live until the layer is added.
  template <typename Layer>
  void set(Layer& layer) {
    if (used_ > 0) set_slot(slots_[0], layer.x1);
    if (used_ > 1) set_slot(slots_[1], layer.x2);
    set_table(layer.y);
  }

 private:
  struct Slot {
    nvdla_alu alu = NVDLA_ALU_NONE;
    nvdla_mul mul = NVDLA_MUL_NONE;
    std::vector<float> alu_values, mul_values;
    Tensor tensor;
    bool relu = false;
  };

  Slot* open_slot();
  bool add_slot(Slot slot);
  bool is_per_channel(const Step& step) const;
  bool add_scale(const Step& step);
  bool add_tensor(const Step& step);
  std::vector<float> values(const Step& step) const;
  static void set_slot(const Slot& slot, Operator& op);
  void set_table(OperatorY& y);

  Lowering& lowering_;
  Dims dims_;
  View view_;
  bool behind_sums_ = false;
  bool per_channel_ = false;
  std::array<Slot, 2> slots_;
  std::size_t used_ = 0;
  std::optional<Step> table_;
  std::optional<Lut> lut_;
};

// Returns the values of an operand for a tensor of sizes `dims` in `view`: one, one for each
// channel, or one for each element.
std::vector<float> operand_values(const Constant& operand, const Dims& dims, const View& view);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_EPILOGUE_HPP
