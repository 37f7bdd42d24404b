// Compares two traces node by node.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tandem/core/print.hpp"
#include "tandem/graph/debug/debug.hpp"
#include "tandem/graph/debug/texts.hpp"
#include "tandem/graph/exec/program.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/util/format.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_LAZY inline bool has_values(const Tensor& t) { return t.is_set() && !t.is_symbolic(); }
TANDEM_LAZY inline std::string in_short(const Tensor& t) {
  if (!has_values(t)) return t.is_set() ? to_string(t.spec()) : "unset";
  return t.size() <= 8 ? to_string(t) : to_string(t.spec());
}
TANDEM_LAZY inline std::string differing(const Shape& shape, i64 first, i64 count, const std::string& expected,
                                         const std::string& actual) {
  return "element " + index_to_string(shape, first) + " is " + actual + ", not " + expected + " (" +
         std::to_string(count) + " of " + std::to_string(shape.size()) + " differ)";
}
// Element i of a floating host tensor; a complex tensor's elements are its real and imaginary parts. Avoids cast():
// a header-only program would instantiate all of cast's kernels.
TANDEM_LAZY TANDEM_INLINE double real_at(const Tensor& t, std::size_t i) {
  switch (t.dtype()) {
    case DType::float64:
    case DType::complex128: return static_cast<const double*>(t.raw())[i];
    case DType::float16: return static_cast<double>(static_cast<float>(static_cast<const Half*>(t.raw())[i]));
    case DType::bfloat16: return static_cast<double>(static_cast<float>(static_cast<const BFloat16*>(t.raw())[i]));
    default: return static_cast<double>(static_cast<const float*>(t.raw())[i]);
  }
}
TANDEM_LAZY TANDEM_INLINE std::string real_difference(const Tensor& expected, const Tensor& actual, double tolerance) {
  const std::size_t parts = is_complex(expected.dtype()) ? 2 : 1;
  const auto n = static_cast<std::size_t>(expected.size()) * parts;
  double scale = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (const double x = std::abs(real_at(expected, i)); std::isfinite(x)) scale = std::max(scale, x);
  std::size_t first = n;
  i64 count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = real_at(expected, i), b = real_at(actual, i);
    if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance * scale) continue;
    if (!count++) first = i;
  }
  if (!count) return {};
  const auto text = [](double x) { return rounded_text(x, 9); };
  return differing(expected.shape(), static_cast<i64>(first / parts), count, text(real_at(expected, first)),
                   text(real_at(actual, first)));
}
TANDEM_LAZY TANDEM_INLINE std::string exact_difference(const Tensor& expected, const Tensor& actual) {
  const std::size_t bytes = size_of(expected.dtype());
  const auto *want = static_cast<const char*>(expected.raw()), *got = static_cast<const char*>(actual.raw());
  const auto equal = [&](i64 i) {
    const std::size_t at = static_cast<std::size_t>(i) * bytes;
    if (expected.dtype() != DType::string) return std::memcmp(want + at, got + at, bytes) == 0;
    return reinterpret_cast<const Bytes*>(want)[i].view() == reinterpret_cast<const Bytes*>(got)[i].view();
  };
  i64 first = -1, count = 0;
  for (i64 i = 0; i < expected.size(); ++i)
    if (!equal(i)) first = count++ ? first : i;
  if (!count) return {};
  const std::size_t at = static_cast<std::size_t>(first) * bytes;
  const Spec one{{}, expected.dtype(), {}};
  return differing(expected.shape(), first, count, to_string(Tensor::view_of(expected, one, at)),
                   to_string(Tensor::view_of(actual, one, at)));
}
// Depends on the dtype's precision: a pass may compute a chain in higher precision and round once.
TANDEM_LAZY inline double tolerance_of(DType dtype, double tolerance) {
  return dtype == DType::float16    ? std::max(tolerance, 2e-3)
         : dtype == DType::bfloat16 ? std::max(tolerance, 2e-2)
                                    : tolerance;
}

}  // namespace detail

TANDEM_LAZY_INLINE std::string value_difference(const Tensor& expected, const Tensor& actual, double tolerance) {
  if (!expected.is_set() || !actual.is_set())
    return expected.is_set() == actual.is_set()
               ? ""
               : "it is " + detail::in_short(actual) + ", not " + detail::in_short(expected);
  if (expected.dtype() != actual.dtype() || !(expected.shape() == actual.shape()))
    return "it is " + to_string(actual.spec()) + ", not " + to_string(expected.spec());
  if (expected.is_symbolic() || actual.is_symbolic()) return {};
  const detail::OutsideTrace outside;
  const Tensor a = expected.cpu(), b = actual.cpu();
  if (!is_floating(a.dtype()) && !is_complex(a.dtype())) return detail::exact_difference(a, b);
  return detail::real_difference(a, b, detail::tolerance_of(a.dtype(), tolerance));
}

