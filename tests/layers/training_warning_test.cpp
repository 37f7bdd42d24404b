// The warning of layers that infer under a tape although nothing says so: once, and never where inference is meant.
#include <string>
#include <vector>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<std::string>& heard() {
  static std::vector<std::string> all;
  return all;
}
// What f() makes the layers say, as if it were the first time.
template <class F>
std::vector<std::string> warnings(const F& f) {
  set_warning_handler([](const char* text) { heard().emplace_back(text); });
  heard().clear();
  layers::detail::inference_warned() = false;
  f();
  set_warning_handler(nullptr);
  return heard();
}
const Tensor x = ones({4, 3});

struct Net : Model<Net> {
  layers::Dense dense{3};
  layers::Dropout dropout{.5};
  layers::BatchNormalization norm;
  Tensor operator()(const Tensor& t) const { return norm(dropout(dense(t))); }
};

}  // namespace

TEST_CASE("dropout and batch normalization that infer under a tape warn once") {
  const Net net;
  net(x);
  const auto step = [&] {
    GradientTape tape;
    net(x);
  };
  const auto said = warnings([&] { step(), step(); });
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], ContainsSubstring("net/dropout") && ContainsSubstring("training_scope(true)"));
  const auto of_norm = warnings([&] {
    GradientTape tape;
    net.norm(x);
  });
  REQUIRE(of_norm.size() == 1);
  CHECK_THAT(of_norm[0], ContainsSubstring("net/batch_normalization"));
  // In the optimizers' tape, in a traced step, and by every layer of the kind.
  const auto loss = [&] { return reduce_sum(net(x)); };
  const optimizers::SGD sgd(.1);
  CHECK(warnings([&] { sgd.minimize(loss, net.trainable_variables()); }).size() == 1);
  const auto traced = function([&] { sgd.minimize(loss, net.trainable_variables()); });
  CHECK(warnings([&] { traced(), traced(); }).size() == 1);
  const auto alone = [](const auto& layer) {
    return warnings([&] {
             GradientTape tape;
             layer();
           })
        .size();
  };
  CHECK(alone([] { layers::GaussianNoise(.1)(x); }) == 1);
  CHECK(alone([] { layers::GaussianDropout(.1)(x); }) == 1);
  CHECK(alone([] { layers::AlphaDropout(.1)(x); }) == 1);
  CHECK(alone([] { layers::SpatialDropout1D(.1)(ones({2, 3, 4})); }) == 1);
  CHECK(alone([] { layers::Attention({.dropout = .1})(ones({2, 3, 4}), ones({2, 3, 4})); }) == 1);
  CHECK(alone([] { layers::MultiHeadAttention(2, 4, {.dropout = .1})(ones({2, 3, 8})); }) == 1);
  CHECK(alone([] { layers::LSTM(4, {.dropout = .1})(ones({2, 3, 4})); }) == 1);
  CHECK(alone([] { layers::GRU(4, {.recurrent_dropout = .1})(ones({2, 3, 4})); }) == 1);
  CHECK(alone([] { layers::Bidirectional(layers::SimpleRNN(4, {.dropout = .1}))(ones({2, 3, 4})); }) == 1);
  CHECK(alone([] { layers::RNN(layers::GRUCell(4), {.dropout = .1})(ones({2, 3, 4})); }) == 1);
  CHECK(alone([] { layers::LSTM(4)(ones({2, 3, 4})); }) == 0);
}

TEST_CASE("no warning where inference is meant, or where it makes no difference") {
  const Net net;
  net(x);
  const auto taped = [&](const auto& f) {
    return warnings([&] {
             GradientTape tape;
             f();
           })
        .size();
  };
  CHECK(warnings([&] { net(x); }).empty());  // no tape
  CHECK(taped([&] {
          const training_scope scope(false);
          net(x);
        }) == 0);
  CHECK(taped([&] {
          const training_scope scope(true);
          net(x);
        }) == 0);
  CHECK(taped([&] { net.dropout(x, {.training = false}), net.norm(x, {.training = false}); }) == 0);
  CHECK(taped([&] { layers::Dropout(0)(x), layers::MultiHeadAttention(2, 4)(ones({2, 3, 8})); }) == 0);
  net.norm.set_trainable(false);
  CHECK(taped([&] { net.norm(x); }) == 0);
  const Net unfrozen;
  CHECK(warnings([&] {
          GradientTape tape;
          const auto pause = tape.stop_recording();
          unfrozen(x);
        }).empty());
  {
    const training_scope outer(false);
    { const training_scope inner(true); }
    CHECK(taped([&] { net.dropout(x); }) == 0);
  }
  CHECK(taped([&] { net.dropout(x); }) == 1);  // the scopes have ended
}
