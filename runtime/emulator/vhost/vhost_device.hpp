// SPDX-License-Identifier: MIT
//
// `VhostDevice` serves the function over vhost-user, where User-mode Linux finds it (virt-pci over
// virtio_uml): queue 0 carries accesses to configuration space and BAR with their answers, queue 1
// carries interrupts.
#ifndef NVDLA_EMULATOR_VHOST_DEVICE_HPP
#define NVDLA_EMULATOR_VHOST_DEVICE_HPP

#include <array>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include "emulator/device/faults.hpp"
#include "emulator/device/function.hpp"
#include "emulator/device/guest_memory.hpp"
#include "emulator/device/interrupts.hpp"
#include "emulator/device/stream.hpp"
#include "emulator/vhost/vhost_message.hpp"
#include "emulator/vhost/virtqueue.hpp"

namespace nvdla::emulator {

// The ID of the virtio device. None is assigned, so the guest's kernel is configured with this one.
inline constexpr unsigned kVhostDeviceId = 50;

class VhostDevice final : public InterruptPort {
 public:
  VhostDevice() noexcept { memory_.set_bus_master(true); }

  // A rising level becomes a message, since User-mode Linux has no other interrupts. A message
  // without a buffer waits for one; a second message for the same vector is dropped, since it would
  // add nothing.
  void message(std::uint64_t address, std::uint32_t data) override;
  void level(bool high) override;
  // Waits for nothing, since the guest takes interrupts while it does not wait for this device.
  void settle() override {}

  // Answers the guest until it disconnects. Throws ProtocolError for an invalid message.
  void serve(int socket, Function& function);

 private:
  struct Interrupt {
    std::uint8_t operation = 0;
    std::uint64_t address = 0;
    std::uint16_t data = 0;

    bool operator==(const Interrupt&) const = default;
  };

  void handle(Function& function, VhostMessage message);
  void handle_queue(const VhostMessage& message);
  void replace_memory(Function& function, std::vector<MemoryRange> ranges);
  Virtqueue& queue(const char* request, std::uint32_t index);
  void answer_commands(Function& function);
  void raise(const Interrupt& interrupt);
  void set_socket(int socket);
  void deliver();

  // Memory as the queues access it. The device itself has the access that configuration space
  // allows.
  Counters counters_;
  GuestMemory memory_{counters_};

  // Guards the members below, since interrupts come from the function's threads.
  std::mutex mutex_;
  std::array<Virtqueue, 2> queues_{Virtqueue(memory_), Virtqueue(memory_)};
  std::vector<Interrupt> waiting_;
  Descriptor calls_;
  int socket_ = -1;  // while a connection is served
  std::exception_ptr problem_;
};

// Executes the guest's command for the PCI function in a chain of a queue
// (<linux/virtio_pcidev.h>). Returns the number of answer bytes in the chain. Throws ProtocolError.
std::size_t run_command(const Virtqueue::Chain& chain, Function& function);

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_VHOST_DEVICE_HPP
