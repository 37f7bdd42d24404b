# tandem_embed_fused(result): writes a source file that has the texts which kernels compiled at run time include
# (cuda/fused/embedded.hpp), when CMake is configured and again when one of them has changed.

# What kernels use of a file with rules of pointwise ops: of each rule that fused programs may have (`names`), `forward`;
# constants and function templates of the namespace. It reads the text by lines, as clang-format lays them out.
function(tandem_rules_of result file names)
  file(READ "${file}" text)
  string(REGEX REPLACE "^.*\nnamespace TANDEM_NS::rules {\n" "" text "${text}")
  string(REGEX REPLACE "\n}  // namespace TANDEM_NS::rules\n.*$" "\n" text "${text}")
  set(rules "")
  set(before "")      # the line before, if it begins a template
  set(end "")         # the line that ends what is being copied
  set(in_rule FALSE)  # in a struct that is copied
  string(FIND "${text}" "\n" length)
  while(length GREATER -1)
    string(SUBSTRING "${text}" 0 ${length} line)
    math(EXPR next "${length} + 1")
    string(SUBSTRING "${text}" ${next} -1 text)
    if(NOT end STREQUAL "")
      string(APPEND rules "${line}\n")
      if(line STREQUAL end)
        set(end "")
      endif()
    elseif(line MATCHES "^struct ([a-z0-9_]+)_rule" AND CMAKE_MATCH_1 IN_LIST names)
      string(APPEND rules "struct ${CMAKE_MATCH_1}_rule {\n")
      list(REMOVE_ITEM names ${CMAKE_MATCH_1})
      set(in_rule TRUE)
    elseif(in_rule AND line STREQUAL "};")
      string(APPEND rules "};\n")
      set(in_rule FALSE)
    elseif(in_rule AND line MATCHES "^  static TANDEM_HD .* forward\\(" AND NOT before STREQUAL "")
      string(APPEND rules "${before}\n${line}\n")
      set(end "  }")
    elseif(line MATCHES "^TANDEM_HD " AND NOT before STREQUAL "")
      string(APPEND rules "${before}\n${line}\n")
      set(end "}")
    elseif(line MATCHES "^inline constexpr .*;")
      string(APPEND rules "${line}\n")
    endif()
    set(before "")
    if(line MATCHES "^ *template <")
      set(before "${line}")
    endif()
    string(FIND "${text}" "\n" length)
  endwhile()
  set(${result} "${rules}" PARENT_SCOPE)
  set(names_left "${names}" PARENT_SCOPE)
endfunction()

function(tandem_embed_fused result)
  set(include "${PROJECT_SOURCE_DIR}/include")
  file(READ "${include}/tandem/ops/fused/fusible.hpp" lists)
  string(REGEX REPLACE "#define TANDEM_FUSED_CPU_LOOP.*" "" lists "${lists}")
  string(REGEX MATCHALL "f\\([a-z0-9_]+\\)" names "${lists}")
  list(TRANSFORM names REPLACE "^f\\((.*)\\)$" "\\1")
  list(REMOVE_ITEM names name cast whole_cast)  # casts have instructions of their own
  set(headers tandem/config.hpp tandem/base/half.hpp tandem/base/dtype.hpp tandem/util/scalar_math.hpp
    tandem/ops/pointwise/polynomial.hpp tandem/ops/pointwise/normal.hpp tandem/ops/fused/fusible.hpp cuda/chunk.hpp
    cuda/fused/code.hpp cuda/fused/compute.inc cuda/fused/nvrtc_std.inc)
  set(groups arith compare exp activation smooth_activation special trig)

  set(rules "#include \"tandem/ops/pointwise/normal.hpp\"\nnamespace TANDEM_NS::rules {\n")
  # Rules of complex numbers are never reached.
  string(APPEND rules "template <class V>\ninline constexpr bool ComplexNumber = false;\n")
  set(names_left "${names}")
  foreach(group ${groups})
    set(file "${include}/tandem/ops/pointwise/${group}.inl")
    tandem_rules_of(text "${file}" "${names_left}")
    string(APPEND rules "${text}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endforeach()
  if(names_left)
    message(FATAL_ERROR "EmbedFused.cmake finds no rule of ${names_left} (of ops/fused/fusible.hpp) in the files of ${groups}")
  endif()
  string(APPEND rules "}\n")

  set(files "{\"cuda/fused/rules.inc\", R\"embedded(${rules})embedded\"},\n")
  foreach(header ${headers})
    set(file "${include}/${header}")
    if(header MATCHES "^cuda/")
      set(file "${PROJECT_SOURCE_DIR}/${header}")
    endif()
    file(READ "${file}" text)
    string(APPEND files "{\"${header}\", R\"embedded(${text})embedded\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endforeach()
  foreach(header bit cmath cstddef cstdint limits string type_traits)
    string(APPEND files "{\"${header}\", \"#include \\\"cuda/fused/nvrtc_std.inc\\\"\\n\"},\n")
  endforeach()
  set(${result} "${PROJECT_BINARY_DIR}/embedded/fused.cpp" PARENT_SCOPE)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/embedded/fused.cpp" @ONLY CONTENT
"// Made by cmake/EmbedFused.cmake.
#include \"cuda/fused/embedded.hpp\"
namespace TANDEM_NS::cuda {
Span<const EmbeddedFile> embedded_files() {
  static constexpr EmbeddedFile files[] = {
@files@};
  return files;
}
}
")
endfunction()
