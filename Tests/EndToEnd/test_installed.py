# SPDX-License-Identifier: LGPL-2.1-or-later
"""What packagers get: a staging tree from which the bus starts both daemons."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import Gio, GLib
from buses import BRIDGE, BRIDGE_ROOT, BROKER, ROOT, let_pass, wait
from notifications import AGENT
from support import PROGRAMS, SOURCE, Machine
from user_manager import UserManager

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={bus}</listen>
  <servicedir>{services}</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>
"""


class InstalledMachine(Machine):
    """A machine whose bus knows the service files of a staging tree, and on which nothing else was started."""

    def __init__(self, name: str, services: Path) -> None:
        self.services = services
        super().__init__(name)

    def start_bus(self) -> None:
        file = self.folder / "bus.conf"
        file.write_text(CONFIGURATION.format(bus=self.folder / "bus", services=self.services))
        self.start("dbus-daemon", f"--config-file={file}", "--nofork", "--nopidfile")
        self.wait_for_bus()


def install(folder: Path, *options: str) -> tuple[Path, str]:
    """A prefix as Meson has filled it, through a staging root, and what Meson has said."""
    if shutil.which("meson") is None:
        pytest.skip("Meson is not installed: install the Debian package meson")
    prefix, stage = folder / "usr", folder / "stage"
    commands = [
        ["meson", "setup", str(folder / "build"), str(SOURCE), f"--prefix={prefix}",
         f"-Dbinaries={PROGRAMS}", *options],
        ["meson", "install", "-C", str(folder / "build"), "--destdir", str(stage)],
    ]
    said = ""
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        said += done.stdout
    # What a package manager does by unpacking the staging root.
    prefix.symlink_to(stage / prefix.relative_to("/"))
    return prefix, said


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prefix with what is installed unless packagers want it otherwise."""
    return install(tmp_path_factory.mktemp("installed"))[0]


@pytest.fixture
def manager(prefix: Path) -> Iterator[UserManager]:
    """A user's systemd that knows what was installed, before anybody has logged in to a desktop."""
    manager = UserManager(prefix)
    try:
        if manager.missing:
            pytest.skip(manager.missing)
        yield manager
    finally:
        manager.end()


@pytest.fixture
def installed(prefix: Path, machine_list: list[Machine]) -> Iterator[Machine]:
    machine = InstalledMachine("desk", prefix / "share" / "dbus-1" / "services")
    machine_list.append(machine)
    # For the bridge that the bus starts: no port that others may use.
    file = machine.folder / "config_home" / "handoff" / "handoff.conf"
    file.write_text(file.read_text() + "[Network]\nPort=0\n")
    yield machine


def call_broker(machine: Machine) -> None:
    """Calls the broker as a client would that knows nothing of whether it runs."""
    done = machine.run("gdbus", "call", "--session", "--dest", BROKER, "--object-path", ROOT, "--method",
                       "org.freedesktop.DBus.Properties.Get", f"{BROKER}.Manager", "Version")
    assert done.stdout.strip() == "(<uint32 1>,)", done.stderr


def test_the_bus_starts_both_daemons_from_their_service_files(installed: Machine) -> None:
    """A first call starts the broker, and the broker has the bus start the bridge."""
    assert not installed.session.owner(BROKER)
    call_broker(installed)
    wait(lambda: installed.session.owner(BRIDGE), "the bridge, started by the broker")
    assert len(installed.session.get(BRIDGE_ROOT, "Bridge.DeviceId")) == 64


PAGES = {"handoff": "man1/handoff.1", "handoffd": "man8/handoffd.8", "handoff-bridge": "man8/handoff-bridge.8",
         "handoff.conf": "man5/handoff.conf.5"}


def manual_page(prefix: Path, name: str) -> str:
    """The source of a manual page, with its hyphens as they are shown and without changes of the font."""
    return re.sub(r"\\f.", "", (prefix / "share" / "man" / PAGES[name]).read_text().replace("\\-", "-"))


def help_text(*command: str) -> str:
    return subprocess.run([str(PROGRAMS / command[0]), *command[1:]], capture_output=True, text=True, check=True,
                          timeout=30).stdout


