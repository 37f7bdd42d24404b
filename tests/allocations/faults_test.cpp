// Training steps, saving and restoring while each of their allocations fails.
#include <filesystem>
#include <functional>
#include <random>

#include "tandem/serving/idle_list.hpp"
#include "tandem/tandem.hpp"
#include "tandem/train.hpp"
#include "tests/allocations/fail_each.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
namespace fs = std::filesystem;
using testing::wave;

namespace {

void append_variables(std::vector<Module::Named>& to, const std::string& prefix, const Module& m) {
  for (Module::Named& n : m.named_variables()) {
    n.path.insert(0, prefix);
    to.push_back(std::move(n));
  }
}
// All layers begin with the same values in each attempt.
struct Net : Model<Net> {
  layers::Dense hidden{5, {.activation = Activation::tanh, .kernel_initializer = initializers::Constant(.2)}};
  layers::BatchNormalization norm;
  layers::Dense out{3, {.kernel_initializer = initializers::Constant(.1)}};

  Tensor operator()(const Tensor& x, const random::Generator& generator) const {
    return out(nn::dropout(norm(hidden(x), {.training = true}), {.rate = .3, .generator = &generator}));
  }
};
struct Training {
  Net net;
  optimizers::Adam adam{{.learning_rate = .05, .global_clipnorm = .5}};
  ExponentialMovingAverage average{.9};
  metrics::Mean mean;
  random::Generator generator{7};
  const Tensor x = wave({4, 6}, 0), labels = constant({0, 2, 1, 0});

  void build() {
    net.hidden.build(6), net.norm(zeros({1, 5})), net.out.build(5);
    adam.build(net.trainable_variables());
    average.build(net.trainable_variables());
  }
  Tensor step(const Tensor& input, const Tensor& wanted) const {
    GradientTape tape;
    const Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(wanted, net(input, generator)));
    const std::vector<Variable> weights = net.trainable_variables();
    adam.apply_gradients(tape.gradient(loss, weights), weights);
    average.apply(weights);
    mean.update_state(loss);
    return loss;
  }
  std::vector<Module::Named> variables() const {
    std::vector<Module::Named> all{{"generator", generator.state()}};
    append_variables(all, "net/", net), append_variables(all, "adam/", adam);
    append_variables(all, "average/", average), append_variables(all, "mean/", mean);
    return all;
  }
};

// Lists, sparse gradients, states of a recurrent layer, a constraint, control flow.
struct Sequences {
  layers::Embedding embedding{7, 3, {.embeddings_initializer = initializers::Constant(.3)}};
  layers::LSTM lstm{4, {.stateful = true}};
  layers::Dense out{1, {.kernel_initializer = initializers::Constant(.2)}};
  optimizers::SGD sgd{{.learning_rate = .1, .momentum = .9}};
  const Tensor x = constant({{1, 2, 3}, {4, 5, 1}}), labels = constant({{.5f}, {-.5f}});

  Sequences() { random::set_seed(1); }
  std::vector<Variable> weights() const {
    std::vector<Variable> all;
    for (const Module* m :
         {static_cast<const Module*>(&embedding), static_cast<const Module*>(&lstm), static_cast<const Module*>(&out)})
      for (const Variable& v : m->trainable_variables()) all.push_back(v);
    return all;
  }
  void build() {
    lstm(embedding(x)), out.build(4), lstm.reset_states();
    sgd.build(weights());
  }
  Tensor step(const Tensor& ids, const Tensor& wanted) const {
    GradientTape tape;
    const Tensor y = out(lstm(embedding(ids)).output);
    const Tensor loss = cond(
        reduce_sum(y) > 100.f, [&] { return reduce_mean(y); }, [&] { return reduce_mean(square(y - wanted)); });
    const std::vector<Variable> all = weights();
    sgd.apply_gradients(tape.gradient(loss, all), all);
    return loss;
  }
  std::vector<Module::Named> variables() const {
    std::vector<Module::Named> all;
    append_variables(all, "embedding/", embedding), append_variables(all, "lstm/", lstm);
    append_variables(all, "out/", out), append_variables(all, "sgd/", sgd);
    return all;
  }
};

template <class T>
struct Call {
  const T* training;
  Tensor operator()(const Tensor& x, const Tensor& labels) const { return training->step(x, labels); }
};
// A step of T after `first` others, eager or traced.
template <class T>
struct Step : faults::Scenario {
  T training;
  Function<Call<T>> traced_step = function(Call<T>{&training});
  const bool traced;

