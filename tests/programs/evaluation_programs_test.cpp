// Short programs that evaluate and search, as a TensorFlow user writes them at the first try.
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using testing::floats, testing::Floats;

TEST_CASE("program: rows from a table, standardised, a softmax classifier, its confusion matrix") {
  std::vector<std::vector<float>> rows;
  std::vector<int> labels;
  for (int i = 0; i < 90; ++i) {
    const float k = static_cast<float>(i % 3), noise = .1f * static_cast<float>(i * 7 % 11) - .5f;
    rows.push_back({100 + 10 * k + noise, -3 * k + noise, 5});
    labels.push_back(i % 3);
  }
  const Tensor raw = constant(rows), y = constant(labels);
  const auto [mean, variance] = nn::moments(raw, {0}, {.keepdims = true});
  const Tensor x = (raw - mean) / sqrt(variance + 1e-6f);
  CHECK(reduce_max(abs(reduce_mean(x, {0}))).item<float>() < 1e-4f);
  Variable w(zeros({3, 3})), b(zeros({3}));
  const optimizers::Adam adam(.1);
  const auto step = function([&] {
    GradientTape tape;
    const Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(y, matmul(x, w) + b));
    adam.apply_gradients(tape.gradient(loss, {w, b}), {w, b});
    return loss;
  });
  for (int i = 0; i < 60; ++i) step();
  const Tensor predicted = argmax(matmul(x, w) + b, 1, {.output_type = int32});
  const Tensor confusion = matmul(one_hot(y, 3), one_hot(predicted, 3), {.transpose_a = true});
  CHECK(floats(confusion) == Floats{30, 0, 0, 0, 30, 0, 0, 0, 30});
}

TEST_CASE("program: nearest words by cosine similarity") {
  const Tensor table = constant({{1.f, 0.f}, {2.f, .1f}, {0.f, 3.f}, {-1.f, 0.f}});
  const Tensor unit = nn::l2_normalize(table, 1);
  const auto [values, indices] = nn::top_k(matmul(unit, unit, {.transpose_b = true}), 2);
  CHECK(indices(Slice(), 1).to_vector<int>() == std::vector<int>{1, 0, 1, 2});
}

TEST_CASE("program: beam search over a table of transitions, in a while_loop") {
  constexpr int words = 4, beams = 3, steps = 5;
  random::set_seed(12);
  const Tensor transitions = nn::log_softmax(random::normal({words, words}) * 2.f);
  const auto search = function([&](const Tensor& table) {
    const Tensor scores = where(range(beams) == 0, 0.f, -1e9f);
    const auto [i, last, best, paths] = while_loop(
        [](const Tensor& i, const Tensor&, const Tensor&, const Tensor&) { return i < steps; },
        [&](const Tensor& i, const Tensor& last, const Tensor& best, const Tensor& paths) {
          const Tensor all = reshape(expand_dims(best, 1) + gather(table, last), {-1});
          const auto [values, at] = nn::top_k(all, beams);
          const Tensor beam = floordiv(at, words), word = floormod(at, words);
          const Tensor kept = gather(paths, beam);
          return std::tuple(i + 1, word, values, concat({kept(Slice(), Slice(1, none)), expand_dims(word, 1)}, 1));
        },
        std::tuple(constant(0), zeros({beams}, int32), scores, zeros({beams, steps}, int32)));
    return std::pair(best, paths);
  });
  const auto [best, paths] = search(transitions);
  // Every path, one by one.
  const Floats table = floats(transitions);
  float most = -1e9f;
  std::vector<int> path(steps), found;
  for (int code = 0; code < 1024; ++code) {
    float sum = 0;
    for (int i = 0, from = 0, rest = code; i < steps; ++i, rest /= words) {
      path[static_cast<std::size_t>(i)] = rest % words;
      sum += table[static_cast<std::size_t>(from * words + rest % words)];
      from = rest % words;
    }
    if (sum > most) most = sum, found = path;
  }
  CHECK(best[0].item<float>() == Approx(most).epsilon(1e-5));
  CHECK(paths[0].to_vector<int>() == found);
}

TEST_CASE("program: what does not fit is refused, not wrapped") {
  const Tensor bytes = constant({250, 10}, uint8), ints = constant({5, -5});
  CHECK_THROWS_AS(bytes + 300, errors::InvalidArgumentError);
  CHECK_THROWS_AS(bytes > -1, errors::InvalidArgumentError);
  CHECK_THROWS_AS(ints < 3000000000, errors::InvalidArgumentError);
  CHECK_THROWS_AS(constant({300}, uint8), errors::InvalidArgumentError);
  CHECK_THROWS_AS(ints * .5f, errors::InvalidArgumentError);
  CHECK_THROWS_AS(clip_by_value(bytes, 0, 300), errors::InvalidArgumentError);
}
