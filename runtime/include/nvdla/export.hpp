// SPDX-License-Identifier: MIT
//
// What the library exports. Everything else is hidden.
#ifndef NVDLA_EXPORT_HPP
#define NVDLA_EXPORT_HPP

#if defined(__GNUC__)
#define NVDLA_API __attribute__((visibility("default")))
#else
#define NVDLA_API
#endif

#endif  // NVDLA_EXPORT_HPP
