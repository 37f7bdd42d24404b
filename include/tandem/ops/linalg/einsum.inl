// Definitions of ops/linalg/einsum.hpp.
#pragma once
#include <limits>

#include "tandem/core/scope.hpp"
#include "tandem/ops/linalg/contract.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/linalg/einsum.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {
namespace detail {

struct EinsumEquation {
  std::string_view text;

  [[noreturn, gnu::cold]] void refuse(const std::string& what, std::size_t at) const {
    errors::raise<errors::InvalidArgumentError>(
        "einsum", what + " at position " + std::to_string(at) + " of \"" + std::string(text) + "\"");
  }
};
// A term of the equation: the labels of one operand or of the output. `ellipsis`: in front of which label it stands.
struct EinsumTerm {
  InlinedVector<int, 8> labels;
  int ellipsis = -1;
  std::size_t begin = 0, end = 0;  // in the equation
};

// Letters are labels 0 to 51.
TANDEM_INLINE int letter_label(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  return c >= 'A' && c <= 'Z' ? c - 'A' : -1;
}
TANDEM_INLINE EinsumTerm parse_term(const EinsumEquation& e, std::size_t begin, std::size_t end) {
  EinsumTerm t;
  t.begin = begin, t.end = end;
  for (std::size_t i = begin; i < end; ++i) {
    const char c = e.text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (e.text.substr(i, 3) != "..." || i + 3 > end) e.refuse("an ellipsis has three dots: error", i);
      if (t.ellipsis >= 0) e.refuse("a second ellipsis in one term", i);
      t.ellipsis = static_cast<int>(t.labels.size());
      i += 2;
      continue;
    }
    if (letter_label(c) < 0) e.refuse(std::string("'") + c + "' is not a letter", i);
    t.labels.push_back(letter_label(c));
  }
  return t;
}