def test_manual_pages_name_every_option(prefix: Path) -> None:
    """Each program has a manual page, which names every command and every option that its help shows."""
    texts = {name: help_text(name, "--help") for name in ("handoff", "handoffd", "handoff-bridge")}
    commands = re.findall(r"^  ([a-z]+) +\S", texts["handoff"].partition("Commands:")[2], re.MULTILINE)
    assert "status" in commands
    texts["handoff"] += "".join(help_text("handoff", "help", command) for command in commands)
    for name, text in texts.items():
        page = manual_page(prefix, name)
        options = re.findall(r"(?<!\S)--?[a-z][a-z-]*", text)
        assert "--version" in options
        for word in [*options, *(f"handoff {command}" for command in commands if name == "handoff")]:
            assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", page), f"the page of {name} does not name {word}"


def test_manual_page_of_the_configuration_names_every_key(prefix: Path) -> None:
    """handoff.conf(5) has each key that the interface Preferences documents, in its group, with its property."""
    interface = (prefix / "share" / "dbus-1" / "interfaces" / f"{BROKER}.Preferences.xml").read_text()
    pattern = r'In\s+the\s+file:\s+([\w\s]+?),?\s+in\s+the\s+group\s+([\w\s]+?)\..*?<property name="(\w+)"'
    keys = re.findall(pattern, interface, re.DOTALL)
    assert len(keys) == interface.count("<property")
    page = manual_page(prefix, "handoff.conf")
    for key, group, name in keys:
        section = page.partition(f".SS [{' '.join(group.split())}]\n")[2].partition("\n.S")[0]
        # Some groups have a key for each of something.
        heading = f"\n.BI {key}= " if key.isidentifier() else "\n.IB "
        entry = section.partition(heading)[2].partition("\n.TP")[0]
        assert f"D-Bus property:\n.BR {name} .\n" in entry + "\n", key


def test_manual_pages_lead_to_each_other(prefix: Path) -> None:
    """Each manual page names all others at its end."""
    for name in PAGES:
        end = manual_page(prefix, name).partition(".SH SEE ALSO\n")[2]
        for other, path in PAGES.items():
            assert other == name or f".BR {other} ({path[3]})" in end, f"{name} does not lead to {other}"


def test_the_installed_command_line_says_how_things_are(installed: Machine, prefix: Path) -> None:
    """`handoff status` works from where it is installed."""
    call_broker(installed)
    wait(lambda: installed.session.owner(BRIDGE), "the bridge")
    done = installed.run(str(prefix / "bin" / "handoff"), "status")
    assert done.returncode == 0, done.stderr


def test_status_waits_for_a_bridge_that_is_being_started(installed: Machine, prefix: Path) -> None:
    """`handoff status` does not say that there is no bridge while the broker has it started."""
    for _ in range(5):
        call_broker(installed)
        done = installed.run(str(prefix / "bin" / "handoff"), "status")
        assert done.returncode == 0, done.stdout
        assert "is not running" not in done.stdout
        for name in (BRIDGE, BROKER):
            process = installed.session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.GetConnectionUnixProcessID",
                                             GLib.Variant("(s)", (name,)), destination="org.freedesktop.DBus").unpack()[0]
            os.kill(process, signal.SIGTERM)
            wait(lambda: not installed.session.owner(name), f"the end of {name}")


UNITS = {BROKER: "handoffd.service", BRIDGE: "handoff-bridge.service"}
# All that a graphical session has.
SESSION_UNITS = UNITS | {AGENT: "handoff-agent.service"}
# What only a session has whose user has named carriers.
CARRIERS = "handoff-carry.service"


def test_a_session_under_systemd_has_both_daemons(manager: UserManager) -> None:
    """With a graphical session systemd starts both daemons, though nobody has enabled or called anything, and they end with
    it."""
    assert not any(manager.session.owner(name) for name in SESSION_UNITS)
    for number in range(2):
        manager.start("desktop-session.target")
        for name, unit in SESSION_UNITS.items():
            wait(lambda: manager.session.owner(name), f"{name} on the bus; {manager.log}")
            wait(lambda: manager.state(unit) == "active", f"{unit}; {manager.log}")
            assert manager.property(unit, "Service", "Slice") == "session.slice"
        # Each takes the other for what it is, as units of systemd, too.
        broker = ("--user", BROKER, ROOT, f"{BROKER}.Preferences", "DeviceName")
        bridge = ("--user", BRIDGE, BRIDGE_ROOT, f"{BROKER}.Bridge", "DeviceName")
        for setter, getter, name in ((broker, bridge, f"Name {number}"), (bridge, broker, f"Other {number}")):
            manager.run("busctl", "set-property", *setter, "s", name)
            wait(lambda: manager.run("busctl", "get-property", *getter) == f's "{name}"', f"the name {name}")
        manager.stop("desktop-session.target")
        for name, unit in SESSION_UNITS.items():
            wait(lambda: not manager.session.owner(name), f"{name} to leave the bus; {manager.log}")
            wait(lambda: manager.state(unit) in ("", "inactive"), f"the end of {unit}: {manager.state(unit)}")


