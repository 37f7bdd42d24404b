// Encoding of JPEG images by libjpeg-turbo.
#pragma once
#include <cstdlib>

#include "tandem/image/codec_kernels.hpp"
#include "tandem/image/jpeg_errors_kernels.hpp"

namespace TANDEM_NS::image::impl {

class JpegWriter {
 public:
  JpegWriter() : calls_("encode_jpeg", "libjpeg cannot write the image") {
    out_.err = calls_.manager();
    calls_.guarded([&] {
      jpeg_create_compress(&out_);
      jpeg_mem_dest(&out_, &out_.bytes, &out_.size);
    });
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  std::string write(const Extent& e, const std::uint8_t* pixels, const rules::EncodeImageAttrs& a) {
    calls_.guarded([&] {
      set_options(e, a);
      jpeg_start_compress(&out_, TRUE);
      while (out_.next_scanline < out_.image_height) {
        JSAMPROW rows[] = {const_cast<JSAMPLE*>(pixels + static_cast<i64>(out_.next_scanline) * e.width * e.channels)};
        jpeg_write_scanlines(&out_, rows, 1);
      }
      jpeg_finish_compress(&out_);
    });
    return {reinterpret_cast<const char*>(out_.bytes), out_.size};
  }

 private:
  void set_options(const Extent& e, const rules::EncodeImageAttrs& a) {
    out_.image_height = static_cast<JDIMENSION>(e.height);
    out_.image_width = static_cast<JDIMENSION>(e.width);
    out_.input_components = static_cast<int>(e.channels);
    out_.in_color_space = e.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&out_);
    jpeg_set_quality(&out_, static_cast<int>(a.quality), TRUE);
    out_.optimize_coding = a.optimize_size;
    if (a.progressive) jpeg_simple_progression(&out_);
    if (!a.chroma_downsampling && e.channels == 3)
      out_.comp_info[0].h_samp_factor = out_.comp_info[0].v_samp_factor = 1;
    out_.density_unit = a.density_unit == DensityUnit::in ? 1 : 2;
    out_.X_density = static_cast<UINT16>(a.x_density);
    out_.Y_density = static_cast<UINT16>(a.y_density);
  }

  // A member with a destructor, which runs also if the constructor raises.
  struct Compressor : jpeg_compress_struct {
    Compressor() : jpeg_compress_struct{} {}
    ~Compressor() {
      jpeg_destroy_compress(this);
      std::free(bytes);
    }
    unsigned char* bytes = nullptr;  // from malloc, by libjpeg
    unsigned long size = 0;
  };

  JpegCalls calls_;
  Compressor out_;
};

TANDEM_INLINE std::string write_jpeg(const Extent& e, const std::uint8_t* pixels, const rules::EncodeImageAttrs& a) {
  return JpegWriter().write(e, pixels, a);
}

}  // namespace TANDEM_NS::image::impl
