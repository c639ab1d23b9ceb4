// SPDX-License-Identifier: MIT
//
// NVDLA's logic, verilated, as a device of the runtime: "sim:SOCKET".
//
// One file for every configuration: it takes the width of a beat from the ports of the top, and
// serves the second memory interface where the top has one. docs/simulator.md tells how to build
// it.
#include <Vnvdla.h>
#include <nvdla_sim.h>
#include <verilated.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <utility>

namespace {

struct Options {
  std::string socket;
  std::string config;          // empty: the user of the device names it
  std::uint64_t latency = 20;  // cycles from a request to the first beat of its response
  std::uint64_t jitter = 0;    // further cycles, up to so many, drawn for each beat
  std::uint64_t hold = 0;      // in so many of 256 cycles memory neither takes nor gives
  std::uint64_t seed = 1;
  std::uint64_t users = 0;  // end when so many were served; 0: never
  bool gates = true;        // false: the pin that keeps all clocks running is high
  bool messages = false;    // do not share memory
};

// `Pace` decides when memory acts, for all interfaces alike.
struct Pace {
  explicit Pace(const Options& given) : options(given), random(given.seed) {}

  std::uint64_t due() {
    return cycle + options.latency + (options.jitter == 0 ? 0 : random() % (options.jitter + 1));
  }
  bool held() { return options.hold != 0 && random() % 256 < options.hold; }

  const Options& options;
  std::mt19937_64 random;
  std::uint64_t cycle = 0;
};

// `AxiPorts` has the ports of an AXI interface by reference. Their types differ with the
// configuration.
template <typename Flag, typename Id, typename Length, typename Address, typename Data,
          typename Strobe>
struct AxiPorts {
  Flag &ar_valid, &ar_ready, &r_valid, &r_ready, &r_last;
  Flag &aw_valid, &aw_ready, &w_valid, &w_ready, &w_last, &b_valid, &b_ready;
  Id &ar_id, &r_id, &aw_id, &b_id;
  Length &ar_length, &aw_length;
  Address &ar_address, &aw_address;
  Data &r_data, &w_data;
  Strobe& w_strobe;
};

// `Memory` serves one interface. The core asks for aligned beats, in bursts of rising addresses.
template <typename Ports, std::size_t kBeat>
class Memory {
 public:
  Memory(Ports ports, nvdla_sim_memory interface, Pace& pace)
      : ports_(ports), interface_(interface), pace_(pace) {}

  void connect(nvdla_sim* sim) { sim_ = sim; }

  void reset() {
    reads_.clear();
    write_requests_.clear();
    write_beats_.clear();
    acknowledgements_.clear();
    ports_.r_valid = ports_.b_valid = 0;
    ports_.ar_ready = ports_.aw_ready = ports_.w_ready = 0;
  }

  // Sets the inputs of the core before the rising edge. What is valid stays until it is taken.
  void drive() {
    ports_.ar_ready = reads_.size() < kMaxBeats && !pace_.held();
    ports_.aw_ready = write_requests_.size() < kMaxRequests && !pace_.held();
    ports_.w_ready = write_beats_.size() < kMaxBeats && !pace_.held();
    if (!ports_.r_valid && !reads_.empty() && reads_.front().due <= pace_.cycle && !pace_.held()) {
      const ReadBeat& beat = reads_.front();
      ports_.r_valid = 1;
      set(ports_.r_id, beat.id);
      ports_.r_last = beat.last;
      std::memcpy(&ports_.r_data, beat.data.data(), kBeat);
      reads_.pop_front();
    }
    if (!ports_.b_valid && !acknowledgements_.empty() &&
        acknowledgements_.front().due <= pace_.cycle && !pace_.held()) {
      ports_.b_valid = 1;
      set(ports_.b_id, acknowledgements_.front().id);
      acknowledgements_.pop_front();
    }
  }

