// SPDX-License-Identifier: MIT
#include "emulator/device/qtest.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "emulator/device/log.hpp"

namespace nvdla::emulator {

Qtest::Qtest(Descriptor socket, std::string line, std::chrono::milliseconds patience)
    : socket_(std::move(socket)),
      line_(std::move(line)),
      patience_(patience),
      worker_([this] { work(); }) {}

Qtest::~Qtest() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  // Wakes the worker out of recv(); nobody else uses the socket.
  ::shutdown(socket_.get(), SHUT_RDWR);
  worker_.join();
}

void Qtest::message(std::uint64_t address, std::uint32_t data) {
  queue(fmt::format("writel {:#x} {:#x}\n", address, data));
}

void Qtest::level(bool high) { queue(fmt::format("set_irq_in {} {}\n", line_, high ? 1 : 0)); }

void Qtest::queue(std::string command) {
  {
    const std::lock_guard lock(mutex_);
    if (broken_) return;
    commands_.push_back(std::move(command));
  }
  changed_.notify_all();
}

void Qtest::settle() {
  std::unique_lock lock(mutex_);
  const auto done = [this] { return (commands_.empty() && !busy_) || broken_; };
  if (!changed_.wait_for(lock, patience_, done))
    log("QEMU has not taken an interrupt within {} ms", patience_.count());
}

void Qtest::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !commands_.empty(); });
    if (stopping_) return;
    const std::string command = std::move(commands_.front());
    commands_.pop_front();
    busy_ = true;
    lock.unlock();
    const bool good = exchange(command);
    lock.lock();
    busy_ = false;
    if (!good) {
      if (!stopping_) log("the qtest socket is gone: no more interrupts");
      broken_ = true;
      commands_.clear();
    }
    changed_.notify_all();
    if (!good) return;
  }
}

// False when the socket is gone.
bool Qtest::exchange(const std::string& command) {
  for (std::size_t done = 0; done < command.size();) {
    const ssize_t count =
        ::send(socket_.get(), command.data() + done, command.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    done += static_cast<std::size_t>(count);
  }
  std::size_t end;
  while ((end = received_.find('\n')) == std::string::npos) {
    std::array<char, 256> bytes;
    const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    received_.append(bytes.data(), static_cast<std::size_t>(count));
  }
  const std::string answer = received_.substr(0, end);
  received_.erase(0, end + 1);
  if (answer.rfind("OK", 0) != 0)
    log("QEMU refused `{}`: {}", command.substr(0, command.size() - 1), answer);
  return true;
}

}  // namespace nvdla::emulator
