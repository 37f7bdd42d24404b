// What layers learn by adapt() in checkpoints, copies and clones: vocabularies and boundaries.
#include <filesystem>
#include <random>

#include "tandem/tandem.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/train/string_lookup.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats;
using train::Checkpoint;

namespace {

using Ints = std::vector<i64>;
struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tandem_asset_" + std::to_string(std::random_device()()))).string();
  ~File() { std::filesystem::remove(path); }
};
const Tensor ids = constant({{12, 1138, 42}, {42, 1000, 36}});
const Tensor numbers = constant({{-1.5f, 1.f, 3.4f, .5f}, {0.f, 3.f, 1.3f, 0.f}});

struct Net : Model<Net> {
  layers::IntegerLookup lookup;
  layers::Discretization bins{{.num_bins = 4}};
  layers::Dense out{2};
  Tensor operator()(const Tensor& i, const Tensor& x) const {
    return out(concat({cast(lookup(i), float32), cast(bins(x), float32)}, 1));
  }
};
Net adapted() {
  const Net net;
  net.lookup.adapt(ids);
  net.bins.adapt(numbers);
  net(ids, numbers);
  return net;
}

}  // namespace

TEST_CASE("a checkpoint has vocabularies and boundaries: restored before and after the first call") {
  const File file;
  const Net saved = adapted();
  Checkpoint({{"net", saved}}).save(file.path);
  const io::Safetensors content = io::load_safetensors(file.path);
  CHECK(content.at("net/integer_lookup/vocabulary").to_vector<i64>() == Ints{42, 1138, 1000, 36, 12});
  CHECK(content.at("net/discretization/bin_boundaries").dtype() == float64);
  const Net fresh;
  Checkpoint({{"net", fresh}}).restore(file.path);
  CHECK(fresh.lookup.get_vocabulary() == Ints{-1, 42, 1138, 1000, 36, 12});
  CHECK(fresh.bins.bin_boundaries() == saved.bins.bin_boundaries());
  CHECK(floats(fresh(ids, numbers)) == floats(saved(ids, numbers)));
  const Net other;
  other.lookup.adapt(constant({7, 7, 8}));
  other.bins.adapt(numbers * 10.f);
  other(ids, numbers);
  const layers::IntegerLookup copy = other.lookup;
  Checkpoint({{"net", other}}).restore(file.path);
  CHECK(floats(other(ids, numbers)) == floats(saved(ids, numbers)));
  CHECK(copy.get_vocabulary() == saved.lookup.get_vocabulary());
}

TEST_CASE("a layer alone is a checkpoint, once it has learned something") {
  const File file;
  const layers::IntegerLookup a, b;
  CHECK_THROWS_WITH(Checkpoint({{"lookup", a}}).save(file.path),
                    ContainsSubstring("'lookup' has no Variables yet") && ContainsSubstring("adapt()"));
  a.adapt(ids);
  Checkpoint({{"lookup", a}}).save(file.path);
  Checkpoint({{"lookup", b}}).restore(file.path);
  CHECK(b.get_vocabulary() == a.get_vocabulary());
}

