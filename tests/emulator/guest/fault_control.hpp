// SPDX-License-Identifier: MIT
//
// The emulated device's fault capability and command register, for tests in the guest: through
// sysfs, so while the driver owns the function; for a device without PCI, whose configuration space
// is in memory, through /dev/mem.
#ifndef NVDLA_TESTS_FAULT_CONTROL_HPP
#define NVDLA_TESTS_FAULT_CONTROL_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace nvdla::emulator_test {

class FaultControl {
 public:
  // Throws std::runtime_error without an emulated NVDLA.
  FaultControl();
  ~FaultControl();
  FaultControl(const FaultControl&) = delete;
  FaultControl& operator=(const FaultControl&) = delete;

  // Registers NVDLA_FAULT_* of fault_capability.h.
  std::uint32_t get(std::uint32_t offset) const;
  void set(std::uint32_t offset, std::uint32_t value) const;
  // Blocks the layer-th layer from now, 1 the next one. A reset that ends a blocked layer ends its
  // fault, too, and comes after the fence of the layer: waits for it, so that it ends only that
  // one.
  void block(std::uint32_t layer) const;
  // Back to an obedient device.
  void clear() const;

  // The first line of a file of the function in sysfs; a line written to one, or to any file.
  // Throws std::system_error with what the kernel says to that.
  std::string attribute(const std::string& name) const;
  void put_attribute(const std::string& name, const std::string& line) const;
  static void put(const std::string& path, const std::string& line);

  // What is not cannot be kept off the bus by its driver.
  bool on_pci() const { return window_ == nullptr; }
  void set_bus_master(bool on) const;
  bool bus_master() const;

  // Takes the function from its driver, resets it if it can be, and gives it back: a fresh probe.
  void rebind();
  // The halves of it.
  void unbind();
  void bind() const;

  // Takes the function from the bus, which has to be PCI: this object is of no use any more.
  // rescan() brings it back.
  void remove() const;
  static void rescan();

 private:
  std::uint32_t read(std::uint32_t address, unsigned bytes) const;
  void write(std::uint32_t address, std::uint32_t value, unsigned bytes) const;

  std::string directory_;
  std::string driver_;  // where it was
  int config_ = -1;
  std::byte* window_ = nullptr;  // instead of config_, without PCI
};

}  // namespace nvdla::emulator_test

#endif  // NVDLA_TESTS_FAULT_CONTROL_HPP