struct EinsumTerms {
  LeanVector<EinsumTerm> in;
  EinsumTerm out;
  bool explicit_out = false;
};
TANDEM_INLINE EinsumTerms parse_equation(const EinsumEquation& e) {
  EinsumTerms r;
  const std::size_t arrow = e.text.find("->"), end = arrow == std::string_view::npos ? e.text.size() : arrow;
  for (std::size_t begin = 0; begin <= end;) {
    std::size_t comma = e.text.find(',', begin);
    if (comma == std::string_view::npos || comma > end) comma = end;
    r.in.push_back(parse_term(e, begin, comma));
    begin = comma + 1;
  }
  r.explicit_out = arrow != std::string_view::npos;
  if (!r.explicit_out) return r;
  r.out = parse_term(e, arrow + 2, e.text.size());
  for (std::size_t i = 0; i < r.out.labels.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (r.out.labels[k] == r.out.labels[i]) e.refuse("the output has a letter twice: error", r.out.begin);
  return r;
}

// The labels of each axis; those of an ellipsis are counted from its last axis, so that they broadcast.
TANDEM_INLINE Labels expanded(const EinsumTerm& t, int ellipsis_axes) {
  Labels r;
  const auto dots = [&] {
    for (int k = ellipsis_axes; k-- > 0;) r.push_back(first_broadcast_label + k);
  };
  for (std::size_t i = 0; i < t.labels.size(); ++i) {
    if (t.ellipsis == static_cast<int>(i)) dots();
    r.push_back(t.labels[i]);
  }
  if (t.ellipsis == static_cast<int>(t.labels.size())) dots();
  return r;
}
TANDEM_INLINE int ellipsis_axes(const EinsumEquation& e, const EinsumTerm& t, const Tensor& x) {
  const int letters = static_cast<int>(t.labels.size()), rank = x.rank();
  if (t.ellipsis >= 0 ? rank < letters : rank != letters)
    e.refuse("the term \"" + std::string(e.text.substr(t.begin, t.end - t.begin)) + "\" does not fit " +
                 to_string(x.spec()) + ": error",
             t.begin);
  return rank - letters;
}

// Checks that all axes of one letter have one size, and that an ellipsis broadcasts.
TANDEM_INLINE void check_sizes(const EinsumEquation& e, const LeanVector<Labelled>& operands) {
  i64 size[first_broadcast_label + max_rank];
  for (i64& s : size) s = none;
  for (const Labelled& x : operands)
    for (std::size_t i = 0; i < x.labels.size(); ++i) {
      const int l = x.labels[i];
      const i64 n = x.tensor.spec().shape.dim(static_cast<int>(i));
      if (n == none || (l >= first_broadcast_label && n == 1)) continue;
      if (size[l] != none && size[l] != n) {
        const std::string which = l >= first_broadcast_label ? "the axes of the ellipsis do not broadcast"
                                  : l < 26
                                      ? std::string("letter '") + static_cast<char>('A' + l) + "' has two sizes"
                                      : std::string("letter '") + static_cast<char>('a' + l - 26) + "' has two sizes";
        errors::raise<errors::InvalidArgumentError>("einsum", which + ", " + std::to_string(size[l]) + " and " +
                                                                  std::to_string(n) + ", in \"" + std::string(e.text) +
                                                                  "\"");
      }
      size[l] = n;
    }
}

TANDEM_INLINE std::size_t first_with(const LeanVector<Labelled>& operands, int label) {
  std::size_t o = 0;
  while (!has_label(operands[o].labels, label)) ++o;
  return o;
}
// Lets every call compare the sizes of one letter that are unknown now: with its first occurrence. (An ellipsis
// broadcasts, which the products check.)
TANDEM_INLINE void check_unknown_sizes(LeanVector<Labelled>& operands) {
  for (std::size_t o = 0; o < operands.size(); ++o)
    for (std::size_t first = 0; first <= o; ++first) {
      Labelled& x = operands[o];
      Shape axes, others;
      for (std::size_t i = 0; i < x.labels.size(); ++i) {
        const int l = x.labels[i];
        if (l >= first_broadcast_label || first_with(operands, l) != first) continue;
        const int at = place_of(operands[first].labels, l);
        if (o != first || at != static_cast<int>(i)) axes.push_back(static_cast<i64>(i)), others.push_back(at);
      }
      x.tensor = same_dims(x.tensor, axes, operands[first].tensor, others);
    }
}

// A label that occurs twice stands for a diagonal.
TANDEM_INLINE Labelled without_repetition(Labelled x) {
  for (std::size_t i = 0; i < x.labels.size(); ++i)
    for (std::size_t k = i + 1; k < x.labels.size(); ++k) {
      if (x.labels[i] != x.labels[k]) continue;
      Axes perm = Axes::none();
      Labels rest;
      for (std::size_t a = 0; a < x.labels.size(); ++a)
        if (a != i && a != k) perm.push_back(static_cast<i64>(a)), rest.push_back(x.labels[a]);
      perm.push_back(static_cast<i64>(i)), perm.push_back(static_cast<i64>(k));
      rest.push_back(x.labels[i]);
      const bool last = i + 2 == x.labels.size();
      return without_repetition({linalg::diag_part(last ? x.tensor : transpose(x.tensor, {.perm = perm})), rest});
    }
  return x;
}

// The output's labels, as written or by the rule for equations without an arrow.
TANDEM_INLINE Labels output_labels(const EinsumEquation& e, EinsumTerms& terms, int dots) {
  int count[52] = {};
  bool any_dots = false;
  for (const EinsumTerm& t : terms.in) {
    any_dots = any_dots || t.ellipsis >= 0;
    for (const int l : t.labels) ++count[l];
  }
  if (terms.explicit_out) {
    for (const int l : terms.out.labels)
      if (!count[l])
        e.refuse(std::string("letter '") + static_cast<char>(l < 26 ? 'A' + l : 'a' + l - 26) +
                     "' of the output is in no input: error",
                 terms.out.begin);
    if (terms.out.ellipsis >= 0 && !any_dots)
      e.refuse("the ellipsis of the output is in no input: error", terms.out.begin);
    return expanded(terms.out, dots);
  }
  if (any_dots) terms.out.ellipsis = 0;
  for (int l = 0; l < 52; ++l)
    if (count[l] == 1) terms.out.labels.push_back(l);
  return expanded(terms.out, dots);
}

// What the others and the output still need.
TANDEM_INLINE Labels kept_labels(const LeanVector<Labelled>& operands, std::size_t i, std::size_t k,
                                 const Labels& out) {
  Labels keep = out;
  for (std::size_t o = 0; o < operands.size(); ++o)
    if (o != i && o != k)
      for (const int l : operands[o].labels) keep.push_back(l);
  return keep;
}
TANDEM_INLINE double label_size(const Labelled& x, std::size_t i) {
  const i64 n = x.tensor.spec().shape.dim(static_cast<int>(i));
  return n == none ? 64 : static_cast<double>(n);
}
// The number of elements of the result of a pair, less those of the two: opt_einsum's greedy measure.
TANDEM_INLINE double pair_cost(const Labelled& a, const Labelled& b, const Labels& keep) {
  double size_a = 1, size_b = 1, result = 1;
  for (std::size_t i = 0; i < a.labels.size(); ++i) {
    size_a *= label_size(a, i);
    if (has_label(keep, a.labels[i])) result *= label_size(a, i);
  }
  for (std::size_t i = 0; i < b.labels.size(); ++i) {
    size_b *= label_size(b, i);
    if (has_label(keep, b.labels[i]) && !has_label(a.labels, b.labels[i])) result *= label_size(b, i);
  }
  return result - size_a - size_b;
}
// Replaces the cheapest pair of operands by its product.
TANDEM_INLINE void combine_pair(LeanVector<Labelled>& operands, const Labels& out) {
  std::size_t first = 0, second = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < operands.size(); ++i)
    for (std::size_t k = i + 1; k < operands.size(); ++k) {
      const double cost = pair_cost(operands[i], operands[k], kept_labels(operands, i, k, out));
      if (cost < least) least = cost, first = i, second = k;
    }
  const Labels keep = kept_labels(operands, first, second, out);
  const auto needed = [&](const Labels& other) {
    Labels r = keep;
    for (const int l : other) r.push_back(l);
    return r;
  };
  const Labelled a = sum_labels(operands[first], needed(operands[second].labels)),
                 b = sum_labels(operands[second], needed(operands[first].labels));
  operands[first] = contract(a, b, keep);
  operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(second));
}