  Step(bool is_traced, int first) : traced(is_traced) {
    for (int i = 0; i < first; ++i) run();
  }
  Tensor run() override {
    return traced ? traced_step(training.x, training.labels) : training.step(training.x, training.labels);
  }
  std::vector<Module::Named> variables() const override { return training.variables(); }
  void build() override { training.build(); }
};
template <class T>
void fail_step(bool traced, int first, long points) {
  faults::fail_each([=] { return std::make_unique<Step<T>>(traced, first); }, points);
}

// Something small that changes all its Variables or none.
struct Atomic : faults::Scenario {
  std::vector<std::pair<std::string, Module>> modules;
  Variable weight;
  std::function<Tensor()> call;

  explicit Atomic(const Variable& w = {}) : weight(w) {}
  Tensor run() override { return call(); }
  bool is_atomic() const override { return true; }
  std::vector<Module::Named> variables() const override {
    std::vector<Module::Named> all;
    if (weight.is_set()) all.push_back({"weight", weight});
    for (const auto& [name, m] : modules) append_variables(all, name + "/", m);
    return all;
  }
};
// One step with a weight and its gradient, after another.
template <class Make>
void fail_optimizer(const Make& make_optimizer) {
  faults::fail_each(
      [&] {
        auto s = std::make_unique<Atomic>(Variable(constant({1.f, 2.f, 3.f})));
        const auto optimizer = make_optimizer();
        s->modules = {{"optimizer", optimizer}};
        s->call = [optimizer, w = s->weight] {
          optimizer.apply_gradients({Gradient(constant({.1f, .2f, .3f}))}, {w});
          return Tensor();
        };
        s->run();
        return s;
      },
      5000);
}
template <class Make>
void fail_metric(const Make& kind, const Tensor& y_true, const Tensor& y_pred) {
  faults::fail_each(
      [&] {
        auto s = std::make_unique<Atomic>();
        const auto metric = kind();
        s->modules = {{"metric", metric}};
        s->call = [=] { return metric.update_state(y_true, y_pred), Tensor(); };
        s->run();
        return s;
      },
      5000);
}

// A folder with a checkpoint of `old`, which has made one step, and the names of its files.
struct Folder {
  const std::string path =
      (fs::temp_directory_path() / ("tandem_faults_" + std::to_string(std::random_device()()))).string();
  const std::string file = path + "/checkpoint";
  Folder() { fs::create_directory(path); }
  ~Folder() { fs::remove_all(path); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};
train::Checkpoint checkpoint_of(const Training& t) {
  return {{"net", t.net}, {"adam", t.adam}, {"average", t.average}, {"generator", t.generator.state()}};
}
// Saves over an older file.
struct Save : faults::Scenario {
  const std::string file;
  Training training;
  const Folder& folder;

  explicit Save(const Folder& f) : file(f.file), folder(f) {
    training.build();
    checkpoint_of(training).save(file, {{"step", "old"}});
    training.step(training.x, training.labels);
  }
  Tensor run() override {
    checkpoint_of(training).save(file, {{"step", "new"}});
    return {};
  }
  std::vector<Module::Named> variables() const override { return training.variables(); }
  std::string other_state(bool complete) override {
    if (folder.files() != 1) return "a temporary file is left";
    const std::string step = train::read_metadata(file).at("step");
    if (complete) return step == "new" ? "" : "the file is the old one";
    return {};
  }
};
// Restores what a step has changed, into a training whose Variables exist or not.
struct Restore : faults::Scenario {
  Training training;
  const std::string file;
  const bool built;

  Restore(const std::string& f, bool is_built) : file(f), built(is_built) {
    if (built) training.build();
  }
  Tensor run() override {
    checkpoint_of(training).restore(file);
    return {};
  }
  std::vector<Module::Named> variables() const override { return training.variables(); }
  bool is_atomic() const override { return true; }
  // Variables made later take the file's values: all of them, or none.
  std::string other_state(bool complete) override {
    if (built) return {};
    if (!complete && training.adam.iterations().item<i64>() == 0) return {};
    training.build();
    const bool restored = training.adam.iterations().item<i64>() == 1;
    if (complete && !restored) return "nothing is restored";
    const float weight = training.net.hidden.variables()[0].to_vector<float>()[0];
    const float average = training.average.average(training.net.hidden.variables()[0]).to_vector<float>()[0];
    return (weight != .2f) == restored && (average != .2f) == restored ? "" : "a part is restored";
  }
};

}  // namespace

