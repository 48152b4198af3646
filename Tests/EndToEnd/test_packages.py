# SPDX-License-Identifier: LGPL-2.1-or-later
"""The packages for Debian and for distributions with RPM."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from gi.repository import Gio
from support import PROGRAMS, SOURCE
from vendor import APP_ID

DEBIAN = SOURCE / "debian"
SPEC = SOURCE / "data" / "packaging" / "handoff.spec"
PACKAGE = SOURCE / "meson-helpers" / "package"
HOUR = 3600


def need(*programs: str) -> None:
    """Skips a test that needs a program which is not there."""
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed: run “meson-helpers/install-packages package”")


def run(*command: str | Path, seconds: int = 300, **options: object) -> str:
    """What a command says, which must not fail."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=seconds,
                          stdin=subprocess.DEVNULL, **options)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout[-6000:]}{done.stderr[-6000:]}"
    return done.stdout + done.stderr


def installed_files(folder: Path, options: list[str]) -> tuple[Path, set[str]]:
    """Where and what Meson installs with the options of a package, as names from the root."""
    run("meson", "setup", folder / "build", SOURCE, *options)
    root = folder / "root"
    run("meson", "install", "-C", folder / "build", "--destdir", root)
    return root, {str(path.relative_to(root)) for path in root.rglob("*") if path.is_symlink() or not path.is_dir()}


def meant(root: Path, pattern: str) -> set[str]:
    """The files that a line of a list of files is about: those that match, and all of a folder that matches."""
    files: set[str] = set()
    for path in root.glob(pattern):
        within = path.rglob("*") if path.is_dir() and not path.is_symlink() else [path]
        files |= {str(file.relative_to(root)) for file in within if file.is_symlink() or not file.is_dir()}
    return files


def account(root: Path, files: set[str], lists: dict[str, list[str]]) -> dict[str, str]:
    """Which package each file is in: each is in exactly one, and no line of a list is about nothing."""
    owners: dict[str, str] = {}
    for package, patterns in lists.items():
        for pattern in patterns:
            matching = meant(root, pattern)
            assert matching, f"{package}: Meson installs nothing like {pattern}"
            for file in matching:
                assert owners.setdefault(file, package) == package, f"{file} is in two packages"
    assert not (missing := files - owners.keys()), f"in no package: {sorted(missing)}"
    return owners


def check_owners(owners: dict[str, str]) -> None:
    """What an application or a kind of it needs is all in one package."""
    adapters = {"browser": "handoff-browsers", "documents": "handoff-documents", "editor": "handoff-editors",
                "media": "handoff-media", "office": "handoff-documents", "phone": "handoff", "shell": "handoff"}
    for file, package in owners.items():
        name = re.sub(rf"^({re.escape(APP_ID)}|org\.example\.Handoff)?\.?(handoff-)?", "", Path(file).name).lower().partition(".")[0]
        if file.startswith("usr/libexec/") or "/systemd/user/" in file or "/handoff/adapters/" in file \
                or "/dbus-1/services/" in file:
            expected = "handoff-gtk" if name in ("contacts", "settings") else adapters.get(name, "handoff")
            assert package == expected, file
    for program in ("handoff-contacts", "handoff-settings"):
        assert owners[f"usr/bin/{program}"] == "handoff-gtk"


def debian_options() -> list[str]:
    """The options that Meson is given for Debian's packages, with what debhelper adds."""
    rules = (DEBIAN / "rules").read_text().replace("$(HANDOFF_BINARIES)", str(PROGRAMS)).replace("$(HANDOFF_APP_ID)", APP_ID)
    options = re.findall(r"^\t\t(-\S+)", rules, re.MULTILINE)
    assert f"-Dbinaries={PROGRAMS}" in options
    return ["--prefix=/usr", "--sysconfdir=/etc", *options]


def test_every_file_is_in_a_package(tmp_path: Path) -> None:
    """Whatever Meson installs is in exactly one Debian package, each adapter with all that belongs to it."""
    need("meson")
    root, files = installed_files(tmp_path, debian_options())
    lists = {file.stem: file.read_text().replace("${env:HANDOFF_APP_ID}", APP_ID).split() for file in DEBIAN.glob("*.install")}
    check_owners(account(root, files, lists))
    packages = re.findall(r"^Package: (\S+)", (DEBIAN / "control").read_text(), re.MULTILINE)
    assert set(packages) == lists.keys()


