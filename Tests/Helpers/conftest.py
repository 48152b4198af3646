# SPDX-License-Identifier: LGPL-2.1-or-later
"""What pytest calls, and what tests get: that of the end-to-end tests, whose network is one of the helpers."""

# ruff: noqa: F403
from fixtures import *
from stating import *
