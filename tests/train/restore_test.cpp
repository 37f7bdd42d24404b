// Restoring from files with other names, more or less; weights of PyTorch and Keras.
#include "tandem/train/restore.hpp"

#include "tandem/tandem.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tandem/train/convert.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/hex.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/keras_files.hpp"
#include "tests/train/torch_files.hpp"

namespace train_restore_test {
using namespace tandem;
using testing::error_of;
using Names = std::vector<std::string>;

struct Two : Module {
  layers::Dense hidden{2}, out{3};
  Two() { add_module("hidden", hidden), add_module("out", out); }
  Tensor operator()(const Tensor& x) const { return out(hidden(x)); }
};
float first_of(const Variable& v) { return v.to_vector<float>()[0]; }

TEST_CASE("what is missing, of another shape or only in the file is allowed on request, and reported") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "file";
  const Two net;
  net(zeros({1, 2}));
  io::save_safetensors(path, {{"net/hidden/kernel", ones({2, 2})}, {"net/out/bias", ones({5})}, {"other", ones({1})}});
  const train::Checkpoint checkpoint({{"net", net}});
  const std::string error = error_of<errors::InvalidArgumentError>([&] { checkpoint.restore(path); });
  for (const char* line :
       {"net/hidden/bias float32[2] is missing", "net/out/kernel float32[2,3] is missing",
        "net/out/bias is float32[3], in the file float32[5]", "other float32[1] is only in the file"})
    CHECK_THAT(error, ContainsSubstring(line));
  for (const train::RestoreOptions& o : {train::RestoreOptions{.partial = true, .allow_missing = true},
                                         {.partial = true, .allow_mismatched = true},
                                         {.allow_missing = true, .allow_mismatched = true}})
    CHECK_THROWS_AS(checkpoint.restore(path, o), errors::InvalidArgumentError);
  CHECK(first_of(net.hidden.variables()[0]) != 1);
  const train::RestoreReport report =
      checkpoint.restore(path, {.partial = true, .allow_missing = true, .allow_mismatched = true});
  CHECK(first_of(net.hidden.variables()[0]) == 1);
  CHECK(report.restored == Names{"net/hidden/kernel"});
  CHECK(report.deferred.empty());
  CHECK(report.missing == Names{"net/hidden/bias", "net/out/kernel"});
  CHECK(report.mismatched == Names{"net/out/bias"});
  CHECK(report.unused == Names{"other"});
  CHECK(
      to_string(report) ==
      "restored 1, deferred 0, missing 2: net/hidden/bias net/out/kernel, mismatched 1: net/out/bias, unused 1: other");
}

TEST_CASE("assert_consumed names all of the program and of the file that has not matched") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "file";
  const train::RestoreOptions lenient{.partial = true, .allow_missing = true, .allow_mismatched = true};
  const Two net;
  net(zeros({1, 2}));
  const train::Checkpoint checkpoint({{"net", net}});
  io::save_safetensors(path, {{"net/hidden/kernel", ones({2, 2})}, {"net/out/bias", ones({5})}, {"other", ones({1})}});
  const train::RestoreReport report = checkpoint.restore(path, lenient);
  const std::string error = error_of<errors::InvalidArgumentError>([&] { report.assert_consumed(); });
  for (const char* line : {"net/hidden/bias is missing", "net/out/kernel is missing", "net/out/bias has another shape",
                           "other is only in the file"})
    CHECK_THAT(error, ContainsSubstring(line));
  CHECK(error.find("net/hidden/kernel") == error.npos);
  checkpoint.save(path);
  CHECK_NOTHROW(checkpoint.restore(path, lenient).assert_consumed());
  const Two later;
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
               train::Checkpoint({{"net", later}}).restore(path, lenient).assert_consumed();
             }),
             ContainsSubstring("net/out/bias is kept for a Variable that did not exist: call the model"));
}

// The weights of a model that is trained, in a model of another class that draws samples: the same paths.
struct Language : Module {
  layers::Embedding words{5, 3};
  layers::GRU rnn{4, {.return_sequences = true}};
  layers::Dropout dropout{0.5};
  layers::Dense out{5};
  Language() { add_module("words", words), add_module("rnn", rnn), add_module("out", out); }
  Tensor operator()(const Tensor& ids) const { return out(dropout(rnn(words(ids)).output)); }
};
struct Sampler : Module {
  layers::Dense project{5};
  layers::GRU step{4};
  layers::Embedding table{5, 3};
  Sampler() { add_module("out", project), add_module("rnn", step), add_module("words", table); }
  i64 operator()(const Tensor& ids) const { return argmax(project(step(table(ids)).output), 1).to_vector<i64>()[0]; }
};

