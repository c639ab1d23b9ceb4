// SPDX-License-Identifier: MIT
//
/// @file
/// Several requests in turn, so that the device works on one while the application fills and reads
/// others. Two are double buffering:
///
/// @code
///   nvdla::RequestPool(compiled).run(
///       frames.size(),
///       [&](nvdla::Request& r, std::uint64_t i) { r.write("image", kNchw, frames[i]); },
///       [&](nvdla::Request& r, std::uint64_t i) { r.read("scores", kNchw, scores[i]); });
/// @endcode
///
/// An application that does not know the number of runs takes one request after another:
///
/// @code
///   nvdla::RequestPool pool(compiled, 3);
///   while (camera.more()) {
///     nvdla::Request& request = pool.next();
///     if (request.fence()) request.read("scores", kNchw, scores);  // of three frames ago
///     request.write("image", kNchw, camera.frame());
///     request.submit();
///   }
/// @endcode
#ifndef NVDLA_REQUEST_POOL_HPP
#define NVDLA_REQUEST_POOL_HPP

#include <cstdint>
#include <functional>
#include <memory>

#include "nvdla/compiled_network.hpp"
#include "nvdla/request.hpp"
#include "nvdla/types/export.hpp"

namespace nvdla {

/// Thread compatible, its requests are as safe as any. Every call but size(), which is 0 then,
/// throws kInvalidArgument on a pool that was moved from.
class NVDLA_API RequestPool {
 public:
  struct Impl;  ///< the library's own

  /// Throws kInvalidArgument for none, and what create_request() throws.
  explicit RequestPool(const CompiledNetwork& network, std::uint32_t requests = 2);
  RequestPool(RequestPool&&) noexcept;                  ///< Moves; the source is empty afterwards.
  RequestPool& operator=(RequestPool&&) noexcept;       ///< Moves; the source is empty afterwards.
  RequestPool(const RequestPool&) = delete;             ///< There is one owner.
  RequestPool& operator=(const RequestPool&) = delete;  ///< There is one owner.
  /// Runs that have not ended go on.
  ~RequestPool();

  std::uint32_t size() const noexcept;  ///< Returns the number of requests.
  /// Throws kInvalidArgument past the end.
  Request& at(std::uint32_t index);

  /// Returns the requests in turn: waits until the last run of this one has ended, well or not,
  /// which its read() tells.
  Request& next();
  /// Waits until no request runs any more, however they ended.
  void wait() const;

  /// Calls `fill` with a request for each of `count` runs, in order, submits it, and calls `take`
  /// in the same order when its run has ended well. What a run, `fill` or `take` throws ends it:
  /// runs that have not ended are canceled and waited for. Throws kBusy if a request runs already.
  using Step = std::function<void(Request& request, std::uint64_t index)>;
  /// Runs `count` times: `fill` prepares each run and `take` has its result, both in order.
  void run(std::uint64_t count, const Step& fill, const Step& take);

 private:
  Impl& impl() const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_REQUEST_POOL_HPP
