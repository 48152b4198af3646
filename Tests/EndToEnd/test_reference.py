# SPDX-License-Identifier: LGPL-2.1-or-later
"""The reference of the D-Bus interfaces is made from their files."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from buses import INTERFACES
from driven import run
from support import SOURCE


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    run(str(SOURCE / "meson-helpers" / "reference"), "--docbook", str(folder))
    return folder


def squeezed(text: str) -> str:
    """Text without what lines it stands in."""
    return " ".join(text.split())


def test_the_reference_says_all_that_is_documented(reference: Path) -> None:
    """What is made for readers is well-formed, and has every paragraph of the comments in the interface files, as plain text."""
    for file in sorted(INTERFACES.glob("*.xml")):
        page = squeezed("".join(ElementTree.parse(reference / f"interface-{file.stem}.xml").getroot().itertext()))
        parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
        for element in ElementTree.parse(file, parser).getroot().iter():
            if element.tag is ElementTree.Comment:
                first = squeezed(element.text.strip().split("\n\n")[0])
                assert "SPDX" in first or first in page, first
            elif element.tag in ("method", "signal", "property"):
                assert element.get("name") in page