TEST_CASE("faults: an eager step that makes all Variables") { fail_step<Training>(false, 0, 5000); }
TEST_CASE("faults: an eager step") { fail_step<Training>(false, 2, 5000); }
TEST_CASE("faults: the first traced step") { fail_step<Training>(true, 0, 100); }
TEST_CASE("faults: a traced step") { fail_step<Training>(true, 2, 5000); }
TEST_CASE("faults: a step with lists, states and control flow, eager") { fail_step<Sequences>(false, 1, 300); }
TEST_CASE("faults: a step with lists, states and control flow, traced") { fail_step<Sequences>(true, 1, 300); }
TEST_CASE("faults: a step with lists, states and control flow is traced") {
  struct Traced : Step<Sequences> {
    Traced() : Step(true, 0) { training.build(); }
  };
  faults::fail_each([] { return std::make_unique<Traced>(); }, 100);
}
TEST_CASE("faults: saving") {
  const Folder folder;
  faults::fail_each([&] { return std::make_unique<Save>(folder); }, 100);
}
TEST_CASE("faults: restoring") {
  const Folder folder;
  {
    Training old;
    old.step(old.x, old.labels);
    checkpoint_of(old).save(folder.file);
  }
  for (const bool built : {true, false})
    faults::fail_each([&] { return std::make_unique<Restore>(folder.file, built); }, 150);
}

TEST_CASE("faults: Adam's step with one weight, all or nothing") {
  fail_optimizer([] { return optimizers::Adam({.learning_rate = .1}); });
}
TEST_CASE("faults: momentum's step with one weight, all or nothing") {
  fail_optimizer([] { return optimizers::SGD({.learning_rate = .1, .momentum = .9}); });
}
TEST_CASE("faults: Lamb's step with one weight, all or nothing") {
  fail_optimizer([] { return optimizers::Lamb({.learning_rate = .1}); });
}
TEST_CASE("faults: R2Score, all or nothing") {
  fail_metric([] { return metrics::R2Score(); }, constant({1.f, 2.f, 4.f}), constant({1.f, 3.f, 5.f}));
}
TEST_CASE("faults: F1Score, all or nothing") {
  fail_metric([] { return metrics::F1Score(); }, constant({{1.f, 0.f}, {0.f, 1.f}}),
              constant({{.9f, 0.f}, {.2f, .8f}}));
}
TEST_CASE("faults: a mean of losses, all or nothing") {
  fail_metric([] { return metrics::MeanSquaredError(); }, constant({1.f, 2.f}), constant({1.f, 3.f}));
}
TEST_CASE("faults: a moving average, all or nothing") {
  faults::fail_each(
      [] {
        auto s = std::make_unique<Atomic>(Variable(constant({1.f, 2.f})));
        const ExponentialMovingAverage average(.9);
        average.apply({s->weight});
        s->weight.assign(constant({3.f, 4.f}));
        s->modules = {{"average", average}};
        s->call = [average, w = s->weight] { return average.apply({w}), Tensor(); };
        return s;
      },
      5000);
}
TEST_CASE("faults: a learning rate on a plateau, all or nothing") {
  faults::fail_each(
      [] {
        auto s = std::make_unique<Atomic>();
        const optimizers::SGD sgd({.learning_rate = .1});
        const optimizers::ReduceLROnPlateau plateau(sgd, {.patience = 1, .cooldown = 2});
        plateau.update(1);
        s->modules = {{"sgd", sgd}, {"plateau", plateau}};
        s->call = [plateau] { return plateau.update(2), Tensor(); };
        return s;
      },
      5000);
}
TEST_CASE("faults: the averages of batch normalization, all or nothing") {
  faults::fail_each(
      [] {
        auto s = std::make_unique<Atomic>();
        const layers::BatchNormalization norm;
        const Tensor x = wave({4, 3}, 0);
        norm(x);
        s->modules = {{"norm", norm}};
        s->call = [=] { return norm(x, {.training = true}); };
        return s;
      },
      5000);
}

// A connection whose last reference is let go within a sweep removes itself from the list, which is locked there.
TEST_CASE("faults: a sweep of a list of connections takes its memory before it holds one") {
  using serving::impl::IdleList;
  struct Late final : IdleList::Member {
    void end() override { ++ended; }
    serving::impl::IdleTime time;
    int ended = 0;
  };
  IdleList list;
  std::vector<std::shared_ptr<Late>> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(std::make_shared<Late>());
    all.back()->time.set({});
    list.add(all.back(), all.back()->time);
  }
  const auto sweep_with = [&](long left) {
    counted::failing = {.left = left};
    try {
      list.sweep(serving::impl::IdleTime::Clock::now());
    } catch (const std::bad_alloc&) {
      counted::failing = {};
      return false;
    }
    counted::failing = {};
    return true;
  };
  CHECK_FALSE(sweep_with(0));
  CHECK(sweep_with(1));
  for (const auto& late : all) CHECK(late->ended == 1);
}
