// SPDX-License-Identifier: MIT
//
// `PciFunction` is a PCI function as sysfs shows it.
#ifndef NVDLA_BACKEND_REGISTERS_MMIO_PCI_FUNCTION_HPP
#define NVDLA_BACKEND_REGISTERS_MMIO_PCI_FUNCTION_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include "backend/registers/mmio/system.hpp"
#include "firmware/nvdla_hw.h"

namespace nvdla::detail {

class PciFunction {
 public:
  // `function` is like "0000:00:04.0"; `name` is the device's name for errors. Throws kNoDevice if
  // there is no such function.
  PciFunction(const System& system, std::string function, std::string name);

  const System& system() const noexcept { return system_; }
  const std::string& function() const noexcept { return function_; }
  const std::string& name() const noexcept { return name_; }
  // Returns the path of one of the function's attributes.
  std::string file(std::string_view attribute) const;
  // Returns the name of the function's driver; empty if it has none.
  std::string driver() const;
  // Finds the configuration by the device ID, as the kernel driver does; nullptr for an unknown ID.
  const nvdla_hw* configuration() const;
  // Returns the size of the BAR of the registers. Throws kNoDevice if it cannot have them.
  std::uint64_t bar_bytes() const;
  // Throws kNoDevice if an IOMMU translates, so that the function does not see physical addresses.
  void check_no_translation() const;
  // Writes to an attribute; false, with errno, on failure.
  bool put(std::string_view attribute, std::string_view word) const;

  // Returns the command register of configuration space. Throws kNoDevice.
  std::uint16_t command() const;
  void change_command(std::uint16_t bits, bool set) const;
  // Returns false if the function cannot be reset.
  bool reset() const;

 private:
  System system_;
  std::string function_;
  std::string name_;
  Descriptor config_;
};

// While a `PciDecoding` exists, the function decodes accesses to its registers. Throws kNoDevice if
// it cannot be enabled.
class PciDecoding {
 public:
  explicit PciDecoding(const PciFunction& function);
  PciDecoding(const PciDecoding&) = delete;
  PciDecoding& operator=(const PciDecoding&) = delete;
  ~PciDecoding();

 private:
  const PciFunction& function_;
  bool enabled_ = false;  // by this object
};

// Allows the function to reach memory from begin() until end() or the end of this object.
class BusMastering {
 public:
  explicit BusMastering(const PciFunction& function) noexcept : function_(function) {}
  BusMastering(const BusMastering&) = delete;
  BusMastering& operator=(const BusMastering&) = delete;
  ~BusMastering() { end(); }

  // Throws kNoDevice.
  void begin();
  // Does nothing if begin() was not called.
  void end() noexcept;

 private:
  const PciFunction& function_;
  bool on_ = false;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_PCI_FUNCTION_HPP
