// Definitions of data/dataset/element_bytes.hpp and saved.hpp.
#pragma once
#include <algorithm>
#include <filesystem>

#include "tandem/data/dataset/saved.hpp"

namespace TANDEM_NS::data::detail {

TANDEM_INLINE void append_tensor(const char* op, const Tensor& t, std::string& to) {
  tandem::detail::check_value(op, t);
  if (t.device().kind != Device::cpu)
    errors::raise<errors::InvalidArgumentError>(op, "an element is on " + to_string(t.device()) +
                                                        ": copy it to the CPU first, as .map([](const Tensor& x) { "
                                                        "return x.cpu(); }) does");
  append_number(static_cast<std::uint8_t>(t.dtype()), to);
  append_number(static_cast<std::uint8_t>(t.rank()), to);
  for (int axis = 0; axis < t.rank(); ++axis) append_number(t.shape().dim(axis), to);
  if (t.dtype() != DType::string) {
    to.append(static_cast<const char*>(t.raw()), t.spec().bytes());
    return;
  }
  for (i64 i = 0; i < t.size(); ++i) {
    const std::string_view text = static_cast<const Bytes*>(t.raw())[i].view();
    append_number(static_cast<u64>(text.size()), to);
    to += text;
  }
}

TANDEM_INLINE void ElementBytes::raise_damaged() const {
  errors::raise<errors::DataLossError>(op_, "the bytes of an element do not fit its type: the file is damaged");
}
TANDEM_INLINE void ElementBytes::check_end() const {
  if (!bytes_.empty()) raise_damaged();
}
TANDEM_INLINE std::string_view ElementBytes::take(u64 n) {
  if (n > bytes_.size()) raise_damaged();
  const std::string_view r = bytes_.substr(0, n);
  bytes_.remove_prefix(n);
  return r;
}
TANDEM_INLINE Tensor ElementBytes::tensor() {
  const auto dtype = number<std::uint8_t>();
  const auto rank = number<std::uint8_t>();
  if (dtype >= static_cast<unsigned>(dtype_count) || rank > max_rank) raise_damaged();
  Spec spec{Shape(), static_cast<DType>(dtype), {}};
  u64 size = 1;
  for (int axis = 0; axis < rank; ++axis) {
    const i64 n = number<i64>();
    if (n < 0 || __builtin_mul_overflow(size, static_cast<u64>(n), &size)) raise_damaged();
    spec.shape.push_back(n);
  }
  // Each element takes a byte at least, a text eight for its length: what is not there is not allocated.
  const u64 least = spec.dtype == DType::string ? sizeof(u64) : size_of(spec.dtype);
  if (size > bytes_.size() / least) raise_damaged();
  const Tensor r = Tensor::allocate(spec);
  if (spec.dtype != DType::string) {
    const std::string_view bytes = take(size * least);
    if (spec.dtype == DType::bool_ && std::any_of(bytes.begin(), bytes.end(), [](char c) { return c != 0 && c != 1; }))
      raise_damaged();
    if (!bytes.empty()) std::memcpy(r.raw(), bytes.data(), bytes.size());
    return r;
  }
  for (u64 i = 0; i < size; ++i) static_cast<Bytes*>(r.raw())[i] = Bytes(take(number<u64>()));
  return r;
}

namespace impl {
inline std::string header(const std::string& type) { return "tandem elements 1 " + type; }
}  // namespace impl

TANDEM_INLINE ElementWriter::ElementWriter(const std::string& path, const std::string& type)
    : file_(path), writer_(file_.path()) {
  writer_.write(impl::header(type));
}
TANDEM_INLINE void ElementWriter::write(std::string_view element) { writer_.write(element); }
TANDEM_INLINE void ElementWriter::publish() {
  writer_.close();
  file_.commit();
}

TANDEM_INLINE void ElementFiles::add(const char* op, const std::string& path, const std::string& type) {
  io::TFRecordFile file(path);
  const std::string found = file.size() > 0 ? file.at(0) : "";
  if (found != impl::header(type))
    errors::raise<errors::InvalidArgumentError>(
        op, path + (found.rfind("tandem elements ", 0) == 0
                        ? " has elements of another type: it says '" + found + "' where '" + impl::header(type) +
                              "' is needed; remove it if the data set has changed"
                        : " is not a file of elements"));
  ends_.push_back(size() + file.size() - 1);  // the first record is the type
  files_.push_back(std::move(file));
}
TANDEM_INLINE std::string ElementFiles::at(i64 index) const {
  const auto file = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
  return files_[file].at(index - (file > 0 ? ends_[file - 1] : 0) + 1);
}

TANDEM_INLINE std::shared_ptr<const ElementFiles> open_elements(const char* op, const std::string& path,
                                                                const std::string& type) {
  if (!std::filesystem::exists(path)) return nullptr;
  auto files = std::make_shared<ElementFiles>();
  files->add(op, path, type);
  return files;
}

namespace impl {
class FileStore final : public ElementStore {
 public:
  FileStore(std::string path, std::string type) : path_(std::move(path)), type_(std::move(type)) {}
  std::shared_ptr<const ElementFiles> open() const override { return open_elements("cache", path_, type_); }
  std::unique_ptr<ElementSink> write() const override { return std::make_unique<ElementWriter>(path_, type_); }

 private:
  std::string path_, type_;
};
}  // namespace impl
TANDEM_INLINE std::unique_ptr<ElementStore> file_store(std::string path, std::string type) {
  return std::make_unique<impl::FileStore>(std::move(path), std::move(type));
}

}  // namespace TANDEM_NS::data::detail
