// SPDX-License-Identifier: MIT
#include "Vnvdla.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "firmware/registers/nvdla_regs.h"
#include "model/device.hpp"

namespace {

using nvdla::model::Ram;

constexpr std::size_t kBeat = NVDLA_STANDIN_BEAT;
// Cycles that a request of a register takes to its unit, and an answer back. The line is slower
// than a request, and faster than a request and its answer.
constexpr std::uint64_t kRequestCycles = 12, kAnswerCycles = 30;
constexpr std::size_t kLineCycles = 25;
constexpr std::size_t kMaxRequests = 8;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "stand-in: %s\n", what);
  std::fflush(stderr);
  std::_Exit(99);
}

void require(bool holds, const char* otherwise) {
  if (!holds) fail(otherwise);
}

// `Transfer` is an access of the model to memory, in whole beats.
struct Transfer {
  bool write = false;
  std::uint64_t address = 0;        // of the first beat
  std::vector<std::uint8_t> bytes;  // whole beats
  std::vector<bool> strobes;        // of a write, for each byte
};

// The pins of one interface, all outputs being flops.
struct Pins {
  CData &awvalid, &awready, &awid, &awlen;
  Vnvdla::Address& awaddr;
  CData &wvalid, &wready, &wlast;
  Vnvdla::Beat& wdata;
  Vnvdla::Strobe& wstrb;
  CData &bvalid, &bready, &bid;
  CData &arvalid, &arready, &arid, &arlen;
  Vnvdla::Address& araddr;
  CData &rvalid, &rready, &rid, &rlast;
  Vnvdla::Beat& rdata;
};

#define PINS(top, name)                                                                            \
  Pins {                                                                                           \
    (top).name##_aw_awvalid, (top).name##_aw_awready, (top).name##_aw_awid, (top).name##_aw_awlen, \
        (top).name##_aw_awaddr, (top).name##_w_wvalid, (top).name##_w_wready,                      \
        (top).name##_w_wlast, (top).name##_w_wdata, (top).name##_w_wstrb, (top).name##_b_bvalid,   \
        (top).name##_b_bready, (top).name##_b_bid, (top).name##_ar_arvalid,                        \
        (top).name##_ar_arready, (top).name##_ar_arid, (top).name##_ar_arlen,                      \
        (top).name##_ar_araddr, (top).name##_r_rvalid, (top).name##_r_rready, (top).name##_r_rid,  \
        (top).name##_r_rlast, (top).name##_r_rdata                                                 \
  }

class Axi {
 public:
  Axi(Pins pins, std::mt19937& random) : pins_(pins), random_(random) { scatter(); }

  // Any values, as before a reset.
  void scatter() {
    for (CData* pin : {&pins_.awvalid, &pins_.wvalid, &pins_.arvalid, &pins_.bready, &pins_.rready,
                       &pins_.wlast})
      *pin = static_cast<CData>(random_() & 1);
    pins_.awid = pins_.arid = static_cast<CData>(random_());
    pins_.awaddr = pins_.araddr = static_cast<Vnvdla::Address>(random_());
  }

  void reset() {
    pins_.awvalid = pins_.wvalid = pins_.arvalid = pins_.bready = pins_.rready = 0;
    transfer_ = nullptr;
    bursts_.clear();
    unanswered_.clear();
    offered_ = false;
  }

  void begin(Transfer& transfer) {
    transfer_ = &transfer;
    next_ = done_ = sent_ = 0;
  }
  bool ended() const { return transfer_ == nullptr; }

  // A rising edge.
  void edge() {
    check_offer();
    if (pins_.arvalid && pins_.arready) {
      unanswered_.push_back(bursts_.front());
      bursts_.pop_front();
      pins_.arvalid = 0;
    }
    if (pins_.awvalid && pins_.awready) {
      unanswered_.push_back(bursts_.front());
      bursts_.pop_front();
      pins_.awvalid = 0;
    }
    if (pins_.wvalid && pins_.wready) {
      sent_ += kBeat;
      pins_.wvalid = 0;
    }
    if (pins_.rvalid && pins_.rready) take_beat();
    if (pins_.bvalid && pins_.bready) take_acknowledgement();
    if (transfer_ != nullptr && done_ == transfer_->bytes.size()) transfer_ = nullptr;
    offer();
  }

