// Module::add_variables: all of them are added, or nothing has changed.
#include "tandem/module/model.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace add_variables_test {
namespace {

struct Net : Model<Net> {
  Variable w{1.f, {.name = "first"}}, v{2.f, {.name = "second"}};
  using Module::add_variables;
};
std::vector<std::string> names(const Net& net) {
  std::vector<std::string> r;
  for (const Module::Named& n : net.named_variables()) r.push_back(n.path);
  return r;
}

}  // namespace

TEST_CASE("add_variables: an error half way leaves members their names") {
  const Net net;
  const std::vector<std::string> before{"first", "second"};
  REQUIRE(names(net) == before);
  const Variable other(3.f);
  const auto add = [&](const char* a, const char* b, const char* c) {
    net.add_variables({{.path = a, .variable = net.w}, {.path = b, .variable = net.v}, {.path = c, .variable = other}});
  };
  CHECK_THROWS_AS(add("kernel", "bias", "kernel"), errors::AlreadyExistsError);
  CHECK(names(net) == before);
  CHECK_THROWS_AS(add("kernel", "first", "first"), errors::AlreadyExistsError);  // a name that has become free
  CHECK(names(net) == before);
  CHECK_THROWS_AS(net.add_variables({{.path = "kernel", .variable = other}, {.path = "kernel", .variable = other}}),
                  errors::AlreadyExistsError);
  CHECK(names(net) == before);
  CHECK(net.variables()[0].is_same(net.w));
  // All names of the calls that have failed are free.
  add("kernel", "first", "bias");
  CHECK(names(net) == std::vector<std::string>{"kernel", "first", "bias"});
  CHECK_THROWS_AS(net.add_variables({{.path = "bias", .variable = Variable(4.f)}}), errors::AlreadyExistsError);
  net.add_variables({{.path = "second", .variable = Variable(4.f)}});
  CHECK(names(net).back() == "second");
}

}  // namespace add_variables_test
