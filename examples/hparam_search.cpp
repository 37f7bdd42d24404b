// hparam_search: looks for the hyper-parameters of a network that reads digits, by random search and by successive
// halving: many runs of one epoch, the best third of them for three, and so on (Jamieson and Talwalkar, "Non-stochastic
// Best Arm Identification and Hyperparameter Optimization", 2016). Both may train for equally many epochs.
//   hparam_search                        generated digits: about half a minute
//   hparam_search --data DIR             MNIST's four files, train-images-idx3-ubyte.gz and so on
//   hparam_search --fix layers=1,lr=0.1  searches the others
// Each run has a folder of its own, from which its next rung goes on, and so does the whole search when it is stopped
// and started again. It leaves report.html, event files for TensorBoard, and best.json.
#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <tandem/data.hpp>
#include <tandem/plot.hpp>
#include <tandem/summary.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/digits.hpp"
#include "examples/support/program.hpp"

using namespace tandem;

namespace {

struct Options {
  std::string data;  // empty: generated digits
  std::string fixed, run = "hparam_search_run";
  i64 trials = 27, seed = 1;
  std::optional<int> status_port;
};

const train::HParams defaults{{"lr", 1e-3, "learning rate"},        {"optimizer", "adam", "adam or sgd"},
                              {"layers", 2, "how many are hidden"}, {"units", 128, "of each of them"},
                              {"dropout", 0.2, "in front of each"}, {"batch", 100, "digits a step"}};

train::HParams sampled(i64 seed, const std::string& fixed) {
  const random::Generator draw(seed);
  const auto number = [&](double low, double high) { return draw.uniform({}, low, high).item<float>(); };
  const auto one_of = [&](const auto&... values) {
    const train::HParamValue list[] = {values...};
    return list[static_cast<std::size_t>(number(0, sizeof...(values)))];
  };
  train::HParams h = defaults;
  h.set_text("lr", fmt::format("{:.2g}", std::exp(number(std::log(1e-4), std::log(1.)))));
  h.set("optimizer", one_of("adam", "sgd")).set("layers", one_of(1, 2, 3)).set("units", one_of(16, 32, 64, 128, 256));
  h.set("dropout", one_of(0., 0.2, 0.5)).set("batch", one_of(50, 100, 200));
  return h.parse(fixed);
}

layers::Sequential network(const train::HParams& h) {
  layers::Sequential net{layers::Rescaling(1. / 255), layers::Flatten()};
  for (i64 i = 0; i < h.get<i64>("layers"); ++i)
    net.add(layers::Dropout(h.get<double>("dropout"))).add(layers::Dense(h.get<i64>("units"), nn::relu));
  net.add(layers::Dense(10));
  return net;
}
Optimizer optimizer(const train::HParams& h) {
  const double lr = h.get<double>("lr");
  const std::string name = h.get<std::string>("optimizer");
  if (name == "adam") return optimizers::Adam(lr);
  if (name == "sgd") return optimizers::SGD({.learning_rate = lr, .momentum = 0.9});
  throw std::runtime_error(fmt::format("there is no optimizer '{}', but adam and sgd", name));
}

// A run of training: a set of hyper-parameters in a folder of its own.
struct Trial {
  std::string name;
  train::HParams h;
  i64 epochs = 0;
  std::vector<double> right = {};  // in validation, after each epoch

  double score() const { return right[static_cast<std::size_t>(epochs - 1)]; }
};

class Search {
 public:
  explicit Search(const Options& o) : options_(o), digits_(digits::load(o.data, o.seed)) {
    const Tensor &x = digits_.train.images, &y = digits_.train.labels;
    const i64 held_out = x.shape()[0] / 6;
    validation_ = {x(Slice(0, held_out)), y(Slice(0, held_out))};
    training_ = {x(Slice(held_out, none)), y(Slice(held_out, none))};
  }

  /// Successive halving, and as many epochs of random search; the exit status.
  int run() {
    const std::vector<i64> rungs = rungs_of(options_.trials);
    for (i64 n = options_.trials, done = 0; const i64 epochs : rungs)
      epochs_ += n * (epochs - done), done = epochs, n /= 3;
    const i64 random_trials = epochs_ / rungs.back();
    for (i64 i = 0; i < options_.trials; ++i)
      halving_.push_back({fmt::format("halving-{:02}", i), sampled(2000 * options_.seed + 2 * i, options_.fixed)});
    for (i64 i = 0; i < random_trials; ++i)
      random_.push_back({fmt::format("random-{:02}", i), sampled(2000 * options_.seed + 2 * i + 1, options_.fixed)});

    std::size_t alive = halving_.size();
    for (const i64 epochs : rungs) {
      for (std::size_t i = 0; i < alive; ++i)
        if (const int status = train(halving_[i], epochs)) return status;
      sort(halving_, alive);
      alive /= 3;
    }
    for (Trial& t : random_)
      if (const int status = train(t, rungs.back())) return status;
    sort(random_, random_.size());
    report();
    return 0;
  }

