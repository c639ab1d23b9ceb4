// SPDX-License-Identifier: MIT
#include "tools/files/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "tools/files/status.hpp"

namespace nvdla::program {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 16;

// A descriptor that is closed again, unless it is standard input.
class Input {
 public:
  explicit Input(const std::string& path) {
    // Opening /dev/stdin fails where that is a socket.
    if (is_standard_input(path)) return;
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) {
      throw UsageError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
    }
  }
  ~Input() {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_ = STDIN_FILENO;
};

[[noreturn]] void throw_error(const std::string& name, std::string_view what) {
  throw UsageError(fmt::format("{}: {}", name, what));
}

void check_kind(const std::string& name, const struct stat& status, std::uint64_t limit) {
  if (S_ISDIR(status.st_mode)) throw_error(name, "is a folder; expected a file");
  // Some of them never end.
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
    throw_error(name, "is a device or terminal; expected a file or a pipe");
  }
  if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) > limit) {
    throw_error(name, fmt::format("has {} bytes; expected at most {}", status.st_size, limit));
  }
}

}  // namespace

std::vector<std::uint8_t> read_file(const std::string& path, std::uint64_t limit) {
  const Input input(path);
  const std::string name = input.fd() == STDIN_FILENO ? "standard input" : path;
  struct stat status = {};
  if (::fstat(input.fd(), &status) != 0) {
    throw_error(name, fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  check_kind(name, status, limit);
  std::vector<std::uint8_t> bytes;
  if (S_ISREG(status.st_mode)) bytes.reserve(static_cast<std::size_t>(status.st_size) + kReadBytes);
  for (;;) {
    const std::size_t size = bytes.size();
    bytes.resize(size + kReadBytes);
    const ssize_t count = ::read(input.fd(), bytes.data() + size, kReadBytes);
    if (count < 0 && errno != EINTR) {
      throw_error(name, fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    bytes.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) break;
    if (bytes.size() > limit) throw_error(name, fmt::format("goes on beyond {} bytes", limit));
  }
  if (bytes.empty()) throw_error(name, "is empty");
  return bytes;
}

bool is_standard_input(const std::string& path) { return path == "-" || path == "/dev/stdin"; }

bool is_standard_output(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  const auto fail = [&](const char* what) {
    throw OutputError(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
  };
  if (is_standard_output(path)) {
    // The program checks at its end that they were written.
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return;
  }
  std::FILE* const file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) fail("cannot be created");
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const int error = errno;
  // fclose() may still fail to write buffered bytes.
  if (std::fclose(file) != 0) fail("cannot be written");
  errno = error;
  if (!written) fail("cannot be written");
}

}  // namespace nvdla::program
