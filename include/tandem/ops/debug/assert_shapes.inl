// assert_shapes: one checker for shapes known immediately and for shapes known only at run time.
#pragma once
#include <string_view>

#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/debug/raise_assert.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

namespace debugging::impl {

inline std::vector<std::string_view> split_at(std::string_view s, char c) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = s.find(c)) != s.npos; s.remove_prefix(end + 1)) parts.push_back(s.substr(0, end));
  parts.push_back(s);
  return parts;
}
inline bool is_number(std::string_view s) { return s.find_first_not_of("-0123456789") == s.npos; }

// Checks shapes against rules such as "N,Q;N,3;". Unknown dimensions match anything.
class ShapeChecker {
 public:
  // Describes the first mismatch; empty if there is none.
  std::string problem(std::string_view rules, Span<const Shape> shapes) {
    const std::vector<std::string_view> parts = split_at(rules, ';');
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (std::string s = misfit(parts[i], i, shapes[i]); !s.empty()) return s;
    return {};
  }

 private:
  struct Bound {
    std::string_view symbol;
    i64 size;
    std::string place;
  };

  std::string misfit(std::string_view rule, std::size_t which, const Shape& shape) {
    std::vector<std::string_view> dims;
    if (!rule.empty()) dims = split_at(rule, ',');
    const bool leading = !dims.empty() && (dims[0] == "*" || dims[0] == "...");
    if (leading) dims.erase(dims.begin());
    const int n = static_cast<int>(dims.size());
    const std::string name = "shape " + std::to_string(which) + ", " + to_string(shape) + ", ";
    if (leading ? shape.rank() < n : shape.rank() != n)
      return name + "does not fit [" + std::string(rule) + "]: it has rank " + std::to_string(shape.rank());
    for (int k = 0; k < n; ++k) {
      const int axis = shape.rank() - n + k;
      const std::string why = conflict(dims[static_cast<std::size_t>(k)], shape.dim(axis),
                                       "axis " + std::to_string(axis) + " of shape " + std::to_string(which));
      if (!why.empty()) return name + "does not fit [" + std::string(rule) + "]: " + why;
    }
    return {};
  }
  std::string conflict(std::string_view rule, i64 size, const std::string& place) {
    if (rule == "." || size == none) return {};
    const std::string is = place + " is " + std::to_string(size);
    if (is_number(rule)) return rule == std::to_string(size) ? "" : is + ", not " + std::string(rule);
    for (const Bound& b : bound_)
      if (b.symbol == rule)
        return b.size == size
                   ? ""
                   : is + ", but " + std::string(rule) + " is " + std::to_string(b.size) + " (" + b.place + ")";
    bound_.push_back({rule, size, place});
    return {};
  }

  LeanVector<Bound> bound_;
};

TANDEM_INLINE Specs infer_assert_shapes(const InferCall& c) {
  for (std::size_t i = 0; i < c.in.size(); ++i)
    if (const Spec& s = c.spec(i); s.dtype != DType::int64 || s.shape.rank() != 1 || s.shape.dim(0) > max_rank)
      detail::raise_specs(c, "shapes are int64 vectors of at most 8 sizes");
  if (split_at(c.get<rules::AssertShapesAttrs>().rules, ';').size() != c.in.size())
    detail::raise_specs(c, "the number of shapes does not match the rules " + c.get<rules::AssertShapesAttrs>().rules);
  return {};
}
TANDEM_INLINE void assert_shapes_kernel(const KernelCall& c) {
  std::vector<Shape> shapes;
  for (const Operand& x : c.in) shapes.emplace_back(Span(x.as<const i64>(), static_cast<std::size_t>(x.size())));
  const auto& a = c.attrs.get<rules::AssertShapesAttrs>();
  if (const std::string problem = ShapeChecker().problem(a.rules, shapes); !problem.empty())
    raise_assert("assert_shapes", a.message, problem);
}

inline void append_rule(std::string& rules, const std::vector<DimRule>& dims, const AssertOptions& o) {
  for (const DimRule& d : dims) {
    const std::string& text = d.text();
    const bool first = &d == dims.data();
    if (text.empty() || text.find_first_of(",;") != text.npos || (!first && (text == "*" || text == "...")))
      raise_assert("assert_shapes", o, "\"" + text + "\" is not allowed there; see debugging::DimRule");
    rules += (first ? "" : ",") + text;
  }
}

}  // namespace debugging::impl

TANDEM_INLINE constexpr OpDef assert_shapes_op{.name = "assert_shapes",
                                               .input_names = "tensors...",
                                               .infer = &debugging::impl::infer_assert_shapes,
                                               .cpu = &debugging::impl::assert_shapes_kernel,
                                               .dtypes = dtypes_of(DType::int64),
                                               .inputs = at_least(0),
                                               .outputs = 0,
                                               .saves = Saves::nothing,
                                               .host_inputs = 0xffff,
                                               .flags = {.stateful = true, .non_differentiable = true},
                                               .attrs = &detail::attr_type<rules::AssertShapesAttrs>};

TANDEM_INLINE void debugging::impl::shapes(std::initializer_list<ShapeRule> rules, const AssertOptions& o) {
  std::string text;
  std::vector<Shape> known;
  bool open = false;
  for (const ShapeRule& r : rules) {
    if (!known.empty()) text += ';';
    append_rule(text, r.dims, o);
    known.push_back(r.x.shape());
    open |= !r.x.shape().is_fully_defined();
  }
  if (const std::string problem = ShapeChecker().problem(text, known); !problem.empty())
    raise_assert("assert_shapes", o, problem);
  if (!open) return;
  Tensors sizes;
  InlinedVector<const Tensor*, 8> in;
  for (const ShapeRule& r : rules) sizes.push_back(shape(r.x, {.out_type = DType::int64}));
  for (const Tensor& t : sizes) in.push_back(&t);
  apply(assert_shapes_op, {in.begin(), in.size()}, rules::AssertShapesAttrs{text, o.message}, {o.name, o.where});
}

}  // namespace TANDEM_NS
