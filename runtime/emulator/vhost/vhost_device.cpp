// SPDX-License-Identifier: MIT
#include "emulator/vhost/vhost_device.hpp"

#include <fmt/format.h>
#include <linux/virtio_config.h>
#include <linux/virtio_pcidev.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

namespace nvdla::emulator {
namespace {

constexpr std::uint32_t kCommands = 0;
constexpr std::uint32_t kInterrupts = 1;

// VHOST_USER_F_PROTOCOL_FEATURES is a bit of vhost-user's beside those of virtio.
constexpr std::uint64_t kFeatures = std::uint64_t{1} << VIRTIO_F_VERSION_1 | std::uint64_t{1} << 30;
// SLAVE_REQ and INBAND_NOTIFICATIONS: a socket for each direction is all there is.
constexpr std::uint64_t kProtocolFeatures = 1u << 5 | 1u << 14;

// Without any of these nothing here would be understood.
void check_features(const char* request, std::uint64_t accepted, std::uint64_t offered) {
  if (accepted != offered)
    throw ProtocolError(fmt::format("{}: {:#x}, all of what is offered, and needed, is {:#x}",
                                    request, accepted, offered));
}

}  // namespace

void VhostDevice::message(std::uint64_t address, std::uint32_t data) {
  raise({VIRTIO_PCIDEV_OP_MSI, address, static_cast<std::uint16_t>(data)});
}

void VhostDevice::level(bool high) {
  const Interrupt inta{VIRTIO_PCIDEV_OP_INT, 1, 0};
  if (high) {
    raise(inta);
  } else {
    const std::lock_guard lock(mutex_);
    std::erase(waiting_, inta);
  }
}

void VhostDevice::raise(const Interrupt& interrupt) {
  const std::lock_guard lock(mutex_);
  if (std::find(waiting_.begin(), waiting_.end(), interrupt) == waiting_.end())
    waiting_.push_back(interrupt);
  try {
    deliver();
  } catch (const ProtocolError&) {
    // The guest's mistake, on a thread that cannot answer for it: serve() ends with it.
    problem_ = std::current_exception();
    queues_[kInterrupts].stop();
    if (socket_ >= 0) ::shutdown(socket_, SHUT_RD);
  }
}

// Delivers the waiting interrupts in order, as long as there are buffers.
void VhostDevice::deliver() {
  bool delivered = false;
  while (!waiting_.empty()) {
    const auto chain = queues_[kInterrupts].take();
    if (!chain) break;
    const Interrupt interrupt = waiting_.front();
    waiting_.erase(waiting_.begin());
    std::array<unsigned char, sizeof(virtio_pcidev_msg) + sizeof(interrupt.data)> bytes{};
    virtio_pcidev_msg header{};
    header.op = interrupt.operation;
    header.addr = interrupt.address;
    const bool with_data = interrupt.operation == VIRTIO_PCIDEV_OP_MSI;
    header.size = with_data ? sizeof(interrupt.data) : 0;
    put(bytes, 0, header);
    put(bytes, sizeof(header), interrupt.data);
    const auto message = std::span<const unsigned char>(bytes).first(sizeof(header) + header.size);
    if (chain->room() < message.size())
      throw ProtocolError(fmt::format("a buffer of {} bytes for interrupts: {} are right",
                                      chain->room(), bytes.size()));
    chain->fill(message);
    queues_[kInterrupts].give_back(*chain, message.size());
    delivered = true;
  }
  if (delivered && calls_.get() >= 0) call_vhost(calls_.get(), kInterrupts);
}

// Sends no notification: the guest polls while it waits for an answer, and collects the answers to
// posted writes later.
void VhostDevice::answer_commands(Function& function) {
  Virtqueue& commands = queues_[kCommands];
  std::unique_lock lock(mutex_);
  while (const auto chain = commands.take()) {
    // An access may raise an interrupt.
    lock.unlock();
    const std::size_t written = run_command(*chain, function);
    lock.lock();
    commands.give_back(*chain, written);
  }
}

Virtqueue& VhostDevice::queue(const char* request, std::uint32_t index) {
  if (index >= queues_.size())
    throw ProtocolError(fmt::format("{}: queue {}, there are 0 and 1", request, index));
  return queues_[index];
}

void VhostDevice::replace_memory(Function& function, std::vector<MemoryRange> ranges) {
  std::vector<MemoryRange> copies;
  for (const MemoryRange& range : ranges)
    copies.push_back(
        {range.address, range.size, range.offset, Descriptor(::dup(range.file.get()))});
  {
    const std::lock_guard lock(mutex_);
    for (Virtqueue& queue : queues_) queue.stop();
    memory_.replace(std::move(copies));
  }
  function.replace_memory(std::move(ranges));
}

void VhostDevice::handle_queue(const VhostMessage& message) {
  const std::lock_guard lock(mutex_);
  if (message.request == VhostRequest::kSetVringAddr) {
    const auto& rings = std::get<VringAddress>(message.body);
    queue("SET_VRING_ADDR", rings.index).set_rings(rings);
    return;
  }
  const auto& state = std::get<VringState>(message.body);
  switch (message.request) {
    case VhostRequest::kSetVringNum:
      queue("SET_VRING_NUM", state.index).set_size(state.number);
      break;
    case VhostRequest::kSetVringBase:
      queue("SET_VRING_BASE", state.index).set_next(state.number);
      break;
    case VhostRequest::kSetVringEnable:
      if (Virtqueue& chosen = queue("SET_VRING_ENABLE", state.index); state.number != 0) {
        chosen.start();
      } else {
        chosen.stop();
      }
      break;
    default:
      queue("VRING_KICK", state.index);
      break;
  }
}

void VhostDevice::handle(Function& function, VhostMessage message) {
  switch (message.request) {
    case VhostRequest::kSetOwner:
      break;
    case VhostRequest::kGetFeatures:
      reply_vhost(socket_, message.request, kFeatures);
      break;
    case VhostRequest::kGetProtocolFeatures:
      reply_vhost(socket_, message.request, kProtocolFeatures);
      break;
    case VhostRequest::kSetFeatures:
      check_features("SET_FEATURES", std::get<std::uint64_t>(message.body), kFeatures);
      break;
    case VhostRequest::kSetProtocolFeatures:
      check_features("SET_PROTOCOL_FEATURES", std::get<std::uint64_t>(message.body),
                     kProtocolFeatures);
      break;
    case VhostRequest::kSetMemTable:
      replace_memory(function, std::get<std::vector<MemoryRange>>(std::move(message.body)));
      break;
    case VhostRequest::kSetSlaveReqFd: {
      const std::lock_guard lock(mutex_);
      calls_ = std::get<Descriptor>(std::move(message.body));
      break;
    }
    default:
      handle_queue(message);
      break;
  }
  // Whatever was said, there may be more to do now.
  answer_commands(function);
  const std::lock_guard lock(mutex_);
  deliver();
}

void VhostDevice::set_socket(int socket) {
  const std::lock_guard lock(mutex_);
  socket_ = socket;
}

void VhostDevice::serve(int socket, Function& function) {
  set_socket(socket);
  try {
    while (std::optional<VhostMessage> message = receive_vhost(socket))
      handle(function, std::move(*message));
  } catch (...) {
    set_socket(-1);
    throw;
  }
  set_socket(-1);
  const std::lock_guard lock(mutex_);
  if (problem_) std::rethrow_exception(problem_);
}

}  // namespace nvdla::emulator
