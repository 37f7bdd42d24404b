// Packs through the pointwise loops, on every instruction set and dtype: wrapping arithmetic, NaN, comparisons, bits,
// roundings, conversions, masks, parameters, tails. Each is compared with one-number code written here.
#include <bit>
#include <cmath>
#include <limits>

#include "rule_call.hpp"
#include "tests/support/catch.hpp"

using namespace rule_call;
namespace dtypes = tandem::dtypes;

namespace {

#define BINARY(Name, set, expression)         \
  struct Name {                               \
    static constexpr Info info{2, set};       \
    template <class V>                        \
    static TANDEM_HD auto forward(V a, V b) { \
      using namespace tandem::rules;          \
      return expression;                      \
    }                                         \
  };
#define UNARY(Name, set, expression)     \
  struct Name {                          \
    static constexpr Info info{1, set};  \
    template <class V>                   \
    static TANDEM_HD auto forward(V x) { \
      using namespace tandem::rules;     \
      return expression;                 \
    }                                    \
  };
BINARY(Add, dtypes::real, a + b)
BINARY(Subtract, dtypes::real, a - b)
BINARY(Multiply, dtypes::real, a* b)
BINARY(Divide, dtypes::real, a / b)
BINARY(Remainder, dtypes::integer, a % b)
BINARY(Maximum, dtypes::real, max(a, b))
BINARY(Minimum, dtypes::real, min(a, b))
BINARY(Less, dtypes::real, a < b)
BINARY(Equal, dtypes::real | dtypes::boolean, a == b)
BINARY(NotEqual, dtypes::real, a != b)
BINARY(GreaterEqual, dtypes::real, a >= b)
BINARY(And, dtypes::integer | dtypes::boolean, a& b)
BINARY(Xor, dtypes::integer | dtypes::boolean, a ^ b)
BINARY(EitherBig, dtypes::real, (a > V(100)) | !(b <= V(100)))
BINARY(ShiftLeft, dtypes::integer, a << b)
BINARY(ShiftRight, dtypes::integer, a >> b)
UNARY(Invert, dtypes::integer, ~x)
UNARY(Abs, dtypes::real, abs(x))
UNARY(Sign, dtypes::real, sign(x))
UNARY(Negative, dtypes::real, -x)
UNARY(Floor, dtypes::real, floor(x))
UNARY(Ceil, dtypes::real, ceil(x))
UNARY(Trunc, dtypes::real, trunc(x))
UNARY(Round, dtypes::real, round(x))
UNARY(Sqrt, dtypes::floating, sqrt(x))
UNARY(IsNan, dtypes::real, is_nan(x))
UNARY(IsInf, dtypes::real, is_inf(x))
UNARY(IsFinite, dtypes::real, is_finite(x))
UNARY(IsNegative, dtypes::floating, is_negative(x))
UNARY(Not, dtypes::boolean, x ^ V(1))
UNARY(Halved, dtypes::floating | dtypes::half_floating, x* V(0.5f))
template <class U>
struct Cast {
  static constexpr Info info{1, dtypes::real | dtypes::boolean};
  static constexpr bool reads_width = true;
  template <class V>
  static TANDEM_HD auto forward(V x) {
    using namespace tandem::rules;
    return convert<U>(x);
  }
};
struct Select {
  static constexpr Info info{.arity = 3, .dtypes = dtypes::real, .first_is_mask = true};
  template <class M, class V>
  static TANDEM_HD V forward(M m, V a, V b) {
    using namespace tandem::rules;
    return select(m, a, b);
  }
};
struct Bounds {
  double low, high;
  TANDEM_ATTRS(Bounds, low, high);
};
struct Clip {
  static constexpr Info info{1, dtypes::real};
  using Params = Bounds;
  template <class V>
  static TANDEM_HD V forward(const Bounds& p, V x) {
    using namespace tandem::rules;
    return min(max(x, V(static_cast<lane_t<V>>(p.low))), V(static_cast<lane_t<V>>(p.high)));
  }
};
struct Tangent {
  static constexpr Info info{.arity = 1, .dtypes = dtypes::floating, .lanewise = true};
  template <class V>
  static TANDEM_HD V forward(V x) {
    return tandem::rules::tan(x);
  }
};

// Numbers of T from an own generator, its extremes among them.
template <class T>
std::vector<T> numbers(std::size_t n, std::uint64_t seed) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    if constexpr (std::is_floating_point_v<T>) {
      x[i] = static_cast<T>(static_cast<double>(static_cast<std::int64_t>(seed)) / 0x1p48);
    } else {
      x[i] = static_cast<T>(seed >> 33);
    }
    if (seed >> 60 == 3) x[i] = std::numeric_limits<T>::lowest();
    if (seed >> 60 == 7) x[i] = std::numeric_limits<T>::max();
    if (seed >> 60 == 11) x[i] = T(0);
    if (seed >> 60 == 13) x[i] = static_cast<T>(-1);
    if (seed >> 60 == 5 && std::is_floating_point_v<T>) x[i] = std::numeric_limits<T>::quiet_NaN();
    if (seed >> 60 == 6 && std::is_floating_point_v<T>) x[i] = -std::numeric_limits<T>::infinity();
  }
  return x;
}

