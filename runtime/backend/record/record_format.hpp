// SPDX-License-Identifier: MIT
//
// A record is a sequence of dumps (firmware/nvdla_dump_format.h), one for each job, with additional
// sections. docs/seeing.md describes records for users.
#ifndef NVDLA_BACKEND_RECORD_RECORD_FORMAT_HPP
#define NVDLA_BACKEND_RECORD_RECORD_FORMAT_HPP

#include <cstdint>
#include <string_view>

namespace nvdla::detail {

// The suffix by which tools recognise a record.
inline constexpr std::string_view kRecordSuffix = ".record";

// Larger records are neither written nor read.
inline constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{1} << 30;

// Values of nvdla_dump_header.result, numbered as enum nvdla_job_result. A dump of the driver never
// has kJobEndedWell.
inline constexpr std::uint32_t kJobEndedWell = 1;
inline constexpr std::uint32_t kJobHung = 2;
inline constexpr std::uint32_t kJobFailed = 3;  // not by a hang

// Types of sections that the driver does not write; the first two start with an nvdla_dump_buffer.
// Memory that layers may have written, with its contents after the job.
inline constexpr std::uint32_t kSectionWritten = 0x10000;
// A buffer without contents: it has those that earlier jobs of the record left there.
inline constexpr std::uint32_t kSectionKept = 0x10001;
// The user's names of the layers, each followed by a zero; without a buffer.
inline constexpr std::uint32_t kSectionNames = 0x10002;

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_RECORD_RECORD_FORMAT_HPP
