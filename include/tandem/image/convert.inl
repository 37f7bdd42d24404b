// Definitions of image/convert.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/image/convert.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::image {

namespace impl {
// The largest value is 2^bits - 1.
inline int value_bits(DType d) { return static_cast<int>(size_of(d)) * 8 - dtypes::signed_integer.has(d); }
inline double largest(DType d) { return static_cast<double>(u64(1) << (value_bits(d) - 1)) * 2. - 1; }
inline Tensor scaled_integers(const Tensor& x, DType to) {
  const int shift = value_bits(x.dtype()) - value_bits(to);
  if (shift >= 0) return saturate_cast(shift ? floordiv(x, i64(1) << shift) : x, to);
  return saturate_cast(x, to) * (i64(1) << -shift);
}
}  // namespace impl

TANDEM_INLINE Tensor convert_image_dtype(const Tensor& x, DType dtype, ConvertImageDtypeOptions o) {
  const tandem::detail::CallSite call(o, "convert_image_dtype");
  const DType from = x.dtype();
  const auto is_real = [](DType d) { return is_floating(d) || is_integer(d); };
  if (!is_real(from) || !is_real(dtype))
    errors::raise<errors::InvalidArgumentError>(
        "convert_image_dtype",
        std::string("both dtypes must be real numbers, not ") + name(from) + " and " + name(dtype));
  const OpOptions named{o.name, o.where};
  if (from == dtype) return identity(x, named);
  if (is_floating(from) && is_floating(dtype)) return cast(x, dtype, named);
  if (is_integer(from) && is_integer(dtype)) return identity(impl::scaled_integers(x, dtype), named);
  // Half precision has no room for the integers: float16 ends at 65504.
  const auto widened = [](DType d) { return dtypes::half_floating.has(d) ? DType::float32 : d; };
  if (is_floating(dtype)) return cast(cast(x, widened(dtype)) * (1 / impl::largest(from)), dtype, named);
  return saturate_cast(cast(x, widened(from)) * (impl::largest(dtype) + 0.5), dtype, named);
}

}  // namespace TANDEM_NS::image
