// Ids of values, nodes, Variables and arguments: each kind is a type of its own.
#include "tandem/graph/ir/ids.hpp"

#include <type_traits>
#include <vector>

#include "tandem/graph/ir/graph.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

template <class List, class I>
concept Indexable = requires(List& list, I i) {
  list[i];
};

static_assert(!std::is_convertible_v<int, ValueId> && std::is_constructible_v<ValueId, int>);
static_assert(!std::is_constructible_v<ValueId, NodeId> && !std::is_constructible_v<VariableIndex, ArgumentIndex>);
static_assert(!std::is_convertible_v<ValueId, int> && !std::is_convertible_v<ValueId, std::size_t>);
static_assert(Indexable<decltype(Graph::specs), ValueId> && !Indexable<decltype(Graph::specs), NodeId>);
static_assert(Indexable<decltype(Graph::nodes), NodeId> && !Indexable<decltype(Graph::nodes), ValueId>);
static_assert(!Indexable<decltype(Graph::nodes), std::size_t> && !Indexable<const decltype(Graph::nodes), int>);

}  // namespace

TEST_CASE("ids: an id is of a thing, or of none") {
  CHECK_FALSE(NodeId().is_set());
  CHECK_FALSE(NodeId(-1).is_set());
  CHECK(NodeId() == NodeId(-1));
  CHECK(NodeId(0).is_set());
  CHECK(NodeId(7).number() == 7);
  CHECK(NodeId(7).index() == 7u);
  CHECK(NodeId() < NodeId(0));
  CHECK(ValueId(3) + 2 == ValueId(5));
  CHECK(ValueId(5) - ValueId(3) == 2);
}

TEST_CASE("ids: an index that an int does not hold is of no thing") {
  CHECK(VariableIndex(i64{1} << 31) == VariableIndex());
  CHECK(VariableIndex(i64{1} << 32) == VariableIndex());  // not 0
  CHECK(VariableIndex((i64{1} << 31) - 1).is_set());
  CHECK(VariableIndex(static_cast<std::size_t>(-1)) == VariableIndex());
}

TEST_CASE("ids: a list by id has the ids of its elements") {
  ById<NodeId, char> list;
  CHECK(list.end_id() == NodeId(0));
  CHECK_FALSE(list.contains(NodeId(0)));
  list.push_back('a');
  list.push_back('b');
  std::vector<int> seen;
  for (const NodeId i : list.ids()) seen.push_back(i.number());
  CHECK(seen == std::vector<int>{0, 1});
  CHECK(list[NodeId(1)] == 'b');
  CHECK(list.contains(NodeId(1)));
  CHECK_FALSE(list.contains(NodeId(2)));
  CHECK_FALSE(list.contains(NodeId()));
}
