// Definitions of data/dataset/to_device.hpp.
#pragma once
#include "tandem/core/backend.hpp"
#include "tandem/data/dataset/to_device.hpp"

namespace TANDEM_NS::data::detail {

TANDEM_INLINE Tensor on_device(const Tensor& t, Device device) { return t.dtype() == DType::string ? t : t.to(device); }

TANDEM_INLINE std::vector<Ref<Upload>> Uploader::start(const std::vector<Tensor*>& tensors) {
  if (!is_open_ && device_.kind != Device::cpu) {
    const Backend& backend = backend_of(device_);  // raises where the device is not there, for each element
    const i64 blocks = saturating_multiply(elements_, std::ssize(tensors));
    if (backend.uploads) uploads_ = backend.uploads(device_.index, static_cast<std::size_t>(blocks));
  }
  is_open_ = true;
  std::vector<Ref<Upload>> r;
  for (Tensor* const t : tensors) {
    if (!uploads_ || t->dtype() == DType::string || t->device().kind != Device::cpu) {
      *t = on_device(*t, device_);
      continue;
    }
    Spec spec = t->spec();
    spec.device = device_;
    r.push_back(uploads_->start(t->raw(), spec.bytes()));
    *t = Tensor::borrow(r.back()->data(), spec, Ref<Opaque>(r.back().get()));
  }
  return r;
}

}  // namespace TANDEM_NS::data::detail