 private:
  struct Burst {
    CData id;
    std::size_t begin, beats;
  };

  // Checks that an offer stays as it is until it is taken.
  void check_offer() {
    if (offered_ && !pins_.rvalid) fail("a beat that was offered is gone");
    if (offered_ && std::memcmp(&held_, &pins_.rdata, kBeat) != 0) fail("a beat changed");
    offered_ = pins_.rvalid && !pins_.rready;
    held_ = pins_.rdata;
  }

  void take_beat() {
    require(!unanswered_.empty() && transfer_ && !transfer_->write, "a beat that nobody asked for");
    Burst& burst = unanswered_.front();
    require(pins_.rid == burst.id, "a beat of another burst");
    require((pins_.rlast != 0) == (burst.beats == 1), "the last beat is not the last");
    std::memcpy(transfer_->bytes.data() + burst.begin, &pins_.rdata, kBeat);
    burst.begin += kBeat;
    done_ += kBeat;
    if (--burst.beats == 0) unanswered_.pop_front();
  }

  void take_acknowledgement() {
    require(!unanswered_.empty() && transfer_ && transfer_->write, "nothing to acknowledge");
    const Burst& burst = unanswered_.front();
    require(pins_.bid == burst.id, "an acknowledgement of another burst");
    require(sent_ >= burst.begin + burst.beats * kBeat, "acknowledged before it was sent");
    done_ += burst.beats * kBeat;
    unanswered_.pop_front();
  }

  void offer() {
    pins_.rready = random_() % 8 != 0;
    pins_.bready = random_() % 8 != 0;
    if (transfer_ == nullptr) return;
    if (bursts_.empty() && next_ < transfer_->bytes.size() && unanswered_.size() < 8) {
      const std::size_t beats =
          std::min<std::size_t>((transfer_->bytes.size() - next_) / kBeat, 1 + random_() % 4);
      bursts_.push_back({static_cast<CData>(random_() % 16), next_, beats});
      next_ += beats * kBeat;
    }
    if (!bursts_.empty()) {
      const Burst& burst = bursts_.front();
      const auto address = static_cast<Vnvdla::Address>(transfer_->address + burst.begin);
      const auto length = static_cast<CData>(burst.beats - 1);
      if (transfer_->write) {
        pins_.awvalid = 1;
        pins_.awid = burst.id;
        pins_.awaddr = address;
        pins_.awlen = length;
      } else {
        pins_.arvalid = 1;
        pins_.arid = burst.id;
        pins_.araddr = address;
        pins_.arlen = length;
      }
    }
    // Beats go out with their request, or ahead of it.
    if (transfer_->write && !pins_.wvalid && sent_ < next_ && random_() % 4 != 0) offer_beat();
  }

  void offer_beat() {
    pins_.wvalid = 1;
    std::memcpy(&pins_.wdata, transfer_->bytes.data() + sent_, kBeat);
    std::uint64_t strobe = 0;
    for (std::size_t i = 0; i < kBeat; ++i)
      if (transfer_->strobes[sent_ + i]) strobe |= std::uint64_t{1} << i;
    pins_.wstrb = static_cast<Vnvdla::Strobe>(strobe);
    pins_.wlast = 0;
    for (const auto* list : {&unanswered_, &bursts_})
      for (const Burst& burst : *list)
        if (burst.begin + burst.beats * kBeat == sent_ + kBeat) pins_.wlast = 1;
  }

  Pins pins_;
  std::mt19937& random_;
  Transfer* transfer_ = nullptr;
  // Bytes of it that are in a burst, answered, and sent.
  std::size_t next_ = 0, done_ = 0, sent_ = 0;
  std::deque<Burst> bursts_, unanswered_;
  bool offered_ = false;
  Vnvdla::Beat held_{};
};

}  // namespace

