// SPDX-License-Identifier: MIT
//
/// @file
/// The mark of what the library exports, and a check of the language that its headers need. Each
/// of them includes this one before it needs it.
#ifndef NVDLA_TYPES_EXPORT_HPP
#define NVDLA_TYPES_EXPORT_HPP

#if __cplusplus < 202002L
#error "the headers of nvdla need C++20: compile with -std=c++20 or later"
#endif

#if defined(__GNUC__)
#define NVDLA_API __attribute__((visibility("default")))
#else
#define NVDLA_API
#endif

#endif  // NVDLA_TYPES_EXPORT_HPP
