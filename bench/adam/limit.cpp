// Adam reads four streams and writes three of them back.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
bool add_all() {
  for (const auto& c : bench::adam::cases) {
    bench::limit::add_stream(c.name, bench::limit::Stream::update, c.total() / 128 * 128);
  }
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
