// SPDX-License-Identifier: MIT
//
// PCI by sysfs, without a driver or beside uio_pci_generic, which hears the interrupt.
#include <fcntl.h>
#include <linux/pci_regs.h>

#include <filesystem>
#include <optional>

#include "backend/registers/mmio/attachment.hpp"
#include "backend/registers/mmio/pci_function.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

constexpr std::string_view kUioDriver = "uio_pci_generic";
constexpr std::string_view kVfioDriver = "vfio-pci";

// uio_pci_generic disables the function's interrupt when it reports one; its user has to enable it
// again.
class PciUioInterrupt final : public Interrupt {
 public:
  PciUioInterrupt(const PciFunction& function, const Descriptor& file)
      : Interrupt(file.get(), sizeof(std::uint32_t)), function_(function) {}

 private:
  void listen() override { function_.change_command(PCI_COMMAND_INTX_DISABLE, false); }

  const PciFunction& function_;
};

class PciAttachment final : public Attachment {
 public:
  PciAttachment(const System& system, const std::string& name, const std::string& function,
                bool poll)
      : function_(system, function, name), mastering_(function_), resource_(take(function_)) {
    const std::string driver = function_.driver();
    if (!driver.empty() && driver != kUioDriver) {
      throw_error(ErrorCode::kNoDevice,
                  "{}: the driver '{}' has it{}: unbind it, as 'echo {} > {}' does", name, driver,
                  driver == "nvdla" ? ", which the device 'kernel' uses" : "", function,
                  function_.file("driver/unbind"));
    }
    function_.check_no_translation();
    decoding_.emplace(function_);
    registers_.emplace(name, resource_, 0, function_.bar_bytes());
    if (!driver.empty()) open_uio();
    if (!poll && Interrupt::reported_by(uio_.get())) interrupt_.emplace(function_, uio_);
  }

  const RegisterWindow& registers() const noexcept override { return *registers_; }
  const nvdla_hw* configuration() const noexcept override { return function_.configuration(); }
  Interrupt* interrupt() noexcept override { return interrupt_ ? &*interrupt_ : nullptr; }

  void connect() override { mastering_.begin(); }
  void disconnect() noexcept override { mastering_.end(); }
  bool reset() override { return function_.reset(); }

 private:
  // Nobody else may, by this way.
  static Descriptor take(const PciFunction& function) {
    Descriptor file = function.system().open(function.file("resource0"), function.name(), O_SYNC);
    take_alone(file, 0, function.bar_bytes(), function.name());
    return file;
  }

  // Open even where it is polled: when it closes, bus mastering ends.
  void open_uio() {
    std::error_code ignored;
    const std::filesystem::directory_iterator uio(function_.system().path(function_.file("uio")),
                                                  ignored);
    if (uio == std::filesystem::directory_iterator()) {
      throw_error(ErrorCode::kNoDevice, "{}: the driver '{}' has it, and made no /dev/uio",
                  function_.name(), kUioDriver);
    }
    uio_ = function_.system().open("/dev/" + uio->path().filename().string(), function_.name(),
                                   O_NONBLOCK);
  }

  PciFunction function_;
  std::optional<PciDecoding> decoding_;
  BusMastering mastering_;
  Descriptor resource_;
  Descriptor uio_;
  std::optional<RegisterWindow> registers_;
  std::optional<PciUioInterrupt> interrupt_;
};

}  // namespace

std::unique_ptr<Attachment> attach_pci(const System& system, const std::string& name,
                                       const std::string& function, bool poll) {
  if (PciFunction(system, function, name).driver() == kVfioDriver) {
    return attach_vfio(system, name, function, poll);
  }
  return std::make_unique<PciAttachment>(system, name, function, poll);
}

}  // namespace nvdla::detail
