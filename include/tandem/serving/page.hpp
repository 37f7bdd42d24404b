// The web page of a model server: its models, their states, a form to try each. For the definitions of serving.
#pragma once
#include <string>
#include <string_view>

#include "tandem/serving/core.hpp"

namespace TANDEM_NS::serving::impl {

struct PageFile {
  std::string_view path, type, text;
};
/// The file at a path: "/", "/page.js", "/page.css", "/page.svg"; null if there is none. They load nothing from
/// elsewhere.
const PageFile* page_file(std::string_view path);
/// What the page asks for: {"models": [{"name": ..., "versions": [{"version": "1", "state": "AVAILABLE", "bytes": 8,
/// "error": ""}]}]}.
std::string models_json(Core& core);
/// What browsers are told to refuse: scripts and styles that do not come from the server's own files.
inline constexpr const char* page_policy =
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

}  // namespace TANDEM_NS::serving::impl