TEST_CASE("a file that does not fit what layers have or can learn is refused, and nothing changes") {
  const File file;
  const Net saved = adapted();
  Checkpoint({{"net", saved}}).save(file.path);
  const auto refuses = [&](const Module& layer, const char* name, const std::string& why) {
    CHECK_THROWS_WITH(Checkpoint({{name, layer}}).restore(file.path, {.partial = true}), ContainsSubstring(why));
  };
  const char* const lookup = "net/integer_lookup";
  const char* const bins = "net/discretization";
  refuses(layers::IntegerLookup({.max_tokens = 3}), lookup, "net/integer_lookup/vocabulary: IntegerLookup: the vocab");
  refuses(layers::IntegerLookup({42, 7, 8}), lookup, "it was given 7 at 1, the file 1138");
  refuses(layers::IntegerLookup({42, 1138}), lookup, "it was given 2 entries, the file 5");
  refuses(layers::Discretization({.num_bins = 3}), bins, ".num_bins = 3, the file has 3 boundaries");
  refuses(layers::Discretization({0., .75, 1.3}), bins, "it was given 0.75 at 1, the file 0.5");
  CHECK_NOTHROW(
      Checkpoint({{lookup, layers::IntegerLookup({42, 1138, 1000, 36, 12})}}).restore(file.path, {.partial = true}));
  const Net wider = adapted();
  wider.lookup.adapt(constant({5}));
  wider.out(zeros({1, 7}));
  struct Other : Model<Other> {
    layers::IntegerLookup lookup = layers::IntegerLookup({.max_tokens = 2});
    layers::Dense out{2};
  } other;
  other.out(zeros({1, 7}));
  const Floats before = floats(other.out.variables()[0]);
  CHECK_THROWS_AS(Checkpoint({{"net", other}}).restore(file.path, {.partial = true}), errors::InvalidArgumentError);
  CHECK(floats(other.out.variables()[0]) == before);
}

TEST_CASE("a file without the vocabulary, with a damaged one, or with one that nobody wants") {
  const File file;
  const auto save = [&](const Tensor& vocabulary) {
    io::save_safetensors(file.path, {{"lookup/vocabulary", vocabulary}});
  };
  const layers::IntegerLookup lookup, given({1, 2});
  lookup.adapt(ids);
  const Checkpoint checkpoint({{"lookup", lookup}});
  const auto refuses = [&](const std::string& why) {
    CHECK_THROWS_WITH(checkpoint.restore(file.path), ContainsSubstring("lookup/vocabulary") && ContainsSubstring(why));
  };
  save(constant({1.f}));
  refuses("needs a list of int64, the file has float32[1]");
  save(constant({{i64(1)}}));
  refuses("needs a list of int64");
  save(constant({i64(3), i64(3)}));
  refuses("3 twice");
  save(zeros({0}, int64));
  refuses("empty");
  io::save_safetensors(file.path, {{"lookup/other", constant({1.f})}});
  CHECK_THROWS_WITH(checkpoint.restore(file.path), ContainsSubstring("lookup/vocabulary int64[5] is missing") &&
                                                       ContainsSubstring("lookup/other float32[1] is only in"));
  CHECK(lookup.get_vocabulary() == Ints{-1, 42, 1138, 1000, 36, 12});
  CHECK_NOTHROW(Checkpoint({{"lookup", given}}).restore(file.path, {.partial = true}));
  const layers::Discretization bins({.num_bins = 9});
  io::save_safetensors(file.path, {{"bins/bin_boundaries", constant({2., 1.}, float64)}});
  CHECK_THROWS_WITH(Checkpoint({{"bins", bins}}).restore(file.path), ContainsSubstring("not sorted"));
  struct Plain : Model<Plain> {
    layers::Dense d{1};
  } plain;
  plain.d(zeros({1, 1}));
  io::save_safetensors(file.path, {{"p/dense/kernel", zeros({1, 1})},
                                   {"p/dense/bias", zeros({1})},
                                   {"p/integer_lookup/vocabulary", constant({i64(1)})}});
  CHECK_THROWS_WITH(Checkpoint({{"p", plain}}).restore(file.path), ContainsSubstring("vocabulary int64[1] is only in"));
}

TEST_CASE("a clone learns for itself, a copy with the original") {
  const Net net = adapted(), copy = net, clone = net.clone();
  net.lookup.adapt(constant({7, 7, 8}));
  net.bins.adapt(numbers * 10.f);
  CHECK(copy.lookup.get_vocabulary() == Ints{-1, 7, 8});
  CHECK(clone.lookup.get_vocabulary() == Ints{-1, 42, 1138, 1000, 36, 12});
  CHECK(clone.bins.bin_boundaries()[2] == Approx(1.3));
}

