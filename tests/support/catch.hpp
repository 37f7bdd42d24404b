// The test framework: Catch2 version 2 or 3, whichever the machine has, under version 3's names.
// Not here: helpers that know tensors; those stand beside this file.
#pragma once
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#define TANDEM_SKIP(reason) SKIP(reason)
#else
#include <catch2/catch.hpp>
namespace Catch {
using Detail::Approx;
namespace Matchers {
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Matchers
}  // namespace Catch
#define TANDEM_SKIP(reason)      \
  do {                           \
    WARN("skipped: " << reason); \
    return;                      \
  } while (false)
#endif

using Catch::Matchers::ContainsSubstring;
