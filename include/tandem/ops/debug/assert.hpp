// debugging::assert_*: checks of ranks, shapes, dtypes and values. What the specs tell is checked at once, also while a
// function is traced; the rest is an op, which in a traced function runs at every call, in program order, whether
// anything uses it or not. Not here: checks of single ops for NaN and infinity, test helpers.
#pragma once
#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/scalar.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/core/variable.hpp"

namespace TANDEM_NS {
namespace debugging {

struct AssertOptions {
  TANDEM_OP_OPTIONS;
  std::string message = {};  ///< stands first in the error's text
  i64 summarize = 3;         ///< the error shows so many values at both ends of each axis; -1: all
};
struct AssertNearOptions {
  TANDEM_OP_OPTIONS;
  std::string message = {};
  i64 summarize = 3;
  std::optional<double> rtol = {};  ///< relative to b; default: 10 times the dtype's epsilon
  std::optional<double> atol = {};  ///< absolute; default: as rtol
};

/// A side of a comparison: a tensor, a Variable, or a number that takes the other side's dtype.
class Compared {
 public:
  Compared(const Tensor& x) : tensor_(x) {}
  Compared(const Variable& v) : tensor_(v.read_value()) {}
  template <class T>
    requires std::is_arithmetic_v<T> Compared(T number) : number_(number) {}

    const Tensor* tensor() const { return number_ ? nullptr : &tensor_; }
    const Scalar& number() const { return *number_; }

