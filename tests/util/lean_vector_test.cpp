// LeanVector: growth, copies, moves and removal, and that it destroys all it made. stable_order: against std's sort.
#include "tandem/util/lean_vector.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tandem/util/sort.hpp"
#include "tests/support/catch.hpp"
#include "tests/util/counted.hpp"

using tandem::LeanVector;
using testing::Counted;
using testing::Failing;

namespace {
struct Pair {
  int a;
  std::string b;
};
template <class S>
std::vector<int> values(const S& s) {
  std::vector<int> r;
  for (const Counted& c : s) r.push_back(c.value);
  return r;
}
using Ints = std::vector<int>;
}  // namespace

// An implicit assignment of these copies, which may raise.
struct OfLists : LeanVector<int> {};
static_assert(!std::is_nothrow_copy_assignable_v<OfLists> && std::is_nothrow_move_assignable_v<OfLists>);

TEST_CASE("LeanVector grows, is copied and moved, and destroys what it made") {
  {
    LeanVector<Counted> x{1, 2, 3};
    for (int i = 4; i <= 20; ++i) x.push_back(i);
    CHECK(x.size() == 20);
    CHECK(x.back().value == 20);
    x.push_back(x[0]);  // an element of its own, at the moment it grows or not
    x.emplace_back(x[1]);
    CHECK(x[20].value == 1);
    CHECK(x[21].value == 2);
    LeanVector<Counted> y = x, z = std::move(x);
    CHECK(x.empty());
    CHECK(values(y) == values(z));
    y = LeanVector<Counted>{7};
    CHECK(values(y) == Ints{7});
    z.resize(2);
    CHECK(values(z) == Ints{1, 2});
    z.resize(4);
    CHECK(values(z) == Ints{1, 2, -1, -1});
    z.assign(2, Counted(5));
    CHECK(values(z) == Ints{5, 5});
    const Ints from{3, 1, 2};
    CHECK(values(LeanVector<Counted>(from.begin(), from.end())) == from);
  }
  CHECK(Counted::alive == 0);
}
TEST_CASE("LeanVector: a full one may be given one of its own elements") {
  LeanVector<std::string> x{"a long string that is not stored in the handle", "b", "c", "d"};
  for (int i = 0; i < 40; ++i) x.push_back(x[0]);
  for (const std::string& s : {x[4], x[20], x[43]}) CHECK(s == x[0]);
}
TEST_CASE("LeanVector moves O(n) elements while it grows by ones") {
  struct Moved {
    int* moves;
    explicit Moved(int* m = nullptr) : moves(m) {}
    Moved(const Moved&) = default;
    Moved(Moved&& o) noexcept : moves(o.moves) {
      if (moves) ++*moves;
    }
    Moved& operator=(const Moved&) = default;
  };
  constexpr std::size_t n = 4096;
  int by_push = 0, by_resize = 0, by_append = 0;
  LeanVector<Moved> pushed, resized, appended;
  const Moved one(&by_append);
  for (std::size_t i = 0; i < n; ++i) {
    pushed.emplace_back(&by_push);
    resized.resize(i + 1, Moved(&by_resize));
    appended.append(&one, &one + 1);
  }
  for (const int moves : {by_push, by_resize, by_append}) CHECK(moves < static_cast<int>(8 * n));
}
TEST_CASE("LeanVector inserts and erases in order") {
  LeanVector<Counted> x{1, 3, 4};
  x.insert(x.begin() + 1, 2);
  x.insert(x.begin(), 0);
  x.insert(x.end(), 5);
  CHECK(values(x) == Ints{0, 1, 2, 3, 4, 5});
  CHECK(x.erase(x.begin() + 4)->value == 5);
  CHECK(x.erase(x.begin())->value == 1);
  const Counted* const behind = x.erase(x.end() - 1);
  CHECK(behind == x.end());
  CHECK(values(x) == Ints{1, 2, 3});
}
TEST_CASE("LeanVector holds aggregates and what only moves") {
  LeanVector<Pair> pairs;
  pairs.emplace_back(1, "one");
  pairs.push_back({2, "two"});
  CHECK(pairs[0].b + pairs[1].b == "onetwo");
  LeanVector<std::unique_ptr<int>> pointers;
  for (int i = 0; i < 9; ++i) pointers.push_back(std::make_unique<int>(i));
  const LeanVector<std::unique_ptr<int>> moved = std::move(pointers);
  CHECK(*moved[8] == 8);
  LeanVector<int> a{1, 2}, b{1, 2};
  CHECK(a == b);
  b.push_back(3);
  CHECK_FALSE(a == b);
}
TEST_CASE("stable_order is a stable sort of every length") {
  for (std::size_t n = 0; n < 70; ++n) {
    std::vector<int> keys;
    for (std::size_t i = 0; i < n; ++i) keys.push_back(static_cast<int>(i * 7919 % 13));
    std::vector<std::size_t> want(n);
    for (std::size_t i = 0; i < n; ++i) want[i] = i;
    std::stable_sort(want.begin(), want.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    const auto is = tandem::detail::stable_order(n, [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    CHECK(std::vector<std::size_t>(is.begin(), is.end()) == want);
  }
}

namespace {
template <class T>
void check_failures() {
  using List = LeanVector<T>;
  CHECK(testing::leaves_nothing([] {
    List s;
    for (int i = 0; i < 20; ++i) s.emplace_back(i);
  }));
  CHECK(testing::leaves_nothing([] {
    List s(3);
    s.resize(9), s.resize(12, T(5));
    s.insert(s.begin() + 2, T(1));
  }));
  List many;
  for (int i = 0; i < 8; ++i) many.emplace_back(i);
  CHECK(testing::leaves_nothing([&] { const List copy = many; }));
  CHECK(testing::leaves_nothing([&] { const List copy(many.begin(), many.end()); }));
  CHECK(testing::leaves_nothing([] { const List s{1, 2, 3}; }));
  for (const int room : {8, 20}) {
    many.reserve(static_cast<std::size_t>(room));
    Failing::left = 0;
    CHECK_THROWS_AS(many.emplace_back(8), int);
    Failing::left = -1;
    CHECK(values(many) == Ints{0, 1, 2, 3, 4, 5, 6, 7});
  }
}
}  // namespace

TEST_CASE("LeanVector: an element whose constructor raises is not counted, and nothing else is lost") {
  check_failures<Failing>();
  check_failures<testing::Copied>();
}
TEST_CASE("LeanVector: make_room() lets one element be added without an allocation, and doubles") {
  LeanVector<int> x;
  int moves = 0;
  for (int i = 0; i < 1000; ++i) {
    const int* const before = x.data();
    x.make_room();
    moves += x.data() != before;
    const int* const there = x.data();
    x.push_back(i);
    CHECK(x.data() == there);
  }
  CHECK(moves <= 11);
}
