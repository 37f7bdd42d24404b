// Generated stand-ins for data sets, for programs that must run without any file: digits, words in letters, reviews, a
// passenger list. All are pure functions of their arguments. Part of the component tandem::data.
#pragma once
#include <string>
#include <vector>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::data {

/// Pictures of digits, as the files of MNIST have them.
struct Digits {
  Tensor images;  ///< uint8 [n, 28, 28]: 0 is background
  Tensor labels;  ///< uint8 [n]: 0 to 9
};
/// Draws digits from glyphs of 5x7 dots, each moved, scaled, turned and slanted at random, with strokes of different
/// strength and with noise. Classes are drawn uniformly. The task is about as hard as MNIST: with 8,500 digits softmax
/// regression reaches .95, one hidden layer of 128 units .99.
///   throws  errors::InvalidArgumentError for a negative n
TANDEM_API Digits synthetic_digits(i64 n, i64 seed = 0);

/// Words as pictures of their letters, for sequence labelling.
struct Letters {
  Tensor images;   ///< uint8 [n, 14, 16, 8]: 0 or 1; positions after the word are 0
  Tensor labels;   ///< int32 [n, 14]: 0 to 25; positions after the word are 0
  Tensor lengths;  ///< int32 [n]: 3 to 14
};
/// Draws words of 3 to 14 letters, in 26 random glyphs of which each pixel is flipped with probability .05. Letters are
/// uniform, but: after letter 0 or 2 comes one of {20, 21, 22}, after 1 or 3 one of {23, 24, 25}; no word ends in
/// 0, 1, 2 or 3. Letters 0 and 1 share a glyph, 2 and 3 share another: only the next letter tells them apart, so that a
/// model that reads from left to right has an error of at least .061. The glyphs depend on the seed, too.
///   throws  errors::InvalidArgumentError for a negative n
TANDEM_API Letters synthetic_letters(i64 n, i64 seed = 0);

/// Texts with a judgement.
struct Reviews {
  std::vector<std::string> texts;  ///< words separated by blanks, in lower case
  Tensor labels;                   ///< int32 [n]: 1 positive, 0 negative
};
/// Draws texts of 5 to 60 words: 1 to 3 of 20 positive words, or as many of 20 negative ones, at random places among
/// words of 160 neutral ones. Half of the texts are positive, on average.
///   throws  errors::InvalidArgumentError for a negative n
TANDEM_API Reviews synthetic_reviews(i64 n, i64 seed = 0);

/// A passenger list of the Titanic as text of a CSV file, to be read by parse_csv: 891 rows with the numbers of
/// passengers and survivors by sex and class of the real list (as in Kaggle's train.csv), the rest is made up. Columns:
/// PassengerId, Survived, Pclass, Name (quoted, with commas and quotes), Sex, Age (empty in 177 rows; otherwise normal
/// with mean 30 and standard deviation 14, clipped to [.5, 80]).
TANDEM_API std::string synthetic_titanic(i64 seed = 0);

}  // namespace TANDEM_NS::data
