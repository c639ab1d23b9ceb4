// SPDX-License-Identifier: MIT
#include "client.hpp"

#include <linux/sync_file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include <cerrno>
#include <cstring>

namespace nvdla::ioctl_test {

int fence_error(int file) {
  sync_file_info info{};
  must(::ioctl(file, SYNC_IOC_FILE_INFO, &info) == 0 ? 0 : errno, "SYNC_IOC_FILE_INFO");
  if (info.status == 0) return EBUSY;
  return info.status == 1 ? 0 : -info.status;
}

Client::Client(std::uint32_t layers, Target target)
    : copy_(node_.info().atom_bytes), context_(node_.context()) {
  copy_.layers.resize(layers, copy_.layers[0]);
  if (target == Target::kDramAndSram) {
    nvdla_slot slot = copy_.slots[1];
    slot.memory = NVDLA_MEMORY_SRAM;
    copy_.slots.push_back(slot);
    copy_.layers.push_back(copy_.layers[0]);
    copy_.layers.back().sdp.output.slot = 2;
  }
  auto args = copy_.args();
  must(node_.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), "PROGRAM_CREATE");
  program_ = args.program;
  for (const nvdla_slot& slot : copy_.slots) {
    drm_nvdla_bo_create create{kPage, slot.memory, 0, 0, 0};
    must(node_.call(DRM_IOCTL_NVDLA_BO_CREATE, &create), "BO_CREATE");
    bindings_.push_back({0, create.handle, 0});
  }
  from_ = node_.map(bindings_[0].handle, kPage);
  to_ = node_.map(bindings_[1].handle, kPage);
  refill(1);
}

Client::~Client() {
  ::munmap(from_, kPage);
  ::munmap(to_, kPage);
}

std::uint32_t Client::start() {
  std::uint32_t done = 0;
  must(try_start(done), "SUBMIT");
  return done;
}

int Client::try_start(std::uint32_t& done) {
  done = node_.syncobj();
  return submit(std::vector<drm_nvdla_sync>{{done, DRM_NVDLA_SYNC_SIGNAL, 0}}, context_);
}

int Client::submit(const drm_nvdla_array& syncs, std::uint32_t context) {
  drm_nvdla_submit submit{};
  submit.bindings = array_of(bindings_);
  submit.syncs = syncs;
  submit.context = context;
  submit.program = program_;
  return node_.call(DRM_IOCTL_NVDLA_SUBMIT, &submit);
}

int Client::end(std::uint32_t done, double seconds) {
  if (node_.wait(done, seconds) != 0) return ETIMEDOUT;
  const int file = sync_file(done);
  const int error = fence_error(file);
  ::close(file);
  return error;
}

int Client::sync_file(std::uint32_t done) const {
  int file = -1;
  must(drmSyncobjExportSyncFile(node_.fd(), done, &file) == 0 ? 0 : errno, "export");
  return file;
}

bool Client::copied() const {
  node_.sync(bindings_[1].handle, DRM_NVDLA_BO_SYNC_FROM_DEVICE, kPage);
  return arrived();
}

bool Client::arrived() const { return std::memcmp(from_, to_, copy_.bytes) == 0; }

void Client::forget() {
  std::memset(to_, 0, kPage);
  node_.sync(bindings_[1].handle, DRM_NVDLA_BO_SYNC_TO_DEVICE, kPage);
}

void Client::refill(std::uint8_t seed) {
  for (std::uint64_t i = 0; i < kPage; ++i) from_[i] = static_cast<std::uint8_t>(i * 7 + seed);
  node_.sync(bindings_[0].handle, DRM_NVDLA_BO_SYNC_TO_DEVICE, kPage);
}

drm_nvdla_context_query Client::state() {
  drm_nvdla_context_query query{context_, 0, 0, 0};
  must(node_.call(DRM_IOCTL_NVDLA_CONTEXT_QUERY, &query), "CONTEXT_QUERY");
  return query;
}

}  // namespace nvdla::ioctl_test
