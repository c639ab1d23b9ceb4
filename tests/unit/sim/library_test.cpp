// SPDX-License-Identifier: MIT
//
// libnvdla-sim, byte by byte: what it answers, what it refuses, and that nothing that a user sends
// hurts it. The core is a toy with one register that starts a copy.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <random>
#include <thread>

#include "sim/nvdla_sim.h"
#include "socket.hpp"

namespace nvdla::sim_test {
namespace {

// Register 0 holds what was written; a write to 4 copies register 0 bytes from 0x1000 to 0x2000 in
// ten cycles, and raises the line; a write to 8 lowers it.
class Toy {
 public:
  explicit Toy(bool only_messages = false, bool stands_still = false)
      : stands_still_(stands_still) {
    const nvdla_sim_options options = {
        .configuration = "nv_small", .name = "toy", .only_messages = only_messages ? 1 : 0};
    sim_ = nvdla_sim_open(path_.name().c_str(), &options, &kCallbacks, this);
    EXPECT_STREQ(nvdla_sim_error(sim_), "");
    thread_ = std::thread([this] { result_ = nvdla_sim_serve(sim_); });
  }
  ~Toy() {
    join();
    nvdla_sim_close(sim_);
  }

  const SocketPath& path() const { return path_; }
  // What serving the user came to.
  int join() {
    if (thread_.joinable()) thread_.join();
    return result_;
  }
  std::string error() const { return nvdla_sim_error(sim_); }
  int refusals() const { return refusals_; }

 private:
  static Toy& self(void* context) { return *static_cast<Toy*>(context); }

  void copy() {
    Bytes bytes(value_);
    refusals_ += nvdla_sim_read(sim_, NVDLA_SIM_DRAM, 0x1000, bytes.data(), value_) != 0;
    // Every second byte.
    const std::vector<std::uint8_t> strobe(value_ / 8 + 1, 0x55);
    refusals_ +=
        nvdla_sim_write(sim_, NVDLA_SIM_DRAM, 0x2000, bytes.data(), value_, strobe.data()) != 0;
  }

  static const nvdla_sim_callbacks kCallbacks;

  SocketPath path_;
  bool stands_still_;
  std::uint64_t cycle_ = 0, copy_at_ = 0;
  std::uint32_t value_ = 7;
  bool line_ = false;
  int refusals_ = 0;
  int result_ = 0;
  nvdla_sim* sim_;
  std::thread thread_;
};

const nvdla_sim_callbacks Toy::kCallbacks = {
    .csb_read = [](void* context, std::uint32_t offset) -> std::uint32_t {
      ++self(context).cycle_;
      return offset == 0 ? self(context).value_ : ~offset;
    },
    .csb_write =
        [](void* context, std::uint32_t offset, std::uint32_t value) {
          Toy& toy = self(context);
          ++toy.cycle_;
          if (offset == 0) toy.value_ = value;
          if (offset == 4) toy.copy_at_ = toy.cycle_ + 10;
          if (offset == 8) toy.line_ = false;
        },
    .run =
        [](void* context, std::uint64_t cycles) {
          Toy& toy = self(context);
          if (toy.stands_still_) return;
          while (cycles-- != 0 && !toy.line_) {
            if (++toy.cycle_ != toy.copy_at_) continue;
            toy.copy();
            toy.line_ = true;
          }
        },
    .cycle = [](void* context) { return self(context).cycle_; },
    .interrupt = [](void* context) -> int { return self(context).line_; },
    .reset = [](void* context) { self(context).value_ = 0; },
};

// A user that said hello.
class User : public End {
 public:
  explicit User(const Toy& toy, std::uint32_t version = 1) : End(connect(toy.path())) {
    send(1, numbers({{kMagic, 8}, {version, 4}, {1, 4}}));
    const auto welcome = receive();
    if (!welcome) return;
    EXPECT_EQ(welcome->type, 101u);
    welcome_ = welcome->payload;
  }
  const Bytes& welcome() const { return welcome_; }

  struct Answer {
    std::uint64_t cycle, value, line;
  };
  // Nothing but an answer may come.
  Answer answer() {
    const auto message = receive();
    EXPECT_TRUE(message);
    if (!message) return {};
    EXPECT_EQ(message->type, 102u);
    EXPECT_EQ(message->payload.size(), 16u);
    if (message->type != 102 || message->payload.size() != 16) return {};
    return {number_at(message->payload, 0, 8), number_at(message->payload, 8, 4),
            number_at(message->payload, 12, 4)};
  }
  Answer ask(std::uint32_t type, const Bytes& payload) {
    send(type, payload);
    return answer();
  }

