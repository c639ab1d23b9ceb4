// SPDX-License-Identifier: MIT
#include "backend/registers/sim_device.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "backend/info.hpp"
#include "backend/registers/pages.hpp"
#include "sim/nvdla_sim_protocol.h"
#include "support/check.hpp"
#include "support/printable.hpp"

namespace nvdla::detail {
namespace {

constexpr std::uint64_t kCycleNs = 1000;
constexpr std::uint64_t kRelaxCycles = 100;
constexpr std::size_t kMaxWriteBytes = 4096;
// Each may hold a file open.
constexpr std::size_t kMaxPosted = 64;
// Messages about memory that a request may bring along, and further ones for each cycle of it: the
// two interfaces read and write one beat in a cycle, and requests without cycles let some pass.
constexpr std::uint64_t kMaxAccesses = std::uint64_t{1} << 20, kAccessesOfACycle = 8;
// The time of more cycles, in nanoseconds, would not fit.
constexpr std::uint64_t kMaxCycles = std::uint64_t{1} << 52;

// Bytes that another process can map and not shorten.
Descriptor make_file(std::uint64_t bytes) {
  Descriptor file(::memfd_create("nvdla-sim", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0 || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    throw_error(ErrorCode::kNoMemory, "no memory for a buffer of {} bytes: {}", bytes,
                std::strerror(errno));
  }
  return file;
}

std::uint32_t reach_of(std::optional<Memory> memory) {
  if (!memory) return NVDLA_SIM_REACH_DRAM | NVDLA_SIM_REACH_SRAM;
  return *memory == Memory::kSram ? NVDLA_SIM_REACH_SRAM : NVDLA_SIM_REACH_DRAM;
}

// Returns the text of a field, up to its first NUL.
std::string text_field(const SimBytes& payload, std::size_t at, std::size_t size) {
  const auto begin = payload.begin() + static_cast<std::ptrdiff_t>(at);
  const auto end = begin + static_cast<std::ptrdiff_t>(size);
  return {begin, std::find(begin, end, '\0')};
}

}  // namespace

class SimDevice::SimMemory final : public BareMemory {
 public:
  SimMemory(SimDevice& device, Pages pages, std::uint64_t bytes, std::uint64_t address,
            std::optional<Memory> memory)
      : BareMemory(pages.data(), bytes, address, memory.value_or(Memory::kDram)),
        device_(device),
        pages_(std::move(pages)) {
    device_.blocks_->set(address, data(), bytes, memory);
  }
  ~SimMemory() override {
    Posted message{.type = NVDLA_SIM_UNMAP};
    put_number(message.payload, address());
    device_.post(std::move(message));
    device_.blocks_->give_back(address());
  }

