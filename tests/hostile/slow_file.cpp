// SPDX-License-Identifier: MIT
#include "slow_file.hpp"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "../ioctl/node.hpp"

namespace nvdla::hostile {
namespace {

using ioctl_test::kPage;
using ioctl_test::must;

constexpr std::uint64_t kFile = 2;  // the node of the only file; FUSE_ROOT_ID is the directory
constexpr std::uint64_t kForever = 3600;

void write_line(const char* path, const std::string& line) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  must(fd < 0 ? errno : 0, path);
  const bool written = ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int error = errno;
  ::close(fd);
  must(written ? 0 : error, path);
}

// The user is root in there, and may mount.
void enter_namespaces() {
  const unsigned uid = ::getuid(), gid = ::getgid();
  // Files of a process that has changed its user belong to root otherwise.
  must(::prctl(PR_SET_DUMPABLE, 1) == 0 ? 0 : errno, "PR_SET_DUMPABLE");
  must(::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : errno, "unshare");
  write_line("/proc/self/setgroups", "deny");
  write_line("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1");
  write_line("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1");
}

fuse_attr attributes(std::uint64_t node) {
  fuse_attr attr{};
  attr.ino = node;
  attr.mode = node == kFile ? S_IFREG | 0666 : S_IFDIR | 0777;
  attr.nlink = 1;
  attr.size = node == kFile ? kPage : 0;
  attr.blksize = kPage;
  return attr;
}

}  // namespace

SlowFile::SlowFile(std::function<void()> touched) : touched_(std::move(touched)) {
  enter_namespaces();
  std::string directory = "/tmp/slow-XXXXXX";
  must(::mkdtemp(directory.data()) == nullptr ? errno : 0, "mkdtemp");
  fuse_ = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
  must(fuse_ < 0 ? errno : 0, "/dev/fuse");
  const std::string options =
      "fd=" + std::to_string(fuse_) + ",rootmode=40000,user_id=0,group_id=0";
  must(::mount("slow", directory.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) == 0
           ? 0
           : errno,
       "mounting FUSE");
  // A process of its own: who waits for a page cannot be killed before the file system is.
  const pid_t server = ::fork();
  must(server < 0 ? errno : 0, "fork");
  if (server == 0) {
    serve();
    ::_exit(0);
  }
  ::close(fuse_);
  const int file = ::open((directory + "/page").c_str(), O_RDWR | O_CLOEXEC);
  must(file < 0 ? errno : 0, "a file of FUSE");
  page_ = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  must(page_ == MAP_FAILED ? errno : 0, "mmap");
  ::close(file);
}

SlowFile::~SlowFile() { ::munmap(page_, kPage); }

void SlowFile::answer(std::uint64_t unique, int error, const void* body, std::size_t bytes) const {
  fuse_out_header header{static_cast<std::uint32_t>(sizeof(fuse_out_header) + bytes), -error,
                         unique};
  const iovec parts[] = {{&header, sizeof(header)}, {const_cast<void*>(body), bytes}};
  // A request that was interrupted wants no answer any more.
  if (::writev(fuse_, parts, bytes == 0 ? 1 : 2) < 0 && errno != ENOENT) std::abort();
}

void SlowFile::serve() {
  std::vector<std::uint8_t> buffer(FUSE_MIN_READ_BUFFER + kPage);
  ssize_t bytes = 0;
  while ((bytes = ::read(fuse_, buffer.data(), buffer.size())) > 0 || errno == EINTR) {
    if (bytes <= 0) continue;
    fuse_in_header in{};
    std::memcpy(&in, buffer.data(), sizeof(in));
    fuse_init_out init{};
    fuse_entry_out entry{};
    fuse_attr_out attr{};
    fuse_open_out open{};
    switch (in.opcode) {
      case FUSE_INIT:
        init.major = FUSE_KERNEL_VERSION;
        init.minor = FUSE_KERNEL_MINOR_VERSION;
        init.max_write = kPage;
        answer(in.unique, 0, &init, sizeof(init));
        break;
      case FUSE_LOOKUP:
        entry.nodeid = kFile;
        entry.entry_valid = entry.attr_valid = kForever;
        entry.attr = attributes(kFile);
        answer(in.unique, 0, &entry, sizeof(entry));
        break;
      case FUSE_GETATTR:
        attr.attr_valid = kForever;
        attr.attr = attributes(in.nodeid);
        answer(in.unique, 0, &attr, sizeof(attr));
        break;
      case FUSE_OPEN:
        answer(in.unique, 0, &open, sizeof(open));
        break;
      case FUSE_READ:
        // The page never comes.
        touched_();
        break;
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
      case FUSE_INTERRUPT:
        break;
      case FUSE_RELEASE:
      case FUSE_FLUSH:
        answer(in.unique, 0, nullptr, 0);
        break;
      default:
        answer(in.unique, ENOSYS, nullptr, 0);
    }
  }
}

}  // namespace nvdla::hostile
