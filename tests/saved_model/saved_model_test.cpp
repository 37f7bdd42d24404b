// Saved models: what is saved is loaded and answers, with names, shared Variables, examples, tables and files.
#include <thread>

#include "tests/saved_model/models.hpp"
#include "tests/support/small_files.hpp"

namespace saved_model_test {

using namespace tandem;
using testing::answer;
using testing::error_of;
using testing::HalfPlusTwo;
using Floats = std::vector<float>;
using Names = std::vector<std::string>;

TEST_CASE("saved model: half plus two is saved and answers, in any number of rows") {
  const testing::TemporaryFolder folder;
  const std::string base = folder / "models/half_plus_two";
  HalfPlusTwo().save(base + "/1");
  CHECK(testing::names_in(base) == Names{"1"});
  CHECK(testing::names_in(base + "/1") == Names{"graphs", "model.json", "variables.safetensors"});
  const saved_model::Loaded m = saved_model::load(base + "/1");
  CHECK(answer(m, {1, 2, 5}) == Floats{2.5f, 3, 4.5f});
  CHECK(answer(m, {}) == Floats{});
  CHECK(m.bytes() == 8);
  CHECK(m.directory() == base + "/1");
  CHECK(m.producer().starts_with("tandem "));
  const saved_model::Signature& s = m.signatures().at("serving_default");
  CHECK(s.method == "tensorflow/serving/predict");
  CHECK(s.batch());
  CHECK(s.inputs[0].name == "x");
  CHECK(to_string(s.inputs[0].spec) == "float32[None]");
  CHECK(s.outputs[0].name == "y");
}

TEST_CASE("saved model: signatures share Variables, which are saved once and may be live ones") {
  const testing::TemporaryFolder folder;
  const HalfPlusTwo model;
  const auto set = function([&](const Tensor& x) { return model.a.assign(x); });
  const auto both = function([&](const Tensor& x, const Tensor& z) { return std::tuple(x * model.a, z + model.b); });
  saved_model::save(folder / "m/7",
                    {{"serving_default", model.predict()},
                     {"set", saved_model::predict(set, {{"x", {{}, float32}}})},
                     {"both", saved_model::predict(both, {{"x", {{none, 2}, float32}}, {"z", {{none, 3}, float32}}})}});
  const saved_model::Loaded m = saved_model::load(folder / "m/7");
  REQUIRE(m.variables().size() == 2);
  CHECK(answer(m, {4}) == Floats{4});
  m("set", {{"x", constant(10.f)}});
  CHECK(answer(m, {4}) == Floats{42});
  CHECK(model.a.item<float>() == 0.5f);
  const auto y = m("both", {{"x", ones({1, 2})}, {"z", ones({2, 3})}});
  CHECK(y.at("output_0").to_vector<float>() == Floats{10, 10});
  CHECK(y.at("output_1").shape() == Shape{2, 3});
  CHECK(m.signatures().at("set").batch() == false);

  const Variable live(constant(100.f));
  const saved_model::Loaded other = saved_model::load(folder / "m/7", {.variables = {{"a", live}}});
  CHECK(answer(other, {4}) == Floats{402});
  live.assign(0.f);
  CHECK(answer(other, {4}) == Floats{2});
  CHECK_THROWS_AS(saved_model::load(folder / "m/7", {.variables = {{"c", live}}}), errors::NotFoundError);
  CHECK_THROWS_AS(saved_model::load(folder / "m/7", {.variables = {{"a", Variable(ones({2}))}}}),
                  errors::InvalidArgumentError);
}

TEST_CASE("saved model: functions of a map or a list of tensors have named inputs, too") {
  const testing::TemporaryFolder folder;
  const auto of_map = function([](const std::map<std::string, Tensor>& in) { return in.at("b") - in.at("a"); });
  const auto of_list = function([](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[1] - in[0], in[0]};
  });
  const std::vector<saved_model::TensorInfo> inputs{{"b", {{none}, float32}}, {"a", {{none}, float32}}};
  saved_model::save(folder / "m/1", {{"map", saved_model::predict(of_map, inputs, {"y"})},
                                     {"list", saved_model::predict(of_list, inputs, {"y", "b"})}});
  const saved_model::Loaded m = saved_model::load(folder / "m/1");
  const saved_model::NamedTensors in{{"a", constant({1.f})}, {"b", constant({5.f})}};
  CHECK(m("map", in).at("y").item<float>() == 4);
  CHECK(m("list", in).at("y").item<float>() == -4);
  CHECK(m("list", in).at("b").item<float>() == 5);
}

