// debugging::assert_*: checks of ranks, shapes, dtypes and values. Properties known from the specs are checked
// immediately, also while a function is traced. The others are ops: in a traced function they run at every call, in
// program order, whether or not their results are used.
// Not here: checks of single ops for NaN and infinity, test helpers.
#pragma once
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "tandem/base/scalar.hpp"
#include "tandem/base/span.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/core/variable.hpp"

namespace TANDEM_NS {
namespace debugging {

struct AssertOptions {
  TANDEM_OP_OPTIONS;
  std::string message = {};  ///< the error message starts with it
  i64 summarize = 3;         ///< number of values shown in errors at both ends of each axis; -1: all
};
struct AssertNearOptions {
  TANDEM_OP_OPTIONS;
  std::string message = {};
  i64 summarize = 3;
  std::optional<double> rtol = {};  ///< relative to b; default: 10 times the dtype's epsilon
  std::optional<double> atol = {};  ///< absolute; default: as rtol
};

/// An operand of a comparison: a tensor, a Variable, or a number, which is converted to the other operand's dtype.
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

/// A dimension in assert_shapes: a number; a symbol, which means the same size wherever it occurs; or "." or `none`
/// for any size. As the first dimension of a shape, "*" or "..." matches any leading axes.
class DimRule {
 public:
  template <std::integral I>
  DimRule(I size) : text_(static_cast<i64>(size) == none ? "." : std::to_string(size)) {}
  DimRule(const char* symbol) : text_(symbol) {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};
/// A tensor and its expected shape: {x, {"N", 3}}; {x, {}} is a scalar.
struct ShapeRule {
  Tensor x;
  std::vector<DimRule> dims;
};

namespace impl {
enum class Relation { equal, not_equal, less, less_equal, greater, greater_equal };
TANDEM_API void rank_at_least(const Tensor& x, int rank, const AssertOptions& o);
TANDEM_API void rank_in(const char* check, const Tensor& x, Span<const int> ranks, const AssertOptions& o);
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

// A file that defines TANDEM_NO_ASSERTS before its first include gets functions that do nothing, in a different
// namespace, so files with and without asserts can be linked into one program. Arguments are evaluated in both
// cases.
#ifdef TANDEM_NO_ASSERTS
inline namespace without_asserts {
inline constexpr bool enabled = false;
#else
inline namespace with_asserts {
inline constexpr bool enabled = true;
#endif

// All asserts throw errors::InvalidArgumentError with their own name and `.message`. None has a gradient.

/// Checks that x has the given rank. The check runs immediately, also in a trace.
inline void assert_rank(const Tensor& x, int rank, const AssertOptions& o = {}) {
  if (enabled) impl::rank_in("assert_rank", x, {&rank, 1}, o);
}
/// Checks that x has at least the given rank.
inline void assert_rank_at_least(const Tensor& x, int rank, const AssertOptions& o = {}) {
  if (enabled) impl::rank_at_least(x, rank, o);
}
/// Checks that the rank of x is one of the given ranks.
inline void assert_rank_in(const Tensor& x, std::initializer_list<int> ranks, const AssertOptions& o = {}) {
  if (enabled) impl::rank_in("assert_rank_in", x, {ranks.begin(), ranks.size()}, o);
}
/// Checks that x is a scalar (rank 0).
inline void assert_scalar(const Tensor& x, const AssertOptions& o = {}) {
  const int rank = 0;
  if (enabled) impl::rank_in("assert_scalar", x, {&rank, 1}, o);
}
/// Checks shapes against each other: assert_shapes({{x, {"N", "Q"}}, {y, {"N", 3}}, {scale, {}}}). Dimensions that
/// are unknown in a trace are checked at each call.
inline void assert_shapes(std::initializer_list<ShapeRule> rules, const AssertOptions& o = {}) {
  if (enabled) impl::shapes(rules, o);
}
/// Checks that x has the given dtype.
inline void assert_type(const Tensor& x, DType dtype, const AssertOptions& o = {}) {
  if (enabled) impl::type(x, dtype, o);
}
/// Checks that x has an integer dtype (bool_ is not one).
inline void assert_integer(const Tensor& x, const AssertOptions& o = {}) {
  if (enabled) impl::integer(x, o);
}
/// Checks that all tensors have the same floating dtype, and returns it (float32 for an empty list).
inline DType assert_same_float_dtype(std::initializer_list<Tensor> x, const AssertOptions& o = {}) {
  if (enabled) impl::same_float_dtype(x, {}, o);
  return x.size() ? x.begin()->dtype() : DType::float32;
}
/// Checks that all tensors have the given floating dtype, and returns it.
inline DType assert_same_float_dtype(std::initializer_list<Tensor> x, DType dtype, const AssertOptions& o = {}) {
  if (enabled) impl::same_float_dtype(x, dtype, o);
  return dtype;
}

// The following asserts compare element by element. Operands must have one dtype and shapes that broadcast. Empty
// tensors pass. The error names the first position that fails and its values.

/// Checks that a == b for all elements. NaN equals nothing. Numbers, bool_ and strings.
inline void assert_equal(const Compared& a, const Compared& b, const AssertOptions& o = {}) {
  if (enabled) impl::compared("assert_equal", impl::Relation::equal, a, b, o);
}
/// Checks that a != b for all elements. Numbers, bool_ and strings.
inline void assert_none_equal(const Compared& a, const Compared& b, const AssertOptions& o = {}) {
  if (enabled) impl::compared("assert_none_equal", impl::Relation::not_equal, a, b, o);
}
/// Checks that a < b for all elements. Fails for NaN. Real numbers.
inline void assert_less(const Compared& a, const Compared& b, const AssertOptions& o = {}) {
  if (enabled) impl::compared("assert_less", impl::Relation::less, a, b, o);
}
/// Checks that a <= b for all elements. Fails for NaN. Real numbers.
inline void assert_less_equal(const Compared& a, const Compared& b, const AssertOptions& o = {}) {
  if (enabled) impl::compared("assert_less_equal", impl::Relation::less_equal, a, b, o);
}
/// Checks that a > b for all elements. Fails for NaN. Real numbers.
inline void assert_greater(const Compared& a, const Compared& b, const AssertOptions& o = {}) {
  if (enabled) impl::compared("assert_greater", impl::Relation::greater, a, b, o);
}
/// Checks that a >= b for all elements. Fails for NaN. Real numbers.
inline void assert_greater_equal(const Compared& a, const Compared& b, const AssertOptions& o = {}) {
  if (enabled) impl::compared("assert_greater_equal", impl::Relation::greater_equal, a, b, o);
}
/// Checks that |a - b| <= atol + rtol |b|, or a == b (for infinities), for all elements. Floating.
inline void assert_near(const Compared& a, const Compared& b, const AssertNearOptions& o = {}) {
  if (enabled) impl::near(a, b, o);
}
/// Checks that x > 0 for all elements. Fails for NaN. Real numbers.
inline void assert_positive(const Tensor& x, const AssertOptions& o = {}) {
  if (enabled) impl::sign("assert_positive", impl::Relation::greater, x, o);
}
/// Checks that x < 0 for all elements. Fails for NaN. Real numbers.
inline void assert_negative(const Tensor& x, const AssertOptions& o = {}) {
  if (enabled) impl::sign("assert_negative", impl::Relation::less, x, o);
}
/// Checks that x >= 0 for all elements. Fails for NaN. Real numbers.
inline void assert_non_negative(const Tensor& x, const AssertOptions& o = {}) {
  if (enabled) impl::sign("assert_non_negative", impl::Relation::greater_equal, x, o);
}
/// Checks that x <= 0 for all elements. Fails for NaN. Real numbers.
inline void assert_non_positive(const Tensor& x, const AssertOptions& o = {}) {
  if (enabled) impl::sign("assert_non_positive", impl::Relation::less_equal, x, o);
}
/// Checks that no element of x is NaN or infinite. Returns x; gradients pass through. Real numbers.
inline Tensor assert_all_finite(const Tensor& x, const AssertOptions& o = {}) {
  if (enabled) impl::all_finite(x, o);
  return x;
}
/// Checks that the condition, bool_ of any shape, is true for all elements. The error shows the data.
inline void Assert(const Tensor& condition, std::initializer_list<Tensor> data = {}, const AssertOptions& o = {}) {
  if (enabled) impl::that(condition, data, o);
}

}  // namespace with_asserts
}  // namespace debugging

TANDEM_OPS(assert_ops, assert, assert_shapes)

namespace rules {
/// Inputs: a condition, then the data shown in the error message.
struct AssertAttrs {
  std::string check, claim, message;  // "assert_less", "a < b"
  i64 summarize;
  bool element_wise;  // the data broadcast to the condition, and the error names the first failing position
  TANDEM_ATTRS(AssertAttrs, check, claim, message, summarize, element_wise);
};
/// Inputs: the shapes, one int64 vector each. rules: "N,Q;N,3;".
struct AssertShapesAttrs {
  std::string rules, message;
  TANDEM_ATTRS(AssertShapesAttrs, rules, message);
};
}  // namespace rules
}  // namespace TANDEM_NS
