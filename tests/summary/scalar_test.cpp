// Scalars: their bytes, what they are made of, the scope's writer and its step.
#include <map>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/summary/functions.hpp"
#include "tests/summary/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/hex.hpp"

using namespace tandem;

namespace {

double number(const testing::Written& w) { return std::get<double>(w.value.content); }

}  // namespace

TEST_CASE("summary: the bytes of events") {
  const testing::TemporaryFolder folder;
  summary::FileWriter writer(folder.path, {.simple_values = true});
  writer.scalar("loss", 0.5, {.step = 3, .wall_time = 1.0});
  writer.close();
  const auto records = testing::records_of(writer.path());
  REQUIRE(records.size() == 2);
  CHECK(records[0].substr(9) == testing::from_hex("1a 0d") + "brain.Event:2");
  CHECK(records[1] ==
        testing::from_hex("09 00 00 00 00 00 00 f0 3f 10 03 2a 0d 0a 0b 0a 04 6c 6f 73 73 15 00 00 00 3f"));

  // The first value of a tag has the metadata, 15 bytes.
  const testing::TemporaryFolder other;
  summary::FileWriter tensors(other.path);
  for (const i64 step : {3, 200}) tensors.scalar("loss", 0.5, {.step = step, .wall_time = 1.0});
  tensors.close();
  const auto with_metadata = testing::records_of(tensors.path());
  REQUIRE(with_metadata.size() == 3);
  const std::string value = testing::from_hex("0a 04 6c 6f 73 73 42 0a 08 01 12 00 2a 04 00 00 00 3f");
  CHECK(with_metadata[1] == testing::from_hex("09 00 00 00 00 00 00 f0 3f 10 03 2a 23 0a 21") + value +
                                testing::from_hex("4a 0d 0a 09 0a 07 73 63 61 6c 61 72 73 20 01"));
  CHECK(with_metadata[2] == testing::from_hex("09 00 00 00 00 00 00 f0 3f 10 c8 01 2a 14 0a 12") + value);
}

TEST_CASE("summary: running totals are three tags of ten steps") {
  const testing::TemporaryFolder folder;
  const std::vector<std::vector<int>> inputs{{2, 8}, {3, 1, 3, 3}, {8},    {1, 2, 3}, {11, 4},
                                             {4, 1}, {7, 3, 1},    {6, 3}, {0, 2},    {4, 5, 6}};
  const std::vector<float> outputs{26, 37, 16, 12, 59, 9, 32, 27, 2, 135};
  summary::FileWriter writer(folder.path);
  Variable total(0.f), count(0.f);
  {
    const auto scope = writer.as_default();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor x = constant(inputs[i]), y = reduce_prod(x) + reduce_sum(x);
      total.assign_add(cast(y, float32)), count.assign_add(1);
      CHECK(summary::scalar("output", y, {.step = static_cast<i64>(i)}));
      CHECK(summary::scalar("total", total, {.step = static_cast<i64>(i)}));
      CHECK(summary::scalar("average", total / count, {.step = static_cast<i64>(i)}));
    }
  }
  // The end of the scope has flushed the file.
  std::map<std::string, std::vector<double>> tags;
  for (const auto& w : testing::values_of(folder.path)) {
    CHECK(w.step == static_cast<i64>(tags[w.value.tag].size()));
    CHECK(w.value.plugin == "scalars");
    tags[w.value.tag].push_back(number(w));
  }
  REQUIRE(tags.size() == 3);
  REQUIRE(tags["output"].size() == 10);
  float sum = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    sum += outputs[i];
    CHECK(tags["output"][i] == outputs[i]);
    CHECK(tags["total"][i] == sum);
    CHECK(tags["average"][i] == sum / static_cast<float>(i + 1));
  }
  CHECK(sum == 355);
}

TEST_CASE("summary: a scalar is a number or a tensor of one element, of any numeric dtype") {
  const testing::TemporaryFolder folder;
  summary::FileWriter writer(folder.path);
  const DType all[] = {float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16};
  for (const DType d : all) writer.scalar(name(d), cast(constant({{3}}), d), 1);
  writer.scalar("bool", constant(true), 1);
  writer.scalar("Variable", Variable(2.5f), 1);
  writer.scalar("int", 7, 1), writer.scalar("u64", ~u64{0}, 1), writer.scalar("true", true, 1);
  writer.scalar("nan", std::nan(""), 1), writer.scalar("-inf", -std::numeric_limits<float>::infinity(), -1);
  writer.flush();
  const auto values = testing::values_of(folder.path);
  REQUIRE(values.size() == std::size(all) + 7);
  for (std::size_t i = 0; i < std::size(all); ++i) {
    CHECK(values[i].value.tag == name(all[i]));
    CHECK(number(values[i]) == 3);
  }
  const auto at = [&](std::size_t i) { return number(values[std::size(all) + i]); };
  CHECK((at(0) == 1 && at(1) == 2.5 && at(2) == 7 && at(3) == 0x1p64 && at(4) == 1));
  CHECK((std::isnan(at(5)) && at(6) == -std::numeric_limits<double>::infinity()));
  CHECK(values.back().step == -1);
}

