// The attributes of the creation ops, shared by the ops and their kernels.
// Not here: public functions (fill.hpp, range.hpp).
#pragma once
#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS {

struct FullLikeAttrs {
  double real;
  i64 whole;
  DType dtype;
  static constexpr auto fields = field_list(field("real", &FullLikeAttrs::real), field("whole", &FullLikeAttrs::whole),
                                            field("dtype", &FullLikeAttrs::dtype));
};
struct SequenceMaskAttrs {
  DType dtype;
  static constexpr auto fields = field_list(field("dtype", &SequenceMaskAttrs::dtype));
};

}  // namespace TANDEM_NS
