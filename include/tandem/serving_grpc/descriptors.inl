// Definitions of serving_grpc/descriptors.hpp: a reader of the part of the language of .proto files that proto_texts
// uses.
#pragma once
#include <algorithm>
#include <cstdlib>

#include "tandem/base/error.hpp"
#include "tandem/io/wire.hpp"
#include "tandem/serving_grpc/descriptors.hpp"
#include "tandem/serving_grpc/proto_texts.hpp"

namespace TANDEM_NS::serving::impl {

// The words and signs of a file, one after the other; texts without their quotes.
class ProtoTokens {
 public:
  explicit ProtoTokens(const ProtoText& file) : file_(file), left_(file.text) {}
  std::string_view peek() {
    if (next_.empty()) next_ = read();
    return next_;
  }
  std::string_view take() {
    const std::string_view r = peek();
    next_ = {};
    return r;
  }
  bool take_if(std::string_view expected) {
    if (peek() != expected) return false;
    next_ = {};
    return true;
  }
  void expect(std::string_view expected) {
    if (!take_if(expected)) fail(std::string(expected));
  }
  [[noreturn]] void fail(const std::string& expected) {
    errors::raise<errors::InternalError>(
        "serving", std::string(file_.path) + ": expected '" + expected + "' before '" + std::string(peek()) + "'");
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  }
  std::string_view read() {
    while (!left_.empty() && (left_[0] == ' ' || left_[0] == '\n')) left_.remove_prefix(1);
    std::size_t n = 0;
    if (left_.starts_with('"')) {
      left_.remove_prefix(1);
      const std::string_view text = left_.substr(0, left_.find('"'));
      left_.remove_prefix(text.size() + 1);
      return text;
    }
    while (n < left_.size() && is_word(left_[n])) ++n;
    if (n == 0 && !left_.empty()) n = 1;
    const std::string_view r = left_.substr(0, n);
    left_.remove_prefix(n);
    return r;
  }

  const ProtoText& file_;
  std::string_view left_, next_;
};

// What is declared in all files that were read: whether a name is an enum.
struct ProtoSymbol {
  std::size_t file;
  bool is_enum = false;
};
using ProtoSymbols = std::map<std::string, ProtoSymbol, std::less<>>;

// "file_by_filename" is "fileByFilename".
TANDEM_INLINE std::string json_name(std::string_view name) {
  std::string r;
  bool upper = false;
  for (const char c : name) {
    if (c != '_') r += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = c == '_';
  }
  return r;
}
// "version_labels" has the entries VersionLabelsEntry.
TANDEM_INLINE std::string entry_name(std::string_view name) {
  std::string r = json_name(name);
  if (r[0] >= 'a' && r[0] <= 'z') r[0] = static_cast<char>(r[0] - 'a' + 'A');
  return r + "Entry";
}

// Goes through a file. The first time it declares names, the second time, when all are known, it writes descriptors:
// fields of one message refer to messages that come later.
class ProtoFile {
 public:
  ProtoFile(const ProtoText& text, std::size_t index, ProtoSymbols& symbols)
      : in_(text), index_(index), symbols_(symbols) {
    io::detail::append_field(head_, 1, text.path);
  }
  std::vector<std::string> dependencies, services;

  std::string descriptor() {
    in_.expect("syntax"), in_.expect("="), in_.expect("proto3"), in_.expect(";");
    in_.expect("package");
    scope_ = in_.take();
    in_.expect(";");
    io::detail::append_field(head_, 2, scope_);
    std::string messages, enums, service;
    while (!in_.peek().empty()) {
      if (in_.take_if("import")) {
        dependencies.emplace_back(in_.take());
        io::detail::append_field(head_, 3, dependencies.back());
        in_.expect(";");
      } else if (in_.take_if("message")) io::detail::append_field(messages, 4, message());
      else if (in_.take_if("enum")) io::detail::append_field(enums, 5, enumeration());
      else if (in_.take_if("service")) io::detail::append_field(service, 6, rpcs());
      else in_.fail("message");
    }
    std::string r = head_ + messages + enums + service;
    io::detail::append_field(r, 12, "proto3");
    return r;
  }

 private:
  // A message as far as it has been read.
  struct Parts {
    std::string fields, nested, enums, oneofs;
    i64 oneof_count = 0;
  };