TEST_CASE("save_weights and load_weights: names without a prefix, before and after the first call") {
  const File file;
  const Net saved = adapted(), fresh, built = adapted();
  CHECK_THROWS_WITH(train::save_weights(fresh, file.path), ContainsSubstring("the module has no Variables yet"));
  train::save_weights(saved, file.path);
  CHECK(io::load_safetensors(file.path).at("dense/kernel").shape() == Shape{7, 2});
  train::load_weights(fresh, file.path);
  CHECK(floats(fresh(ids, numbers)) == floats(saved(ids, numbers)));
  train::load_weights(built, file.path);
  CHECK(floats(built(ids, numbers)) == floats(saved(ids, numbers)));
  const layers::Dense alone(2), wrong(3);
  alone(zeros({1, 2})), wrong(zeros({1, 2}));
  train::save_weights(alone, file.path);
  CHECK_THROWS_WITH(train::load_weights(wrong, file.path),
                    ContainsSubstring("kernel is float32[2,3], in the file float32[2,2]"));
  CHECK_THROWS_WITH(train::load_weights(saved, file.path), ContainsSubstring("dense/kernel float32[7,2] is missing"));
}

TEST_CASE("Variables of strings are saved, too") {
  const File file;
  const std::vector<std::string> names{"", "a\nb", "\xff", "c"};
  const Variable a(constant(names, {.shape = Shape{2, 2}})),
      b(constant(std::vector<std::string>(4), {.shape = {2, 2}}));
  const Variable other(constant(std::vector<std::string>(4)));
  Checkpoint({{"names", a}}).save(file.path);
  CHECK(io::load_safetensors(file.path).at("names.lengths").to_vector<i64>() == Ints{0, 3, 1, 1});
  Checkpoint({{"names", b}}).restore(file.path);
  CHECK(b.to_vector<std::string>() == names);
  const Variable empty(constant(std::vector<std::string>(3))), nothing(zeros({0, 2}, DType::string));
  Checkpoint({{"empty", empty}, {"nothing", nothing}}).save(file.path);
  CHECK_NOTHROW(Checkpoint({{"empty", empty}, {"nothing", nothing}}).restore(file.path));
  CHECK(empty.to_vector<std::string>() == std::vector<std::string>(3));
  Checkpoint({{"names", a}}).save(file.path);
  CHECK_THROWS_WITH(Checkpoint({{"names", other}}).restore(file.path),
                    ContainsSubstring("names is string[4], in the file string[2,2]"));
  io::save_safetensors(file.path,
                       {{"names", constant(std::vector<std::uint8_t>{1, 2})},
                        {"names.lengths", constant({i64(1), i64(5), i64(0), i64(0)}, {.shape = Shape{2, 2}})}});
  CHECK_THROWS_WITH(Checkpoint({{"names", b}}).restore(file.path, {.partial = true}),
                    ContainsSubstring("names is string[2,2], in the file uint8[2]"));
}

TEST_CASE("a traced function sees the vocabulary that a checkpoint restores; the same one is not traced again") {
  const File file;
  const Net saved = adapted();
  Checkpoint({{"net", saved}}).save(file.path);
  const auto f = function([&](const Tensor& x) { return saved.lookup(x); });
  const Ints want = f(ids).to_vector<i64>();
  Checkpoint({{"net", saved}}).restore(file.path);
  CHECK(f(ids).to_vector<i64>() == want);
  CHECK(f.trace_count() == 1);
  const Net other;
  other.lookup.adapt(constant({12, 12, 1, 2, 3, 4}));
  other.bins.adapt(numbers);
  other(ids, numbers);
  const auto g = function([&](const Tensor& x) { return other.lookup(x); });
  CHECK(g(ids).to_vector<i64>() != want);
  Checkpoint({{"net", other}}).restore(file.path);
  CHECK(g(ids).to_vector<i64>() == want);
  CHECK(g.trace_count() == 2);
}

