// check_rounded, check_op: a function, or an op, of half precision has the bits of float32's results, rounded once.
// What such tests share: the scratch of a call.
#pragma once
#include <cstdint>
#include <tuple>
#include <vector>

#include "tandem/core/allocator.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

namespace half_rounded {

/// The bits of half precision or float32.
inline std::vector<std::uint32_t> bits(const tandem::Tensor& x) {
  if (x.dtype() == tandem::float32) return tandem::bitcast(x, tandem::uint32).to_vector<std::uint32_t>();
  const auto narrow = tandem::bitcast(x, tandem::uint16).to_vector<std::uint16_t>();
  return {narrow.begin(), narrow.end()};
}
inline tandem::Tensor drawn(const tandem::Shape& shape, tandem::DType d, tandem::i64 seed) {
  return tandem::cast(tandem::random::stateless_normal(shape, {seed, 1}), d);
}
/// Checks that f has the bits of the same on float32 operands, rounded.
template <class F, class... T>
void check_rounded(const char* what, const F& f, const T&... x) {
  const tandem::DType half = std::get<0>(std::tie(x...)).dtype();
  CAPTURE(what, name(half));
  const tandem::Tensor got = f(x...), want = f(tandem::cast(x, tandem::float32)...);
  CHECK(got.dtype() == half);
  CHECK(bits(got) == bits(tandem::cast(want, half)));
}

inline tandem::Tensors apply_to(const tandem::OpDef& op, const std::vector<tandem::Tensor>& in,
                                const tandem::Attrs& a) {
  tandem::InlinedVector<const tandem::Tensor*, 8> pointers;
  for (const tandem::Tensor& t : in) pointers.push_back(&t);
  return tandem::apply(op, {pointers.begin(), pointers.size()}, a);
}
/// Checks every result of an op on operands of half precision, some of which stay float32; returns the results.
inline std::vector<tandem::Tensor> check_op(const tandem::OpDef& op, const std::vector<tandem::Tensor>& in,
                                            const tandem::Attrs& a, tandem::DType half) {
  std::vector<tandem::Tensor> wide;
  for (const tandem::Tensor& t : in) wide.push_back(t.dtype() == half ? tandem::cast(t, tandem::float32) : t);
  const tandem::Tensors got = apply_to(op, in, a), want = apply_to(op, wide, a);
  std::vector<tandem::Tensor> r;
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(op.name, i, name(half));
    CHECK(got[i].dtype() == (tandem::names_input(op.rare.wide_outputs, i) ? tandem::float32 : half));
    CHECK(bits(got[i]) == bits(tandem::cast(want[i], got[i].dtype())));
    r.push_back(got[i]);
  }
  return r;
}

inline tandem::i64 bytes_of(const tandem::Tensor& x) { return static_cast<tandem::i64>(x.spec().bytes()); }
/// The bytes that a call takes beside its results: a tensor, or a list of them.
template <class F>
tandem::i64 scratch_of(const F& f) {
  const tandem::i64 before = tandem::memory::info().live;
  tandem::memory::reset_peak();
  const auto y = f();
  tandem::i64 results = 0;
  if constexpr (requires { y.spec(); }) results = bytes_of(y);
  else
    for (const auto& t : y) results += bytes_of(t);
  return tandem::memory::info().peak - before - results;
}

}  // namespace half_rounded
