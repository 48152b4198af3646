# SPDX-License-Identifier: LGPL-2.1-or-later
"""The sections of the protocol that comments cite."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__, "../../..").resolve()
DOCUMENT = ROOT / "docs/protocol.md"


def test_sections_that_comments_cite() -> None:
    """Each section of the protocol that a comment in the sources cites is there."""
    headings = set(re.findall(r"^#{2,3} (.+)$", DOCUMENT.read_text(), re.MULTILINE))
    cited: dict[str, str] = {}
    for file in ROOT.glob("Sources/**/*.swift"):
        # A comment may break anywhere, so the ends of its lines count as spaces.
        text = re.sub(r"\s*\n\s*///? ?", " ", file.read_text())
        for citation in re.findall(r"protocol\.md,([^)]*)\)", text):
            cited |= dict.fromkeys(re.findall(r'"([^"]+)"', citation) or [citation], file.name)
    assert cited and headings.issuperset(cited), {name: cited[name] for name in cited.keys() - headings}
