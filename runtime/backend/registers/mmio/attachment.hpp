// SPDX-License-Identifier: MIT
//
// An attachment connects a core whose registers are mapped with the machine around it: interrupts,
// access to memory, reset. Each mechanism has a file.
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

// Construction writes nothing to the core, which might not be an NVDLA.
class Attachment {
 public:
  virtual ~Attachment() = default;
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  virtual const RegisterWindow& registers() const noexcept = 0;
  // Returns the configuration that the machine states; nullptr if it states none.
  virtual const nvdla_hw* configuration() const noexcept { return nullptr; }
  // nullptr: interrupts are not reported.
  virtual Interrupt* interrupt() noexcept { return nullptr; }
  // Lets the core reach memory. Throws kNoDevice.
  virtual void connect() {}
  // Cuts the core off from memory, whatever it is doing.
  virtual void disconnect() noexcept {}
  // Returns false if the core cannot be reset.
  virtual bool reset() { return false; }

 protected:
  Attachment() = default;
};

// Each of these attaches by one mechanism; `name` is the device's name for errors. They throw
// kNoDevice and kBusy.
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
