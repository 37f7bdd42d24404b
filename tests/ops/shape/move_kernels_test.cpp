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

TEST_CASE("two to five columns are stacked and unstacked", "[layout]") {
  for (const DType d : {uint8, float32, float64, complex64, complex128})
    for (i64 parts = 2; parts <= 5; ++parts) {
      std::vector<Tensor> list;
      for (i64 p = 0; p < parts; ++p) list.push_back(testing::numbered({p + 1, 7, 3}, d)[p]);
      const Tensor y = stack(list, 2);
      const std::vector<Tensor> back = unstack(y, {.axis = 2});
      CAPTURE(name(d), parts);
      for (std::size_t p = 0; p < list.size(); ++p) {
        CHECK(testing::misplaced(y(Ellipsis, static_cast<i64>(p)), list[p],
                                 [](const Index& at) { return at[0] * 3 + at[1]; }) == 0);
        CHECK(testing::misplaced(back[p], list[p], [](const Index& at) { return at[0] * 3 + at[1]; }) == 0);
      }
    }
}
