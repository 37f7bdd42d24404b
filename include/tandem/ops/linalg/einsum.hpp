// Sums of products in Einstein's notation: einsum. Not here: how two operands are multiplied (contract.hpp).
#pragma once
#include <concepts>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

/// Sums products of tensors over labelled axes: einsum("bij,bjk->bik", {a, b}).
/// Every operand has one letter for each axis. Axes with the same letter go together; letters that the output does not
/// have are summed over. A letter twice in one operand takes the diagonal: einsum("ii->", {a}) is the trace. `...`
/// stands for any number of axes, which broadcast. Without "->" the output has the ellipsis, if there is one, then the
/// letters that occur once, in alphabetical order. Spaces are ignored.
/// Operands are combined two at a time, each time by at most one (batched) matrix product: the pair whose result is
/// smallest, compared with what it replaces, comes first.
///   operands  numbers of one dtype
///   throws    errors::InvalidArgumentError with the position in the equation if it is malformed or does not fit the
///             operands' ranks, and with the sizes where those of one letter differ
///   gradient  that of the products and sums
TANDEM_API Tensor einsum(std::string_view equation, Span<const Tensor> operands, OpOptions = {});
inline Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands, OpOptions o = {}) {
  return einsum(equation, Span<const Tensor>(operands.begin(), operands.size()), o);
}
namespace detail {
// An equation and the line where it is written: nothing can follow a list of operands.
struct EquationHere {
  std::string_view text;
  SourceLocation where;
  template <std::convertible_to<std::string_view> S>
  constexpr EquationHere(const S& equation, SourceLocation here = SourceLocation::current())
      : text(equation), where(here) {}
};
}  // namespace detail
/// einsum("ij,jk->ik", a, b): the operands one by one.
template <class... T>
  requires(sizeof...(T) > 0 && (std::is_same_v<T, Tensor> && ...))
Tensor einsum(detail::EquationHere equation, const T&... operands) {
  return einsum(equation.text, {operands...}, OpOptions{{}, equation.where});
}

namespace linalg {
using tandem::einsum;
}  // namespace linalg

}  // namespace TANDEM_NS
