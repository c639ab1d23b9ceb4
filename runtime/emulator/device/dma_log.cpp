// SPDX-License-Identifier: MIT
#include "emulator/device/dma_log.hpp"

#include <drm/nvdla_layer.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstring>

#include "tools/files/status.hpp"

namespace nvdla::emulator {
namespace {

const char* client_name(std::uint32_t client) {
  // In the order of enum nvdla_dma.
  static constexpr std::array<const char*, NVDLA_DMA_BDMA_WRITE + 1> kNames = {
      "unknown",   "cdma_data", "cdma_data_uv", "cdma_weight", "cdma_wgs",  "cdma_wmb", "sdp_rdma",
      "sdp_brdma", "sdp_nrdma", "sdp_erdma",    "sdp_wdma",    "pdp_rdma",  "pdp_wdma", "cdp_rdma",
      "cdp_wdma",  "rbk_read",  "rbk_write",    "bdma_read",   "bdma_write"};
  return client < kNames.size() ? kNames[client] : kNames[0];
}

}  // namespace

DmaLog::DmaLog(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "we")) {
  if (!file_) throw program::OutputError(path + ": cannot be created: " + std::strerror(errno));
  std::fputs("# sequence step client R|W memory address bytes ok|refused\n", file_.get());
}

DmaLog::~DmaLog() { end_of_step(); }

void DmaLog::close() {
  end_of_step();
  if (std::fflush(file_.get()) != 0 || std::ferror(file_.get()) != 0)
    throw program::OutputError(path_ + ": cannot be written");
}

void DmaLog::record(std::uint32_t client, bool write, model::Ram ram, std::uint64_t address,
                    std::uint64_t size, bool refused) noexcept {
  if (pending_.size != 0 && pending_.client == client && pending_.write == write &&
      pending_.ram == ram && pending_.refused == refused &&
      pending_.address + pending_.size == address) {
    pending_.size += size;
    return;
  }
  put();
  pending_ = {client, write, ram, address, size, refused};
}

void DmaLog::put() noexcept {
  if (pending_.size == 0) return;
  std::fprintf(file_.get(), "%" PRIu64 " %" PRIu64 " %s %c %s 0x%" PRIx64 " %" PRIu64 " %s\n",
               sequence_++, step_, client_name(pending_.client), pending_.write ? 'W' : 'R',
               pending_.ram == model::Ram::kPrimary ? "DRAM" : "SRAM", pending_.address,
               pending_.size, pending_.refused ? "refused" : "ok");
  pending_.size = 0;
  used_ = true;
}

void DmaLog::end_of_step() noexcept {
  put();
  if (!used_) return;
  std::fflush(file_.get());
  used_ = false;
  ++step_;
}

}  // namespace nvdla::emulator
