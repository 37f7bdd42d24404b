// Definitions of serving_grpc/reflection.hpp.
#pragma once
#include <set>

#include "tandem/base/error.hpp"
#include "tandem/io/wire.hpp"
#include "tandem/serving_grpc/reflection.hpp"

namespace TANDEM_NS::serving::impl {

// A file and those that it imports, each once.
TANDEM_INLINE void append_files(std::string& to, const Descriptors& all, const Descriptors::File& file,
                                std::set<std::string>& sent) {
  if (!sent.insert(file.path).second) return;
  io::detail::append_field(to, 1, file.descriptor);
  for (const std::string& path : file.dependencies)
    if (const Descriptors::File* const other = all.file(path)) append_files(to, all, *other, sent);
}
TANDEM_INLINE void append_reflection_error(std::string& to, std::string_view what) {
  io::detail::append_message(to, 7, [&] {
    io::detail::append_integer(to, 1, static_cast<int>(errors::Code::not_found));
    io::detail::append_field(to, 2, std::string(what.substr(0, 255)) + " not found");
  });
}
TANDEM_INLINE void append_file_response(std::string& to, const Descriptors& all, const Descriptors::File* file,
                                        std::string_view asked) {
  if (!file) return append_reflection_error(to, asked);
  std::set<std::string> sent;
  io::detail::append_message(to, 4, [&] { append_files(to, all, *file, sent); });
}

TANDEM_INLINE std::string reflect(const Descriptors& all, std::string_view message) {
  using io::detail::WireType;
  std::uint32_t kind = 0;
  std::string_view asked, host;
  io::detail::WireReader in(message);
  while (in.next()) {
    if (in.is(1, WireType::bytes)) host = in.bytes();
    if (in.field() >= 3 && in.field() <= 7 && in.type() == WireType::bytes) kind = in.field(), asked = in.bytes();
  }
  if (!in.ok()) errors::raise<errors::InvalidArgumentError>("serving", "the ServerReflectionRequest is damaged");
  std::string to;
  if (!host.empty()) io::detail::append_field(to, 1, host);
  io::detail::append_field(to, 2, message);
  switch (kind) {
    case 3: append_file_response(to, all, all.file(asked), asked); break;
    case 4: append_file_response(to, all, all.file_of(asked), asked); break;
    case 6:  // there are no extensions
      if (all.file_of(asked)) io::detail::append_message(to, 5, [&] { io::detail::append_field(to, 1, asked); });
      else append_reflection_error(to, asked);
      break;
    case 7:
      io::detail::append_message(to, 6, [&] {
        for (const std::string& name : all.services())
          io::detail::append_message(to, 1, [&] { io::detail::append_field(to, 1, name); });
      });
      break;
    default: append_reflection_error(to, "the extension");
  }
  return to;
}

}  // namespace TANDEM_NS::serving::impl
