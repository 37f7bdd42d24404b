// The throwers of the library's errors, compiled once.
#pragma once
#include "tandem/base/error.hpp"

#if !TANDEM_IS_HEADER_ONLY
namespace TANDEM_NS::errors {

#define TANDEM_RAISE(Name, ...) template TANDEM_API void raise<Name>(const char*, const std::string&);
TANDEM_ERROR_KINDS(TANDEM_RAISE)
TANDEM_RAISE(TraceError)
TANDEM_RAISE(CudaError)
#undef TANDEM_RAISE

}  // namespace TANDEM_NS::errors
#endif
