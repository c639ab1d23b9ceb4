// SPDX-License-Identifier: MIT
//
// Compiled without special flags: these are asked for their names on any processor.
#include "model/kernels/younger_sets.hpp"

#include "model/kernels/avxvnni.hpp"

namespace nvdla::model {

const Kernels& avxvnni_kernels() {
  static const Kernels set = [] {
    Kernels kernels = kAvx2Kernels;
    kernels.name = "avxvnni";
    kernels.form = {MacOrder::kSteps, true};
    kernels.mac = avxvnni_mac;
    kernels.depthwise = avxvnni_depthwise;
    kernels.wide = avxvnni_wide;
    return kernels;
  }();
  return set;
}

}  // namespace nvdla::model
