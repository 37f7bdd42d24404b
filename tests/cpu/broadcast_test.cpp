// Broadcasting in the pointwise kernels against a naive loop: random shapes of rank 0 to 8 with axes of length 0 and 1,
// every dtype; the shapes that have their own path; equal bits for any number of threads.
#include <algorithm>
#include <cmath>
#include <random>

#include "rule_call.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tests/support/catch.hpp"

using namespace rule_call;
namespace dtypes = tandem::dtypes;

namespace {

struct Subtract {  // not commutative: swapped operands show
  static constexpr Info info{2, dtypes::real | dtypes::half_floating};
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a - b;
  }
};
struct Less {
  static constexpr Info info{2, dtypes::real};
  template <class V>
  static TANDEM_HD auto forward(V a, V b) {
    return a < b;
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
struct Wave {
  static constexpr Info info{2, dtypes::floating};
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    using namespace tandem::rules;
    return sin(a) * tanh(b);
  }
};

std::mt19937 generator(7);
int random_int(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator); }

// Where an input's element for the flat index `at` of the output lies.
i64 naive_index(const Shape& x, const Shape& out, i64 at) {
  i64 index = 0, step = 1;
  for (int d = 1; d <= out.rank(); ++d) {
    const i64 n = out[out.rank() - d], i = at % n;
    at /= n;
    if (d > x.rank()) continue;
    const i64 m = x[x.rank() - d];
    if (m != 1) index += i * step;
    step *= m;
  }
  return index;
}
Shape broadcast(const Shape& a, const Shape& b) {
  Shape r = a.rank() >= b.rank() ? a : b;
  for (int d = 1; d <= std::min(a.rank(), b.rank()); ++d) {
    const i64 x = a[a.rank() - d], y = b[b.rank() - d];
    r.set(r.rank() - d, x == 1 ? y : x);
  }
  return r;
}
// A random shape that broadcasts to `out`: leading axes left off, others 1.
Shape narrowed(const Shape& out) {
  Shape r;
  for (int d = random_int(0, out.rank()); d < out.rank(); ++d) r.push_back(random_int(0, 2) ? out[d] : 1);
  return r;
}
Shape random_shape() {
  Shape s;
  const int rank = random_int(0, 8), longest = rank > 5 ? 3 : rank > 3 ? 6 : rank > 1 ? 40 : 3000;
  for (int d = 0; d < rank; ++d) s.push_back(random_int(0, 30) ? random_int(1, longest) : 0);
  return s;
}

template <class T>
Array filled(DType dtype, const Shape& shape) {
  Array a(dtype, shape);
  for (i64 i = 0; i < a.size(); ++i) a.data<T>()[i] = T(random_int(0, 100));
  return a;
}

template <class T>
void check_shapes(DType dtype, const Shape& sa, const Shape& sb) {
  INFO(to_string(sa) << " - " << to_string(sb) << " of " << name(dtype) << " on set " << tandem::cpu::isa());
  const Shape so = broadcast(sa, sb);
  Array a = filled<T>(dtype, sa), b = filled<T>(dtype, sb), y(dtype, so), less(DType::bool_, so), chosen(dtype, so);
  Array m = filled<std::uint8_t>(DType::bool_, sb);
  for (i64 i = 0; i < m.size(); ++i) m.data<std::uint8_t>()[i] &= 1;
  const Line guard = y.lines.back();
  call<Subtract>({&a, &b}, y);
  call<Less>({&a, &b}, less);
  call<Select>({&m, &a, &b}, chosen);
  for (i64 i = 0; i < so.size(); ++i) {
    const i64 ib = naive_index(sb, so, i);
    const T p = a.data<T>()[naive_index(sa, so, i)], q = b.data<T>()[ib];
    if (y.data<T>()[i] != static_cast<T>(p - q)) REQUIRE(i == -1);
    if (less.data<std::uint8_t>()[i] != (p < q)) REQUIRE(i == -2);
    if (chosen.data<T>()[i] != (m.data<std::uint8_t>()[ib] ? p : q)) REQUIRE(i == -3);
  }
  CHECK((so.size() > 0 || y.lines.back() == guard));
}
template <class T>
void check_random(DType dtype, int times) {
  for (int k = 0; k < times; ++k) {
    const Shape whole = random_shape(), a = narrowed(whole), b = narrowed(whole);
    check_shapes<T>(dtype, a, b);
    check_shapes<T>(dtype, whole, b);
    check_shapes<T>(dtype, a, whole);
  }
}

