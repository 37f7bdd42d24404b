// Short programs as a TensorFlow user writes them at the first try; each once needed a detour.
#include <filesystem>
#include <map>
#include <random>
#include <sstream>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using testing::floats, testing::Floats;

TEST_CASE("program: linear regression with Variables of numbers") {
  random::set_seed(1);
  const Tensor x = random::normal({64, 1}), y = 3.f * x + 2;
  const Variable w(5.f), b(0.f);
  for (int i = 0; i < 200; ++i) {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(w * x + b - y));
    const auto [dw, db] = tape.gradient(loss, {w, b});
    w.assign_sub(0.1 * dw);
    b.assign_sub(0.1 * db);
  }
  CHECK(w.item<float>() == Approx(3).margin(1e-3));
  CHECK(b.item<float>() == Approx(2).margin(1e-3));
}

TEST_CASE("program: a polynomial in float64") {
  const Tensor x = linspace(-1, 1, 20, float64);
  const Tensor powers = stack({ones({20}, float64), x, x * x, x * x * x}, 1);
  const Tensor y = matmul(powers, constant({{1.}, {-2.}, {.5}, {3.}}, float64));
  const Variable c(zeros({4, 1}, float64));
  const optimizers::Adam adam(0.05);
  for (int i = 0; i < 1500; ++i) {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(matmul(powers, c) - y));
    adam.apply_gradients(tape.gradient(loss, {c}), {c});
  }
  CHECK(c[3][0].item<double>() == Approx(3).margin(1e-3));
}

TEST_CASE("program: a classifier, its rate lowered, its accuracy by argmax") {
  random::set_seed(2);
  const Tensor labels = range(90) % 3;
  const Tensor x = random::normal({90, 4}, 0, 0.3f) + one_hot(labels, 4) * 2;
  struct Net : Model<Net> {
    layers::Dense hidden{16, nn::relu}, out{3};
    Tensor operator()(const Tensor& t, bool training = false) const {
      Tensor h = hidden(t);
      if (training) h = nn::dropout(h, {.rate = 0.2});
      return out(h);
    }
  } net;
  const optimizers::Adam adam(1e-2);
  const auto step = function([&](const Tensor& a, const Tensor& b) {
    const auto loss = [&] { return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(b, net(a, true))); };
    net(a);
    return adam.minimize(loss, net.trainable_variables());
  });
  for (int epoch = 0; epoch < 100; ++epoch) {
    if (epoch == 50) adam.learning_rate().assign(3e-4f);
    step(x, labels);
  }
  const Tensor predicted = argmax(net(x), 1, {.output_type = int32});
  CHECK(reduce_mean(cast(predicted == labels, float32)).item<float>() > 0.95f);
  std::ostringstream out;
  out << predicted.dtype() << " " << predicted.shape();
  CHECK(out.str() == "int32 (90,)");
}

TEST_CASE("program: attention heads by reshape and transpose of positional axes") {
  const i64 heads = 2;
  const auto split_heads = [&](const Tensor& t) {
    const auto n = get_shape(t);
    return transpose(reshape(t, {n[0], n[1], heads, t.shape()[2] / heads}), {0, 2, 1, 3});
  };
  const auto attend = [&](const Tensor& x) {
    const Tensor q = split_heads(x), scores = matmul(q, q, {.transpose_b = true}) / 2;
    const Tensor mixed = transpose(matmul(nn::softmax(scores, -1), q), {0, 2, 1, 3});
    return reshape(mixed, shape(x));
  };
  random::set_seed(3);
  const Tensor x = random::normal({3, 5, 8});
  const auto open = function(attend, {.input_signature = {TensorSpec({none, none, 8})}});
  CHECK(floats(open(x)) == floats(attend(x)));
}

TEST_CASE("program: an LSTM over a batch of any size, the gradient by minimize") {
  random::set_seed(4);
  struct Net : Model<Net> {
    layers::LSTM lstm{8};
    layers::Dense out{1};
    Tensor operator()(const Tensor& t) const { return out(lstm(t)); }
  } net;
  const optimizers::Adam adam(0.01);
  const auto loss_of = [&](const Tensor& x) {
    return reduce_mean(square(net(x) - expand_dims(reduce_mean(x, {1, 2}), 1)));
  };
  const auto step = function(
      [&](const Tensor& x) {
        net(x);
        return adam.minimize([&] { return loss_of(x); }, net.trainable_variables());
      },
      {.input_signature = {TensorSpec({none, 6, 3})}});
  const Tensor held_out = random::normal({64, 6, 3});
  step(held_out);
  const float before = loss_of(held_out).item<float>();
  for (int i = 0; i < 150; ++i) step(random::normal({8 * (i % 5 + 1), 6, 3}));
  const float after = loss_of(held_out).item<float>();
  CAPTURE(before, after);
  CHECK(after < before / 2);
  CHECK(step.trace_count() == 1);
}

