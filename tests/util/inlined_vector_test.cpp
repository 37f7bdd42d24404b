// InlinedVector: a vector with room inside, its growth, copies and moves, and that it destroys all it made.
#include "tandem/util/inlined_vector.hpp"

#include <string>
#include <utility>

#include "tests/support/catch.hpp"
#include "tests/util/counted.hpp"

using tandem::InlinedVector;
using testing::Counted;
using testing::Failing;

namespace {
template <class S>
std::string text(const S& s) {
  std::string r;
  for (const Counted& c : s) r += std::to_string(c.value) + " ";
  return r;
}
}  // namespace

// An implicit assignment of these copies, which may raise.
struct OfSmall {
  InlinedVector<int, 2> list;
};
static_assert(!std::is_nothrow_copy_assignable_v<OfSmall> && std::is_nothrow_move_assignable_v<OfSmall>);

TEST_CASE("small: grows from its own room to the heap and keeps its elements") {
  {
    InlinedVector<Counted, 2> s;
    CHECK(s.empty());
    for (int i = 0; i < 100; ++i) {
      CHECK(s.push_back(i).value == i);
      CHECK(s.size() == static_cast<unsigned>(i + 1));
      CHECK(s.back().value == i);
    }
    for (int i = 0; i < 100; ++i) CHECK(s[static_cast<std::size_t>(i)].value == i);
    CHECK(Counted::alive == 100);
  }
  CHECK(Counted::alive == 0);
}

TEST_CASE("small: an element of its own may be pushed while it grows") {
  InlinedVector<std::string, 2> s(std::string(40, 'a'), std::string(40, 'b'));
  s.push_back(s[0]);
  s.push_back(s[1]);
  s.push_back(s[2]);
  CHECK(s.size() == 5);
  CHECK(s[4] == std::string(40, 'a'));
}

TEST_CASE("small: copies are independent, moves take the elements along") {
  for (const int n : {0, 1, 2, 3, 9}) {
    {
      InlinedVector<Counted, 2> a;
      for (int i = 0; i < n; ++i) a.push_back(i);
      const std::string want = text(a);
      InlinedVector<Counted, 2> b(a);
      CHECK(text(b) == want);
      b.push_back(77);
      CHECK(text(a) == want);
      InlinedVector<Counted, 2> c(std::move(a));
      CHECK(text(c) == want);
      InlinedVector<Counted, 2> d;
      d.push_back(5), d.push_back(6), d.push_back(7);
      d = c;
      CHECK(text(d) == want);
      d = std::move(b);
      CHECK(text(d) == want + "77 ");
      const InlinedVector<Counted, 2>& same = d;
      d = same;
      CHECK(text(d) == want + "77 ");
    }
    CHECK(Counted::alive == 0);
  }
}

TEST_CASE("small: resize, reserve and clear") {
  {
    InlinedVector<Counted, 2> s(1, 2);
    s.reserve(10);
    const Counted* at = s.data();
    s.resize(7);
    CHECK(s.data() == at);
    CHECK(text(s) == "1 2 -1 -1 -1 -1 -1 ");
    s.resize(1);
    CHECK(text(s) == "1 ");
    CHECK(Counted::alive == 1);
    s.clear();
    CHECK(s.empty());
    CHECK(Counted::alive == 0);
    s.push_back(3);
    CHECK(text(s) == "3 ");
  }
  CHECK(Counted::alive == 0);
}

TEST_CASE("small: an element whose constructor raises is not counted, and nothing else is lost") {
  using Four = InlinedVector<Failing, 4>;
  CHECK(testing::leaves_nothing([] {
    Four s;
    for (int i = 0; i < 20; ++i) s.push_back(i);  // inside, at the moment it grows, and on the heap
  }));
  CHECK(testing::leaves_nothing([] {
    Four s;
    s.resize(3), s.resize(9);
  }));
  CHECK(testing::leaves_nothing([] { const Four s(1, 2, 3, 4, 5, 6); }));
  Four many;
  for (int i = 0; i < 6; ++i) many.push_back(i);
  CHECK(testing::leaves_nothing([&] { const Four copy = many; }));
  CHECK(testing::leaves_nothing([&] {
    Four other(1);
    other = many;
  }));
  Failing::left = 0;
  CHECK_THROWS_AS(many.push_back(6), int);
  CHECK_THROWS_AS(many.resize(7), int);
  Failing::left = -1;
  CHECK(text(many) == "0 1 2 3 4 5 ");
}
