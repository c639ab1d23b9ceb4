// SPDX-License-Identifier: MIT
//
/// @file
/// The old name of what runs a network. The next version drops this header.
#ifndef NVDLA_SESSION_HPP
#define NVDLA_SESSION_HPP

#include "nvdla/request.hpp"

namespace nvdla {

/// A Request does what a session did; Request::network() has its inputs, outputs and layers.
using Session [[deprecated("a session is a Request")]] = Request;

}  // namespace nvdla

#endif  // NVDLA_SESSION_HPP
