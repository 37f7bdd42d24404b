// Environment variables that configure a test run: TANDEM_RANDOM_SEED, the seed of the first random program, and
// TANDEM_RANDOM_PROGRAMS, the number of programs of each kind; TANDEM_FAULTS, the number of allocations of a call that
// fail, one after the other (tests/allocations/fail_each.hpp); TANDEM_HOSTILE_STRIDE, of how many edits of graph files
// one is tried; TANDEM_SWAP_SECONDS, how long versions of a served model change (tests/serving_grpc/swap_test.cpp).
#pragma once
#include <cstdint>
#include <cstdlib>

namespace testing {

inline std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace testing
