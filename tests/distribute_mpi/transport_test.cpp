// MpiTransport in a process that nobody has started as one of several. With several: tests/distribute/processes.py.
#include "tandem/distribute_mpi/transport.hpp"

#include <vector>

#include "tandem/distribute/communicator.hpp"
#include "tandem/distribute_mpi/place.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace mpi_transport_test {

using namespace tandem;
using distribute::Collective;
using distribute::ReduceOp;

Collective sum(std::vector<float>& values) {
  Collective c{.kind = Collective::all_reduce, .dtype = float32, .input = values.data(), .output = values.data()};
  c.count = static_cast<i64>(values.size());
  c.combine = distribute::impl::combine_fn(ReduceOp::sum, float32);
  return c;
}

TEST_CASE("MpiTransport: a group of one, its parts, and its end") {
  const auto t = distribute::impl::mpi_transport({}, 10);
  CHECK(t->size() == 1);
  CHECK(t->rank() == 0);
  CHECK(std::string(t->kind()) == "mpi");
  CHECK(t->last_seen().empty());
  std::vector<float> values(1000, 2), large(300'000, 3);
  const auto a = t->start(sum(values)), b = t->start(sum(large));
  CHECK(b->wait(10));
  CHECK(a->wait(10));
  CHECK(values[999] == 2);
  CHECK(large[299'999] == 3);
  const auto part = t->split(3, 0);
  CHECK(part->size() == 1);
  CHECK(part->start({})->wait(10));

  const std::vector<i64> too_many{i64{1} << 31};
  float x = 0;
  Collective gather{.kind = Collective::all_gather, .dtype = float32, .input = &x, .output = &x, .count = 1};
  gather.receive = too_many;
  CHECK(testing::error_of<errors::InvalidArgumentError>([&] { t->start(gather); }).find("2147483648 elements") !=
        std::string::npos);

  t->abort();
  CHECK(testing::error_of<errors::UnavailableError>([&] { part->start({}); }).find("aborted") != std::string::npos);
}

TEST_CASE("MpiTransport: whether ranks have processors of their own") {
  using distribute::impl::mpi::Place;
  const auto rank = [](i64 machine, const std::vector<std::size_t>& processors) {
    Place p{machine, {}};
    for (const std::size_t i : processors) CPU_SET(i, &p.processors);
    return p;
  };
  const auto have_too_few = distribute::impl::mpi::have_too_few_processors;
  CHECK(!have_too_few({rank(1, {0}), rank(1, {1}), rank(1, {2})}, 1));           // each is bound to one of its own
  CHECK(have_too_few({rank(1, {4, 5}), rank(1, {4, 5}), rank(1, {4, 5})}, 1));   // a cpuset of a larger machine
  CHECK(!have_too_few({rank(1, {4, 5}), rank(1, {4, 5}), rank(2, {4, 5})}, 1));  // the third is elsewhere
  CHECK(have_too_few({rank(1, {0, 1}), rank(2, {3}), rank(2, {3})}, 2));
  const Place own{0, distribute::impl::mpi::own_processors()};
  CHECK(!have_too_few({own}, 0));
}

}  // namespace mpi_transport_test
