#include "date_task.hpp"

#include <fmt/core.h>
#include <tandem/plot.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

#include "dates.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/save_path.hpp"
#include "examples/support/saved_run.hpp"
#include "translator.hpp"

using namespace tandem;

namespace {

constexpr std::int64_t batch_size = 100;
constexpr std::size_t dates_at_once = 250;  // of a search, whose memory grows with them

struct Batch {
  Tensor inputs, targets;  // [batch, input_length], [batch, output_length], int32
};
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
      : options_(o),
        model_({.inputs = static_cast<std::int64_t>(dates::input_characters.size()) + 1,
                .outputs = dates::outputs,
                .begin = dates::begin}),
        variables_(model_.trainable_variables()),
        adam_({.learning_rate = 2e-3, .global_clipnorm = 1}),
        seconds_(zeros({}, float64), {.name = "seconds", .trainable = false}),
        checkpoint_({{"model", model_}, {"optimizer", adam_}, {"seconds", seconds_}}),
        step_(function([this](const Tensor& x, const Tensor& y) { return learn(x, y); }, {.name = "training_step"})),
        translate_(function(
            [this](const Tensor& inputs) {
              const nn::BeamSearchResult r = search(inputs);
              return std::pair(r.ids, r.log_probs);
            },
            {.name = "translate", .input_signature = {TensorSpec({none, dates::input_length}, int32)}})) {
    adam_.build(variables_);
  }
  DateTask(const DateTask&) = delete;  // the traced functions refer to this object
  DateTask& operator=(const DateTask&) = delete;

  /// Trains until enough test dates are exact, the time is up, or Ctrl-C is pressed; returns false after Ctrl-C.
  bool train() {
    const SavedRun run(options_.checkpoint, {{"program", "beam_search dates"}, {"seed", std::to_string(options_.seed)}},
                       checkpoint_);
    const interrupt::Watch watch;
    Progress progress;
    double exact = run.resumed() && steps() % 500 == 0 ? share_exact(500) : 0;  // as after such a step
    while (share() < 1 && exact < options_.enough && !interrupt::received) {
      const auto begin = std::chrono::steady_clock::now();
      const std::int64_t n = steps();
      std::seed_seq seed{options_.seed, n};
      std::mt19937_64 random(seed);
      const Batch b = batch_of(dates_to(false, batch_size, random));
      const double loss = step_(b.inputs, b.targets).item<float>();
      if (!std::isfinite(loss)) throw std::runtime_error("training diverged: the loss is not a number");
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
      seconds_.assign_add(time.count());
      progress.show(share(), fmt::format("step {}  loss {:.4f}  {:.0f} dates/s", n + 1, loss,
                                         static_cast<double>(batch_size) / time.count()));
      if ((n + 1) % 500 == 0) {
        exact = share_exact(500);
        run.save();
        progress.end();
        fmt::print("step {}: {:.1f} % of 500 dates not trained on are exact\n", n + 1, 100 * exact);
      }
    }
    progress.end();
    run.save();
    return !interrupt::received;
  }

  /// The fraction of held-out dates whose best hypothesis is exact; prints some of the others.
  double share_exact(std::int64_t count, bool print = false) const {
    std::mt19937_64 random(options_.seed + 1'000'003);
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

  std::int64_t steps() const { return adam_.iterations().item<std::int64_t>(); }
  double seconds() const { return seconds_.item<double>(); }

 private:
  double share() const {
    return options_.steps ? static_cast<double>(steps()) / static_cast<double>(options_.steps)
                          : seconds() / (60 * options_.minutes);
  }
  Tensor learn(const Tensor& inputs, const Tensor& targets) const {
    return adam_.minimize([&] { return model_.loss(inputs, targets); }, variables_);
  }
  nn::BeamSearchResult search(const Tensor& inputs) const {
    return nn::rnn_beam_search([this](const Tensor& last, const Translator::State& s) { return model_.write(last, s); },
                               model_.read(inputs),
                               {.sequence_length = dates::output_length,
                                .beam_width = options_.width,
                                .begin_token_id = dates::begin,
                                .end_token_id = dates::end});
  }
  std::vector<std::string> translate(const std::vector<Date>& all) const {
    std::vector<std::string> r;
    for (std::size_t from = 0; from < all.size(); from += dates_at_once) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
      const std::vector<Date> some(begin,
                                   begin + static_cast<std::ptrdiff_t>(std::min(dates_at_once, all.size() - from)));
      const auto [ids, log_probs] = translate_(batch_of(some).inputs);
      const auto tokens = ids.to_vector<std::int32_t>();
      for (std::size_t i = 0; i < some.size(); ++i)  // the best hypothesis of each date
        r.push_back(
            dates::decode_output(tokens.data() + static_cast<std::ptrdiff_t>(i) * options_.width * dates::output_length,
                                 dates::output_length));
    }
    return r;
  }
  void draw(const std::string& text, const Tensor& inputs, const std::vector<std::int32_t>& tokens) const;

  DateOptions options_;
  Translator model_;
  std::vector<Variable> variables_;
  optimizers::Adam adam_;
  Variable seconds_;
  train::Checkpoint checkpoint_;
  std::function<Tensor(const Tensor&, const Tensor&)> step_;
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
      .save(options_.picture);
  fmt::print("where the model looks: {}\n", options_.picture);
}

}  // namespace

int translate_dates(const DateOptions& o) {
  dates::encode_input(o.date);  // raises before training rather than after it, as the next lines do
  save_path::check_file(o.checkpoint);
  save_path::check_file(o.picture);
  random::set_seed(o.seed);
  DateTask task(o);
  if (!task.train()) {
    fmt::print("interrupted; the same command goes on from {}\n", o.checkpoint);
    return 130;
  }
  const double exact = task.share_exact(o.tests, true);
  fmt::print("trained for {}, {} steps: of {} dates that were not trained on {:.2f} % are exact\n",
             clock_text(task.seconds()), task.steps(), o.tests, 100 * exact);
  task.show(o.date);
  return 0;
}
