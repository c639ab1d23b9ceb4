// SPDX-License-Identifier: MIT
//
// The inverse of the second half of task.cpp, and of cpu_task.cpp. What the standard form has, and
// what its readers compute as we do, is written in it; all else as an operation of our own.
#include <optional>

#include "host_ops/operation.hpp"
#include "loadable/format/packed.hpp"
#include "loadable/format/task.hpp"
#include "loadable/write/save_parts.hpp"
#include "nvdla/lowlevel/tensors.hpp"

namespace nvdla::loadable {
namespace {

using detail::LayerOutput;
using Rounding = cpu::Elements::Rounding;

// An operation of the standard form, without its cubes.
struct StandardForm {
  std::uint8_t type = kPower;
  float input_scale = 1, output_scale = 1;
  cpu::PowerOf numbers = {};
};

std::optional<StandardForm> standard_form(const cpu::Operation& operation) {
  if (const auto* softmax = std::get_if<cpu::SoftmaxOperation>(&operation.kind)) {
    if (softmax->rounding != Rounding::kLoadable) return std::nullopt;
    return StandardForm{kSoftmax, softmax->input.scale, softmax->output.scale};
  }
  if (const auto* power = std::get_if<cpu::PowerOperation>(&operation.kind)) {
    if (power->rounding != Rounding::kLoadable) return std::nullopt;
    return StandardForm{kPower, power->input.scale, power->output.scale, power->numbers};
  }
  return std::nullopt;
}

// The number of a cube's format in the standard form.
std::optional<std::uint16_t> standard_format(const TensorDesc& desc, Revision revision) {
  constexpr std::uint16_t kInt8 = 0, kInt8Small = 1, kOldFp16 = 2, kFp16 = 3;
  if (desc.precision == Precision::kFp16 && desc.atom == 32)
    return revision == Revision::kOld ? kOldFp16 : kFp16;
  if (desc.precision == Precision::kInt8 && desc.atom == 32) return kInt8;
  if (desc.precision == Precision::kInt8 && desc.atom == 8) return kInt8Small;
  return std::nullopt;
}

class CpuSaver {
 public:
  CpuSaver(const CompiledNetwork::Impl& net, const detail::CpuPart& part, SavedFile& file)
      : net_(net), part_(part), file_(file) {}

  void save() {
    const std::optional<StandardForm> form = standard_form(*part_.operation);
    if (form && fits_standard_form(*form)) {
      save_standard(*form);
    } else {
      save_own();
    }
  }

 private:
  static constexpr std::size_t kDestination = 256;

  const LayerOutput& input() const { return part_.inputs[0]; }
  const LayerOutput& output() const { return *part_.output; }
  bool old() const { return file_.revision() == Revision::kOld; }

  // Older cubes have no scales. NVIDIA's runtime does not map SRAM, knows one cube, and takes the
  // channels of a softmax as a run, whatever its size and strides are.
  bool fits_standard_form(const StandardForm& form) const {
    if (old() && (form.input_scale != 1 || form.output_scale != 1)) return false;
    for (const LayerOutput* at : {&input(), &output()}) {
      const TensorDesc& desc = at->desc;
      if (net_.slots[at->slot].memory == NVDLA_MEMORY_SRAM || desc.shape.batch != 1) return false;
      if (!standard_format(desc, file_.revision())) return false;
      const bool run = desc.shape.width == 1 && desc.shape.height == 1 &&
                       (desc.surfaces() == 1 || desc.surface_stride == desc.atom);
      if (form.type == kSoftmax && !run) return false;
    }
    return true;
  }

  /* ----------------------------------------------- the standard form --- */

  void save_standard(const StandardForm& form) {
    // Positions of the address list: 1 and 2 are the buffers, 5 and 6 the cubes in them.
    std::vector<std::byte> buffers = cube(5, input());
    buffers.resize(kDestination);
    const std::vector<std::byte> destination = cube(6, output());
    buffers.insert(buffers.end(), destination.begin(), destination.end());
    buffers.resize(2 * kDestination);
    file_.begin_task(kInterfaceEmu, descriptor());
    file_.add_slot(input().slot);
    file_.add_slot(output().slot);
    file_.add_list("op_list", operation(form));
    file_.add_list("op_buf_list", std::move(buffers));
    file_.add_place(1, input().offset);
    file_.add_place(2, output().offset);
  }

  static std::vector<std::byte> descriptor() {
    std::vector<std::byte> bytes;
    Packer pack{bytes};
    std::int16_t operations = 3, buffers = 4;
    std::uint16_t count = 1;
    pack("", operations);
    pack("", buffers);
    pack("", count);
    bytes.resize(kDestination);
    return bytes;
  }

  std::vector<std::byte> operation(StandardForm form) const {
    std::vector<std::byte> bytes;
    Packer pack{bytes, file_.revision()};
    pack("", form.type);
    if (!old()) {
      bytes.resize(4);
      pack("", form.input_scale);
      pack("", form.output_scale);
    }
    if (form.type == kPower) {
      pack("", form.numbers.power);
      pack("", form.numbers.scale);
      pack("", form.numbers.shift);
    }
    bytes.resize(old() ? 16 : 24);
    return bytes;
  }

  std::vector<std::byte> cube(std::int16_t position, const LayerOutput& at) const {
    const TensorDesc& desc = at.desc;
    std::vector<std::byte> bytes;
    Packer pack{bytes, file_.revision()};
    auto size = static_cast<std::uint32_t>(tensor_bytes(desc));
    std::uint32_t offset = 0, line = desc.line_stride, surface = desc.surface_stride;
    std::uint16_t format = *standard_format(desc, file_.revision());
    auto width = static_cast<std::uint16_t>(desc.shape.width);
    auto height = static_cast<std::uint16_t>(desc.shape.height);
    auto channels = static_cast<std::uint16_t>(desc.shape.channels);
    pack("", position);
    if (!old()) pack("", offset);
    pack("", size);
    pack("", format);
    pack("", width);
    pack("", height);
    pack("", channels);
    pack("", line);
    pack("", surface);
    return bytes;
  }

  /* --------------------------------------------------------- our own --- */

  // Behind the operation, at position 0, come the buffers of the inputs and that of the output.
  void save_own() {
    CpuTask task;
    task.operation = *part_.operation;
    std::uint32_t position = 1;
    const auto place = [&](const LayerOutput& at) {
      return CpuCube{position++, static_cast<std::uint32_t>(at.offset), at.desc};
    };
    for (const LayerOutput& from : part_.inputs) task.inputs.push_back(place(from));
    task.output = place(output());
    file_.add_need(std::string(operation_name(task.operation)));
    file_.begin_task(kInterfaceCpu, pack_cpu_task(task));
    for (const LayerOutput& from : part_.inputs) file_.add_slot(from.slot);
    file_.add_slot(output().slot);
  }

  const CompiledNetwork::Impl& net_;
  const detail::CpuPart& part_;
  SavedFile& file_;
};

}  // namespace

void save_cpu_task(const CompiledNetwork::Impl& net, const detail::CpuPart& part, SavedFile& file) {
  CpuSaver(net, part, file).save();
}

}  // namespace nvdla::loadable
