// SPDX-License-Identifier: MIT
//
// A compiled network and one request of it.
#ifndef NVDLA_DEVICE_SESSION_IMPL_HPP
#define NVDLA_DEVICE_SESSION_IMPL_HPP

#include "nvdla/compiled_network.hpp"
#include "nvdla/request.hpp"
#include "nvdla/session.hpp"

namespace nvdla {

struct Session::Impl {
  CompiledNetwork compiled;
  Request request;
};

}  // namespace nvdla

#endif  // NVDLA_DEVICE_SESSION_IMPL_HPP
