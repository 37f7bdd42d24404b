// libFuzzer target: any bytes given to the graph loader give a graph that verifies, prints, is saved again and (where
// it is small) runs, or an OpError; nothing else. Inputs that do not begin as a graph file are edits of a graph that
// holds one sampled call of an op: two bytes choose the call, each further four are an edit. So every rule and kernel
// meets attributes and shapes that no public function would have let through.
#include <cstring>

#include "tandem/graph/concrete.hpp"
#include "tandem/graph/serialize.hpp"
#include "tandem/graph/trace.hpp"
#include "tandem/op_table.hpp"
#include "tests/support/op_samples.cpp"
#include "tests/support/op_samples_debug.cpp"
#include "tests/support/op_samples_other.cpp"
#include "tests/support/op_samples_pointwise.cpp"
#include "tests/support/op_samples_shape.cpp"

using namespace tandem;

namespace {

constexpr i64 edges[] = {-1,
                         0,
                         1,
                         2,
                         3,
                         7,
                         8,
                         9,
                         127,
                         128,
                         255,
                         1 << 20,
                         i64{1} << 31,
                         i64{1} << 40,
                         -2,
                         -8,
                         -9,
                         -129,
                         -(i64{1} << 40),
                         INT64_MAX,
                         INT64_MAX - 1,
                         INT64_MIN,
                         INT64_MIN + 1,
                         i64{1} << 62};

// Graph files of one op each.
std::vector<std::string> make_seeds() {
  std::vector<std::string> seeds;
  for (const OpDef* op : all_ops())
    for (const samples::Call& call : samples::calls_of(*op, float32)) {
      if (op == &custom_gradient_op) continue;
      Tracer t("f");
      std::vector<Tensor> in;
      Small<const Tensor*, 8> pointers;
      std::size_t i = 0;
      for (const Tensor& x : call.in)  // what the host reads stays a constant
        in.push_back(names_input(op->host_inputs, i++) ? x : t.argument(x.spec()));
      for (const Tensor& x : in) pointers.push(&x);
      const Tensors out = apply(*op, {pointers.begin(), pointers.size()}, call.attrs);
      seeds.push_back(serialize(*t.finish({out.begin(), out.size()})));
    }
  return seeds;
}
std::string edited(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::string> seeds = make_seeds();
  const std::size_t which = data[0] + 256u * data[1];
  std::string bytes = seeds[which % seeds.size()];
  for (const std::uint8_t* e = data + 2; e + 4 <= data + size; e += 4) {
    const std::size_t at = (e[0] + 256u * e[1]) % bytes.size();
    if (e[2] % 4 == 0) bytes[at] = static_cast<char>(e[3]);
    else if (e[2] % 4 == 1) bytes[at] = static_cast<char>(bytes[at] ^ (1 << e[3] % 8));
    else if (e[2] % 4 == 2) bytes.replace(at, 1, std::string(e[3] % 9, static_cast<char>(e[2] >> 2)));
    else if (at + 8 <= bytes.size()) std::memcpy(&bytes[at], &edges[e[3] % std::size(edges)], 8);
    if (bytes.empty()) break;
  }
  return bytes;
}

bool is_small(const Graph& g) {
  i64 elements = 0;
  if (!g.is_static()) return false;
  for (const Node& n : g.nodes)
    if (n.op->resolve || n.op->flags.stateful || (constant_of(n) && constant_of(n)->is_symbolic())) return false;
  for (const Spec& s : g.specs) {
    if (s.device != Device{}) return false;
    elements += s.shape.size();
  }
  return elements < 100000;
}
void run_on_zeros(const Ref<Graph>& g) {
  std::vector<Tensor> arguments;
  for (int v : g->arguments) {
    arguments.push_back(Tensor::allocate(g->spec(v)));
    if (g->spec(v).dtype != string) std::memset(arguments.back().raw(), 0, g->spec(v).bytes());
  }
  (void)(*make_ref<ConcreteFunction>(g))(arguments);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string bytes =
      data[0] == 'T' && data[1] == 'A' ? std::string(reinterpret_cast<const char*>(data), size) : edited(data, size);
  try {
    const Ref<Graph> g = parse_graph(bytes, {.ops = all_ops()});
    verify(*g);
    (void)(to_string(*g) + to_dot(*g));
    const std::string again = serialize(*g);
    if (serialize(*parse_graph(again, {.ops = all_ops()})) != again) __builtin_trap();
    if (is_small(*g)) run_on_zeros(g);
  } catch (const errors::OpError&) {
  }
  return 0;
}
