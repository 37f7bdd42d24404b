// The words of the generated texts. For the definitions of data/synthetic.hpp.
#pragma once
#include <string_view>
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS::data::detail {

inline constexpr std::string_view positive_words =
    "brilliant charming clever delightful excellent fantastic fresh gripping hilarious inspired lovely magnificent "
    "masterful moving perfect powerful stunning superb touching wonderful";
inline constexpr std::string_view negative_words =
    "annoying awful bland boring clumsy confusing dreadful dull forgettable horrible lazy mediocre messy pointless "
    "poor "
    "predictable shallow terrible tedious weak";
inline constexpr std::string_view neutral_words =
    "a about across actor actress after again all and any around as at back based because been before begins between "
    "book both brother but by camera cast chapter character child city close comes day dialogue director does door "
    "down "
    "during each early end episode even evening every family father few film first for friend from full game gets girl "
    "goes hand has her here him his home hour house how in into is it its just kind last later letter life light line "
    "long made man many minute moment month more morning mother movie much music name near new night now of off office "
    "old on one only open opens other out over own page part people piece place play plot point public quite read "
    "returns river road role room same scene screen script second seen series set seven short shot show side sister "
    "some song sound stage starts still story street studio style summer sequel tells their there train";

inline constexpr std::string_view surnames =
    "Abbott Andersen Backstrom Becker Bishop Carter Collins Davies Dean Fischer Ford Gallagher Goodwin Hansen Harper "
    "Jensen Johansson Kelly Lam Larsson Moran Nakid Novak Olsen Palmer Petersen Quick Rice Ryan Sage Silva Skoog "
    "Strom Taylor Vander Webber West Wick Williams Young";
inline constexpr std::string_view male_names =
    "Albert Anders Arthur Carl Charles Edward Ernst Frank Frederick George Harold Henry Ivan James John Karl Martin "
    "Oscar Patrick Peter Richard Robert Samuel Thomas Victor William";
inline constexpr std::string_view female_names =
    "Ada Agnes Alice Anna Augusta Bertha Catherine Clara Edith Eleanor Elizabeth Ellen Emily Florence Hanna Helen Ida "
    "Jane Kate Lillian Margaret Maria Marion Mary Nora Ruth";

inline std::vector<std::string_view> words_in(std::string_view list) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = list.find(' ', at) == list.npos ? list.size() : list.find(' ', at);
    words.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace TANDEM_NS::data::detail
