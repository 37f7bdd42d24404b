// Samples of asserts and prints: asserts that hold, prints to /dev/null.
#include "tandem/ops/all.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

const Sample debug_table[] = {
    {"assert",
     [](Numbers& n) {
       debugging::assert_less(n.reals({2, 3}), n.reals({3}, 2, 3));
     }},
    {"assert",
     [](Numbers& n) {
       debugging::Assert(constant(true), {n.reals({2}), constant({"a", "b"})});
     }},
    {"assert_shapes",
     [](Numbers&) {
       const rules::AssertShapesAttrs attrs{"N,3;*,N", ""};
       apply_to({&assert_shapes_op, {}, attrs},
                {constant(std::vector<i64>{2, 3}), constant(std::vector<i64>{5, 4, 2})});
     }},
    {"check_numerics",
     [](Numbers& n) {
       debugging::check_numerics(n.reals({2, 3}), "loss");
     }},
    {"print",
     [](Numbers& n) {
       print("x", n.reals({2, 3}), n.flags({4}), constant("text"), {.output_stream = "file:///dev/null"});
     }},
};

}  // namespace

tandem::Span<const Sample> debug_samples() { return debug_table; }

}  // namespace samples::detail