 private:
  // 1, 3, 9, ... epochs, until a third of the trials is none.
  static std::vector<i64> rungs_of(i64 trials) {
    std::vector<i64> r;
    for (i64 epochs = 1; trials > 0; trials /= 3, epochs *= 3) r.push_back(epochs);
    return r;
  }
  static void sort(std::vector<Trial>& trials, std::size_t n) {
    std::stable_sort(trials.begin(), trials.begin() + static_cast<std::ptrdiff_t>(n),
                     [](const Trial& a, const Trial& b) { return a.score() > b.score(); });
  }
  std::string folder(const Trial& t) const { return options_.run + "/runs/" + t.name; }

  layers::Sequential built(const Trial& t) const {
    random::set_seed(options_.seed);  // of the initial weights and of dropout
    const layers::Sequential net = network(t.h);
    net.build({none, 28, 28}, DType::uint8);
    return net;
  }
  train::Trainer trainer(const Trial& t, const layers::Sequential& net) const {
    return {net,
            {.loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
             .optimizer = optimizer(t.h),
             .metrics = {metrics::SparseCategoricalAccuracy({.name = "accuracy"})}}};
  }
  // Trains up to so many epochs, from where the run's folder is.
  int train(Trial& t, i64 epochs) {
    const auto batches = data::from_tensor_slices({training_.images, training_.labels})
                             .shuffle({.seed = options_.seed})
                             .batch(t.h.get<i64>("batch"));
    train::Metadata configuration = t.h.configuration();
    configuration["data"] = digits_.source.substr(digits_.source.rfind('#') + 1);
    configuration["seed"] = std::to_string(options_.seed);
    const train::History history =
        trainer(t, built(t))
            .fit(batches,
                 {.epochs = epochs,
                  .validation_data = data::from_tensor_slices({validation_.images, validation_.labels}).batch(500),
                  .callbacks = {summary::TensorBoard(options_.run + "/events/" + t.name,
                                                     {.hparams = summary::to_hparams(t.h)})},
                  .progress = {.mode = train::ProgressMode::none},
                  .directory = folder(t),
                  .configuration = configuration});
    if (history.exit_status) {
      fmt::print("interrupted; the same command goes on from {}\n", options_.run);
      return history.exit_status;
    }
    t.epochs = epochs, t.right = history["val_accuracy"];  // may have more, if the search had come farther
    fmt::print("{}, {} epoch{}: {:.2f} %, {}\n", t.name, epochs, epochs == 1 ? "" : "s", 100 * t.score(),
               to_string(t.h));
    return 0;
  }