 private:
  Bytes welcome_;
};

TEST(SimLibrary, WelcomesTheRuntime) {
  Toy toy;
  User user(toy);
  ASSERT_EQ(user.welcome().size(), 112u);
  EXPECT_EQ(number_at(user.welcome(), 0, 8), kMagic);
  EXPECT_EQ(std::string(user.welcome().begin(), user.welcome().begin() + 8), "NVDLASIM");
  EXPECT_EQ(number_at(user.welcome(), 8, 4), 1u);
  EXPECT_EQ(number_at(user.welcome(), 12, 4), 1u);
  EXPECT_STREQ(reinterpret_cast<const char*>(user.welcome().data() + 16), "nv_small");
  EXPECT_STREQ(reinterpret_cast<const char*>(user.welcome().data() + 48), "toy");
  user.close();
  EXPECT_EQ(toy.join(), 0);
}

TEST(SimLibrary, TellsAnotherVersionOurs) {
  Toy toy;
  User user(toy, 2);
  EXPECT_EQ(number_at(user.welcome(), 8, 4), 1u);
  EXPECT_EQ(toy.join(), -1);
  EXPECT_EQ(toy.error(), "the user speaks version 2, this is 1");
}

TEST(SimLibrary, ReadsWritesResets) {
  Toy toy;
  User user(toy);
  EXPECT_EQ(user.ask(2, numbers({{0, 4}})).value, 7u);
  // Several in one message, in order.
  user.ask(3, numbers({{0, 4}, {1, 4}, {0, 4}, {9, 4}}));
  const auto read = user.ask(2, numbers({{0, 4}}));
  EXPECT_EQ(read.value, 9u);
  EXPECT_EQ(read.cycle, 4u);
  user.ask(5, {});
  EXPECT_EQ(user.ask(2, numbers({{0, 4}})).value, 0u);
}

TEST(SimLibrary, RunsUntilTheLineIsUp) {
  Toy toy;
  User user(toy);
  EXPECT_EQ(user.ask(4, numbers({{2500, 8}, {1, 4}, {0, 4}})).cycle, 2500u);
  user.ask(3, numbers({{0, 4}, {0, 4}, {4, 4}, {0, 4}}));
  const auto up = user.ask(4, numbers({{1000000, 8}, {1, 4}, {0, 4}}));
  EXPECT_EQ(up.line, 1u);
  EXPECT_EQ(up.cycle, 2512u);
  EXPECT_EQ(user.ask(4, numbers({{1000, 8}, {1, 4}, {0, 4}})).cycle, 2512u);
  EXPECT_EQ(user.ask(3, numbers({{8, 4}, {0, 4}})).line, 0u);
}

TEST(SimLibrary, ServesMemoryByMessages) {
  Toy toy(true);
  User user(toy);
  EXPECT_EQ(number_at(user.welcome(), 12, 4), 0u);
  user.send(6, numbers({{0x1000, 8}, {4, 8}, {1, 4}, {0, 4}}));
  user.send(6, numbers({{0x2000, 8}, {4, 8}, {1, 4}, {0, 4}}));
  user.ask(3, numbers({{0, 4}, {4, 4}, {4, 4}, {0, 4}}));
  user.send(4, numbers({{100, 8}, {1, 4}, {0, 4}}));
  auto message = user.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type, 104u);
  EXPECT_EQ(message->payload, numbers({{0x1000, 8}, {0, 4}, {4, 4}}));
  user.send(8, {1, 2, 3, 4});
  // Where the strobes are.
  for (unsigned byte : {0u, 2u}) {
    message = user.receive();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->type, 105u);
    EXPECT_EQ(message->payload, numbers({{0x2000 + byte, 8}, {0, 4}, {1, 4}, {byte + 1, 1}}));
  }
  EXPECT_EQ(user.answer().line, 1u);
  user.close();
  EXPECT_EQ(toy.join(), 0);
  EXPECT_EQ(toy.refusals(), 0);
}

