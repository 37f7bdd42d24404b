// time_series: forecasts the next day of a series from the two weeks before, by a recurrent network, and draws it
// beside two naive forecasts: that the next day is like the last one, or like that of a week before.
//   time_series                                 the load of a generated city, hour by hour
//   time_series --data FILE --column NAME       a column of a CSV file; --period is the length of a cycle in rows
// It keeps its run in a folder; stopped, the same command goes on from it.
#include <fmt/core.h>
#include <cmath>
#include <numbers>

#include <tandem/data.hpp>
#include <tandem/plot.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/data_name.hpp"
#include "examples/support/training.hpp"

using namespace tandem;

namespace {

struct Options : training::Options {
  std::string column, picture = "time_series.svg";  // column: empty for the last one
  i64 period = 24, history = 14, units = 64;        // history: the periods that the network reads
};

// Two years of hours: a daily curve that is flatter on two days of seven, a yearly one, weather that comes and goes,
// and noise.
Tensor generated_load(i64 seed) {
  constexpr i64 n = 2 * 365 * 24;
  const random::Generator draw(seed);
  const std::vector<float> gusts = draw.normal({n}).to_vector<float>();
  std::vector<float> load;
  double weather = 0;
  for (i64 hour = 0; hour < n; ++hour) {
    const double day = 2 * std::numbers::pi * double(hour) / 24, week_day = double(hour / 24 % 7);
    const double daily = -20 * std::cos(day) - 9 * std::cos(2 * day - 0.5);
    weather = 0.99 * weather + gusts[std::size_t(hour)];
    load.push_back(float(100 - 12 * std::cos(day / 365) + (week_day < 5 ? 1 : 0.4) * daily + weather));
  }
  return constant(load) + draw.normal({n});
}

Tensor read_series(const Options& o) {
  if (o.data.empty()) return generated_load(o.seed);
  const data::Table table = data::load_csv(o.data);
  if (table.columns().empty()) throw std::runtime_error(o.data + " has no columns");
  return table.numbers(o.column.empty() ? table.columns().back() : o.column, {.finite = true});
}

// All stretches of `length` successive numbers: [n, length].
Tensor stretches(const Tensor& series, i64 length) {
  return gather(series, expand_dims(range(series.size() - length + 1), 1) + range(length));
}

// What a forecast is off by, on average, so many rows ahead: [period].
Tensor errors(const Tensor& forecast, const Tensor& truth) { return reduce_mean(abs(forecast - truth), 0); }

// Prints and draws forecasts [n, period] of the rows of a series that were held out, beside naive ones.
void compare(const Tensor& series, const Tensor& forecast, const Options& o) {
  const i64 past = o.history * o.period, length = past + o.period;
  const Tensor all = stretches(series, length), truth = all(Ellipsis, Slice(past, none));
  const auto before = [&](i64 periods) {
    return all(Ellipsis, Slice(past - periods * o.period, length - periods * o.period));
  };
  const i64 week = std::min<i64>(o.history, 7);
  const std::string as_before = fmt::format("{} periods before", week);
  const Tensor error = errors(forecast, truth), daily = errors(before(1), truth), weekly = errors(before(week), truth);
  const i64 shown = std::min<i64>(7, truth.shape()[0] / o.period);  // periods, one forecast after the other
  const auto one_after_another = [&](const Tensor& t) {
    return reshape(t(Slice(0, shown * o.period, o.period)), {-1});
  };
  plot::beside(
      {plot::lines({{"truth", one_after_another(truth)},
                    {"forecast", one_after_another(forecast)},
                    {as_before, one_after_another(before(week)), {}, true}},
                   {.title = fmt::format("Held out: forecasts of {} rows each, one after the other", o.period),
                    .x_label = "row",
                    .width = 900}),
       plot::lines(
           {{"network", error}, {"one period before", daily}, {as_before, weekly}},
           {.title = "Mean error by how far ahead", .x_label = "rows ahead", .y_min = 0, .width = 900, .height = 260})},
      {.title = "Forecasts of a series", .columns = 1, .width = 900})
      .save(o.picture);
  const auto number = [](const Tensor& t) { return reduce_mean(t).item<float>(); };
  fmt::print("{} held-out forecasts: off by {:.3f} on average; one period before: {:.3f}, {}: {:.3f}; drawn in {}\n",
             truth.shape()[0], number(error), number(daily), as_before, number(weekly), o.picture);
}

int learn(const Options& o) {
  const Tensor series = read_series(o);
  const i64 past = o.history * o.period, length = past + o.period, n = series.size(), known = n - n / 5;
  if (n / 5 < length)
    throw std::runtime_error(
        fmt::format("{}: {} rows are too few: a fifth is held out, and has to have {}", o.data, n, length));
  const Tensor training_part = series(Slice(0, known));
  const Tensor mean = reduce_mean(training_part), scale = reduce_std(training_part) + 1e-6;
  const auto pairs_of = [&](const Tensor& rows) {  // what a forecast is made from, a period a step; the truth
    const Tensor all = stretches((rows - mean) / scale, length);
    return data::from_tensor_slices(
        {reshape(all(Ellipsis, Slice(0, past)), {-1, o.history, o.period}), all(Ellipsis, Slice(past, none))});
  };
  const auto batches = pairs_of(training_part).shuffle({.seed = o.seed}).batch(o.batch, {.drop_remainder = true});
  const auto held_out = pairs_of(series(Slice(known, none))).batch(500);

  random::set_seed(o.seed);  // of the initial weights
  const layers::Sequential net{layers::GRU(o.units), layers::Dense(o.period)};
  net.build({none, o.history, o.period});
  fmt::print("{}\n", net.summary());
  const optimizers::schedules::CosineDecay rate(3e-3, double(o.epochs * batches.size()));
  train::Trainer trainer(net, {.loss = losses::MeanAbsoluteError(), .optimizer = optimizers::Adam(rate)});
  const train::Metadata settings{{"program", "time_series"},
                                 {"data", o.data.empty() ? "generated" : file_setting(o.data)},
                                 {"column", o.column},
                                 {"period", std::to_string(o.period)},
                                 {"history", std::to_string(o.history)},
                                 {"units", std::to_string(o.units)},
                                 {"epochs", std::to_string(o.epochs)}};
  const train::History run = trainer.fit(batches, training::fit_options(o, settings, {.validation_data = held_out}));
  if (run.exit_status) return training::interrupted(run, o.run);

  compare(series(Slice(known, none)), trainer.predict(held_out) * scale + mean, o);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  o.run = "time_series_run", o.epochs = 10, o.batch = 64;
  CLI::App app("A recurrent network forecasts a series.");
  training::add_options(app, o, "a CSV file; default: a generated load of two years", "stretches");
  app.add_option("--column", o.column, "the name of the column; default: the last one");
  app.add_option("--picture", o.picture, "file of the picture")->capture_default_str();
  arguments::add(app, "--period", o.period, 1, "rows of a cycle, which is also what a forecast has");
  arguments::add(app, "--history", o.history, 1, "periods that a forecast is made from");
  arguments::add(app, "--units", o.units, 1, "of the GRU");
  return program::run("time_series", app, argc, argv, o, learn);
}
