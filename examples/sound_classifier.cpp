// sound_classifier: tells instruments apart by how they sound, from generated notes in noise. A spectrogram of 40 bands
// that are as wide as the ear's goes through a small convolutional network.
//   sound_classifier
//   tensorboard --logdir sound_classifier_run/events     curves, spectrograms, and what was heard wrongly, as sound
// It keeps its run in a folder; stopped, the same command goes on from it. report.html in there has the same for people
// without TensorBoard.
#include <fmt/core.h>
#include <array>
#include <cmath>
#include <numbers>

#include <tandem/data.hpp>
#include <tandem/signal.hpp>
#include <tandem/summary.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/training.hpp"

using namespace tandem;

namespace {

struct Options : training::Options {
  i64 sounds = 3000;
};

constexpr i64 rate = 8000, length = rate / 2;  // samples a second, and of a sound
constexpr i64 bands = 40, frame = 256, hop = 128;
constexpr std::array instruments{"string", "flute", "bell", "reed", "drum"};

using Wave = std::vector<float>;

// Numbers that differ from sound to sound, and within one.
class Draw {
 public:
  explicit Draw(i64 seed) : generator_(seed) {}
  double uniform(double low, double high) { return low + (high - low) * next(); }
  double noise() { return 2 * next() - 1; }

 private:
  double next() {
    if (at_ == drawn_.size()) drawn_ = generator_.uniform({1 << 16}).to_vector<float>(), at_ = 0;
    return drawn_[at_++];
  }
  random::Generator generator_;
  std::vector<float> drawn_;
  std::size_t at_ = 0;
};

// A sum of partials, each with a multiple of the pitch, a strength and the seconds in which it fades to 1/e.
struct Partial {
  double multiple, strength, fades;
};
Wave partials(std::initializer_list<Partial> all, double pitch, double attack) {
  Wave w(length);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double t = double(i) / rate;
    for (const auto& [multiple, strength, fades] : all)
      if (multiple * pitch < rate / 2)
        w[i] += float(strength * std::exp(-t / fades) * std::sin(2 * std::numbers::pi * multiple * pitch * t));
    w[i] *= float(std::min(1., t / attack));
  }
  return w;
}
// A burst of noise that goes round and loses its high tones (K. Karplus, A. Strong, "Digital Synthesis of
// Plucked-String and Drum Timbres", 1983).
Wave string(double pitch, Draw& draw) {
  Wave w(length);
  const auto period = std::size_t(rate / pitch);
  for (std::size_t i = 0; i < w.size(); ++i)
    w[i] = i <= period ? float(draw.noise()) : 0.498f * (w[i - period] + w[i - period - 1]);
  return w;
}
Wave drum(double pitch, Draw& draw) {
  Wave w(length);
  double phase = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double t = double(i) / rate;
    phase += 2 * std::numbers::pi * pitch * (0.3 + std::exp(-t / 0.03)) / rate;
    w[i] = float(std::exp(-t / 0.12) * std::sin(phase) + 0.5 * std::exp(-t / 0.02) * draw.noise());
  }
  return w;
}
Wave note(std::size_t instrument, Draw& draw) {
  const double pitch = 150 * std::exp2(draw.uniform(0, 2.5));
  switch (instrument) {
    case 0: return string(pitch, draw);
    case 1: return partials({{1, 1, 9}, {2, 0.3, 9}, {3, 0.1, 9}}, pitch, draw.uniform(0.05, 0.12));
    case 2:
      return partials({{0.56, 0.7, 0.4},
                       {0.92, 1, 0.5},
                       {1.19, 0.8, 0.3},
                       {1.71, 0.7, 0.2},
                       {2, 0.6, 0.15},
                       {2.74, 0.5, 0.1},
                       {3.76, 0.4, 0.06}},
                      pitch, 0.002);
    case 3:
      return partials({{1, 1, 9}, {3, 0.6, 9}, {5, 0.4, 9}, {7, 0.3, 9}, {9, 0.2, 9}}, pitch, draw.uniform(0.01, 0.05));
    default: return drum(pitch, draw);
  }
}

/// Notes, float32 [n, length] in [-1, 1], and their instruments, int64 [n].
struct Sounds {
  Tensor waves, labels;
};
Sounds generated(i64 n, i64 seed) {
  Draw draw(seed);
  std::vector<float> waves;
  std::vector<i64> labels;
  for (i64 i = 0; i < n; ++i) {
    labels.push_back(i % i64(instruments.size()));
    Wave w = note(std::size_t(labels.back()), draw);
    const double loudness = draw.uniform(0.1, 0.4), noise = draw.uniform(0.02, 0.3);
    float most = 0;
    for (const float x : w) most = std::max(most, std::abs(x));
    for (const float x : w) waves.push_back(float(std::clamp(loudness * x / most + noise * draw.noise(), -1., 1.)));
  }
  return {reshape(constant(waves), {n, length}), constant(labels)};
}

