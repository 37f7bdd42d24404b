// A program's own names beside `using namespace tandem`.
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
int test() { return 1; }
int train() { return 2; }
int io() { return 3; }
}  // namespace

TEST_CASE("a program's own test(), train() and io() are not ambiguous") { CHECK(test() + train() + io() == 6); }
