// The attributes of the quantization ops, shared by the ops and their kernels.
#pragma once
#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS {

struct FakeQuantAttrs {
  double low, high;  ///< the lowest and the highest code
  static constexpr auto fields = field_list(field("low", &FakeQuantAttrs::low), field("high", &FakeQuantAttrs::high));
};
struct QuantizeGridAttrs {
  double low, high;
  bool to_even;
  static constexpr auto fields =
      field_list(field("low", &QuantizeGridAttrs::low), field("high", &QuantizeGridAttrs::high),
                 field("to_even", &QuantizeGridAttrs::to_even));
};
struct QuantizeAttrs {
  DType dtype;  ///< of the result
  i64 low, high;
  bool scaled, to_even;
  static constexpr auto fields = field_list(
      field("dtype", &QuantizeAttrs::dtype), field("low", &QuantizeAttrs::low), field("high", &QuantizeAttrs::high),
      field("scaled", &QuantizeAttrs::scaled), field("to_even", &QuantizeAttrs::to_even));
};

}  // namespace TANDEM_NS