#if TANDEM_WITH_STRINGS
TEST_CASE("MutableHashTable: its keys and values are in checkpoints, and traced functions see what is restored") {
  using Words = std::vector<std::string>;
  const File file;
  const lookup::MutableHashTable table(string, constant(-1)), other(string, constant(-2));
  table.insert(constant(Words{"b", "", "a\n"}), constant({2, 0, 1}));
  other.insert(constant("x"), constant(7));
  const Checkpoint from({{"counts", table}}), to({{"counts", other}});
  from.save(file.path);
  const io::Safetensors content = io::load_safetensors(file.path);
  CHECK(content.at("counts/table.values").to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 1, 2});
  CHECK(content.at("counts/table.keys.lengths").to_vector<i64>() == Ints{0, 2, 1});
  const Tensor keys = constant(Words{"a\n", "b", "", "x"});
  const auto f = function([&](const Tensor& t) { return other.lookup(t); });
  CHECK(f(keys).to_vector<std::int32_t>() == std::vector<std::int32_t>{-2, -2, -2, 7});
  CHECK(to.restore(file.path).restored == Words{"counts/table"});
  CHECK(f(keys).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 2, 0, -2});
  CHECK(f.trace_count() == 1);
  CHECK(other.export_values().first.to_vector<std::string>() == Words{"", "a\n", "b"});
  other.insert(constant("y"), constant(9));  // it is no copy of what was read
  CHECK((other.size() == 4 && table.size() == 3));
  const lookup::MutableHashTable empty(int64, constant(Words{"none"}));
  Checkpoint({{"counts", empty}}).save(file.path);
  empty.insert(constant({i64(1)}), constant(Words{"one"}));
  Checkpoint({{"counts", empty}}).restore(file.path);
  CHECK(empty.size() == 0);
  CHECK_THROWS_WITH(to.restore(file.path),
                    ContainsSubstring("counts/table: MutableHashTable: needs as many string keys as int32 values, the "
                                      "file has int64[0] and string[0]"));
  io::save_safetensors(
      file.path, {{"counts/table.keys", constant({i64(1), i64(1)})}, {"counts/table.values", constant({1.f, 2.f})}});
  const lookup::MutableHashTable numbers_only(int64, constant(0.f));
  CHECK_THROWS_WITH(Checkpoint({{"counts", numbers_only}}).restore(file.path), ContainsSubstring("a key twice"));
  io::save_safetensors(file.path, {{"counts/table.keys", constant({i64(1)})}});
  CHECK_THROWS_WITH(Checkpoint({{"counts", numbers_only}}).restore(file.path),
                    ContainsSubstring("counts/table.values float32[0] is missing"));
  CHECK(other.size() == 4);
}
TEST_CASE("MutableHashTable: a member of a Model is saved with it, and a clone has its own") {
  const File file;
  struct Counter : Model<Counter> {
    lookup::MutableHashTable seen{int64, constant(0)};
    layers::Dense out{1};
  };
  const Counter saved, fresh;
  saved.out(zeros({1, 1})), fresh.out(zeros({1, 1}));
  const Tensor key = constant({i64(5)});
  saved.seen.insert(key, constant({3}));
  train::save_weights(saved, file.path);
  CHECK(io::load_safetensors(file.path).at("mutable_hash_table/table.keys").to_vector<i64>() == Ints{5});
  train::load_weights(fresh, file.path);
  CHECK(fresh.seen.lookup(key).item<std::int32_t>() == 3);
  const Counter clone = saved.clone(), copy = saved;
  saved.seen.insert(key, constant({4}));
  CHECK(clone.seen.lookup(key).item<std::int32_t>() == 3);
  CHECK(copy.seen.lookup(key).item<std::int32_t>() == 4);
}
TEST_CASE("TextVectorization: a checkpoint and a file of weights have the vocabulary and the weights") {
  using Words = std::vector<std::string>;
  const Tensor data = constant(Words{"a b a", "b", "d d \xc3\xa4\nx"}), unseen = constant(Words{"a z", "", "d b"});
  const auto make = [](layers::TextOutput mode) {
    return layers::Sequential{layers::TextVectorization({.output_mode = mode})};
  };
  for (const auto mode : {layers::TextOutput::integer, layers::TextOutput::count, layers::TextOutput::tf_idf}) {
    const File checkpoint, weights;
    const layers::TextVectorization text({.output_mode = mode});
    text.adapt(data);
    const layers::Sequential saved{text};
    const layers::Sequential restored = make(mode), loaded = make(mode);
    Checkpoint({{"net", saved}}).save(checkpoint.path);
    Checkpoint({{"net", restored}}).restore(checkpoint.path);
    train::save_weights(saved, weights.path);
    train::load_weights(loaded, weights.path);
    for (const Tensor& x : {data, unseen})
      for (const layers::Sequential& net : {restored, loaded}) {
        const Tensor want = saved(x), got = net(x);
        CHECK(got.shape() == want.shape());
        CHECK(cast(got, float64).to_vector<double>() == cast(want, float64).to_vector<double>());
      }
    if (mode == layers::TextOutput::tf_idf)
      CHECK(io::load_safetensors(checkpoint.path).at("net/text_vectorization/idf_weights").dtype() == float64);
    // A vocabulary that was given with its special tokens is that of the file.
    if (mode != layers::TextOutput::tf_idf)
      CHECK_NOTHROW(Checkpoint({{"net", layers::Sequential{layers::TextVectorization(text.get_vocabulary(),
                                                                                     {.output_mode = mode})}}})
                        .restore(checkpoint.path));
    CHECK_THROWS_WITH(Checkpoint({{"net", layers::Sequential{layers::TextVectorization({"q"})}}})
                          .restore(checkpoint.path, {.partial = true}),
                      ContainsSubstring("it was given"));
  }
}
TEST_CASE("StringLookup: its vocabulary is in checkpoints, and in clones") {
  using Words = std::vector<std::string>;
  const Tensor data = constant(Words{"a", "c", "", "d d", "d d", "\xc3\xa4\n"});
  const File file;
  struct Reader : Model<Reader> {
    layers::StringLookup lookup, back;
    layers::Embedding embedding{8, 2};
    Reader() : back({.invert = true}) {}
    Tensor operator()(const Tensor& words) const { return embedding(lookup(words)); }
  };
  const Reader saved, fresh;
  saved.lookup.adapt(data);
  saved.back.adapt(data);
  const Tensor want = saved(data);
  Checkpoint({{"reader", saved}}).save(file.path);
  CHECK(io::load_safetensors(file.path).at("reader/string_lookup/vocabulary").dtype() == uint8);
  Checkpoint({{"reader", fresh}}).restore(file.path);
  CHECK(fresh.lookup.get_vocabulary() == saved.lookup.get_vocabulary());
  CHECK(floats(fresh(data)) == floats(want));
  CHECK(fresh.back(fresh.lookup(data)).to_vector<std::string>() == data.to_vector<std::string>());
  const Reader clone = fresh.clone();
  fresh.lookup.adapt(constant(Words{"x"}));
  CHECK(clone.lookup.get_vocabulary() == saved.lookup.get_vocabulary());
  const auto refuses = [&](const layers::StringLookup& layer, const std::string& why) {
    CHECK_THROWS_WITH(Checkpoint({{"reader/string_lookup", layer}}).restore(file.path, {.partial = true}),
                      ContainsSubstring(why));
  };
  refuses(layers::StringLookup({"d d", "b"}), "reader/string_lookup/vocabulary: StringLookup: it was given \"b\" at 1");
  refuses(layers::StringLookup({.max_tokens = 4}), "max_tokens = 4");
  io::save_safetensors(file.path, {{"l/vocabulary", constant({i64(1)})}});
  const layers::StringLookup lookup;
  CHECK_THROWS_WITH(Checkpoint({{"l", lookup}}).restore(file.path),
                    ContainsSubstring("needs a list of string, the file has int64[1]"));
}
#endif
