// Errors of libjpeg, which returns them by longjmp, as exceptions. For jpeg.inl and jpeg_write.inl.
#pragma once
#include <cstddef>
#include <cstdio>
// jpeglib.h needs what is above.
#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>

#include <string>

#include "tandem/image/codec_kernels.hpp"

namespace TANDEM_NS::image::impl {

/// Calls libjpeg. The struct that is worked on has `manager()` as its error manager.
class JpegCalls {
 public:
  JpegCalls(const char* op, const char* what) : op_(op), what_(what) {
    jpeg_std_error(&errors_.base);
    errors_.base.error_exit = &jump_out;
    errors_.base.emit_message = &note_warning;
    errors_.base.output_message = [](j_common_ptr) {};
  }
  jpeg_error_mgr* manager() { return &errors_.base; }
  /// Whether the decoder has missed data, and has gone on with zeros.
  bool ended_early() const { return errors_.ended_early; }

  /// Calls f, which calls libjpeg and has nothing to destroy.
  ///   throws  errors::InvalidArgumentError with libjpeg's text
  template <class F>
  [[gnu::noinline]] void guarded(const F& f) {
    if (setjmp(errors_.out)) raise(op_, what_ + (": " + std::string(errors_.text)));
    f();
  }
  /// Called by libjpeg's callbacks, inside of guarded().
  [[noreturn]] void fail(const char* text) {
    std::snprintf(errors_.text, sizeof errors_.text, "%s", text);
    longjmp(errors_.out, 1);
  }

 private:
  struct Errors {
    jpeg_error_mgr base;  // the first member: libjpeg has its address
    jmp_buf out;
    bool ended_early = false;
    char text[JMSG_LENGTH_MAX] = {};
  };
  static Errors& of(j_common_ptr any) { return *reinterpret_cast<Errors*>(any->err); }
  [[noreturn]] static void jump_out(j_common_ptr any) {
    any->err->format_message(any, of(any).text);
    longjmp(of(any).out, 1);
  }
  static void note_warning(j_common_ptr any, int level) {
    const int code = any->err->msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) of(any).ended_early = true;
  }

  Errors errors_;
  const char* op_;
  const char* what_;
};

}  // namespace TANDEM_NS::image::impl
