// Static objects that hold tensors, Variables and functions may outlive main().
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

struct State {
  std::vector<Tensor> tensors;
  std::vector<Variable> variables;
  Tensor leaked;
  bool is_used_after_main = false;
  ~State() {
    if (!is_used_after_main) return;
    if ((tensors[0] + variables[0]).to_vector<float>()[0] != 3) std::_Exit(3);
    std::_Exit(7);
  }
};
State state;
Tensor plain;

}  // namespace

TEST_CASE("exit: tensors, Variables and functions with static storage") {
  for (const bool used : {true, false}) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      static const auto f = function([](const Tensor& x) { return state.leaked = x * 2.f; });
      plain = ones({100000});
      state.tensors = {f(ones({1})), plain, constant({"text"})};
      state.variables.emplace_back(ones({1}));
      state.is_used_after_main = used;
      std::exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == (used ? 7 : 0));
  }
}