template <class T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}
template <class Rule, class U, class T, class F>
void check2(const std::vector<T>& a, const std::vector<T>& b, F want) {
  const std::vector<U> y = apply<Rule, U>(a, b);
  for (std::size_t i = 0; i < y.size(); ++i) {
    INFO("operands " << +a[i] << ", " << +b[i] << "; size " << sizeof(T) << " on set " << tandem::cpu::isa());
    if (!same<U>(y[i], want(a[i], b[i]))) REQUIRE(+y[i] == +want(a[i], b[i]));
  }
  CHECK(y.size() == a.size());
}
template <class Rule, class U, class T, class F>
void check1(const std::vector<T>& x, F want) {
  const std::vector<U> y = apply<Rule, U>(x);
  for (std::size_t i = 0; i < y.size(); ++i) {
    INFO("x = " << +x[i] << "; size " << sizeof(T) << " on set " << tandem::cpu::isa());
    if (!same<U>(y[i], want(x[i]))) REQUIRE(+y[i] == +want(x[i]));
  }
  CHECK(y.size() == x.size());
}

template <class T>
void check_comparisons(const std::vector<T>& a, const std::vector<T>& b) {
  using B = std::uint8_t;
  const auto as_bytes = [&]<class Rule>(Rule, auto want) {
    Array x(tandem::dtype_of<T>(), a), y(tandem::dtype_of<T>(), b), out(DType::bool_, x.spec.shape);
    call<Rule>({&x, &y}, out);
    for (std::size_t i = 0; i < a.size(); ++i)
      if (out.data<B>()[i] != B(want(a[i], b[i]))) REQUIRE(int(out.data<B>()[i]) == int(want(a[i], b[i])));
    CHECK(out.size() == x.size());
  };
  as_bytes(Less(), [](T p, T q) { return p < q; });
  as_bytes(Equal(), [](T p, T q) { return p == q; });
  as_bytes(NotEqual(), [](T p, T q) { return p != q; });
  as_bytes(GreaterEqual(), [](T p, T q) { return p >= q; });
  as_bytes(EitherBig(), [](T p, T q) { return p > T(100) || !(q <= T(100)); });
}

