// Lone: the transport of a group of one rank. Part of the component tandem::distribute. For its definitions.
#pragma once
#include <cstring>

#include "tandem/distribute/transport.hpp"

namespace TANDEM_NS::distribute::impl {

/// Every operation is a copy of the input.
class Lone final : public Transport {
 public:
  const char* kind() const override { return "none"; }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string node() const override { return "localhost"; }
  std::unique_ptr<Pending> start(const Collective& c) override {
    if (c.input && c.input != c.output && c.count)
      std::memcpy(c.output, c.input, static_cast<std::size_t>(c.count) * size_of(c.dtype));
    return std::make_unique<Ended>();
  }
  std::unique_ptr<Transport> split(int, int) override { return std::make_unique<Lone>(); }
  void abort() noexcept override {}

 private:
  struct Ended final : Pending {
    bool wait(double) override { return true; }
  };
};

}  // namespace TANDEM_NS::distribute::impl
