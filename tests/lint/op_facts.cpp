// Prints what the op table and the components' lists know about each op, one line per op: name|dtypes|gradient|names of
// the inputs. For op_reference.py.
#include <cstdio>

#include "tests/support/tested_ops.hpp"

namespace {

using namespace tandem;

std::string dtypes_text(DTypes d) {
  struct Group {
    DTypes dtypes;
    const char* name;
  };
  constexpr Group groups[] = {
      {dtypes::floating, "float32, float64"}, {dtypes::integer, "integers"},
      {dtypes::index, "int32, int64"},        {dtypes::complex | DType::complex128, "complex64, complex128"},
      {dtypes::complex, "complex64"},         {dtypes::boolean, "bool_"},
      {dtypes_of(DType::string), "string"}};
  if (d.bits == dtypes::all.bits) return "all";
  std::string r;
  const auto add = [&](const char* name) { (r += r.empty() ? "" : ", ") += name; };
  DTypes left = d;
  left.bits &= ~dtypes::half_floating.bits;  // supported wherever float32 is
  for (const Group& g : groups)
    if ((left.bits & g.dtypes.bits) == g.dtypes.bits) {
      add(g.name);
      left.bits &= ~g.dtypes.bits;
    }
  for (int k = 0; k < dtype_count; ++k)
    if (left.has(static_cast<DType>(k))) add(name(static_cast<DType>(k)));
  return r;
}

}  // namespace

int main() {
  for (const OpDef* op : samples::tested_ops()) {
    const bool differentiable = op->gradient || op->rare.decomposition || op->rare.backward_of;
    std::printf("%s|%s|%s|%s\n", op->name, dtypes_text(op->dtypes).c_str(),
                op->flags.non_differentiable ? "blocked"
                : differentiable             ? "has"
                                             : "none",
                op->input_names);
  }
  return 0;
}