template <class H>
void check_half(DType dtype) {
  for (int k = 0; k < 20; ++k) {
    const Shape whole = random_shape(), sb = narrowed(whole);
    Array a(dtype, whole), b(dtype, sb), y(dtype, whole);
    for (Array* t : {&a, &b})
      for (i64 i = 0; i < t->size(); ++i) t->data<H>()[i] = H(static_cast<float>(random_int(0, 100)));
    call<Subtract>({&a, &b}, y);
    for (i64 i = 0; i < whole.size(); ++i)
      REQUIRE(float(y.data<H>()[i]) == float(a.data<H>()[i]) - float(b.data<H>()[naive_index(sb, whole, i)]));
  }
}

}  // namespace

TEST_CASE("random shapes broadcast as a naive loop does", "[cpu][broadcast]") {
  on_every_set([](int) {
    check_random<float>(DType::float32, 60);
    check_random<double>(DType::float64, 30);
    check_random<std::int32_t>(DType::int32, 30);
    check_random<i64>(DType::int64, 30);
  });
  check_random<std::int8_t>(DType::int8, 30);
  check_random<std::int16_t>(DType::int16, 30);
  check_random<std::uint8_t>(DType::uint8, 30);
  check_random<std::uint16_t>(DType::uint16, 30);
  check_random<std::uint32_t>(DType::uint32, 30);
  check_random<std::uint64_t>(DType::uint64, 30);
  check_half<tandem::Half>(DType::float16);
  check_half<tandem::BFloat16>(DType::bfloat16);
}

TEST_CASE("scalars, rows, columns and outer sums of all lengths", "[cpu][broadcast]") {
  on_every_set([](int) {
    for (i64 n : {1, 2, 3, 10, 100, 511, 512, 513, 1023, 1024, 1025, 3000})
      for (i64 m : {1, 2, 7, 300}) {
        check_shapes<float>(DType::float32, {m, n}, {});
        check_shapes<float>(DType::float32, {m, n}, {n});
        check_shapes<float>(DType::float32, {m, n}, {m, 1});
        check_shapes<float>(DType::float32, {m, 1}, {1, n});
        check_shapes<float>(DType::float32, {n}, {m, n});
      }
  });
}

TEST_CASE("axes that every input crosses alike become one", "[cpu][broadcast]") {
  const auto axes = [](const Shape& a, const Shape& b) {
    const Shape* const in[] = {&a, &b};
    return tandem::cpu::broadcast_axes(in, broadcast(a, b));
  };
  CHECK(axes({2, 3, 4}, {2, 3, 4}).rank == 1);
  CHECK(axes({2, 3, 4}, {}).rank == 1);
  CHECK(axes({2, 3, 4}, {4}).rank == 2);
  CHECK(axes({2, 3, 4}, {3, 4}).rank == 2);
  CHECK(axes({2, 3, 4}, {2, 1, 1}).rank == 2);
  CHECK(axes({2, 3, 4}, {2, 1, 4}).rank == 3);
  CHECK(axes({2, 1, 3, 1, 4}, {1, 3, 1, 4}).rank == 2);
  CHECK(axes({}, {}).rank == 1);
  CHECK(axes({2, 3, 4}, {3, 4}).rows() == 2);
  CHECK(axes({2, 3, 4}, {3, 4}).inner() == 12);
}

TEST_CASE("one thread and four give equal bits", "[cpu][broadcast]") {
  const Shape shapes[][2] = {
      {{300, 700}, {700}}, {{300, 700}, {300, 1}}, {{210001}, {}}, {{210001}, {210001}}, {{9000, 23}, {23}}};
  on_every_set([&](int) {
    for (const auto& [sa, sb] : shapes) {
      Array a = filled<float>(DType::float32, sa), b = filled<float>(DType::float32, sb), one(DType::float32, sa),
            many = one;
      tandem::config::set_intra_op_parallelism_threads(1);
      call<Wave>({&a, &b}, one);
      tandem::config::set_intra_op_parallelism_threads(4);
      call<Wave>({&a, &b}, many);
      CHECK(one.lines == many.lines);
    }
  });
  tandem::config::set_intra_op_parallelism_threads(0);
}

TEST_CASE("results far larger than the caches are right too", "[cpu][broadcast]") {
  const i64 n = 8 * 1024 * 1024 + 37;
  Array a(DType::float32, Shape{n}), b = a, y = a, one(DType::float32, Shape{});
  for (i64 i = 0; i < n; ++i)
    a.data<float>()[i] = static_cast<float>(i % 1001), b.data<float>()[i] = static_cast<float>(i % 17);
  *one.data<float>() = 1;
  on_every_set([&](int) {
    i64 wrong = 0;
    call<Subtract>({&a, &b}, y);
    for (i64 i = 0; i < n; ++i)
      wrong += y.data<float>()[i] != static_cast<float>(i % 1001) - static_cast<float>(i % 17);
    CHECK(wrong == 0);
    call<Subtract>({&a, &one}, y);
    for (i64 i = 0; i < n; ++i) wrong += y.data<float>()[i] != static_cast<float>(i % 1001) - 1;
    CHECK(wrong == 0);
  });
}
