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

Trainer::Trainer(const Corpus& corpus, const Vocabulary& vocabulary, const ModelOptions& model, const TrainOptions& o,
                 const workers::Strategy& strategy)
    : vocabulary_(vocabulary),
      strategy_(strategy),
      options_(filled(o, model)),
      decays_(model.loss != "nce"),
      chunk_options_{.window = model.window, .lines = o.lines},
      subsampling_(vocabulary, o.sample),
      noise_(vocabulary),
      generator_(o.seed),
      model_(vocabulary.size(), model),
      objective_(model.loss == "shared" ? make_block_objective(model, noise_)
                                        : make_example_objective(model, noise_, vocabulary.size(), generator_)),
      optimizer_(options_.learning_rate, options_.momentum),
      // Of 10,000 words on average: the blocks of short files are short.
      chunk_blocks_(std::max<std::int64_t>(1, 10'000 * corpus.blocks().size() / (vocabulary.total() + 1))),
      train_blocks_(corpus.blocks().size() - std::int64_t(o.held_out * double(corpus.blocks().size()))),
      training_(prepared(corpus.blocks().take(train_blocks_), 2 * o.seed)),
      held_out_(prepared(corpus.blocks().skip(train_blocks_), 2 * o.seed + 1).take(10)),
      chunks_(training_.size()),
      position_(zeros({}, int64), {.name = "position", .trainable = false}),
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
  return std::max(static_cast<double>(done_) / static_cast<double>(chunks_ * options_.epochs),
                  seconds() / (60 * options_.minutes));
}

// Chunks, prepared for training. What is drawn for one depends on its number alone, so a run may stop and
// resume between any two of them.
Trainer::Chunks Trainer::prepared(const data::Dataset<std::string>& blocks, std::int64_t seed) const {
  const auto prepare = [this](const Tensor& texts) {
    std::string all;
    for (const std::string& text : texts.to_vector<std::string>()) (all += text) += '\n';  // a file's last word ends
    const auto numbers = random::uniform({4}, 0, 1 << 30, int32).to_vector<std::int32_t>();
    std::seed_seq seeds(numbers.begin(), numbers.end());
    Chunk chunk = chunk_of(well_formed(std::move(all)), vocabulary_, subsampling_, chunk_options_, Random(seeds));
    const std::int64_t words = chunk.words, trained = chunk.size();
    return Prepared{objective_->batches(std::move(chunk)), words, trained};
  };
  return blocks.batch(chunk_blocks_).map(prepare, {.seed = seed});
}
// Of as many chunks as there are processes, fewer at the end, this process has the one of its rank. With several
// threads, one of them prepares the next chunk in the meantime.
Prepared Trainer::next_chunk() {
  const std::int64_t processes = strategy_.group().size(), all = chunks_ * options_.epochs;
  if (!next_) {
    const Chunks own = training_.repeat(options_.epochs).skip(done_).shard(processes, strategy_.group().rank());
    next_ = (config::intra_op_parallelism_threads() > 1 ? own.prefetch(1) : own).iterator();
  }
  done_ = std::min(done_ + processes, all);
  return next_->next().value_or(Prepared());
}

Trainer::Progress Trainer::train_chunk() {
  const auto begin = std::chrono::steady_clock::now();
  const Prepared now = next_chunk();
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
  const Tensor draws = generator_.state().read_value();  // training goes on as if this loss had drawn nothing
  double loss = 0, examples = 0;
  for (const Prepared& chunk : held_out_.epoch(0))
    for (const Batch& b : chunk.batches) {
      loss += objective_->loss(model_, b.inputs).item<float>();
      examples += objective_->examples_in_loss(b);
    }
  generator_.state().assign(draws);
  return examples > 0 ? loss / examples : 0;
}

void Trainer::save_state() const { position_.assign(constant(done_)); }
void Trainer::load_state() { done_ = position_.item<std::int64_t>(); }
