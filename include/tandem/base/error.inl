// Definitions of base/error.hpp; the throwers of the library's errors, compiled once.
#pragma once
#include "tandem/base/error.hpp"

namespace TANDEM_NS::errors {

TANDEM_INLINE OpError::OpError(Code code, std::string op, const std::string& what)
    : std::runtime_error(op + ": " + what), op_(std::move(op)), detail_(what), code_(code) {}
TANDEM_INLINE OpError::OpError(const OpError&) = default;
TANDEM_INLINE OpError::~OpError() = default;

}  // namespace TANDEM_NS::errors

#if !TANDEM_IS_HEADER_ONLY
namespace TANDEM_NS::errors {

#define TANDEM_RAISE(Name, ...) template TANDEM_API void raise<Name>(const char*, const std::string&);
TANDEM_ERROR_KINDS(TANDEM_RAISE)
TANDEM_RAISE(TraceError)
TANDEM_RAISE(CudaError)
#undef TANDEM_RAISE

}  // namespace TANDEM_NS::errors
#endif