TEST(SimLibrary, RefusesWhatIsNoMemory) {
  Toy toy(true);
  User user(toy);
  user.send(6, numbers({{0x1000, 8}, {64, 8}, {1, 4}, {0, 4}}));   // a beat short
  user.send(6, numbers({{0x2000, 8}, {128, 8}, {2, 4}, {0, 4}}));  // the other interface
  user.ask(3, numbers({{0, 4}, {65, 4}, {4, 4}, {0, 4}}));
  user.send(4, numbers({{100, 8}, {1, 4}, {0, 4}}));
  auto message = user.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type, 106u);
  EXPECT_EQ(message->payload, numbers({{0x1040, 8}, {0, 4}, {0, 4}}));
  message = user.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type, 106u);
  EXPECT_EQ(message->payload, numbers({{0x2000, 8}, {0, 4}, {1, 4}}));
  user.answer();
  user.close();
  toy.join();
  EXPECT_EQ(toy.refusals(), 2);
}

// `Beats` is a copy of so many bytes with memory of which `read` bytes are at 0x1000 and `written`
// ones at 0x2000: it copies zeros beyond the first, and counts refusals. Every second byte is
// written.
struct Beats {
  std::uint32_t bytes, read, written;
  int refusals;
};

class SimBeats : public testing::TestWithParam<Beats> {};

TEST_P(SimBeats, BringAlongWhatIsNoMemory) {
  const Beats& beats = GetParam();
  Toy toy;
  User user(toy);
  const auto map = [&](std::uint64_t address, std::uint32_t bytes) {
    const int file = ::memfd_create("nvdla-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(::ftruncate(file, 4096), 0);
    EXPECT_EQ(::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    void* const data = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    std::memset(data, address == 0x1000 ? 0x5a : 0x77, 4096);
    user.send_with(6, numbers({{address, 8}, {bytes, 8}, {1, 4}, {1, 4}}), {file});
    ::close(file);
    return static_cast<unsigned char*>(data);
  };
  unsigned char* const source = map(0x1000, beats.read);
  unsigned char* const target = map(0x2000, beats.written);
  user.ask(3, numbers({{0, 4}, {beats.bytes, 4}, {4, 4}, {0, 4}}));
  user.send(4, numbers({{100, 8}, {1, 4}, {0, 4}}));
  for (int i = 0; i < beats.refusals; ++i) {
    const auto message = user.receive();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->type, 106u);
  }
  EXPECT_EQ(user.answer().line, 1u);
  user.close();
  EXPECT_EQ(toy.join(), 0);
  EXPECT_EQ(toy.refusals(), beats.refusals);
  if (beats.refusals == 0) {
    for (std::uint32_t i = 0; i < 4096; ++i) {
      const unsigned char copied = i < beats.read ? 0x5a : 0;
      EXPECT_EQ(target[i], i < beats.bytes && i % 2 == 0 ? copied : 0x77) << i;
    }
  }
  ::munmap(source, 4096);
  ::munmap(target, 4096);
}

INSTANTIATE_TEST_SUITE_P(SimLibrary, SimBeats,
                         testing::Values(
                             // The last beat has 32 bytes of memory, or one.
                             Beats{128, 96, 128, 0}, Beats{128, 65, 128, 0},
                             // It has none.
                             Beats{128, 64, 128, 1}, Beats{256, 96, 256, 1},
                             // The last byte of a write has no strobe.
                             Beats{128, 128, 127, 0}, Beats{64, 64, 63, 0},
                             // One with a strobe is no memory.
                             Beats{128, 128, 126, 1}, Beats{64, 64, 1, 1}),
                         [](const auto& test) { return "case" + std::to_string(test.index); });

TEST(SimLibrary, ForgetsMemoryThatIsUnmapped) {
  Toy toy(true);
  User user(toy);
  user.send(6, numbers({{0x1000, 8}, {4, 8}, {1, 4}, {0, 4}}));
  user.send(6, numbers({{0x2000, 8}, {4, 8}, {1, 4}, {0, 4}}));
  user.send(7, numbers({{0x1000, 8}}));
  user.ask(3, numbers({{0, 4}, {4, 4}, {4, 4}, {0, 4}}));
  user.send(4, numbers({{100, 8}, {1, 4}, {0, 4}}));
  const auto message = user.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type, 106u);
  user.close();
}

struct Bad {
  const char* what;
  std::uint32_t type;
  Bytes payload;
  const char* error;
};

class Refuses : public testing::TestWithParam<Bad> {};

