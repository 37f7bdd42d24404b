#include "date_task.hpp"

#include <fmt/core.h>
#include <tandem/data.hpp>
#include <tandem/plot.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <vector>

#include "dates.hpp"
#include "translator.hpp"

using namespace tandem;

namespace {

constexpr std::size_t dates_at_once = 250;  // of a search, whose memory grows with them

using Batch = std::pair<Tensor, Tensor>;  // inputs [n, input_length] and targets [n, output_length], int32
Batch batch_of(const std::vector<Date>& all) {
  std::vector<std::int32_t> inputs, targets;
  for (const Date& d : all) {
    const auto x = dates::encode_input(d.text), y = dates::encode_output(d.iso);
    inputs.insert(inputs.end(), x.begin(), x.end());
    targets.insert(targets.end(), y.begin(), y.end());
  }
  const auto n = static_cast<std::int64_t>(all.size());
  return {constant(inputs, {.shape = {n, dates::input_length}}),
          constant(targets, {.shape = {n, dates::output_length}})};
}
std::vector<Date> dates_to(bool test, std::int64_t count, std::mt19937_64& random) {
  std::vector<Date> r;
  while (static_cast<std::int64_t>(r.size()) < count)
    if (Date d = random_date(random); is_held_out(d) == test) r.push_back(std::move(d));
  return r;
}

class DateTask {
 public:
  explicit DateTask(const DateOptions& o)
      : o_(o),
        model_({.inputs = static_cast<std::int64_t>(dates::input_characters.size()) + 1,
                .outputs = dates::outputs,
                .begin = dates::begin}),
        translate_(function(
            [this](const Tensor& inputs) {
              const nn::BeamSearchResult r = search(inputs);
              return std::pair(r.ids, r.log_probs);
            },
            {.name = "translate", .input_signature = {TensorSpec({none, dates::input_length}, int32)}})) {}
  DateTask(const DateTask&) = delete;  // the traced function refers to this object
  DateTask& operator=(const DateTask&) = delete;

  /// Trains until enough test dates are exact.
  train::History train() const {
    // Each step has dates of its own.
    const auto batches = data::from_function(o_.epochs * o_.steps_per_epoch, [o = o_](i64 step) {
      std::seed_seq seed{o.seed, step};
      std::mt19937_64 random(seed);
      return batch_of(dates_to(false, o.batch, random));
    });
    const optimizers::Adam adam({.learning_rate = 2e-3, .global_clipnorm = 1});
    train::Trainer trainer(
        {{"model", model_}, {"optimizer", adam}},
        [this, adam](const Tensor& inputs, const Tensor& targets) -> train::Outputs {
          return {{"loss", adam.minimize([&] { return model_.loss(inputs, targets); }, model_.trainable_variables())}};
        });
    const auto measure = [this](train::Run& run) {
      const double exact = share_exact(500);
      run.set_value("exact", exact);
      if (exact >= o_.enough) run.stop("enough dates are exact");
    };
    return trainer.fit(batches,
                       training::fit_options(o_, {{"program", "beam_search dates"}},
                                             {.callbacks = {train::LambdaCallback({.on_epoch_end = measure})}}));
  }

  /// The fraction of held-out dates whose best hypothesis is exact; prints some of the others.
  double share_exact(std::int64_t count, bool print = false) const {
    std::mt19937_64 random(o_.seed + 1'000'003);
    const std::vector<Date> all = dates_to(true, count, random);
    const std::vector<std::string> found = translate(all);
    std::int64_t exact = 0, printed = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      exact += found[i] == all[i].iso;
      if (print && found[i] != all[i].iso && printed++ < 3)
        fmt::print("  \"{}\" is {}, not {}\n", all[i].text, all[i].iso, found[i]);
    }
    return static_cast<double>(exact) / static_cast<double>(count);
  }

