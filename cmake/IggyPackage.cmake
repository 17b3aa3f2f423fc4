# SPDX-License-Identifier: GPL-2.0-or-later
#
# Packages by CPack: `cpack -G DEB`, `-G RPM`, `-G TGZ` in the build folder. A plugin fits one minor version of Wireshark, so
# that version is part of the package's name, and the package depends on it. tools/test-package.sh makes and tries them.

set(_series "${Wireshark_MAJOR_VERSION}.${Wireshark_MINOR_VERSION}")
math(EXPR _next_minor "${Wireshark_MINOR_VERSION} + 1")
set(_next_series "${Wireshark_MAJOR_VERSION}.${_next_minor}")

set(CPACK_PACKAGE_NAME "wireshark-iggy-${_series}")
set(CPACK_PACKAGE_VENDOR "Iggy dissector maintainers")
set(CPACK_PACKAGE_CONTACT "Iggy dissector maintainers <iggy-dissector@users.noreply.github.com>"
    CACHE STRING "Maintainer of the packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Apache Iggy dissector for Wireshark ${_series}")
string(JOIN "\n" CPACK_PACKAGE_DESCRIPTION
    "Shows the traffic of Apache Iggy, a message streaming platform, in Wireshark"
    "and tshark: requests and replies of clients, messages, and what the servers"
    "of a cluster say to each other."
    "This package is for Wireshark ${_series}, and for no other series.")
set(CPACK_PACKAGE_VERSION "${IGGY_VERSION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX "${Wireshark_INSTALL_PREFIX}")
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR "TGZ")
if(IGGY_USER_INSTALL)
    # Nothing but the plugin goes into a user's folder, and a package of it is the tarball.
    include(CPack)
    return()
endif()

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "wireshark-common (>= ${_series}~), wireshark-common (<< ${_next_series}~)")
set(CPACK_DEBIAN_PACKAGE_ENHANCES "wireshark, tshark")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# What binds an RPM to one series is the name of the library: libwireshark.so.16 is 4.0's. RPM finds it by itself.
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE "GPL-2.0-or-later")
set(CPACK_RPM_PACKAGE_GROUP "Applications/Internet")
set(CPACK_RPM_PACKAGE_AUTOREQ ON)
# Folders of Wireshark and of the system are not the package's.
set(_folder "${Wireshark_INSTALL_PREFIX}")
foreach(_part IN ITEMS ${CMAKE_INSTALL_PREFIX} share share/doc)
    list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION "${Wireshark_INSTALL_PREFIX}/${_part}")
endforeach()
string(REPLACE "/" ";" _parts "${IGGY_PLUGIN_LIBDIR}/epan")
foreach(_part IN LISTS _parts)
    string(APPEND _folder "/${_part}")
    list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION "${_folder}")
endforeach()

# Documentation, as Debian's policy names the files.
set(_doc "share/doc/${CPACK_PACKAGE_NAME}")
set(_changelog "${PROJECT_BINARY_DIR}/package/changelog")
configure_file(${PROJECT_SOURCE_DIR}/packaging/changelog.in ${_changelog} @ONLY)
find_program(IGGY_GZIP gzip)
mark_as_advanced(IGGY_GZIP)
if(IGGY_GZIP)
    execute_process(COMMAND ${IGGY_GZIP} -9nc ${_changelog} OUTPUT_FILE ${_changelog}.gz)
    install(FILES ${_changelog}.gz DESTINATION ${_doc})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/packaging/copyright ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${_doc})

include(CPack)
