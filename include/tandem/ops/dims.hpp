// Dims: the shape argument of ops, whose entries are numbers or scalar tensors (get_shape returns both in a trace).
// Not here: the ops that take one (create/fill.hpp, random/draw.hpp, reshape.hpp, which also includes the
// definitions of what is declared here).
#pragma once
#include <concepts>
#include <vector>

#include "tandem/base/shape_arg.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

class Dims;
namespace detail {
/// What is done with shapes that have symbolic entries, by address: a program that gives no tensors as entries does not
/// contain it.
struct DimsCode {
  Tensor (*join)(const Dims&, const char* op);  // the entries as one tensor
  Tensor (*fill)(const char* op, const Dims&, const Tensor& value, const OpOptions&);
};
extern TANDEM_API const DimsCode dims_code;
/// Raises: `none` in a shape argument does not say which size is meant.
[[noreturn]] TANDEM_API void raise_unknown_size(const char* op, const Shape& s);
TANDEM_API Tensor joined_dims(const Dims& dims, const char* op);
}  // namespace detail

/// One entry of a shape: a number, or an integer scalar tensor.
class Dim {
 public:
  template <std::integral I>
  constexpr Dim(I n) : number_(static_cast<i64>(n)) {}
  constexpr Dim(Dimension n) : number_(n.number_or_none()) {}
  Dim(const Tensor& t) : tensor_(t), code_(&detail::dims_code) {}

  /// Null if the entry is a number.
  const Tensor* tensor() const { return code_ ? &tensor_ : nullptr; }
  const detail::DimsCode* code() const { return code_; }
  i64 number() const { return number_; }

 private:
  i64 number_ = 0;
  Tensor tensor_ = {};
  const detail::DimsCode* code_ = nullptr;  // of a tensor
};

/// A dimension as get_shape returns it: a number if it is known, a scalar int64 tensor if it is unknown.
struct DimValue {
  i64 number = 0;
  Tensor tensor = {};

  bool is_known() const { return !tensor.is_set(); }
  bool is(i64 n) const { return is_known() && number == n; }
  TANDEM_API Tensor value() const;
  operator Dim() const { return is_known() ? Dim(number) : Dim(tensor); }
};

/// A shape argument: {2, -1}, {n, 320} with a scalar tensor n, a Shape, a vector, or an integer tensor of rank 1.
class TANDEM_API Dims {
 public:
  Dims() = default;
  Dims(const Shape& shape) : numbers_(shape) {}
  Dims(std::initializer_list<Dim> dims) {
    for (const Dim& d : dims) push_back(d);
  }
  template <std::integral I>
  Dims(const std::vector<I>& dims) {
    for (I d : dims) numbers_.push_back(static_cast<i64>(d));
  }
  Dims(const Tensor& dims) : whole_(dims), code_(&detail::dims_code), is_whole_(true) {}

  /// Whether every entry's value can be read now. Symbolic entries of a function that is being traced cannot.
  bool is_known() const;
  /// The entries as numbers.
  ///  throws  errors::InvalidArgumentError, in the op's name, for tensors that are not integers of the right rank
  Shape numbers(const char* op) const;
  /// The entries as numbers, with `none` for those that cannot be read now.
  Shape known(const char* op) const;
  /// The entries, each as a number or a scalar tensor.
  std::vector<DimValue> values(const char* op) const;
  /// The entries as one int64 tensor of rank 1.
  Tensor tensor(const char* op) const;

  /// Set if a part is a tensor.
  const detail::DimsCode* code() const { return code_; }

  void push_back(const Dim& d) {
    numbers_.push_back(d.number());
    if (const Tensor* t = d.tensor()) {
      at_[numbers_.rank() - 1] = *t;
      tensors_ |= 1u << (numbers_.rank() - 1);
      code_ = d.code();
    }
  }
  [[deprecated("use push_back, since 0.2")]] void push(const Dim& d) { push_back(d); }

 private:
  friend Tensor detail::joined_dims(const Dims&, const char*);
  bool is_tensor(int i) const { return tensors_ >> i & 1u; }

  Shape numbers_;
  Tensor whole_, at_[max_rank];
  unsigned tensors_ = 0;  // bit i: at_[i] is entry i
  const detail::DimsCode* code_ = nullptr;
  bool is_whole_ = false;
};

namespace rules {
/// For ops that take their result's shape as an input: the dimensions that were known at the call; empty if none
/// was.
struct KnownDimsAttrs {
  Shape known;
  TANDEM_ATTRS(KnownDimsAttrs, known);
};
}  // namespace rules
namespace detail {
/// Merges a shape inferred by such an op with the dimensions known at the call.
TANDEM_API Shape with_known(const InferCall& c, const Shape& s);
/// The result's shape where input 1 holds its dimensions, as far as the attribute KnownDimsAttrs knows them; raises
/// unless input 1 is what kernels read, int64 and of known length.
TANDEM_API Shape dims_with_known(const InferCall& c);
}  // namespace detail

/// An optional Dims among an op's options.
using DimsArg = detail::OptionalArg<Dims, Dim>;

}  // namespace TANDEM_NS
