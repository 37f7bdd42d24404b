// Makes the calls of hostile_calls.hpp.
#include "tests/support/hostile_calls.hpp"

#include <algorithm>
#include <cstring>

#include "tandem/core/allocator.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/core/invoke.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tests/support/attr_fields.hpp"

namespace hostile {

using namespace tandem;
using samples::AttrFields;
using samples::Call;

namespace {

Tensor zeros_of(const Spec& spec) {
  const Tensor t = Tensor::allocate(spec);
  if (spec.dtype != string) std::memset(t.raw(), 0, spec.bytes());
  return t;
}
bool is_castable(DType d) { return (dtypes::real | dtypes::boolean).has(d); }

// The same numbers in another dtype; zeros, or empty texts, where they have none.
Tensor with_dtype(const Tensor& t, DType d) {
  if (t.is_symbolic()) return Tensor::symbol({t.shape(), d, {}});
  return is_castable(t.dtype()) && is_castable(d) ? cast(t, d) : zeros_of({t.shape(), d, {}});
}
// The same elements, repeated or cut off, in another shape.
Tensor with_shape(const Tensor& t, const Shape& s) {
  const Spec spec{s, t.dtype(), {}};
  if (t.is_symbolic()) return Tensor::symbol(spec);
  const Tensor r = zeros_of(spec);
  if (t.dtype() == string || t.size() == 0) return r;
  for (std::size_t at = 0, n = 0; at < spec.bytes(); at += n) {
    n = std::min(t.spec().bytes(), spec.bytes() - at);
    std::memcpy(static_cast<char*>(r.raw()) + at, t.raw(), n);
  }
  return r;
}
Tensor filled(const Tensor& t, i64 value) {
  if (t.is_symbolic() || !is_castable(t.dtype())) return t;
  const Tensor one = saturate_cast(constant(value), t.dtype());
  return with_shape(one, t.shape());
}
template <class F>
bool change_sizes(Call& c, const F& chosen, i64 to) {
  bool any = false;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    Shape s = c.in[i].shape();
    for (int a = 0; a < s.rank(); ++a)
      if (chosen(i, a)) s.set(a, to), any = true;
    if (!(s == c.in[i].shape())) c.in[i] = with_shape(c.in[i], s);
  }
  return any;
}
bool edit_sizes(Call& c, const Edit& e) {
  if (e.value < 0 || e.value > 16) return false;  // there must be a tensor of this size
  const Shape s = c.in[e.at].shape();
  const int axis = static_cast<int>(e.element);
  if (e.kind == Edit::all_sizes)
    return change_sizes(
        c, [](std::size_t, int) { return true; }, e.value);
  if (axis >= s.rank()) return false;
  if (e.kind == Edit::size)
    return change_sizes(
        c, [&](std::size_t i, int a) { return i == e.at && a == axis; }, e.value);
  const i64 was = s[axis].number_or_none();
  return change_sizes(
      c, [&](std::size_t i, int a) { return c.in[i].shape()[a] == was; }, e.value);
}
bool edit_rank(Call& c, const Edit& e) {
  Tensor& t = c.in[e.at];
  Shape s;
  const int rank = t.rank(), axis = static_cast<int>(e.element);
  if (e.kind == Edit::insert_axis ? axis > rank || rank == max_rank || e.value < 0 || e.value > 3 : axis >= rank)
    return false;
  for (int a = 0; a <= rank; ++a) {
    if (e.kind == Edit::insert_axis && a == axis) s.push_back(e.value);
    if (a < rank && !(e.kind == Edit::remove_axis && a == axis)) s.push_back(t.shape().dim(a));
  }
  t = with_shape(t, s);
  return true;
}
bool edit_input(Call& c, const Edit& e) {
  if (e.at >= c.in.size()) return false;
  const DType was = c.in[e.at].dtype();
  switch (e.kind) {
    case Edit::dtype:
    case Edit::dtypes_alike:
      if (e.value < 0 || e.value >= dtype_count || static_cast<DType>(e.value) == was) return false;
      for (std::size_t i = 0; i < c.in.size(); ++i)
        if (i == e.at || (e.kind == Edit::dtypes_alike && c.in[i].dtype() == was))
          c.in[i] = with_dtype(c.in[i], static_cast<DType>(e.value));
      return true;
    case Edit::contents: return c.in[e.at] = filled(c.in[e.at], e.value), true;
    case Edit::insert_axis:
    case Edit::remove_axis: return edit_rank(c, e);
    default: return edit_sizes(c, e);
  }
}
bool edit_value(AttrFields::Value& v, const Edit& e) {
  if (e.kind == Edit::number) {
    v.number = e.value, v.real = static_cast<double>(e.value);
    return v.kind == AttrFields::Value::is_number || v.kind == AttrFields::Value::is_real;
  }
  if (e.kind == Edit::list_length) {
    if (e.value < 0 || e.value > 2 * max_rank) return false;
    const auto n = static_cast<std::size_t>(e.value);
    if (v.kind == AttrFields::Value::is_text) return v.text.resize(n, 'x'), true;
    v.absent = false, v.numbers.resize(n, v.numbers.empty() ? 7 : v.numbers.back());
    return v.kind == AttrFields::Value::is_numbers;
  }
  if (v.numbers.empty()) return false;
  if (e.kind == Edit::list_elements) return std::fill(v.numbers.begin(), v.numbers.end(), e.value), true;
  return v.numbers[e.element % v.numbers.size()] = e.value, true;
}
bool edit_attribute(Call& c, const Edit& e) {
  if (!c.op->attrs || c.attrs.empty()) return false;
  AttrFields fields(c.attrs);
  if (e.at >= fields.values.size() || !edit_value(fields.values[e.at], e)) return false;
  try {
    c.attrs = fields.read(*c.op->attrs);
  } catch (const errors::OpError&) {
    return false;  // the attribute's type does not hold it
  }
  return true;
}

}  // namespace

