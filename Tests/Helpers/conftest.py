# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tests of what the project is worked on with: meson-helpers, and the network that end-to-end tests stand on."""

from stating import *  # noqa: F403: pytest finds what it calls here
