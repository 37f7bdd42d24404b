// Checkpoints: exact resumption of training, another model's file, damage.
#include "tandem/train/checkpoint.hpp"

#include <filesystem>
#include <random>
#include <set>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
namespace fs = std::filesystem;

namespace {

struct Net : Module {
  layers::GRU rnn;
  layers::Dense out;
  explicit Net(i64 units = 6) : rnn(units, {.return_sequences = true}), out(2) {
    add_module("rnn", rnn), add_module("out", out);
  }
  Tensor operator()(const Tensor& x) const { return out(rnn(x).output); }
};

// A small training run with all kinds of state: weights, slots, step, random numbers.
struct Run {
  Net net;
  optimizers::Adam adam{{.learning_rate = .01}};
  random::Generator generator{5};
  train::Checkpoint checkpoint{{"net", net}, {"adam", adam}, {"random", generator.state()}};
  explicit Run(i64 seed) {
    random::set_seed(seed);
    net(zeros({1, 1, 3}));
    adam.build(net.trainable_variables());
  }
  void steps(int n) {
    for (int i = 0; i < n; ++i) {
      const Tensor x = random::normal({2, 4, 3}, {.generator = &generator});
      GradientTape tape;
      const Tensor loss = reduce_mean(square(nn::dropout(net(x), {.rate = .2, .generator = &generator}) - 1));
      const auto variables = net.trainable_variables();
      adam.apply_gradients(clip_by_global_norm(tape.gradient(loss, variables), 1).gradients, variables);
    }
  }
  std::vector<float> weights() const {
    std::vector<float> all;
    for (const Variable& v : net.variables())
      for (float x : v.to_vector<float>()) all.push_back(x);
    return all;
  }
};
struct File {
  std::string path =
      (fs::temp_directory_path() / ("tandem_checkpoint_" + std::to_string(std::random_device()()))).string();
  ~File() { fs::remove(path); }
};

}  // namespace

TEST_CASE("stopped and resumed equals uninterrupted, bit for bit") {
  const File file;
  Run whole(1), first(1), second(2);
  whole.steps(12);
  first.steps(7);
  first.checkpoint.save(file.path, {{"note", "seven"}});
  CHECK(second.weights() != first.weights());
  second.checkpoint.restore(file.path);
  CHECK(second.adam.iterations().item<i64>() == 7);
  second.steps(5);
  CHECK(second.weights() == whole.weights());
  CHECK(train::read_metadata(file.path).at("note") == "seven");
}

TEST_CASE("another model's checkpoint is refused and changes nothing") {
  const File file;
  Run run(1);
  run.checkpoint.save(file.path);
  const Net wide(7);
  wide(zeros({1, 1, 3}));
  const train::Checkpoint other({{"net", wide}});
  const auto before = wide.variables()[0].to_vector<float>();
  CHECK_THROWS_WITH(other.restore(file.path, {.partial = true}),
                    ContainsSubstring("net/rnn/cell_0/kernel is float32[3,21], in the file float32[3,18]"));
  CHECK(wide.variables()[0].to_vector<float>() == before);
  const train::Checkpoint renamed({{"other", run.net}});
  CHECK_THROWS_WITH(renamed.restore(file.path), ContainsSubstring("other/rnn/cell_0/kernel float32[3,18] is missing"));
  const train::Checkpoint part({{"net", run.net}});
  CHECK_THROWS_WITH(part.restore(file.path), ContainsSubstring("is only in the file"));
  CHECK_NOTHROW(part.restore(file.path, {.partial = true}));
  CHECK_THROWS_AS(part.restore(file.path + "x"), errors::NotFoundError);
}

namespace {
std::set<std::string> names_in(const std::string& path) {
  std::set<std::string> r;
  for (const io::NamedTensor& t : io::load_safetensors(path).tensors) r.insert(t.name);
  return r;
}
struct Weights {
  Variable a{constant({1.f, 2.f}), {.name = "a"}}, b{constant({3.f, 4.f}), {.name = "b"}};
  optimizers::SGD sgd{{.momentum = .5}};
  void step(const Variable& v, float g) const { sgd.apply_gradients({Gradient(constant({g, g}))}, {v}); }
};
}  // namespace

TEST_CASE("slots are saved under the paths of their weights, whatever the order of the first steps") {
  const File file;
  const Weights saved, loaded;
  saved.step(saved.a, 1), saved.step(saved.b, 2);
  const auto checkpoint = [](const Weights& w) { return train::Checkpoint({{"a", w.a}, {"b", w.b}, {"sgd", w.sgd}}); };
  checkpoint(saved).save(file.path);
  CHECK(names_in(file.path) ==
        std::set<std::string>{"a", "b", "sgd/learning_rate", "sgd/iterations", "sgd/a/momentum", "sgd/b/momentum"});
  loaded.sgd.build({loaded.b, loaded.a});
  checkpoint(loaded).restore(file.path);
  saved.step(saved.a, 0), loaded.step(loaded.a, 0);
  saved.step(saved.b, 0), loaded.step(loaded.b, 0);
  CHECK(loaded.a.to_vector<float>() == saved.a.to_vector<float>());
  CHECK(loaded.b.to_vector<float>() == saved.b.to_vector<float>());
}

TEST_CASE("slots under the numbers that older files have are understood, weights outside keep numbers") {
  const File file;
  const Weights saved, loaded;
  saved.step(saved.a, 1), saved.step(saved.b, 2);
  // Without the weights there are no paths: the numbers, as before.
  train::Checkpoint({{"sgd", saved.sgd}}).save(file.path);
  CHECK(names_in(file.path) ==
        std::set<std::string>{"sgd/learning_rate", "sgd/iterations", "sgd/slot_0_momentum", "sgd/slot_1_momentum"});
  std::vector<io::NamedTensor> old = io::load_safetensors(file.path).tensors;
  old.push_back({"a", saved.a}), old.push_back({"b", saved.b});
  io::save_safetensors(file.path, old);
  loaded.sgd.build({loaded.a, loaded.b});
  train::Checkpoint({{"a", loaded.a}, {"b", loaded.b}, {"sgd", loaded.sgd}}).restore(file.path);
  CHECK(loaded.sgd.variables()[2].to_vector<float>() == saved.sgd.variables()[2].to_vector<float>());
  CHECK(loaded.sgd.variables()[3].to_vector<float>() == saved.sgd.variables()[3].to_vector<float>());
  CHECK(loaded.sgd.variables()[3].to_vector<float>()[0] != 0);
}

TEST_CASE("a module with two names is saved and restored under both") {
  struct Tied : Module {
    layers::Dense a{2};
    Tied() { add_module("encoder", a), add_module("decoder", a), a.build(2); }
  };
  const File file;
  random::set_seed(4);
  const Tied saved, loaded;
  const train::Checkpoint from({{"net", saved}}), to({{"net", loaded}});
  from.save(file.path);
  CHECK(names_in(file.path) ==
        std::set<std::string>{"net/encoder/kernel", "net/encoder/bias", "net/decoder/kernel", "net/decoder/bias"});
  CHECK(loaded.variables()[0].to_vector<float>() != saved.variables()[0].to_vector<float>());
  to.restore(file.path);
  CHECK(loaded.variables()[0].to_vector<float>() == saved.variables()[0].to_vector<float>());
}