 private:
  SimDevice& device_;
  Pages pages_;
};

SimDevice::SimDevice(const DeviceName& name)
    : name_("sim:" + name.path),
      channel_(name_, name.path, std::chrono::seconds(name.sim.stall)),
      files_(!name.sim.messages) {
  hello(name.hw);
  request(NVDLA_SIM_RESET, {});
}

void SimDevice::hello(const nvdla_hw* named) {
  SimBytes payload;
  put_number(payload, std::uint64_t{NVDLA_SIM_MAGIC});
  put_number(payload, std::uint32_t{NVDLA_SIM_VERSION});
  put_number(payload, std::uint32_t{files_ ? NVDLA_SIM_FILES : 0});
  channel_.send(NVDLA_SIM_HELLO, payload);

  constexpr std::size_t kNames = 16;
  constexpr std::size_t kBytes = kNames + NVDLA_SIM_CONFIGURATION_BYTES + NVDLA_SIM_NAME_BYTES;
  const SimChannel::Message welcome = channel_.receive();
  const auto no_simulator = [&](const std::string& why) {
    throw_error(ErrorCode::kNoDevice, "{}: {}", name_, why);
  };
  if (welcome.type != NVDLA_SIM_WELCOME || welcome.payload.size() < kNames ||
      get_long(welcome.payload, 0) != NVDLA_SIM_MAGIC) {
    no_simulator("who listens there is no simulator of NVDLA");
  }
  if (const std::uint32_t version = get_word(welcome.payload, 8); version != NVDLA_SIM_VERSION) {
    no_simulator(fmt::format("the simulator speaks version {} of the protocol, this runtime {}",
                             version, NVDLA_SIM_VERSION));
  }
  if (welcome.payload.size() != kBytes) {
    no_simulator(fmt::format("the simulator's welcome has {} bytes instead of {}",
                             welcome.payload.size(), kBytes));
  }
  files_ = files_ && (get_word(welcome.payload, 12) & NVDLA_SIM_FILES) != 0;
  const std::string configuration =
      text_field(welcome.payload, kNames, NVDLA_SIM_CONFIGURATION_BYTES);
  if (!configuration.empty()) {
    hw_ = find_configuration(configuration);
    if (hw_ == nullptr) {
      no_simulator(fmt::format("simulates '{}', which is no configuration; there are {}",
                               printable(configuration), configuration_names()));
    }
    if (named != nullptr && configuration != named->name)
      no_simulator(fmt::format("is {}, not {}", printable(configuration), named->name));
  }
  const nvdla_hw* const hw = hw_ != nullptr ? hw_ : named;
  blocks_ = std::make_shared<BlockTable>(hw == nullptr ? 32 : hw->address_bits);
}

void SimDevice::post(Posted message) {
  // The connection is that of the process that called fork().
  if (!made_.is_here()) return;
  {
    const std::lock_guard lock(posted_mutex_);
    posted_.push_back(std::move(message));
    if (posted_.size() < kMaxPosted) return;
  }
  const std::lock_guard lock(channel_mutex_);
  if (!failure_.empty()) return;
  try {
    send_posted();
  } catch (const Error& error) {
    // The next request says so: memory that comes or goes is not where it is looked for.
    failure_ = error.what();
  }
}

std::unique_ptr<BareMemory> SimDevice::make_memory(std::optional<std::uint64_t> address,
                                                   std::uint64_t bytes,
                                                   std::optional<Memory> memory) {
  Posted message{.type = NVDLA_SIM_MAP};
  if (files_) message.file = make_file(bytes);
  Pages pages(bytes, message.file.get());
  const auto place = blocks_->take(address, bytes);
  if (!place) return nullptr;
  put_number(message.payload, *place);
  put_number(message.payload, bytes);
  put_number(message.payload, reach_of(memory));
  put_number(message.payload, std::uint32_t{files_ ? NVDLA_SIM_WITH_FILE : 0});
  post(std::move(message));
  return std::make_unique<SimMemory>(*this, std::move(pages), bytes, *place, memory);
}

std::unique_ptr<BareMemory> SimDevice::allocate(std::uint64_t bytes, Memory memory) {
  auto made = make_memory(std::nullopt, bytes, memory);
  if (made == nullptr) {
    throw_error(ErrorCode::kNoMemory, "no room for {} bytes in the device's address space", bytes);
  }
  return made;
}

std::unique_ptr<BareMemory> SimDevice::allocate_at(std::uint64_t address, std::uint64_t bytes,
                                                   std::optional<Memory> memory) {
  return bytes == 0 ? nullptr : make_memory(address, bytes, memory);
}

std::uint32_t SimDevice::request(std::uint32_t type, const SimBytes& payload,
                                 std::uint64_t cycles) {
  const std::lock_guard lock(channel_mutex_);
  if (!failure_.empty()) throw Error(ErrorCode::kGone, failure_);
  try {
    send_posted();
    channel_.send(type, payload);
    return serve(cycles);
  } catch (const Error& error) {
    failure_ = error.what();
    throw;
  }
}

void SimDevice::send_posted() {
  std::vector<Posted> posted;
  {
    const std::lock_guard lock(posted_mutex_);
    posted.swap(posted_);
  }
  for (const Posted& message : posted) {
    channel_.send(message.type, message.payload, message.file.get());
  }
}

std::uint32_t SimDevice::serve(std::uint64_t cycles) {
  const std::uint64_t limit = kMaxAccesses + kAccessesOfACycle * std::min(cycles, kMaxCycles);
  std::uint64_t accesses = 0;
  alive_ = cycle_;
  for (;;) {
    const SimChannel::Message message = channel_.receive();
    const bool access = message.type == NVDLA_SIM_FETCH || message.type == NVDLA_SIM_STORE ||
                        message.type == NVDLA_SIM_REFUSED;
    if (access && ++accesses > limit) {
      channel_.fail(fmt::format("the simulator accessed memory {} times in a request of {} cycles",
                                accesses, cycles));
    }
    switch (message.type) {
      case NVDLA_SIM_ANSWER:
        take_answer(message.payload);
        return value_;
      case NVDLA_SIM_ALIVE:
        take_sign_of_life(message.payload);
        break;
      case NVDLA_SIM_FETCH:
        fetch(message.payload);
        break;
      case NVDLA_SIM_STORE:
        store(message.payload);
        break;
      case NVDLA_SIM_REFUSED:
        note_refusal(message.payload);
        break;
      case NVDLA_SIM_FAILED:
        channel_.fail("the simulator gives up: " +
                      printable(std::string(message.payload.begin(), message.payload.end())));
      default:
        channel_.fail(
            fmt::format("the simulator sent message {}, which is not known here", message.type));
    }
  }
}

// Time passes from one to the next, or it is none.
void SimDevice::take_sign_of_life(const SimBytes& payload) {
  if (payload.size() != 8) {
    channel_.fail(fmt::format("a sign of life has {} bytes instead of 8", payload.size()));
  }
  const std::uint64_t cycle = get_long(payload, 0);
  if (cycle <= alive_) {
    channel_.fail(
        fmt::format("the simulator gives signs of life, but its clock stays at cycle {}", alive_));
  }
  alive_ = cycle;
}

void SimDevice::take_answer(const SimBytes& payload) {
  if (payload.size() != 16) {
    channel_.fail(
        fmt::format("an answer of the simulator has {} bytes instead of 16", payload.size()));
  }
  const std::uint64_t cycle = get_long(payload, 0);
  if (!first_cycle_) first_cycle_ = cycle_ = cycle;
  if (cycle < cycle_) {
    channel_.fail(
        fmt::format("the simulator's clock went from cycle {} back to {}", cycle_, cycle));
  }
  if (cycle - *first_cycle_ > kMaxCycles) {
    channel_.fail(fmt::format("the simulator's clock went from cycle {} to {}, more than {} later",
                              *first_cycle_, cycle, kMaxCycles));
  }
  cycle_ = cycle;
  value_ = get_word(payload, 8);
  line_ = get_word(payload, 12) != 0;
}

BlockTable::Bytes SimDevice::block_of(const SimBytes& payload, const char* message) const {
  const std::uint64_t address = get_long(payload, 0);
  const std::uint32_t size = get_word(payload, 12);
  const Memory memory = get_word(payload, 8) == NVDLA_MEMORY_SRAM ? Memory::kSram : Memory::kDram;
  const BlockTable::Bytes bytes = blocks_->find(memory, address);
  if (size > bytes.size || size > NVDLA_SIM_MAX_DATA || size == 0) {
    channel_.fail(fmt::format("{} of {} bytes at {:#x}, which the device does not have", message,
                              size, address));
  }
  return {bytes.data, size};
}

void SimDevice::fetch(const SimBytes& payload) {
  if (payload.size() != 16) channel_.fail("FETCH has not 16 bytes");
  const BlockTable::Bytes bytes = block_of(payload, "FETCH");
  channel_.send(NVDLA_SIM_DATA, {reinterpret_cast<const unsigned char*>(bytes.data),
                                 static_cast<std::size_t>(bytes.size)});
}

void SimDevice::store(const SimBytes& payload) {
  if (payload.size() < 16) channel_.fail("STORE has less than 16 bytes");
  const BlockTable::Bytes bytes = block_of(payload, "STORE");
  if (payload.size() != 16 + bytes.size) {
    channel_.fail(fmt::format("STORE of {} bytes comes with {}", bytes.size, payload.size() - 16));
  }
  std::memcpy(bytes.data, payload.data() + 16, static_cast<std::size_t>(bytes.size));
}

void SimDevice::note_refusal(const SimBytes& payload) {
  if (payload.size() != 16) channel_.fail("REFUSED has not 16 bytes");
  if (refused_++ != 0) return;
  first_refusal_ =
      fmt::format("{} at {:#x}, {}", get_word(payload, 8) == NVDLA_MEMORY_SRAM ? "SRAM" : "DRAM",
                  get_long(payload, 0), get_word(payload, 12) != 0 ? "writing" : "reading");
}

std::uint32_t SimDevice::read(std::uint32_t offset) {
  send_writes();
  SimBytes payload;
  put_number(payload, offset);
  return request(NVDLA_SIM_READ, payload);
}

void SimDevice::write(std::uint32_t offset, std::uint32_t value) {
  put_number(writes_, offset);
  put_number(writes_, value);
  if (writes_.size() >= kMaxWriteBytes) send_writes();
}

void SimDevice::send_writes() {
  if (writes_.empty()) return;
  SimBytes writes;
  writes.swap(writes_);
  request(NVDLA_SIM_WRITE, writes);
}

void SimDevice::run(std::uint64_t cycles, std::uint32_t flags) {
  send_writes();
  const std::uint64_t before = cycle_;
  SimBytes payload;
  put_number(payload, cycles);
  put_number(payload, flags);
  put_number(payload, std::uint32_t{0});
  request(NVDLA_SIM_RUN, payload, cycles);
  const bool waited = (flags & NVDLA_SIM_UNTIL_LINE) != 0 && line_;
  if (cycles != 0 && cycle_ == before && !waited) {
    const std::lock_guard lock(channel_mutex_);
    failure_ = name_ + ": the simulator let no time pass where it should";
    throw Error(ErrorCode::kGone, failure_);
  }
}

bool SimDevice::wait_interrupt(Time until) {
  for (;;) {
    const auto left = std::max(until - now(), Time(0)).count();
    const auto cycles = (static_cast<std::uint64_t>(left) + kCycleNs - 1) / kCycleNs;
    // With none it still says how the line is.
    run(cycles, NVDLA_SIM_UNTIL_LINE);
    if (line_) return true;
    if (now() >= until) return false;
  }
}

void SimDevice::relax() { run(kRelaxCycles, 0); }

BareDevice::Time SimDevice::now() {
  return Time(static_cast<std::int64_t>((cycle_ - first_cycle_.value_or(cycle_)) * kCycleNs));
}

bool SimDevice::reset() {
  send_writes();
  request(NVDLA_SIM_RESET, {});
  return true;
}

std::string SimDevice::take_refusals() {
  if (refused_ == 0) return {};
  return fmt::format("{}; {} accesses were refused", std::exchange(first_refusal_, {}),
                     std::exchange(refused_, 0));
}

}  // namespace nvdla::detail
