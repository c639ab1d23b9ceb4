// SPDX-License-Identifier: MIT
//
// Huge pages are where they are until they are freed: the kernel neither swaps them out nor moves
// them to make room, as it does with small pages, locked ones too.
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

#include "backend/registers/mmio/dma_memory.hpp"
#include "backend/registers/mmio/page_map.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

constexpr std::uint64_t kDefaultPool = std::uint64_t{64} << 20;

// A number of /proc/meminfo, 0 if there is no such line.
std::uint64_t meminfo_number(std::string_view info, std::string_view line) {
  const std::size_t at = info.find(line);
  if (at == info.npos) return 0;
  info.remove_prefix(at + line.size());
  info.remove_prefix(std::min(info.find_first_not_of(' '), info.size()));
  std::uint64_t value = 0;
  std::from_chars(info.data(), info.data() + info.size(), value);
  return value;
}

// Bytes of the process's addresses, given back with this object.
class Mapping {
 public:
  Mapping(std::uint64_t bytes, int protection, int flags, int file)
      : bytes_(static_cast<std::size_t>(bytes)),
        data_(::mmap(nullptr, bytes_, protection, flags, file, 0)) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (valid()) ::munmap(data_, bytes_);
  }

  bool valid() const noexcept { return data_ != MAP_FAILED; }
  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

struct HugePage {
  std::uint64_t address;
  std::uint64_t offset;  // in the file
};

class HugePages final : public DmaMemory {
 public:
  HugePages(const System& system, std::string_view name, std::uint64_t page, std::uint64_t count,
            unsigned address_bits)
      : page_(page),
        count_(count),
        file_(::memfd_create("nvdla-dma", MFD_CLOEXEC | MFD_HUGETLB)),
        // One page more, for the start to be at a multiple of one.
        room_((count + 1) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1) {
    if (file_.get() < 0 || ::ftruncate(file_.get(), static_cast<off_t>(count * page)) != 0 ||
        !room_.valid()) {
      throw_error(ErrorCode::kNoMemory, "{}: no {} huge pages of {} KiB: {}", name, count,
                  page >> 10, std::strerror(errno));
    }
    place(find(system, name, address_bits), name);
  }

 private:
  // Returns the pages that the device reaches, sorted by address.
  std::vector<HugePage> find(const System& system, std::string_view name, unsigned address_bits) {
    const Mapping all(count_ * page_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get());
    if (!all.valid()) {
      throw_error(ErrorCode::kNoMemory, "{}: no {} huge pages of {} KiB: {}", name, count_,
                  page_ >> 10, std::strerror(errno));
    }
    const PageMap map(system, name);
    std::vector<HugePage> pages;
    for (std::uint64_t i = 0; i < count_; ++i) {
      std::byte* const page = all.data() + i * page_;
      // Writing to the page makes the kernel allocate it.
      *static_cast<volatile std::byte*>(page) = std::byte{0};
      const std::uint64_t address = map.address_of(page);
      if (address_bits < 64 && (address + page_ - 1) >> address_bits != 0) continue;
      pages.push_back({address, i * page_});
    }
    if (pages.empty()) {
      throw_error(
          ErrorCode::kNoMemory,
          "{}: all {} huge pages are beyond the {} bits of the device's addresses: reserve more, "
          "or name memory with 'memory=<size>@<address>'",
          name, count_, address_bits);
    }
    std::sort(pages.begin(), pages.end(),
              [](const HugePage& a, const HugePage& b) { return a.address < b.address; });
    return pages;
  }

  // Side by side, in the order of their addresses: what is whole for the device is so here.
  void place(const std::vector<HugePage>& pages, std::string_view name) {
    std::byte* const room = room_.data();
    const std::uint64_t odd = reinterpret_cast<std::uintptr_t>(room) % page_;
    std::byte* at = room + (odd == 0 ? 0 : page_ - odd);
    for (const HugePage& page : pages) {
      if (::mmap(at, page_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
                 file_.get(), static_cast<off_t>(page.offset)) == MAP_FAILED) {
        throw_error(ErrorCode::kNoMemory, "{}: a huge page cannot be mapped: {}", name,
                    std::strerror(errno));
      }
      if (!ranges_.empty() && ranges_.back().address + ranges_.back().bytes == page.address) {
        ranges_.back().bytes += page_;
      } else {
        ranges_.push_back({at, page.address, page_});
      }
      at += page_;
    }
  }

  std::uint64_t page_;
  std::uint64_t count_;
  Descriptor file_;
  Mapping room_;
};

}  // namespace

std::unique_ptr<DmaMemory> make_huge_pages(const System& system, std::string_view name,
                                           std::uint64_t bytes, unsigned address_bits) {
  const std::string info = system.text("/proc/meminfo").value_or("");
  const std::uint64_t page = meminfo_number(info, "Hugepagesize:") << 10;
  const std::uint64_t free = meminfo_number(info, "HugePages_Free:");
  if (page == 0) throw_error(ErrorCode::kNoMemory, "{}: this kernel has no huge pages", name);
  const std::uint64_t wanted = std::max<std::uint64_t>(
      1, bytes == 0 ? std::min(free, kDefaultPool / page) : (bytes + page - 1) / page);
  if (free < wanted) {
    throw_error(ErrorCode::kNoMemory,
                "{}: {} huge pages of {} KiB are free, {} needed: reserve some, as 'sysctl "
                "vm.nr_hugepages={}' does",
                name, free, page >> 10, wanted, bytes == 0 ? kDefaultPool / page : wanted);
  }
  return std::make_unique<HugePages>(system, name, page, wanted, address_bits);
}

}  // namespace nvdla::detail