template <class T>
void check_real() {
  const auto a = numbers<T>(331, 1), b = numbers<T>(331, 2);
  check_comparisons(a, b);
  check2<Maximum, T>(a, b, [](T p, T q) { return p != p ? p : q != q ? q : p < q ? q : p; });
  check2<Minimum, T>(a, b, [](T p, T q) { return p != p ? p : q != q ? q : q < p ? q : p; });
  check1<Sign, T>(a, [](T x) { return x != x ? x : T(x > T(0) ? 1 : x < T(0) ? -1 : 0); });
  Array m(DType::bool_, Shape{331}), x(tandem::dtype_of<T>(), a), y(tandem::dtype_of<T>(), b), z = x;
  for (int i = 0; i < 331; ++i) m.template data<std::uint8_t>()[i] = i * i % 3 == 1;
  call<Select>({&m, &x, &y}, z);
  for (std::size_t i = 0; i < 331; ++i)
    if (const T want = i * i % 3 == 1 ? a[i] : b[i]; !same(z.template data<T>()[i], want))
      FAIL("select: " << +z.template data<T>()[i] << " instead of " << +want);
  call<Clip>({&x}, z, tandem::Attrs(Bounds{3, 77}));
  for (std::size_t i = 0; i < 331; ++i)
    if (const T want = a[i] < T(3) ? T(3) : a[i] > T(77) ? T(77) : a[i]; !same(z.template data<T>()[i], want))
      FAIL("clip: " << +z.template data<T>()[i] << " instead of " << +want);
}

template <class T>
void check_integer() {
  using U = std::make_unsigned_t<T>;
  using W = std::uint64_t;  // wide enough that no promotion overflows
  constexpr bool is_signed = std::is_signed_v<T>;
  const auto a = numbers<T>(331, 3), b = numbers<T>(331, 4);
  check_real<T>();
  check2<Add, T>(a, b, [](T p, T q) { return T(U(W(p) + W(q))); });
  check2<Subtract, T>(a, b, [](T p, T q) { return T(U(W(p) - W(q))); });
  check2<Multiply, T>(a, b, [](T p, T q) { return T(U(W(p) * W(q))); });
  check2<Divide, T>(a, b, [](T p, T q) { return q == 0 ? T(0) : is_signed && q == T(-1) ? T(U(0 - W(p))) : T(p / q); });
  check2<Remainder, T>(a, b, [](T p, T q) { return q == 0 || (is_signed && q == T(-1)) ? T(0) : T(p % q); });
  check2<And, T>(a, b, [](T p, T q) { return T(p & q); });
  check2<Xor, T>(a, b, [](T p, T q) { return T(p ^ q); });
  std::vector<T> amount(331);
  for (std::size_t i = 0; i < 331; ++i) amount[i] = static_cast<T>(i % (8 * sizeof(T)));
  check2<ShiftLeft, T>(a, amount, [](T p, T n) { return T(U(W(p) << n)); });
  check2<ShiftRight, T>(a, amount, [](T p, T n) { return T(p >> n); });
  check1<Invert, T>(a, [](T x) { return T(~x); });
  check1<Abs, T>(a, [](T x) { return x < 0 ? T(U(0 - W(x))) : x; });
  check1<Negative, T>(a, [](T x) { return T(U(0 - W(x))); });
  check1<Floor, T>(a, [](T x) { return x; });
  check1<Round, T>(a, [](T x) { return x; });
}

