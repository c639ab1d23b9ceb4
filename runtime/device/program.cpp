// SPDX-License-Identifier: MIT
#include "nvdla/program.hpp"

#include <utility>

#include "backend/backend.hpp"

namespace nvdla {

Program::Program() noexcept = default;
Program::Program(std::shared_ptr<const detail::ProgramImpl> impl) noexcept
    : impl_(std::move(impl)) {}
Program::Program(const Program&) noexcept = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(const Program&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

std::uint32_t Program::layers() const noexcept { return impl_ == nullptr ? 0 : impl_->layers(); }
std::uint32_t Program::slots() const noexcept { return impl_ == nullptr ? 0 : impl_->slots(); }
bool Program::statistics() const noexcept { return impl_ != nullptr && impl_->statistics(); }

std::uint64_t Program::cycles(std::uint32_t layer) const noexcept {
  return impl_ == nullptr ? 0 : impl_->cycles(layer);
}

}  // namespace nvdla