TEST_CASE("a model of another class with the same paths restores: of training, then for sampling") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "file";
  const Language trained;
  const optimizers::Adam adam(0.1);
  const Tensor ids = constant({{0, 3, 1}});
  trained(ids);
  for (int i = 0; i < 3; ++i) {
    const training_scope training(true);
    adam.minimize([&] { return reduce_mean(square(trained(ids))); }, trained.trainable_variables());
  }
  train::Checkpoint({{"model", trained}, {"adam", adam}}).save(path);
  const Sampler sampler;
  const train::Checkpoint sampling({{"model", sampler}});
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { sampling.restore(path); }),
             ContainsSubstring("adam/") && ContainsSubstring("is only in the file"));
  sampler(ids);
  const train::RestoreReport report = sampling.restore(path, {.partial = true});
  CHECK(report.restored.size() == trained.variables().size());
  CHECK((report.missing.empty() && report.deferred.empty() && report.mismatched.empty()));
  const i64 expected = argmax(trained(ids)(0, -1), 0).item<i64>();
  CHECK(sampler(ids) == expected);
  const auto values = [](const Variable& v) { return v.to_vector<float>(); };
  for (const Module::Named& v : trained.named_variables())
    for (const Module::Named& w : sampler.named_variables())
      if (v.path == w.path) CHECK(values(v.variable) == values(w.variable));
}

TEST_CASE("values for Variables that do not exist yet are reported as deferred") {
  const testing::TemporaryFolder folder;
  const Two saved, loaded;
  saved(zeros({1, 2}));
  train::save_weights(saved, folder / "file");
  const train::RestoreReport report = train::load_weights(loaded, folder / "file");
  CHECK(report.restored.empty());
  CHECK(report.deferred == Names{"hidden/bias", "hidden/kernel", "out/bias", "out/kernel"});
  const Tensor x = constant({{1.f, 2.f}});
  CHECK(loaded(x).to_vector<float>() == saved(x).to_vector<float>());
}

TEST_CASE("names are mapped: whole ones first, then the longest prefix") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "file";
  const Two net;
  net(zeros({1, 2}));
  const Tensor kernel = ones({2, 2}), bias = fill({2}, 2.f), out = fill({2, 3}, 3.f), last = fill({3}, 4.f);
  io::save_safetensors(path, {{"old.a.kernel", kernel}, {"old.a.bias", bias}, {"old.b.kernel", out}, {"final", last}});
  const train::NameMap map{{"old.", "nowhere/"}, {"old.a.", "hidden/"}, {"old.b.", "out/"}, {"final", "out/bias"}};
  train::RestoreOptions options{.map = map};
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { train::load_weights(net, path, options); }),
             ContainsSubstring("no name in the file fits these keys of .map: 'old.'"));
  options.map.erase("old.");
  CHECK(train::load_weights(net, path, options).restored.size() == 4);
  CHECK(first_of(net.out.variables()[1]) == 4);
  options.map["old.b."] = "hidden/";
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { train::load_weights(net, path, options); }),
             ContainsSubstring("two tensors the name 'hidden/kernel'"));
  options.map = {{"", "model/"}, {"old.", "model/old/"}};
  const std::string error = error_of<errors::InvalidArgumentError>([&] { train::load_weights(net, path, options); });
  CHECK_THAT(error, ContainsSubstring("model/old/a.kernel") && ContainsSubstring("model/final"));
}

// The largest difference of two lists of equal length.
double distance(const Tensor& x, const std::vector<float>& expected) {
  const std::vector<float> values = x.to_vector<float>();
  REQUIRE(values.size() == expected.size());
  double most = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    most = std::max(most, std::abs(double{values[i]} - double{expected[i]}));
  return most;
}

struct Images : Module {
  layers::Conv2D conv{3, {2, 3}};
  layers::DepthwiseConv2D depth{2, {.depth_multiplier = 2}};
  layers::BatchNormalization norm{{.epsilon = 1e-5}};
  layers::Conv2DTranspose up{2, 2, {.strides = 2}};
  layers::Dense out{3};
  layers::LayerNormalization layer_norm{{.epsilon = 1e-5}};
  Images() {
    add_module("conv", conv), add_module("depth", depth), add_module("norm", norm);
    add_module("up", up), add_module("out", out), add_module("layer_norm", layer_norm);
  }
  Tensor operator()(const Tensor& x) const {
    return layer_norm(out(reduce_mean(up(norm(depth(nn::relu(conv(x))))), {-1})));
  }
};
struct Texts : Model<Texts> {  // whose members have the names of their classes
  layers::Embedding words{5, 3};
  layers::LSTM lstm{2, {.return_sequences = true, .num_layers = 2}};
  layers::Bidirectional<layers::LSTM> both{layers::LSTM(2, {.return_sequences = true})};
  layers::GRU gru{2, {.return_sequences = true}};
  layers::SimpleRNN plain{2, {.return_sequences = true}};
  layers::MultiHeadAttention attention{2, 2};
  Tensor operator()(const Tensor& ids) const {
    const Tensor b = both(lstm(words(ids)));
    return concat({plain(gru(b)), attention(b)}, -1);
  }
};
const Tensor& ids() {
  static const Tensor x = constant({{0, 1, 2, 4}, {3, 3, 1, 0}});
  return x;
}