def test_the_bus_has_systemd_start_the_daemons(manager: UserManager) -> None:
    """Where there is no graphical session a call starts both as units, not as children of the bus."""
    manager.session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.StartServiceByName",
                         GLib.Variant("(su)", (BROKER, 0)), destination="org.freedesktop.DBus")
    for name, unit in UNITS.items():
        wait(lambda: manager.session.owner(name), f"{name} on the bus; {manager.log}")
        assert manager.state(unit) == "active"


def test_a_session_under_systemd_is_reset(manager: UserManager, prefix: Path) -> None:
    """“handoff reset” ends both units of a session, and neither systemd nor the agent brings them back."""
    manager.start("desktop-session.target")
    for name in SESSION_UNITS:
        wait(lambda: manager.session.owner(name), f"{name} on the bus; {manager.log}")
    state = manager.folder / "state_home" / "handoff"
    wait(lambda: list(state.glob("*/identity.pem")), "the key of the device")
    folders = [f"{name}={manager.folder / name.removeprefix('XDG_').lower()}" for name in (
        "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "HOME")]
    said = manager.run("env", *folders, str(prefix / "bin" / "handoff"), "reset", "--yes")
    assert "forgotten everything" in said
    # Far longer than systemd waits before it starts a unit again (0.1 s).
    let_pass(1)
    assert not state.exists()
    for name, unit in UNITS.items():
        assert not manager.session.owner(name) and manager.state(unit) in ("", "inactive"), manager.log
    assert manager.session.owner(AGENT)


def test_systemd_skips_the_autostart_entry(prefix: Path, tmp_path: Path) -> None:
    """Under systemd the autostart entry makes no unit: the daemons have their own."""
    generator = "/usr/lib/systemd/user-generators/systemd-xdg-autostart-generator"
    if not os.access(generator, os.X_OK):
        pytest.skip("this systemd has no generator for autostart entries")
    other = tmp_path / "config" / "autostart"
    other.mkdir(parents=True)
    (other / "other.desktop").write_text("[Desktop Entry]\nType=Application\nName=Other\nExec=/bin/true\n")
    folders = [tmp_path / name for name in ("normal", "early", "late")]
    for folder in folders:
        folder.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"),
                   "XDG_CONFIG_DIRS": f"{prefix}/etc/xdg", "XDG_RUNTIME_DIR": str(tmp_path)}
    subprocess.run([generator, *folders], env=environment, check=True, timeout=30)
    made = [file.name for folder in folders for file in folder.rglob("*.service")]
    assert any("other" in name for name in made), "the generator works"
    assert not any("Handoff" in name for name in made), made


def test_packagers_may_leave_it_to_presets(tmp_path: Path, prefix: Path) -> None:
    """Meson says what starts the daemons, and installs no links for packagers who prefer presets."""
    links = prefix / "lib" / "systemd" / "user" / "graphical-session.target.wants"
    assert {link.name: link.resolve() for link in links.iterdir()} \
        == {unit: (links.parent / unit).resolve() for unit in (*SESSION_UNITS.values(), CARRIERS)}
    other, said = install(tmp_path, "-Denableunits=false")
    assert "preset" in said
    assert not (other / "lib" / "systemd" / "user" / "graphical-session.target.wants").exists()
    assert (other / "lib" / "systemd" / "user" / "handoffd.service").exists()


def launch_autostart_entry(installed: Machine, prefix: Path, name: str) -> None:
    """What a session without systemd does with an autostart entry."""
    entry = prefix / "etc" / "xdg" / "autostart" / name
    validated = subprocess.run(["desktop-file-validate", str(entry)], capture_output=True, text=True, check=False)
    assert validated.returncode == 0, validated.stdout
    application = Gio.DesktopAppInfo.new_from_filename(str(entry))
    # Desktop Application Autostart Specification: what may keep an entry from being started.
    assert application and not application.get_is_hidden() and application.get_show_in("AnyDesktop")
    for key in ("X-systemd-skip", "X-GNOME-HiddenUnderSystemd", "NoDisplay"):
        assert application.get_boolean(key), key
    context = Gio.AppLaunchContext()
    for variable, value in installed.environment.items():
        context.setenv(variable, value)
    assert application.launch([], context)


def test_the_autostart_entry_starts_the_daemons(installed: Machine, prefix: Path) -> None:
    """What a session without systemd does with the autostart entry: it has both daemons then."""
    launch_autostart_entry(installed, prefix, "org.example.Handoff.desktop")
    for name in UNITS:
        wait(lambda: installed.session.owner(name), name)


def test_the_autostart_entry_of_the_agent(installed: Machine, prefix: Path) -> None:
    """Without systemd the agent has an autostart entry of its own, which starts neither daemon."""
    launch_autostart_entry(installed, prefix, "handoff-agent.desktop")
    wait(lambda: installed.session.owner(AGENT), AGENT)
    assert not any(installed.session.owner(name) for name in UNITS)


def test_the_bus_has_systemd_start_the_agent(manager: UserManager) -> None:
    """A call starts the agent as a unit, and neither daemon."""
    manager.session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.StartServiceByName",
                         GLib.Variant("(su)", (AGENT, 0)), destination="org.freedesktop.DBus")
    wait(lambda: manager.session.owner(AGENT), f"{AGENT} on the bus; {manager.log}")
    assert manager.state("handoff-agent.service") == "active"
    assert not any(manager.session.owner(name) for name in UNITS)


