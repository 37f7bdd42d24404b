// The promises about tensors, dtypes, creation, shapes and errors, with their numbers.
#include <cmath>
#include <complex>
#include <limits>
#include <sstream>

#include "tandem/core/print.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace features_tensors {

using namespace tandem;
using testing::error_of;
using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;
constexpr DType all_dtypes[] = {float32, float64,   int8,    int16,    int32,  int64,  uint8,  bool_,
                                string,  complex64, float16, bfloat16, uint16, uint32, uint64, complex128};

std::string streamed(const Tensor& t) {
  std::ostringstream s;
  s << t;
  return s.str();
}

TEST_CASE("an op computes when it is called, and its result streams in full") {
  const Tensor x = random::normal({10, 10}, {.seed = 1}), y = random::normal({10, 10}, {.seed = 2});
  const Floats a = x.to_vector<float>(), b = y.to_vector<float>(), c = matmul(x, y).to_vector<float>();
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t j = 0; j < 10; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 10; ++k) sum += double(a[10 * i + k]) * double(b[10 * k + j]);
      CHECK(c[10 * i + j] == Approx(sum).epsilon(1e-5).margin(1e-5));
    }
  const std::string text = streamed(x);
  CHECK_THAT(text, ContainsSubstring("shape=(10, 10)") && ContainsSubstring("dtype=float32"));
  for (i64 i = 0; i < 10; ++i)
    for (i64 j = 0; j < 10; ++j) CHECK_THAT(text, ContainsSubstring(values_to_string(x[i][j])));
  CHECK(streamed(constant(1) + constant(2)) == "tandem.Tensor(3, shape=(), dtype=int32)");
  const std::string large = streamed(range(1001));  // the first and last three
  CHECK_THAT(large, ContainsSubstring("0, 1, 2, ..., 998, 999, 1000") && !ContainsSubstring("500"));
  CHECK_THAT(streamed(range(1000)), ContainsSubstring("500"));
}

