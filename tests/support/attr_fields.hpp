// The fields of an attribute struct as values, and a struct that is read back with some of them replaced. For tests of
// attributes that no public function would pass.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "tandem/attrs/attrs.hpp"
#include "tandem/base/error.hpp"

namespace samples {

class AttrFields final : tandem::AttrVisitor, tandem::AttrReader {
 public:
  using i64 = tandem::i64;
  struct Value {
    enum Kind { is_number, is_real, is_text, is_numbers, is_opaque } kind = is_number;
    i64 number = 0;
    double real = 0;
    std::string text;
    std::vector<i64> numbers;
    bool absent = false;  // Axes that are not given
    tandem::Ref<tandem::Opaque> opaque;
  };
  using tandem::AttrVisitor::list;
  explicit AttrFields(const tandem::Attrs& a) { a.visit(*this); }

  /// In the struct's order.
  std::vector<Value> values;

  /// The struct that `values` describe.
  ///   throws  errors::InvalidArgumentError if a value does not fit its field
  tandem::Attrs read(const tandem::detail::AttrType& type) {
    at_ = 0;
    return type.read(*this);
  }

 private:
  void number(const char*, i64 value) override { add(Value::is_number).number = value; }
  void real(const char*, double value) override { add(Value::is_real).real = value; }
  void text(const char*, const std::string& value) override { add(Value::is_text).text = value; }
  void numbers(const char*, const i64* from, int count) override {
    Value& v = add(Value::is_numbers);
    v.absent = count < 0;
    if (count > 0) v.numbers.assign(from, from + count);
  }
  void opaque(const char*, const tandem::Opaque* value) override {
    add(Value::is_opaque).opaque = tandem::Ref<tandem::Opaque>(const_cast<tandem::Opaque*>(value));
  }

  i64 number(const char*) override { return values[at_++].number; }
  double real(const char*) override { return values[at_++].real; }
  std::string text(const char*) override { return values[at_++].text; }
  int numbers(const char* name, i64* to) override {
    const Value& v = values[at_++];
    if (v.numbers.size() > tandem::max_rank) misfit(name);
    std::copy(v.numbers.begin(), v.numbers.end(), to);
    return v.absent ? -1 : static_cast<int>(v.numbers.size());
  }
  tandem::IntList list(const char*) override {
    tandem::IntList r;
    for (const i64 v : values[at_++].numbers) r.push_back(v);
    return r;
  }
  tandem::Ref<tandem::Opaque> opaque(const char*) override { return values[at_++].opaque; }
  [[noreturn]] void misfit(const char* name) override {
    tandem::errors::raise<tandem::errors::InvalidArgumentError>("attributes", std::string("no such value of ") + name);
  }

  Value& add(Value::Kind kind) {
    Value& v = values.emplace_back();
    v.kind = kind;
    return v;
  }
  std::size_t at_ = 0;
};

}  // namespace samples