TEST_CASE("saved model: Variables of equal names, mapped or read, trainable or not") {
  const testing::TemporaryFolder folder;
  const Variable a(constant({1.f, 2.f}), {.name = "w"}), b(constant({true, false}), {.name = "w", .trainable = false});
  const Variable c(constant(std::vector<double>{4., 5.}), {.name = "c"});
  const auto f = function([&](const Tensor& x) { return where(b, x * a, x) + cast(c, float32); });
  const saved_model::Signature s = saved_model::predict(f, {{"x", {{2}, float32}}}, {"y"});
  saved_model::save(folder / "m/1", {{"f", s}}, {.variables = {{"net/c", c}}});
  for (const bool map : {true, false}) {
    const saved_model::Loaded m = saved_model::load(folder / "m/1", {.map = map});
    CHECK(m("f", {{"x", constant({10.f, 20.f})}}).at("y").to_vector<float>() == Floats{14, 25});
    Names names;
    for (const auto& [name, v] : m.variables()) {
      names.push_back(name);
      CHECK(v.trainable() == (v.dtype() != bool_));
      if (v.dtype() == float32) v.assign_add(constant({1.f, 1.f}));  // the file is not written
    }
    std::sort(names.begin(), names.end());
    CHECK(names == Names{"net/c", "w", "w_1"});
    CHECK(m("f", {{"x", constant({10.f, 20.f})}}).at("y").to_vector<float>() == Floats{24, 25});
  }
  CHECK_THROWS_AS(saved_model::save(folder / "m/2", {{"f", s}}, {.variables = {{"v", a}, {"v", b}}}),
                  errors::InvalidArgumentError);
}

TEST_CASE("saved model: a loaded function is differentiable and trains its Variables") {
  const testing::TemporaryFolder folder;
  HalfPlusTwo().save(folder / "m/1");
  const saved_model::Loaded m = saved_model::load(folder / "m/1");
  std::vector<Variable> weights;
  for (const auto& [name, v] : m.variables()) weights.push_back(v);
  GradientTape tape;
  const Tensor y = m("serving_default", {{"x", constant({1.f, 3.f})}}).at("y");
  const auto gradients = tape.gradient(reduce_sum(y), weights);
  CHECK(gradients[0].dense().item<float>() + gradients[1].dense().item<float>() == 4 + 2);
}

