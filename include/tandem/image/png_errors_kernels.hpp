// Errors of libpng, which returns them by longjmp, as exceptions. For png.inl and png_write.inl.
#pragma once
#if !__has_include(<png.h>)
#error "tandem/image.hpp needs libpng (Debian: libpng-dev) in header-only mode, and a program that links png"
#endif
#include <png.h>
#include <setjmp.h>

#include <cstdio>
#include <string>

#include "tandem/image/codec_kernels.hpp"

namespace TANDEM_NS::image::impl {

/// Calls libpng. The structs that are worked on have this as their error pointer, fail() and ignore() as functions.
class PngCalls {
 public:
  PngCalls(const char* op, const char* what) : op_(op), what_(what) {}

  /// Calls f, which calls libpng and has nothing to destroy.
  ///   throws  errors::InvalidArgumentError with libpng's text
  template <class F>
  [[gnu::noinline]] void guarded(const F& f) {
    if (setjmp(out_)) raise(op_, what_ + (": " + std::string(text_)));
    f();
  }
  [[noreturn]] static void fail(png_structp png, png_const_charp text) {
    auto& self = *static_cast<PngCalls*>(png_get_error_ptr(png));
    std::snprintf(self.text_, sizeof self.text_, "%s", text);
    longjmp(self.out_, 1);
  }
  static void ignore(png_structp, png_const_charp) {}

 private:
  jmp_buf out_;
  char text_[200] = {};
  const char* op_;
  const char* what_;
};

}  // namespace TANDEM_NS::image::impl
