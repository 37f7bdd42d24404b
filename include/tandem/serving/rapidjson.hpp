// RapidJSON's headers, for the definitions that use them. Clang's sanitizer stops at its empty stack, which is a null
// pointer, plus a size; which copy of such a function a program has is the linker's choice, so all of them are left out.
#pragma once
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#ifdef __clang__
#pragma clang attribute pop
#endif
