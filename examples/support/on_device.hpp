// For programs that compute on the device of their options (--device).
#pragma once
#include <tandem/tensor.hpp>

#include "examples/support/program.hpp"

namespace program {

/// Reads the arguments and runs f(o) in the scope of tandem::device(o.device): its tensors are made there.
template <class O, class F>
int run(const char* name, CLI::App& app, int argc, char** argv, const O& o, const F& f) {
  return run(name, app, argc, argv, [&] {
    const auto scope = tandem::device(o.device);
    return f(o);
  });
}

}  // namespace program
