// CallHistory: the hash of all operations of a group, and which of the last ones differs.
#include "tandem/distribute/call_history.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "tandem/distribute/communicator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace call_history_test {

using namespace tandem;
using distribute::Collective;
using distribute::ReduceOp;
using distribute::impl::CallHistory;

Collective sum_of(i64 count) {
  Collective c{.kind = Collective::all_reduce, .dtype = float32};
  c.count = count;
  return c;
}

TEST_CASE("CallHistory: equal operations have equal hashes, whatever cannot be compared is left out") {
  CallHistory a, b;
  float x = 0;
  const std::vector<i64> each{3, 4};
  for (i64 i = 0; i < 250; ++i) {
    Collective c = sum_of(i);
    a.add(c, false);
    c.input = c.output = &x;
    b.add(c, false);
    Collective gather{.kind = Collective::all_gather, .dtype = int32, .count = 3};
    a.add(gather, false);
    gather.count = 4, gather.receive = each;  // ranks have different numbers of rows
    b.add(gather, false);
  }
  CHECK(a.count() == 500);
  CHECK(a.hash() == b.hash());
  CHECK(a.hashes() == b.hashes());
  CHECK(a.hashes().back() == a.hash());
  CHECK(a.text(498) == "all_reduce of float32 by sum, 249 elements");
  CHECK(a.text(499) == "all_gather of int32, rows of 1 elements");
}

TEST_CASE("CallHistory: the first operation that differs") {
  for (const i64 at : {100, 137, 199}) {
    CallHistory a, b;
    for (i64 i = 0; i < 200; ++i) {
      Collective c = sum_of(8);
      a.add(c, false);
      if (i == at) c.op = ReduceOp::max;
      b.add(c, false);
    }
    CHECK(a.hash() != b.hash());
    std::size_t first = 0;
    while (a.hashes()[first] == b.hashes()[first]) ++first;
    CHECK(static_cast<i64>(first) == at - 100);
    CHECK(b.text(at) == "all_reduce of float32 by max, 8 elements");
  }
  CallHistory a, b;
  a.add(sum_of(8), false), b.add(sum_of(8), true);
  CHECK(a.hash() != b.hash());
  CHECK(b.text(0) == "all_reduce of float32 by sum, 8 elements on a GPU");
}

// Rank 0 of two, alone: the other one says the same, but for a hash of all operations.
struct MixedUp final : distribute::Transport {
  struct Ended final : distribute::Pending {
    bool wait(double) override { return true; }
  };
  const char* kind() const override { return "mixed up"; }
  int rank() const override { return 0; }
  int size() const override { return 2; }
  std::string node() const override { return "here"; }
  std::unique_ptr<distribute::Pending> start(const Collective& c) override {
    if (c.kind == Collective::all_gather) {
      const auto bytes = static_cast<std::size_t>(c.count);
      char* const other = static_cast<char*>(c.output) + bytes;
      std::memcpy(c.output, c.input, bytes);
      std::memcpy(other, c.input, bytes);
      if (bytes == sizeof(u64)) *other = static_cast<char>(*other + 1);
    }
    return std::make_unique<Ended>();
  }
  std::unique_ptr<distribute::Transport> split(int, int) override { return std::make_unique<MixedUp>(); }
  void abort() noexcept override {}
};

TEST_CASE("Communicator: a hash that differs, and a hundred that do not") {
  const distribute::Communicator group("mixed up", std::make_unique<MixedUp>(), 10);
  for (int i = 0; i < 199; ++i) group.run({}, "barrier", "");
  CHECK(testing::error_of<errors::FailedPreconditionError>([&] {
          group.run({}, "barrier", "");
        }).find("ranks called different operations among the last 100") != std::string::npos);
  CHECK(testing::error_of<errors::UnavailableError>([&] { group.run({}, "barrier", ""); }).find("is dead") !=
        std::string::npos);
}

}  // namespace call_history_test
