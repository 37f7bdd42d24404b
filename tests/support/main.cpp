// The main function of every test program. The framework's own code is compiled here, once. Lists the skipped tests,
// also in the file that TANDEM_SKIPPED names, from which ./dev test makes its summary.
#define CATCH_CONFIG_RUNNER
#include "tests/support/catch.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#if __has_include(<catch2/catch_all.hpp>)
constexpr int all_were_skipped = 4;  // the exit status of Catch2 3 in this case
using Listener = Catch::EventListenerBase;
#else
constexpr int all_were_skipped = 0;
using Listener = Catch::TestEventListenerBase;
#endif

namespace {

std::size_t started = 0;  // test cases

struct Started : Listener {
  using Listener::Listener;
  void testCaseStarting(const Catch::TestCaseInfo&) override { ++started; }
};
CATCH_REGISTER_LISTENER(Started)

// The last line makes ctest report the program as skipped (cmake/Tests.cmake): printed if no test ran.
int list_skipped(int result) {
  const std::vector<std::string>& skipped = testing::skipped_tests();
  if (skipped.empty()) return result;
  const char* file = std::getenv("TANDEM_SKIPPED");
  std::ofstream list(file ? file : "");
  for (const std::string& test : skipped) {
    std::printf("skipped: %s\n", test.c_str());
    list << test << "\n";
  }
  if ((result != 0 && result != all_were_skipped) || skipped.size() < started) return result;
  std::printf("all %zu tests of this program were skipped\n", skipped.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return list_skipped(Catch::Session().run(argc, argv)); }
