// Shapes and axes: dims, edits, compatibility, text; axes against a rank. Dtypes: sizes, names, sets.
#include "tandem/base/shape.hpp"

#include <complex>
#include <span>
#include <sstream>
#include <vector>

#include "tandem/base/axes.hpp"
#include "tandem/base/device.hpp"
#include "tandem/base/spec.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

TEST_CASE("shape: dims, size and text") {
  const Shape s{2, 3, 4};
  CHECK(s.rank() == 3);
  CHECK(s.size() == 24);
  CHECK((s[0] == 2 && s.dim(-1) == 4 && s.dim(1) == 3));
  CHECK(to_string(s) == "(2, 3, 4)");
  CHECK(to_string(Shape{}) == "()");
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{2, 0, 3}.size() == 0);
  CHECK(to_string(Shape{2, none}) == "(2, None)");
  const std::vector<i64> dims{5, 6};
  CHECK(Shape(std::span<const i64>(dims)) == Shape{5, 6});
  CHECK(std::vector<i64>(s.begin(), s.end()) == std::vector<i64>{2, 3, 4});
}

TEST_CASE("shape: edits") {
  Shape s{2, 3};
  s.insert(1, 7);
  CHECK(s == Shape{2, 7, 3});
  s.insert(0, 1), s.insert(4, 9);
  CHECK(s == Shape{1, 2, 7, 3, 9});
  s.erase(2), s.erase(0), s.erase(2);
  CHECK(s == Shape{2, 3});
  s.set(0, 5), s.push_back(none);
  CHECK(s == Shape{5, 3, none});
  s.resize(1);
  CHECK(s == Shape{5});
}

TEST_CASE("shape: at most eight dims") {
  Shape s{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(s.rank() == max_rank);
  CHECK_THROWS_AS(s.push_back(9), errors::InvalidArgumentError);
  CHECK_THROWS_AS(s.insert(0, 9), errors::InvalidArgumentError);
  CHECK_THROWS_AS((Shape{1, 2, 3, 4, 5, 6, 7, 8, 9}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(s.push_back(9), ContainsSubstring("above the limit of 8"));
  CHECK(s == Shape{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("shape: lists, merging, streaming") {
  const TensorShape s{none, 128};
  CHECK(s.as_list() == std::vector<i64>{none, 128});
  CHECK(Shape{}.as_list().empty());
  CHECK(!s.is_fully_defined());
  CHECK(s.merge_with({32, none}) == Shape{32, 128});
  CHECK(s.merge_with({32, none}).is_fully_defined());
  CHECK(s.merge_with(s) == s);
  CHECK_THROWS_AS(s.merge_with({32, 129}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(s.merge_with({32, 128, 1}), ContainsSubstring("(None, 128)") && ContainsSubstring("(32, 128, 1)"));
  std::ostringstream out;
  out << s << Shape{} << Shape{3};
  CHECK(out.str() == "(None, 128)()(3,)");
  for (const Shape& any : {s, Shape{}, Shape{3}, Shape{0, 7}}) {
    std::ostringstream one;
    one << any;
    CHECK(one.str() == to_string(any));
  }
}

TEST_CASE("tensor spec: the type of x.spec()") {
  static_assert(std::is_same_v<TensorSpec, Spec>);
  const TensorSpec s({none, 128}, float32, "pixels");
  CHECK(to_string(s) == "float32[None,128]");
  CHECK(TensorSpec({2}).dtype == float32);
  CHECK((TensorSpec({}).shape == Shape{} && TensorSpec({none}).shape == Shape{none}));
  CHECK(s.is_compatible_with({{5, 128}, float32, {}}));
  CHECK(!s.is_compatible_with({{5, 129}, float32, {}}));
  CHECK(!s.is_compatible_with({{5, 128}, float64, {}}));
  const Spec plain = s;
  CHECK(plain == Spec{{none, 128}, float32, {}});
  CHECK(static_cast<const Spec&>(TensorSpec::from_spec({{3}, int32, {Device::gpu, 1}})) ==
        Spec{{3}, int32, {Device::gpu, 1}});
}

TEST_CASE("shape: equality and compatibility") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK(!(Shape{2, 3} == Shape{2, 3, 1}));
  CHECK(!(Shape{2, none} == Shape{2, 3}));
  CHECK(Shape{2, none}.is_compatible_with({2, 3}));
  CHECK(Shape{2, 3}.is_compatible_with({none, none}));
  CHECK(!Shape{2, none}.is_compatible_with({3, 3}));
  CHECK(!Shape{2, none}.is_compatible_with({2}));
  CHECK(Shape{2, 3}.is_fully_defined());
  CHECK(!Shape{2, none}.is_fully_defined());
}

TEST_CASE("axes: masks") {
  CHECK(Axes().mask("op", 3) == 7u);
  CHECK(Axes().mask("op", 0) == 0u);
  CHECK(Axes::none().mask("op", 3) == 0u);
  CHECK(Axes{0, -1}.mask("op", 3) == 5u);
  CHECK(Axes(1).mask("op", 3) == 2u);
  CHECK(!Axes().given());
  CHECK(Axes::none().given());
  CHECK(resolve_axis("op", -3, 3) == 0);
}

TEST_CASE("axes: errors name the op and the range") {
  CHECK_THROWS_WITH(Axes{3}.mask("reduce_sum", 3), ContainsSubstring("reduce_sum") && ContainsSubstring("-3 to 2"));
  CHECK_THROWS_WITH(Axes{-4}.mask("op", 3), ContainsSubstring("axis -4"));
  CHECK_THROWS_WITH((Axes{1, -2}.mask("op", 3)), ContainsSubstring("given twice"));
  CHECK_THROWS_WITH(resolve_axis("op", 0, 0), ContainsSubstring("a scalar has no axes"));
  CHECK_THROWS_AS(Axes(1000), errors::InvalidArgumentError);
  CHECK_THROWS_AS((Axes{0, 1, 2, 3, 4, 5, 6, 7, 0}), errors::InvalidArgumentError);
}

TEST_CASE("dtype: streamed by its name") {
  std::ostringstream out;
  out << DType::float32 << " " << DType::bool_;
  CHECK(out.str() == "float32 bool");
}

TEST_CASE("dtype: the C++ type of each") {
  CHECK(dtype_of<float>() == float32);
  CHECK(dtype_of<double>() == float64);
  CHECK(dtype_of<bool>() == bool_);
  CHECK(dtype_of<signed char>() == int8);
  CHECK(dtype_of<unsigned short>() == uint16);
  CHECK(dtype_of<long>() == int64);
  CHECK(dtype_of<unsigned long long>() == uint64);
  CHECK(dtype_of<std::complex<float>>() == complex64);
  CHECK(dtype_of<std::complex<double>>() == complex128);
  CHECK(dtype_of<std::string>() == string);
  CHECK(dtype_of<Half>() == float16);
  CHECK(size_of(bfloat16) == 2);
  CHECK(size_of(complex128) == 16);
  CHECK(name(bool_) == std::string("bool"));
  CHECK((dtypes::floating | int32).has(int32));
  CHECK(!dtypes::real.has(bool_));
  for (int d = 0; d < dtype_count; ++d) CHECK(dtypes::all.has(static_cast<DType>(d)));
  CHECK(to_string(Spec{{2, 3}, bool_, {}}) == "bool[2,3]");
  CHECK(to_string(Device{Device::gpu, 1}) == "GPU:1");
}