TEST_CASE("weights of PyTorch: convolutions, normalizations, a dense layer") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("torch", testing::from_hex(torch_files::images));
  const Tensor x = reshape(cast(range(40) % 7 - 3, float32) / 4.f, {1, 2, 4, 5});
  const Tensor image = transpose(x, {.perm = {0, 2, 3, 1}});
  const Images net;
  CHECK_THAT(
      error_of<errors::InvalidArgumentError>([&] { train::load_weights(net, path, {.convert = train::from_pytorch}); }),
      ContainsSubstring("conv.weight float32[3,2,2,3] is only in the file") &&
          ContainsSubstring("call the model before"));
  net(image);
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { train::load_weights(net, path); }),
             ContainsSubstring(".map gives the names") && ContainsSubstring(".convert is for"));
  const train::RestoreReport report = train::load_weights(net, path, {.convert = train::from_pytorch});
  CHECK(report.restored.size() == net.variables().size());
  CHECK(report.unused.empty());
  CHECK(distance(net(image), torch_files::images_output) < 1e-6);
}

TEST_CASE("weights of PyTorch: embeddings, recurrent layers, attention; below another name") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("torch", testing::from_hex(torch_files::texts));
  const Texts net;
  net(ids());
  const train::Checkpoint checkpoint({{"model", net}});
  CHECK_THROWS_AS(checkpoint.restore(path, {.convert = train::from_pytorch}), errors::InvalidArgumentError);
  const train::NameMap map{{"", "model/"},
                           {"words.", "model/embedding/"},
                           {"both.", "model/bidirectional/"},
                           {"plain.", "model/simple_rnn/"},
                           {"attention.", "model/multi_head_attention/"}};
  checkpoint.restore(path, {.map = map, .convert = train::from_pytorch});
  CHECK(distance(net(ids()), torch_files::texts_output) < 1e-6);
  // A layer by itself.
  const layers::LSTM lstm(2, {.return_sequences = true, .num_layers = 2});
  lstm(zeros({1, 1, 3}));
  train::load_weights(lstm, path, {.partial = true, .map = {{"lstm.", ""}}, .convert = train::from_pytorch});
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(lstm.variables()[i].to_vector<float>() == net.lstm.variables()[i].to_vector<float>());
}

TEST_CASE("weights of PyTorch that do not fit are named") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("torch", testing::from_hex(torch_files::texts));
  struct Wide : Module {
    layers::LSTM gru{2};
    layers::Dense attention{3};
    Wide() { add_module("gru", gru), add_module("attention", attention); }
    void operator()() const { gru(zeros({1, 1, 4})), attention(zeros({1, 4})); }
  };
  const Wide net;
  net();
  const std::string error = error_of<errors::InvalidArgumentError>(
      [&] { train::load_weights(net, path, {.partial = true, .convert = train::from_pytorch}); });
  CHECK_THAT(error, ContainsSubstring("gru/cell_0/kernel is float32[4,8], in the file float32[4,6]") &&
                        ContainsSubstring("attention/kernel float32[4,3] is missing"));
}

TEST_CASE("weights of Keras") {
  struct Net : Module {
    layers::Embedding words{5, 3};
    layers::LSTM lstm{2, {.return_sequences = true}};
    layers::Bidirectional<layers::GRU> both{layers::GRU(2, {.return_sequences = true})};
    layers::LayerNormalization norm;
    layers::MultiHeadAttention attention{2, 3};
    layers::Conv1D conv{2, 2};
    layers::BatchNormalization batch_norm;
    layers::Dense out{2};
    Net() {
      add_module("words", words), add_module("lstm", lstm), add_module("both", both), add_module("norm", norm);
      add_module("attention", attention), add_module("conv", conv), add_module("batch_norm", batch_norm);
      add_module("out", out);
    }
    Tensor operator()(const Tensor& x) const { return out(batch_norm(conv(attention(norm(both(lstm(words(x)))))))); }
  };
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("keras", testing::from_hex(keras_files::texts));
  const Net net;
  net(ids());
  const train::RestoreReport report = train::load_weights(net, path, {.convert = train::from_keras});
  CHECK(report.restored.size() == net.variables().size());
  CHECK(distance(net(ids()), keras_files::texts_output) < 1e-6);
}

TEST_CASE("weights of Keras: depthwise kernels, whose name is that of other kernels in Keras 3") {
  struct Net : Module {
    layers::DepthwiseConv2D depthwise{3, {.depth_multiplier = 2}};
    layers::SeparableConv2D separable{4, 3};
    Net() { add_module("depthwise", depthwise), add_module("separable", separable); }
    Tensor operator()(const Tensor& x) const { return separable(depthwise(x)); }
  };
  const testing::TemporaryFolder folder;
  const Tensor x = random::normal({1, 8, 8, 3});
  const Net net, other;
  net(x), other(x);
  std::map<std::string, Tensor> file;
  for (const Module::Named& v : net.named_variables()) file.emplace(v.path, v.variable.read_value());
  file.emplace("depthwise/kernel", file.at("depthwise/depthwise_kernel"));
  file.erase("depthwise/depthwise_kernel");
  const std::string path = folder / "keras.safetensors";
  io::save_safetensors(path, file);
  train::load_weights(other, path, {.convert = train::from_keras});
  CHECK(other(x).to_vector<float>() == net(x).to_vector<float>());
}

}  // namespace train_restore_test
