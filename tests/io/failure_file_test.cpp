// Failure files: a call that raised raises the same in a process that has nothing but the file.
#include <filesystem>

#include "tandem/graph/control/control.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/io/failure_file.hpp"
#include "tandem/op_table.hpp"
#include "tandem/ops/all.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace failure_file_test {

using namespace tandem;
using testing::error_of;

io::FailureOptions options_for(const std::string& path) { return {.path = path, .ops = all_ops()}; }
io::Failure load(const std::string& path) { return io::load_failure(path, {.ops = all_ops()}); }

TEST_CASE("failure files: fifty failures are the same again") {
  const testing::TemporaryFolder folder;
  const Variable limit(constant(0), {.name = "limit"}), calls(constant(0), {.name = "calls"});
  const Variable table(ones({4, 3}), {.name = "table"});
  const auto step = [&](int kind, const Tensor& x) {
    calls.assign_add(constant(1));
    const Tensor wrong = x + limit, nothing = wrong - wrong;
    switch (kind) {
      case 0: return gather(table, wrong);
      case 1: return matmul(expand_dims(cast(wrong, float32), 0), table);
      case 2: return table + cast(floordiv(reduce_max(wrong), reduce_max(nothing)), float32);
      case 3: return debugging::check_numerics(table / cast(reduce_max(nothing), float32), "the quotient");
      default:
        return cond(
            reduce_all(wrong < 0), [&] { return table * 1.f; }, [&] { return gather(table * 3.f, wrong * 5); });
    }
  };
  for (int i = 0; i < 50; ++i) {
    limit.assign(constant(i));
    const std::string path = folder / std::to_string(i);
    const auto f =
        function([&](const Tensor& x) { return step(i % 5, x); }, {.input_signature = {TensorSpec({none}, int32)}});
    const auto concrete = f.get_concrete_function(constant({4, 10 + i}));
    const std::string error = error_of<errors::OpError>([&] {
      io::call_or_save(*concrete, {constant({4, 10 + i})}, options_for(path));
    });
    REQUIRE_FALSE(error.empty());
    limit.assign(constant(-1000)), table.assign(zeros({4, 3}));  // the file has values of its own
    const io::Failure failure = load(path);
    CHECK(failure.has_values);
    CHECK_THAT(failure.producer, ContainsSubstring("tandem "));
    CHECK(failure.kernels == config::cpu_features().kernels);
    CHECK(failure.arguments[0].to_vector<int>() == std::vector<int>{4, 10 + i});
    CHECK_THAT(error, ContainsSubstring(failure.error.substr(failure.error.find(": ") + 2)));
    CHECK(io::replay_failure(failure) == failure.error);
    table.assign(ones({4, 3}));
  }
  CHECK(calls.item<int>() == 50);
}

TEST_CASE("failure files: values of before the call, and none where they stay here") {
  const testing::TemporaryFolder folder;
  const Variable count(constant(0), {.name = "count"}), secret(constant("pass"
                                                                        "word"),
                                                               {.name = "secret"});
  const auto f = function([&](const Tensor& x, const Tensor& text) {
    const Tensor n = count.assign_add(x);
    const Tensor both = concat({expand_dims(secret, 0), expand_dims(text, 0)}, 0);
    return gather(both, n);
  });
  const Tensor x = constant(3), text = constant(
                                    "let"
                                    "ter");
  const auto concrete = f.get_concrete_function(x, text);
  io::FailureOptions options = options_for(folder / "f");
  CHECK_THROWS_AS(io::call_or_save(*concrete, {x, text}, options), errors::OpError);
  CHECK(count.item<int>() == 3);
  const auto bytes = [&] { return testing::content_of(folder / "f"); };
  CHECK_THAT(bytes(), ContainsSubstring("password") && ContainsSubstring("letter"));
  const io::Failure failure = load(folder / "f");
  CHECK(io::replay_failure(failure) == failure.error);  // from 0 again, not from 3
  CHECK_THAT(failure.error, ContainsSubstring("3"));

  options.with_values = false;
  CHECK_THROWS_AS(io::call_or_save(*concrete, {x, text}, options), errors::OpError);
  CHECK_THAT(bytes(), !ContainsSubstring("password") && !ContainsSubstring("letter"));
  const io::Failure without = load(folder / "f");
  CHECK_FALSE(without.has_values);
  CHECK(without.arguments[0].item<int>() == 0);
  CHECK(io::replay_failure(without).empty());
}

TEST_CASE("failure files: no file for what is too large, has ended, or went well") {
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& x, const Tensor& i) { return gather(x, i); });
  const Tensor x = zeros({1000}), i = constant(1000);
  const auto concrete = f.get_concrete_function(x, i);
  io::FailureOptions options = options_for(folder / "f");
  CHECK(io::call_or_save(*concrete, {x, constant(0)}, options)[0].item<float>() == 0);
  options.most_bytes = 4000;
  CHECK_THROWS_AS(io::call_or_save(*concrete, {x, i}, options), errors::OpError);
  options.with_values = false;  // the zeros are as large
  CHECK_THROWS_AS(io::call_or_save(*concrete, {x, i}, options), errors::OpError);
  const CancelToken token;
  token.cancel();
  {
    const CallScope scope({.cancel = token});
    CHECK_THROWS_AS(io::call_or_save(*concrete, {x, i}, options_for(folder / "f")), errors::CancelledError);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "f"));
  options = options_for(folder / "none/f");
  CHECK_THROWS_AS(io::call_or_save(*concrete, {x, i}, options), errors::OpError);  // and a warning
  io::save_graph(folder / "graph", concrete->graph());
  CHECK_THROWS_AS(load(folder / "graph"), errors::OpError);
  CHECK_THROWS_AS(load(folder / "nothing"), errors::NotFoundError);
}

}  // namespace failure_file_test
