// An error that one process alone raises between the operations of all: the others hear of it at once, and not at their
// timeout.
#include <array>
#include <atomic>
#include <string>

#include "tandem/distribute.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/train/problem.hpp"

namespace fit_failure_test {

using namespace training;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::SimCluster;

const train::ProgressOptions quiet{.mode = train::ProgressMode::none};

// Calls f(strategy, trainer) in three processes, whose operations may take a million seconds, and returns their errors.
template <class F>
std::vector<std::string> errors_of(const F& f) {
  SimCluster cluster(3, {.seed = 5, .timeout = 1e6});
  testing::error_of([&] {
    cluster.run([&](const Communicator&) {
      const MultiWorkerMirroredStrategy strategy;
      const layers::Sequential net = network(1, 0);
      strategy.broadcast(net);
      const auto scope = strategy.scope();
      train::Trainer trainer(net, options());
      f(strategy, trainer);
    });
  });
  CHECK(cluster.time() < 10);
  return cluster.errors();
}
void check_that_others_name_rank_1(const std::vector<std::string>& errors, const std::string& text) {
  CHECK_THAT(errors[1], ContainsSubstring(text) && !ContainsSubstring("has raised"));
  for (const std::size_t other : {std::size_t{0}, std::size_t{2}})
    CHECK_THAT(errors[other], ContainsSubstring("rank 1 has raised: ") && ContainsSubstring(text));
}

TEST_CASE("fit: what on_step_end raises in one process is an error in all") {
  const auto errors = errors_of([](const MultiWorkerMirroredStrategy& s, train::Trainer& trainer) {
    train::FitOptions o{.epochs = 2, .progress = quiet};
    o.callbacks = {train::LambdaCallback({.on_step_end = [rank = s.group().rank()](train::Run& run) {
      if (rank == 1 && run.step() == 3) errors::raise<errors::InternalError>("test", "own error\nand a second line");
    }})};
    trainer.fit(s.distribute_dataset(Points(50).batches(10)), o);
  });
  check_that_others_name_rank_1(errors, "test: own error");
  CHECK_THAT(errors[0], !ContainsSubstring("second line"));
}

TEST_CASE("fit: a batch that fails within an epoch in one process is an error in all") {
  const auto errors = errors_of([](const MultiWorkerMirroredStrategy& s, train::Trainer& trainer) {
    const float third = Points(50).x(3 * 10 + 1, 0).item<float>();
    const auto read = [third, rank = s.group().rank()](const Tensor& x, const Tensor& y) {
      if (rank == 1 && x.to_vector<float>()[0] == third)
        errors::raise<errors::DataLossError>("test", "a file is damaged");
      return std::array<Tensor, 2>{x, y};
    };
    trainer.fit(s.distribute_dataset(Points(50).batches(10)).map(read), {.epochs = 2, .progress = quiet});
  });
  check_that_others_name_rank_1(errors, "a file is damaged");
}

TEST_CASE("predict, strategy.run and report_error: an error of one process is one of those that wait for it") {
  const auto of_predict = errors_of([](const MultiWorkerMirroredStrategy& s, train::Trainer& trainer) {
    if (s.group().rank() == 1) trainer.predict(zeros({4, 3}));  // the network has 2 inputs
    s.group().barrier();
  });
  check_that_others_name_rank_1(of_predict, "4,3");
  const auto of_run = errors_of([](const MultiWorkerMirroredStrategy& s, train::Trainer&) {
    s.run([&] {
      if (s.group().rank() == 1) throw 3;
      s.group().barrier();
    });
  });
  check_that_others_name_rank_1(of_run, "an exception that is not a std::exception");
  const auto of_loop = errors_of([](const MultiWorkerMirroredStrategy& s, train::Trainer&) {
    if (s.group().rank() == 1) {
      s.group().report_error("own loop");
      errors::raise<errors::InternalError>("test", "own loop");
    }
    s.group().barrier();
  });
  check_that_others_name_rank_1(of_loop, "own loop");
}

TEST_CASE("fit: after an error that all processes raise together they go on together") {
  std::array<std::atomic<int>, 3> caught{};
  const auto errors = errors_of([&](const MultiWorkerMirroredStrategy& s, train::Trainer& trainer) {
    const auto rank = static_cast<std::size_t>(s.group().rank());
    const auto batches = s.distribute_dataset(Points(50).batches(10));
    train::FitOptions o{.epochs = 1, .progress = quiet};
    o.callbacks = {train::LambdaCallback({.on_step_end = [](train::Run& run) {
      if (run.step() == 2) errors::raise<errors::InternalError>("test", "the same in all");
    }})};
    try {
      trainer.fit(batches, o);
    } catch (const errors::InternalError&) {
      ++caught[rank];
    }
    o.callbacks = {train::LambdaCallback({.on_epoch_end = [rank](train::Run&) {  // of which all hear
      if (rank == 2) errors::raise<errors::InternalError>("test", "of one");
    }})};
    try {
      trainer.fit(batches, o);
    } catch (const errors::OpError&) {
      ++caught[rank];
    }
    o.callbacks = {};
    trainer.fit(batches, o);
  });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CHECK(errors[rank].empty());
    CHECK(caught[rank] == 2);
  }
}

TEST_CASE("report_error: a rank that goes on at once is waited for") {
  const auto errors = errors_of([](const MultiWorkerMirroredStrategy& s, train::Trainer& trainer) {
    for (int i = 0; i < 3; ++i) {
      if (s.group().rank() == i) testing::error_of([&] { trainer.predict(zeros({4, 3})); });
      s.group().barrier();
    }
  });
  for (const std::string& e : errors) CHECK(e.empty());
}

TEST_CASE("a rank that is killed reports nothing") {
  SimCluster cluster(3, {.timeout = 30, .faults = {{.rank = 1, .at = 5}}});
  testing::error_of([&] {
    cluster.run([](const Communicator& world) {
      const MultiWorkerMirroredStrategy strategy;
      strategy.run([&] {
        for (int i = 0; i < 200; ++i) world.barrier();
      });
    });
  });
  CHECK(cluster.errors()[1] == "killed");
  CHECK_THAT(cluster.errors()[0], ContainsSubstring("no answer within 30 s"));
}

}  // namespace fit_failure_test
