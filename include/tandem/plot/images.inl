// Definitions of plot/images.hpp.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/base/error.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/plot/frame.hpp"
#include "tandem/plot/images.hpp"
#include "tandem/plot/png.hpp"
#include "tandem/plot/raster.hpp"

namespace TANDEM_NS::plot {

namespace impl {

inline constexpr int gray_levels = 32;
inline constexpr std::size_t most_gray_pixels = 256;  // rows or columns

[[noreturn]] TANDEM_INLINE void raise_images(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("plot::images", what);
}

// Values from 0 (black) to 1 (white).
TANDEM_INLINE Raster gray_raster(const Tensor& t) {
  const Shape& s = t.shape();
  if (s.rank() != 2 && !(s.rank() == 3 && s.dim(2) == 1))
    raise_images("a gray image is [height, width] or [height, width, 1], this is " + to_string(t.spec()) +
                 "; give one with colors as .png, by image::encode_png");
  Raster r{static_cast<std::size_t>(s.dim(0)), static_cast<std::size_t>(s.dim(1)), Values(t).numbers()};
  if (t.dtype() == DType::uint8)
    for (double& v : r.values) v /= 255;
  return reduced(r, most_gray_pixels);
}

// An image with the size of its pixels.
struct SizedImage {
  const Image* image;
  Raster gray;
  double width, height;
};
TANDEM_INLINE SizedImage sized(const Image& image) {
  if (image.png.empty() == !image.gray.is_set()) raise_images("an image needs one of .png and .gray");
  if (!image.png.empty()) {
    const PngSize size = png_size("plot::images", image.png);
    return {&image, {}, size.width, size.height};
  }
  Raster gray = gray_raster(image.gray);
  const auto width = static_cast<double>(gray.columns), height = static_cast<double>(gray.rows);
  return {&image, std::move(gray), width, height};
}

TANDEM_INLINE void draw_gray(Canvas& to, const Raster& gray, double x, double y, double scale, bool zero_is_white) {
  std::vector<int> levels;
  for (const double v : gray.values)
    levels.push_back(std::isnan(v) ? -1 : static_cast<int>(std::lround(std::clamp(v, 0., 1.) * (gray_levels - 1))));
  std::vector<std::string> attributes;
  for (int l = 0; l < gray_levels; ++l) {
    const int light = 255 * (zero_is_white ? gray_levels - 1 - l : l) / (gray_levels - 1);
    const std::string number = std::to_string(light);
    attributes.push_back("stroke=\"rgb(" + number + "," + number + "," + number + ")\"");
  }
  draw_levels(to, x, y, scale, scale, levels, gray.columns, attributes);
  draw_missing(to, x, y, scale, scale, gray);
}

TANDEM_INLINE void draw_image(Canvas& to, const SizedImage& i, double x, double y, double room, bool zero_is_white) {
  if (i.width == 0 || i.height == 0) return;
  const double scale = room / std::max(i.width, i.height), width = i.width * scale, height = i.height * scale;
  x += (room - width) / 2, y += room - height;
  if (i.image->png.empty()) {
    draw_gray(to, i.gray, x, y, scale, zero_is_white);
    return;
  }
  to.image(x, y, width, height, data_uri(i.image->png), i.width <= 64 && i.height <= 64);
}

}  // namespace impl

TANDEM_INLINE Figure images(const std::vector<Image>& images, const ImagesOptions& o) {
  if (o.columns < 0) impl::raise_images(std::to_string(o.columns) + " columns");
  if (!(o.width >= 100 && o.width <= 1e5)) impl::raise_images("the width is not from 100 to 100000 units");
  std::string description = o.description;
  if (description.empty()) {
    description = "Images: " + std::to_string(images.size());
    for (const Image& i : images)
      if (!i.caption.empty()) description += (&i == images.data() ? ". " : "; ") + i.caption;
  }
  const std::size_t n = images.size();
  const auto columns =
      o.columns > 0 ? static_cast<std::size_t>(o.columns)
                    : static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(std::max(n, std::size_t{1})))));
  constexpr double margin = 14, gap = 8, caption = 20;
  const double room = (o.width - 2 * margin - gap * static_cast<double>(columns - 1)) / static_cast<double>(columns);
  if (room < 1) impl::raise_images(std::to_string(columns) + " columns are too many for this width");
  impl::Canvas canvas;
  double y = margin + impl::draw_title(canvas, o.title, o.width);
  for (std::size_t first = 0; first < n; first += columns) {
    std::vector<impl::SizedImage> row;
    double tallest = 0;  // as a share of the room
    bool captions = false;
    for (std::size_t i = first; i < std::min(n, first + columns); ++i) {
      row.push_back(impl::sized(images[i]));
      const impl::SizedImage& s = row.back();
      if (s.width > 0) tallest = std::max(tallest, s.height / std::max(s.width, s.height));
      captions |= !images[i].caption.empty();
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double x = margin + (room + gap) * static_cast<double>(i);
      impl::draw_image(canvas, row[i], x, y - (1 - tallest) * room, room, o.zero_is_white);
      canvas.text(x + room / 2, y + room * tallest + 15, impl::fitted(row[i].image->caption, impl::text_size, room),
                  {.anchor = impl::Anchor::middle});
    }
    y += room * tallest + gap + (captions ? caption : 0);
  }
  if (n == 0) canvas.text(margin, (y += 20), "no images", {.css = "tp-dim"});
  return Figure(o.title, std::move(description), o.width, std::min(y + margin - gap, 1e5), canvas.elements());
}

TANDEM_INLINE Figure images(const Tensor& batch, const std::vector<std::string>& captions, const ImagesOptions& o) {
  const tandem::detail::OutsideTrace outside;
  tandem::detail::check_value("plot::images", batch);
  const i64 n = batch.rank() > 0 ? batch.shape().dim(0) : 0;
  if (batch.rank() < 3)
    impl::raise_images("a batch is [n, height, width] or [n, height, width, 1], this is " + to_string(batch.spec()));
  if (!captions.empty() && captions.size() != static_cast<std::size_t>(n))
    impl::raise_images(std::to_string(captions.size()) + " captions for " + std::to_string(n) + " images");
  std::vector<Image> list;
  for (i64 i = 0; i < n; ++i)
    list.push_back({.gray = batch[i], .caption = captions.empty() ? "" : captions[static_cast<std::size_t>(i)]});
  return images(list, o);
}

}  // namespace TANDEM_NS::plot
