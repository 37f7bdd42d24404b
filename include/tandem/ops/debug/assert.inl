// The asserts' conditions, their op and its error messages. Not here: assert_shapes.
#pragma once
#include <cstring>

#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/debug/raise_assert.hpp"
#include "tandem/ops/debug/summary.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {

namespace debugging::impl {

// Whether shape x broadcasts to the shape `to`.
inline bool broadcasts_to(const Shape& x, const Shape& to) {
  if (x.rank() > to.rank()) return false;
  for (int d = 1; d <= x.rank(); ++d) {
    const i64 n = x.dim(x.rank() - d), m = to.dim(to.rank() - d);
    if (n != m && n != 1 && n != none && m != none) return false;
  }
  return true;
}
TANDEM_INLINE Specs infer_assert(const InferCall& c) {
  const auto& a = c.get<rules::AssertAttrs>();
  check_summarize(c.op.name, a.summarize);
  for (std::size_t i = 1; a.element_wise && i < c.in.size(); ++i)
    if (!broadcasts_to(c.spec(i).shape, c.spec(0).shape))
      detail::raise_specs(c, "the data does not broadcast to the condition");
  return {};
}

// The index of the element of a broadcast operand that corresponds to element `flat` of the broadcast shape.
inline i64 meeting_element(const Shape& whole, i64 flat, const Shape& own) {
  i64 at = 0, stride = 1;
  for (int d = 1; d <= own.rank(); ++d) {
    const i64 n = whole.dim(whole.rank() - d), m = own.dim(own.rank() - d);
    at += (m == 1 ? 0 : flat % n) * stride;
    flat /= n;
    stride *= m;
  }
  return at;
}
// "a < b does not hold at [0,2], the first of 2 failures among 6: 3.0 against 1.0", followed by all data,
// shortened.
TANDEM_INLINE std::string failure_text(const KernelCall& c, const rules::AssertAttrs& a, i64 first) {
  const Operand& condition = c.in[0];
  const bool* ok = condition.as<const bool>();
  const i64 n = condition.size();
  i64 failing = 0;
  for (i64 i = first; i < n; ++i) failing += !ok[i];
  std::string s = a.claim + " does not hold";
  if (condition.shape().rank() > 0) s += " at " + index_to_string(condition.shape(), first);
  if (n > 1) s += ", the first of " + std::to_string(failing) + " failures among " + std::to_string(n);
  for (std::size_t i = 1; a.element_wise && i < c.in.size(); ++i)
    s += (i == 1 ? ": " : " against ") +
         element_to_string(c.in[i], meeting_element(condition.shape(), first, c.in[i].shape()));
  for (std::size_t i = 1; i < c.in.size(); ++i)
    if (!a.element_wise || c.in[i].size() > 1)
      s += "\n" + to_string(*c.in[i].spec) + " " + summary(c.in[i], a.summarize);
  return s;
}
TANDEM_INLINE void assert_kernel(const KernelCall& c) {
  const bool* ok = c.in[0].as<const bool>();
  const i64 n = c.in[0].size();
  const void* failing = n ? std::memchr(ok, 0, static_cast<std::size_t>(n)) : nullptr;
  if (!failing) return;
  const auto& a = c.attrs.get<rules::AssertAttrs>();
  raise_assert(a.check.c_str(), a.message, failure_text(c, a, static_cast<const bool*>(failing) - ok));
}

struct Claim {
  const char* check;
  std::string text;
  bool element_wise = true;
};
template <class Options>
void require(const Claim& claim, const Tensor& condition, std::initializer_list<const Tensor*> data, const Options& o) {
  const tandem::detail::ShapeChecks lenient(false);
  // If values can be read, only one byte is copied from another device; the data is copied only for an error
  // message.
  if (condition.device().kind != Device::cpu && !context.stager && reduce_all(condition).template item<bool>()) return;
  InlinedVector<const Tensor*, 8> in(&condition);
  for (const Tensor* t : data) in.push_back(t);
  apply(assert_op, {in.begin(), in.size()},
        rules::AssertAttrs{claim.check, claim.text, o.message, o.summarize, claim.element_wise}, {o.name, o.where});
}

// Converts both operands to tensors of one dtype with shapes that broadcast. Checked here so that errors contain the
// check's name and message.
struct Sides {
  Tensor a, b;

  template <class Options>
  Sides(const char* check, const Compared& x, const Compared& y, const Options& o) {
    if (!x.tensor() && !y.tensor()) raise_assert(check, o, "both operands are numbers; one must be a tensor");
    a = x.tensor() ? *x.tensor() : tandem::detail::scalar_like(x.number(), *y.tensor());
    b = y.tensor() ? *y.tensor() : tandem::detail::scalar_like(y.number(), *x.tensor());
    const bool wider = a.rank() >= b.rank();
    if (a.dtype() != b.dtype() || !meet(wider ? a.shape() : b.shape(), wider ? b.shape() : a.shape()))
      raise_assert(check, o,
                   std::string(a.dtype() != b.dtype() ? "dtypes differ: " : "shapes do not broadcast: ") +
                       to_string(a.spec()) + " and " + to_string(b.spec()));
  }
  static bool meet(const Shape& wide, const Shape& narrow) {
    for (int d = 1; d <= narrow.rank(); ++d)
      if (wide.dim(wide.rank() - d) != 1 &&
          !broadcasts_to({narrow.dim(narrow.rank() - d)}, {wide.dim(wide.rank() - d)}))
        return false;
    return true;
  }
};

inline const char* sign_of(Relation r) {
  constexpr const char* signs[] = {" == ", " != ", " < ", " <= ", " > ", " >= "};
  return signs[static_cast<int>(r)];
}
TANDEM_INLINE Tensor related(Relation r, const Tensor& a, const Tensor& b, const OpOptions& o) {
  switch (r) {
    case Relation::equal: return equal(a, b, o);
    case Relation::not_equal: return not_equal(a, b, o);
    case Relation::less: return less(a, b, o);
    case Relation::less_equal: return less_equal(a, b, o);
    case Relation::greater: return greater(a, b, o);
    case Relation::greater_equal: break;
  }
  return greater_equal(a, b, o);
}
inline double epsilon_of(DType d) {
  return d == DType::float64 ? 0x1p-52 : d == DType::float16 ? 0x1p-10 : d == DType::bfloat16 ? 0x1p-7 : 0x1p-23;
}

}  // namespace debugging::impl

