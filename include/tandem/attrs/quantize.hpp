// The attributes of the quantization ops, shared by the ops and their kernels.
#pragma once
#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS::rules {

struct FakeQuantAttrs {
  double low, high;  ///< the lowest and the highest code
  TANDEM_ATTRS(FakeQuantAttrs, low, high);
};
struct QuantizeGridAttrs {
  double low, high;
  bool to_even;
  TANDEM_ATTRS(QuantizeGridAttrs, low, high, to_even);
};
struct QuantizeAttrs {
  DType dtype;  ///< of the result
  i64 low, high;
  bool scaled, to_even;
  TANDEM_ATTRS(QuantizeAttrs, dtype, low, high, scaled, to_even);
};

}  // namespace TANDEM_NS::rules