def test_adapters_are_one_program(installed: Machine, prefix: Path) -> None:
    """All adapters are installed as one program with a name for each, together with their descriptions; what starts them
    without an agent ends at once where the bus can start one."""
    links = {path.name: path.resolve().name for path in (prefix / "libexec").glob("handoff-*") if path.is_symlink()}
    names = ("browser", "documents", "editor", "media", "office", "phone", "shell")
    assert links == {f"handoff-{name}": "handoff-adapter" for name in names}
    described = {path.name for path in (prefix / "share" / "handoff" / "adapters").iterdir()}
    assert described == {f"{name}.adapter" for name in names}
    entry = prefix / "etc" / "xdg" / "autostart" / "handoff-adapters.desktop"
    validated = subprocess.run(["desktop-file-validate", str(entry)], capture_output=True, text=True, check=False)
    assert validated.returncode == 0, validated.stdout
    command = Gio.DesktopAppInfo.new_from_filename(str(entry)).get_commandline()
    done = installed.run(*command.split())
    assert done.returncode == 0 and not done.stderr


def test_authors_find_the_clients(prefix: Path) -> None:
    """pkg-config says where the interfaces, the clients to copy and the schemas are, all of which are installed, and nothing else."""
    for variable, source in (("clientsdir", "clients"), ("interfacesdir", "dbus-1/interfaces"), ("schemasdir", "schemas")):
        asked = subprocess.run(["pkg-config", f"--variable={variable}", "handoff"], capture_output=True, text=True, check=True,
                               env=os.environ | {"PKG_CONFIG_PATH": str(prefix / "share" / "pkgconfig")})
        there = Path(asked.stdout.strip())
        ours = subprocess.run(["git", "ls-files"], cwd=SOURCE / "data" / source, capture_output=True, text=True, check=False)
        files = {path.relative_to(there).as_posix() for path in there.rglob("*") if path.is_file()}
        assert files and (files == set(ours.stdout.split()) or not ours.stdout)


def test_descriptions_of_adapters_can_be_read(installed: Machine, prefix: Path) -> None:
    """The descriptions that are installed are ones that the agent takes."""
    data = installed.environment["XDG_DATA_DIRS"]
    for name in ("mpv", "org.gnome.Evince", "nvim", "firefox-esr", "debian-xterm"):
        folder = Path(installed.environment["XDG_DATA_HOME"]) / "applications"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.desktop").write_text(f"[Desktop Entry]\nType=Application\nName={name}\nExec=true\n")
    installed.environment["XDG_DATA_DIRS"] = f"{prefix}/share"
    try:
        installed.start("handoff-agent", "--verbose")
        wait(lambda: "adapters are needed" in installed.log("handoff-agent"), "the descriptions to be read")
    finally:
        installed.environment["XDG_DATA_DIRS"] = data
    assert "5 adapters are needed" in (log := installed.log("handoff-agent")) and "is ignored" not in log
