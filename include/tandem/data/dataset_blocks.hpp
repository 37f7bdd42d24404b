// Data sets of files that are read by place: records of one length, blocks of text. Part of the component tandem::data.
// Not here: records and lines that are found by reading what lies before (dataset_files.hpp).
#pragma once
#include <limits>
#include <string>

#include "tandem/data/dataset_files.hpp"
#include "tandem/io/compression.hpp"

namespace TANDEM_NS::data {

struct FixedLengthRecordOptions {
  i64 header_bytes = 0;  ///< at the beginning of each file, passed over
  i64 footer_bytes = 0;  ///< at its end
  /// automatic: gzip for files that begin with bytes 1f 8b. none for records that may themselves begin so.
  io::Compression compression = io::Compression::automatic;
};
/// The records of files in which all have the same length, one file after another, as tf.data.FixedLengthRecordDataset.
/// Indexed: it can be shuffled as a whole, and begin anywhere at no cost. Compressed files are inflated into memory
/// when the data set is made; of the others a record is read when its turn comes. Lengths are those of the content.
///
///   const data::FixedLengthRecordDataset records("data_batch_1.bin", 3073);
///   const auto pictures = records.map([](const std::string& record) { return decode(record); });
class FixedLengthRecordDataset : public Dataset<std::string> {
 public:
  ///   throws  errors::NotFoundError for a path that is not a file; errors::InvalidArgumentError for lengths out of
  ///           range, and for a file whose bytes between header and footer are not a number of whole records, which it
  ///           names; errors::DataLossError and UnimplementedError as read_file. Iterations raise
  ///           errors::UnavailableError for a file that has changed or cannot be read. Up to 64 files stay open: one
  ///           that is removed, or replaced by another, is read as it was
  TANDEM_API FixedLengthRecordDataset(const Paths& paths, i64 record_bytes, FixedLengthRecordOptions options = {});
};

/// What a block of text never divides.
enum class TextUnit : std::uint8_t {
  word,  ///< what stands between white space of ASCII
  line   ///< what ends with LF
};
struct TextBlockOptions {
  i64 block_bytes = 65536;         ///< how far apart blocks begin, but for the rest of a word or line
  TextUnit unit = TextUnit::word;  ///< a block ends where one of these does
  i64 max_block_bytes = std::numeric_limits<i64>::max();  ///< a longer one raises instead of filling the memory
  /// automatic: gzip for files that begin with bytes 1f 8b.
  io::Compression compression = io::Compression::automatic;
};
/// The text of files in blocks of about .block_bytes, one file after another: for texts whose lines are no unit, or
/// which have none, such as a corpus of 100 MB in one line. The blocks of a file together are its bytes. Block i has
/// the words (lines) that begin in bytes [i * block_bytes, (i + 1) * block_bytes) of the file, with the byte that
/// ends each; white space behind it counts where it lies. A block without any of this is empty: in blocks of 2 bytes
/// "abcd e f" is "abcd ", "", "e ", "f", and "a   b" is "a ", "  ", "b". So each is found without what lies before: the
/// data set is indexed, can be shuffled as a whole, be divided among processes by shard, and begin anywhere at no cost.
/// Compressed files are inflated into memory when the data set is made; of the others a block is read when its turn
/// comes.
///
///   const data::TextBlockDataset blocks("text8");
///   for (const std::string& text : blocks.shuffle().epoch(0)) count_words(text);
class TextBlockDataset : public Dataset<std::string> {
 public:
  ///   throws  errors::NotFoundError for a path that is not a file; errors::InvalidArgumentError for an option below 1
  ///           and for block_bytes above max_block_bytes; errors::DataLossError and UnimplementedError as read_file.
  ///           Iterations raise errors::ResourceExhaustedError for a block above max_block_bytes, naming the file and
  ///           the byte where it begins, and errors::UnavailableError as those of FixedLengthRecordDataset
  TANDEM_API explicit TextBlockDataset(const Paths& paths, TextBlockOptions options = {});
};

}  // namespace TANDEM_NS::data