TANDEM_INLINE constexpr OpDef assert_op{.name = "assert",
                                        .input_names = "condition, data...",
                                        .infer = &debugging::impl::infer_assert,
                                        .cpu = &debugging::impl::assert_kernel,
                                        .dtypes = dtypes::boolean,
                                        .inputs = at_least(1),
                                        .outputs = 0,
                                        .saves = Saves::nothing,
                                        .host_inputs = 0xffff,
                                        .flags = {.stateful = true, .non_differentiable = true},
                                        .attrs = &detail::attr_type<rules::AssertAttrs>};

namespace debugging::impl {

TANDEM_INLINE void rank_in(const char* check, const Tensor& x, Span<const int> ranks, const AssertOptions& o) {
  std::string wanted;
  for (const int r : ranks) {
    if (r == x.rank()) return;
    wanted += (wanted.empty() ? "" : " or ") + std::to_string(r);
  }
  raise_assert(check, o,
               to_string(x.spec()) + " has rank " + std::to_string(x.rank()) + " and shape " + to_string(x.shape()) +
                   "; expected rank " + wanted);
}
TANDEM_INLINE void rank_at_least(const Tensor& x, int rank, const AssertOptions& o) {
  if (x.rank() < rank)
    raise_assert("assert_rank_at_least", o,
                 to_string(x.spec()) + " has rank " + std::to_string(x.rank()) + " and shape " + to_string(x.shape()) +
                     "; expected rank " + std::to_string(rank) + " or more");
}
TANDEM_INLINE void type(const Tensor& x, DType dtype, const AssertOptions& o) {
  if (x.dtype() != dtype)
    raise_assert("assert_type", o, to_string(x.spec()) + " is not of dtype " + tandem::name(dtype));
}
TANDEM_INLINE void integer(const Tensor& x, const AssertOptions& o) {
  if (!is_integer(x.dtype()))
    raise_assert("assert_integer", o, to_string(x.spec()) + " does not have an integer dtype");
}
TANDEM_INLINE void same_float_dtype(std::initializer_list<Tensor> x, std::optional<DType> dtype,
                                    const AssertOptions& o) {
  const DType want = dtype ? *dtype : x.size() ? x.begin()->dtype() : DType::float32;
  if (!is_floating(want))
    raise_assert("assert_same_float_dtype", o, std::string(tandem::name(want)) + " is not a floating dtype");
  for (const Tensor& t : x)
    if (t.dtype() != want)
      raise_assert("assert_same_float_dtype", o, to_string(t.spec()) + " is not of dtype " + tandem::name(want));
}

TANDEM_INLINE void compared(const char* check, Relation r, const Compared& a, const Compared& b,
                            const AssertOptions& o) {
  const Sides sides(check, a, b, o);
  const tandem::detail::ShapeChecks lenient(false);
  require({check, std::string("a") + sign_of(r) + "b"}, related(r, sides.a, sides.b, {o.name, o.where}),
          {&sides.a, &sides.b}, o);
}
TANDEM_INLINE void sign(const char* check, Relation to_zero, const Tensor& x, const AssertOptions& o) {
  require({check, std::string("x") + sign_of(to_zero) + "0"},
          related(to_zero, x, tandem::detail::scalar_like(0, x), {o.name, o.where}), {&x}, o);
}
TANDEM_INLINE void near(const Compared& a, const Compared& b, const AssertNearOptions& o) {
  const Sides sides("assert_near", a, b, o);
  const tandem::detail::ShapeChecks lenient(false);
  const Tensor &x = sides.a, &y = sides.b;
  if (!is_floating(x.dtype()))
    raise_assert("assert_near", o, to_string(x.spec()) + " is not floating (see assert_equal)");
  const double usual = 10 * epsilon_of(x.dtype()), rtol = o.rtol.value_or(usual), atol = o.atol.value_or(usual);
  if (!(rtol >= 0 && atol >= 0)) raise_assert("assert_near", o, ".rtol and .atol must not be negative");
  const Tensor close = less_equal(abs(x - y), atol + rtol * abs(y), {o.name, o.where});
  require({"assert_near", "|a - b| <= " + tandem::detail::rounded_text(atol, 3) + " + " +
                              tandem::detail::rounded_text(rtol, 3) + " |b|"},
          logical_or(close, equal(x, y)), {&x, &y}, o);
}
TANDEM_INLINE void all_finite(const Tensor& x, const AssertOptions& o) {
  require({"assert_all_finite", "x is finite"}, is_finite(x, {o.name, o.where}), {&x}, o);
}
TANDEM_INLINE void that(const Tensor& condition, std::initializer_list<Tensor> data, const AssertOptions& o) {
  InlinedVector<const Tensor*, 8> in(&condition);
  for (const Tensor& t : data) in.push_back(&t);
  apply(assert_op, {in.begin(), in.size()},
        rules::AssertAttrs{"assert", "the condition", o.message, o.summarize, false}, {o.name, o.where});
}

}  // namespace debugging::impl
}  // namespace TANDEM_NS
