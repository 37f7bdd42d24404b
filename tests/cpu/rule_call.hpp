// Calls cpu::pointwise on plain vectors, on any instruction set. For the tests of packs and loops; no tensors here.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "tandem/cpu/pointwise/pointwise.hpp"

namespace rule_call {

using tandem::DType;
using tandem::i64;
using tandem::Shape;

struct Info {
  int arity;
  tandem::DTypes dtypes;
  bool first_is_mask = false, lanewise = false;
};

struct alignas(64) Line {  // a cache line: arrays begin where the allocator's do
  std::uint64_t words[8];
  friend bool operator==(const Line&, const Line&) = default;
};

/// A dense host array with its spec.
struct Array {
  tandem::Spec spec;
  std::vector<Line> lines;

  Array(DType dtype, const Shape& shape) : lines(static_cast<std::size_t>(shape.size()) * size_of(dtype) / 64 + 1) {
    spec.shape = shape;
    spec.dtype = dtype;
  }
  template <class T>
  Array(DType dtype, const std::vector<T>& x) : Array(dtype, Shape{static_cast<i64>(x.size())}) {
    if (!x.empty()) std::memcpy(lines.data(), x.data(), x.size() * sizeof(T));
  }
  template <class T>
  T* data() {
    return reinterpret_cast<T*>(lines.data());
  }
  template <class T>
  const T* data() const {
    return reinterpret_cast<const T*>(lines.data());
  }
  i64 size() const { return spec.shape.size(); }
};

template <class Rule>
void call(std::vector<Array*> in, Array& out, const tandem::Attrs& attrs = tandem::no_attrs) {
  std::vector<tandem::Operand> operands;
  for (Array* a : in) operands.push_back({a->lines.data(), &a->spec});
  const tandem::Operand result[] = {{out.lines.data(), &out.spec}};
  tandem::cpu::pointwise<Rule>({.in = operands, .out = result, .attrs = attrs, .op = "test"});
}

/// The rule on vectors of T, with results of type U.
template <class Rule, class U, class T>
std::vector<U> apply(const std::vector<T>& x) {
  Array in(tandem::dtype_of<T>(), x), out(tandem::dtype_of<U>(), in.spec.shape);
  call<Rule>({&in}, out);
  return {out.data<U>(), out.data<U>() + x.size()};
}
template <class Rule, class U, class T>
std::vector<U> apply(const std::vector<T>& x, const std::vector<T>& y) {
  Array a(tandem::dtype_of<T>(), x), b(tandem::dtype_of<T>(), y), out(tandem::dtype_of<U>(), a.spec.shape);
  call<Rule>({&a, &b}, out);
  return {out.data<U>(), out.data<U>() + x.size()};
}

/// Runs f once on each instruction set that this machine has.
template <class F>
void on_every_set(F f) {
  const int best = tandem::cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    tandem::cpu::isa_level = static_cast<signed char>(level);
    f(level);
  }
}

}  // namespace rule_call