  // Takes what is handed over with the edge, when all ports have settled.
  void sample() {
    if (ports_.ar_valid && ports_.ar_ready) read_burst();
    if (ports_.aw_valid && ports_.aw_ready)
      write_requests_.push_back({ports_.aw_address, ports_.aw_id});
    if (ports_.w_valid && ports_.w_ready) {
      WriteBeat beat;
      beat.last = ports_.w_last != 0;
      std::memcpy(beat.data.data(), &ports_.w_data, kBeat);
      std::memcpy(beat.strobe.data(), &ports_.w_strobe, beat.strobe.size());
      write_beats_.push_back(beat);
    }
    r_taken_ = ports_.r_valid && ports_.r_ready;
    b_taken_ = ports_.b_valid && ports_.b_ready;
    write();
  }

  // Ends, behind the edge, the offer of what the core has taken.
  void release() {
    if (r_taken_) ports_.r_valid = 0;
    if (b_taken_) ports_.b_valid = 0;
  }

 private:
  // The core hides no latency that needs more.
  static constexpr std::size_t kMaxBeats = 1024, kMaxRequests = 64;

  struct ReadBeat {
    std::uint64_t due;
    unsigned id;
    bool last;
    std::array<std::uint8_t, kBeat> data;
  };
  struct WriteRequest {
    std::uint64_t address;
    unsigned id;
  };
  struct WriteBeat {
    bool last;
    std::array<std::uint8_t, kBeat> data;
    std::array<std::uint8_t, kBeat / 8> strobe;
  };
  struct Acknowledgement {
    std::uint64_t due;
    unsigned id;
  };

  template <typename Port>
  static void set(Port& port, unsigned value) {
    port = static_cast<Port>(value);
  }

  static std::uint64_t beat_of(std::uint64_t address) { return address / kBeat * kBeat; }

  // Reads the bytes of this moment, which come when they are due. NVDLA's interfaces have no
  // response code: where there is no memory the core gets zeros, and the library tells the runtime.
  void read_burst() {
    std::uint64_t address = beat_of(ports_.ar_address);
    const unsigned beats = ports_.ar_length + 1u;
    for (unsigned i = 0; i < beats; ++i, address += kBeat) {
      ReadBeat beat{pace_.due(), static_cast<unsigned>(ports_.ar_id), i + 1 == beats, {}};
      nvdla_sim_read(sim_, interface_, address, beat.data.data(), kBeat);
      reads_.push_back(beat);
    }
  }

  // Requests and beats come on channels of their own, each in order.
  void write() {
    while (!write_requests_.empty() && !write_beats_.empty()) {
      WriteRequest& request = write_requests_.front();
      const WriteBeat& beat = write_beats_.front();
      nvdla_sim_write(sim_, interface_, beat_of(request.address), beat.data.data(), kBeat,
                      beat.strobe.data());
      request.address = beat_of(request.address) + kBeat;
      if (beat.last) {
        acknowledgements_.push_back({pace_.due(), request.id});
        write_requests_.pop_front();
      }
      write_beats_.pop_front();
    }
  }

