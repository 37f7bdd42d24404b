// IdleList: which connections end when it is swept.
#include "tandem/serving/idle_list.hpp"

#include <memory>
#include <optional>

#include "tests/support/catch.hpp"

namespace idle_list_test {

using namespace tandem;
using serving::impl::IdleList;
using serving::impl::IdleTime;

struct Connection final : IdleList::Member {
  explicit Connection(IdleList& to) : list(to) {}
  ~Connection() {
    if (is_there) list.remove(place);
  }
  void end() override { ++ended; }

  IdleList& list;
  IdleTime time;
  IdleList::Place place;
  bool is_there = false;
  int ended = 0;
};
std::shared_ptr<Connection> connection(IdleList& list) {
  const auto r = std::make_shared<Connection>(list);
  r->place = list.add(r, r->time), r->is_there = true;
  return r;
}

TEST_CASE("idle list: those whose time is over end, not those that do not wait or are gone") {
  IdleList list;
  const IdleTime::Clock::time_point start{};
  const auto seconds = [&](int n) { return start + std::chrono::seconds(n); };
  const auto first = connection(list), second = connection(list), busy = connection(list);
  auto gone = connection(list);
  first->time.set(seconds(10)), second->time.set(seconds(20)), busy->time.set(seconds(5)), gone->time.set(seconds(1));
  busy->time.clear();  // its request has come
  gone.reset();
  list.sweep(seconds(9));
  CHECK(first->ended == 0);
  list.sweep(seconds(10));
  CHECK(first->ended == 1);
  CHECK(second->ended == 0);
  first->time.set(seconds(40));  // it has had a request
  list.sweep(seconds(30));
  CHECK(first->ended == 1);
  CHECK(second->ended == 1);
  CHECK(busy->ended == 0);
}

TEST_CASE("idle list: a connection that ends in a sweep may be the last that holds itself") {
  IdleList list;
  struct Last final : IdleList::Member {
    void end() override { self.reset(); }
    std::shared_ptr<Last> self;
    IdleTime time;
    std::optional<IdleList::Place> place;
    IdleList* from = nullptr;
    ~Last() { from->remove(*place); }
  };
  std::weak_ptr<Last> weak;
  {
    const auto last = std::make_shared<Last>();
    last->place = list.add(last, last->time), last->from = &list, last->self = last;
    last->time.set({});
    weak = last;
  }
  list.sweep(IdleTime::Clock::time_point(std::chrono::seconds(1)));
  CHECK(weak.expired());
  list.sweep(IdleTime::Clock::time_point(std::chrono::seconds(2)));
}

}  // namespace idle_list_test