def spec_lists(text: str) -> dict[str, list[str]]:
    """The lists of files of a spec whose macros are expanded."""
    lists: dict[str, list[str]] = {}
    for heading, body in re.findall(r"^%files([^\n]*)\n(.*?)(?=^%[a-z]+\b(?!\()(?<!%dir)(?<!%doc)(?<!%license)|\Z)", text,
                                    re.MULTILINE | re.DOTALL):
        words = heading.split()
        name = words[1] if "-n" in words else "-".join(["handoff", *words])
        lists[name] = [line.split()[-1].lstrip("/") for line in body.splitlines()
                       if line.strip() and not line.startswith(("%dir", "%doc", "%license"))]
    return lists


def test_every_file_is_in_a_package_for_rpm(tmp_path: Path) -> None:
    """Whatever Meson installs with the options of the spec is in exactly one package for RPM."""
    need("meson", "rpmspec")
    text = run("rpmspec", "--parse", "--define", f"handoff_binaries {PROGRAMS}", "--define", f"handoff_app_id {APP_ID}", SPEC)
    command = re.search(r"^meson setup ((?:[^\n]*\\\n)*[^\n]*)", text, re.MULTILINE)
    assert command
    options = [word for word in shlex.split(command[1].replace("\\\n", " ")) if word.startswith("-")]
    root, files = installed_files(tmp_path, options)
    # rpmbuild compresses these, whence the “*” of the lists.
    lists = spec_lists(text)
    assert len(lists) == 8
    owners = account(root, files, lists)
    check_owners(owners)
    assert {"handoff-devel", "gnome-shell-extension-handoff"} < set(owners.values())


def test_what_is_installed_works(tmp_path: Path) -> None:
    """What packages test of themselves, while they are built and when they are installed, is so."""
    need("meson", "dbus-run-session", "dbus-send")
    root, _ = installed_files(tmp_path, debian_options())
    run("sh", SOURCE / "data" / "packaging" / "smoke-test", root)


def test_versions_agree() -> None:
    """The packages, and what they say of themselves, have the version of the project."""
    version = re.search(r"^  version: '([0-9.]+)'", (SOURCE / "meson.build").read_text(), re.MULTILINE)[1]
    assert re.match(r"handoff \((.*)-\d+\)", (DEBIAN / "changelog").read_text())[1] == version
    spec = SPEC.read_text()
    assert re.search(r"^Version: +(\S+)", spec, re.MULTILINE)[1] == version
    assert re.search(r"^%changelog\n\* .* - ([0-9.]+)-\d+$", spec, re.MULTILINE)[1] == version


def test_what_packages_need_is_what_is_installed_for_building() -> None:
    """What the packages are built with is among what meson-helpers/install-packages installs."""
    listed = {line.split()[1] for line in (SOURCE / "meson-helpers" / "packages").read_text().splitlines()
              if line and not line.startswith("#") and line.split()[0] in ("build", "windows", "package")}
    body = re.search(r"^Build-Depends:\n((?: .*\n)+)", (DEBIAN / "control").read_text(), re.MULTILINE)[1]
    needed = {re.sub(r" \(.*\)", "", line.strip().rstrip(",")) for line in body.splitlines()}
    assert {name.replace("debhelper-compat", "debhelper") for name in needed} <= listed


def test_pkg_config_leads_to_the_interfaces(tmp_path: Path) -> None:
    """pkg-config says in which folders the interfaces and the descriptions of adapters are."""
    need("meson", "pkg-config")
    root, files = installed_files(tmp_path, debian_options())
    environment = os.environ | {"PKG_CONFIG_PATH": str(root / "usr" / "share" / "pkgconfig")}
    for variable, name in (("interfacesdir", "org.example.Handoff.Manager.xml"), ("adaptersdir", "media.adapter")):
        folder = run("pkg-config", f"--variable={variable}", "handoff", env=environment).strip()
        assert f"{folder}/{name}".lstrip("/") in files


