// What the definitions of string ops share: kernels over all elements, broadcasting, checks of dtypes.
#pragma once
#include <atomic>
#include <string>
#include <string_view>

#include "tandem/core/apply.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS::strings::impl {

inline constexpr DTypes text = dtypes_of(DType::string);
/// Every input lives in host memory, as strings do.
inline constexpr std::uint16_t all_on_host = 0xffff;

/// Raises InvalidArgumentError in the op's name.
[[noreturn, gnu::cold, gnu::noinline]] inline void raise(const char* op, const std::string& what) {
  errors::raise<errors::InvalidArgumentError>(op, what);
}
/// A text in an error: quoted, and cut if it is long.
inline std::string in_quotes(std::string_view s) {
  constexpr std::size_t most = 60;
  return '"' + std::string(s.substr(0, most)) + (s.size() > most ? "...\"" : "\"");
}
/// A result of this dtype in host memory.
inline Spec host_spec(const Shape& shape, DType dtype) { return {shape, dtype, {}}; }

/// Calls good(i) for each i below n, on several threads; returns the first i for which it is false, or n. What comes
/// after it may have been skipped.
template <class F>
i64 first_failure(i64 n, i64 grain, const F& good) {
  std::atomic<i64> first{n};
  cpu::parallel_for(n, grain, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end && i < first; ++i) {
      if (good(i)) continue;
      for (i64 now = first; i < now && !first.compare_exchange_weak(now, i);) {
      }
      return;
    }
  });
  return first;
}
/// Calls f(i) for each i below n, on several threads. Raises what the first of them raises that does.
template <class F>
void for_each_or_raise(i64 n, i64 grain, const F& f) {
  const i64 first = first_failure(n, grain, [&](i64 i) {
    try {
      return f(i), true;
    } catch (const errors::OpError&) {
      return false;
    }
  });
  if (first < n) f(first);
}
/// out[i] = f(in0[i]), on several threads: f must not raise.
template <class T, class F>
void map_strings(const KernelCall& c, const F& f) {
  const Bytes* const x = c.in[0].as<const Bytes>();
  T* const y = c.out[0].as<T>();
  cpu::parallel_for(c.in[0].size(), 1024, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) y[i] = T(f(x[i].view()));
  });
}

/// The position in an operand of each element of the broadcast shape, in order, from element `first` on.
class BroadcastIndex {
 public:
  BroadcastIndex(const Shape& from, const Shape& to, i64 first = 0) : rank_(to.rank()) {
    i64 stride = 1;
    for (int d = to.rank() - 1, e = from.rank() - 1; d >= 0; --d, --e) {
      size_[d] = to.dim(d), at_[d] = 0;
      step_[d] = e < 0 || from.dim(e) == 1 ? 0 : stride;
      if (e >= 0) stride *= from.dim(e);
    }
    for (int d = rank_ - 1; d >= 0 && first > 0; --d) {
      at_[d] = first % size_[d], first /= size_[d];
      offset_ += at_[d] * step_[d];
    }
  }
  /// All elements of x, whose axes `order` lists from the slowest to the fastest.
  static BroadcastIndex permuted(const Shape& x, const Shape& order) {
    BroadcastIndex r(x, x), natural = r;
    for (int d = 0; d < x.rank(); ++d) {
      const int from = static_cast<int>(order.dim(d));
      r.size_[d] = natural.size_[from], r.step_[d] = natural.step_[from];
    }
    return r;
  }
  i64 next() {
    const i64 now = offset_;
    for (int d = rank_ - 1; d >= 0; --d) {
      offset_ += step_[d];
      if (++at_[d] < size_[d]) break;
      offset_ -= size_[d] * step_[d];
      at_[d] = 0;
    }
    return now;
  }

 private:
  int rank_;
  i64 size_[max_rank], step_[max_rank], at_[max_rank], offset_ = 0;
};
/// The shape of all inputs broadcast.
inline Shape broadcast_inputs(const InferCall& c) {
  Shape s = c.spec(0).shape;
  for (std::size_t i = 1; i < c.in.size(); ++i) s = broadcast_shape(c, s, c.spec(i).shape);
  return s;
}
/// Raises unless input i has the dtype.
inline void check_dtype(const InferCall& c, std::size_t i, const char* what, DTypes dtypes) {
  if (!dtypes.has(c.spec(i).dtype))
    raise(c.op.name, std::string("the ") + what + " must not be " + name(c.spec(i).dtype));
}

}  // namespace TANDEM_NS::strings::impl
