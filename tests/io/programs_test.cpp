// Short programs that save and read, as a TensorFlow user writes them at the first try.
#include <filesystem>
#include <map>
#include <random>

#include "tandem/io/graph_file.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/op_table.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using testing::floats, testing::Floats;

namespace {
struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tandem_program_" + std::to_string(std::random_device()()))).string();
  ~File() { std::filesystem::remove(path); }
};
}  // namespace

TEST_CASE("program: weights saved from a map and read again") {
  const File file;
  const Variable w(random::normal({3, 2}), {.name = "w"});
  const std::map<std::string, Tensor> weights{{"layer/w", w}, {"layer/b", zeros({2})}};
  io::save_safetensors(file.path, weights, {{"epoch", "7"}});
  const io::Safetensors read = io::load_safetensors(file.path);
  CHECK(floats(read.at("layer/w")) == floats(w.value()));
  CHECK(read.at("layer/b").shape() == Shape{2});
  CHECK(read.metadata.at("epoch") == "7");
}

TEST_CASE("program: a recurrent model for any batch, exported and called in a program without it") {
  const File file;
  struct Net : Model<Net> {
    layers::Embedding embedding{11, 4};
    layers::GRU gru{6};
    layers::Dense out{2};
    Tensor operator()(const Tensor& ids) const { return out(gru(embedding(ids))); }
  };
  const Tensor ids = constant({{1, 2, 3}, {4, 5, 10}, {0, 0, 7}});
  Floats want;
  {
    const Net net;
    const auto call =
        function([&](const Tensor& t) { return net(t); }, {.input_signature = {TensorSpec({none, 3}, int32)}});
    want = floats(call(ids));
    io::save_graph(file.path, call.get_concrete_function(TensorSpec({none, 3}, int32))->graph());
  }
  ConcreteFunction loaded(io::load_graph(file.path, {.ops = all_ops()}));
  CHECK(floats(loaded({ids})[0]) == want);
  const Tensor one = ids(Slice(1, 2));
  CHECK(floats(loaded({one})[0]) == Floats{want[2], want[3]});
}
