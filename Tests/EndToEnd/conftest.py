# SPDX-License-Identifier: LGPL-2.1-or-later
"""What pytest calls, and what tests get."""

# ruff: noqa: F403
from fixtures import *
from stating import *
