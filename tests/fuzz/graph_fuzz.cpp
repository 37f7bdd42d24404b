// libFuzzer target: any bytes given to the graph loader give a graph that verifies, prints, is saved again and runs,
// planned and op by op, or an OpError; nothing else. What would take long is not run: large values, loops without a
// small bound, prints. Bytes that begin as a graph file are given to the loader of failure files, too. Inputs that do
// not begin as a graph file are of two kinds, by their lowest bit.
//   0: edits of the bytes of a graph that holds one sampled call of an op, or of a program with control flow, Variables
//      or open sizes: two bytes choose it, each further four are an edit.
//   1: edits of a sampled call of any op of the library, from which a graph file is made that its shape rule accepts:
//      other dtypes, ranks, sizes and contents of its inputs, other attributes (tests/support/hostile_calls.hpp). It
//      runs on arguments that fit its specs, which end where their blocks do (core/allocator.hpp).
// So every rule, kernel and body meets attributes, dtypes and shapes that no public function would have let through.
#include <cstring>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/control_ops.hpp"
#include "tandem/graph/control/scan.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/exec/concrete.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/io/failure_file.hpp"
#include "tandem/op_table.hpp"
#include "tandem/ops/all.hpp"
#include "tests/fuzz/file.hpp"
#include "tests/support/hostile_calls.hpp"
#include "tests/support/op_samples.hpp"
#include "tests/support/tested_ops.hpp"

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

// The Variable whose value is in none of the files.
const Variable& shared() {
  static const Variable v(constant({{3.f, 4.f}}), {.name = "shared"});
  return v;
}
const LoadOptions& load_options() {
  static const std::vector<const OpDef*> ops = samples::tested_ops();
  static const LoadOptions options{.ops = ops, .values = {{"shared", shared()}}};
  return options;
}

