// <mpi.h> without its C++ bindings, and what a status of MPI says. For definitions only.
#pragma once
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <string>

#include "tandem/base/error.hpp"

namespace TANDEM_NS::distribute::impl::mpi {

inline std::string text_of(int status) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  return std::string(text, static_cast<std::size_t>(length));
}
/// Raises errors::UnavailableError unless the status is MPI_SUCCESS; `call` is the function's name.
inline void check(int status, const char* call) {
  if (status != MPI_SUCCESS)
    errors::raise<errors::UnavailableError>("mpi", std::string(call) + " failed: " + text_of(status));
}

}  // namespace TANDEM_NS::distribute::impl::mpi
