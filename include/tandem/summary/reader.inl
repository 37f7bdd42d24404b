// Definitions of summary/reader.hpp.
#pragma once
#include <algorithm>
#include <filesystem>
#include <optional>

#include "tandem/base/error.hpp"
#include "tandem/io/input.hpp"
#include "tandem/io/tfrecord_format.hpp"
#include "tandem/summary/reader.hpp"

namespace TANDEM_NS::summary {

namespace impl {

// The event files of a folder, or the path itself.
TANDEM_INLINE std::vector<std::string> event_files(const std::string& path) {
  std::error_code error, unknown;  // unknown: what a link without a target is
  if (!std::filesystem::is_directory(path, unknown)) return {path};
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().find("tfevents") != std::string::npos && at->is_regular_file(unknown))
      files.push_back(at->path().string());
  if (error) errors::raise<errors::UnavailableError>("EventReader", "cannot list " + path + ": " + error.message());
  if (files.empty()) errors::raise<errors::NotFoundError>("EventReader", path + " has no event files");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace impl

struct EventReader::State {
  explicit State(const std::string& path) : files(impl::event_files(path)) { open(); }
  void open() {
    input.emplace("EventReader", files[file], io::Compression::none);
    records = 0;
  }
  [[noreturn]] void damaged(i64 position, const std::string& what) const {
    errors::raise<errors::DataLossError>("EventReader", files[file] + ": record " + std::to_string(records - 1) +
                                                            " at byte " + std::to_string(position) + ": " + what);
  }
  bool next_record(std::string_view& event, i64& position);

  std::vector<std::string> files;  // files[file] is being read
  std::size_t file = 0;
  std::optional<io::detail::Input> input;
  i64 records = 0;  // of the file, that have been read
  detail::TagInfos tags;
};

// The next record of the file; false at its end, and in the record that it cuts off.
TANDEM_INLINE bool EventReader::State::next_record(std::string_view& event, i64& position) {
  constexpr std::size_t head = io::detail::record_head_bytes, around = head + io::detail::record_tail_bytes;
  position = static_cast<i64>(input->position());
  const std::string_view start = input->peek(head);
  if (start.size() < head) return false;
  ++records;
  const auto length = io::detail::number_from<u64>(start, 0);
  const bool good = io::detail::has_crc(start, 8) && length < u64{1} << 62;
  if (!good) {
    input.reset();  // nobody knows where the next record begins
    damaged(position, "the checksum of its length does not match");
  }
  if (input->has_fewer_than(length + around - std::min<u64>(length + around, start.size()))) return false;
  const std::size_t all = around + static_cast<std::size_t>(length);
  const std::string_view bytes = input->peek(all);
  if (bytes.size() < all) return false;
  event = bytes.substr(head, static_cast<std::size_t>(length));
  const bool intact = io::detail::has_crc(bytes.substr(head), event.size());
  input->skip(all);
  if (!intact) damaged(position, "the checksum of its bytes does not match");
  return true;
}

TANDEM_INLINE EventReader::EventReader(const std::string& path) : state_(std::make_unique<State>(path)) {}
TANDEM_INLINE EventReader::EventReader(EventReader&&) noexcept = default;
TANDEM_INLINE EventReader& EventReader::operator=(EventReader&&) noexcept = default;
TANDEM_INLINE EventReader::~EventReader() = default;

TANDEM_INLINE bool EventReader::next(Event& event) {
  State& s = *state_;
  std::string_view bytes;
  i64 position = 0;
  while (!s.input || !s.next_record(bytes, position)) {
    if (s.file + 1 == s.files.size()) return false;
    ++s.file;
    s.open();
  }
  if (!detail::parse_event(bytes, s.tags, event)) s.damaged(position, "its bytes are not an event");
  return true;
}
TANDEM_INLINE const std::string& EventReader::path() const { return state_->files[state_->file]; }

TANDEM_INLINE std::vector<Event> read_events(const std::string& path) {
  std::vector<Event> events;
  EventReader reader(path);
  for (Event event; reader.next(event);) events.push_back(std::move(event));
  return events;
}

}  // namespace TANDEM_NS::summary