TANDEM_INLINE LeanVector<Labelled> labelled_operands(const EinsumEquation& e, const EinsumTerms& terms,
                                                     Span<const Tensor> list, int& dots) {
  LeanVector<Labelled> r;
  dots = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const int n = ellipsis_axes(e, terms.in[i], list[i]);
    if (n > dots) dots = n;
    r.push_back({list[i], expanded(terms.in[i], n)});
    if (list[i].dtype() != list[0].dtype())
      errors::raise<errors::InvalidArgumentError>(
          "einsum", "dtypes differ: " + to_string(list[0].spec()) + " and " + to_string(list[i].spec()));
  }
  return r;
}

}  // namespace detail

TANDEM_INLINE Tensor einsum(std::string_view equation, Span<const Tensor> list, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::EinsumEquation e{equation};
  tandem::detail::EinsumTerms terms = tandem::detail::parse_equation(e);
  if (list.size() != terms.in.size())
    errors::raise<errors::InvalidArgumentError>("einsum", "\"" + std::string(equation) + "\" has " +
                                                              std::to_string(terms.in.size()) +
                                                              " operands, given are " + std::to_string(list.size()));
  int dots = 0;
  LeanVector<tandem::detail::Labelled> x = tandem::detail::labelled_operands(e, terms, list, dots);
  tandem::detail::check_sizes(e, x);
  tandem::detail::check_unknown_sizes(x);
  const tandem::detail::Labels out = tandem::detail::output_labels(e, terms, dots);
  for (tandem::detail::Labelled& t : x) t = tandem::detail::without_repetition(t);
  while (x.size() > 1) tandem::detail::combine_pair(x, out);
  return identity(tandem::detail::in_order(tandem::detail::sum_labels(x[0], out), out), o);
}

}  // namespace TANDEM_NS
