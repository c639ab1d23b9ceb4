// SPDX-License-Identifier: MIT
//
/// @file
/// The whole public interface.
#ifndef NVDLA_NVDLA_HPP
#define NVDLA_NVDLA_HPP

#include "nvdla/buffer.hpp"
#include "nvdla/build_options.hpp"
#include "nvdla/compiled_network.hpp"
#include "nvdla/device.hpp"
#include "nvdla/layer_tensors.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/lowlevel/compression.hpp"
#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/deconvolution_phases.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/folding.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/lowlevel/lut.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/lowlevel/weights.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/functions.hpp"
#include "nvdla/program.hpp"
#include "nvdla/queue.hpp"
#include "nvdla/request.hpp"
#include "nvdla/request_pool.hpp"
#include "nvdla/session.hpp"
#include "nvdla/types/error.hpp"
#include "nvdla/types/half.hpp"
#include "nvdla/types/memory_use.hpp"

#endif  // NVDLA_NVDLA_HPP
