// SPDX-License-Identifier: MIT
//
// An address of /dev/mem, where nothing else is known of the core.
#include <fcntl.h>

#include "backend/registers/mmio/attachment.hpp"
#include "backend/registers/mmio/io_memory.hpp"
#include "firmware/registers/nvdla_regs.h"

namespace nvdla::detail {
namespace {

Descriptor open_memory(const System& system, const std::string& name, std::uint64_t address) {
  const MemoryWindow window{address, NVDLA_REG_SPACE};
  IoMemory(system, name).check_registers(window, name);
  // The kernel maps it as registers, whatever there is.
  Descriptor file = system.open("/dev/mem", name, O_SYNC);
  take_alone(file, window.address, window.size, name);
  return file;
}

class PhysicalAttachment final : public Attachment {
 public:
  PhysicalAttachment(const System& system, const std::string& name, std::uint64_t address)
      : file_(open_memory(system, name, address)),
        registers_(name, file_, address, NVDLA_REG_SPACE) {}

  const RegisterWindow& registers() const noexcept override { return registers_; }

 private:
  Descriptor file_;
  RegisterWindow registers_;
};

}  // namespace

std::unique_ptr<Attachment> attach_physical(const System& system, const std::string& name,
                                            std::uint64_t address) {
  return std::make_unique<PhysicalAttachment>(system, name, address);
}

}  // namespace nvdla::detail
