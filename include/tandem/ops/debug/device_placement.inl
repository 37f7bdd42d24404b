// Definitions of ops/debug/device_placement.hpp.
#pragma once
#include <cstdio>
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/ops/debug/device_placement.hpp"

namespace TANDEM_NS::debugging {
namespace impl {

class PlacementLog final : public Observer {
 public:
  PlacementLog() { every_op = true; }
  ~PlacementLog() {
    if (active) detail::unobserve(*this);
  }
  bool active = false;
  void (*write)(const char*) = nullptr;

  void record(const Applied& a) override {
    const Device device = a.out.size() ? a.out[0].device() : a.in.size() ? a.in[0]->device() : Device{};
    std::string line = a.op.name;
    if (a.options && a.options->name) line = std::string(a.options->name.view()) + " (" + line + ")";
    line += " on " + to_string(device);
    if (write) write(line.c_str());
    else std::fprintf(stderr, "%s\n", line.c_str());
  }
  void read(const Variable&, const Tensor&) override {}
  void dropped() override { active = false; }
};

TANDEM_INLINE PlacementLog& placement_log() {
  static thread_local PlacementLog log;
  return log;
}

}  // namespace impl

TANDEM_INLINE void set_log_device_placement(bool on, void (*write)(const char* line)) {
  impl::PlacementLog& log = impl::placement_log();
  if (on == log.active) {
    log.write = write;
    return;
  }
  if (context.stager || (!on && !detail::unobserve(log)))
    errors::raise<errors::FailedPreconditionError>(
        "set_log_device_placement",
        "cannot be set while a function is traced or where ops are not recorded: set it around the calls");
  if (on) detail::observe(log);
  log.active = on;
  log.write = write;
}

}  // namespace TANDEM_NS::debugging
