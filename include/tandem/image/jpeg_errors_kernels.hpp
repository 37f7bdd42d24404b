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
  /// Where a decoder was when the bytes ended. Data that is damaged before their end is not noted here.
  struct Progress {
    bool at_end = false;        // all bytes were read before the end of the image was marked
    bool lacks_pixels = false;  // pixels were still missing then
    int scan = 0;               // the first of them: of this scan, from 1, in this row of blocks
    JDIMENSION row = 0;
  };
  const Progress& progress() const { return errors_.progress; }

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
    Progress progress;
    char text[JMSG_LENGTH_MAX] = {};
  };
  static Errors& of(j_common_ptr any) { return *reinterpret_cast<Errors*>(any->err); }
  [[noreturn]] static void jump_out(j_common_ptr any) {
    any->err->format_message(any, of(any).text);
    longjmp(of(any).out, 1);
  }
  static void note_warning(j_common_ptr any, int level) {
    const int code = any->err->msg_code;
    Progress& p = of(any).progress;
    if (level >= 0) return;
    if (code == JWRN_JPEG_EOF) p.at_end = true;
    // A marker among pixels is damage, unless it is the one that libjpeg has put behind the last byte.
    if (code != JWRN_HIT_MARKER || !p.at_end || p.lacks_pixels) return;
    const auto in = reinterpret_cast<j_decompress_ptr>(any);
    p = {true, true, in->input_scan_number, in->input_iMCU_row};
  }

  Errors errors_;
  const char* op_;
  const char* what_;
};

}  // namespace TANDEM_NS::image::impl
