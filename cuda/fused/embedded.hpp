// The texts that kernels compiled at run time include: headers of the library, and the rules of the ops. The list is
// made by cmake/EmbedFused.cmake.
#pragma once
#include "tandem/base/span.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::cuda {

struct EmbeddedFile {
  const char* name;  // as it is included; a standard header's has no folder
  const char* text;
};
Span<const EmbeddedFile> embedded_files();

}  // namespace TANDEM_NS::cuda
