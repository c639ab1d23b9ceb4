// SPDX-License-Identifier: MIT
//
// The inverse of the second half of task.cpp.
#include "loadable/save_cpu.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/check.hpp"
#include "loadable/packed.hpp"
#include "loadable/task.hpp"

namespace nvdla::loadable {
namespace {

using detail::CpuForm;
using detail::LayerOutput;

class CpuSaver {
 public:
  CpuSaver(const CompiledNetwork::Impl& net, const detail::CpuPart& part, Revision revision)
      : net_(net), part_(part), revision_(revision) {}

  void save(SavedFile& file) {
    const CpuForm& form = part_.form;
    if (form.kind == CpuForm::Kind::kNone) lacks(form.why_none);
    if (old() && (form.input_scale != 1 || form.output_scale != 1))
      lacks("interface 0.11 has no scales: 0.12 has");
    // Positions of the address list: 1 and 2 are the buffers, 5 and 6 the cubes in them.
    std::vector<std::byte> buffers = cube(5, part_.input);
    buffers.resize(kDestination);
    const std::vector<std::byte> destination = cube(6, *part_.output);
    buffers.insert(buffers.end(), destination.begin(), destination.end());
    buffers.resize(2 * kDestination);
    file.begin_task(kInterfaceEmu, descriptor());
    file.add_slot(part_.input.slot);
    file.add_slot(part_.output->slot);
    file.add_list("op_list", operation());
    file.add_list("op_buf_list", std::move(buffers));
    file.add_place(1, part_.input.offset);
    file.add_place(2, part_.output->offset);
  }

 private:
  static constexpr std::size_t kDestination = 256;

  bool old() const { return revision_ == Revision::kOld; }

  [[noreturn]] void lacks(std::string_view what) const {
    detail::refuse(ErrorCode::kNotAvailable, "{}: {}",
                   detail::layer_text(part_.layer.value_or(0), part_.name), what);
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

  std::vector<std::byte> operation() const {
    CpuForm form = part_.form;
    std::vector<std::byte> bytes;
    Packer pack{bytes, revision_};
    std::uint8_t type = form.kind == CpuForm::Kind::kPower ? kPower : kSoftmax;
    pack("", type);
    if (!old()) {
      bytes.resize(4);
      pack("", form.input_scale);
      pack("", form.output_scale);
    }
    if (type == kPower) {
      pack("", form.power);
      pack("", form.scale);
      pack("", form.shift);
    }
    bytes.resize(old() ? 16 : 24);
    return bytes;
  }

  std::uint16_t format_of(const TensorDesc& desc) const {
    if (desc.precision == Precision::kFp16 && desc.atom == 32) return old() ? 2 : 3;
    if (desc.precision == Precision::kInt8 && desc.atom == 32) return 0;
    if (desc.precision == Precision::kInt8 && desc.atom == 8) return 1;
    lacks(fmt::format("a loadable has no operation on cubes with atoms of {} bytes", desc.atom));
  }

  std::vector<std::byte> cube(std::int16_t position, const LayerOutput& at) const {
    const TensorDesc& desc = at.desc;
    if (desc.shape.batch != 1) lacks("a loadable has operations of the CPU on one cube only");
    if (net_.slots[at.slot].memory == NVDLA_MEMORY_SRAM)
      lacks("operations of the CPU in a loadable do not reach SRAM");
    std::vector<std::byte> bytes;
    Packer pack{bytes, revision_};
    auto size = static_cast<std::uint32_t>(tensor_bytes(desc));
    std::uint32_t offset = 0, line = desc.line_stride, surface = desc.surface_stride;
    std::uint16_t format = format_of(desc);
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

  const CompiledNetwork::Impl& net_;
  const detail::CpuPart& part_;
  const Revision revision_;
};

}  // namespace

void save_cpu_task(const CompiledNetwork::Impl& net, const detail::CpuPart& part, SavedFile& file) {
  CpuSaver(net, part, file.revision()).save(file);
}

}  // namespace nvdla::loadable
