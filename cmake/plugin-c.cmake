# SPDX-License-Identifier: GPL-2.0-or-later
#
# Writes OUTPUT, the entry points of the plugin, from cmake/plugin.c.in: every proto_register_X of SOURCES (joined by "|")
# is registered, with proto_reg_handoff_X where there is one. The counterpart of Wireshark's tools/make-plugin-reg.py.

cmake_minimum_required(VERSION 3.20)

set(PROTOTYPES "")
set(CALLS "")
string(REPLACE "|" ";" sources "${SOURCES}")
set(text "")
foreach(source IN LISTS sources)
    file(READ "${source}" content)
    string(APPEND text "${content}")
endforeach()

# Names of the functions of `text` that are called PREFIX_X and take nothing, as a list of X in `result`.
function(find_functions prefix result)
    string(REGEX MATCHALL "${prefix}_[A-Za-z0-9_]+[ \t\r\n]*\\([ \t\r\n]*void[ \t\r\n]*\\)[ \t\r\n]*{" found "${text}")
    list(TRANSFORM found REPLACE "^${prefix}_([A-Za-z0-9_]+).*$" "\\1")
    list(REMOVE_DUPLICATES found)
    list(SORT found)
    set(${result} "${found}" PARENT_SCOPE)
endfunction()

find_functions(proto_register protocols)
find_functions(proto_reg_handoff handoffs)
if(NOT protocols)
    message(FATAL_ERROR "No proto_register_ function in the plugin's sources.")
endif()
foreach(name IN LISTS protocols)
    set(handoff NULL)
    string(APPEND PROTOTYPES "void proto_register_${name}(void);\n")
    if(name IN_LIST handoffs)
        set(handoff proto_reg_handoff_${name})
        string(APPEND PROTOTYPES "void proto_reg_handoff_${name}(void);\n")
    endif()
    string(APPEND CALLS "    static const proto_plugin plug_${name} = { proto_register_${name}, ${handoff} };\n")
    string(APPEND CALLS "    proto_register_plugin(&plug_${name});\n")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/plugin.c.in ${OUTPUT} @ONLY)
