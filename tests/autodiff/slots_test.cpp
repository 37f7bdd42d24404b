// Slots: ids near and far, in any order.
#include "tandem/autodiff/slots.hpp"

#include <map>
#include <random>

#include "tests/support/catch.hpp"

using namespace tandem;

TEST_CASE("slots: an id is found whatever came before and after it") {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    const u64 first = context.next_id;
    Slots slots;
    std::map<u64, int> expected;
    for (int slot = 0; slot < 40; ++slot) {
      const u64 id = first + 1000 - std::uniform_int_distribution<u64>(1, 2000)(random) +
                     5000 * std::uniform_int_distribution<u64>(0, 3)(random);
      if (!expected.emplace(id, slot).second) continue;
      slots.insert(id, slot);
    }
    int wrong = 0;
    for (u64 id = first - 1000; id < first + 17000; ++id)
      wrong += slots.find(id) != (expected.contains(id) ? expected[id] : -1);
    CHECK(wrong == 0);
  }
}

TEST_CASE("slots: an id from far ahead is found after the gap to it has closed") {
  const u64 first = context.next_id;
  Slots slots;
  slots.insert(first + 5000, 0);
  slots.insert(first + 4000, 1);
  slots.insert(first + 6000, 2);
  CHECK(slots.find(first + 5000) == 0);
  CHECK(slots.find(first + 4000) == 1);
  CHECK(slots.find(first + 6000) == 2);
  CHECK(slots.find(first + 4500) == -1);
}
