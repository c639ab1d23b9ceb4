// SPDX-License-Identifier: MIT
//
// The socket to a simulator, and whole messages on it. What goes wrong is an Error that says so,
// and nothing waits longer than for one message.
#ifndef NVDLA_BACKEND_REGISTERS_SIM_CHANNEL_HPP
#define NVDLA_BACKEND_REGISTERS_SIM_CHANNEL_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/descriptor.hpp"

namespace nvdla::detail {

using SimBytes = std::vector<unsigned char>;

// Numbers of messages, little endian on every host.
void put_number(SimBytes& bytes, std::uint32_t number);
void put_number(SimBytes& bytes, std::uint64_t number);
std::uint32_t get_word(std::span<const unsigned char> bytes, std::size_t at) noexcept;
std::uint64_t get_long(std::span<const unsigned char> bytes, std::size_t at) noexcept;

class SimChannel {
 public:
  struct Message {
    std::uint32_t type = 0;
    SimBytes payload = {};
  };

  // `name` is of the device, for errors; `stall` is how long one message may take.
  SimChannel(std::string name, const std::string& path, std::chrono::seconds stall);

  void send(std::uint32_t type, std::span<const unsigned char> payload, int file = -1);
  Message receive();

  [[noreturn]] void fail(std::string_view what) const;

 private:
  using Clock = std::chrono::steady_clock;

  // False when the time is over.
  bool ready(short events, Clock::time_point until) const;
  void read(std::span<unsigned char> bytes, Clock::time_point until, bool first);
  [[noreturn]] void stalled() const;

  std::string name_;
  std::chrono::seconds stall_;
  Descriptor socket_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_SIM_CHANNEL_HPP