  Ports ports_;
  nvdla_sim_memory interface_;
  Pace& pace_;
  nvdla_sim* sim_ = nullptr;
  std::deque<ReadBeat> reads_;
  std::deque<WriteRequest> write_requests_;
  std::deque<WriteBeat> write_beats_;
  std::deque<Acknowledgement> acknowledgements_;
  bool r_taken_ = false, b_taken_ = false;
};

template <typename Flag, typename Id, typename Length, typename Address, typename Data,
          typename Strobe>
auto make_memory(AxiPorts<Flag, Id, Length, Address, Data, Strobe> ports,
                 nvdla_sim_memory interface, Pace& pace) {
  static_assert(sizeof(Data) >= 8 && sizeof(Data) <= NVDLA_SIM_BEAT, "8 to 64 bytes a beat");
  static_assert(sizeof(Strobe) * 8 >= sizeof(Data), "a strobe for each byte");
  return Memory<decltype(ports), sizeof(Data)>(ports, interface, pace);
}

template <typename Flag, typename Id, typename Length, typename Address, typename Data,
          typename Strobe>
auto axi_ports(Flag& ar_valid, Flag& ar_ready, Id& ar_id, Length& ar_length, Address& ar_address,
               Flag& r_valid, Flag& r_ready, Id& r_id, Flag& r_last, Data& r_data, Flag& aw_valid,
               Flag& aw_ready, Id& aw_id, Length& aw_length, Address& aw_address, Flag& w_valid,
               Flag& w_ready, Data& w_data, Strobe& w_strobe, Flag& w_last, Flag& b_valid,
               Flag& b_ready, Id& b_id) {
  return AxiPorts<Flag, Id, Length, Address, Data, Strobe>{
      ar_valid,  ar_ready,  r_valid,    r_ready,    r_last, aw_valid, aw_ready, w_valid,
      w_ready,   w_last,    b_valid,    b_ready,    ar_id,  r_id,     aw_id,    b_id,
      ar_length, aw_length, ar_address, aw_address, r_data, w_data,   w_strobe};
}

// AXI_PORTS lists the ports of `top` whose names begin with `name`.
#define AXI_PORTS(top, name)                                                                       \
  axi_ports((top).name##_ar_arvalid, (top).name##_ar_arready, (top).name##_ar_arid,                \
            (top).name##_ar_arlen, (top).name##_ar_araddr, (top).name##_r_rvalid,                  \
            (top).name##_r_rready, (top).name##_r_rid, (top).name##_r_rlast, (top).name##_r_rdata, \
            (top).name##_aw_awvalid, (top).name##_aw_awready, (top).name##_aw_awid,                \
            (top).name##_aw_awlen, (top).name##_aw_awaddr, (top).name##_w_wvalid,                  \
            (top).name##_w_wready, (top).name##_w_wdata, (top).name##_w_wstrb,                     \
            (top).name##_w_wlast, (top).name##_b_bvalid, (top).name##_b_bready,                    \
            (top).name##_b_bid)

// `NoMemory` stands where a top has no second memory interface.
struct NoMemory {
  void connect(nvdla_sim*) {}
  void reset() {}
  void drive() {}
  void sample() {}
  void release() {}
};

template <typename Top, typename = void>
struct HasSram : std::false_type {};
template <typename Top>
struct HasSram<Top, std::void_t<decltype(std::declval<Top&>().nvdla_core2cvsram_ar_arvalid)>>
    : std::true_type {};

template <typename Top>
auto make_dram(Top& top, Pace& pace) {
  return make_memory(AXI_PORTS(top, nvdla_core2dbb), NVDLA_SIM_DRAM, pace);
}

template <typename Top>
auto make_sram([[maybe_unused]] Top& top, [[maybe_unused]] Pace& pace) {
  if constexpr (HasSram<Top>::value)
    return make_memory(AXI_PORTS(top, nvdla_core2cvsram), NVDLA_SIM_SRAM, pace);
  else
    return NoMemory();
}

template <typename Top>
class Harness {
 public:
  Harness(Top& top, const Options& options)
      : top_(top), pace_(options), dram_(make_dram(top, pace_)), sram_(make_sram(top, pace_)) {
    top_.dla_core_clk = top_.dla_csb_clk = 0;
    top_.dla_reset_rstn = top_.direct_reset_ = 1;
    top_.test_mode = 0;
    top_.tmc2slcg_disable_clock_gating = 0;
    top_.global_clk_ovr_on = options.gates ? 0 : 1;
    // All memories have power.
    top_.nvdla_pwrbus_ram_a_pd = top_.nvdla_pwrbus_ram_c_pd = top_.nvdla_pwrbus_ram_ma_pd = 0;
    top_.nvdla_pwrbus_ram_mb_pd = top_.nvdla_pwrbus_ram_o_pd = top_.nvdla_pwrbus_ram_p_pd = 0;
    reset();
  }

  void connect(nvdla_sim* sim) {
    dram_.connect(sim);
    sram_.connect(sim);
  }

  // Requests that are on their way are forgotten on both sides.
  void reset() {
    in_reset_ = true;
    top_.csb2nvdla_valid = 0;
    dram_.reset();
    sram_.reset();
    top_.dla_reset_rstn = 0;
    for (unsigned i = 0; i < kResetCycles; ++i) tick();
    top_.dla_reset_rstn = 1;
    for (unsigned i = 0; i < kResetCycles; ++i) tick();
    in_reset_ = false;
  }

  // The answer comes when every write before it has arrived.
  std::uint32_t read(std::uint32_t offset) {
    answered_ = false;
    request(offset, 0, false);
    for (unsigned i = 0; i < kPatience && !answered_; ++i) tick();
    if (!answered_) give_up("does not answer a read of", offset);
    return answer_;
  }

  // Writes are posted: when the bus has taken the request, nothing has changed yet.
  void write(std::uint32_t offset, std::uint32_t value) { request(offset, value, true); }

  // Lets at least one cycle pass, also where the line is up already, and ends early when it rises.
  void run(std::uint64_t cycles) {
    bool before = interrupt();
    for (std::uint64_t i = 0; i < cycles; ++i) {
      tick();
      if (interrupt() && !before) return;
      before = interrupt();
    }
  }

  std::uint64_t cycle() const { return pace_.cycle; }
  bool interrupt() const { return top_.dla_intr != 0; }

 private:
  // All synchronisers are shorter.
  static constexpr unsigned kResetCycles = 64;
  static constexpr unsigned kPatience = 100000;

  [[noreturn]] void give_up(const char* what, std::uint32_t offset) {
    std::fprintf(stderr, "the register bus %s offset 0x%x for %u cycles\n", what, offset,
                 kPatience);
    std::exit(1);
  }

  void request(std::uint32_t offset, std::uint32_t value, bool write) {
    top_.csb2nvdla_addr = static_cast<std::uint16_t>(offset / 4);
    top_.csb2nvdla_wdat = value;
    top_.csb2nvdla_write = write;
    top_.csb2nvdla_nposted = 0;
    top_.csb2nvdla_valid = 1;
    for (unsigned i = 0; i < kPatience && top_.csb2nvdla_valid; ++i) tick();
    if (top_.csb2nvdla_valid) give_up("does not take a request for", offset);
  }

  // Lets one clock cycle pass. Outputs that follow inputs at once settle while the clock is low;
  // then everything changes hands with the rising edge.
  void tick() {
    if (!in_reset_) {
      dram_.drive();
      sram_.drive();
    }
    top_.dla_core_clk = top_.dla_csb_clk = 0;
    top_.eval();
    if (!in_reset_) {
      dram_.sample();
      sram_.sample();
    }
    const bool taken = top_.csb2nvdla_valid && top_.csb2nvdla_ready;
    if (top_.nvdla2csb_valid && !in_reset_) {
      answered_ = true;
      answer_ = top_.nvdla2csb_data;
    }
    top_.dla_core_clk = top_.dla_csb_clk = 1;
    top_.eval();
    if (!in_reset_) {
      dram_.release();
      sram_.release();
    }
    if (taken) top_.csb2nvdla_valid = 0;
    ++pace_.cycle;
  }

  Top& top_;
  Pace pace_;
  decltype(make_dram(std::declval<Top&>(), std::declval<Pace&>())) dram_;
  decltype(make_sram(std::declval<Top&>(), std::declval<Pace&>())) sram_;
  bool in_reset_ = true;
  bool answered_ = false;
  std::uint32_t answer_ = 0;
};

using Core = Harness<Vnvdla>;

Core& core(void* context) { return *static_cast<Core*>(context); }

const nvdla_sim_callbacks kCallbacks = {
    [](void* context, std::uint32_t offset) { return core(context).read(offset); },
    [](void* context, std::uint32_t offset, std::uint32_t value) {
      core(context).write(offset, value);
    },
    [](void* context, std::uint64_t cycles) { core(context).run(cycles); },
    [](void* context) { return core(context).cycle(); },
    [](void* context) { return core(context).interrupt() ? 1 : 0; },
    [](void* context) { core(context).reset(); },
};

[[noreturn]] void usage(const char* program, const std::string& wrong) {
  std::fprintf(stderr,
               "%s: %s\n"
               "usage: %s SOCKET [OPTION]...\n"
               "  --config=NAME      what it is, such as nv_small; else the user says it\n"
               "  --latency=CYCLES   of memory; 20\n"
               "  --jitter=CYCLES    up to so many more, drawn for each beat; 0\n"
               "  --hold=N           in N of 256 cycles memory does nothing; 0\n"
               "  --seed=NUMBER      of initial values, jitter and hold; 1\n"
               "  --gates=off        keep all clocks running (the override pin)\n"
               "  --memory=messages  do not share memory with the runtime\n"
               "  --users=N          end when N users were served\n",
               program, wrong.c_str(), program);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string key = argument.substr(0, equals);
    const std::string value = equals == argument.npos ? "" : argument.substr(equals + 1);
    const auto number = [&](std::uint64_t& into, std::uint64_t most) {
      char* end = nullptr;
      into = std::strtoull(value.c_str(), &end, 10);
      if (value.empty() || value[0] < '0' || value[0] > '9' || *end != '\0' || into > most)
        usage(argv[0], "'" + argument + "': expected a number from 0 to " + std::to_string(most));
    };
    if (argument[0] == '+')
      continue;  // the logic's
    else if (argument[0] != '-' && options.socket.empty())
      options.socket = argument;
    else if (key == "--config" && !value.empty())
      options.config = value;
    else if (key == "--latency")
      number(options.latency, 100000);
    else if (key == "--jitter")
      number(options.jitter, 100000);
    else if (key == "--hold")
      number(options.hold, 255);
    else if (key == "--seed")
      number(options.seed, 1000000000);
    else if (key == "--users")
      number(options.users, 1000000);
    else if (argument == "--gates=off")
      options.gates = false;
    else if (argument == "--memory=messages")
      options.messages = true;
    else
      usage(argv[0], "'" + argument + "' is no option");
  }
  if (options.socket.empty()) usage(argv[0], "expected the path of a socket");
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);