TEST_CASE("every dtype is created, printed, copied, and cast to every numeric one and back") {
  for (const DType d : all_dtypes) {
    CAPTURE(name(d));
    const Tensor t = zeros({2, 3}, d), copy = t;
    CHECK((copy.dtype() == d && copy.shape() == Shape{2, 3} && copy.is_same(t)));
    CHECK_THAT(streamed(t),
               ContainsSubstring("shape=(2, 3)") &&
                   ContainsSubstring("dtype=" + std::string(name(d) == std::string("bool_") ? "bool" : name(d))));
    if (d == string) continue;
    const Tensor bits = cast(constant({0, 1}), d);
    for (const DType to : all_dtypes)
      if (to != string) CHECK(reduce_all(cast(cast(bits, to), d) == bits).item<bool>());
  }
  CHECK((constant({"a", "b"}) == constant({"a", "c"})).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(constant(std::string("\xff\0b", 3)).item<std::string>().size() == 3);
  using Complex = std::complex<float>;
  CHECK((constant(Complex(1, 2)) + constant(Complex(3, -1))).item<Complex>() == Complex(4, 1));
  CHECK((constant(Complex(1, 2)) * constant(Complex(3, -1))).item<Complex>() == Complex(5, 5));
  static_assert(dtype_of<std::int32_t>() == int32);
}

TEST_CASE("creation") {
  CHECK(constant(50).shape() == Shape{});
  const Tensor fruit = constant({"apple", "peach", "grape"});
  CHECK((fruit.shape() == Shape{3} && fruit.dtype() == string));
  const Tensor flags = constant({{true, false, false}, {false, false, true}, {false, true, false}});
  CHECK((flags.shape() == Shape{3, 3} && flags.dtype() == bool_));
  const Tensor longs =
      constant({{{0l, 0l}, {0l, 1l}, {0l, 2l}}, {{1l, 0l}, {1l, 1l}, {1l, 2l}}, {{2l, 0l}, {2l, 1l}, {2l, 2l}}});
  CHECK((longs.shape() == Shape{3, 3, 2} && longs.dtype() == int64));
  CHECK(constant(0.1, {.shape = {3}}).to_vector<float>() == Floats{0.1f, 0.1f, 0.1f});
  CHECK(range(-2, 3).to_vector<std::int32_t>() == Ints{-2, -1, 0, 1, 2});
  CHECK(zeros({2, 4, 0}).size() == 0);
  const Tensor x = random::normal({2, 4, 1}, {.seed = 3});
  CHECK(concat({zeros({2, 4, 0}), x}, 2).to_vector<float>() == x.to_vector<float>());
  CHECK(concat({zeros({2, 4, 0}), x}, 2).shape() == x.shape());
}

TEST_CASE("shapes are known before a kernel runs") {
  CHECK(matmul(ones({2, 3}), ones({3, 4})).shape() == Shape{2, 4});
  const Ints green{0, 255, 0}, blue{0, 0, 255};
  Ints pixels;
  for (int i = 0; i < 6; ++i) pixels.insert(pixels.end(), green.begin(), green.end());
  for (int i = 0; i < 6; ++i) pixels.insert(pixels.end(), blue.begin(), blue.end());
  const Tensor images = constant(pixels, {.shape = {2, 2, 3, 3}});
  CHECK(images[0][0][0].to_vector<std::int32_t>() == green);
  CHECK(images[1][1][2].to_vector<std::int32_t>() == blue);
  CHECK((shape(images).dtype() == int32 && shape(images).to_vector<std::int32_t>() == Ints{2, 2, 3, 3}));
  CHECK(shape(images, {.out_type = int64}).dtype() == int64);
  CHECK(zeros({1, 1, 1, 1, 1, 1, 1, 1}).rank() == 8);
}

TEST_CASE("float32 is IEEE 754's, eager and traced, on every thread") {
  const float inf = std::numeric_limits<float>::infinity(), tiny = 1.4013e-45f;
  for (const float y : {0.f, inf}) CHECK(std::isnan((1 * constant(y) / constant(y)).item<float>()));
  const Tensor smallest = nextafter(constant(0.f), constant(1.f));
  CHECK(smallest.item<float>() == tiny);
  CHECK(identity(smallest).item<float>() == tiny);
  CHECK((smallest * 1).item<float>() == tiny);
  CHECK(function([](const Tensor& x) { return identity(x) * 1; })(smallest).item<float>() == tiny);
  const Tensor many = broadcast_to(smallest, {1 << 20});  // long enough for all threads
  CHECK(reduce_all(many * 1 == smallest).item<bool>());
  CHECK(reduce_all(function([](const Tensor& x) { return x * 1 + 0; })(many) == smallest).item<bool>());
  const float largest = 3.4028235e38f;
  CHECK(log(constant(largest)).item<float>() == Approx(88.72284f).epsilon(1e-7));
  CHECK((constant(largest) * 2).item<float>() == inf);
}

TEST_CASE("errors name the op, the shapes and the dtypes, and leave all as it was") {
  const Tensor a = ones({2, 3}), b = ones({4, 5});
  GradientTape tape;
  tape.watch(a);
  const Tensor y = reduce_sum(a * a);
  CHECK_THAT(error_of([&] { matmul(a, b); }),
             ContainsSubstring("matmul") && ContainsSubstring("float32[2,3]") && ContainsSubstring("float32[4,5]"));
  CHECK_THAT(error_of([] {
               add(ones({3, 2}), ones({3, 4}));
             }),
             ContainsSubstring("add") && ContainsSubstring("float32[3,2]") && ContainsSubstring("float32[3,4]"));
  CHECK_THAT(error_of([&] {
               add(a, ones({2, 3}, int32));
             }),
             ContainsSubstring("add") && ContainsSubstring("float32[2,3]") && ContainsSubstring("int32[2,3]"));
  CHECK(reduce_sum(a).item<float>() == 6);
  CHECK(tape.gradient(y, a).to_vector<float>() == Floats(6, 2));
}

TEST_CASE("shapes with unknown dimensions are checked on every call") {
  const TensorShape open = TensorSpec({none, 128}, float32).shape;
  CHECK(open.as_list() == std::vector<i64>{none, 128});
  std::ostringstream text;
  text << open;
  CHECK(text.str() == "(None, 128)");
  CHECK(open.is_compatible_with({7, 128}));
  CHECK(!open.is_fully_defined());
  CHECK(open.merge_with({7, none}) == Shape{7, 128});
  auto f = function([](const Tensor& x) { return reduce_sum(x, 1); },
                    {.input_signature = {TensorSpec({none, 128}, float32)}});
  for (int batch = 1; batch <= 100; ++batch) CHECK(f(ones({batch, 128})).shape() == Shape{batch});
  CHECK(f.trace_count() == 1);
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
               f(ones({3, 129}));
             }),
             ContainsSubstring("None,128") && ContainsSubstring("3,129"));
  auto checked = function(
      [](const Tensor& x) {
        return ensure_shape(x, {32, 128}) + 1;
      },
      {.input_signature = {TensorSpec({none, 128}, float32)}});
  CHECK(checked(ones({32, 128})).shape() == Shape{32, 128});
  CHECK_THROWS_AS(checked(ones({31, 128})), errors::InvalidArgumentError);
}

}  // namespace features_tensors