bool apply_edit(Call& call, const Edit& edit) {
  return edit.kind < Edit::number ? edit_input(call, edit) : edit_attribute(call, edit);
}

std::vector<Edit> edits_of(const Call& call) {
  constexpr i64 ends[] = {-1, 0, 1, 7, 1000, INT64_MAX, none};
  std::vector<Edit> r;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    for (const DType d : {float64, bfloat16, int8, int16, int32, int64, uint8, bool_, string, complex64, DType::qint8})
      for (const Edit::Kind kind : {Edit::dtype, Edit::dtypes_alike}) r.push_back({kind, i, 0, static_cast<i64>(d)});
    for (std::size_t a = 0; a <= static_cast<std::size_t>(call.in[i].rank()); ++a) {
      r.push_back({Edit::insert_axis, i, a, 1}), r.push_back({Edit::insert_axis, i, a, 2});
      if (a == static_cast<std::size_t>(call.in[i].rank())) continue;
      const i64 n = call.in[i].shape().dim(static_cast<int>(a));
      r.push_back({Edit::remove_axis, i, a, 0});
      for (const i64 to : {i64{0}, i64{1}, n - 1, n + 1}) r.push_back({Edit::size, i, a, to});
      for (const i64 to : {i64{0}, i64{1}, n + 1}) r.push_back({Edit::sizes_alike, i, a, to});
    }
    for (const i64 v : {i64{-1}, i64{0}, i64{7}, INT64_MIN, INT64_MAX}) r.push_back({Edit::contents, i, 0, v});
  }
  if (!call.in.empty()) r.push_back({Edit::all_sizes, 0, 0, 0}), r.push_back({Edit::all_sizes, 0, 0, 1});
  if (!call.op->attrs || call.attrs.empty()) return r;
  const AttrFields fields(call.attrs);
  for (std::size_t f = 0; f < fields.values.size(); ++f) {
    for (const i64 v : ends) {
      r.push_back({Edit::number, f, 0, v}), r.push_back({Edit::list_elements, f, 0, v});
      for (std::size_t k = 0; k < fields.values[f].numbers.size(); ++k) r.push_back({Edit::list_element, f, k, v});
    }
    for (i64 n = 0; n < 4; ++n) r.push_back({Edit::list_length, f, 0, n});
  }
  return r;
}

File file_of(const Call& call, Places places) {
  auto g = make_ref<Graph>();
  g->name = "f";
  File file{call.op, {}, {}};
  std::vector<Tensor> seen;
  std::vector<ValueId> in;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const Tensor& x = call.in[i];
    if (places.host_constants && lives_on_host(*call.op, i, call.in.size()) && !x.is_symbolic()) {
      seen.push_back(x), in.push_back(g->add_constant(x));
      continue;
    }
    Spec s = x.spec();
    for (int a = 0; places.open && a < s.shape.rank(); ++a) s.shape.set(a, none);
    seen.push_back(Tensor::symbol(s)), in.push_back(g->add_argument(s));
    file.arguments.push_back(x.is_symbolic() ? zeros_of(x.spec()) : x);
  }
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : seen) pointers.push_back(&t);
  try {
    const Specs out = checked_specs(*call.op, {pointers.data(), pointers.size()}, call.attrs);
    const ValueId first = g->add(*call.op, call.attrs, in, {out.begin(), out.size()});
    for (int k = 0; k < static_cast<int>(out.size()); ++k) g->outputs.push_back(first + k);
    file.bytes = serialize(*g);
  } catch (const errors::OpError&) {
  }
  return file;
}

bool is_small(const Graph& g) {
  constexpr i64 most = 1 << 17, size_of_open = 3;
  i64 elements = 0;
  for (const Spec& s : g.specs) {
    i64 n = 1;
    for (i64 d : s.shape) n = std::min(n * std::min(d == none ? size_of_open : d, most), most);
    elements += n;
    if (elements >= most || s.device != Device{}) return false;
  }
  return true;
}

