// The kernels that move data: planes turned over on every instruction set, copies past the caches, interleaved columns.
#include <cstring>

#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sets.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using testing::Index;

TEST_CASE("every instruction set turns planes over, also past the caches", "[layout]") {
  testing::on_every_set([] {
    for (const Shape& s :
         {Shape{1024, 513}, Shape{37, 45}, Shape{1501, 1407}, Shape{3, 20, 31}}) {  // 1 KB apart, small, large
      const Tensor x = testing::numbered(s, DType::float32), y = transpose(x);
      CAPTURE(to_string(s));
      CHECK(testing::misplaced(y, x,
                               [&](const Index& at) { return testing::place(s, Index(at.rbegin(), at.rend())); }) == 0);
    }
  });
}

TEST_CASE("concat and split past the caches", "[layout]") {
  const Tensor a = testing::numbered({3, 2000000}, float32), b = testing::numbered({3, 999999}, float32);
  const Tensor c = concat({a, b}, 1);
  const auto at = [](const Tensor& t) { return t.data<float>().data(); };
  for (int row = 0; row < 3; ++row) {
    CHECK(std::memcmp(at(c[row]), at(a[row]), 8000000) == 0);
    CHECK(std::memcmp(at(c[row]) + 2000000, at(b[row]), 3999996) == 0);
  }
  const std::vector<Tensor> parts = split(c, std::vector<i64>{2000000, 999999}, 1);
  CHECK(std::memcmp(at(parts[0]), at(a), 24000000) == 0);
  CHECK(std::memcmp(at(parts[1]), at(b), 11999988) == 0);
}

TEST_CASE("rows of several odd runs are joined past the caches", "[layout]") {
  const Tensor a = testing::numbered({3001, 1111}, float32), b = testing::numbered({3001, 1}, float32);
  const Tensor c = testing::numbered({3001, 1777}, float32);
  testing::on_every_set([&] {
    const Tensor joined = concat({a, b, c}, 1);
    const auto at = [](const Tensor& t) { return t.data<float>().data(); };
    int wrong = 0;
    for (i64 r = 0; r < 3001; ++r) {
      const float* const row = at(joined) + r * 2889;
      wrong += std::memcmp(row, at(a) + r * 1111, 1111 * 4) != 0;
      wrong += std::memcmp(row + 1111, at(b) + r, 4) != 0;
      wrong += std::memcmp(row + 1112, at(c) + r * 1777, 1777 * 4) != 0;
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("runs of every length are joined, split, cut out and moved", "[layout]") {
  testing::on_every_set([] {
    for (i64 n = 1; n <= 150; ++n) {
      const Tensor a = testing::numbered({2, 5, n}, uint8), b = testing::numbered({2, 5, n / 2 + 17}, uint8);
      const auto same = [](const Index& at) { return at; };
      const auto place_in = [](const Tensor& t, auto from) {
        return [&t, from](const Index& at) { return testing::place(t.shape(), from(at)); };
      };
      CAPTURE(n);
      const Tensor joined = concat({a, b}, 2);
      const std::vector<Tensor> back = split(joined, std::vector<i64>{n, n / 2 + 17}, 2);
      CHECK(testing::misplaced(back[0], a, place_in(a, same)) == 0);
      CHECK(testing::misplaced(back[1], b, place_in(b, same)) == 0);
      CHECK(testing::misplaced(joined(Ellipsis, Slice(n, joined.shape().dim(2))), b, place_in(b, same)) == 0);
      CHECK(testing::misplaced(transpose(a, {1, 0, 2}), a, place_in(a, [](const Index& at) {
                                 return Index{at[1], at[0], at[2]};
                               })) == 0);
    }
  });
}

TEST_CASE("two to five columns are stacked and unstacked", "[layout]") {
  testing::on_every_set([] {
    for (const DType d : {uint8, float32, float64, complex64, complex128})
      for (i64 parts = 2; parts <= 5; ++parts) {
        std::vector<Tensor> list;
        for (i64 p = 0; p < parts; ++p) list.push_back(testing::numbered({p + 1, 29, 3}, d)[p]);
        const Tensor y = stack(list, 2);
        const std::vector<Tensor> back = unstack(y, {.axis = 2});
        CAPTURE(name(d), parts);
        for (std::size_t p = 0; p < list.size(); ++p) {
          CHECK(testing::misplaced(y(Ellipsis, static_cast<i64>(p)), list[p],
                                   [](const Index& at) { return at[0] * 3 + at[1]; }) == 0);
          CHECK(testing::misplaced(back[p], list[p], [](const Index& at) { return at[0] * 3 + at[1]; }) == 0);
        }
      }
  });
}

TEST_CASE("columns are stacked past the caches", "[layout]") {
  testing::on_every_set([] {
    for (std::size_t parts = 2; parts <= 4; ++parts) {
      const i64 n = 9000001 / static_cast<i64>(parts);
      const Tensor whole = testing::numbered({static_cast<i64>(parts), n}, float32);
      const Tensor y = stack(unstack(whole), static_cast<i64>(1));
      int wrong = 0;
      const float *const from = whole.data<float>().data(), *to = y.data<float>().data();
      for (i64 i = 0; i < n; ++i)
        for (std::size_t p = 0; p < parts; ++p) wrong += *to++ != from[static_cast<i64>(p) * n + i];
      CAPTURE(parts);
      CHECK(wrong == 0);
    }
  });
}