// Triangles over the frequencies of a spectrum, [bins, bands]: as far apart as tones that sound equally far apart, by
// the mel scale of D. O'Shaughnessy, "Speech Communication", 1987.
Tensor band_filters() {
  const auto mel = [](const Tensor& hertz) { return 1127 * log1p(hertz / 700); };
  const Tensor bins = mel(linspace(0, rate / 2, frame / 2 + 1));
  const float highest = bins[frame / 2].item<float>();
  const Tensor centres = linspace(0, highest, bands + 2)(Slice(1, bands + 1));
  return nn::relu(1 - abs(expand_dims(bins, 1) - centres) / (highest / float(bands + 1)));
}
// The logarithm of the power in each band: [n, frames, bands].
Tensor spectrogram(const Tensor& waves, const Tensor& filters) {
  return log(matmul(square(abs(signal::stft(waves, frame, hop))), filters) + 1e-3) / 4;
}

// Writes what the network hears wrongly, and a note of each instrument, for TensorBoard.
void show(const Sounds& sounds, const Tensor& heard, const Tensor& filters, const std::string& folder, i64 step) {
  summary::FileWriter writer(folder);
  const auto write = [&](const std::string& name, const Tensor& waves) {
    writer.audio("sound/" + name, expand_dims(waves, -1), rate, {.step = step, .max_outputs = 4});
    const Tensor p = reverse(transpose(spectrogram(waves, filters), {0, 2, 1}), {1});  // low tones at the bottom
    const Tensor low = reduce_min(p, {1, 2}, {.keepdims = true}), high = reduce_max(p, {1, 2}, {.keepdims = true});
    const Tensor large = repeat(repeat((p - low) / (high - low), 5, {.axis = 1}), 8, {.axis = 2});
    writer.image("spectrogram/" + name, expand_dims(large, -1), {.step = step, .max_outputs = 4});
  };
  for (std::size_t i = 0; i < instruments.size(); ++i) write(instruments[i], sounds.waves(Slice(i64(i), i64(i) + 1)));
  const Tensor wrong = heard != sounds.labels;
  if (!reduce_any(wrong).item<bool>()) return;
  const std::vector<i64> is = boolean_mask(sounds.labels, wrong).to_vector<i64>(),
                         taken_for = boolean_mask(heard, wrong).to_vector<i64>();
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min<std::size_t>(4, is.size()); ++i)
    texts.push_back(
        fmt::format("{} taken for {}", instruments[std::size_t(is[i])], instruments[std::size_t(taken_for[i])]));
  write("wrong", boolean_mask(sounds.waves, wrong));
  writer.text("wrong", constant(texts), {.step = step});
}

int learn(const Options& o) {
  const Sounds known = generated(o.sounds, 2 * o.seed), held_out = generated(500, 2 * o.seed + 1);
  const Tensor filters = band_filters();
  const auto batches_of = [filters](const auto& notes, i64 size) {
    return notes.batch(size).map(
        [filters](const Tensor& waves, const Tensor& labels) {
          return std::array{spectrogram(waves, filters), labels};
        },
        {.num_parallel_calls = 2});
  };
  const auto notes = data::from_tensor_slices({known.waves, known.labels});
  const auto batches = batches_of(notes.shuffle({.seed = o.seed}), o.batch).prefetch(2);
  const auto tests = batches_of(data::from_tensor_slices({held_out.waves, held_out.labels}), 250);

  random::set_seed(o.seed);  // of the initial weights
  const layers::Sequential net{layers::Conv1D(32, 5, nn::relu), layers::MaxPooling1D(2),
                               layers::Conv1D(32, 5, nn::relu), layers::GlobalMaxPooling1D(),
                               layers::Dense(i64(instruments.size()))};
  net.build({none, 1 + (length - frame) / hop, bands});
  fmt::print("{}\n", net.summary());
  train::Trainer trainer(net, {.loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                               .optimizer = optimizers::Adam(1e-3),
                               .metrics = {metrics::SparseCategoricalAccuracy({.name = "accuracy"})}});
  const std::string events = o.run + "/events";
  const train::History run = trainer.fit(
      batches, training::fit_options(
                   o, {{"program", "sound_classifier"}, {"data", "generated"}, {"sounds", std::to_string(o.sounds)}},
                   {.validation_data = tests, .callbacks = {summary::TensorBoard(events, {.histogram_freq = 1})}}));
  if (run.exit_status) return training::interrupted(run, o.run);

  const Tensor heard = argmax(trainer.predict(tests), -1);
  show(held_out, heard, filters, events + "/heard", trainer.step());
  const std::string report = summary::write_report(events, o.run + "/report.html");
  const double right = reduce_mean(cast(equal(heard, held_out.labels), float64)).item<double>();
  fmt::print("{:.1f} % of {} held-out notes right; report in {}\n", 100 * right, held_out.labels.size(), report);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  o.run = "sound_classifier_run", o.epochs = 15, o.batch = 64;
  CLI::App app("Tells instruments apart by their sound.");
  training::add_options(app, o, "", "notes");
  arguments::add(app, "--sounds", o.sounds, 5, "how many notes to learn from");
  return program::run("sound_classifier", app, argc, argv, o, learn);
}