TEST_P(Refuses, AndSaysWhy) {
  Toy toy;
  User user(toy);
  user.send(6, numbers({{0x1000, 8}, {0x100, 8}, {1, 4}, {0, 4}}));
  user.send(GetParam().type, GetParam().payload);
  const auto message = user.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type, 107u);
  EXPECT_EQ(std::string(message->payload.begin(), message->payload.end()), GetParam().error);
  EXPECT_FALSE(user.receive());
  EXPECT_EQ(toy.join(), -1);
  EXPECT_EQ(toy.error(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    SimLibrary, Refuses,
    testing::Values(Bad{"type", 99, {}, "message 99 is not known"},
                    Bad{"hello", 1, numbers({{kMagic, 8}, {1, 4}, {0, 4}}),
                        "message 1 is not known"},
                    Bad{"read", 2, numbers({{0, 8}}), "READ has 4 bytes, not 8"},
                    Bad{"write", 3, numbers({{0, 4}}), "WRITE has pairs of 8 bytes, not 4 bytes"},
                    Bad{"nothing", 3, {}, "WRITE has pairs of 8 bytes, not 0 bytes"},
                    Bad{"run", 4, {}, "RUN has 16 bytes, not 0"},
                    Bad{"reset", 5, {1}, "RESET has 0 bytes, not 1"},
                    Bad{"map", 6, {1, 2}, "MAP has 24 bytes, not 2"},
                    Bad{"empty", 6, numbers({{0x5000, 8}, {0, 8}, {1, 4}, {0, 4}}),
                        "MAP: 0 bytes at 0x5000 cannot be, or are there"},
                    Bad{"wraps", 6, numbers({{~0ull, 8}, {2, 8}, {1, 4}, {0, 4}}),
                        "MAP: 2 bytes at 0xffffffffffffffff cannot be, or are there"},
                    Bad{"inside", 6, numbers({{0x10ff, 8}, {1, 8}, {1, 4}, {0, 4}}),
                        "MAP: 1 bytes at 0x10ff cannot be, or are there"},
                    Bad{"around", 6, numbers({{0xf00, 8}, {0x1000, 8}, {1, 4}, {0, 4}}),
                        "MAP: 4096 bytes at 0xf00 cannot be, or are there"},
                    Bad{"file", 6, numbers({{0x5000, 8}, {1, 8}, {1, 4}, {1, 4}}),
                        "MAP: the file did not come with it"},
                    Bad{"unmap", 7, numbers({{0x1001, 8}}), "UNMAP: nothing begins at 0x1001"},
                    Bad{"unmap_bytes", 7, {}, "UNMAP has 8 bytes, not 0"}),
    [](const auto& test) { return test.param.what; });

int make_file(std::uint64_t bytes, int seals) {
  const int file = ::memfd_create("nvdla-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_EQ(::ftruncate(file, static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(::fcntl(file, F_ADD_SEALS, seals), 0);
  return file;
}

const Bytes kMap = numbers({{0x5000, 8}, {4096, 8}, {1, 4}, {1, 4}});

// A user that shortens the file later would end the simulator with SIGBUS.
TEST(SimLibrary, RefusesAFileThatCanBeMadeShorter) {
  for (const int seals : {0, F_SEAL_GROW}) {
    Toy toy;
    User user(toy);
    const int file = make_file(4096, seals);
    user.send_with(6, kMap, {file});
    const auto message = user.receive();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->type, 107u);
    EXPECT_EQ(toy.join(), -1);
    EXPECT_EQ(toy.error(), "MAP: the file can be made shorter: seal it with F_SEAL_SHRINK");
    ::close(file);
  }
  Toy toy;
  User user(toy);
  const int file = make_file(4096, F_SEAL_SHRINK);
  user.send_with(6, kMap, {file});
  EXPECT_EQ(user.ask(2, numbers({{0, 4}})).value, 7u);
  ::close(file);
  user.close();
  EXPECT_EQ(toy.join(), 0);
}

std::size_t open_files() {
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    static_cast<void>(file);
    ++count;
  }
  return count;
}

// Two fit the room for one of them and its padding; more do not.
TEST(SimLibrary, KeepsNoFileOfSeveral) {
  for (const std::size_t several : {2U, 3U, 20U}) {
    const int file = make_file(4096, F_SEAL_SHRINK);
    const std::size_t before = open_files();
    {
      Toy toy;
      User user(toy);
      user.send_with(6, kMap, std::vector<int>(several, file));
      EXPECT_EQ(toy.join(), -1);
      EXPECT_EQ(toy.error(), "more than one file came with a message");
    }
    EXPECT_EQ(open_files(), before) << several;
    ::close(file);
  }
}

TEST(SimLibrary, SaysThatItStandsStill) {
  Toy toy(false, true);
  User user(toy);
  user.send(4, numbers({{10, 8}, {1, 4}, {0, 4}}));
  const auto message = user.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type, 107u);
  EXPECT_EQ(toy.join(), -1);
  EXPECT_EQ(toy.error(), "run() let no cycle pass after 0");
}

