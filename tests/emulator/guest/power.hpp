// SPDX-License-Identifier: MIT
//
// What tests of a device that sleeps share. They run in the guest of an emulator run whose device
// can be reset and loses its state in sleep.
#ifndef NVDLA_TESTS_EMULATOR_GUEST_POWER_HPP
#define NVDLA_TESTS_EMULATOR_GUEST_POWER_HPP

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <system_error>

#include "misbehaviour.hpp"
#include "unit_run.hpp"

namespace nvdla::emulator_test {

class Power : public Misbehaviour {
 protected:
  void SetUp() override {
    Misbehaviour::SetUp();
    ASSERT_TRUE(Client().can_reset()) << "this run is for a function that can be reset";
    // Interrupts off, devices asleep: what wakes a real machine up does not work in the guest.
    FaultControl::put("/sys/power/pm_test", "platform");
    FaultControl::put("/sys/module/suspend/parameters/pm_test_delay", "1");
    unreached_ = faults_.get(NVDLA_FAULT_UNREACHED);
  }
  // Whoever took the device away, the driver did not touch it meanwhile.
  void TearDown() override {
    may_sleep(false);
    EXPECT_EQ(faults_.get(NVDLA_FAULT_UNREACHED), unreached_);
    Misbehaviour::TearDown();
  }

  void may_sleep(bool may) const { faults_.put_attribute("power/control", may ? "auto" : "on"); }
  bool asleep() const { return faults_.attribute("power/runtime_status") == "suspended"; }
  void fall_asleep() const {
    may_sleep(true);
    ASSERT_TRUE(eventually([this] { return asleep(); })) << "it does not fall asleep";
  }
  void reset() const { faults_.put_attribute("reset", "1"); }
  // All that the system does before and after its sleep; an errno.
  static int suspend() {
    try {
      FaultControl::put("/sys/power/state", "freeze");
      return 0;
    } catch (const std::system_error& error) {
      return error.code().value();
    }
  }

  // A layer that computes with tables, which a device that slept or was reset does not have any
  // more, gives what the model does.
  void expect_tables() const {
    const Device kernel = Device::open("auto");
    const std::string configuration(kernel.info().configuration);
    const test::Base base = test::base_cdp(configuration.c_str());
    const auto ours = run(kernel, base);
    const auto theirs = run(Device::open("model:" + configuration), base);
    EXPECT_EQ(ours.slots, theirs.slots);
  }

  std::uint32_t unreached_ = 0;
};

inline void expect_run(Client& client) {
  client.forget();
  EXPECT_EQ(client.run(), 0);
  EXPECT_TRUE(client.copied());
}

}  // namespace nvdla::emulator_test

#endif  // NVDLA_TESTS_EMULATOR_GUEST_POWER_HPP
