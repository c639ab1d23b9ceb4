// SPDX-License-Identifier: MIT
#include "selftest/steps.hpp"

namespace nvdla::selftest {
namespace {

constexpr Step kSteps[] = {
    {"reset", "a reset takes back what was written", true, check_that_it_resets},
    {"reset-values", "every register of both groups reads its reset value", true,
     check_reset_values},
    {"write-masks", "every register stores what it should, and is the only one that does", true,
     check_write_masks},
    {"groups", "both register groups of a unit are behind their pointer", true, check_groups},
    {"interrupt", "an interrupt is raised, arrives, is masked and cleared", true, check_interrupt},
    {"copy", "SDP passes data through, changed data too", false, check_copy},
    {"address", "memory at every distance is what it is taken for", false, check_address},
    {"conv", "convolution gives what the golden layers expect", false, check_conv},
    {"sdp", "SDP's operators give what the golden layers expect", false, check_sdp},
    {"pdp", "PDP gives what the golden layers expect", false, check_pdp},
    {"cdp", "CDP gives what the golden layers expect", false, check_cdp},
    {"bdma", "BDMA gives what the golden layers expect", false, check_bdma},
    {"rubik", "Rubik gives what the golden layers expect", false, check_rubik},
    {"left-over", "convolutions leave no weights behind for the next one", false, check_left_over},
    {"gating", "what is freed of the weights is free, whatever its clock does", false,
     check_gating},
    {"timing", "a layer takes no more than what it is bound by", false, check_timing},
};

}  // namespace

std::span<const Step> steps() noexcept { return kSteps; }

}  // namespace nvdla::selftest
