// The main function of every test program. The framework's own code is compiled here, once. Lists the skipped tests.
#define CATCH_CONFIG_RUNNER
#include "tests/support/catch.hpp"

#include <cstdio>

#if __has_include(<catch2/catch_all.hpp>)
constexpr int all_were_skipped = 4;  // the exit status of Catch2 3 in this case
#else
using TestListener = Catch::TestEventListenerBase;
constexpr int all_were_skipped = 0;
#endif

namespace {

std::size_t tests_run = 0;

struct Counter : TestListener {
  using TestListener::TestListener;
  void testCaseEnded(const Catch::TestCaseStats&) override { ++tests_run; }
};
CATCH_REGISTER_LISTENER(Counter)

// The last line makes ctest report the program as skipped (cmake/Tests.cmake); it is not printed if a test failed.
int list_skipped(int result) {
  const std::vector<std::string>& skipped = testing::skipped_tests();
  for (const std::string& test : skipped) std::printf("skipped: %s\n", test.c_str());
  if (skipped.empty()) return result;
  std::printf("skipped %zu of %zu tests\n", skipped.size(), tests_run);
  if (result != 0 && result != all_were_skipped) return result;
  if (2 * skipped.size() > tests_run) std::printf("most tests of this program were skipped\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return list_skipped(Catch::Session().run(argc, argv)); }