// Graph files of one op each.
std::vector<std::string> make_seeds() {
  std::vector<std::string> seeds;
  std::vector<const OpDef*> ops(all_ops().begin(), all_ops().end());
  for (const OpDef* op : samples::tested_ops())
    if (std::strcmp(op->name, "table_find") == 0) ops.push_back(op);  // refers to an object
  for (const OpDef* op : ops)
    for (const samples::Call& call : samples::calls_of(*op, float32)) {
      if (op == &custom_gradient_op) continue;
      Tracer t("f");
      std::vector<Tensor> in;
      InlinedVector<const Tensor*, 8> pointers;
      std::size_t i = 0;
      for (const Tensor& x : call.in)  // what the host reads stays a constant
        in.push_back(lives_on_host(*op, i++, call.in.size()) ? x : t.argument(x.spec()));
      for (const Tensor& x : in) pointers.push_back(&x);
      const Tensors out = apply(*op, {pointers.begin(), pointers.size()}, call.attrs);
      seeds.push_back(serialize(*t.finish({out.begin(), out.size()})));
    }
  return seeds;
}
template <class F>
void add_program(std::vector<std::string>& seeds, std::initializer_list<Spec> arguments, const F& f) {
  Tracer t("f");
  std::vector<Tensor> in;
  for (const Spec& s : arguments) in.push_back(t.argument(s));
  const std::vector<Tensor> outputs = f(in);
  seeds.push_back(serialize(*t.finish(outputs)));
}
void add_named(std::vector<std::string>& seeds) {
  Tracer t("f");
  const Tensor x = t.argument({{none, 2}, DType::float32, {}});
  const Tensor outputs[] = {x * shared(), x + shared()};
  seeds.push_back(serialize(*t.finish(outputs),
                            {.inputs = {"x"}, .outputs = {"y", "z"}, .values_elsewhere = {{"shared", shared()}}}));
}
Tensor grown(const Tensor& x) {  // [2 n, ...], twice
  return std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 2; },
                                [](const Tensor& i, const Tensor& y) {
                                  return std::tuple(i + 1, concat({y, y}, 0));
                                },
                                std::tuple(constant(0), x),
                                {.shape_invariants = {Shape{}, Shape{none}}, .maximum_iterations = 3}));
}
Tensor sums(const Tensor& x) {
  return scan([](const Tensor& sum, const Tensor& row) { return sum + row * sum; }, x, ones({2}));
}
// Graph files of small programs.
void add_programs(std::vector<std::string>& seeds) {
  const Spec open{{none, 2}, DType::float32, {}}, known{{3, 2}, DType::float32, {}}, list{{none}, DType::float32, {}};
  const Variable v(constant({{1.f, 2.f}}), {.name = "v"});
  using List = std::vector<Tensor>;
  for (const Spec& x : {open, known}) {
    add_program(seeds, {x}, [](const List& in) { return List{in[0] * constant({7.f, 8.f}), constant({1, 2, 3})}; });
    add_program(seeds, {x}, [](const List& in) {
      return List{in[0] + zeros_like(Tensor::symbol({{3, 2}, DType::float32, {}})), reshape(in[0], {-1})};
    });
    add_program(seeds, {x}, [&](const List& in) {
      const Tensor old = v.read_value();
      v.assign_add(reduce_sum(in[0], {.axis = 0, .keepdims = true}));
      return List{old * v.read_value()};
    });
    add_program(seeds, {x}, [&](const List& in) {
      const auto yes = [&] { return v.assign(v * 2.f), in[0] + constant({1.f, 2.f}); };
      return List{cond(reduce_any(in[0] > 0.f), yes, [&] { return boolean_mask(in[0], in[0](Ellipsis, 0) > 1.f); })};
    });
    add_program(seeds, {x}, [](const List& in) { return List{sums(in[0])}; });
    add_program(seeds, {x}, [](const List& in) {
      GradientTape tape;
      tape.watch(in[0]);
      return List{tape.gradient(sums(in[0]), in[0])};
    });
  }
  add_program(seeds, {list}, [](const List& in) { return List{grown(in[0])}; });
  add_program(seeds, {list}, [](const List& in) {
    GradientTape tape;
    tape.watch(in[0]);
    return List{tape.gradient(grown(in[0] * 2.f) * 3.f, in[0])};
  });
  add_program(seeds, {list}, [](const List& in) {
    return List{cond(
        reduce_any(in[0] > 0.f), [&] { return grown(in[0]); }, [&] { return in[0]; })};
  });
}
// Takes the data out of one of the constants, which a trace does only where a shape is all that is read.
void drop_data(std::string& bytes, std::size_t which) {
  static const std::string mark("\5\0\0\0value\5", 10);  // the attribute of a constant op, a tensor
  std::vector<std::size_t> specs;
  for (std::size_t at = 0; (at = bytes.find(mark, at)) != std::string::npos;) specs.push_back(at += mark.size());
  if (specs.empty()) return;
  const std::size_t spec = specs[which % specs.size()];
  if (spec + 4 > bytes.size() || static_cast<unsigned char>(bytes[spec]) >= dtype_count) return;
  const std::size_t rank = static_cast<unsigned char>(bytes[spec + 3]), flag = spec + 4 + 8 * rank;
  if (rank > max_rank || flag >= bytes.size()) return;
  i64 size = static_cast<i64>(size_of(static_cast<DType>(bytes[spec]))), dim = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    std::memcpy(&dim, &bytes[spec + 4 + 8 * i], 8);
    if (dim < 0 || __builtin_mul_overflow(size, dim, &size)) return;
  }
  bytes[flag] = 0;
  bytes.erase(flag + 1, static_cast<std::size_t>(size));
}
std::string edited(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::string> seeds = [] {
    std::vector<std::string> all = make_seeds();
    add_programs(all);
    for (int i = 0; i < 8; ++i) add_named(all);  // one seed of hundreds is rarely chosen
    return all;
  }();
  const std::size_t which = data[0] / 2 + 128u * data[1];
  std::string bytes = seeds[which % seeds.size()];
  for (const std::uint8_t* e = data + 2; e + 4 <= data + size && !bytes.empty(); e += 4) {
    const std::size_t at = (e[0] + 256u * e[1]) % bytes.size();
    switch (e[2] % 5) {
      case 0: bytes[at] = static_cast<char>(e[3]); break;
      case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << e[3] % 8)); break;
      case 2: bytes.replace(at, 1, std::string(e[3] % 9, static_cast<char>(e[2] >> 2))); break;
      case 3:
        if (at + 8 <= bytes.size()) std::memcpy(&bytes[at], &edges[e[3] % std::size(edges)], 8);
        break;
      case 4: drop_data(bytes, e[3]); break;
    }
  }
  return bytes;
}

constexpr i64 size_of_open = 3, most_elements = 100000, most_iterations = 20;