TEST_CASE("summary: wrong scalars") {
  const testing::TemporaryFolder folder;
  summary::FileWriter writer(folder.path);
  const auto error = [](const auto& f) { return testing::error_of<errors::InvalidArgumentError>(f); };
  CHECK_THAT(error([&] {
               writer.scalar("w", ones({2, 3}), 0);
             }),
             ContainsSubstring("scalar: takes one element, not float32[2,3] (tag 'w'): reduce_mean makes one of many"));
  CHECK_THAT(error([&] { writer.scalar("w", constant("a"), 0); }), ContainsSubstring("takes a number, not string"));
  CHECK_THAT(error([&] { writer.scalar("w", 1); }), ContainsSubstring("there is no step"));
  CHECK_THAT(error([&] { writer.scalar("", 1, 0); }), ContainsSubstring("the tag is empty"));
  CHECK_THAT(error([&] { writer.scalar("a\xff", 1, 0); }), ContainsSubstring("\"a\\xff\" is not UTF-8"));
  writer.scalar("w", 1, 0);
  CHECK_THAT(error([&] { writer.histogram("w", ones({2}), {.step = 1}); }),
             ContainsSubstring("histogram: the tag 'w' has values for scalars"));
  CHECK_THROWS_AS(writer.scalar("w", Tensor(), 0), errors::FailedPreconditionError);
  writer.close();
  CHECK_THAT(testing::error_of<errors::FailedPreconditionError>([&] { writer.scalar("w", 1, 0); }),
             ContainsSubstring("is closed"));
  writer.close();
  CHECK(testing::values_of(folder.path).size() == 1);
}

TEST_CASE("summary: the scope's writer, its step and the name scopes of tags") {
  const testing::TemporaryFolder folder, inner_folder;
  CHECK(!summary::scalar("nothing", 1));  // not even a step is needed
  CHECK(!summary::has_default_writer());
  summary::FileWriter writer(folder.path);
  {
    const auto scope = writer.as_default(5);
    CHECK(summary::scalar("a", 1));
    {
      const name_scope net("net");
      summary::scalar("b", 2, {.step = 7});
      const summary::FileWriter inner(inner_folder.path);
      const auto inner_scope = inner.as_default(6);
      summary::scalar("c", 3);
    }
    CHECK(summary::get_step() == 5);
    summary::set_step(8);
    summary::scalar("d", 4);
  }
  CHECK(!summary::get_step());
  CHECK(!summary::scalar("nothing", 1));
  {
    const auto scope = writer.as_default();
    CHECK_THROWS_AS(summary::scalar("e", 1), errors::InvalidArgumentError);
    summary::set_step(9);
    summary::scalar("e", 5);
  }
  CHECK(summary::get_step() == 9);  // a scope without a step leaves it as it is
  summary::set_step({});
  std::string text;
  for (const auto& w : testing::values_of(folder.path))
    text += w.value.tag + " " + std::to_string(w.step) + " " + std::to_string(int(number(w))) + "; ";
  CHECK(text == "a 5 1; net/b 7 2; d 8 4; e 9 5; ");
  const auto inside = testing::values_of(inner_folder.path);
  REQUIRE(inside.size() == 1);
  CHECK((inside[0].value.tag == "net/c" && inside[0].step == 6));
}

TEST_CASE("summary: record_if") {
  const testing::TemporaryFolder folder;
  summary::FileWriter writer(folder.path);
  CHECK(!summary::should_record_summaries());
  const auto scope = writer.as_default();
  {
    i64 step = 0;
    const auto every_3 = summary::record_if([&] { return step % 3 == 0; });
    for (; step < 7; ++step) {
      CHECK(summary::should_record_summaries() == (step % 3 == 0));
      CHECK(summary::scalar("a", step, {.step = step}) == (step % 3 == 0));
      const auto inner = summary::record_if(step == 4);
      CHECK(summary::scalar("b", step, {.step = step}) == (step == 4));
    }
    step = 1;
    const auto traced = function([](const Tensor& x) { return x * 2; }).get_concrete_function(ones({2}));
    CHECK(summary::graph(*traced));  // not a value of a step
  }
  CHECK(summary::scalar("c", 1, {.step = 1}));
  writer.flush();
  std::string text;
  for (const auto& w : testing::values_of(folder.path)) text += w.value.tag + std::to_string(w.step) + " ";
  CHECK(text == "a0 a3 b4 a6 c1 ");
}

TEST_CASE("summary: a traced function cannot write") {
  const testing::TemporaryFolder folder;
  summary::FileWriter writer(folder.path);
  const auto f = function([](const Tensor& x) {
    const Tensor y = x * 2;
    summary::scalar("y", y, {.step = 1});
    return y;
  });
  CHECK(f(constant(2.f)).item<float>() == 4);  // without a writer
  const auto scope = writer.as_default();
  const auto g = function([](const Tensor& x) {
    summary::scalar("one", 1, {.step = 1});
    return x;
  });
  CHECK_THAT(testing::error_of<errors::TraceError>([&] { g(constant(2.f)); }),
             ContainsSubstring("return the value from the function and write it outside"));
  Tensor kept;
  const auto h = function([&](const Tensor& x) {
    kept = x * 2;
    return x;
  });
  h(constant(1.f));
  CHECK_THROWS_AS(writer.scalar("kept", kept, 1), errors::TraceError);
  CHECK(testing::values_of(folder.path).empty());
}
