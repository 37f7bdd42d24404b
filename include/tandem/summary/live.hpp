// The recorders of this process: flushed when it exits and when an exception or std::abort() ends it, and not used by a
// child that fork() makes. For the definitions of the writer.
#pragma once
#include "tandem/config.hpp"

namespace TANDEM_NS::summary::detail {

class Recorder;

/// Adds a recorder to those that are flushed by exit(), std::terminate() and, unless the program handles SIGABRT
/// itself, std::abort().
void add_live(Recorder& r);
void remove_live(Recorder& r) noexcept;
/// The number of forks between the first process and this one.
unsigned forks();
/// Raises FailedPreconditionError if a writer of the parent process is used in a child.
void check_process(const char* op, bool is_inherited);

}  // namespace TANDEM_NS::summary::detail
