// SPDX-License-Identifier: MIT
//
// What the machine has around a core whose registers are mapped. One mechanism is one file.
#ifndef NVDLA_BACKEND_REGISTERS_MMIO_ATTACHMENT_HPP
#define NVDLA_BACKEND_REGISTERS_MMIO_ATTACHMENT_HPP

#include <memory>
#include <string>

#include "backend/name/mmio_name.hpp"
#include "backend/registers/mmio/interrupt.hpp"
#include "backend/registers/mmio/register_window.hpp"
#include "backend/registers/mmio/system.hpp"
#include "firmware/nvdla_hw.h"

namespace nvdla::detail {

// Made without writing to the core, which need not be one.
class Attachment {
 public:
  virtual ~Attachment() = default;
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  virtual const RegisterWindow& registers() const noexcept = 0;
  // Which configuration the machine says that it is; nullptr if it does not.
  virtual const nvdla_hw* configuration() const noexcept { return nullptr; }
  // nullptr: nobody hears it.
  virtual Interrupt* interrupt() noexcept { return nullptr; }
  // The core may reach memory from now on. Throws kNoDevice.
  virtual void connect() {}
  // It does no more, whatever it is at.
  virtual void disconnect() noexcept {}
  // False if there is no way to.
  virtual bool reset() { return false; }

 protected:
  Attachment() = default;
};

// Attach by one mechanism each; errors say `name`, that of the device. Throw kNoDevice and kBusy.
std::unique_ptr<Attachment> attach_pci(const System& system, const std::string& name,
                                       const std::string& function, bool poll);
std::unique_ptr<Attachment> attach_vfio(const System& system, const std::string& name,
                                        const std::string& function, bool poll);
std::unique_ptr<Attachment> attach_uio(const System& system, const std::string& name,
                                       const MmioName& place);
std::unique_ptr<Attachment> attach_physical(const System& system, const std::string& name,
                                            std::uint64_t address);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_ATTACHMENT_HPP
