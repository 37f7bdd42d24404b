// Tables in saved graphs: those that do not change come back, once for all nodes that refer to them in the file.
#include "tandem/graph/io/serialize.hpp"
#include "tandem/op_table.hpp"
#include "tandem/strings.hpp"
#include "tandem/strings_op_table.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/call_graph.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace strings_saved_tables_test {

using namespace tandem;
using testing::error_of;
using Strings = std::vector<std::string>;

const LoadOptions everything{.ops = {all_ops(), strings::all_ops()}};

template <class F>
std::string saved(const F& f, const Spec& spec) {
  return serialize(function(f).get_concrete_function(spec)->graph());
}
template <class F>
std::vector<Tensor> through_file(const F& f, const Tensor& x) {
  const Ref<Graph> g = parse_graph(saved(f, x.spec()), everything);
  verify(*g);
  return testing::call(g, {x});
}

TEST_CASE("saved tables: every dtype of keys and values comes back") {
  const Tensor words = constant({"b", "", std::string("zero\0inside", 11), "none"});
  const Tensor keys = constant({"", "b", std::string("zero\0inside", 11)});
  for (const Tensor& values : {constant({1, 2, 3}), constant({i64{1}, i64{2}, i64{3}}), constant({1.5f, 2.f, -0.f}),
                               constant({1.5, 2., 3.}), constant({true, false, true}), constant({"x", "", "y"})}) {
    const lookup::StaticHashTable table(keys, values, values(1));
    const auto f = [&](const Tensor& x) { return table(x); };
    CHECK(to_string(through_file(f, words)[0]) == to_string(f(words)));
  }
  for (const DType d : {int32, int64}) {
    const lookup::StaticHashTable table(cast(constant({-5, 7}), d), constant({"a", "b"}), constant("?"));
    const auto f = [&](const Tensor& x) { return table(x); };
    CHECK(through_file(f, cast(constant({7, 0, -5}), d))[0].to_vector<std::string>() == Strings{"b", "?", "a"});
  }
}

TEST_CASE("saved tables: buckets of unknown keys and vocabularies come back") {
  const lookup::StaticVocabularyTable table(constant({"a", "b"}), {.num_oov_buckets = 5});
  const lookup::Vocabulary vocabulary({"the", "cat"});
  const auto f = [&](const Tensor& x) {
    return std::vector<Tensor>{table(x), vocabulary.encode(x), vocabulary.decode(vocabulary.encode(x))};
  };
  const Tensor x = constant({"b", "cat", "a", "zebra"});
  const auto got = through_file(f, x);
  const auto want = f(x);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(to_string(got[i]) == to_string(want[i]));
}

TEST_CASE("saved tables: a table that several nodes use is in the file once") {
  const std::string word(1000, 'w');
  const lookup::StaticHashTable table(constant({word}), constant({1}), constant(0));
  const std::string bytes =
      saved([&](const Tensor& x) { return table(x) + table(strings::lower(x)); }, {{1}, string, {}});
  CHECK(bytes.find(word) != bytes.npos);
  CHECK(bytes.find(word) == bytes.rfind(word));
  CHECK(bytes[8] == 2);
  CHECK(testing::call(parse_graph(bytes, everything), {constant({word})})[0].item<std::int32_t>() == 2);
  CHECK(serialize(*parse_graph(bytes, everything)) == bytes);  // one table, which both refer to
}

TEST_CASE("saved tables: what a table takes of memory is that of its keys and values") {
  const auto bytes_of = [](const Tensor& keys, const Tensor& values, const Tensor& other) {
    const lookup::StaticHashTable table(keys, values, other);
    const Ref<ConcreteFunction> f =
        function([&](const Tensor& x) { return table(x); }).get_concrete_function(Spec{{1}, keys.dtype(), {}});
    for (const Node& n : f->graph().nodes)
      if (n.op == &table_find_op) return n.attrs.get<rules::TableAttrs>().table->bytes();
    return i64{0};
  };
  const i64 empty = bytes_of(zeros({0}, {.dtype = int64}), zeros({0}), constant(0.f));
  CHECK(empty > 0);
  CHECK(bytes_of(cast(range(1000), int64), zeros({1000}), constant(0.f)) >= empty + 16'000);
  const i64 text = bytes_of(constant({std::string(5000, 'k')}), constant({std::string(7000, 'v')}), constant(""));
  CHECK(text >= 12'000);
  CHECK(text < 13'000);
}

TEST_CASE("saved tables: one that may change is refused by name") {
  const lookup::MutableHashTable table(string, constant(1));
  const auto f = function([&](const Tensor& x) { return table.lookup(x); });
  const auto g = f.get_concrete_function(Spec{{2}, string, {}});
  CHECK_THAT(error_of<errors::UnimplementedError>([&] { serialize(g->graph()); }),
             ContainsSubstring("mutable_table_find") &&
                 ContainsSubstring("a mutable lookup table as 'table', which changes") &&
                 ContainsSubstring("StaticHashTable"));
}

TEST_CASE("saved tables: torn and changed bytes raise an error or give a sound graph") {
  const lookup::StaticHashTable table(constant({"k1", "k2"}), constant({1, 2}), constant(0));
  const std::string bytes = saved([&](const Tensor& x) { return table(x); }, {{1}, string, {}});
  for (std::size_t n = 0; n < bytes.size(); ++n)
    CHECK_THROWS_AS(parse_graph(std::string_view(bytes).substr(0, n), everything), errors::DataLossError);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int change : {1, 3, 0x80, 0xff}) {
      std::string torn = bytes;
      torn[i] = static_cast<char>(torn[i] ^ change);
      CAPTURE(i, change);
      try {
        verify(*parse_graph(torn, everything));
      } catch (const errors::OpError&) {  // any other exception fails the test
      }
    }
  std::string twice = bytes;
  twice[twice.find("k2") + 1] = '1';
  CHECK_THAT(error_of<errors::DataLossError>([&] { parse_graph(twice, everything); }),
             ContainsSubstring("a missing or invalid attribute 'table'"));
}

}  // namespace strings_saved_tables_test
