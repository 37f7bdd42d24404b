// Trigonometry and rounding, element by element: sin cos tan asin acos atan sinh cosh asinh acosh atanh atan2, floor
// ceil trunc round rint. tanh stands in pointwise/exp.hpp.
#pragma once
#include "tandem/base/scalar_math.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

/// The sine; NaN at infinity.
///   x         floating, in radians; any shape and device
///   returns   same shape, dtype and device as x
///   throws    errors::UnimplementedError if x is not floating
///   gradient  g * cos(x)
TANDEM_API Tensor sin(const Tensor& x, OpOptions = {});
/// The cosine; NaN at infinity. Dtypes and errors as sin. gradient: -g * sin(x)
TANDEM_API Tensor cos(const Tensor& x, OpOptions = {});
/// The tangent; NaN at infinity. Dtypes and errors as sin. gradient: g * (1 + y^2)
TANDEM_API Tensor tan(const Tensor& x, OpOptions = {});
/// The angle whose sine is x; NaN outside of [-1, 1]. Dtypes and errors as sin. gradient: g / sqrt(1 - x^2)
TANDEM_API Tensor asin(const Tensor& x, OpOptions = {});
/// The angle whose cosine is x; NaN outside of [-1, 1]. Dtypes and errors as sin. gradient: -g / sqrt(1 - x^2)
TANDEM_API Tensor acos(const Tensor& x, OpOptions = {});
/// The angle whose tangent is x. Dtypes and errors as sin. gradient: g / (1 + x^2)
TANDEM_API Tensor atan(const Tensor& x, OpOptions = {});
/// The hyperbolic sine. Dtypes and errors as sin. gradient: g * cosh(x)
TANDEM_API Tensor sinh(const Tensor& x, OpOptions = {});
/// The hyperbolic cosine. Dtypes and errors as sin. gradient: g * sinh(x)
TANDEM_API Tensor cosh(const Tensor& x, OpOptions = {});
/// The inverse of sinh. Dtypes and errors as sin. gradient: g / sqrt(x^2 + 1)
TANDEM_API Tensor asinh(const Tensor& x, OpOptions = {});
/// The inverse of cosh; NaN below 1. Dtypes and errors as sin. gradient: g / sqrt(x^2 - 1)
TANDEM_API Tensor acosh(const Tensor& x, OpOptions = {});
/// The inverse of tanh; infinite at -1 and 1, NaN outside. Dtypes and errors as sin. gradient: g / (1 - x^2)
TANDEM_API Tensor atanh(const Tensor& x, OpOptions = {});
/// The angle of the point (x, y) from the positive x axis, in (-pi, pi]; 0 at the origin, signed zeros honoured.
///   y, x      floating, one dtype; shapes that broadcast
///   gradient  g * x / (x^2 + y^2); -g * y / (x^2 + y^2); 0 at the origin
TANDEM_API Tensor atan2(const Tensor& y, const Tensor& x, OpOptions = {});
/// The largest whole number not above x. Real numbers, integers stay. gradient: none (blocked)
TANDEM_API Tensor floor(const Tensor& x, OpOptions = {});
/// The smallest whole number not below x. Otherwise as floor.
TANDEM_API Tensor ceil(const Tensor& x, OpOptions = {});
/// x without its fraction. Otherwise as floor.
TANDEM_API Tensor trunc(const Tensor& x, OpOptions = {});
/// The nearest whole number, halves to the even one. Otherwise as floor.
TANDEM_API Tensor round(const Tensor& x, OpOptions = {});
/// round by its C name.
inline Tensor rint(const Tensor& x, OpOptions o = {}) { return round(x, o); }
TANDEM_SCALAR_OVERLOADS(atan2)

extern TANDEM_API const OpDef sin_op, cos_op, tan_op, asin_op, acos_op, atan_op, sinh_op, cosh_op, asinh_op, acosh_op,
    atanh_op, atan2_op, floor_op, ceil_op, trunc_op, round_op;

namespace rules {

struct Sin {
  static constexpr auto info = unary("sin", floats, Saves::inputs);
  static constexpr const OpDef& row = sin_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return sin(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Cos {
  static constexpr auto info = unary("cos", floats, Saves::inputs);
  static constexpr const OpDef& row = cos_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return cos(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Tan {
  static constexpr auto info = unary("tan", floats, Saves::outputs);
  static constexpr const OpDef& row = tan_op;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return tan(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Asin {
  static constexpr auto info = unary("asin", floats, Saves::inputs);
  static constexpr const OpDef& row = asin_op;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return asin(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Acos {
  static constexpr auto info = unary("acos", floats, Saves::inputs);
  static constexpr const OpDef& row = acos_op;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return acos(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Atan {
  static constexpr auto info = unary("atan", floats, Saves::inputs);
  static constexpr const OpDef& row = atan_op;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return atan(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Sinh {
  static constexpr auto info = unary("sinh", floats, Saves::inputs);
  static constexpr const OpDef& row = sinh_op;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return sinh(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Cosh {
  static constexpr auto info = unary("cosh", floats, Saves::inputs);
  static constexpr const OpDef& row = cosh_op;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return cosh(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Asinh {
  static constexpr auto info = unary("asinh", floats, Saves::inputs);
  static constexpr const OpDef& row = asinh_op;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return asinh(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Acosh {
  static constexpr auto info = unary("acosh", floats, Saves::inputs);
  static constexpr const OpDef& row = acosh_op;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return acosh(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Atanh {
  static constexpr auto info = unary("atanh", floats, Saves::inputs);
  static constexpr const OpDef& row = atanh_op;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return atanh(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Atan2 {
  static constexpr auto info = binary("atan2", floats, Saves::inputs);
  static constexpr const OpDef& row = atan2_op;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD V forward(V y, V x) {
    return atan2(y, x);
  }
  static Grads gradient(const GradCall& c);
};

constexpr Info rounding(const char* name) {
  return {.name = name, .arity = 1, .dtypes = reals, .saves = Saves::nothing, .blocked = true};
}
struct Floor {
  static constexpr Info info = rounding("floor");
  static constexpr const OpDef& row = floor_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return floor(x);
  }
};
struct Ceil {
  static constexpr Info info = rounding("ceil");
  static constexpr const OpDef& row = ceil_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return ceil(x);
  }
};
struct Trunc {
  static constexpr Info info = rounding("trunc");
  static constexpr const OpDef& row = trunc_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return trunc(x);
  }
};
struct Round {
  static constexpr Info info = rounding("round");
  static constexpr const OpDef& row = round_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return round(x);
  }
};
using trigonometry =
    RuleList<Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh, Atan2, Floor, Ceil, Trunc, Round>;

}  // namespace rules
}  // namespace TANDEM_NS
