// SPDX-License-Identifier: MIT
//
// The runtime's side of a simulator that is not there, another, or lies: each has its own error,
// and nothing hangs. The simulator is a thread that sends bytes.
#include <functional>
#include <thread>

#include "backend/registers/sim_device.hpp"
#include "common/runtime/expect_error.hpp"
#include "nvdla/device.hpp"
#include "nvdla/types/memory.hpp"
#include "socket.hpp"

namespace nvdla::sim_test {
namespace {

using detail::SimDevice;
using test::expect_error;

Bytes welcome(std::uint32_t version = 1, const std::string& configuration = "nv_small") {
  Bytes bytes = numbers({{kMagic, 8}, {version, 4}, {0, 4}});
  bytes.insert(bytes.end(), configuration.begin(), configuration.end());
  bytes.resize(112);
  return bytes;
}

Bytes answer(std::uint64_t cycle, std::uint32_t value = 0, std::uint32_t line = 0) {
  return numbers({{cycle, 8}, {value, 4}, {line, 4}});
}

class Runtime : public testing::Test {
 protected:
  ~Runtime() override { join(); }

  // The simulator does this with its one user.
  void simulate(std::function<void(End&)> script) {
    listener_.emplace(path_);
    thread_ = std::thread([this, script = std::move(script)] {
      End end = listener_->accept();
      script(end);
    });
  }
  // The same for one that welcomes the runtime and resets itself.
  void simulate_opened(std::function<void(End&)> script) {
    simulate([script = std::move(script)](End& end) {
      const auto hello = end.receive();
      ASSERT_TRUE(hello);
      EXPECT_EQ(hello->type, 1u);
      EXPECT_EQ(hello->payload, numbers({{kMagic, 8}, {1, 4}, {1, 4}}));
      end.send(101, welcome());
      const auto reset = end.receive();
      ASSERT_TRUE(reset);
      EXPECT_EQ(reset->type, 5u);
      end.send(102, answer(50));
      script(end);
    });
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  std::string name(const std::string& options = "") const {
    return "sim:" + path_.name() + options;
  }
  std::unique_ptr<SimDevice> open(const std::string& options = "") const {
    return std::make_unique<SimDevice>(detail::parse_device_name(name(options)));
  }
  template <typename Call>
  void refused(ErrorCode code, const std::string& text, const Call& call) const {
    expect_error(code, (name() + ": " + text).c_str(), call);
  }

  SocketPath path_;
  std::optional<Listener> listener_;
  std::thread thread_;
};

TEST_F(Runtime, SaysThatNobodyIsThere) {
  refused(ErrorCode::kNoDevice, "No such file or directory: no simulator made its socket there yet",
          [&] { Device::open(name()); });
  { Listener left(path_); }
  refused(ErrorCode::kNoDevice, "Connection refused: the simulator that made the socket has ended",
          [&] { Device::open(name()); });
}

TEST_F(Runtime, RefusesAnotherVersion) {
  simulate([](End& end) {
    end.receive();
    end.send(101, welcome(7));
  });
  refused(ErrorCode::kNoDevice, "the simulator speaks version 7 of the protocol, this runtime 1",
          [&] { open(); });
}

TEST_F(Runtime, RefusesWhoIsNoSimulator) {
  simulate([](End& end) {
    end.receive();
    end.send(101, numbers({{0, 8}, {1, 8}}));
  });
  refused(ErrorCode::kNoDevice, "who listens there is no simulator of NVDLA", [&] { open(); });
}

TEST_F(Runtime, RefusesAShortWelcome) {
  simulate([](End& end) {
    end.receive();
    end.send(101, numbers({{kMagic, 8}, {1, 4}, {0, 4}}));
  });
  refused(ErrorCode::kNoDevice, "the simulator's welcome has 16 bytes instead of 112",
          [&] { open(); });
}

// Whoever opens it: the self-test and replay do not go by Device::open().
TEST_F(Runtime, RefusesAnotherConfigurationThanNamed) {
  simulate([](End& end) {
    end.receive();
    end.send(101, welcome(1, "nv_small"));
  });
  refused(ErrorCode::kNoDevice, "is nv_small, not nv_full", [&] { open(",config=nv_full"); });
}

TEST_F(Runtime, RefusesAConfigurationThatIsNone) {
  simulate([](End& end) {
    end.receive();
    end.send(101, welcome(1, "nv_huge"));
  });
  refused(ErrorCode::kNoDevice, "simulates 'nv_huge', which is no configuration; there are nv_full",
          [&] { open(); });
}

TEST_F(Runtime, CountsSimulatedTime) {
  simulate_opened([](End& end) {
    auto run = end.receive();
    EXPECT_EQ(run->type, 4u);
    EXPECT_EQ(run->payload, numbers({{3000, 8}, {1, 4}, {0, 4}}));
    end.send(103, numbers({{60, 8}}));  // a sign of life
    end.send(102, answer(1050));
    run = end.receive();
    EXPECT_EQ(run->payload, numbers({{2000, 8}, {1, 4}, {0, 4}}));
    end.send(102, answer(1100, 0, 1));
  });
  const auto device = open();
  EXPECT_EQ(device->now().count(), 0);
  EXPECT_TRUE(device->wait_interrupt(std::chrono::milliseconds(3)));
  EXPECT_EQ(device->now(), std::chrono::microseconds(1050));
}

TEST_F(Runtime, SendsWritesTogetherAndInOrder) {
  simulate_opened([](End& end) {
    const auto write = end.receive();
    EXPECT_EQ(write->type, 3u);
    EXPECT_EQ(write->payload, numbers({{4, 4}, {1, 4}, {8, 4}, {2, 4}}));
    end.send(102, answer(60));
    const auto read = end.receive();
    EXPECT_EQ(read->type, 2u);
    EXPECT_EQ(read->payload, numbers({{12, 4}}));
    end.send(102, answer(70, 0xabcd));
  });
  const auto device = open();
  device->write(4, 1);
  device->write(8, 2);
  EXPECT_EQ(device->read(12), 0xabcdu);
}

TEST_F(Runtime, ServesMemoryByMessages) {
  simulate_opened([](End& end) {
    const auto map = end.receive();
    EXPECT_EQ(map->type, 6u);
    const std::uint64_t address = number_at(map->payload, 0, 8);
    EXPECT_EQ(map->payload, numbers({{address, 8}, {4, 8}, {1, 4}, {0, 4}}));
    end.receive();
    end.send(104, numbers({{address, 8}, {0, 4}, {2, 4}}));
    const auto data = end.receive();
    EXPECT_EQ(data->type, 8u);
    EXPECT_EQ(data->payload, (Bytes{5, 6}));
    end.send(105, numbers({{address + 2, 8}, {0, 4}, {1, 4}, {9, 1}}));
    end.send(106, numbers({{0x1234, 8}, {1, 4}, {1, 4}}));
    end.send(106, numbers({{0x5678, 8}, {0, 4}, {0, 4}}));
    end.send(102, answer(70));
    const auto unmap = end.receive();
    EXPECT_EQ(unmap->type, 7u);
    EXPECT_EQ(unmap->payload, numbers({{address, 8}}));
    end.receive();
    end.send(102, answer(80));
  });
  const auto device = open();
  auto memory = device->allocate(4, Memory::kDram);
  memory->data()[0] = std::byte{5};
  memory->data()[1] = std::byte{6};
  device->read(0);
  EXPECT_EQ(memory->data()[2], std::byte{9});
  EXPECT_EQ(device->take_refusals(), "SRAM at 0x1234, writing; 2 accesses were refused");
  EXPECT_EQ(device->take_refusals(), "");
  memory.reset();
  device->read(0);
}

struct Lie {
  const char* what;
  std::uint32_t type;
  Bytes payload;
  const char* error;
};

class Lies : public Runtime, public testing::WithParamInterface<Lie> {};

TEST_P(Lies, AreFound) {
  simulate_opened([](End& end) {
    end.receive();
    end.send(GetParam().type, GetParam().payload);
    end.receive();
  });
  const auto device = open();
  refused(ErrorCode::kGone, GetParam().error, [&] { device->read(0); });
  // And remembered.
  refused(ErrorCode::kGone, GetParam().error, [&] { device->read(0); });
  refused(ErrorCode::kGone, GetParam().error, [&] { device->reset(); });
  // Lets the simulator end.
  const_cast<std::unique_ptr<SimDevice>&>(device).reset();
}

INSTANTIATE_TEST_SUITE_P(
    Simulator, Lies,
    testing::Values(Lie{"type", 99, {}, "the simulator sent message 99, which is not known here"},
                    Lie{"answer", 102, {1}, "an answer of the simulator has 1 bytes instead of 16"},
                    Lie{"back", 102, numbers({{49, 8}, {0, 8}}),
                        "the simulator's clock went from cycle 50 back to 49"},
                    Lie{"fetch", 104, numbers({{0x1000, 8}, {0, 4}, {4, 4}}),
                        "FETCH of 4 bytes at 0x1000, which the device does not have"},
                    Lie{"store", 105, numbers({{0x1000, 8}, {0, 4}, {1, 4}, {0, 1}}),
                        "STORE of 1 bytes at 0x1000, which the device does not have"},
                    Lie{"far", 102, numbers({{~0ULL, 8}, {0, 8}}),
                        "the simulator's clock went from cycle 50 to 18446744073709551615, more "
                        "than 4503599627370496 later"},
                    Lie{"alive", 103, numbers({{50, 8}}),
                        "the simulator gives signs of life, but its clock stays at cycle 50"},
                    Lie{"short_alive", 103, {}, "a sign of life has 0 bytes instead of 8"},
                    Lie{"short_fetch", 104, {}, "FETCH has not 16 bytes"},
                    Lie{"short_store", 105, {}, "STORE has less than 16 bytes"},
                    Lie{"short_refusal", 106, {}, "REFUSED has not 16 bytes"},
                    Lie{"gives_up", 107, {'o', 'h'}, "the simulator gives up: oh"}),
    [](const auto& test) { return test.param.what; });

// Signs of life without time, and refusals without end.
TEST_F(Runtime, DoesNotListenForEver) {
  simulate_opened([](End& end) {
    end.receive();
    // Many at a time: a system call for each takes longer than all that is tested here.
    const Bytes one = numbers({{106, 4}, {16, 4}, {0x1234, 8}, {0, 4}, {0, 4}});
    Bytes many;
    for (int i = 0; i < 1000; ++i) many.insert(many.end(), one.begin(), one.end());
    for (int i = 0; i < 2000; ++i) end.send_bytes(many);
  });
  auto device = open();
  refused(ErrorCode::kGone, "the simulator accessed memory 1048577 times in a request of 0 cycles",
          [&] { device->read(0); });
  device.reset();
}

TEST_F(Runtime, RefusesStoresBeyondABlock) {
  std::uint64_t address = 0;
  simulate_opened([&](End& end) {
    const auto map = end.receive();
    address = number_at(map->payload, 0, 8);
    end.receive();
    end.send(105, numbers({{address + 3, 8}, {0, 4}, {2, 4}, {0, 2}}));
    end.receive();
  });
  auto device = open();
  const auto memory = device->allocate(4, Memory::kDram);
  refused(ErrorCode::kGone, "STORE of 2 bytes at 0x", [&] { device->read(0); });
  EXPECT_EQ(memory->data()[3], std::byte{0});
}

TEST_F(Runtime, RefusesMessagesThatAreTooLong) {
  simulate_opened([&](End& end) {
    end.receive();
    end.send_bytes(numbers({{102, 4}, {70000, 4}}));
  });
  const auto device = open();
  refused(ErrorCode::kGone, "the simulator sent message 102 of 70000 bytes; 65552 are the most",
          [&] { device->read(0); });
}

TEST_F(Runtime, NoticesThatTheSimulatorLeaves) {
  simulate_opened([](End& end) { end.receive(); });
  const auto device = open();
  refused(ErrorCode::kGone, "the simulator closed the connection", [&] { device->read(0); });
}

TEST_F(Runtime, NoticesThatItLeavesInTheMiddle) {
  simulate_opened([](End& end) {
    end.receive();
    end.send_bytes(numbers({{102, 4}, {16, 4}, {0, 8}}));
  });
  const auto device = open();
  refused(ErrorCode::kGone, "the simulator closed the connection in the middle of a message",
          [&] { device->read(0); });
}

TEST_F(Runtime, GivesUpWhereTimeStandsStill) {
  simulate_opened([](End& end) {
    while (const auto message = end.receive()) end.send(102, answer(50));
  });
  auto device = open();
  refused(ErrorCode::kGone, "the simulator let no time pass where it should",
          [&] { device->wait_interrupt(std::chrono::seconds(1)); });
  device.reset();
}

// Of one that answered before, commands_test.py: here nothing says how quickly it would have to.
TEST_F(Runtime, DoesNotWaitForEver) {
  listener_.emplace(path_);
  refused(ErrorCode::kGone,
          "the simulator gave no sign of life for 1 s (stall=<seconds> sets how long): is it "
          "stopped, or busy with somebody else?",
          [&] { open(",stall=1"); });
}

struct Name {
  const char* name;
  const char* error;
};

TEST(SimName, IsChecked) {
  for (const Name& bad : {
           Name{"sim:", "device 'sim:': expected the path of a simulator's socket behind 'sim:'"},
           Name{"sim:/s,stall=0", "behind the comma, not 'stall=0'"},
           Name{"sim:/s,stall=86401", "behind the comma, not 'stall=86401'"},
           Name{"sim:/s,memory=shared",
                "expected 'memory=messages' behind the comma, not 'memory=shared'"},
           Name{"sim:/s,config=nv_huge", "no configuration is called 'nv_huge'; there are nv_full"},
           Name{"sim:/s,gating=off", "'gating=off' needs 'config=<configuration>'"},
           Name{"sim:/s,",
                "expected 'config=<configuration>', 'gating=<on or off>', 'revision=<2018 or "
                "2019>', 'stall=<1s to 86400s>' or 'memory=messages' behind the comma, not ''"},
       }) {
    expect_error(ErrorCode::kNoDevice, bad.error, [&] { check_device_name(bad.name); });
  }
  const detail::DeviceName name =
      detail::parse_device_name("sim:/s,gating=off,stall=7,memory=messages,config=nv_small");
  EXPECT_EQ(name.path, "/s");
  EXPECT_EQ(name.sim.stall, 7u);
  EXPECT_TRUE(name.sim.messages);
  EXPECT_STREQ(name.hw->name, "nv_small");
  EXPECT_EQ(name.hw->features & NVDLA_HW_WEIGHT_GATING, 0u);
}

}  // namespace
}  // namespace nvdla::sim_test
