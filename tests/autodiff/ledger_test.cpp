// The memory ledger of a tape: what each op keeps, counted once.
#include "tandem/autodiff/tape.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
i64 total(const std::vector<TapeMemory>& rows) {
  i64 bytes = 0;
  for (const TapeMemory& r : rows) bytes += r.bytes;
  return bytes;
}
const TapeMemory* row_of(const std::vector<TapeMemory>& rows, const std::string& op) {
  for (const TapeMemory& r : rows)
    if (r.op == op) return &r;
  return nullptr;
}
}  // namespace

TEST_CASE("ledger: bytes by op and line, each counted for the first op that saves it") {
  const Tensor x = ones({100});
  GradientTape tape({.ledger = true});
  tape.watch(x);
  const int line = __LINE__ + 1;
  const Tensor y = exp(x);     // saves y
  const Tensor z = square(y);  // saves y again
  Tensor s;
  {
    const name_scope scope("head");
    s = z + x;  // saves nothing
  }
  const auto rows = tape.memory();
  REQUIRE(rows.size() == 3);
  const TapeMemory *e = row_of(rows, "Exp"), *q = row_of(rows, "Square"), *a = row_of(rows, "Add");
  REQUIRE((e && q && a));
  CHECK(e->where.line == line);
  CHECK(q->where.line == line + 1);
  CHECK(e->bytes == 400);
  CHECK(e->own == 0);
  CHECK(q->bytes == 0);
  CHECK(a->bytes == 0);
  CHECK(a->where.file == nullptr);
  CHECK(a->scope == "head");
  CHECK(total(rows) == 400);
  CHECK_THAT(to_string(rows), ContainsSubstring("Exp") && ContainsSubstring("ledger_test.cpp:") &&
                                  ContainsSubstring("total") && ContainsSubstring("head"));
}

TEST_CASE("ledger: loops add up, views share, own bytes are told apart") {
  const Tensor x = ones({4, 100});
  GradientTape tape({.ledger = true});
  tape.watch(x);
  Tensor sum = zeros({100});
  for (int i = 0; i < 4; ++i) sum = sum + square(x[i]);
  const auto rows = tape.memory();
  const TapeMemory* q = row_of(rows, "Square");
  REQUIRE(q);
  CHECK(q->count == 4);
  CHECK(q->bytes == 1600);
  CHECK(q->own == 1600);
  CHECK(rows[0].op == "Square");
  tape.gradient(sum, x);
  CHECK(total(tape.memory()) == 0);
}

TEST_CASE("ledger: without the option rows are by op alone") {
  const Tensor x = ones({10});
  GradientTape tape;
  tape.watch(x);
  Tensor y = square(x);
  y = square(y);
  const auto rows = tape.memory();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].count == 2);
  CHECK(rows[0].bytes == 80);
  CHECK(rows[0].where.file == nullptr);
  CHECK(GradientTape().memory().empty());
}