  void report() const {
    std::vector<Trial> all = halving_;
    all.insert(all.end(), random_.begin(), random_.end());
    sort(all, all.size());
    const Trial &best = all.front(), &best_random = random_.front();
    best.h.save(options_.run + "/best.json");
    const layers::Sequential net = built(best);
    train::Trainer tested = trainer(best, net);
    tested.restore(folder(best));
    show(best, net, tested);
    const double right = tested.evaluate(digits_.test.images, digits_.test.labels, 500)["accuracy"];

    plot::Report page("Hyper-parameters for reading digits");
    plot::Facts facts{{"best run", best.name},
                      {"right in validation", percent(best.score())},
                      {"right of the held-out digits", percent(right)}};
    for (const auto& [name, value] : best.h.configuration()) facts.emplace_back(name, value);
    page.facts(facts)
        .facts({{"data", digits_.source}, {"seed", std::to_string(options_.seed)}})
        .facts(plot::machine_facts());
    page.section("Curves").figure(curves(all),
                                  "Each line is a run. Successive halving goes on with the best third of its runs.");
    for (const char* name : {"lr", "units"}) page.figure(points(all, name));
    page.section("Runs").table(head(), rows(all), "All runs, the best in validation first.");
    page.save(options_.run + "/report.html");

    fmt::print("{} epochs each: halving among {} runs finds {} in validation, random search in {} runs {}\n", epochs_,
               halving_.size(), percent(halving_.front().score()), random_.size(), percent(best_random.score()));
    fmt::print("best: {}; report in {}/report.html\n", to_string(best.h), options_.run);
    fmt::print("{:.2f} % of {} held-out digits right\n", 100 * right, digits_.test.labels.shape()[0]);
  }
  // What TensorBoard shows of the best run besides its curves.
  void show(const Trial& best, const layers::Sequential& net, train::Trainer& tested) const {
    const auto& [images, labels] = digits_.test;
    const std::string logs = options_.run + "/events/" + best.name + "/best";
    Profiler profiler;
    const Tensor p = [&] {
      const ProfileScope scope("step 1");  // the page shows steps
      return nn::softmax(tested.predict(images));
    }();
    summary::write_profile(profiler, logs, {.run = "predict"});
    const Tensor wrong = cast(argmax(p, -1), int32) != cast(labels, int32);
    summary::FileWriter writer(logs, {.graph = function([net](const Tensor& x) {
                                                 return net(x);
                                               }).get_concrete_function(TensorSpec({none, 28, 28}, uint8))});
    const i64 step = tested.step();
    writer.text("best", to_string(best.h), {.step = step});
    writer.image("wrong", expand_dims(boolean_mask(images, wrong), -1), {.step = step, .max_outputs = 8});
    writer.pr_curve("digit 8", cast(labels, int32) == 8, p(Ellipsis, 8), {.step = step});
    const auto weights = [&](const layers::Sequential& of, i64 at) {
      for (const Module::Named& n : of.named_variables())
        writer.histogram(n.path, n.variable.read_value(), {.step = at});
    };
    weights(built(best), 0), weights(net, step);  // a distribution shows what is between two steps
  }
  static std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }
  static bool is_random(const Trial& t) { return t.name.starts_with("random"); }
  static plot::Figure curves(const std::vector<Trial>& all) {
    std::vector<plot::Series> series;
    bool named[2] = {};
    for (const Trial& t : all) {
      std::vector<double> epochs;
      for (std::size_t i = 0; i < t.right.size(); ++i) epochs.push_back(static_cast<double>(i + 1));
      const bool is_first = !std::exchange(named[is_random(t)], true);
      series.push_back({.name = is_first ? (is_random(t) ? "random search" : "successive halving") : "",
                        .y = t.right,
                        .x = epochs,
                        .color = is_random(t)});
    }
    return plot::lines(series, {.title = "Right in validation", .x_label = "epoch", .log_x = true, .y_max = 1.});
  }
  static plot::Figure points(const std::vector<Trial>& all, const char* name) {
    std::vector<double> x, y, is_sgd;
    for (const Trial& t : all) {
      x.push_back(t.h.get<double>(name)), y.push_back(t.score());
      is_sgd.push_back(t.h.get<std::string>("optimizer") == "sgd");
    }
    return plot::scatter(x, y,
                         {.title = fmt::format("Right in validation, by {}", name),
                          .x_label = name,
                          .classes = is_sgd,
                          .class_names = {"adam", "sgd"},
                          .log_x = true});
  }
  static std::vector<std::string> head() {
    std::vector<std::string> r{"run", "epochs", "right"};
    for (const train::HParam& p : defaults.parameters()) r.push_back(p.name);
    return r;
  }
  static std::vector<std::vector<std::string>> rows(const std::vector<Trial>& all) {
    std::vector<std::vector<std::string>> r;
    for (const Trial& t : all) {
      r.push_back({t.name, std::to_string(t.epochs), fmt::format("{:.4f}", t.score())});
      for (const train::HParam& p : t.h.parameters()) r.back().push_back(to_string(p.value));
    }
    return r;
  }

  const Options options_;
  const digits::Digits digits_;
  data::Digits training_, validation_;
  std::vector<Trial> halving_, random_;
  i64 epochs_ = 0;  // of the trials of each of them
};

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Looks for the hyper-parameters of a network that reads digits.");
  app.add_option("--data", o.data, "the folder of MNIST's four files; default: generated digits");
  app.add_option("--fix", o.fixed,
                 "what is not searched, such as lr=0.01,units=64; of lr, optimizer, layers, units, dropout, batch");
  app.add_option("--run", o.run, "the folder of the search, from which the same command goes on")
      ->capture_default_str();
  arguments::add(app, "--trials", o.trials, 1, "the runs of successive halving");
  arguments::add(app, "--seed", o.seed, 0, "of everything random");
  app.add_option("--status-port", o.status_port, "show the runs at this port of 127.0.0.1 while they train")
      ->check(CLI::Range(1, 65535));
  return program::run("hparam_search", app, argc, argv, [&] {
    std::optional<summary::ReportServer> server;
    if (o.status_port) fmt::print("the runs at {}\n", server.emplace(o.run + "/events", *o.status_port).url());
    return Search(o).run();
  });
}