  /// Prints the hypotheses for one date and draws the attention weights for each character of the best one.
  void show(const std::string& text) const {
    const Tensor inputs = constant(dates::encode_input(text), {.shape = {1, dates::input_length}});
    const auto [ids, log_probs] = translate_(inputs);
    const auto tokens = ids.to_vector<std::int32_t>();
    const auto scores = log_probs.to_vector<float>();
    fmt::print("\n{}\n", text);
    for (std::size_t k = 0; k < scores.size(); ++k)
      fmt::print("  {:>8.4f}  {}\n", scores[k],
                 dates::decode_output(tokens.data() + static_cast<std::ptrdiff_t>(k) * dates::output_length,
                                      dates::output_length));
    draw(text, inputs, {tokens.begin(), tokens.begin() + dates::output_length});
  }

 private:
  nn::BeamSearchResult search(const Tensor& inputs) const {
    return nn::rnn_beam_search([this](const Tensor& last, const Translator::State& s) { return model_.write(last, s); },
                               model_.read(inputs),
                               {.sequence_length = dates::output_length,
                                .beam_width = o_.width,
                                .begin_token_id = dates::begin,
                                .end_token_id = dates::end});
  }
  std::vector<std::string> translate(const std::vector<Date>& all) const {
    std::vector<std::string> r;
    for (std::size_t from = 0; from < all.size(); from += dates_at_once) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
      const std::vector<Date> some(begin,
                                   begin + static_cast<std::ptrdiff_t>(std::min(dates_at_once, all.size() - from)));
      const auto [ids, log_probs] = translate_(batch_of(some).first);
      const auto tokens = ids.to_vector<std::int32_t>();
      for (std::size_t i = 0; i < some.size(); ++i)  // the best hypothesis of each date
        r.push_back(dates::decode_output(
            tokens.data() + static_cast<std::ptrdiff_t>(i) * o_.width * dates::output_length, dates::output_length));
    }
    return r;
  }
  void draw(const std::string& text, const Tensor& inputs, const std::vector<std::int32_t>& tokens) const;

  DateOptions o_;
  Translator model_;
  std::function<std::pair<Tensor, Tensor>(const Tensor&)> translate_;
};

// Draws the attention: one row per output character, one column per input character; darker means a larger weight.
void DateTask::draw(const std::string& text, const Tensor& inputs, const std::vector<std::int32_t>& tokens) const {
  const std::string iso = dates::decode_output(tokens.data(), dates::output_length);
  std::vector<std::string> read, written;
  for (const char c : text) read.push_back(c == ' ' ? "\u00b7" : std::string(1, c));
  std::vector<Tensor> rows;
  Translator::State state = model_.read(inputs);
  std::int32_t last = dates::begin;
  for (std::size_t i = 0; i < iso.size(); ++i) {
    state = model_.write(constant({last}), state).second;
    last = tokens[i];
    rows.push_back(reshape(state.weights, {-1})(Slice(0, static_cast<i64>(text.size()))));
    written.push_back(std::string(1, iso[i]));
  }
  plot::heat_map(stack(rows), {.title = "Where the model looks while it writes " + iso,
                               .x_label = "the characters that it reads, a dot for a space",
                               .y_label = "the characters that it writes",
                               .row_names = written,
                               .column_names = read,
                               .show_values = false,
                               .low = 0,
                               .high = 1})
      .save(o_.picture);
  fmt::print("where the model looks: {}\n", o_.picture);
}

}  // namespace

int translate_dates(const DateOptions& o) {
  dates::encode_input(o.date);  // raises before training rather than after it
  random::set_seed(o.seed);
  const DateTask task(o);
  const train::History history = task.train();
  if (history.exit_status) return training::interrupted(history, o.run);
  const double exact = task.share_exact(o.tests, true);
  fmt::print("trained for {} epochs: of {} dates that were not trained on {:.2f} % are exact\n",
             history.epochs().size(), o.tests, 100 * exact);
  task.show(o.date);
  return 0;
}