def test_a_preset_stands_for_the_links(tmp_path: Path) -> None:
    """Where packages enable nothing by links there is a preset, which enables what the links would."""
    need("meson")
    root, files = installed_files(tmp_path, debian_options())
    assert not any(".target.wants/" in file for file in files)
    preset = (root / "usr" / "lib" / "systemd" / "user-preset" / "90-handoff.preset").read_text()
    linked = re.search(r"^  foreach unit : \[(.*)\]$", (SOURCE / "meson.build").read_text(), re.MULTILINE)[1]
    assert sorted(re.findall(r"^enable (.*)", preset, re.MULTILINE)) == sorted(re.findall(r"'([^']+)'", linked))


def can_start(entry: Path) -> bool:
    """Whether GLib takes a desktop entry for one of a program that is there."""
    try:
        return Gio.DesktopAppInfo.new_from_filename(str(entry)) is not None
    except TypeError:
        return False


def test_autostart_entries_end_with_the_programs(tmp_path: Path) -> None:
    """Autostart entries, which stay as configuration when a package is removed, start nothing without its programs."""
    need("meson")
    for number, has_programs in enumerate((True, False)):
        prefix = tmp_path / str(number)
        run("meson", "setup", tmp_path / f"build-{number}", SOURCE, f"--prefix={prefix}", f"-Dbinaries={PROGRAMS}", f"-Dapp-id={APP_ID}")
        run("meson", "install", "-C", tmp_path / f"build-{number}")
        if not has_programs:
            for folder in ("bin", "libexec"):
                shutil.rmtree(prefix / folder)
        entries = sorted((prefix / "etc" / "xdg" / "autostart").iterdir())
        assert len(entries) == 4
        for entry in entries:
            assert can_start(entry) == has_programs, entry


