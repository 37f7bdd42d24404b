// What a Profiler has of collectives: events of their own, beside those of the ops. In a simulated cluster.
#include "tandem/core/profile.hpp"

#include <set>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/distribute/strategy.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"

namespace collective_profile_test {

using namespace tandem;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::SimCluster;

std::vector<ProfileEvent> collectives(const Profiler& p, const std::string& name) {
  std::vector<ProfileEvent> r;
  for (const ProfileEvent& e : p.events())
    if (std::string(e.kind) == "collective" && e.name.starts_with(name)) r.push_back(e);
  return r;
}

TEST_CASE("profile: a collective is an event with its bytes and the time for which its caller waited") {
  const Profiler profiler;
  SimCluster(3).run([](const Communicator&) { distribute::all_reduce(ones({250}), {.name = "total"}); });
  const std::vector<ProfileEvent> all = collectives(profiler, "all_reduce 'total'");
  REQUIRE(all.size() == 3);
  for (const ProfileEvent& e : all) {
    CHECK(e.op == "all_reduce");
    CHECK(e.shapes == "float32[250]");
    CHECK(e.bytes == 1000);
    CHECK(e.exposed > 0);
    CHECK(e.exposed <= e.duration);
  }
  // The op is an event of its thread.
  std::set<int> threads, lanes;
  for (const ProfileEvent& e : profiler.events())
    (std::string(e.kind) == "collective" ? lanes : threads).insert(e.thread);
  for (const int lane : lanes) CHECK(threads.count(lane) == 0);
  CHECK_THAT(profiler.json(), ContainsSubstring("\"args\":{\"name\":\"collectives\"}") &&
                                  ContainsSubstring("\"bytes\":1000,\"exposed_ns\":"));
  CHECK_THAT(profiler.summary(), ContainsSubstring("collective all_reduce"));
}

// Two buckets in each of two steps.
void train(bool traced) {
  SimCluster(2).run([&](const Communicator&) {
    const MultiWorkerMirroredStrategy strategy({.bucket_bytes = 400, .first_bucket_bytes = 400});
    const auto scope = strategy.scope();
    const Variable a(zeros({100}), {.name = "a"}), b(zeros({100}), {.name = "b"});
    const optimizers::SGD sgd(1.0);
    const auto step = [&](const Tensor& x) {
      GradientTape tape;
      sgd.apply_gradients(tape.gradient(reduce_sum(a * x) + reduce_sum(b * x), {a, b}), {a, b});
    };
    auto f = function(step);
    for (int i = 0; i < 2; ++i) traced ? f(ones({100})) : step(ones({100}));
  });
}

TEST_CASE("profile: buckets have their labels, and lanes of their own while they run at the same time") {
  for (const bool traced : {false, true}) {
    INFO(traced);
    const Profiler profiler;
    train(traced);
    const auto first = collectives(profiler, "all_reduce bucket 1 of 2 (448 bytes, 'b')"),
               second = collectives(profiler, "all_reduce bucket 2 of 2 (448 bytes, 'a')");
    REQUIRE(first.size() == 4);
    REQUIRE(second.size() == 4);
    for (const ProfileEvent& e : first)
      for (const ProfileEvent& other : second)
        if (e.start < other.start + other.duration && other.start < e.start + e.duration)
          CHECK(e.thread != other.thread);
  }
}

}  // namespace collective_profile_test
