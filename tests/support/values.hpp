// Random tensors of every dtype, and elements read back as text, for tests of ops that move data of any type. Not
// here: tolerances (such ops are exact), gradient checks (tandem/autodiff/check.hpp).
#pragma once
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tandem/base/bytes.hpp"
#include "tandem/core/tensor.hpp"

namespace testing {

inline const tandem::DType moved_dtypes[] = {tandem::float32, tandem::float64,   tandem::int8,       tandem::int16,
                                             tandem::int32,   tandem::int64,     tandem::uint8,      tandem::bool_,
                                             tandem::string,  tandem::complex64, tandem::complex128, tandem::float16};

/// A tensor whose elements differ as far as the dtype allows: element i holds the number `first + i`.
inline tandem::Tensor numbered(const tandem::Shape& shape, tandem::DType dtype, int first = 1) {
  tandem::Tensor t = tandem::Tensor::allocate({shape, dtype, {}});
  const std::size_t width = tandem::size_of(dtype);
  for (tandem::i64 i = 0; i < t.size(); ++i) {
    if (dtype == tandem::string) {
      static_cast<tandem::Bytes*>(t.raw())[i] = tandem::Bytes("element " + std::to_string(first + i));
      continue;
    }
    unsigned char bytes[16] = {};
    if (dtype == tandem::bool_) {
      bytes[0] = (first + i) % 3 == 0;
    } else if (dtype == tandem::float32) {
      const float x = static_cast<float>(first + i);
      std::memcpy(bytes, &x, 4);
    } else if (dtype == tandem::float64) {
      const double x = static_cast<double>(first + i);
      std::memcpy(bytes, &x, 8);
    } else {
      const tandem::i64 x = first + i;
      std::memcpy(bytes, &x, 8);
    }
    std::memcpy(static_cast<char*>(t.raw()) + static_cast<std::size_t>(i) * width, bytes, width);
  }
  return t;
}

/// Element i of a host tensor, as bytes (strings: as text).
inline std::string element(const tandem::Tensor& t, tandem::i64 i) {
  if (t.dtype() == tandem::string) return std::string(static_cast<const tandem::Bytes*>(t.raw())[i].view());
  const std::size_t width = tandem::size_of(t.dtype());
  return std::string(static_cast<const char*>(t.raw()) + static_cast<std::size_t>(i) * width, width);
}
/// The text of a zero element.
inline std::string zero_element(tandem::DType d) {
  return d == tandem::string ? std::string() : std::string(tandem::size_of(d), '\0');
}

using Index = std::vector<tandem::i64>;

/// The flat offset of an index in a shape.
inline tandem::i64 place(const tandem::Shape& s, const Index& index) {
  tandem::i64 at = 0;
  for (int i = 0; i < s.rank(); ++i) at = at * s[i] + index[static_cast<std::size_t>(i)];
  return at;
}
/// Calls f with every index of a shape, row by row.
template <class F>
void for_each_index(const tandem::Shape& s, const F& f) {
  Index at(static_cast<std::size_t>(s.rank()));
  for (tandem::i64 i = 0, n = s.size(); i < n; ++i) {
    f(at);
    for (int d = s.rank() - 1; d >= 0; --d) {
      if (++at[static_cast<std::size_t>(d)] < s[d]) break;
      at[static_cast<std::size_t>(d)] = 0;
    }
  }
}
/// Compares with a brute-force rule and counts mismatches. from(index of y) is the flat offset in x, or -1 for zero.
template <class F>
tandem::i64 misplaced(const tandem::Tensor& y, const tandem::Tensor& x, const F& from) {
  tandem::i64 wrong = 0;
  for_each_index(y.shape(), [&](const Index& at) {
    const tandem::i64 p = from(at);
    wrong += element(y, place(y.shape(), at)) != (p < 0 ? zero_element(y.dtype()) : element(x, p));
  });
  return wrong;
}

/// Random shapes of rank 1 to 4 with sizes 0 to 5 (a 0 now and then).
class Shapes {
 public:
  explicit Shapes(unsigned seed) : random_(seed) {}
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  tandem::Shape shape(int min_rank = 1, int max_rank = 4) {
    tandem::Shape s;
    for (int r = pick(min_rank, max_rank); r > 0; --r) s.push_back(pick(0, 12) == 0 ? 0 : pick(1, 5));
    return s;
  }
  tandem::Tensor reals(const tandem::Shape& s) {
    tandem::Tensor t = tandem::Tensor::allocate({s, tandem::float64, {}});
    for (tandem::i64 i = 0; i < t.size(); ++i)
      static_cast<double*>(t.raw())[i] = std::uniform_real_distribution<double>(-1, 1)(random_);
    return t;
  }

 private:
  std::mt19937 random_;
};

}  // namespace testing