   private:
    Tensor tensor_;
    std::optional<Scalar> number_;
};

/// A dim in assert_shapes: a number, a letter that stands for the same number wherever it occurs, "." or `none` for
/// any; as the first of a shape "*" (or "..."): any leading axes.
class DimRule {
 public:
  template <std::integral I>
  DimRule(I size) : text_(static_cast<i64>(size) == none ? "." : std::to_string(size)) {}
  DimRule(const char* symbol) : text_(symbol) {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};
/// A tensor and what its shape is to be: {x, {"N", 3}}; {x, {}} is a scalar.
struct ShapeRule {
  Tensor x;
  std::vector<DimRule> dims;
};

namespace impl {
enum class Relation { equal, not_equal, less, less_equal, greater, greater_equal };
TANDEM_API void rank_at_least(const Tensor& x, int rank, const AssertOptions& o);
TANDEM_API void rank_in(const char* check, const Tensor& x, std::span<const int> ranks, const AssertOptions& o);
TANDEM_API void shapes(std::initializer_list<ShapeRule> rules, const AssertOptions& o);
TANDEM_API void type(const Tensor& x, DType dtype, const AssertOptions& o);
TANDEM_API void integer(const Tensor& x, const AssertOptions& o);
TANDEM_API void same_float_dtype(std::initializer_list<Tensor> x, std::optional<DType> dtype, const AssertOptions& o);
TANDEM_API void compared(const char* check, Relation r, const Compared& a, const Compared& b, const AssertOptions& o);
TANDEM_API void sign(const char* check, Relation to_zero, const Tensor& x, const AssertOptions& o);
TANDEM_API void near(const Compared& a, const Compared& b, const AssertNearOptions& o);
TANDEM_API void all_finite(const Tensor& x, const AssertOptions& o);
TANDEM_API void that(const Tensor& condition, std::initializer_list<Tensor> data, const AssertOptions& o);
}  // namespace impl

// A file that defines TANDEM_NO_ASSERTS before its first include gets functions that do nothing, under names of their
// own: files with and without asserts go into one program. Arguments are computed all the same.
#ifdef TANDEM_NO_ASSERTS
inline namespace without_asserts {
inline constexpr bool enabled = false;
#else
inline namespace with_asserts {
inline constexpr bool enabled = true;
#endif

// All asserts throw errors::InvalidArgumentError, in their own name and with `.message`. None has a gradient.

/// x has so many axes. Known at once, in a trace too.
inline void assert_rank(const Tensor& x, int rank, const AssertOptions& o = {}) {
  if (enabled) impl::rank_in("assert_rank", x, {&rank, 1}, o);
}
/// x has so many axes or more.
inline void assert_rank_at_least(const Tensor& x, int rank, const AssertOptions& o = {}) {
  if (enabled) impl::rank_at_least(x, rank, o);
}
/// The number of x's axes is one of these.
inline void assert_rank_in(const Tensor& x, std::initializer_list<int> ranks, const AssertOptions& o = {}) {
  if (enabled) impl::rank_in("assert_rank_in", x, {ranks.begin(), ranks.size()}, o);
}
/// x has no axes.
inline void assert_scalar(const Tensor& x, const AssertOptions& o = {}) {
  const int rank = 0;
  if (enabled) impl::rank_in("assert_scalar", x, {&rank, 1}, o);
}
/// The shapes fit together: assert_shapes({{x, {"N", "Q"}}, {y, {"N", 3}}, {scale, {}}}). What a trace leaves open is
/// checked at each call.
inline void assert_shapes(std::initializer_list<ShapeRule> rules, const AssertOptions& o = {}) {
  if (enabled) impl::shapes(rules, o);
}
/// x has this dtype.
inline void assert_type(const Tensor& x, DType dtype, const AssertOptions& o = {}) {
  if (enabled) impl::type(x, dtype, o);
}
/// x has one of the integer dtypes (bool_ is none).
inline void assert_integer(const Tensor& x, const AssertOptions& o = {}) {
  if (enabled) impl::integer(x, o);
}
/// All have one floating dtype; returns it (float32 for none).
inline DType assert_same_float_dtype(std::initializer_list<Tensor> x, const AssertOptions& o = {}) {
  if (enabled) impl::same_float_dtype(x, {}, o);
  return x.size() ? x.begin()->dtype() : DType::float32;
}
/// All have this floating dtype; returns it.
inline DType assert_same_float_dtype(std::initializer_list<Tensor> x, DType dtype, const AssertOptions& o = {}) {
  if (enabled) impl::same_float_dtype(x, dtype, o);
  return dtype;
}

// The next ones compare element by element: one dtype, shapes that broadcast. Tensors without elements pass. The error
// has the first place that fails and its values.

/// a == b everywhere; NaN equals nothing. Numbers, bool_ and strings.
inline void assert_equal(const Compared& a, const Compared& b, const AssertOptions& o = {}) {
  if (enabled) impl::compared("assert_equal", impl::Relation::equal, a, b, o);
}
/// a != b everywhere. Numbers, bool_ and strings.
inline void assert_none_equal(const Compared& a, const Compared& b, const AssertOptions& o = {}) {
  if (enabled) impl::compared("assert_none_equal", impl::Relation::not_equal, a, b, o);
}
/// a < b everywhere; false with NaN, as are the next three. Real numbers.
inline void assert_less(const Compared& a, const Compared& b, const AssertOptions& o = {}) {
  if (enabled) impl::compared("assert_less", impl::Relation::less, a, b, o);
}
/// a <= b everywhere.
inline void assert_less_equal(const Compared& a, const Compared& b, const AssertOptions& o = {}) {
  if (enabled) impl::compared("assert_less_equal", impl::Relation::less_equal, a, b, o);
}
/// a > b everywhere.
inline void assert_greater(const Compared& a, const Compared& b, const AssertOptions& o = {}) {
  if (enabled) impl::compared("assert_greater", impl::Relation::greater, a, b, o);
}
/// a >= b everywhere.
inline void assert_greater_equal(const Compared& a, const Compared& b, const AssertOptions& o = {}) {
  if (enabled) impl::compared("assert_greater_equal", impl::Relation::greater_equal, a, b, o);
}
/// |a - b| <= atol + rtol |b|, or a == b (infinities), everywhere. Floating.
inline void assert_near(const Compared& a, const Compared& b, const AssertNearOptions& o = {}) {
  if (enabled) impl::near(a, b, o);
}
/// x > 0 everywhere; false with NaN, as are the next three. Real numbers.
inline void assert_positive(const Tensor& x, const AssertOptions& o = {}) {
  if (enabled) impl::sign("assert_positive", impl::Relation::greater, x, o);
}
/// x < 0 everywhere.
inline void assert_negative(const Tensor& x, const AssertOptions& o = {}) {
  if (enabled) impl::sign("assert_negative", impl::Relation::less, x, o);
}
/// x >= 0 everywhere.
inline void assert_non_negative(const Tensor& x, const AssertOptions& o = {}) {
  if (enabled) impl::sign("assert_non_negative", impl::Relation::greater_equal, x, o);
}
/// x <= 0 everywhere.
inline void assert_non_positive(const Tensor& x, const AssertOptions& o = {}) {
  if (enabled) impl::sign("assert_non_positive", impl::Relation::less_equal, x, o);
}
/// No element is NaN or infinite; returns x, whose gradient is passed through. Real numbers.
inline Tensor assert_all_finite(const Tensor& x, const AssertOptions& o = {}) {
  if (enabled) impl::all_finite(x, o);
  return x;
}
/// The condition, bool_ of any shape, is true everywhere; the error shows the data.
inline void Assert(const Tensor& condition, std::initializer_list<Tensor> data = {}, const AssertOptions& o = {}) {
  if (enabled) impl::that(condition, data, o);
}

}  // namespace with_asserts
}  // namespace debugging

extern TANDEM_API const OpDef assert_op, assert_shapes_op;
inline constexpr const OpDef* assert_ops[] = {&assert_op, &assert_shapes_op};

namespace rules {
/// Inputs: a condition, then data for the error's text.
struct AssertAttrs {
  std::string check, claim, message;  // "assert_less", "a < b"
  i64 summarize;
  bool element_wise;  // the data broadcast to the condition: the error names the first place
  static constexpr auto fields = field_list(
      field("check", &AssertAttrs::check), field("claim", &AssertAttrs::claim), field("message", &AssertAttrs::message),
      field("summarize", &AssertAttrs::summarize), field("element_wise", &AssertAttrs::element_wise));
};
/// Inputs: the shapes, one int64 vector each; rules: "N,Q;N,3;".
struct AssertShapesAttrs {
  std::string rules, message;
  static constexpr auto fields =
      field_list(field("rules", &AssertShapesAttrs::rules), field("message", &AssertShapesAttrs::message));
};
}  // namespace rules
}  // namespace TANDEM_NS
