#include "trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <vector>

using namespace tandem;

namespace {

TrainOptions filled(TrainOptions o, const ModelOptions& model) {
  const bool nce = model.loss == "nce";
  if (o.learning_rate <= 0) o.learning_rate = nce ? 0.5 : model.model == "cbow" ? 0.1 : 0.0125;
  if (o.momentum < 0) o.momentum = nce ? 0.5 : 0;
  return o;
}

}  // namespace

Trainer::Trainer(const TextFiles& corpus, const Vocabulary& vocabulary, const ModelOptions& model,
                 const TrainOptions& o, const workers::Strategy& strategy)
    : files_(corpus),
      vocabulary_(vocabulary),
      strategy_(strategy),
      options_(filled(o, model)),
      decays_(model.loss != "nce"),
      chunks_{.window = model.window, .lines = o.lines, .seed = o.seed},
      train_bytes_(files_.bytes() - static_cast<std::int64_t>(o.held_out * static_cast<double>(files_.bytes()))),
      train_end_(files_.place_at(train_bytes_)),
      subsampling_(vocabulary, o.sample),
      noise_(vocabulary),
      generator_(o.seed),
      model_(vocabulary.size(), model),
      objective_(model.loss == "shared" ? make_block_objective(model, noise_)
                                        : make_example_objective(model, noise_, vocabulary.size(), generator_)),
      optimizer_(options_.learning_rate, options_.momentum),
      position_(zeros({4}, int64), {.name = "position", .trainable = false}),
      seconds_(zeros({}, float64), {.name = "seconds", .trainable = false}),
      checkpoint_({{"model", model_},
                   {"optimizer", optimizer_},
                   {"position", position_},
                   {"seconds", seconds_},
                   {"generator", generator_.state()}}),
      traced_step_(function([this](const std::vector<Tensor>& in, const Tensor& rate) { return learn(in, rate); },
                            {.name = "training_step"})) {
  optimizer_.build(model_.trainable_variables());
}

Tensor Trainer::learn(const std::vector<Tensor>& inputs, const Tensor& rate) const {
  optimizer_.learning_rate().assign(rate);
  return optimizer_.minimize([&] { return objective_->loss(model_, inputs); }, model_.trainable_variables());
}

double Trainer::share() const {
  const double read = static_cast<double>(files_.bytes_before(state_.place)) / static_cast<double>(train_bytes_);
  return std::max((static_cast<double>(state_.epoch) + read) / static_cast<double>(options_.epochs),
                  seconds() / (60 * options_.minutes));
}

// Of as many chunks as there are processes, fewer at the end of an epoch, this process has the one of its rank.
Trainer::Prepared Trainer::prepare(State from) {
  Prepared r{{}, from};
  State& at = r.after;
  for (int rank = 0; rank < strategy_.group().size() && at.epoch == from.epoch; ++rank) {
    if (!reader_) reader_ = std::make_unique<WordReader>(files_, at.place);
    if (rank == strategy_.group().rank()) {
      Chunk chunk = read_chunk(*reader_, vocabulary_, subsampling_, chunks_, at.epoch, at.chunk, train_end_);
      r.words = chunk.words, r.trained_words = chunk.size();
      r.batches = objective_->batches(std::move(chunk));
    } else {
      skip_chunk(*reader_, chunks_, train_end_);
    }
    at.place = reader_->place(), at.chunk += 1;
    if (at.place < train_end_) continue;
    at = {from.epoch + 1, 0, {}};
    reader_ = nullptr;
  }
  return r;
}
// With several threads, one of them prepares the next chunk in the meantime.
void Trainer::read_ahead() {
  const auto policy = config::intra_op_parallelism_threads() > 1 ? std::launch::async : std::launch::deferred;
  next_ = std::async(policy, [this, from = state_] { return prepare(from); });
}

Trainer::Progress Trainer::train_chunk() {
  const auto begin = std::chrono::steady_clock::now();
  if (!next_.valid()) read_ahead();
  const Prepared now = next_.get();
  state_ = now.after;
  if (!is_last_epoch(state_)) read_ahead();
  const double left = decays_ ? std::max(1e-4, 1 - share()) : 1;
  const Tensor rate = constant(static_cast<float>(options_.learning_rate * left));
  const auto own = static_cast<double>(now.batches.size());
  const auto n = static_cast<std::size_t>(workers::largest(strategy_, own)), some = std::min<std::size_t>(n, 100);
  std::vector<double> sums{double(now.words), double(now.trained_words)};
  for (std::size_t i = 0; i < n; ++i) {
    const Batch b = i < now.batches.size() ? now.batches[i] : objective_->empty();
    sums.push_back(traced_step_(b.inputs, rate).item<float>());
    sums.push_back(objective_->examples_in_loss(b));
  }
  // Of all processes: words and trained words, then the loss and the examples of each step.
  sums = workers::reduce(strategy_, distribute::ReduceOp::sum, sums);
  const auto mean = [&](std::size_t from, std::size_t to) {
    double loss = 0, count = 0;
    for (std::size_t i = from; i < to; ++i) loss += sums[2 + 2 * i], count += sums[3 + 2 * i];
    return count > 0 ? loss / count : 0;
  };
  const Progress p{std::int64_t(sums[0]), std::int64_t(sums[1]), mean(0, n), mean(0, some), mean(n - some, n)};
  if (!std::isfinite(p.loss))
    throw std::runtime_error("training diverged: the loss is not a number; lower --learning-rate or --momentum");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  seconds_.assign_add(workers::largest(strategy_, seconds.count()));
  return p;
}

double Trainer::held_out_loss() const {
  if (train_bytes_ == files_.bytes()) return 0;
  WordReader reader(files_, train_end_);
  reader.next();  // the position may be inside a word
  const Place end = files_.place_at(files_.bytes());
  const Tensor draws = generator_.state().read_value();  // training goes on as if this loss had drawn nothing
  double loss = 0, examples = 0;
  for (std::int64_t i = 0; i < 10; ++i) {
    Chunk chunk = read_chunk(reader, vocabulary_, subsampling_, chunks_, -1, i, end);
    if (chunk.words == 0) break;
    for (const Batch& b : objective_->batches(std::move(chunk))) {
      loss += objective_->loss(model_, b.inputs).item<float>();
      examples += objective_->examples_in_loss(b);
    }
  }
  generator_.state().assign(draws);
  return examples > 0 ? loss / examples : 0;
}

void Trainer::save_state() const {
  const State& s = state_;
  position_.assign(constant(std::vector<std::int64_t>{s.epoch, s.chunk, s.place.file, s.place.byte}));
}
void Trainer::load_state() {
  const auto p = position_.to_vector<std::int64_t>();
  state_ = {p[0], p[1], {p[2], p[3]}};
}
