// SPDX-License-Identifier: MIT
//
// A loadable's container: the lists of the FlatBuffer, verified and with every cross reference
// checked, so that whoever walks it needs no check of its own. Knows nothing of descriptors.
#ifndef NVDLA_LOADABLE_FORMAT_CONTAINER_HPP
#define NVDLA_LOADABLE_FORMAT_CONTAINER_HPP

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nvdla/types/error.hpp"
#include "nvdla/types/quantization.hpp"
#include "support/host_pages.hpp"
#include "support/integers.hpp"

namespace nvdla::loadable {

// Throws what is wrong with a file, as kInvalidArgument.
template <typename... Args>
[[noreturn]] void throw_in_file(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::kInvalidArgument,
              "loadable: " + fmt::format(format, std::forward<Args>(args)...));
}

// Throws the same of the blob of that name.
template <typename... Args>
[[noreturn]] void throw_in_blob(std::string_view blob, fmt::format_string<Args...> format,
                                Args&&... args) {
  throw_in_file("blob '{}': {}", blob, fmt::format(format, std::forward<Args>(args)...));
}

// Files beyond this are refused before they are read.
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 31;

constexpr std::uint32_t kInterfaceDla = 1;
constexpr std::uint32_t kInterfaceEmu = 2;
// "CPU1", lowest byte first: operations of our own, which no other reader takes for its own.
constexpr std::uint32_t kInterfaceCpu = 0x31555043;

constexpr std::uint16_t kMemoryAlloc = 1;
constexpr std::uint16_t kMemorySet = 2;
constexpr std::uint16_t kMemoryInput = 4;
constexpr std::uint16_t kMemoryOutput = 8;
constexpr std::uint16_t kMemoryDebug = 16;

// A tensor's data_category says how it lies: as pixels, a feature cube, or planes, one a channel.
constexpr std::uint8_t kDataImage = 0;
constexpr std::uint8_t kDataFeature = 2;
constexpr std::uint8_t kDataPlanar = 3;

// In a task: firmware has room for no more, and indices are signed 16 bit.
constexpr std::size_t kMaxAddresses = 6144;

constexpr std::uint8_t kDomainSystem = 0;
constexpr std::uint8_t kDomainSram = 1;

struct Version {
  std::uint8_t major_version = 0, minor_version = 0, sub_minor_version = 0;
};

struct Blob {
  std::string name;
  std::uint32_t interface = 0;
  std::uint32_t sub_interface = 0;
  Version version;
  std::span<const std::byte> data;
  // Large blobs have whole pages, which begin with the data and are zero behind it, so that a
  // device of this process may take them as they are. Nobody writes to them.
  std::shared_ptr<detail::HostPages> pages;
};

// A buffer for so many bytes: whole pages, as the hardware may read beyond an odd end. Less than
// `bytes` if there is no such number.
constexpr std::uint64_t whole_pages(std::uint64_t bytes) { return arith::round_up(bytes, 4096); }

// A blob that is copied into a memory before the first run.
struct Content {
  std::uint32_t blob = 0;
  std::uint64_t offset = 0;
};

struct MemoryEntry {
  std::uint8_t domain = kDomainSystem;
  std::uint16_t flags = 0;
  std::uint64_t size = 0;
  std::uint32_t alignment = 0;
  std::vector<Content> contents;
  // Operations of the CPU that the file needs: contents that no blob is called like.
  std::vector<std::string> needs;
  std::uint16_t bind_id = 0;
  std::uint16_t tensor = 0;

  bool input() const { return (flags & kMemoryInput) != 0; }
  bool output() const { return (flags & kMemoryOutput) != 0; }
  bool bindable() const { return input() || output(); }
};

struct AddressEntry {
  std::uint16_t memory = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // 0 where the file does not say
};

struct TaskEntry {
  std::uint32_t interface = 0;
  std::int16_t instance = 0;
  // Indices into the address list; position 0 is the network descriptor.
  std::vector<std::uint16_t> addresses;
  std::vector<std::uint16_t> pre_actions, post_actions;
};

struct EventEntry {
  std::uint16_t id = 0;
  std::uint8_t type = 0;
  std::uint16_t target = 0;
  std::uint32_t value = 0;
  std::uint8_t op = 0;
};

struct TensorEntry {
  std::string name;
  std::uint16_t id = 0;
  std::uint16_t memory = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  std::uint8_t data_format = 0, data_type = 0, data_category = 0;
  std::uint8_t pixel_format = 0, pixel_mapping = 0;
  std::int32_t n = 0, c = 0, h = 0, w = 0;
  std::uint32_t stride[8] = {};
  // The file may have it: see loadable/format/quantization.hpp.
  std::optional<Quantization> quantization;
  // The file may have the sizes in the model, and whether its channels come last there: see
  // loadable/format/model_sizes.hpp.
  bool has_model_sizes = false;
  bool channels_last = false;
  std::vector<std::uint32_t> model_sizes = {};
};

struct RelocEntry {
  std::uint16_t address = 0;
  std::uint16_t write = 0;
  std::uint64_t offset = 0;
  std::uint32_t interface = 0, sub_interface = 0;
  std::uint8_t type = 0;
};

struct Container {
  // The bytes of blobs that have no pages of their own. Blobs point into it, so a container moves
  // but is never copied.
  detail::HostPages small_blobs;

  Version version;
  std::vector<TaskEntry> tasks;
  std::vector<MemoryEntry> memories;
  std::vector<AddressEntry> addresses;
  std::vector<EventEntry> events;
  std::vector<Blob> blobs;
  std::vector<TensorEntry> tensors;
  std::vector<RelocEntry> relocs;
  // In the order in which they run.
  std::vector<std::vector<std::uint16_t>> submits;

  Container() = default;
  Container(Container&&) noexcept = default;
  Container& operator=(Container&&) noexcept = default;
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  // Returns what a memory is set to at offset..offset+size. Throws kInvalidArgument, naming `what`,
  // unless one blob covers all of it.
  std::span<const std::byte> content(std::uint16_t memory, std::uint64_t offset, std::uint64_t size,
                                     std::string_view what, const Blob** from = nullptr) const;
};

// Verifies and checks. Throws kInvalidArgument: what is wrong, where, what would be right. What it
// has copied of the file it gives back to the system.
Container parse_container(detail::HostPages file);
// The same of a copy.
Container parse_container(std::span<const std::byte> file);
// Returns the file of a container, whose blobs may point anywhere. Checks nothing: what is written
// can be read back by parse_container() only if it is right.
std::vector<std::byte> write_container(const Container& container);
// Throws kInvalidArgument also if the file cannot be read.
detail::HostPages read_loadable(std::string_view path);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_FORMAT_CONTAINER_HPP
