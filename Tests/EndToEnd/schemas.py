# SPDX-License-Identifier: LGPL-2.1-or-later
"""What goes between programs as JSON, compared with the schemas in data/schemas."""

from __future__ import annotations

import configparser
import functools
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from support import SOURCE
from vendor import filled

SCHEMAS = SOURCE / "data" / "schemas"


@functools.cache
def schema(name: str) -> dict[str, Any]:
    """The schema in a file, which has to be one."""
    read = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    Draft202012Validator.check_schema(read)
    return read


def is_valid(name: str, value: Any, part: str = "") -> bool:
    """Whether the value is what the schema says, or the part of that name says."""
    return Draft202012Validator(described(name, part)).is_valid(value)


def valid(name: str, value: Any, part: str = "") -> Any:
    """The value, which must be what the schema says, or the part of that name says."""
    for error in Draft202012Validator(described(name, part)).iter_errors(value):
        raise AssertionError(f"{name} {part}: {error.message} at {error.json_path} of {value}")
    return value


def described(name: str, part: str) -> dict[str, Any]:
    """The schema, or this part of it."""
    whole = schema(name)
    return {"$ref": f"#/$defs/{part}", "$defs": whole["$defs"]} if part else whole


def parsed(file: Path) -> dict[str, dict[str, str]]:
    """A key file as an object, as the schema of descriptions wants it."""
    reader = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#",), interpolation=None)
    reader.optionxform = str  # type: ignore[assignment, method-assign]
    reader.read_string(filled(file))
    return {group: dict(reader[group]) for group in reader.sections()}
