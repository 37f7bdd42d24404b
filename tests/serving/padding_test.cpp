// Batches of requests of different lengths: padded if the option says so, and if nobody sees it.
#include <atomic>
#include <functional>
#include <thread>
#include <tuple>

#include "tandem/serving/padding.hpp"
#include "tandem/serving/warm_up.hpp"
#include "tests/serving/models.hpp"

namespace padding_test {

using namespace tandem;
using serving::Engine;
using serving::impl::PaddedSizes;
using serving::impl::Padding;
using testing::metric;
using Floats = std::vector<float>;

const Shape rows_of_any_length{none, none};

// A record of warm-up: a request with these inputs.
std::string record(const std::string& model, const serving::NamedTensors& inputs) {
  using io::detail::append_field;
  std::string request, predict, log;
  serving::impl::append_model_spec(request, 1, {.name = model});
  for (const auto& [name, t] : inputs) {
    std::string input;
    append_field(input, 1, name);
    serving::impl::append_tensor(input, 2, t);
    append_field(request, 2, input);
  }
  append_field(predict, 1, request);
  append_field(log, 6, predict);
  return log;
}
serving::Options options(const std::string& folder, const std::string& model, serving::Batching how) {
  how.enabled = true;
  return {.models = {{.name = model, .base_path = folder + "/" + model}}, .batching = how, .threads = 1};
}
double runs(Engine& engine, const std::string& model) {
  return metric(engine, "tandem_batch_rows_count{model=\"" + model + "\"}");
}
// Requests from as many threads at once, which must get these outputs.
void ask_together(Engine& engine, const std::string& model, const std::vector<serving::NamedTensors>& inputs,
                  const std::vector<serving::NamedTensors>& outputs) {
  std::atomic<int> right{0};
  std::vector<std::thread> clients;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    clients.emplace_back([&, k] {
      const serving::Response r = engine.predict({.model = {.name = model}, .inputs = inputs[k]});
      bool all = r.outputs.size() == outputs[k].size();
      for (const auto& [name, t] : outputs[k])
        all = all && r.outputs.at(name).shape() == t.shape() && serving::impl::agree(r.outputs.at(name), t);
      right += all;
    });
  for (std::thread& c : clients) c.join();
  CHECK(right == static_cast<int>(inputs.size()));
}
// [rows, length], with numbers that no other row has.
Tensor some_rows(i64 rows, i64 length) {
  return reshape(range(static_cast<float>(rows * length)) + static_cast<float>(length), {rows, length}) - 3.5f;
}

// x [rows, length] -> "sum" [rows], "twice" [rows, length].
void save_sums(const std::string& folder, const std::string& model) {
  const auto f = function([](const Tensor& x) { return std::tuple(reduce_sum(x, {.axis = 1}), x * 2.f); });
  saved_model::save(
      folder + "/" + model + "/1",
      {{"serving_default", saved_model::predict(f, {{"x", {rows_of_any_length, float32}}}, {"sum", "twice"})}},
      {.warmup = {record(model, {{"x", some_rows(2, 5)}})}});
}
std::vector<serving::NamedTensors> sums_inputs(const std::vector<i64>& lengths) {
  std::vector<serving::NamedTensors> r;
  for (const i64 n : lengths) r.push_back({{"x", some_rows(1, n)}});
  return r;
}
std::vector<serving::NamedTensors> sums_outputs(const std::vector<serving::NamedTensors>& inputs) {
  std::vector<serving::NamedTensors> r;
  for (const auto& in : inputs)
    r.push_back({{"sum", reduce_sum(in.at("x"), {.axis = 1})}, {"twice", in.at("x") * 2.f}});
  return r;
}

TEST_CASE("padding: requests of different lengths are one batch if the option says so, else one for each length") {
  const testing::TemporaryFolder folder;
  save_sums(folder.path, "sums");
  const auto inputs = sums_inputs({1, 3, 0, 2}), outputs = sums_outputs(inputs);
  constexpr i64 minute = 60'000'000;
  {
    // It leaves when it is full, which takes all four.
    Engine engine(options(folder.path, "sums",
                          {.max_batch_size = 4, .batch_timeout_micros = minute, .pad_variable_length_inputs = true}));
    engine.settle();
    ask_together(engine, "sums", inputs, outputs);
    CHECK(runs(engine, "sums") == 1);
    ask_together(engine, "sums", {{{"x", some_rows(3, 2)}}, {{"x", some_rows(1, 7)}}},
                 {{{"sum", reduce_sum(some_rows(3, 2), {.axis = 1})}, {"twice", some_rows(3, 2) * 2.f}},
                  {{"sum", reduce_sum(some_rows(1, 7), {.axis = 1})}, {"twice", some_rows(1, 7) * 2.f}}});
    CHECK(runs(engine, "sums") == 2);
  }
  Engine engine(options(folder.path, "sums", {.max_batch_size = 4, .batch_timeout_micros = 200'000}));
  engine.settle();
  ask_together(engine, "sums", inputs, outputs);
  CHECK(runs(engine, "sums") == 4);
}

TEST_CASE("padding: off and on again while the model is in memory") {
  const testing::TemporaryFolder folder;
  save_sums(folder.path, "sums");
  const auto inputs = sums_inputs({1, 3, 0, 2}), outputs = sums_outputs(inputs);
  serving::Batching how{.enabled = true, .max_batch_size = 4, .pad_variable_length_inputs = true};
  Engine engine(options(folder.path, "sums", how));
  engine.settle();
  how.batch_timeout_micros = 200'000, how.pad_variable_length_inputs = false;
  engine.set_batching(how);
  ask_together(engine, "sums", inputs, outputs);
  CHECK(runs(engine, "sums") == 4);
  how.batch_timeout_micros = 60'000'000, how.pad_variable_length_inputs = true;
  engine.set_batching(how);
  ask_together(engine, "sums", inputs, outputs);
  CHECK(runs(engine, "sums") == 5);
}

TEST_CASE("padding: sizes of batches are filled up, too") {
  const testing::TemporaryFolder folder;
  save_sums(folder.path, "sums");
  Engine engine(options(folder.path, "sums",
                        {.max_batch_size = 4,
                         .batch_timeout_micros = 50'000,
                         .allowed_batch_sizes = {4},
                         .pad_variable_length_inputs = true}));
  engine.settle();
  const auto inputs = sums_inputs({4, 1, 6}), outputs = sums_outputs(inputs);
  for (int i = 0; i < 5; ++i) ask_together(engine, "sums", inputs, outputs);
}

std::string last_warning;
void keep_warning(const char* text) { last_warning = text; }

TEST_CASE("padding: a signature whose outputs change with it is not padded, and it is said why") {
  const testing::TemporaryFolder folder;
  const auto mean = function([](const Tensor& x) { return reduce_mean(x, {.axis = 1}); });
  saved_model::save(folder / "mean/1",
                    {{"serving_default", saved_model::predict(mean, {{"x", {rows_of_any_length, float32}}}, {"y"})}},
                    {.warmup = {record("mean", {{"x", some_rows(2, 5)}})}});
  const auto twice = function([](const Tensor& x) { return concat({x, x}, 1); });
  saved_model::save(folder / "twice/1",
                    {{"serving_default", saved_model::predict(twice, {{"x", {rows_of_any_length, float32}}}, {"y"})}},
                    {.warmup = {record("twice", {{"x", some_rows(2, 5)}})}});
  const serving::Batching how{.max_batch_size = 4, .batch_timeout_micros = 50'000, .pad_variable_length_inputs = true};
  const auto x = sums_inputs({1, 3, 2, 8});
  for (const bool is_mean : {true, false}) {
    set_warning_handler(&keep_warning);
    const std::string model = is_mean ? "mean" : "twice";
    Engine engine(options(folder.path, model, how));
    engine.settle();
    set_warning_handler(nullptr);
    CHECK_THAT(last_warning,
               ContainsSubstring(model + " is not batched with padding: its output 'y' ") &&
                   ContainsSubstring(is_mean ? "changes when inputs are padded" : "float32[2,22] with it"));
    std::vector<serving::NamedTensors> y;
    for (const auto& in : x)
      y.push_back({{"y", is_mean ? reduce_mean(in.at("x"), {.axis = 1}) : concat({in.at("x"), in.at("x")}, 1)}});
    ask_together(engine, model, x, y);
    CHECK(runs(engine, model) == 4);
  }
}

using Function = std::function<Tensor(const Tensor&)>;
// Saves x [rows, length] -> y, which is tried with these rows.
void save_function(const std::string& folder, const std::string& model, const Function& y, const Tensor& trial) {
  saved_model::save(
      folder + "/" + model + "/1",
      {{"serving_default", saved_model::predict(function(y), {{"x", {rows_of_any_length, float32}}}, {"y"})}},
      {.warmup = {record(model, {{"x", trial}})}});
}

TEST_CASE("padding: outputs that change with other lengths or numbers than those of the trial are not padded, too") {
  const testing::TemporaryFolder folder;
  const Function pooled = [](const Tensor& x) { return squeeze(nn::max_pool1d(expand_dims(x, 2)), {.axis = 2}); };
  const Function mean = [](const Tensor& x) { return reduce_mean(x, {.axis = 1}); };
  const Function largest = [](const Tensor& x) { return reduce_max(x, {.axis = 1}); };
  const Function smallest = [](const Tensor& x) { return reduce_min(x, {.axis = 1}); };
  const auto positive = [](i64 n) { return some_rows(1, n) + 4.f; };
  const auto negative = [](i64 n) { return -some_rows(1, n) - 4.f; };
  struct Model {
    const char* name;
    Function y;
    Tensor trial;
    std::function<Tensor(i64)> request;
  };
  const std::vector<Model> models{
      {"pooled", pooled, some_rows(2, 4), positive},
      {"every_second", [](const Tensor& x) { return x(Ellipsis, Slice(none, none, 2)); }, some_rows(2, 5), positive},
      {"first", [](const Tensor& x) { return x(Ellipsis, Slice(none, 3)); }, some_rows(2, 5), positive},
      {"mean", mean, some_rows(2, 20'000), positive},
      {"centred_mean", mean, concat({some_rows(2, 100), -some_rows(2, 100)}, 1), positive},
      {"largest", largest, some_rows(2, 5), negative},
      {"largest_with_0", largest, maximum(some_rows(2, 5) - 4.f, constant(0.f)), negative},
      {"smallest", smallest, -some_rows(2, 5), positive}};
  for (const Model& m : models) {
    INFO(m.name);
    save_function(folder.path, m.name, m.y, m.trial);
    last_warning.clear();
    set_warning_handler(&keep_warning);
    Engine engine(options(folder.path, m.name,
                          {.max_batch_size = 4, .batch_timeout_micros = 50'000, .pad_variable_length_inputs = true}));
    engine.settle();
    set_warning_handler(nullptr);
    CHECK_THAT(last_warning, ContainsSubstring(std::string(m.name) + " is not batched with padding: its output 'y' "));
    std::vector<serving::NamedTensors> x, y;
    for (const i64 n : {4, 8, 2, 3}) {
      x.push_back({{"x", m.request(n)}});
      y.push_back({{"y", m.y(m.request(n))}});
    }
    ask_together(engine, m.name, x, y);
    CHECK(runs(engine, m.name) == 4);
  }
}

TEST_CASE("padding: models that refuse numbers or short inputs, and those with masks, are padded") {
  const testing::TemporaryFolder folder;
  // The numbers are rows of a table; the first three elements are needed.
  const Tensor table = range(20.f);
  const Function looked_up = [=](const Tensor& x) { return gather(table, cast(x, int32)); };
  const Function first = [](const Tensor& x) { return reduce_sum(slice(x, {0, 0}, {-1, 3}), {.axis = 1}); };
  const Function sum = [](const Tensor& x) { return reduce_sum(x, {.axis = 1}); };
  const std::vector<std::tuple<const char*, Function, Tensor>> models{
      {"looked_up", looked_up, constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 0.f}})},
      {"first", first, some_rows(2, 5)},
      {"long", sum, some_rows(2, 1000)}};
  for (const auto& [name, y, trial] : models) {
    INFO(name);
    save_function(folder.path, name, y, trial);
    Engine engine(
        options(folder.path, name,
                {.max_batch_size = 2, .batch_timeout_micros = 60'000'000, .pad_variable_length_inputs = true}));
    engine.settle();
    const Tensor a = constant({{7.f, 8.f, 9.f}}), b = constant({{1.f, 2.f, 3.f, 4.f}});
    ask_together(engine, name, {{{"x", a}}, {{"x", b}}}, {{{"y", y(a)}}, {{"y", y(b)}}});
    CHECK(runs(engine, name) == 1);
  }
  const auto masked = function([](const Tensor& x, const Tensor& mask) {
    return reduce_sum(nn::softmax(x + (mask - 1.f) * 1e9f) * x, {.axis = 1});
  });
  saved_model::save(
      folder / "masked/1",
      {{"serving_default",
        saved_model::predict(masked, {{"x", {rows_of_any_length, float32}}, {"mask", {rows_of_any_length, float32}}},
                             {"y"})}},
      {.warmup = {record("masked", {{"x", some_rows(2, 3)}, {"mask", constant({{1.f, 1.f, 0.f}, {1.f, 1.f, 1.f}})}})}});
  Engine engine(options(folder.path, "masked",
                        {.max_batch_size = 2, .batch_timeout_micros = 60'000'000, .pad_variable_length_inputs = true}));
  engine.settle();
  ask_together(engine, "masked",
               {{{"x", constant({{-7.f}})}, {"mask", ones({1, 1})}},
                {{"x", constant({{-1.f, -1.f, 5.f}})}, {"mask", constant({{1.f, 1.f, 0.f}})}}},
               {{{"y", constant({-7.f})}}, {{"y", constant({-1.f})}}});
  CHECK(runs(engine, "masked") == 1);
}

TEST_CASE("padding: several inputs, of one length or of their own, and texts") {
  const testing::TemporaryFolder folder;
  // The mask has the length of the words; the other input has its own.
  const auto f = function([](const Tensor& words, const Tensor& mask, const Tensor& other) {
    const Tensor found = where(equal(words, constant("a")), mask, zeros_like(mask));
    return std::tuple(found, reduce_sum(found, {.axis = 1}), other + 1.f);
  });
  const auto inputs = [](std::vector<std::string> words, const Tensor& other) {
    const auto n = static_cast<i64>(words.size());
    return serving::NamedTensors{
        {"words", reshape(constant(words), {1, n})}, {"mask", ones({1, n})}, {"other", expand_dims(other, 0)}};
  };
  saved_model::save(folder / "texts/1",
                    {{"serving_default", saved_model::predict(f,
                                                              {{"words", {rows_of_any_length, DType::string}},
                                                               {"mask", {rows_of_any_length, float32}},
                                                               {"other", {rows_of_any_length, float32}}},
                                                              {"found", "count", "more"})}},
                    {.warmup = {record("texts", {{"words", constant({{"a", "b", "a"}, {"c", "c", "c"}})},
                                                 {"mask", constant({{1.f, 2.f, 3.f}, {1.f, 1.f, 1.f}})},
                                                 {"other", constant({{1.f, 2.f}, {3.f, 4.f}})}})}});
  serving::Options o =
      options(folder.path, "texts",
              {.max_batch_size = 2, .batch_timeout_micros = 60'000'000, .pad_variable_length_inputs = true});
  Engine engine(o);
  engine.settle();
  ask_together(engine, "texts",
               {inputs({"a", "b"}, constant({1.f})), inputs({"a", "a", "a", "x"}, constant({5.f, 6.f, 7.f}))},
               {{{"found", constant({{1.f, 0.f}})}, {"count", constant({1.f})}, {"more", constant({{2.f}})}},
                {{"found", constant({{1.f, 1.f, 1.f, 0.f}})},
                 {"count", constant({3.f})},
                 {"more", constant({{6.f, 7.f, 8.f}})}}});
  CHECK(runs(engine, "texts") == 1);
  // A mask that is not as long as the words is an error of its request alone; it is not padded to fit.
  Engine quick(options(folder.path, "texts", {.max_batch_size = 2, .pad_variable_length_inputs = true}));
  quick.settle();
  serving::NamedTensors wrong = inputs({"a", "b", "c"}, constant({1.f}));
  wrong.at("mask") = ones({1, 2});
  CHECK_THROWS_AS(quick.predict({.model = {.name = "texts"}, .inputs = wrong}), errors::InvalidArgumentError);
}

TEST_CASE("padding: one long request does not make a large batch of short ones") {
  const Padding padding{.inputs = {{"x", {{1, 1}}}}, .outputs = {}};
  const auto add = [](PaddedSizes& sizes, i64 length) { return sizes.add({{"x", ones({1, length})}}); };
  PaddedSizes small(padding);
  for (int i = 0; i < 100; ++i) CHECK(add(small, i % 2 ? 1 : 2000));
  PaddedSizes large(padding);
  CHECK(add(large, 1'000'000));
  for (int i = 0; i < 3; ++i) CHECK(add(large, 1));
  CHECK_FALSE(add(large, 1));  // 20 MB for 4
  CHECK(add(large, 900'000));
  CHECK(large.pad({{"x", ones({1, 3})}}).at("x").shape() == Shape{1, 1'000'000});
  const Padding two{.inputs = {{"x", {{1, 1}}}, {"y", {{1, 1}}}}, .outputs = {}};
  CHECK(two.fits({{"x", ones({1, 3})}, {"y", ones({1, 3})}}));
  CHECK_FALSE(two.fits({{"x", ones({1, 3})}, {"y", ones({1, 2})}}));
  CHECK_FALSE(two.fits({{"x", ones({1, 3})}, {"y", ones({1})}}));
  CHECK_FALSE(two.fits({{"x", ones({1, 3})}}));
}

}  // namespace padding_test