namespace {

constexpr std::size_t before = 64, behind = 4096;

// A copy of t that lies between bytes of one value.
Tensor surrounded(const Tensor& t, unsigned char around) {
  if (t.dtype() == string) return t;
  const std::size_t n = t.spec().bytes();
  const Tensor room = Tensor::allocate({Shape{static_cast<i64>(before + n + behind)}, DType::uint8, {}});
  std::memset(room.raw(), around, before + n + behind);
  std::memcpy(static_cast<char*>(room.raw()) + before, t.raw(), n);
  return Tensor::view_of(room, t.spec(), before);
}
std::string bits_of(const Tensor& t) {
  std::string r = to_string(t.spec()) + ": ";
  if (t.dtype() == string)
    for (const std::string& s : t.to_vector<std::string>()) r += s + '\n';
  else r.append(static_cast<const char*>(t.raw()), t.spec().bytes());
  return r;
}
}  // namespace

Loaded::Loaded(const File& file, bool plan) : file_(file) {
  try {
    const OpDef* const ops[] = {file.op, &cast_op};  // files have casts around ops on half precision
    const Ref<Graph> g = parse_graph(file.bytes, {.ops = OpLists::List(ops, 2)});
    if (is_small(*g)) function_ = make_ref<ConcreteFunction>(g, ExecutionOptions{.plan = plan});
  } catch (const errors::OpError& e) {
    error_ = std::string("error: ") + e.what();
  }
}
std::string Loaded::run(std::optional<unsigned char> around) const {
  if (!function_) return error_;
  try {
    std::vector<Tensor> arguments;
    for (const Tensor& t : file_.arguments) arguments.push_back(around ? surrounded(t, *around) : t);
    std::string r = "results";
    for (const Tensor& t : (*function_)(arguments)) r += bits_of(t);
    return r;
  } catch (const errors::OpError& e) {
    return std::string("error: ") + e.what();
  }
}

namespace {

constexpr unsigned char guard = 0xa5;
constexpr std::size_t guarded = 64;  // bytes before and behind

// A buffer between guards.
struct Guarded {
  std::size_t bytes;
  Tensor room;
  explicit Guarded(std::size_t n)
      : bytes(n), room(Tensor::allocate({Shape{static_cast<i64>(n + 2 * guarded)}, DType::uint8, {}})) {
    std::memset(room.raw(), guard, n + 2 * guarded);
  }
  unsigned char* all() const { return static_cast<unsigned char*>(room.raw()); }
  void* data() const { return all() + guarded; }
  bool is_intact() const {
    const auto kept = [&](std::size_t from) {
      return std::all_of(all() + from, all() + from + guarded, [](unsigned char c) { return c == guard; });
    };
    return kept(0) && kept(guarded + bytes);
  }
};
// The sizes of the results; throws an OpError if the op refuses the call.
Specs result_specs(const Call& c, const std::vector<Operand>& operands) {
  std::vector<const Tensor*> in;
  for (const Tensor& t : c.in) in.push_back(&t);
  Specs specs = checked_specs(*c.op, {in.data(), in.size()}, c.attrs);
  if (c.op->rare.resolve) specs = c.op->rare.resolve(kernel_call(*c.op, operands.data(), c.in.size(), 0, c.attrs));
  return specs;
}
bool has_plain_kernel(const Call& c) {
  if (!c.op->cpu || c.op->flags.alias || c.op->rare.host_kernel) return false;
  for (std::size_t i = 0; i < c.in.size(); ++i)
    if (c.in[i].is_symbolic() && !names_input(c.op->shape_inputs, i)) return false;
  return true;
}

}  // namespace

std::string overwritten_by(const Call& c) {
  if (!has_plain_kernel(c)) return {};
  try {
    std::vector<Operand> operands;
    for (const Tensor& t : c.in) operands.push_back({t.raw(), &t.spec()});
    const Specs specs = result_specs(c, operands);
    std::vector<Guarded> rooms;
    std::vector<Tensor> texts;
    for (const Spec& s : specs) {
      i64 bytes = static_cast<i64>(size_of(s.dtype));
      for (const i64 d : s.shape)
        if (d < 0 || __builtin_mul_overflow(bytes, d, &bytes)) return {};
      if (bytes > (1 << 20)) return {};
      rooms.emplace_back(static_cast<std::size_t>(bytes));
      texts.push_back(s.dtype == string ? Tensor::allocate(s) : Tensor());
      operands.push_back({s.dtype == string ? texts.back().raw() : rooms.back().data(), &s});
    }
    std::vector<Spec> in;
    for (const Tensor& t : c.in) in.push_back(t.spec());
    const std::size_t scratch = c.op->workspace ? c.op->workspace({in.data(), in.size()}, c.attrs) : 0;
    if (scratch > (1 << 24)) return {};
    const Guarded workspace(scratch);
    c.op->cpu(
        kernel_call(*c.op, operands.data(), in.size(), specs.size(), c.attrs, scratch ? workspace.data() : nullptr));
    for (std::size_t k = 0; k < rooms.size(); ++k)
      if (!rooms[k].is_intact()) return "result " + std::to_string(k) + ", " + to_string(specs[k]);
    if (!workspace.is_intact()) return "scratch of " + std::to_string(scratch) + " bytes";
  } catch (const errors::OpError&) {
  }
  return {};
}

}  // namespace hostile
