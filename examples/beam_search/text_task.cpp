#include "text_task.hpp"

#include <fmt/core.h>
#include <tandem/tandem.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "examples/char_rnn/description.hpp"
#include "examples/char_rnn/model.hpp"
#include "examples/support/characters.hpp"

using namespace tandem;

namespace {

constexpr const char* program = "beam_search";  // in the runs that are trained here

bool is_trained_here(const std::string& weights) {
  const train::Metadata m = train::read_metadata(weights);
  const auto at = m.find("program");
  return at != m.end() && at->second == program;
}

// Trains a small model, unless the run is one of char_rnn. Returns the exit status.
int train_small_model(const TrainOptions& o) {
  const std::string weights = best_weights(o.run);
  const bool exists = std::filesystem::exists(weights);
  if (exists && !is_trained_here(weights)) return 0;
  if (!exists) fmt::print("training a small character model on {}: {}\n", o.data, o.run);
  const train::History history = learn(program, {.layers = 1, .hidden = 128, .dropout = 0.1}, o, Text(o.data),
                                       distribute::MultiWorkerMirroredStrategy());
  return history.exit_status ? training::interrupted(history, o.run) : 0;
}

// The continuations of each prompt and the duration of the search. All prompts end in the same character.
struct Continuations {
  std::vector<std::vector<std::string>> texts;  // by prompt, best first
  std::vector<std::vector<float>> log_probs;
  double seconds;
};
class Decoder {
 public:
  Decoder(const CharRnn& model, const Vocabulary& vocabulary) : model_(model), vocabulary_(vocabulary) {}

  Continuations search(const std::vector<std::string>& prompts, const nn::BeamSearchOptions& options) const {
    const auto [ids, last] = encode(prompts);
    nn::BeamSearchOptions o = options;
    o.begin_token_id = last;
    const auto traced = function([&](const Tensor& before) {
      const nn::BeamSearchResult r = search_from(before, o);
      return std::pair(r.ids, r.log_probs);
    });
    traced(ids);  // traces
    const auto begin = std::chrono::steady_clock::now();
    const auto [found, log_probs] = traced(ids);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    return texts_of(found, log_probs, seconds.count());
  }

 private:
  // The prompts without their last characters, [time, batch], and that last character.
  std::pair<Tensor, std::int32_t> encode(const std::vector<std::string>& prompts) const {
    std::vector<std::vector<std::int32_t>> rows;
    for (const std::string& p : prompts) {
      rows.push_back(vocabulary_.encode(p));
      if (rows.back().size() < 2)
        throw std::runtime_error("--prompt: two characters or more must be known to the model");
      if (rows.back().size() != rows[0].size() || rows.back().back() != rows[0].back())
        throw std::logic_error("prompts of one search have one length and one last character");
    }
    std::vector<std::int32_t> ids;
    for (std::size_t t = 0; t + 1 < rows[0].size(); ++t)
      for (const auto& row : rows) ids.push_back(row[t]);
    const auto batch = static_cast<std::int64_t>(rows.size());
    return {constant(ids, {.shape = {static_cast<std::int64_t>(rows[0].size()) - 1, batch}}), rows[0].back()};
  }
  nn::BeamSearchResult search_from(const Tensor& before, const nn::BeamSearchOptions& o) const {
    State state;
    model_(before, state);
    return nn::rnn_beam_search(
        [&](const Tensor& last, const State& s) {
          State next = s;
          const Tensor logits = model_(expand_dims(last, 0), next);
          return std::pair(squeeze(logits, {0}), next);
        },
        state, o);
  }
  Continuations texts_of(const Tensor& ids, const Tensor& log_probs, double seconds) const {
    const auto characters = ids.to_vector<std::int32_t>();
    const auto scores = log_probs.to_vector<float>();
    const i64 batch = ids.shape()[0], width = ids.shape()[1], length = ids.shape()[2];
    Continuations r{{}, {}, seconds};
    auto c = characters.begin();
    auto s = scores.begin();
    for (i64 b = 0; b < batch; ++b) {
      r.texts.emplace_back();
      r.log_probs.emplace_back();
      for (i64 k = 0; k < width; ++k) {
        std::string text;
        for (i64 t = 0; t < length; ++t) text += vocabulary_[*c++];
        r.texts.back().push_back(text);
        r.log_probs.back().push_back(*s++);
      }
    }
    return r;
  }