  // Flops that no reset sets begin as anything, as on silicon. Verilate with --x-initial unique.
  VerilatedContext context;
  context.commandArgs(argc, argv);  // the logic asks for its own, "+name"
  context.randReset(2);
  context.randSeed(static_cast<int>(options.seed) + 1);  // 0 would be the time of day
  const auto top = std::make_unique<Vnvdla>(&context);
  Core harness(*top, options);

  nvdla_sim_options who = {};
  who.configuration = options.config.empty() ? nullptr : options.config.c_str();
  who.name = "Verilator";
  who.only_messages = options.messages ? 1 : 0;
  nvdla_sim* const sim = nvdla_sim_open(options.socket.c_str(), &who, &kCallbacks, &harness);
  if (sim == nullptr || nvdla_sim_error(sim)[0] != '\0') {
    std::fprintf(stderr, "%s: %s\n", argv[0], sim == nullptr ? "no memory" : nvdla_sim_error(sim));
    nvdla_sim_close(sim);
    return 1;
  }
  harness.connect(sim);
  for (std::uint64_t served = 0; options.users == 0 || served < options.users; ++served)
    if (nvdla_sim_serve(sim) != 0) std::fprintf(stderr, "%s: %s\n", argv[0], nvdla_sim_error(sim));
  top->final();
  nvdla_sim_close(sim);
  return 0;
}