TEST(SimLibrary, RefusesAMessageThatIsTooLong) {
  Toy toy;
  User user(toy);
  user.send_bytes(numbers({{2, 4}, {0xffffffff, 4}}));
  EXPECT_EQ(toy.join(), -1);
  EXPECT_EQ(toy.error(), "message 2 of 4294967295 bytes: more than 65552 cannot be");
}

TEST(SimLibrary, KnowsHalfAMessage) {
  for (const Bytes& half : {Bytes{1, 0, 0}, numbers({{2, 4}, {4, 4}, {0, 2}})}) {
    Toy toy;
    User user(toy);
    user.send_bytes(half);
    user.close();
    EXPECT_EQ(toy.join(), -1);
    EXPECT_EQ(toy.error(), "the user left in the middle of a message");
  }
}

TEST(SimLibrary, RefusesWhoSaysSomethingElseThanHello) {
  Toy toy;
  End user = End::connect(toy.path());
  user.send(1, numbers({{kMagic + 1, 8}, {1, 4}, {0, 4}}));
  EXPECT_EQ(toy.join(), -1);
  EXPECT_EQ(toy.error(), "the user is no runtime of NVDLA");
}

// Messages of random types, sizes and contents: it answers, or says what is wrong, and ends.
TEST(SimLibrary, SurvivesAnything) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Toy toy(true);
    User user(toy);
    for (int i = 0; i < 10; ++i) {
      Bytes payload(std::uniform_int_distribution<std::size_t>(0, 32)(random));
      for (auto& byte : payload) byte = static_cast<unsigned char>(random() % 3);
      // A run may be long: what it is for is tested above.
      const auto type = static_cast<std::uint32_t>(random() % 10);
      user.send(type, type == 4 ? numbers({{random() % 3000, 8}, {1, 4}, {0, 4}}) : payload);
    }
    user.close();
    const int result = toy.join();
    EXPECT_EQ(result != 0, !toy.error().empty());
  }
}

TEST(SimLibrary, TakesOverAPathThatNobodyListensAt) {
  SocketPath path;
  { Listener left(path); }
  const nvdla_sim_callbacks none = {};
  nvdla_sim* first = nvdla_sim_open(path.name().c_str(), nullptr, &none, nullptr);
  EXPECT_STREQ(nvdla_sim_error(first), "");
  nvdla_sim* second = nvdla_sim_open(path.name().c_str(), nullptr, &none, nullptr);
  EXPECT_EQ(nvdla_sim_error(second), path.name() + ": Address already in use");
  EXPECT_EQ(nvdla_sim_serve(second), -1);
  nvdla_sim_close(second);
  EXPECT_TRUE(std::filesystem::exists(path.name()));
  nvdla_sim_close(first);
  EXPECT_FALSE(std::filesystem::exists(path.name()));
}

// A script waits for the path and connects at once, at whatever moment that is.
TEST(SimLibrary, ListensAsSoonAsItsPathExists) {
  const nvdla_sim_callbacks none = {};
  for (int round = 0; round < 2000; ++round) {
    const SocketPath path;
    std::atomic<bool> opened{false};
    std::thread user([&] {
      while (::access(path.name().c_str(), F_OK) != 0 && !opened) {
      }
      End::connect(path);
    });
    nvdla_sim* const sim = nvdla_sim_open(path.name().c_str(), nullptr, &none, nullptr);
    opened = true;
    user.join();
    EXPECT_STREQ(nvdla_sim_error(sim), "");
    nvdla_sim_close(sim);
    if (HasFailure()) return;
  }
}

// The longest name that fits an address leaves no room for another name beside it.
TEST(SimLibrary, ListensAtTheLongestPathAndLeavesNothingBeside) {
  const SocketPath unique;
  const std::filesystem::path folder = unique.name();
  std::filesystem::create_directory(folder);
  const std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  const nvdla_sim_callbacks none = {};
  for (const std::size_t size : {folder.string().size() + 2, longest - 10, longest}) {
    std::string path = folder.string() + "/";
    path.resize(size, 's');
    nvdla_sim* const sim = nvdla_sim_open(path.c_str(), nullptr, &none, nullptr);
    EXPECT_STREQ(nvdla_sim_error(sim), "");
    const std::filesystem::directory_iterator entries(folder);
    EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
    EXPECT_TRUE(std::filesystem::is_socket(path));
    nvdla_sim_close(sim);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  std::filesystem::remove(folder);
}

}  // namespace
}  // namespace nvdla::sim_test
