# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shells with somebody who presses Tab."""

from __future__ import annotations

import re
from contextlib import suppress

from buses import wait
from support import SOURCE, Machine
from terminal import Terminal

FOLDER = SOURCE / "data" / "completions"
SHELLS = {
    "bash": (("bash", "--norc", "--noprofile", "-i"), f"PS1='> '; source {FOLDER}/handoff"),
    "zsh": (("zsh", "-f", "-i"), f"PS1='> '; bindkey -e; fpath=({FOLDER} $fpath); autoload -Uz compinit; compinit -D -u"),
    "fish": (("fish", "--no-config", "--interactive"),
             f"function fish_prompt; echo '> '; end; source {FOLDER}/handoff.fish"),
}
START, KILL, TAB = "\x01", "\x15", "\t"
PATIENCE, ATTEMPT = 30, 5


class Completing(Terminal):
    """A shell in a terminal, with the completion of `handoff`."""

    def __init__(self, machine: Machine, shell: str) -> None:
        command, setting = SHELLS[shell]
        machine.environment["TERM"] = "xterm"
        super().__init__(machine, *command)
        self._seen = 0
        self.type("stty cols 200 rows 50\n")
        self.type(f"{setting}\n")
        self.type("echo be''gun\n")
        self.until("begun", PATIENCE)

    def words(self, typed: str) -> list[str]:
        """The words after `handoff` once the shell has completed what was typed, as it reads them itself: `printf` is put
        before the line, and what is run is that."""
        self._seen += 1
        # What is typed after the key is read once the shell is through with it.
        self.type(f"handoff {typed}{TAB}{START}printf '<%s>\\n' be''gin{self._seen} \n")
        self.type(f"echo en''d{self._seen}\n")
        shown = self.until(rf"(?s)<begin{self._seen}>(.*?)[\r\n]end{self._seen}", PATIENCE)
        return re.findall("<(.*?)>", shown)[1:]

    def listed(self, typed: str, *parts: str) -> str:
        """What the shell shows of what can stand there, once all these are in it. The shell ends then, with the line."""
        begin = len(self.text)

        def is_listed() -> bool:
            return all(part in self.text[begin:] for part in parts)

        for _attempt in range(PATIENCE // ATTEMPT):
            # A daemon has a second to answer; where it took longer, the user presses the key again. What all have in common is
            # completed before the rest is listed.
            self.type(f"{KILL}handoff {typed}{TAB}{TAB}{TAB}")
            with suppress(AssertionError):
                wait(is_listed, "the list", ATTEMPT)
                break
        assert is_listed(), f"{parts} not in the list: {self.text[begin:]!r}"
        shown = self.text[begin:]
        self.close()
        return shown
