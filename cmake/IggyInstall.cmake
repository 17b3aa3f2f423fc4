# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where the plugin is installed, and the target `uninstall`.

if(IGGY_USER_INSTALL)
    if(NOT DEFINED ENV{HOME})
        message(FATAL_ERROR "IGGY_USER_INSTALL needs HOME to be set.")
    endif()
    set(_default_prefix "$ENV{HOME}/.local")
    set(IGGY_PLUGIN_LIBDIR "lib/wireshark/plugins/${IGGY_PLUGIN_PATH_ID}")
else()
    set(_default_prefix "${Wireshark_INSTALL_PREFIX}")
    file(RELATIVE_PATH IGGY_PLUGIN_LIBDIR "${Wireshark_INSTALL_PREFIX}" "${Wireshark_PLUGIN_INSTALL_DIR}")
endif()

# A prefix of the user's own wins. A default follows IGGY_USER_INSTALL when that is switched in an existing build folder.
if(CMAKE_INSTALL_PREFIX_INITIALIZED_TO_DEFAULT OR CMAKE_INSTALL_PREFIX STREQUAL "${IGGY_DEFAULT_PREFIX}")
    set(CMAKE_INSTALL_PREFIX "${_default_prefix}" CACHE PATH "Install prefix" FORCE)
endif()
set(IGGY_DEFAULT_PREFIX "${_default_prefix}" CACHE INTERNAL "The prefix that was set by default")

set(IGGY_INSTALLED_LIST "${CMAKE_BINARY_DIR}/installed.txt")

# Wireshark started as root reads no plugins of a user.
if(IGGY_USER_INSTALL AND UNIX)
    install(CODE [[
        execute_process(COMMAND id -u OUTPUT_VARIABLE _uid OUTPUT_STRIP_TRAILING_WHITESPACE)
        if(_uid STREQUAL "0")
            message(WARNING "Installed for root alone, but as root Wireshark reads only the system's plugin folder: "
                            "configure with -DIGGY_USER_INSTALL=OFF and install again.")
        endif()]])
endif()

# To be called behind all that installs: writes down what was installed, for `uninstall`. CMake's own list does not do: CPack,
# which installs into a folder of its own to make a package, overwrites it.
function(iggy_note_installed_files)
    install(CODE "set(_iggy_list \"${IGGY_INSTALLED_LIST}\")")
    install(CODE [[
        if(NOT "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}" MATCHES "/_CPack_Packages/")
            string(REPLACE ";" "\n" _files "${CMAKE_INSTALL_MANIFEST_FILES}")
            file(WRITE "${_iggy_list}" "${_files}\n")
        endif()]])
endfunction()

add_custom_target(uninstall
    COMMAND ${CMAKE_COMMAND} -D LIST=${IGGY_INSTALLED_LIST}
            -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake
    COMMENT "Removing what was installed" VERBATIM)