namespace detail {

// The attributes as text; the contents of opaque ones where available: addresses differ from trace to trace.
TANDEM_LAZY struct AttrTexts final : AttrVisitor {
  LeanVector<std::pair<std::string, std::string>> fields;
  LeanVector<const Opaque*> opaques;

  void add(const char* name, std::string value) { fields.emplace_back(name, std::move(value)); }
  void number(const char* name, i64 value) override { add(name, std::to_string(value)); }
  void real(const char* name, double value) override { add(name, rounded_text(value, 17)); }
  void text(const char* name, const std::string& value) override { add(name, '"' + value + '"'); }
  void numbers(const char* name, const i64* values, int count) override {
    std::string s;
    for (int i = 0; i < count; ++i) s += (i ? "," : "") + std::to_string(values[i]);
    add(name, count < 0 ? "not given" : "[" + s + "]");
  }
  void opaque(const char* name, const Opaque* value) override {
    add(name, value ? value->kind() : "nothing");
    opaques.push_back(value);
  }
};

TANDEM_LAZY_INLINE std::string location_of(const Graph& g, NodeId node) {
  const Node& n = g.nodes[node];
  std::string s = "node " + std::to_string(node.number()) + ", '" + n.name + "' (" + n.op->name + ")";
  if (const std::string line = line_text(n.where); !line.empty()) return s + " at " + line;
  for (NodeId i = node + 1; i < g.nodes.end_id(); ++i)
    for (ValueId v : g.nodes[i].in)
      if (v >= n.first_out && v < n.first_out + n.outputs) {
        const Node& user = g.nodes[i];
        s += ", used by '" + user.name + "' (" + user.op->name + ")";
        if (const std::string line = line_text(user.where); !line.empty()) return s + " at " + line;
        i = g.nodes.end_id() + -1;
        break;
      }
  for (NodeId i = node; i-- > NodeId(0);)
    if (const std::string line = line_text(g.nodes[i].where); !line.empty())
      return s + ", after '" + g.nodes[i].name + "' at " + line;
  return s;
}
// Whether only the shape of a node's outputs is ever read.
TANDEM_LAZY inline bool is_shape_only(const Graph& g, const Node& n) {
  for (const Node& user : g.nodes)
    for (unsigned k = 0; k < user.in.size(); ++k)
      if (user.in[k] >= n.first_out && user.in[k] < n.first_out + n.outputs && !names_input(user.op->shape_inputs, k))
        return false;
  return std::find(g.outputs.begin(), g.outputs.end(), n.first_out) == g.outputs.end();
}
TANDEM_LAZY TANDEM_INLINE std::string attrs_difference(const Node& a, const Node& b) {
  AttrTexts x, y;
  a.attrs.visit(x), b.attrs.visit(y);
  if (x.fields.size() != y.fields.size()) return "it has different attributes";
  for (std::size_t i = 0; i < x.fields.size(); ++i)
    if (x.fields[i] != y.fields[i])
      return x.fields[i].first + " is " + x.fields[i].second + " and then " + y.fields[i].second;
  for (std::size_t i = 0; i < x.opaques.size(); ++i) {
    const auto *g = dynamic_cast<const Graph*>(x.opaques[i]), *h = dynamic_cast<const Graph*>(y.opaques[i]);
    if (!g || !h) continue;
    if (std::string d = trace_difference(*g, *h); !d.empty()) return "in its body: " + d;
  }
  return {};
}
TANDEM_LAZY TANDEM_INLINE std::string node_difference(const Graph& g, const Node& a, const Graph& h, const Node& b) {
  if (a.op != b.op) return "it is " + std::string(a.op->name) + " and then " + b.op->name;
  if (a.op == &read_variable_op || a.op == &assign_variable_op) {
    const Variable &x = variable_of(g, a), &y = variable_of(h, b);
    if (!x.is_same(y)) return "it is of variable '" + x.name() + "' and then of another, '" + y.name() + "'";
  } else if (const Tensor* x = constant_of(a)) {
    const Tensor& y = *constant_of(b);
    const bool alike = x->dtype() == y.dtype() && x->shape() == y.shape();
    if (alike && (is_shape_only(g, a) || value_difference(*x, y, 0).empty())) return {};
    return in_short(*x) + " and then " + in_short(y) +
           (alike && x->size() > 8 ? ": " + value_difference(*x, y, 0) : "");
  } else if (std::string d = attrs_difference(a, b); !d.empty()) {
    return d;
  }
  if (!std::equal(a.in.begin(), a.in.end(), b.in.begin(), b.in.end())) return "it has different inputs";
  for (int k = 0; k < a.outputs; ++k)
    if (const Spec& x = g.spec(a.first_out + k), &y = h.spec(b.first_out + k); !(x == y))
      return "it is " + to_string(x) + " and then " + to_string(y);
  return {};
}

}  // namespace detail

TANDEM_LAZY_INLINE std::string trace_difference(const Graph& first, const Graph& second) {
  const std::size_t both = std::min(first.nodes.size(), second.nodes.size());
  for (const NodeId i : IdRange(NodeId(0), NodeId(both)))
    if (const std::string d = detail::node_difference(first, first.nodes[i], second, second.nodes[i]); !d.empty())
      return detail::location_of(first, i) + ": " + d;
  if (first.nodes.size() != second.nodes.size()) {
    const Graph& longer = first.nodes.size() > both ? first : second;
    return detail::location_of(longer, NodeId(both)) + " is only in the " + (&longer == &first ? "first" : "second") +
           " trace";
  }
  for (std::size_t i = 0; i < std::max(first.outputs.size(), second.outputs.size()); ++i)
    if (i >= first.outputs.size() || i >= second.outputs.size() || first.outputs[i] != second.outputs[i])
      return "result " + std::to_string(i) + " is a different value";
  return {};
}

}  // namespace TANDEM_NS
