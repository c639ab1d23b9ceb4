// SPDX-License-Identifier: MIT
#include "backend/registers/mmio/attachment.hpp"

namespace nvdla::detail {

std::unique_ptr<Attachment> attach(const System& system, const std::string& name,
                                   const MmioName& place) {
  switch (place.form) {
    case MmioName::Form::kUio:
      return attach_uio(system, name, place);
    case MmioName::Form::kPhysical:
      return attach_physical(system, name, place.address);
    case MmioName::Form::kPci:
      break;
  }
  return attach_pci(system, name, place.place, place.poll);
}

}  // namespace nvdla::detail
