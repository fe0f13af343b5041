# The cases of a Catch2 program as tests of CTest. Run as a script once the program is built: program, emulator (or empty), name and
# which (cases) are given, properties of each test, and the file to write. Catch2's own module is not there where Catch2 is a bare
# header; and it takes a ";" in a name for the end of the name, which no case has then: such tests ran nothing, and passed.
execute_process(COMMAND ${emulator} "${program}" ${which} --list-test-names-only OUTPUT_VARIABLE cases ERROR_VARIABLE said)
set(command "")
foreach(word IN LISTS emulator program)
    string(APPEND command " [==[${word}]==]")
endforeach()
string(REPLACE ";" "\\;" cases "${cases}")
string(REGEX REPLACE "[\r\n]+" ";" cases "${cases}")
set(tests "")
foreach(case IN LISTS cases)
    if(case STREQUAL "")
        continue()
    endif()
    # What Catch2 reads as more than a name: \ , [ and ].
    string(REGEX REPLACE "([\\,[]|])" "\\\\\\1" asked "${case}")
    string(APPEND tests "add_test([==[${name}/${case}]==]${command} [==[${asked}]==])\n"
           "set_tests_properties([==[${name}/${case}]==] PROPERTIES${properties})\n")
endforeach()
if(tests STREQUAL "")
    message(FATAL_ERROR "${program} names no cases: ${said}")
endif()
file(WRITE "${file}" "${tests}")