def test_the_helper_says_what_it_needs(tmp_path: Path) -> None:
    """Without Swift, which Debian does not have, the helper says so and how to get it, and builds nothing."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "env", "dirname", "readlink", "realpath", "cat", "sed", "date"):
        (folder / name).symlink_to(shutil.which(name))
    done = subprocess.run([PACKAGE, "--no-install", f"--output={tmp_path / 'out'}"], env={"PATH": str(folder)},
                          capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 1
    assert "no swift in PATH" in done.stderr and "https://www.swift.org/install/linux/" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_spec_is_accepted() -> None:
    """rpmlint finds no error in the spec."""
    need("rpmlint")
    assert re.search(r"\b0 errors\b", run("rpmlint", SPEC))


def test_an_upgrade_restarts_the_same_units_with_rpm(tmp_path: Path) -> None:
    """For RPM the same units are restarted by an upgrade, and ended by a removal, as for Debian."""
    shutil.copytree(DEBIAN, tmp_path / "debian")
    run("debian/maintainer-scripts", cwd=tmp_path)
    spec = SPEC.read_text()
    for package in ("", "browsers", "documents", "editors", "media"):
        debian = "-".join(filter(None, ("handoff", package)))
        for mine, pattern, theirs in (("postinst", r"manager \d+ try-restart ([^\n']*)", "postun"),
                                      ("prerm", r"manager \d+ stop ([^\n']*)", "preun")):
            text = (tmp_path / "debian" / f"{debian}.{mine}.debhelper").read_text()
            macro = re.search(rf"^%{theirs} ?{package}\n%{{\?\w+:%\w+ ([^}}]*)}}", spec, re.MULTILINE)
            assert sorted(re.search(pattern, text)[1].split()) == sorted(macro[1].split()), (debian, mine)


@pytest.mark.parametrize("differs", [False, True])
def test_the_helper_compares_two_builds(tmp_path: Path, differs: bool) -> None:
    """Packages that differ between two builds are named, and not put out."""
    need("git")
    builder = tmp_path / "dpkg-buildpackage"
    builder.write_text("#!/bin/sh\necho same >../b.deb\n" + "cat /proc/sys/kernel/random/uuid >../a.deb\n" * differs)
    builder.chmod(0o755)
    done = subprocess.run([PACKAGE, "--no-install", "--check-reproducible", "--binaries", tmp_path, "--output", tmp_path / "out"],
                          env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}, capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.returncode == differs, done
    if differs:
        assert "1 packages differ between two builds" in done.stderr and "a.deb" in done.stdout + done.stderr
        assert not (tmp_path / "out").exists()
    else:
        assert "The packages are the same" in done.stdout and (tmp_path / "out" / "b.deb").exists()


# What Debian 12 has of a library that is linked, by what a package says it depends on.
SWIFT = re.compile(r"swift|icu|foundation", re.IGNORECASE)


def check_debian_packages(output: Path, unpacked: Path, built: Path) -> None:
    """The packages are without a tag of lintian, need nothing that Debian 12 does not have, and hold what they should, for
    debuggers too."""
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    root_options = ["--allow-root"] if os.geteuid() == 0 else []
    said = run("lintian", "--display-info", "--pedantic", *root_options, *output.glob("*.dsc"), *output.rglob("*.deb"),
               env=environment)
    assert not (tags := re.findall(r"^[A-Z]: .*", said, re.MULTILINE)), tags
    packages = {file.name.partition("_")[0]: file for file in output.glob("*.deb")}
    assert packages.keys() == {file.stem for file in DEBIAN.glob("*.install")}
    for name, file in packages.items():
        depends = run("dpkg-deb", "--field", file, "Depends") if name != "handoff-dev" else ""
        assert not SWIFT.search(depends), f"{name} depends on what Debian 12 does not have: {depends}"
        run("dpkg-deb", "--extract", file, unpacked)
    for entry in unpacked.rglob("*.desktop"):
        run("desktop-file-validate", entry)
    run("appstreamcli", "validate", "--pedantic", "--no-net", *(unpacked / "usr" / "share" / "metainfo").iterdir())
    for program in [*(unpacked / "usr" / "libexec").iterdir(), *(unpacked / "usr" / "bin").iterdir()]:
        assert "RUNPATH" not in run("readelf", "-d", program), f"{program} loads libraries from where it is"
        assert str(built) not in program.read_bytes().decode("latin-1"), f"{program} says where it was built"
    for package in (output / "debug").glob("*.deb"):
        run("dpkg-deb", "--extract", package, unpacked / "debug")
    for file in (unpacked / "debug").rglob("*.debug"):
        assert str(built) not in run("readelf", "--decompress", "--string-dump=.debug_str", file), f"{file} says where it was built"
    for program in (unpacked / "usr" / "libexec" / "handoffd", unpacked / "usr" / "bin" / "handoff-settings"):
        number = re.search(r"Build ID: (..)(\w+)", run("readelf", "--notes", program))
        debug = unpacked / "debug" / "usr" / "lib" / "debug" / ".build-id" / number[1] / f"{number[2]}.debug"
        assert "$s8MainLoop" in run("nm", debug), f"debuggers find no names of {program}"


@pytest.mark.long
def test_packages_of_a_clean_clone(tmp_path: Path) -> None:
    """Debian packages built from a clean clone, in two folders, are equal to the byte and without fault for lintian, and
    what is in them needs only Debian 12."""
    need("git", "dpkg-buildpackage", "dh", "lintian", "desktop-file-validate", "appstreamcli", "swift")
    clone = tmp_path / "clone"
    run("git", "clone", "--quiet", SOURCE, clone)
    said = run(clone / "meson-helpers" / "package", "--no-install", "--check-reproducible", "--output", tmp_path / "out",
               seconds=4 * HOUR)
    assert "The packages are the same" in said
    check_debian_packages(tmp_path / "out", tmp_path / "unpacked", clone)


@pytest.mark.long
def test_packages_for_rpm(tmp_path: Path) -> None:
    """Packages for RPM are built by rpmbuild, twice alike, and rpmlint finds no error in them."""
    need("rpmbuild", "rpmlint")
    run(PACKAGE, "--rpm", "--no-install", "--check-reproducible", "--binaries", PROGRAMS, "--output", tmp_path, seconds=HOUR)
    packages = sorted(tmp_path.glob("*.rpm"))
    assert len(packages) == 8
    said = run("rpmlint", "-r", SPEC.with_name("rpmlintrc"), *packages)
    assert re.search(r"\b0 errors\b", said), said
