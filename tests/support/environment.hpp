// What a run of the tests is told by environment variables: TANDEM_RANDOM_SEED, the first random program's seed, and
// TANDEM_RANDOM_PROGRAMS, how many there are of each kind.
#pragma once
#include <cstdint>
#include <cstdlib>

namespace testing {

inline std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace testing