TEST_CASE("program: greedy decoding with a TensorArray of a computed length") {
  const auto decode = function([](const Tensor& table, const Tensor& start, const Tensor& steps) {
    const auto [i, token, out] =
        while_loop([&](const Tensor& i, const Tensor&, const TensorArray&) { return i < steps; },
                   [&](const Tensor& i, const Tensor& token, const TensorArray& out) {
                     const Tensor next = argmax(table[token], 0, {.output_type = int32});
                     return std::tuple(i + 1, next, out.write(i, next));
                   },
                   std::tuple(constant(0), start, TensorArray(int32, steps)));
    return out.stack();
  });
  const Tensor table = constant({{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, float32);
  CHECK(decode(table, 0, 4).to_vector<int>() == std::vector<int>{1, 2, 0, 1});
  CHECK(decode(table, 2, 2).to_vector<int>() == std::vector<int>{0, 1});
  CHECK(decode.trace_count() == 1);
}

TEST_CASE("program: texts and numbers as arguments of a traced function") {
  const auto apply =
      function([](const Tensor& x, const std::string& what, float by) { return what == "scale" ? x * by : x + by; });
  CHECK(floats(apply(constant({1.f, 2.f}), "scale", 3.f)) == Floats{3, 6});
  CHECK(floats(apply(constant({1.f, 2.f}), "shift", 3.f)) == Floats{4, 5});
}

TEST_CASE("program: Adam inside a while_loop inside a function") {
  const Variable w(constant({5.f, -3.f}));
  const optimizers::Adam adam(0.1);
  const auto train = function([&](const Tensor& steps) {
    return while_loop([&](const Tensor& i) { return i < steps; },
                      [&](const Tensor& i) {
                        adam.minimize([&] { return reduce_sum(square(w - constant({1.f, 2.f}))); }, {w});
                        return i + 1;
                      },
                      constant(0));
  });
  CHECK(train(300).item<int>() == 300);
  CHECK(floats(w)[0] == Approx(1).margin(0.02));
  CHECK(floats(w)[1] == Approx(2).margin(0.02));
}

TEST_CASE("program: streams of random numbers") {
  const auto a = random::Generator::from_seed(7), b = random::Generator::from_seed(7);
  CHECK(floats(a.normal({3})) == floats(b.normal({3})));
  CHECK(floats(a.uniform({2, 2}, -1, 1)) == floats(b.uniform({2, 2}, -1, 1)));
  CHECK(floats(random::stateless_normal({2}, {1, 2})) == floats(random::stateless_normal({2}, {1, 2})));
}

TEST_CASE("program: padding to the longest, masks and the last valid element") {
  const auto last_valid = [](const Tensor& x, const Tensor& lengths) {
    const Tensor mask = sequence_mask(lengths, x.shape()[1]);
    const Tensor masked = where(mask, x, 0);
    return reduce_sum(masked * one_hot(lengths - 1, x.shape()[1]), -1);
  };
  const Tensor x = pad(constant({{1.f, 2.f}, {3.f, 4.f}}), {{0, 0}, {0, 1}}, {.constant_values = 9});
  CHECK(floats(last_valid(x, constant({2, 1}))) == Floats{2, 3});
  CHECK(floats(function(last_valid)(x, constant({1, 2}))) == Floats{1, 4});
}

TEST_CASE("program: freezing an encoder, a copy for the target network") {
  random::set_seed(5);
  struct Agent : Model<Agent> {
    layers::Dense encoder{4, nn::tanh}, head{2};
    Tensor operator()(const Tensor& x) const { return head(encoder(x)); }
  } agent;
  const Tensor x = random::normal({8, 3});
  agent(x);
  const Agent target = agent.clone();
  agent.encoder.set_trainable(false);
  CHECK(agent.trainable_variables().size() == 2);
  const Floats encoder = floats(agent.encoder.variables()[0]);
  const optimizers::SGD sgd(0.5);
  sgd.minimize([&] { return reduce_mean(square(agent(x) - 1)); }, agent.trainable_variables());
  CHECK(floats(agent.encoder.variables()[0]) == encoder);
  CHECK(floats(agent(x)) != floats(target(x)));
  agent.set_weights(target.get_weights());
  CHECK(floats(agent(x)) == floats(target(x)));
}
