# SPDX-License-Identifier: GPL-2.0-or-later
#
# Packages by CPack.
