// SPDX-License-Identifier: MIT
//
// A device of UIO: uio_pdrv_genirq and its like for systems on chip. What belongs to PCI is opened
// as that.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "backend/compatible.hpp"
#include "backend/info.hpp"
#include "backend/registers/mmio/attachment.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

class UioInterrupt final : public Interrupt {
 public:
  explicit UioInterrupt(const Descriptor& file)
      : Interrupt(file.get(), sizeof(std::uint32_t)), file_(file) {}

 private:
  // The driver has silenced it. One that cannot be told to hear it again does so by itself.
  void listen() override {
    const std::int32_t on = 1;
    [[maybe_unused]] const ssize_t written = ::write(file_.get(), &on, sizeof(on));
  }

  const Descriptor& file_;
};

class UioAttachment final : public Attachment {
 public:
  // `folder` is of the device in sysfs.
  UioAttachment(const System& system, const std::string& name, const std::string& file,
                std::string folder, bool poll)
      : system_(system), folder_(std::move(folder)), file_(system.open(file, name, O_NONBLOCK)) {
    take_alone(file_, 0, 1, name);
    const auto number = [&](const char* what) {
      const std::string text = system_.text(folder_ + "/maps/map0/" + what).value_or("");
      return std::strtoull(text.c_str(), nullptr, 0);
    };
    const std::uint64_t bytes = number("size");
    if (bytes < NVDLA_UNIT_WINDOW) {
      throw_error(ErrorCode::kNoDevice,
                  "{}: its first map is no window of registers: {}/maps/map0/size says {:#x}", name,
                  folder_, bytes);
    }
    const std::uint64_t head = number("offset");
    registers_.emplace(name, file_, 0, head + bytes, head);
    if (!poll && Interrupt::reported_by(file_.get())) interrupt_.emplace(file_);
  }

  const RegisterWindow& registers() const noexcept override { return *registers_; }
  Interrupt* interrupt() noexcept override { return interrupt_ ? &*interrupt_ : nullptr; }
  // Finds the configuration by the "compatible" property in the device tree.
  const nvdla_hw* configuration() const noexcept override {
    const std::string all = system_.text(folder_ + "/device/of_node/compatible").value_or("");
    // Strings, a NUL behind each; the system on chip's own name stands before the generic one.
    for (std::size_t at = 0; at < all.size();) {
      const std::string_view name = all.c_str() + at;
      if (const nvdla_hw* const hw = find_compatible(name); hw != nullptr) return hw;
      at += name.size() + 1;
    }
    return nullptr;
  }

 private:
  System system_;
  std::string folder_;
  Descriptor file_;
  std::optional<RegisterWindow> registers_;
  std::optional<UioInterrupt> interrupt_;
};

}  // namespace

std::unique_ptr<Attachment> attach_uio(const System& system, const std::string& name,
                                       const MmioName& place) {
  const std::string folder =
      "/sys/class/uio/" + place.place.substr(std::string_view("/dev/").size());
  if (!system.has(folder)) {
    throw_error(ErrorCode::kNoDevice,
                "{}: there is no {}: is its UIO driver loaded, and bound to it?", name, folder);
  }
  if (system.linked(folder + "/device/subsystem") == "pci") {
    return attach_pci(system, name, system.linked(folder + "/device"), place.poll);
  }
  if (!place.memory) throw_error(ErrorCode::kNoDevice, "{}: {}", name, kNeedsReservedMemory);
  return std::make_unique<UioAttachment>(system, name, place.place, folder, place.poll);
}

}  // namespace nvdla::detail
