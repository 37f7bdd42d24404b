// Definitions of data/fingerprint.hpp.
#pragma once
#include "tandem/data/fingerprint.hpp"
#include "tandem/ops/create/outside_trace.hpp"

namespace TANDEM_NS::data {

TANDEM_INLINE u64 fingerprint(const Tensor& elements, u64 before) {
  tandem::detail::check_value("fingerprint", elements);
  if (elements.dtype() == DType::string)
    errors::raise<errors::InvalidArgumentError>("fingerprint", "the elements are texts; hash each of them");
  const tandem::detail::OutsideTrace outside;
  const Tensor on_host = elements.cpu();
  const std::size_t bytes = static_cast<std::size_t>(on_host.size()) * size_of(on_host.dtype());
  return fingerprint(std::string_view(static_cast<const char*>(on_host.raw()), bytes), before);
}

}  // namespace TANDEM_NS::data
