# SPDX-License-Identifier: GPL-2.0-or-later
#
# Removes the files that the last `install` wrote down in LIST. Without it nothing is there, and that is no error.

cmake_minimum_required(VERSION 3.20)

if(NOT EXISTS "${LIST}")
    message(STATUS "Nothing to remove: this build folder has installed nothing, or it was removed before.")
    return()
endif()
file(STRINGS "${LIST}" files)
foreach(file IN LISTS files)
    set(path "$ENV{DESTDIR}${file}")
    if(EXISTS "${path}" OR IS_SYMLINK "${path}")
        file(REMOVE "${path}")
        message(STATUS "Removed: ${path}")
    else()
        message(STATUS "Not there: ${path}")
    endif()
endforeach()
file(REMOVE "${LIST}")
