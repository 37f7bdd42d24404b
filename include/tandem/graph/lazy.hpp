// TANDEM_LAZY: graphs cost only the programs that make them. In header-only mode it makes a template of a function or a
// class, so that what its body names is compiled in programs that call it alone; in compiled mode it is empty.
//
// One rule for graph/, and for no other folder: a function that is defined outside of a class is lazy. The macro stands
// before its first declaration, TANDEM_LAZY_INLINE before a definition that follows. So is a class whose members,
// defined in it, name lazy functions. Not lazy are destructors and virtual functions, whose bodies are compiled with
// their class, what these and the definitions of ops call, and functions with a static variable, of which each instance
// of a template would have its own. They reach lazy functions through tables that are set when a graph is made
// (Tracer::Code, control/control_code.hpp). tests/lint/layering.py has the list of them.
#pragma once
#include "tandem/config.hpp"

#if TANDEM_IS_HEADER_ONLY
#define TANDEM_LAZY template <int = 0>
#define TANDEM_LAZY_INLINE template <int>
#else
#define TANDEM_LAZY
#define TANDEM_LAZY_INLINE
#endif
