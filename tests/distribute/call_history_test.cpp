// CallHistory: the hash of all operations of a group, and which of the last ones differs.
#include "tandem/distribute/call_history.hpp"

#include <vector>

#include "tests/support/catch.hpp"

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

}  // namespace call_history_test