// The model runs on a thread of its own and stands still while a transfer is on its way, as the
// clock has to pass meanwhile. One of the two threads runs at a time.
class Vnvdla::Core final : nvdla::model::Bus {
 public:
  Core(Vnvdla& top, VerilatedContext& context)
      : top_(top),
        random_(static_cast<unsigned>(context.randSeed())),
        device_(*nvdla_hw_find(NVDLA_STANDIN_CONFIGURATION), *this, {.posted_writes = false}),
        axis_{Axi(PINS(top, nvdla_core2dbb), random_)
#ifdef NVDLA_STANDIN_SRAM
                  ,
              Axi(PINS(top, nvdla_core2cvsram), random_)
#endif
        } {
    require(context.has_arguments(), "the logic asks for arguments, and there are none");
    require(context.randReset() == 2, "initial values are not random");
    for (std::uint32_t offset = 0; offset < NVDLA_REG_SPACE; offset += 4)
      device_.write(offset, static_cast<std::uint32_t>(random_()));
    scatter();
    thread_ = std::thread([this] { work(); });
  }
  ~Core() override {
    finish_step();
    stopping_ = true;
    go_.release();
    thread_.join();
  }

  void edge() {
    require(!top_.test_mode && top_.direct_reset_, "an input for tests is on");
    require(
        !(top_.nvdla_pwrbus_ram_a_pd | top_.nvdla_pwrbus_ram_c_pd | top_.nvdla_pwrbus_ram_ma_pd |
          top_.nvdla_pwrbus_ram_mb_pd | top_.nvdla_pwrbus_ram_o_pd | top_.nvdla_pwrbus_ram_p_pd),
        "a memory has no power");
    ++cycle_;
    if (!top_.dla_reset_rstn) return reset();
    if (!ready_) return scatter();
    registers();
    for (Axi& axi : axis_) axi.edge();
    advance();
    // Through synchronisers.
    line_.push_back(device_.interrupt());
    top_.dla_intr = line_.front();
    line_.pop_front();
  }

 private:
  struct Request {
    std::uint64_t due;
    std::uint32_t offset, value;
    bool write;
  };
  struct Answer {
    std::uint64_t due;
    std::uint32_t value;
  };

  void scatter() {
    top_.dla_intr = random_() & 1;
    top_.csb2nvdla_ready = random_() & 1;
    top_.nvdla2csb_valid = random_() & 1;
    top_.nvdla2csb_data = static_cast<IData>(random_());
    for (Axi& axi : axis_) axi.scatter();
  }

  void reset() {
    require(!top_.csb2nvdla_valid, "a request for a register in reset");
    finish_step();
    device_.reset();
    device_.step();
    requests_.clear();
    answers_.clear();
    waiting_ = false;
    line_.assign(kLineCycles, 0);
    top_.dla_intr = top_.csb2nvdla_ready = top_.nvdla2csb_valid = 0;
    for (Axi& axi : axis_) axi.reset();
    ready_ = true;
  }

  void registers() {
    const Request now = {cycle_ + kRequestCycles, top_.csb2nvdla_addr * 4u, top_.csb2nvdla_wdat,
                         top_.csb2nvdla_write != 0};
    if (waiting_) {
      require(top_.csb2nvdla_valid, "a request was taken back");
      require(now.offset == waited_.offset && now.write == waited_.write, "a request changed");
    }
    waiting_ = top_.csb2nvdla_valid && !top_.csb2nvdla_ready;
    waited_ = now;
    if (top_.csb2nvdla_valid && top_.csb2nvdla_ready) requests_.push_back(now);
    top_.csb2nvdla_ready = requests_.size() < kMaxRequests && random_() % 4 != 0;

    // A layer is one step of the model, and its registers wait for it.
    while (!busy_ && !requests_.empty() && requests_.front().due <= cycle_) {
      const Request request = requests_.front();
      requests_.pop_front();
      if (request.write)
        device_.write(request.offset, request.value);
      else
        answers_.push_back({cycle_ + kAnswerCycles, device_.read(request.offset)});
      moves_ = true;
    }
    top_.nvdla2csb_valid = 0;
    top_.nvdla2csb_data = static_cast<IData>(random_());
    if (!answers_.empty() && answers_.front().due <= cycle_) {
      top_.nvdla2csb_valid = 1;
      top_.nvdla2csb_data = answers_.front().value;
      answers_.pop_front();
    }
  }

