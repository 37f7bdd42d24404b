#include "tandem/base/span.hpp"

#include <array>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

int sum(Span<const int> x) { return std::accumulate(x.begin(), x.end(), 0); }

struct Base {
  int a = 0;
};
struct Derived : Base {
  int b = 0;
};

TEST_CASE("Span converts from containers, arrays and std::span, and to std::span") {
  const std::vector<int> v{1, 2, 3, 4};
  std::array<int, 2> a{5, 6};
  const int c[] = {7, 8, 9};
  CHECK(sum(v) == 10);
  CHECK(sum(std::vector<int>{1, 1}) == 2);
  CHECK(sum(a) == 11);
  CHECK(sum(c) == 24);
  CHECK(sum({c, 2}) == 15);
  CHECK(sum({}) == 0);
  CHECK(sum(std::span<const int>(v)) == 10);
  CHECK(sum(Span<int>(a)) == 11);
  const std::span<const int> back = Span<const int>(v);
  CHECK(back.size() == 4);
  CHECK(std::is_same_v<decltype(Span(v)), Span<const int>>);
  CHECK(std::is_same_v<decltype(Span(a)), Span<int>>);
}

TEST_CASE("Span refuses what would remove const or read elements of another size") {
  CHECK_FALSE(std::is_convertible_v<const std::vector<int>&, Span<int>>);
  CHECK_FALSE(std::is_convertible_v<std::vector<long>&, Span<int>>);
  CHECK_FALSE(std::is_convertible_v<std::vector<Derived>&, Span<const Base>>);
  CHECK_FALSE(std::is_convertible_v<int, Span<const int>>);
  CHECK(std::is_convertible_v<const std::string&, Span<const char>>);
}

TEST_CASE("Parts of a Span") {
  std::vector<int> v{1, 2, 3, 4};
  const Span<int> s = v;
  CHECK(sum(s.first(2)) == 3);
  CHECK(sum(s.last(2)) == 7);
  CHECK(sum(s.subspan(1)) == 9);
  CHECK(sum(s.subspan(1, 2)) == 5);
  CHECK(s.subspan(4).empty());
  CHECK(s.size_bytes() == 4 * sizeof(int));
  s.front() = 10, s.back() = 40, s[1] = 20;
  CHECK(v == std::vector<int>{10, 20, 3, 40});
}

}  // namespace
