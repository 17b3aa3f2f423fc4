# SPDX-License-Identifier: GPL-2.0-or-later
#
# Wireshark's macros for plugins, for a build outside its tree: plugin/CMakeLists.txt includes "WiresharkPlugin" and gets
# this file here and Wireshark's own file there. Same names, same arguments; the differences are
#   - the sources are compiled once, into the object library <plugin>_objects, which the unit tests link too;
#   - plugin.c is made by cmake/plugin-c.cmake, because config.h is not installed everywhere;
#   - symbols that nobody defines fail here, at link time: tshark would go on without the plugin and exit with 0.

include(CheckCCompilerFlag)
include(CheckIPOSupported)
include(CheckLinkerFlag)

# Warnings of Wireshark's build, its extra ones included (its CMakeLists.txt, WIRESHARK_COMMON_FLAGS and following).
set(IGGY_WARNINGS -Wall -Wextra)
set(IGGY_EXTRA_WARNINGS
    -Wendif-labels -Wpointer-arith -Wformat-security -Wvla -Waddress -Wattributes -Wdiv-by-zero -Wignored-qualifiers
    -Wpragmas -Wheader-guard -Wcomma -Wshorten-64-to-32 -Wredundant-decls -Wunused-const-variable -Wshadow
    -Wold-style-definition -Wstrict-prototypes -Wmissing-prototypes -Wmissing-declarations -Wlogical-op -Wwrite-strings
    -Wcast-align -Wunreachable-code -Wduplicated-branches -Wduplicated-cond -Wbad-function-cast
    -Wimplicit-fallthrough -Wframe-larger-than=32768)

# Adds to `target` the options that the compiler knows.
function(iggy_add_warnings target)
    target_compile_options(${target} PRIVATE -Werror=implicit)
    foreach(flag IN LISTS IGGY_WARNINGS)
        target_compile_options(${target} PRIVATE ${flag})
    endforeach()
    if(NOT IGGY_WERROR)
        return()
    endif()
    foreach(flag IN LISTS IGGY_EXTRA_WARNINGS)
        string(MAKE_C_IDENTIFIER "IGGY_HAS${flag}" known)
        check_c_compiler_flag("-Werror ${flag}" ${known})
        if(${known})
            target_compile_options(${target} PRIVATE ${flag})
        endif()
    endforeach()
    target_compile_options(${target} PRIVATE -Werror)
    # Guesswork of GCC's optimiser: shown, not fatal, as in Wireshark.
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -Wno-error=maybe-uninitialized)
    endif()
endfunction()

function(iggy_add_sanitizers target)
    if(IGGY_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=${IGGY_SANITIZE} -fno-omit-frame-pointer
                               -fno-sanitize-recover=undefined)
        target_link_options(${target} PRIVATE -fsanitize=${IGGY_SANITIZE})
    endif()
endfunction()

# Most functions of a frame's way are short and stand in other files than their callers. Wireshark's build has ENABLE_LTO.
set(_lto OFF)
if(IGGY_LTO AND NOT IGGY_SANITIZE)
    check_ipo_supported(RESULT _lto LANGUAGES C)
endif()
set(IGGY_HAS_LTO ${_lto} CACHE INTERNAL "Whether release builds are optimised across files")
function(iggy_optimise_across_files target)
    if(IGGY_HAS_LTO)
        set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE ON
                              INTERPROCEDURAL_OPTIMIZATION_RELWITHDEBINFO ON)
    endif()
endfunction()

macro(SET_MODULE_INFO _plugin _ver_major _ver_minor _ver_micro _ver_extra)
    set(PLUGIN_VERSION "${_ver_major}.${_ver_minor}.${_ver_micro}")
    add_definitions(-DPLUGIN_VERSION=\"${PLUGIN_VERSION}\")
    set(IGGY_VERSION "${PLUGIN_VERSION}" CACHE INTERNAL "Version of the plugin")
endmacro()

function(register_plugin_files _outputfile _registertype)
    set(_sources ${ARGN})
    list(TRANSFORM _sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    set(_script ${PROJECT_SOURCE_DIR}/cmake/plugin-c.cmake)
    string(REPLACE ";" "|" _joined "${_sources}")
    add_custom_command(OUTPUT ${_outputfile}
        COMMAND ${CMAKE_COMMAND} -D OUTPUT=${_outputfile} -D "SOURCES=${_joined}" -P ${_script}
        DEPENDS ${_sources} ${_script} ${PROJECT_SOURCE_DIR}/cmake/plugin.c.in
        COMMENT "Generating ${_outputfile}" VERBATIM)
endfunction()

# A plugin that calls what nobody defines must not link. Clang leaves its sanitizer runtime to the program: not there.
macro(_iggy_refuse_undefined _plugin)
    check_linker_flag(C "-Wl,-z,defs" IGGY_LINKER_HAS_Z_DEFS)
    if(IGGY_LINKER_HAS_Z_DEFS AND NOT (IGGY_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES "Clang"))
        target_link_options(${_plugin} PRIVATE -Wl,-z,defs)
    endif()
endmacro()

macro(ADD_WIRESHARK_PLUGIN_LIBRARY _plugin _subfolder)
    add_library(${_plugin}_objects OBJECT ${PLUGIN_FILES})
    set_target_properties(${_plugin}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden
                          C_EXTENSIONS OFF)
    target_include_directories(${_plugin}_objects PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${_plugin}_objects epan wsutil)
    iggy_add_warnings(${_plugin}_objects)
    iggy_add_sanitizers(${_plugin}_objects)
    iggy_optimise_across_files(${_plugin}_objects)

    add_library(${_plugin} MODULE $<TARGET_OBJECTS:${_plugin}_objects>)
    set_target_properties(${_plugin} PROPERTIES PREFIX "" LINKER_LANGUAGE C INSTALL_RPATH ""
                          LIBRARY_OUTPUT_DIRECTORY ${IGGY_PLUGIN_DIR}/${IGGY_PLUGIN_PATH_ID}/${_subfolder})
    target_link_libraries(${_plugin} epan wsutil)
    iggy_add_sanitizers(${_plugin})
    iggy_optimise_across_files(${_plugin})
    _iggy_refuse_undefined(${_plugin})
endmacro()

macro(INSTALL_PLUGIN _plugin _subfolder)
    install(TARGETS ${_plugin} LIBRARY DESTINATION ${IGGY_PLUGIN_LIBDIR}/${_subfolder} NAMELINK_SKIP)
endmacro()

# Wireshark's build runs checkAPIs.pl on these files; here tools/check-style.sh does.
macro(CHECKAPI)
endmacro()

# Laid out as Wireshark wants it: usable as WIRESHARK_PLUGIN_DIR without an installation.
set(IGGY_PLUGIN_DIR ${PROJECT_BINARY_DIR}/plugins)
