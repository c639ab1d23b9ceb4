// SPDX-License-Identifier: MIT
//
// Records of runs: one dump of firmware/nvdla_dump_format.h after the other, one for each job, with
// what only a record has. docs/seeing.md describes them for readers.
#ifndef NVDLA_BACKEND_RECORD_RECORD_FORMAT_HPP
#define NVDLA_BACKEND_RECORD_RECORD_FORMAT_HPP

#include <cstdint>
#include <string_view>

namespace nvdla::detail {

// How the name of a record ends, by which others know it.
inline constexpr std::string_view kRecordSuffix = ".record";

// More than this is neither written nor read.
inline constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{1} << 30;

// nvdla_dump_header.result of a job that ended well, as enum nvdla_job_result has it. A dump of
// the driver never says so.
inline constexpr std::uint32_t kJobEndedWell = 1;
inline constexpr std::uint32_t kJobHung = 2;
inline constexpr std::uint32_t kJobFailed = 3;  // in another way

// Types of sections that the driver does not write; the first two start with a nvdla_dump_buffer.
// Memory that layers may have written, as it was when the job had ended.
inline constexpr std::uint32_t kSectionWritten = 0x10000;
// A buffer without contents: they are what the jobs before in the record left there.
inline constexpr std::uint32_t kSectionKept = 0x10001;
// The names of the layers as the user gave them, each with a zero behind it; without a buffer.
inline constexpr std::uint32_t kSectionNames = 0x10002;

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_RECORD_RECORD_FORMAT_HPP