  // Lets the model go on where it can.
  void advance() {
    if (busy_ && !axis_[axi_].ended()) return;
    if (!busy_) {
      if (!moves_) return;
      busy_ = true;
    }
    resume();
    if (busy_) axis_[axi_].begin(transfer_);
  }

  void resume() {
    go_.release();
    back_.acquire();
  }

  // Ends a step; transfers on their way read as zeros.
  void finish_step() {
    while (busy_) resume();
  }

  // The other thread.
  void work() {
    for (;;) {
      go_.acquire();
      if (stopping_) return;
      moves_ = device_.step();
      settle();
      busy_ = false;
      back_.release();
    }
  }

  void wait_for_transfer(Ram ram) {
    axi_ = axis_.size() > 1 && ram == Ram::kSecondary ? 1 : 0;
    back_.release();
    go_.acquire();
  }

  void place(std::uint64_t address, std::size_t size, bool write) {
    const std::uint64_t begin = address / kBeat * kBeat;
    const std::uint64_t end = (address + size + kBeat - 1) / kBeat * kBeat;
    transfer_.write = write;
    transfer_.address = begin;
    transfer_.bytes.assign(static_cast<std::size_t>(end - begin), 0);
    transfer_.strobes.assign(static_cast<std::size_t>(end - begin), false);
  }

  // Writes what the model has left in its part.
  void settle() noexcept {
    if (pending_ == 0) return;
    place(address_, pending_, true);
    const auto at = static_cast<std::size_t>(address_ - transfer_.address);
    std::memcpy(transfer_.bytes.data() + at, part_.data(), pending_);
    std::fill_n(transfer_.strobes.begin() + static_cast<std::ptrdiff_t>(at), pending_, true);
    pending_ = 0;
    wait_for_transfer(ram_);
  }

  nvdla::model::Mapping map(Ram ram, std::uint64_t address, std::uint64_t size,
                            bool write) noexcept override {
    settle();
    const std::size_t bytes = std::min<std::uint64_t>(size, part_.size());
    if (write) {
      ram_ = ram;
      address_ = address;
      pending_ = bytes;
      return {part_.data(), bytes};
    }
    place(address, bytes, false);
    wait_for_transfer(ram);
    std::memcpy(part_.data(), transfer_.bytes.data() + (address - transfer_.address), bytes);
    return {part_.data(), bytes};
  }
  std::uint64_t generation(Ram, std::uint64_t, std::uint64_t) const noexcept override { return 0; }
  void written(Ram, std::uint64_t, std::uint64_t) noexcept override {}

  Vnvdla& top_;
  std::mt19937 random_;
  nvdla::model::Device device_;
  std::vector<Axi> axis_;
  std::uint64_t cycle_ = 0;
  bool ready_ = false;  // there was a reset
  std::deque<Request> requests_;
  std::deque<Answer> answers_;
  bool waiting_ = false;  // a request was not taken yet
  Request waited_{};
  std::deque<CData> line_;

  std::thread thread_;
  std::binary_semaphore go_{0}, back_{0};
  bool stopping_ = false;
  bool busy_ = false;   // a step of the model has not ended
  bool moves_ = false;  // another step may do something
  Transfer transfer_;
  std::size_t axi_ = 0;

  std::array<std::byte, 4096> part_{};
  // The place in memory of the bytes of part_ that are to be written.
  Ram ram_ = Ram::kPrimary;
  std::uint64_t address_ = 0;
  std::size_t pending_ = 0;
};

Vnvdla::Vnvdla(VerilatedContext* context) : core_(std::make_unique<Core>(*this, *context)) {
  dla_core_clk = 1;
}

Vnvdla::~Vnvdla() = default;

void Vnvdla::eval() {
  // The clock of registers is the same.
  static CData before = 1;
  if (dla_core_clk && !before) core_->edge();
  before = dla_core_clk;
}
