// The test framework: Catch2 version 2 or 3, whichever is installed, under the names of version 3; and skipped
// tests, which main.cpp lists. Not here: helpers that use tensors, which are in the other files of this folder.
#pragma once
#include <string>
#include <vector>

namespace testing {
/// "name: reason" of each test that was skipped.
inline std::vector<std::string>& skipped_tests() {
  static std::vector<std::string> list;
  return list;
}
}  // namespace testing

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#define TANDEM_LEAVE_SKIPPED(reason) SKIP(reason)
#else
#include <catch2/catch.hpp>
namespace Catch {
using Detail::Approx;
namespace Matchers {
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Matchers
}  // namespace Catch
#define TANDEM_LEAVE_SKIPPED(reason) return
#endif

/// Exits the test; main.cpp then lists it as skipped.
#define TANDEM_SKIP(reason)                                                                                            \
  do {                                                                                                                 \
    testing::skipped_tests().push_back(Catch::getResultCapture().getCurrentTestName() + (": " + std::string(reason))); \
    TANDEM_LEAVE_SKIPPED(reason);                                                                                      \
  } while (false)

using Catch::Matchers::ContainsSubstring;
