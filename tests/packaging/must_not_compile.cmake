# Compiles FILE, which must succeed, and then with MUST_NOT_COMPILE, which must fail with the text of its
# '// error: <regular expression>' line: a test that fails for another reason proves nothing.
# Without FILE: precompiles the umbrella into FOLDER, for all files.
set(options -std=c++20 "-I${INCLUDE}")
if(NOT FILE)
  file(MAKE_DIRECTORY "${FOLDER}")
  file(WRITE "${FOLDER}/umbrella.hpp" "#include <tandem/tandem.hpp>\n")
  execute_process(COMMAND "${COMPILER}" ${options} -x c++-header "${FOLDER}/umbrella.hpp" -o "${FOLDER}/umbrella.hpp.gch"
    COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()

file(STRINGS "${FILE}" expected REGEX "^// error: " LIMIT_COUNT 1)
if(NOT expected)
  message(FATAL_ERROR "${FILE} has no '// error: ' line")
endif()
string(REPLACE "// error: " "" expected "${expected}")
set(compile "${COMPILER}" ${options} -fsyntax-only -include "${FOLDER}/umbrella.hpp" "${FILE}")

execute_process(COMMAND ${compile} RESULT_VARIABLE status ERROR_VARIABLE text)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the twin must compile:\n${text}")
endif()
execute_process(COMMAND ${compile} -DMUST_NOT_COMPILE RESULT_VARIABLE status ERROR_VARIABLE text)
if(status EQUAL 0)
  message(FATAL_ERROR "compiles with MUST_NOT_COMPILE")
endif()
if(NOT text MATCHES "${expected}")
  message(FATAL_ERROR "fails, but not with '${expected}':\n${text}")
endif()
