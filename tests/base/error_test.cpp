// Errors: kinds, codes, and that texts name the op, what was wrong, the specs, and a way out.
#include "tandem/base/error.hpp"

#include <cstdlib>
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using testing::error_of;

namespace {
// What f raises, which must be an E.
template <class E, class F>
E raised_by(const F& f) {
  try {
    f();
  } catch (const E& e) {
    return e;
  }
  FAIL("nothing was raised");
  std::abort();
}
}  // namespace

TEST_CASE("errors: a kind is an OpError with a code and the op's name") {
  const auto e = raised_by<errors::NotFoundError>([] { errors::raise<errors::NotFoundError>("restore", "no file"); });
  CHECK(e.op() == "restore");
  CHECK(e.code() == errors::Code::not_found);
  CHECK(std::string(e.what()) == "restore: no file");
  CHECK_THROWS_AS(errors::raise<errors::OutOfRangeError>("a", "b"), std::runtime_error);
  CHECK_THROWS_AS(errors::raise<errors::TraceError>("a", "b"), errors::FailedPreconditionError);
  CHECK_THROWS_AS(errors::raise<errors::CudaError>("a", "b"), errors::InternalError);
}

TEST_CASE("errors: the user's name of a call is in the text") {
  const Tensor a = ones({2}), b = ones({3});
  const int line = __LINE__ + 1;
  const std::string text = error_of([&] { add(a, b, {.name = "logits"}); });
  CHECK(text == "add 'logits': shapes do not broadcast: float32[2] x float32[3] (at " __FILE__ ":" +
                    std::to_string(line) + ")");
  CHECK(raised_by<errors::InvalidArgumentError>([&] { add(a, b, {.name = "logits"}); }).op() == "add");
}

TEST_CASE("errors: texts have specs and hints") {
  const Tensor m = ones({2, 3}), n = ones({4, 5}), f = ones({3}, {.dtype = float64});
  CHECK(error_of([&] {
          matmul(m, n);
        }).starts_with("matmul: inner dimensions differ: float32[2,3] x float32[4,5] (at " __FILE__ ":"));
  CHECK_THAT(error_of([&] { matmul(m, ones({4, 3})); }), ContainsSubstring("did you mean .transpose_b = true?"));
  CHECK_THAT(error_of([&] { (void)(m + f); }), ContainsSubstring("dtypes differ") && ContainsSubstring("float64[3]"));
  CHECK_THAT(error_of([&] { exp(constant(3)); }), ContainsSubstring("exp: no kernel for int32 on CPU:0: int32[]"));
  CHECK_THAT(error_of([&] { reduce_sum(m, 2); }), ContainsSubstring("axis 2 is out of range for rank 2"));
  CHECK_THAT(error_of([&] { reshape(m, {4, -1}); }), ContainsSubstring("float32[2,3]"));
  CHECK_THAT(error_of([&] { gather(m, constant({7})); }), ContainsSubstring("7"));
}

TEST_CASE("errors: a failed op changes nothing") {
  const Tensor a = ones({2});
  const Variable v(a);
  CHECK_THROWS_AS(v.assign_add(ones({3})), errors::InvalidArgumentError);
  CHECK(v.to_vector<float>() == std::vector<float>{1, 1});
  CHECK(a.to_vector<float>() == std::vector<float>{1, 1});
  CHECK(context.observers == nullptr);
  CHECK(context.stager == nullptr);
}

TEST_CASE("errors: a device that is not there says why") {
  CHECK_THROWS_AS(ones({2}).to({Device::sim, 0}), errors::UnimplementedError);
  CHECK_THAT(error_of([] { ones({2}).to({Device::sim, 0}); }), ContainsSubstring("SIM:0"));
}
