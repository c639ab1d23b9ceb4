// SPDX-License-Identifier: MIT
//
/// @file
/// The whole public interface.
#ifndef NVDLA_NVDLA_HPP
#define NVDLA_NVDLA_HPP

#include "nvdla/buffer.hpp"
#include "nvdla/build_options.hpp"
#include "nvdla/compiled_network.hpp"
#include "nvdla/compress.hpp"
#include "nvdla/conv_weights.hpp"
#include "nvdla/deconvolution_phases.hpp"
#include "nvdla/device.hpp"
#include "nvdla/error.hpp"
#include "nvdla/folding.hpp"
#include "nvdla/functions.hpp"
#include "nvdla/half.hpp"
#include "nvdla/image.hpp"
#include "nvdla/layer.hpp"
#include "nvdla/layers.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/lut.hpp"
#include "nvdla/memory_use.hpp"
#include "nvdla/network.hpp"
#include "nvdla/program.hpp"
#include "nvdla/queue.hpp"
#include "nvdla/request.hpp"
#include "nvdla/request_pool.hpp"
#include "nvdla/session.hpp"
#include "nvdla/tensor.hpp"
#include "nvdla/weights.hpp"

#endif  // NVDLA_NVDLA_HPP
