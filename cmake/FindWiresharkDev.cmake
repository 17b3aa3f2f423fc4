# SPDX-License-Identifier: GPL-2.0-or-later
#
# Finds Wireshark's development files through its own package configuration and says in one line what is wrong with them.
# Debian puts WiresharkConfig.cmake into lib/ARCH/wireshark/cmake (4.0) or lib/ARCH/cmake/wireshark (4.4 and later); CMake
# searches both for a package of this name.

set(IGGY_WIRESHARK_MINIMUM 4.0)

find_package(Wireshark CONFIG QUIET)
if(NOT Wireshark_FOUND)
    message(FATAL_ERROR "Wireshark's development files are missing: install wireshark-dev, or set CMAKE_PREFIX_PATH to the "
                        "folder that Wireshark is installed in.")
endif()
if(Wireshark_VERSION VERSION_LESS IGGY_WIRESHARK_MINIMUM)
    message(FATAL_ERROR "Wireshark ${Wireshark_VERSION} is too old: ${IGGY_WIRESHARK_MINIMUM} or newer is needed.")
endif()
if(NOT Wireshark_PLUGINS_ENABLED)
    message(FATAL_ERROR "This Wireshark ${Wireshark_VERSION} was built without support for plugins.")
endif()
message(STATUS "Wireshark ${Wireshark_VERSION}: ${Wireshark_DIR}")

# The folder of one version, "4.0" (on macOS "4-0"): the same name below every plugin folder.
get_filename_component(IGGY_PLUGIN_PATH_ID "${Wireshark_PLUGIN_INSTALL_DIR}" NAME)
