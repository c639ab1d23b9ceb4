// SPDX-License-Identifier: MIT
//
// A function of PCI as sysfs shows it.
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
  // "0000:00:04.0"; `name` is of the device, for errors. Throws kNoDevice if there is none.
  PciFunction(const System& system, std::string function, std::string name);

  const System& system() const noexcept { return system_; }
  const std::string& function() const noexcept { return function_; }
  const std::string& name() const noexcept { return name_; }
  // Of one of its attributes.
  std::string file(std::string_view attribute) const;
  // Empty if it has none.
  std::string driver() const;
  // By the device's id, as the driver takes it; nullptr for any other.
  const nvdla_hw* configuration() const;
  // Of the registers. Throws kNoDevice if they cannot be there.
  std::uint64_t bar_bytes() const;
  // Throws kNoDevice where addresses of memory are not those that the function has to use.
  void check_no_translation() const;
  // Writes to one of its attributes; false, with errno, if that failed.
  bool put(std::string_view attribute, std::string_view word) const;

  // The command register of configuration space. Throws kNoDevice.
  std::uint16_t command() const;
  void change_command(std::uint16_t bits, bool set) const;
  // False if there is no way to.
  bool reset() const;

 private:
  System system_;
  std::string function_;
  std::string name_;
  Descriptor config_;
};

// While it lives, registers answer. Throws kNoDevice if they cannot be made to.
class PciDecoding {
 public:
  explicit PciDecoding(const PciFunction& function);
  PciDecoding(const PciDecoding&) = delete;
  PciDecoding& operator=(const PciDecoding&) = delete;
  ~PciDecoding();

 private:
  const PciFunction& function_;
  bool enabled_ = false;  // here
};

// Whether the function may reach memory: it may not when this goes.
class BusMastering {
 public:
  explicit BusMastering(const PciFunction& function) noexcept : function_(function) {}
  BusMastering(const BusMastering&) = delete;
  BusMastering& operator=(const BusMastering&) = delete;
  ~BusMastering() { end(); }

  // Throws kNoDevice.
  void begin();
  // Nothing if it did not begin here.
  void end() noexcept;

 private:
  const PciFunction& function_;
  bool on_ = false;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_PCI_FUNCTION_HPP