  std::string full(std::string_view name) const { return scope_ + "." + std::string(name); }
  std::string declare(std::string_view name, bool is_enum = false) {
    symbols_.insert_or_assign(full(name), ProtoSymbol{index_, is_enum});
    return std::string(name);
  }
  std::string message() {
    const std::string name = declare(in_.take()), outer = scope_;
    scope_ = full(name);
    Parts parts;
    in_.expect("{");
    while (!in_.take_if("}")) {
      if (in_.take_if("message")) io::detail::append_field(parts.nested, 3, message());
      else if (in_.take_if("enum")) io::detail::append_field(parts.enums, 4, enumeration());
      else if (in_.take_if("oneof")) oneof(parts);
      else field(parts, -1);
    }
    scope_ = outer;
    std::string r;
    io::detail::append_field(r, 1, name);
    return r + parts.fields + parts.nested + parts.enums + parts.oneofs;
  }
  void oneof(Parts& to) {
    io::detail::append_message(to.oneofs, 8, [&] { io::detail::append_field(to.oneofs, 1, declare(in_.take())); });
    in_.expect("{");
    while (!in_.take_if("}")) field(to, to.oneof_count);
    ++to.oneof_count;
  }
  void field(Parts& to, i64 oneof_index) {
    std::string type;
    bool is_repeated = in_.take_if("repeated");
    if (in_.take_if("map")) {
      is_repeated = true;
      in_.expect("<");
      const std::string key(in_.take());
      in_.expect(",");
      const std::string value(in_.take());
      in_.expect(">");
      type = entry_name(in_.peek());
      io::detail::append_field(to.nested, 3, map_entry(type, key, value));
    } else {
      type = in_.take();
    }
    const std::string name = declare(in_.take());
    in_.expect("=");
    const i64 number = std::atoll(std::string(in_.take()).c_str());
    in_.expect(";");
    append_field(to.fields, name, number, is_repeated, type, oneof_index);
  }
  std::string map_entry(const std::string& name, const std::string& key, const std::string& value) {
    declare(name);
    const std::string outer = scope_;
    scope_ = full(name);
    std::string r;
    io::detail::append_field(r, 1, name);
    append_field(r, declare("key"), 1, false, key, -1);
    append_field(r, declare("value"), 2, false, value, -1);
    io::detail::append_message(r, 7, [&] { io::detail::append_integer(r, 7, 1); });  // MessageOptions.map_entry
    scope_ = outer;
    return r;
  }
  void append_field(std::string& to, const std::string& name, i64 number, bool is_repeated, const std::string& type,
                    i64 oneof_index) const {
    constexpr int label_optional = 1, label_repeated = 3, type_message = 11, type_enum = 14;
    constexpr struct {
      std::string_view name;
      int number;
    } scalars[] = {{"double", 1}, {"float", 2},  {"int64", 3},  {"uint64", 4}, {"int32", 5},
                   {"bool", 8},   {"string", 9}, {"bytes", 12}, {"uint32", 13}};
    const auto* const scalar =
        std::find_if(std::begin(scalars), std::end(scalars), [&](const auto& s) { return s.name == type; });
    io::detail::append_message(to, 2, [&] {
      io::detail::append_field(to, 1, name);
      io::detail::append_integer(to, 3, number);
      io::detail::append_integer(to, 4, is_repeated ? label_repeated : label_optional);
      if (scalar != std::end(scalars)) {
        io::detail::append_integer(to, 5, scalar->number);
      } else {
        const auto at = find(type);
        const bool is_enum = at != symbols_.end() && at->second.is_enum;
        io::detail::append_integer(to, 5, is_enum ? type_enum : type_message);
        io::detail::append_field(to, 6, "." + (at == symbols_.end() ? type : at->first));
      }
      if (oneof_index >= 0) io::detail::append_integer(to, 9, oneof_index);
      io::detail::append_field(to, 10, json_name(name));
    });
  }
  // A name as it is meant here: of the innermost scope that has it.
  ProtoSymbols::const_iterator find(const std::string& name) const {
    for (std::string scope = scope_;; scope.resize(scope.rfind('.'))) {
      const auto at = symbols_.find(scope + "." + name);
      if (at != symbols_.end()) return at;
      if (scope.find('.') == scope.npos) return symbols_.find(name);
    }
  }
  std::string enumeration() {
    std::string r;
    io::detail::append_field(r, 1, declare(in_.take(), true));
    in_.expect("{");
    while (!in_.take_if("}")) {
      io::detail::append_message(r, 2, [&] {
        io::detail::append_field(r, 1, declare(in_.take()));
        in_.expect("=");
        io::detail::append_integer(r, 2, std::atoll(std::string(in_.take()).c_str()));
      });
      in_.expect(";");
    }
    return r;
  }
  std::string rpcs() {
    const std::string name = declare(in_.take()), outer = scope_;
    services.push_back(full(name));
    std::string r;
    io::detail::append_field(r, 1, name);
    in_.expect("{");
    while (!in_.take_if("}")) {
      in_.expect("rpc");
      io::detail::append_message(r, 2, [&] { rpc(r, full(name)); });
    }
    return r;
  }
  void rpc(std::string& to, const std::string& service) {
    const std::string name(in_.take());
    symbols_.insert_or_assign(service + "." + name, ProtoSymbol{index_});
    io::detail::append_field(to, 1, name);
    const auto type = [&](std::uint32_t number) {
      in_.expect("(");
      const bool is_stream = in_.take_if("stream");
      const std::string message(in_.take());
      const auto at = find(message);
      io::detail::append_field(to, number, "." + (at == symbols_.end() ? message : at->first));
      in_.expect(")");
      return is_stream;
    };
    const bool from_client = type(2);
    in_.expect("returns");
    const bool from_server = type(3);
    in_.expect(";");
    if (from_client) io::detail::append_integer(to, 5, 1);
    if (from_server) io::detail::append_integer(to, 6, 1);
  }

  ProtoTokens in_;
  const std::size_t index_;
  ProtoSymbols& symbols_;
  std::string scope_, head_;
};

TANDEM_INLINE Descriptors::Descriptors() {
  ProtoSymbols symbols;
  for (const bool is_second : {false, true})
    for (std::size_t i = 0; i < std::size(proto_texts); ++i) {
      ProtoFile file(proto_texts[i], i, symbols);
      std::string descriptor = file.descriptor();
      if (!is_second) continue;
      files_.push_back({std::string(proto_texts[i].path), std::move(descriptor), std::move(file.dependencies)});
      services_.insert(services_.end(), file.services.begin(), file.services.end());
    }
  for (const auto& [name, symbol] : symbols) symbols_.emplace(name, symbol.file);
}
TANDEM_INLINE const Descriptors::File* Descriptors::file(std::string_view path) const {
  for (const File& f : files_)
    if (f.path == path) return &f;
  return nullptr;
}
TANDEM_INLINE const Descriptors::File* Descriptors::file_of(std::string_view symbol) const {
  const auto at = symbols_.find(symbol);
  return at == symbols_.end() ? nullptr : &files_[at->second];
}

}  // namespace TANDEM_NS::serving::impl
