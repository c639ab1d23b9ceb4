// SPDX-License-Identifier: MIT
//
// PCI by vfio-pci without an IOMMU: registers, INTx and a reset from VFIO, addresses of memory as
// they are. The kernel stops the function when the last file of it is closed.
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "backend/registers/mmio/attachment.hpp"
#include "backend/registers/mmio/pci_function.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// A request to VFIO that has to succeed; `what` it would have done.
template <typename Argument>
int vfio_request(const PciFunction& function, const Descriptor& file, unsigned long request,
                 Argument argument, const char* what) {
  const int result = ::ioctl(file.get(), request, argument);
  if (result >= 0) return result;
  throw_error(ErrorCode::kNoDevice, "{}: VFIO does not {}: {}", function.name(), what,
              std::strerror(errno));
}

// The kernel masks the line when it reports it.
class VfioInterrupt final : public Interrupt {
 public:
  VfioInterrupt(const PciFunction& function, const Descriptor& device, Descriptor event)
      : Interrupt(event.get(), sizeof(std::uint64_t)), device_(device), event_(std::move(event)) {
    alignas(vfio_irq_set) std::array<std::byte, sizeof(vfio_irq_set) + sizeof(std::int32_t)> bytes;
    vfio_irq_set head = {};
    head.argsz = bytes.size();
    head.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
    head.index = VFIO_PCI_INTX_IRQ_INDEX;
    head.count = 1;
    const std::int32_t number = event_.get();
    std::memcpy(bytes.data(), &head, sizeof(head));
    std::memcpy(bytes.data() + sizeof(head), &number, sizeof(number));
    vfio_request(function, device_, VFIO_DEVICE_SET_IRQS, bytes.data(), "report the interrupt");
  }

 private:
  void listen() override {
    vfio_irq_set set = {};
    set.argsz = sizeof(set);
    set.flags = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK;
    set.index = VFIO_PCI_INTX_IRQ_INDEX;
    set.count = 1;
    // It is unmasked already, or gone.
    ::ioctl(device_.get(), VFIO_DEVICE_SET_IRQS, &set);
  }

  const Descriptor& device_;
  Descriptor event_;
};

class VfioAttachment final : public Attachment {
 public:
  VfioAttachment(const System& system, const std::string& name, const std::string& function,
                 bool poll)
      : function_(system, function, name), mastering_(function_) {
    open_device();
    vfio_region_info region = {};
    region.argsz = sizeof(region);
    region.index = VFIO_PCI_BAR0_REGION_INDEX;
    vfio_request(function_, device_, VFIO_DEVICE_GET_REGION_INFO, &region, "know the first BAR");
    if ((region.flags & VFIO_REGION_INFO_FLAG_MMAP) == 0 || region.size < NVDLA_REG_SPACE) {
      throw_error(ErrorCode::kNoDevice, "{}: its first BAR is no window of registers of {} KiB",
                  name, NVDLA_REG_SPACE >> 10);
    }
    registers_.emplace(name, device_, region.offset, region.size);
    if (!poll) listen();
  }

  const RegisterWindow& registers() const noexcept override { return *registers_; }
  const nvdla_hw* configuration() const noexcept override { return function_.configuration(); }
  Interrupt* interrupt() noexcept override { return interrupt_ ? &*interrupt_ : nullptr; }

  void connect() override { mastering_.begin(); }
  void disconnect() noexcept override { mastering_.end(); }
  bool reset() override { return ::ioctl(device_.get(), VFIO_DEVICE_RESET) == 0; }

 private:
  // Only one user can have a group open.
  void open_device() {
    const System& system = function_.system();
    const std::string& name = function_.name();
    const std::string number = system.linked(function_.file("iommu_group"));
    const std::string group = "/dev/vfio/noiommu-" + number;
    if (!system.has(group)) {
      throw_error(
          ErrorCode::kNoDevice,
          "{}: the driver 'vfio-pci' has it, and not without an IOMMU, as there is no {}: load "
          "the module vfio with enable_unsafe_noiommu_mode=1, or unbind the driver",
          name, group);
    }
    container_ = system.open("/dev/vfio/vfio", name);
    group_ = system.open(group, name);
    const int container = container_.get();
    vfio_request(function_, group_, VFIO_GROUP_SET_CONTAINER, &container, "take the group");
    vfio_request(function_, container_, VFIO_SET_IOMMU, VFIO_NOIOMMU_IOMMU, "go without an IOMMU");
    device_ = Descriptor(vfio_request(function_, group_, VFIO_GROUP_GET_DEVICE_FD,
                                      function_.function().c_str(), "open the function"));
  }

  void listen() {
    vfio_irq_info info = {};
    info.argsz = sizeof(info);
    info.index = VFIO_PCI_INTX_IRQ_INDEX;
    vfio_request(function_, device_, VFIO_DEVICE_GET_IRQ_INFO, &info, "know the interrupt");
    if (info.count == 0) return;
    Descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    // VFIO would take a negative descriptor for a request to disable reports.
    if (event.get() < 0) {
      throw_error(ErrorCode::kNoDevice, "{}: no file to report the interrupt to: {}",
                  function_.name(), std::strerror(errno));
    }
    interrupt_.emplace(function_, device_, std::move(event));
  }

  PciFunction function_;
  BusMastering mastering_;
  Descriptor container_;
  Descriptor group_;
  Descriptor device_;
  std::optional<RegisterWindow> registers_;
  std::optional<VfioInterrupt> interrupt_;
};

}  // namespace

std::unique_ptr<Attachment> attach_vfio(const System& system, const std::string& name,
                                        const std::string& function, bool poll) {
  return std::make_unique<VfioAttachment>(system, name, function, poll);
}

}  // namespace nvdla::detail
