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
  if (t.dtype() != DType::uint8 && t.dtype() != DType::bool_ && !is_floating(t.dtype()))
    raise_images("a gray image is uint8 from 0 to 255, or floating from 0 to 1, not " + to_string(t.spec()) +
                 ": cast it");
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

TANDEM_INLINE std::string described(const std::vector<Image>& images) {
  std::string text = "Images: " + std::to_string(images.size());
  for (const Image& i : images)
    if (!i.caption.empty()) text += (&i == images.data() ? ". " : "; ") + i.caption;
  return text;
}

// Where the images lie.
struct ImageGrid {
  static constexpr double margin = 14, caption_height = 20;
  std::size_t columns;
  double left, room;  // of the first column; of one image, which has the larger of its sizes

  ImageGrid(std::size_t n, const ImagesOptions& o) : left(margin) {
    if (o.columns < 0) raise_images(std::to_string(o.columns) + " columns");
    if (!(o.width >= 100 && o.width <= 1e5)) raise_images("the width is not from 100 to 100000 units");
    if (!(o.gap >= 0 && o.gap <= 1000)) raise_images("the gap is " + number_text(o.gap) + ", not from 0 to 1000");
    columns = static_cast<std::size_t>(o.columns);
    if (columns == 0) columns = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(n))));
    columns = std::max(columns, std::size_t{1});
    const std::size_t rows = (n + columns - 1) / columns;
    if (!o.row_names.empty() && o.row_names.size() != rows)
      raise_images(std::to_string(o.row_names.size()) + " names for " + std::to_string(rows) + " rows");
    for (const std::string& name : o.row_names)
      left = std::max(left, std::min(margin + text_width(name, text_size) + 8, o.width / 3));
    const auto count = static_cast<double>(columns);
    room = (o.width - left - margin - o.gap * (count - 1)) / count;
    if (room < 1) raise_images(std::to_string(columns) + " columns are too many for this width");
  }
  // Draws images side by side, standing on one line; returns the height that they take.
  double draw_row(Canvas& to, double y, Span<const Image> row, const ImagesOptions& o, const std::string& name) const {
    std::vector<SizedImage> sized_row;
    double tallest = 0;
    bool captions = false;
    for (const Image& i : row) {
      const SizedImage& s = sized_row.emplace_back(sized(i));
      if (s.width > 0) tallest = std::max(tallest, room * s.height / std::max(s.width, s.height));
      captions |= !i.caption.empty();
    }
    to.text(ImageGrid::margin, y + tallest / 2 + 5, fitted(name, text_size, left - margin - 4), {.css = "tp-dim"});
    double x = left;
    for (const SizedImage& s : sized_row) {
      draw_image(to, s, x, y + tallest - room, room, o.zero_is_white);
      to.text(x + room / 2, y + tallest + 15, fitted(s.image->caption, text_size, room), {.anchor = Anchor::middle});
      x += room + o.gap;
    }
    return tallest + (captions ? caption_height : 0);
  }
};

}  // namespace impl

TANDEM_INLINE Figure images(const std::vector<Image>& images, const ImagesOptions& o) {
  const impl::ImageGrid grid(images.size(), o);
  const Span<const Image> all(images);
  impl::Canvas canvas;
  double y = grid.margin + impl::draw_title(canvas, o.title, o.width);
  for (std::size_t first = 0; first < all.size(); first += grid.columns) {
    const std::size_t row = first / grid.columns, n = std::min(grid.columns, all.size() - first);
    if (row > 0) y += o.gap;
    y += grid.draw_row(canvas, y, all.subspan(first, n), o, o.row_names.empty() ? "" : o.row_names[row]);
  }
  if (images.empty()) canvas.text(grid.margin, (y += 20), "no images", {.css = "tp-dim"});
  return Figure(o.title, o.description.empty() ? impl::described(images) : o.description, o.width,
                std::min(y + grid.margin, 1e5), canvas.elements());
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
