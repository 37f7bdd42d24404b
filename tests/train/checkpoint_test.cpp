// Checkpoints: exact resumption of training, another model's file, damage.
#include "tandem/train/checkpoint.hpp"

#include <filesystem>
#include <random>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
namespace fs = std::filesystem;

namespace {

struct Net : Module {
  layers::GRU rnn;
  layers::Dense out;
  explicit Net(i64 units = 6) : rnn(units), out(2) { add_module("rnn", rnn), add_module("out", out); }
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
