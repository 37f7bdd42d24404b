// Definitions of recorder.hpp: recording and replaying.
#include "tests/support/recorder.hpp"

#include <string_view>

namespace testing {

using namespace tandem;

Tensor Recorder::value(const Spec& spec, std::string made_by) {
  symbols_.push_back(Tensor::symbol(spec));
  by_id_[symbols_.back().id()] = static_cast<int>(made_by_.size());
  made_by_.push_back(std::move(made_by));
  return symbols_.back();
}
Recorder::Operand Recorder::operand(const Tensor& t, const char* op, bool shape_only) {
  if (const auto at = by_id_.find(t.id()); at != by_id_.end()) return {at->second, {}};
  if (t.is_symbolic() && !shape_only) errors::raise<errors::TraceError>(op, "takes a value of another trace");
  return {-1, t};
}

Tensors Recorder::stage(const InferCall& c, const Specs& specs) {
  Step s{Step::op, &c.op, c.attrs, {}, static_cast<int>(made_by_.size()), {}};
  for (std::size_t i = 0; i < c.in.size(); ++i)
    s.in.push_back(operand(*c.in[i], c.op.name, names_input(c.op.shape_inputs, i)));
  steps_.push_back(std::move(s));
  Tensors out;
  for (const Spec& spec : specs) out.push_back(value(spec, c.op.name));
  return out;
}
Tensor Recorder::read(const Variable& v) {
  steps_.push_back({Step::read, nullptr, {}, {}, static_cast<int>(made_by_.size()), v});
  return value(v.spec(), "variable '" + v.name() + "'");
}
void Recorder::assign(const Variable& v, const Tensor& value) {
  steps_.push_back({Step::assign, nullptr, {}, {operand(value, "assign", false)}, 0, v});
}
void Recorder::lift(Callable body) {
  struct Off {
    Stager* outer = context.stager;
    Off() { context.stager = nullptr; }
    ~Off() { context.stager = outer; }
  } off;
  body.call(body.self);
}
std::string Recorder::origin(const Tensor& t) {
  const auto at = by_id_.find(t.id());
  return at == by_id_.end() ? "" : " (made by " + made_by_[static_cast<std::size_t>(at->second)] + ")";
}

void Recorder::keep_outputs(const List& outputs) {
  for (const Tensor& t : outputs) outputs_.push_back(operand(t, "output", false));
}
std::size_t Recorder::count(Step::Kind kind) const {
  std::size_t n = 0;
  for (const Step& s : steps_) n += s.kind == kind;
  return n;
}
std::size_t Recorder::staged(const OpDef& op) const {
  std::size_t n = 0;
  for (const Step& s : steps_) n += s.row == &op;
  return n;
}

void Recorder::run_step(const Step& s, List& values) const {
  const auto of = [&](const Operand& o) -> const Tensor& {
    return o.value < 0 ? o.captured : values[static_cast<std::size_t>(o.value)];
  };
  if (s.kind == Step::read) {
    values[static_cast<std::size_t>(s.first_out)] = s.variable.value_untracked();
    return;
  }
  if (s.kind == Step::assign) return s.variable.set_untracked(of(s.in[0]));
  InlinedVector<const Tensor*, 8> in;
  for (const Operand& o : s.in) in.push_back(&of(o));
  const InferCall call{*s.row, {in.begin(), in.size()}, s.attrs, no_options};
  const Tensors out = run(*s.row, call.in, s.attrs, s.row->infer(call));
  for (std::size_t i = 0; i < out.size(); ++i) values[static_cast<std::size_t>(s.first_out) + i] = out[i];
}
Recorder::List Recorder::replay(const List& arguments) {
  if (arguments.size() != arguments_)
    errors::raise<errors::InvalidArgumentError>("replay", "wrong number of arguments");
  List values(made_by_.size());
  for (std::size_t i = 0; i < arguments_; ++i) values[i] = arguments[i];
  for (const Step& s : steps_) run_step(s, values);
  List results;
  for (const Operand& o : outputs_)
    results.push_back(o.value < 0 ? o.captured : values[static_cast<std::size_t>(o.value)]);
  return results;
}

}  // namespace testing
