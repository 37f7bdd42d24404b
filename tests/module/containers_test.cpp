// Layers that a Model refers to without having them as children: refused at their first call, with no false alarm.
#include <memory>
#include <optional>
#include <vector>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;

namespace {

const Tensor x = constant({{1.f, 2.f}, {-1.f, .5f}});

struct Stack : Model<Stack> {
  explicit Stack(bool adds) {
    for (int i = 0; i < 3; ++i) list.emplace_back(2);
    if (adds)
      for (const layers::Dense& d : list) add_module(d);
  }
  Tensor operator()(const Tensor& t) const {
    Tensor y = first(t);
    for (const layers::Dense& d : list) y = d(y);
    return y;
  }
  layers::Dense first{2};
  std::vector<layers::Dense> list;
};
template <class Pointer>
struct Pointing : Model<Pointing<Pointer>> {
  explicit Pointing(Pointer p, bool adds = false) : layer(std::move(p)) {
    if (adds) this->add_module("own", *layer);
  }
  Tensor operator()(const Tensor& t) const { return (*layer)(t); }
  Pointer layer;
};
struct Inner : Model<Inner> {
  layers::Dense dense{3};
  Tensor operator()(const Tensor& t) const { return dense(t); }
};

void check_refused(const auto& model, const char* name, const Tensor& t = x) {
  CHECK_THROWS_AS(model(t), errors::FailedPreconditionError);
  CHECK_THROWS_WITH(model(t), ContainsSubstring(name) && ContainsSubstring("add_module("));
  CHECK(model.variables().size() <= 2);  // nothing was made for it
}

}  // namespace

TEST_CASE("a layer in a container of a Model: refused at its first call, or registered by add_module") {
  check_refused(Stack(false), "dense: this layer would not be trained or saved with 'stack'");
  const Stack good(true);
  good(x);
  CHECK(good.trainable_variables().size() == 8);
}

TEST_CASE("a copy of a layer in a container of a Model, and a Model in a lambda: refused as well") {
  struct ByValue : Model<ByValue> {
    std::vector<layers::Dense> list{layers::Dense(2), layers::Dense(2)};
    Tensor operator()(const Tensor& t) const {
      Tensor y = t;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const auto d = list[i];
        y = d(y);
      }
      return y;
    }
  };
  check_refused(ByValue(), "'by_value'");
  [] {
    struct InLambda : Model<InLambda> {
      std::vector<layers::Dense> list{layers::Dense(2)};
      Tensor operator()(const Tensor& t) const { return list[0](t); }
    };
    check_refused(InLambda(), "'in_lambda'");
  }();
  // A copy of a layer that a Model has as its member.
  const Inner inner;
  const layers::Dense copy = inner.dense;
  CHECK_NOTHROW(copy(x));
}

TEST_CASE("a layer behind a pointer in a Model: refused at its first call, or registered by add_module") {
  using Unique = std::unique_ptr<layers::Dense>;
  using Shared = std::shared_ptr<layers::Dense>;
  check_refused(Pointing<Unique>(std::make_unique<layers::Dense>(3)), "'pointing'");
  check_refused(Pointing<Shared>(std::make_shared<layers::Dense>(3)), "'pointing'");
  check_refused(Pointing(std::make_unique<layers::LSTM>(3)), "'pointing'", ones({1, 2, 3}));
  const Pointing<Unique> good(std::make_unique<layers::Dense>(3), true);
  good(x);
  CHECK(good.variables().size() == 2);
  CHECK(good.named_variables()[0].path == "own/kernel");
  // One that has its Variables from the beginning.
  struct Words : Model<Words> {
    std::unique_ptr<layers::Embedding> table = std::make_unique<layers::Embedding>(5, 2);
    Tensor operator()(const Tensor& ids) const { return (*table)(ids); }
  };
  const Words words;
  for (int call = 0; call < 3; ++call)
    CHECK_THROWS_WITH(words(constant({1})), ContainsSubstring("with 'words', which holds it"));
  // Of a Sequential, the layers inside.
  using Several = std::unique_ptr<layers::Sequential>;
  const auto several = [] {
    return std::make_unique<layers::Sequential>(layers::Dense(3), layers::Dropout(.5), layers::Dense(1));
  };
  check_refused(Pointing<Several>(several()), "sequential: this layer would not");
  const Pointing<Several> all(several(), true);
  all(x);
  CHECK(all.variables().size() == 4);
}

TEST_CASE("layers outside of Models raise no alarm") {
  const Stack model(true);  // there are Models
  const Inner owner;
  // Locals, in containers too, and on the heap.
  layers::Dense local(3);
  std::vector<layers::Dense> list{layers::Dense(2), layers::Dense(2)};
  const auto heap = std::make_unique<layers::Dense>(2);
  std::optional<layers::Dense> maybe{3};
  CHECK_NOTHROW((local(x), list[0](x), list[1](x), (*heap)(x), (*maybe)(x)));
  // A copy on the heap of a Model's member, and of a local.
  const Pointing copy(std::make_unique<layers::Dense>(owner.dense));
  CHECK_NOTHROW(copy(x));
  CHECK(owner.variables().size() == 2);
  // A local that a Model refers to, and a layer of another Model.
  const layers::Dense other(4);
  CHECK_NOTHROW(Pointing<const layers::Dense*>(&other)(x));
  const auto shared = std::make_unique<Inner>();
  CHECK_NOTHROW(Pointing<const layers::Dense*>(&shared->dense)(x));
  // A layer that had its Variables before.
  const auto built = std::make_unique<layers::Dense>(2);
  (*built)(x);
  CHECK_NOTHROW(Pointing<const layers::Dense*>(built.get())(x));
  // A layer of a plain Module.
  struct Plain : Module {
    Plain() { add_module("d", *layer); }
    std::unique_ptr<layers::Dense> layer = std::make_unique<layers::Dense>(3);
  };
  const Plain plain;
  CHECK_NOTHROW(Pointing<const layers::Dense*>(plain.layer.get())(x));
}