template <class T>
void check_float() {
  using L = std::numeric_limits<T>;
  check_real<T>();
  auto a = numbers<T>(331, 5);
  const auto b = numbers<T>(331, 6);
  for (T v :
       {T(0), -T(0), T(0.5), T(-0.5), T(1.5), T(-1.5), T(2.5), T(-2.5), T(0.49999997), L::infinity(), L::denorm_min(),
        -L::denorm_min(), T(8388607.5), T(-8388609), T(4503599627370495.5), L::max(), -L::infinity(), L::quiet_NaN()})
    a.push_back(v);
  check2<Add, T>(numbers<T>(331, 7), b, [](T p, T q) { return p + q; });
  check2<Divide, T>(numbers<T>(331, 8), b, [](T p, T q) { return p / q; });
  const auto bits_equal = [&]<class Rule>(Rule, auto want) {
    const auto y = apply<Rule, T>(a);
    for (std::size_t i = 0; i < a.size(); ++i) {
      INFO("x = " << a[i] << " on set " << tandem::cpu::isa());
      if (!same(y[i], T(want(a[i]))) || std::signbit(y[i]) != std::signbit(T(want(a[i]))))
        FAIL(y[i] << " instead of " << T(want(a[i])));
    }
    CHECK(y.size() == a.size());
  };
  bits_equal(Floor(), [](T x) { return std::floor(x); });
  bits_equal(Ceil(), [](T x) { return std::ceil(x); });
  bits_equal(Trunc(), [](T x) { return std::trunc(x); });
  bits_equal(Round(), [](T x) { return std::nearbyint(x); });
  bits_equal(Abs(), [](T x) { return std::fabs(x); });
  bits_equal(Negative(), [](T x) { return -x; });
  bits_equal(Tangent(), [](T x) { return std::tan(x); });
  std::vector<T> positive;
  for (T v : a) positive.push_back(std::fabs(v));
  check1<Sqrt, T>(positive, [](T x) { return std::sqrt(x); });
  const auto truth = [&]<class Rule>(Rule, auto want) {
    Array x(tandem::dtype_of<T>(), a), out(DType::bool_, x.spec.shape);
    call<Rule>({&x}, out);
    for (std::size_t i = 0; i < a.size(); ++i)
      if (out.template data<std::uint8_t>()[i] != std::uint8_t(want(a[i])))
        FAIL("of " << a[i] << ": " << int(out.template data<std::uint8_t>()[i]));
    CHECK(out.size() == x.size());
  };
  truth(IsNan(), [](T x) { return std::isnan(x); });
  truth(IsInf(), [](T x) { return std::isinf(x); });
  truth(IsFinite(), [](T x) { return std::isfinite(x); });
  truth(IsNegative(), [](T x) { return std::signbit(x); });
}

// What a cast must give, by way of long double, which holds every value of every dtype here.
template <class U, class T>
U cast_reference(T x) {
  if constexpr (std::is_floating_point_v<T> && std::is_integral_v<U>) {
    using L = std::numeric_limits<U>;
    if (x != x) return 0;
    const long double t = std::trunc(static_cast<long double>(x));
    return t > static_cast<long double>(L::max()) ? L::max() : t < static_cast<long double>(L::min()) ? L::min() : U(t);
  } else {
    return static_cast<U>(x);
  }
}
template <class U, class T>
void check_cast() {
  auto x = numbers<T>(331, 9);
  if constexpr (std::is_floating_point_v<T>)
    for (T v :
         {T(255.9), T(-0.9), T(256), T(127.5), T(-129), T(2147483648.0), T(-2147483648.0), T(9223372036854775808.0),
          T(18446744073709551616.0), T(-9223372036854775808.0), T(1e30), T(-1e30), T(4294967295.0)})
      x.push_back(v);
  check1<Cast<U>, U>(x, cast_reference<U, T>);
}
template <class T>
void check_casts_from() {
  check_cast<float, T>(), check_cast<double, T>();
  check_cast<std::int8_t, T>(), check_cast<std::int16_t, T>(), check_cast<std::int32_t, T>(), check_cast<i64, T>();
  check_cast<std::uint8_t, T>(), check_cast<std::uint16_t, T>(), check_cast<std::uint32_t, T>();
  check_cast<std::uint64_t, T>();
}

}  // namespace

TEST_CASE("integer packs wrap and never trap", "[cpu][pack]") {
  on_every_set([](int) {
    check_integer<std::int8_t>(), check_integer<std::int16_t>(), check_integer<std::int32_t>(), check_integer<i64>();
    check_integer<std::uint8_t>(), check_integer<std::uint16_t>(), check_integer<std::uint32_t>();
    check_integer<std::uint64_t>();
  });
}

TEST_CASE("float packs agree with the C library", "[cpu][pack]") {
  on_every_set([](int) { check_float<float>(), check_float<double>(); });
}

