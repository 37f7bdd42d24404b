// Definitions of layers/sequential.hpp.
#pragma once
#include "tandem/layers/sequential.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE Sequential::Sequential(const Sequential& other) : Layer(other) {
  for (const Ref<Element>& e : other.elements_) elements_.push_back(e->copy());
}
TANDEM_INLINE Tensor Sequential::operator()(const Tensor& x) const {
  SequenceMask mask;
  return call_with_mask(x, mask);
}
TANDEM_INLINE Tensor Sequential::call_with_mask(const Tensor& x, SequenceMask& mask) const {
  const InCall here(*this);
  Tensor y = mask.finite("Sequential", x);
  if (is_built()) {
    for (const Ref<Element>& e : elements_) y = e->call(y, mask);
    return y;
  }
  std::vector<Shape> shapes;
  for (const Ref<Element>& e : elements_) {
    y = e->call(y, mask);
    shapes.push_back(y.shape());
  }
  build_once([&] {
    for (std::size_t i = 0; i < shapes.size(); ++i) note_output(elements_[i]->module(), shapes[i]);
    if (!shapes.empty()) note_output(*this, shapes.back());
  });
  return y;
}
TANDEM_INLINE void Sequential::reset_states() const {
  for (const Ref<Element>& e : elements_) e->reset_states();
}
TANDEM_INLINE void Sequential::build(const Shape& input, DType dtype) const {
  const tandem::detail::DryRun shapes_only;
  (*this)(Tensor::symbol({input, dtype, current_device()}));
}

}  // namespace TANDEM_NS::layers
