// fmt, for implementation halves only: header-only, so that an installed static library does not need it.
#pragma once
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY 1
#endif
#include <fmt/format.h>