TEST_CASE("casts truncate, saturate and wrap", "[cpu][pack]") {
  on_every_set([](int) {
    check_casts_from<float>(), check_casts_from<double>();
    check_casts_from<std::int8_t>(), check_casts_from<std::int16_t>(), check_casts_from<std::int32_t>();
    check_casts_from<i64>(), check_casts_from<std::uint8_t>(), check_casts_from<std::uint16_t>();
    check_casts_from<std::uint32_t>(), check_casts_from<std::uint64_t>();
  });
}

TEST_CASE("every length is computed, and nothing beyond it is written", "[cpu][pack]") {
  on_every_set([](int level) {
    for (int n = 0; n < 150; ++n) {
      INFO("length " << n << " on set " << level);
      std::vector<float> a(150), b(150);
      for (int i = 0; i < 150; ++i)
        a[static_cast<std::size_t>(i)] = static_cast<float>(i), b[static_cast<std::size_t>(i)] = 1000;
      Array x(DType::float32, a), y(DType::float32, b), sum(DType::float32, b), less(DType::bool_, Shape{150});
      std::memset(less.data<std::uint8_t>(), 7, 150);
      for (Array* t : {&x, &y, &sum, &less}) t->spec.shape = Shape{n};
      call<Add>({&x, &y}, sum);
      call<Less>({&x, &y}, less);
      for (int i = 0; i < 150; ++i) {
        REQUIRE(sum.data<float>()[i] == (i < n ? static_cast<float>(i) + 1000 : 1000));
        REQUIRE(less.data<std::uint8_t>()[i] == (i < n ? 1 : 7));
      }
    }
  });
}

TEST_CASE("truth values are bytes 0 and 1", "[cpu][pack]") {
  on_every_set([](int) {
    Array a(DType::bool_, Shape{97}), b(DType::bool_, Shape{97}), y(DType::bool_, Shape{97});
    for (int i = 0; i < 97; ++i) a.data<std::uint8_t>()[i] = i % 2 == 0, b.data<std::uint8_t>()[i] = i % 3 == 0;
    call<Not>({&a}, y);
    for (int i = 0; i < 97; ++i) REQUIRE(y.data<std::uint8_t>()[i] == (i % 2 != 0));
    call<And>({&a, &b}, y);
    for (int i = 0; i < 97; ++i) REQUIRE(y.data<std::uint8_t>()[i] == (i % 6 == 0));
    call<Equal>({&a, &b}, y);
    for (int i = 0; i < 97; ++i) REQUIRE(y.data<std::uint8_t>()[i] == ((i % 2 == 0) == (i % 3 == 0)));
  });
}

TEST_CASE("half precision is computed in float32 and rounded once", "[cpu][pack]") {
  on_every_set([](int) {
    for (DType d : {DType::float16, DType::bfloat16}) {
      Array x(d, Shape{2500}), y(d, Shape{2500});
      const auto value = [&](const Array& t, int i) {
        return d == DType::float16 ? float(t.data<tandem::Half>()[i]) : float(t.data<tandem::BFloat16>()[i]);
      };
      for (int i = 0; i < 2500; ++i) {
        const float v = static_cast<float>(i - 1200) * 0.37f;
        d == DType::float16 ? void(x.data<tandem::Half>()[i] = tandem::Half(v))
                            : void(x.data<tandem::BFloat16>()[i] = tandem::BFloat16(v));
      }
      call<Halved>({&x}, y);
      for (int i = 0; i < 2500; ++i) REQUIRE(value(y, i) == value(x, i) * 0.5f);
    }
  });
}

TEST_CASE("a dtype without loops raises", "[cpu][pack]") {
  Array x(DType::complex64, Shape{2}), y = x;
  CHECK_THROWS_WITH(call<Abs>({&x}, y), ContainsSubstring("test: no CPU kernel for complex64"));
}
