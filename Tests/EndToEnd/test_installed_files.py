# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is installed beside the programs: manual pages, and what firewalls and AppArmor read."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support import SOURCE
from test_installed import install, prefix  # noqa: F401
from vendor import own_id


def test_each_program_and_file_has_a_manual_page(prefix: Path) -> None:  # noqa: F811
    """Whatever is installed to be run or to be written by people has a manual page, which groff has nothing to say of."""
    manual = prefix / "share" / "man"
    pages = {path.name.removesuffix(".gz") for path in manual.glob("man*/*")}
    programs = {path.name: 1 for path in (prefix / "bin").iterdir()} \
        | {path.name: 8 for path in (prefix / "libexec").iterdir()}
    assert {"handoff", "handoffd", "handoff-media"} <= programs.keys()
    files = {"handoff.conf", *("handoff" + path.suffix for path in (prefix / "share" / "handoff" / "adapters").iterdir())}
    wanted = {f"{name}.{section}" for name, section in programs.items()} | {f"{name}.5" for name in files}
    assert not wanted - pages
    for page in sorted(manual.glob("man*/*")):
        done = subprocess.run(["man", "--local-file", "--warnings", page], cwd=manual, capture_output=True, text=True,
                              env=os.environ | {"MANWIDTH": "120", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}, check=False)
        assert (done.returncode, done.stderr) == (0, ""), page
        assert "NAME" in done.stdout, page


def test_applications_have_names_in_other_languages(prefix: Path) -> None:  # noqa: F811
    """What is installed among the applications is called, described and found in the languages of the catalogues."""
    if not shutil.which("msgfmt"):
        pytest.skip("msgfmt is missing: meson-helpers/install-packages build")
    entries = list((prefix / "share" / "applications").glob("*.desktop"))
    assert len(entries) >= 6
    for language in ("de", "pl"):
        for entry in entries:
            assert f"\nName[{language}]=" in entry.read_text(), entry
    window = prefix / "share" / "applications" / own_id("Settings.desktop")
    assert not window.exists() or "\nGenericName[de]=Auf anderem Gerät fortsetzen\n" in window.read_text()