TEST_CASE("saved model: classify and regress read tf.Examples") {
  const testing::TemporaryFolder folder;
  const Variable w(constant({{1.f, 0.f}, {0.f, 2.f}}));
  const auto scores = function([&](const Tensor& x, const Tensor& bias) { return matmul(x, w) + bias; });
  const auto sum = function([&](const Tensor& x) { return reduce_sum(x, {.axis = 1}); });
  const io::FeatureConfigs x{{"x", io::FixedLenFeature{{2}, float32}}};
  io::FeatureConfigs x_and_bias = x;
  x_and_bias.emplace_back("bias", io::FixedLenFeature{{1}, float32, constant({0.5f})});
  saved_model::save(folder / "m/1", {{"classify", saved_model::classify(scores, {.features = x_and_bias}, {"scores"})},
                                     {"regress", saved_model::regress(sum, {.features = x})}});
  const saved_model::Loaded m = saved_model::load(folder / "m/1");
  const auto example = [](const char* name, const Floats& values) {
    return train::Example{{{{name, train::FloatList{values}}}}}.serialize();
  };
  const Tensor rows = constant(std::vector<std::string>{example("x", {1, 2}), example("x", {3, 4})});
  CHECK(m("classify", {{"inputs", rows}}).at("scores").to_vector<float>() == Floats{1.5f, 4.5f, 3.5f, 8.5f});
  CHECK(m("regress", {{"inputs", rows}}).at("outputs").to_vector<float>() == Floats{3, 7});
  CHECK(m.signatures().at("classify").method == "tensorflow/serving/classify");
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
               m("regress", {{"inputs", constant(std::vector<std::string>{example("z", {1})})}});
             }),
             ContainsSubstring("x"));
  CHECK_THROWS_AS(m("regress", {{"inputs", constant(std::vector<std::string>{"no example"})}}), errors::DataLossError);
  CHECK_THROWS_AS(saved_model::classify(sum, {.features = x}, {"scores"}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(saved_model::classify(scores, {.features = x_and_bias}, {"y"}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(saved_model::regress(sum, {.features = {{"x", io::VarLenFeature{float32}}}}),
                  errors::InvalidArgumentError);
}

TEST_CASE("saved model: a vocabulary is that of the moment when the signature is made") {
  const testing::TemporaryFolder folder;
  const layers::IntegerLookup lookup;
  const auto f = function([&](const Tensor& x) { return lookup(x); });
  const auto save = [&](const char* version) {
    saved_model::save(folder / version, {{"ids", saved_model::predict(f, {{"x", {{none}, int64}}}, {"y"})}});
  };
  const auto ids = [&](const char* version) {
    const Tensor x = constant({i64{7}, i64{8}});
    return saved_model::load(folder / version)("ids", {{"x", x}}).at("y").to_vector<i64>();
  };
  lookup.adapt(constant({7}));
  save("1");
  lookup.adapt(constant({8}));
  save("2");
  CHECK(ids("1") == std::vector<i64>{1, 0});
  CHECK(ids("2") == std::vector<i64>{0, 1});
}

TEST_CASE("saved model: assets and warm-up requests are files of the model") {
  const testing::TemporaryFolder folder;
  const std::string labels = folder.file("labels", "cat\ndog\n");
  HalfPlusTwo().save(folder / "m/1", {.assets = {{"text/labels.txt", labels}}, .warmup = {"first", ""}});
  const saved_model::Loaded m = saved_model::load(folder / "m/1");
  CHECK(testing::content_of(m.file("assets/text/labels.txt")) == "cat\ndog\n");
  io::TFRecordReader reader(m.file("assets.extra/tf_serving_warmup_requests"));
  std::string record;
  CHECK((reader.next(record) && record == "first" && reader.next(record) && record.empty() && !reader.next(record)));
  CHECK_THROWS_AS(m.file("assets/other"), errors::NotFoundError);
  CHECK_THROWS_AS(HalfPlusTwo().save(folder / "m/2", {.assets = {{"a", folder / "none"}}}), errors::NotFoundError);
  CHECK_THROWS_AS(HalfPlusTwo().save(folder / "m/2", {.assets = {{"../a", labels}}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(HalfPlusTwo().save(folder / "m/2", {.warmup = Names(1001)}), errors::InvalidArgumentError);
  CHECK(testing::names_in(folder / "m") == Names{"1"});
}

TEST_CASE("saved model: an existing version is not replaced unless asked for, and then as a whole") {
  const testing::TemporaryFolder folder;
  HalfPlusTwo().save(folder / "m/1/");
  const saved_model::Loaded old = saved_model::load(folder / "m/1");
  CHECK_THAT(error_of<errors::AlreadyExistsError>([&] { HalfPlusTwo(3).save(folder / "m/1"); }),
             ContainsSubstring("m/1 exists") && ContainsSubstring(".overwrite"));
  HalfPlusTwo(3).save(folder / "m/1", {.overwrite = true});
  CHECK(answer(saved_model::load(folder / "m/1"), {1}) == Floats{5});
  CHECK(answer(old, {1}) == Floats{2.5f});  // its file is mapped, and no longer has a name
  HalfPlusTwo(4).save(folder / "m/2", {.overwrite = true});
  CHECK(testing::names_in(folder / "m") == Names{"1", "2"});
  std::filesystem::create_directory(folder / "m/3");
  CHECK_THROWS_AS(HalfPlusTwo().save(folder / "m/3"), errors::AlreadyExistsError);
}

TEST_CASE("saved model: a full disk leaves nothing, and says so") {
  const testing::TemporaryFolder folder;
  const Variable w(zeros({50'000}));
  const auto f = function([&](const Tensor& x) { return x + w; });
  const saved_model::Signatures model{{"f", saved_model::predict(f, {{"x", {{50'000}, float32}}})}};
  {
    const testing::SmallFiles limit(100'000);
    CHECK_THROWS_AS(saved_model::save(folder / "m/1", model), errors::ResourceExhaustedError);
    CHECK(testing::names_in(folder / "m").empty());
  }
  saved_model::save(folder / "m/1", model);
  CHECK(saved_model::load(folder / "m/1").bytes() == 200'000);
  CHECK(testing::names_in(folder / "m") == Names{"1"});
}

TEST_CASE("saved model: of threads that save one version, one succeeds") {
  const testing::TemporaryFolder folder;
  for (int round = 1; round <= 5; ++round) {
    const std::string directory = folder / ("m/" + std::to_string(round));
    std::atomic<int> saved = 0, refused = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        try {
          HalfPlusTwo().save(directory);
          ++saved;
        } catch (const errors::AlreadyExistsError&) {
          ++refused;
        }
      });
    for (std::thread& t : threads) t.join();
    CHECK(saved == 1);
    CHECK(refused == 2);
    CHECK(answer(saved_model::load(directory), {1}) == Floats{2.5f});
  }
  CHECK(saved_model::versions(folder / "m") == std::vector<i64>{1, 2, 3, 4, 5});
}

TEST_CASE("saved model: versions are the folders with numbers") {
  const testing::TemporaryFolder folder;
  for (const char* name :
       {"10", "9", "01", "+3", "0", "-1", "1a", ".tmp-4-77", "9223372036854775807", "9223372036854775808"})
    std::filesystem::create_directory(folder / name);
  folder.file("5", "not a folder");
  std::filesystem::create_symlink("7", folder / "7");  // to itself
  std::filesystem::create_symlink("none", folder / "8");
  CHECK(saved_model::versions(folder.path) == std::vector<i64>{9, 10, INT64_MAX});
  CHECK_THROWS_AS(saved_model::versions(folder / "none"), errors::NotFoundError);
  for (const char* name : {"m", "0", "01", "-1", "1 ", "9223372036854775808", ""})
    CHECK_THROWS_AS(HalfPlusTwo().save(folder / name), errors::InvalidArgumentError);
}

TEST_CASE("saved model: calls with wrong names, dtypes or shapes say what the signature takes") {
  const testing::TemporaryFolder folder;
  HalfPlusTwo().save(folder / "m/1");
  const saved_model::Loaded m = saved_model::load(folder / "m/1");
  const auto error = [&](const std::string& signature, const saved_model::NamedTensors& in) {
    return error_of<errors::InvalidArgumentError>([&] { m(signature, in); });
  };
  CHECK_THAT(error("x", {}), ContainsSubstring("Serving signature name: \"x\" not found in signature def") &&
                                 ContainsSubstring("there are: serving_default"));
  CHECK_THAT(error("serving_default", {{"z", ones({1})}}), ContainsSubstring("takes {x}; missing {x}, surplus {z}"));
  CHECK_THAT(error("serving_default", {{"x", constant({1})}}),
             ContainsSubstring("'x'") && ContainsSubstring("int32[1]") && ContainsSubstring("float32[None]"));
  CHECK_THAT(error("serving_default", {{"x", ones({1, 1})}}), ContainsSubstring("float32[1,1]"));
  CHECK_THAT(error("serving_default", {{"x", Tensor()}}), ContainsSubstring("unset"));
}

TEST_CASE("saved model: a call ends by its deadline or its token") {
  const testing::TemporaryFolder folder;
  const auto endless = function([](const Tensor& x) {
    return while_loop([](const Tensor& y) { return y < 1e30f; }, [](const Tensor& y) { return y * 1.f; }, x);
  });
  saved_model::save(folder / "m/1", {{"f", saved_model::predict(endless, {{"x", {{}, float32}}}, {"y"})}});
  const saved_model::Loaded m = saved_model::load(folder / "m/1");
  CHECK_THROWS_AS(m("f", {{"x", constant(1.f)}}, {.deadline = Deadline::after(0.02)}), errors::DeadlineExceededError);
  CancelToken token;
  token.cancel();
  CHECK_THROWS_AS(m("f", {{"x", constant(1.f)}}, {.cancel = token}), errors::CancelledError);
}

TEST_CASE("saved model: names of signatures and tensors, and what a signature cannot be") {
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& x) { return x; });
  const auto made = [&](const char* in, const char* out) {
    return saved_model::predict(f, {{in, {{none}, float32}}}, {out});
  };
  for (const char* name : {"", "/a", "a/", "..", "a/../b", "a//b", "a b", "\xc3\xa4", "a\n"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(made(name, "y"), errors::InvalidArgumentError);
    CHECK_THROWS_AS(made("x", name), errors::InvalidArgumentError);
    CHECK_THROWS_AS(saved_model::save(folder / "m/1", {{name, made("x", "y")}}), errors::InvalidArgumentError);
  }
  CHECK_THROWS_AS(made(std::string(256, 'x').c_str(), "y"), errors::InvalidArgumentError);
  CHECK_THROWS_AS(saved_model::predict(f, {}, {"y"}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(saved_model::predict(f, {{"x", {{1}, float32}}}, {"y", "z"}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(saved_model::save(folder / "m/1", {}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(saved_model::save(folder / "m/1", {{"a", made("x", "y")}, {"a", made("x", "y")}}),
                  errors::InvalidArgumentError);
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
               saved_model::save(folder / "m/1", {{"a", made("x", "y")}, {"a.graph/b", made("x", "y")}});
             }),
             ContainsSubstring("the file graphs/a.graph would be the folder of graphs/a.graph/b.graph"));
  const Variable words(constant({"a"}));
  const auto g = function([&](const Tensor&) { return words.read_value(); });
  CHECK_THROWS_AS(saved_model::save(folder / "m/1", {{"a", saved_model::predict(g, {{"x", {{1}, float32}}})}}),
                  errors::InvalidArgumentError);
  CHECK_FALSE(std::filesystem::exists(folder / "m/1"));
  saved_model::save(folder / "m/1", {{"v1/score", made("dense/x", "dense/y")}});
  CHECK(saved_model::load(folder / "m/1")("v1/score", {{"dense/x", ones({1})}}).size() == 1);
}

TEST_CASE("saved model: what could not be loaded is not saved") {
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& x) { return reduce_sum(x, {.axis = 1}); });
  for (const float x : {NAN, INFINITY, -INFINITY}) {
    const io::FeatureConfigs features{{"age", io::FixedLenFeature{{1}, float32, constant({x})}}};
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
                 saved_model::save(folder / "m/1", {{"score", saved_model::regress(f, {.features = features})}});
               }),
               ContainsSubstring("the signature 'score' has the feature 'age'"));
  }
  const auto save = [&](std::size_t signature, std::size_t asset) {
    saved_model::save(folder / "m/1",
                      {{std::string(signature, 's'), saved_model::predict(f, {{"x", {{none, 2}, float32}}})}},
                      {.assets = {{std::string(asset, 'a'), folder.file("file", "text")}}});
  };
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { save(243, 1); }),
             ContainsSubstring("the name of the signature 'sss") && ContainsSubstring("256 characters"));
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { save(1, 249); }),
             ContainsSubstring("the name of the asset 'aaa") && ContainsSubstring("256 characters"));
  saved_model::Signature strange = saved_model::predict(f, {{"x", {{none, 2}, float32}}});
  strange.method = "tensorflow/serving/guess";
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
               saved_model::save(folder / "m/1", {{"strange", strange}});
             }),
             ContainsSubstring("the signature 'strange'") && ContainsSubstring("could not be loaded"));
  CHECK(testing::names_in(folder / "m").empty());
  save(200, 200);
  CHECK(saved_model::load(folder / "m/1").signatures().size() == 1);
}

TEST_CASE("saved model: a limit of memory refuses a model before its values are read") {
  const testing::TemporaryFolder folder;
  const Variable w(zeros({1000}));
  const auto f = function([&](const Tensor& x) { return x + w; });
  saved_model::save(folder / "m/1", {{"f", saved_model::predict(f, {{"x", {{1000}, float32}}})}});
  CHECK(saved_model::load(folder / "m/1", {.memory_limit = 10000}).bytes() == 4000);
  CHECK_THAT(
      error_of<errors::ResourceExhaustedError>([&] { saved_model::load(folder / "m/1", {.memory_limit = 4000}); }),
      ContainsSubstring("above the limit of 4000"));
}

TEST_CASE("saved model: a model is loaded and called while a function is traced") {
  const testing::TemporaryFolder folder;
  HalfPlusTwo().save(folder / "m/1");
  const auto f = function([&](const Tensor& x) {
    const saved_model::Loaded m = saved_model::load(folder / "m/1");
    return m("serving_default", {{"x", x}}).at("y") * 2.f;
  });
  CHECK(f(constant({1.f, 2.f})).to_vector<float>() == Floats{5, 6});
  CHECK(f.trace_count() == 1);
}

TEST_CASE("saved model: what a call takes is known before") {
  const testing::TemporaryFolder folder;
  const Variable w(zeros({1000, 1000}));
  const auto f = function([&](const Tensor& x) { return matmul(x, w); });
  const auto g = function([](const Tensor& x) { return x; });
  saved_model::save(folder / "m/1", {{"f", saved_model::predict(f, {{"x", {{none, 1000}, float32}}})}});
  saved_model::save(folder / "m/2", {{"g", saved_model::predict(g, {{"x", {{none, none}, float32}}})}});
  const saved_model::Loaded m = saved_model::load(folder / "m/1");
  CHECK(m.bytes() == 4'000'000);
  CHECK(m.memory_for(1) >= 4'004'000);
  CHECK(m.memory_for(1000) >= 8'000'000);
  CHECK(m.memory_for(10000) - m.memory_for(5000) >= 20'000'000);
  CHECK_THROWS_AS(saved_model::load(folder / "m/2").memory_for(1), errors::InvalidArgumentError);
}

}  // namespace saved_model_test
