// What a model takes of memory: what counts for the limit, objects such as tables, batches that no call could have.
#include "tandem/core/saved_object.hpp"
#include "tests/saved_model/models.hpp"

namespace saved_model_memory_test {

using namespace tandem;
using testing::error_of;

// An object that an op refers to, as large as 1000 bytes; how many were made of files.
int made = 0;
struct Box final : SavedObject {
  const char* kind() const override { return "box"; }
  std::vector<Tensor> parts() const override { return {constant(1.f)}; }
  bool is_fixed() const override { return true; }
  i64 bytes() const override { return 1000; }
};
void read_field(AttrReader& r, const char* name, Ref<Box>& to) {
  const Ref<Opaque> value = r.opaque(name);
  auto* const parts = dynamic_cast<ObjectParts*>(value.get());
  if (parts && !parts->made) {
    ++made;
    parts->made = Ref<Opaque>(make_ref<Box>().get());
  }
  to = Ref<Box>(dynamic_cast<Box*>(parts ? parts->made.get() : value.get()));
  if (!to) r.misfit(name);
}
struct BoxAttrs {
  Ref<Box> box;
  TANDEM_ATTRS(BoxAttrs, box);
};
Specs infer_boxed(const InferCall& c) { return Specs(c.spec(0)); }
void boxed_kernel(const KernelCall& c) {
  for (i64 i = 0; i < c.in[0].size(); ++i) c.out[0].as<float>()[i] = c.in[0].as<const float>()[i] + 1;
}
constexpr OpDef boxed_op{.name = "boxed",
                         .infer = &infer_boxed,
                         .cpu = &boxed_kernel,
                         .flags = {.non_differentiable = true},
                         .attrs = &detail::attr_type<BoxAttrs>};
const std::vector<const OpDef*> with_boxed{&boxed_op};

TEST_CASE("saved model memory: an object that several nodes refer to is made and counted once in a graph") {
  const testing::TemporaryFolder folder;
  const auto box = make_ref<Box>();
  const auto boxed = [&](const Tensor& x) { return apply1(boxed_op, BoxAttrs{box}, {}, x); };
  const auto twice = function([&](const Tensor& x) { return boxed(boxed(x)); });
  const saved_model::Signature s = saved_model::predict(twice, {{"x", {{1}, float32}}}, {"y"});
  saved_model::save(folder / "m/1", {{"f", s}, {"g", s}});
  made = 0;
  const saved_model::Loaded m = saved_model::load(folder / "m/1", {.ops = with_boxed});
  CHECK(made == 2);  // each graph has its own
  CHECK(m.bytes() == 2000);
  CHECK(m("g", {{"x", constant({5.f})}}).at("y").item<float>() == 7);
  CHECK_NOTHROW(saved_model::load(folder / "m/1", {.ops = with_boxed, .memory_limit = 2000}));
  CHECK_THAT(error_of<errors::ResourceExhaustedError>(
                 [&] { saved_model::load(folder / "m/1", {.ops = with_boxed, .memory_limit = 1999}); }),
             ContainsSubstring("takes 2000 bytes, above the limit of 1999"));
}

TEST_CASE("saved model memory: the limit ends the reading of graphs, and not after the last one") {
  const testing::TemporaryFolder folder;
  const auto box = make_ref<Box>();
  const auto f = function([&](const Tensor& x) { return apply1(boxed_op, BoxAttrs{box}, {}, x); });
  const saved_model::Signature s = saved_model::predict(f, {{"x", {{1}, float32}}});
  saved_model::Signatures many;
  for (int i = 0; i < 10; ++i) many.emplace_back("f" + std::to_string(i), s);
  saved_model::save(folder / "m/1", many);
  made = 0;
  CHECK_THROWS_AS(saved_model::load(folder / "m/1", {.ops = with_boxed, .memory_limit = 3500}),
                  errors::ResourceExhaustedError);
  CHECK(made == 4);
}

TEST_CASE("saved model memory: assets and requests of warm-up do not count") {
  const testing::TemporaryFolder folder;
  const std::string big(100'000, 'x');
  testing::HalfPlusTwo().save(folder / "m/1", {.assets = {{"a", folder.file("a", big)}}, .warmup = {big}});
  CHECK(saved_model::load(folder / "m/1", {.memory_limit = 10'000}).bytes() == 8);
}

TEST_CASE("saved model memory: a batch that no call could have is refused") {
  const testing::TemporaryFolder folder;
  testing::HalfPlusTwo().save(folder / "m/1");
  const saved_model::Loaded m = saved_model::load(folder / "m/1");
  CHECK(m.memory_for(0) >= 8);
  const auto error = [&](i64 batch) {
    return error_of<errors::InvalidArgumentError>([&] { (void)m.memory_for(batch); });
  };
  CHECK_THAT(error(-1), ContainsSubstring("a batch of -1 rows"));
  CHECK_THAT(error(none), ContainsSubstring("rows"));
  CHECK_THAT(error(INT64_MAX), ContainsSubstring("9223372036854775807 rows") && ContainsSubstring("'serving_default'"));
  const auto outer = function([](const Tensor& x) { return reduce_sum(matmul(x, ones({1, 1 << 22})), {.axis = 1}); });
  saved_model::save(folder / "m/2", {{"outer", saved_model::predict(outer, {{"x", {{none, 1}, float32}}})}});
  const saved_model::Loaded large = saved_model::load(folder / "m/2");
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { (void)large.memory_for(i64{1} << 40); }),
             ContainsSubstring("float32[1099511627776,4194304]"));
}

}  // namespace saved_model_memory_test