bool ends_soon(const Graph& g, const Node& n) {
  if (n.op != &loop_op) return true;
  for (const Node& m : g.nodes)
    if (m.first_out == n.in[0] && m.op == &constant_op) return constant_of(m)->item<i64>() <= most_iterations;
  return false;
}
bool is_small(const Graph& g, int depth = 0) {
  i64 elements = 0;
  for (const Node& n : g.nodes) {
    if (n.op == &print_op || depth > 2 || !ends_soon(g, n)) return false;
    for (const Graph* body : subgraphs(n))
      if (!is_small(*body, depth + 1)) return false;
  }
  for (const Spec& s : g.specs) {
    if (s.device != Device{}) return false;
    i64 n = 1;
    for (i64 d : s.shape) n = std::min(n * std::min(d == none ? size_of_open : d, most_elements), most_elements);
    elements += n;
    if (elements >= most_elements) return false;
  }
  return true;
}
Tensor argument(Spec s, bool zero) {
  for (int i = 0; i < s.shape.rank(); ++i)
    if (s.shape[i] == none) s.shape.set(i, size_of_open);
  if (s.dtype != string && !zero) return ones(s.shape, {.dtype = s.dtype});
  const Tensor t = Tensor::allocate(s);
  if (s.dtype != string) std::memset(t.raw(), 0, s.bytes());
  return t;
}
void run(const Ref<Graph>& g, bool plan) {
  for (const bool zero : {true, false}) try {
      std::vector<Tensor> arguments;
      for (const ValueId v : g->arguments) arguments.push_back(argument(g->spec(v), zero));
      (void)(*make_ref<ConcreteFunction>(g->copy(), ExecutionOptions{.plan = plan}))(arguments);
    } catch (const errors::OpError&) {
    }
}

// Sampled calls of every op. Closures hold the sample's own operands, prints write to files.
std::vector<samples::Call> make_calls() {
  std::vector<samples::Call> r;
  for (const OpDef* op : samples::tested_ops()) {
    if (op == &custom_gradient_op || op == &print_op) continue;
    for (samples::Call& c : samples::calls_of(*op, float32)) r.push_back(std::move(c));
  }
  return r;
}
// Bytes: the call, twice; where its inputs are; then edits of four bytes each, few of which keep the call valid.
samples::Call lie(const std::uint8_t* data, std::size_t size) {
  static const std::vector<samples::Call> calls = make_calls();
  constexpr std::size_t most_edits = 4;
  samples::Call call = calls[(data[1] + 256u * data[2]) % calls.size()];
  for (std::size_t at = 4, n = 0; at + 4 <= size && n < most_edits; at += 4, ++n) {
    const std::uint8_t *const e = data + at, value = e[3];
    const auto kind = static_cast<hostile::Edit::Kind>(e[0] % hostile::Edit::kinds);
    const bool small = kind < hostile::Edit::contents || value >= std::size(edges);  // a dtype, a size, a rank
    hostile::apply_edit(call, {kind, e[1] % 12u, e[2] % 8u, small ? value % 32 : edges[value]});
  }
  return call;
}
void run_lie(const std::uint8_t* data, std::size_t size) {
  const samples::Call call = lie(data, size);
  if (!hostile::overwritten_by(call).empty()) __builtin_trap();  // files have casts in place of kernels of halves
  const hostile::File file = hostile::file_of(call, {.open = data[3] % 2 == 1, .host_constants = data[3] / 2 % 2 == 1});
  if (file.bytes.empty()) return;
  for (const bool plan : {false, true}) (void)hostile::Loaded(file, plan).run();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  memory::set_limit(16 << 20);  // where sizes depend on data
  const bool is_file = data[0] == 'T' && data[1] == 'A';
  if (!is_file && data[0] % 2 == 1 && size >= 4) return run_lie(data, size), 0;
  const std::string bytes = is_file ? std::string(reinterpret_cast<const char*>(data), size) : edited(data, size);
  if (is_file) try {
      const FuzzFile file(bytes);
      (void)io::load_failure(file.path(), load_options());
    } catch (const errors::OpError&) {
    }
  try {
    const NamedGraph named = parse_named_graph(bytes, load_options());
    const Ref<Graph>& g = named.graph;
    verify(*g);
    (void)(to_string(*g) + to_dot(*g));
    const SaveOptions names{named.inputs, named.outputs, load_options().values};
    const std::string again = serialize(*g, names);
    if (serialize(*parse_graph(again, load_options()), names) != again) __builtin_trap();
    if (is_small(*g))
      for (const bool plan : {false, true}) run(g, plan);
  } catch (const errors::OpError&) {
  }
  return 0;
}