  const CharRnn& model_;
  const Vocabulary& vocabulary_;
};

std::string printable(const std::string& text) {
  std::string r;
  for (const char c : text) r += c == '\n' ? "\\n" : std::string(1, c);
  return r;
}
void print_beams(const std::string& prompt, const Continuations& c, std::size_t i) {
  fmt::print("\n\"{}\"\n", printable(prompt));
  for (std::size_t k = 0; k < c.texts[i].size(); ++k)
    fmt::print("  {:>8.3f}  {}\n", c.log_probs[i][k], printable(c.texts[i][k]));
}

// Evenly spaced excerpts of the held-out end of the text that end in a space. Excerpts with rare characters, which
// the model does not know, are skipped.
std::vector<std::string> prompts_of(const std::string& text, const Vocabulary& vocabulary, std::int64_t count) {
  constexpr std::size_t context = 60;
  const std::size_t begin = text.size() - text.size() / 20, room = text.size() - begin;
  if (room < 2 * context) throw std::runtime_error("corpus: too short to take prompts from");
  std::vector<std::string> r;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t from =
        begin + context + (room - context) * static_cast<std::size_t>(i) / static_cast<std::size_t>(count);
    const std::size_t at = text.find(' ', from);
    if (at == text.npos) continue;
    const std::string prompt = text.substr(at + 1 - context, context);
    if (vocabulary.encode(prompt).size() == context) r.push_back(prompt);
  }
  if (r.empty()) throw std::runtime_error("corpus: the model knows none of its texts; give a --prompt");
  return r;
}

void compare(const std::vector<std::string>& prompts, const Continuations& greedy, const Continuations& beam,
             const TextOptions& o) {
  int better = 0, worse = 0;
  double greedy_sum = 0, beam_sum = 0, largest = 0;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const double gain = static_cast<double>(beam.log_probs[i][0]) - static_cast<double>(greedy.log_probs[i][0]);
    better += gain > 1e-3, worse += gain < -1e-3;
    greedy_sum += static_cast<double>(greedy.log_probs[i][0]), beam_sum += static_cast<double>(beam.log_probs[i][0]);
    if (gain > largest) largest = gain, shown = i;
  }
  const double n = static_cast<double>(prompts.size());
  fmt::print(
      "\n{} prompts, {} characters each: mean log-probability {:.3f} greedy, {:.3f} with {} beams; the beam is "
      "better for {:.0f} %, equal for {:.0f} %, worse for {:.0f} %\n",
      prompts.size(), o.length, greedy_sum / n, beam_sum / n, o.width, 100 * better / n, 100 * (n - better - worse) / n,
      100 * worse / n);
  const double tokens = n * static_cast<double>(o.length);
  fmt::print("{:.0f} characters/s greedy, {:.0f} with the beam ({:.0f} for each hypothesis)\n", tokens / greedy.seconds,
             tokens / beam.seconds, tokens * static_cast<double>(o.width) / beam.seconds);
  if (largest > 0) {
    fmt::print("\nwhere greedy search loses most, by {:.3f}:\n\"{}\"\n", largest, printable(prompts[shown]));
    fmt::print("  greedy {:>8.3f}  {}\n", greedy.log_probs[shown][0], printable(greedy.texts[shown][0]));
    fmt::print("  beam   {:>8.3f}  {}\n", beam.log_probs[shown][0], printable(beam.texts[shown][0]));
  }
}

}  // namespace

int continue_texts(const TextOptions& o) {
  const std::string text = read_corpus(o.train.data), weights = best_weights(o.train.run);
  if (const int status = train_small_model(o.train)) return status;
  const train::Metadata m = description_of(weights);
  const Vocabulary vocabulary(m.at("vocabulary"));
  const CharRnn model(model_of(m));
  train::Checkpoint({{"model", model}}).restore(weights);

  const Decoder decoder(model, vocabulary);
  const nn::BeamSearchOptions beam{.sequence_length = o.length, .beam_width = o.width};
  nn::BeamSearchOptions greedy = beam;
  greedy.beam_width = 1;
  if (!o.prompt.empty()) {
    print_beams(o.prompt, decoder.search({o.prompt}, beam), 0);
    return 0;
  }
  const std::vector<std::string> prompts = prompts_of(text, vocabulary, o.prompts);
  const Continuations by_beam = decoder.search(prompts, beam);
  for (std::size_t i = 0; i < std::min<std::size_t>(2, prompts.size()); ++i) print_beams(prompts[i], by_beam, i);
  compare(prompts, decoder.search(prompts, greedy), by_beam, o);
  return 0;
}