def test_what_a_distribution_calls_its_own(tmp_path: Path) -> None:
    """With another app-id, whatever is installed carries that; what is agreed on between applications and devices stays. The
    metadata names the addresses that are given, and without options none. Programs that were built for another id are refused."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("handoffd", "handoff-bridge", "handoff-associations", "handoff-agent", "handoff-adapter", "handoff",
                 "handoff-contacts", "handoff-settings"):
        (programs / name).write_text("handoff-vendor:net.example.Other||||"
                                     "handoff-vendor:net.example.Other|https://net.example/a?b&c|https://net.example/faults|The <Other> People|")
    options = (f"-Dbinaries={programs}", "-Dapp-id=net.example.Other")
    for wrong in ("-Dapp-id=net.example.Oth", "-Dapp-id=net.example.Other2", "-Dhomepage=https://net.example"):
        with pytest.raises(AssertionError, match="were built with another app-id"):
            install(tmp_path / wrong[-5:], *options, wrong)
    for wrong in ("net.Other", "net..Other", "net.2example.Other", "net.exa-mple.Other", "net.exämple.Other", 'net.ex"ample.Other'):
        with pytest.raises(AssertionError, match="app-id: “"):
            install(tmp_path / "wrong", options[0], f"-Dapp-id={wrong}")
    given = {"homepage": "https://net.example/a?b&c", "bugtracker": "https://net.example/faults",
             "screenshots": "https://net.example/pictures/", "developer": "The <Other> People"}
    root, _said = install(tmp_path / "other", *options, *(f"-D{name}={value}" for name, value in given.items()))
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    # The contracts, and what stands on them in other people's programs.
    files = [path for path in files if not {"interfaces", "clients", "dbusmock", "bin"} & set(path.parts)]
    assert (root / "share/gnome-shell/extensions/other@example.net/metadata.json") in files
    names = {path.name for path in files if "org.example" in str(path).lower() or "example.org" in str(path)}
    assert names == {f"org.example.Handoff{name}.service" for name in ("", ".Agent", ".Bridge")}
    ours = "Browser|Contacts|Documents|Editor|Media|Office|Paste|Phone|Settings|Shell"
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace")
        left = re.findall(rf"(?<!X-Handoff-Team=)org\.example\.Handoff\.(?:{ours})\b[^\n]*|handoff@example\.org|org\.example\.handoff"
                          r"|Icon=org\.example[^\n]*", text) if path.suffix != ".mo" else []
        assert not left, f"{path}: {left}"
    metadata = [path.read_text() for path in (root / "share" / "metainfo").iterdir()]
    for text in metadata:
        assert "https://net.example/a?b&amp;c</url>" in text and "<url type=\"bugtracker\">https://net.example/faults<" in text
        assert "<developer_name>The &lt;Other&gt; People<" in text
        pictures = re.findall(r"<image>https://net\.example/pictures/([^/<]+)<", text)
        assert pictures and all((root / "share/doc/handoff/screenshots" / picture).is_file() for picture in pictures)
    root, _said = install(tmp_path / "plain", *options)
    assert not any("<url" in path.read_text() or "<image" in path.read_text() for path in (root / "share" / "metainfo").iterdir())


def test_plugins_of_gedit(prefix: Path, tmp_path: Path) -> None:  # noqa: F811
    """Where the user has chosen no plugins of gedit, Handoff's is on, beside all that gedit has on by itself."""
    schema = Path("/usr/share/glib-2.0/schemas/org.gnome.gedit.gschema.xml")
    compiler = next(Path("/usr/lib").glob("*/glib-2.0/glib-compile-schemas"), None) or shutil.which("glib-compile-schemas")
    if not schema.exists() or not compiler:
        pytest.skip("gedit's schema or glib-compile-schemas is missing: meson-helpers/install-packages test desktop")
    for file in (*schema.parent.glob("org.gnome.gedit*.xml"), prefix / "share" / "glib-2.0" / "schemas" / "50_handoff.gschema.override"):
        shutil.copy(file, tmp_path)
    done = subprocess.run([compiler, "--strict", tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    now = subprocess.run(["gsettings", "--schemadir", tmp_path, "get", "org.gnome.gedit.plugins", "active-plugins"],
                         env=os.environ | {"GSETTINGS_BACKEND": "memory"}, capture_output=True, text=True, check=True).stdout
    own = re.search(r'"active-plugins".*?<default>(.*?)</default>', schema.read_text(), re.DOTALL)
    assert own and set(ast.literal_eval(now)) == {*ast.literal_eval(own[1]), "handoff"}


def test_what_firewalls_and_profiles_are_told(prefix: Path, tmp_path: Path) -> None:  # noqa: F811
    """What firewalls and AppArmor read is where they look for it; packagers may leave the profiles out."""
    assert (prefix / "lib" / "firewalld" / "services" / "handoff.xml").is_file()
    assert (prefix / "etc" / "ufw" / "applications.d" / "handoff").is_file()
    profiles = {path.name for path in (prefix / "etc" / "apparmor.d").iterdir()}
    assert profiles == {"handoffd", "handoff-bridge", "handoff-agent", "handoff-associations", "handoff-adapter"}
    assert f" {prefix}/libexec/handoffd " in (prefix / "etc" / "apparmor.d" / "handoffd").read_text()
    other, _ = install(tmp_path, "-Dapparmor=false")
    assert not (other / "etc" / "apparmor.d").exists()


def test_authors_find_the_clients(prefix: Path) -> None:  # noqa: F811
    """pkg-config says where the interfaces, the clients to copy and the schemas are, all of which are installed, and nothing else."""
    for variable, source in (("clientsdir", "clients"), ("interfacesdir", "dbus-1/interfaces"), ("schemasdir", "schemas")):
        asked = subprocess.run(["pkg-config", f"--variable={variable}", "handoff"], capture_output=True, text=True, check=True,
                               env=os.environ | {"PKG_CONFIG_PATH": str(prefix / "share" / "pkgconfig")})
        there = Path(asked.stdout.strip())
        ours = subprocess.run(["git", "ls-files"], cwd=SOURCE / "data" / source, capture_output=True, text=True, check=False)
        files = {path.relative_to(there).as_posix() for path in there.rglob("*") if path.is_file()}
        assert files and (files == set(ours.stdout.split()) or not ours.stdout)
