// SPDX-License-Identifier: MIT
#include "replay_check.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "tools/replay/player.hpp"
#include "tools/replay/target.hpp"

namespace nvdla::fuzz {
namespace {

using replay::Blob;
using replay::Script;

// Scripts that touch more are not played: a fuzzer lives on many runs.
constexpr std::uint64_t kMaxBytes = 1 << 20;
constexpr std::uint32_t kWindow = 256 * 1024;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Registers that keep what is written, memory of zeros, and an interrupt of every kind in turn
// until it runs out of them.
class Toy final : public replay::Target {
 public:
  explicit Toy(std::uint32_t status) : status_(status) {}

  std::uint32_t read(std::uint32_t offset) override { return registers_[offset]; }
  void write(std::uint32_t offset, std::uint32_t value) override {
    require(offset < kWindow && offset % 4 == 0, "a write beside the registers");
    if (offset == status_) {
      registers_[offset] &= ~value;
    } else {
      registers_[offset] = value;
    }
  }
  void load(model::Ram, std::uint64_t, std::span<const std::byte> bytes) override {
    require(!bytes.empty(), "nothing is loaded");
  }
  void fill(model::Ram, std::uint64_t, std::uint64_t size, std::uint8_t) override {
    require(size != 0, "nothing is filled");
  }
  void fetch(model::Ram, std::uint64_t, std::span<std::byte> bytes) override {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
  }
  bool step() override {
    if (steps_ == 64) return false;
    registers_[status_] |= 1u << steps_++ % 32;
    return true;
  }
  bool idle() override { return steps_ == 64; }
  std::vector<std::string> blocked() override { return {}; }
  std::string refusals() override { return {}; }

 private:
  std::uint32_t status_;
  std::map<std::uint32_t, std::uint32_t> registers_;
  unsigned steps_ = 0;
};

// Looks at each command, gives it the file that it names, and adds up what it touches.
struct Inspector {
  const Script& script;
  std::shared_ptr<const Blob> file =
      std::make_shared<const Blob>(Blob{{0, std::vector<std::byte>(64)}, {100, {std::byte{1}}}});
  std::uint64_t bytes = 0;

  // A range may end with the last byte of 64 bits.
  void range(std::uint64_t address, std::uint64_t size) {
    require(size > 0 && size <= replay::kMaxRange && address + (size - 1) >= address,
            "a range is out of range");
    bytes += size;
  }
  void offset(std::uint32_t value) {
    require(value < kWindow && value % 4 == 0, "a register that is none");
  }
  void sync(std::uint32_t index) { require(index < script.syncs.size(), "an undeclared sync"); }
  // Lexically: where links lead to is not the parser's to know.
  void name(const replay::BlobFile& blob) {
    const std::filesystem::path path = std::filesystem::path(blob.name).lexically_normal();
    require(!path.empty() && path.is_relative() && *path.begin() != "..",
            "a file outside of the folder");
  }

  void operator()(replay::WriteRegister& action) { offset(action.offset); }
  void operator()(replay::CheckRegister& action) {
    offset(action.offset);
    require(action.shift < 32, "a shift of more than a register");
  }
  void operator()(replay::FillMemory& action) { range(action.address, action.size); }
  void operator()(replay::LoadMemory& action) {
    if (action.size != 0) range(action.address, action.size);  // else as long as its file
    name(action.file);
    action.file.data = file;
  }
  void operator()(replay::CompareMemory& action) {
    range(action.address, action.size);
    name(action.file);
    action.file.data = file;
  }
  void operator()(replay::CheckCrc& action) { range(action.address, action.size); }
  void operator()(replay::ExpectInterrupt& action) {
    require(action.bit != 0, "an interrupt without a bit");
    sync(action.sync);
  }
  void operator()(replay::AwaitSync& action) { sync(action.sync); }
  void operator()(replay::WaitInterrupt&) {}
  void operator()(replay::Finish&) {}
  void operator()(replay::EndLayer&) {}
};

}  // namespace

void check_script(Script script) {
  require(!script.commands.empty(), "a script without commands");
  Inspector inspector{script};
  for (replay::Command& command : script.commands) std::visit(inspector, command.action);
  if (inspector.bytes > kMaxBytes) return;
  const auto* status = model::find_register("GLB.S_INTR_STATUS");
  Toy toy(model::register_address(script.map, *status).value());
  const replay::Outcome outcome = replay::play(script, toy, {.max_steps = 1000});
  require((outcome.verdict == replay::Verdict::kPass) == outcome.reason.empty(),
          "a verdict and its reason disagree");
}

}  // namespace nvdla::fuzz
