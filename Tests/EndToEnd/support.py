# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines: each has a session bus with both daemons and directories of its own, and is reached over loopback."""

from __future__ import annotations

import errno
import itertools
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gi.repository import GLib
from buses import BRIDGE, BRIDGE_ROOT, BROKER, ROOT, BusError, Session, wait

SOURCE = Path(__file__).resolve().parents[2]
PROGRAMS = Path(os.environ.get("HANDOFF_BINARIES", SOURCE / "build" / "bin")).resolve()


def device_path(device_id: str) -> str:
    """The bridge's object for another device."""
    return f"{BRIDGE_ROOT}/devices/{device_id}"


# Whether the daemons are watched by a sanitizer, which keeps memory for itself that does not count.
SANITIZED = bool({"ASAN_OPTIONS", "TSAN_OPTIONS"} & set(os.environ))


# How many ports each of the processes that run tests has for itself, below those that the system gives away.
PORTS = 2500
_ports = itertools.count()


def has_all_rights() -> bool:
    """Whether this is root with what root may: give files away, become another user, mount. A container may have taken that."""
    status = Path("/proc/self/status").read_text()
    effective = int(next(line for line in status.splitlines() if line.startswith("CapEff:")).split()[1], 16)
    # CAP_CHOWN, CAP_SETGID, CAP_SETUID, CAP_SYS_ADMIN (capabilities(7)).
    return os.geteuid() == 0 and all(effective >> number & 1 for number in (0, 6, 7, 21))


def own_port(address: str) -> int:
    """A port that no other test of this run gets, and that the system gives to nobody who asks for any: a daemon that
    comes back finds it free."""
    worker = int(re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "")) or 0)
    for number in itertools.islice(_ports, PORTS):
        port = 12_000 + worker % 8 * PORTS + number % PORTS
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            try:
                probe.bind((address.strip("[]"), port))
            except OSError as error:
                # An address of another network namespace has all ports free.
                if error.errno == errno.EADDRNOTAVAIL:
                    return port
                continue
            return port
    raise AssertionError("there is no port")


class Machine:
    """One of the user's machines. Two of them share nothing but the network."""

    def __init__(self, name: str) -> None:
        self.name = name
        # Short, because the path of a socket can't be long.
        self.folder = Path(tempfile.mkdtemp(prefix=f"handoff-{name}-"))
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.sessions: list[Session] = []
        self.last_words: dict[str, str] = {}
        self.address = f"unix:path={self.folder}/bus"
        self.environment = {
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "HOME": str(self.folder / "home"),
            "DBUS_SESSION_BUS_ADDRESS": self.address,
            # No discovery: the tests are on this machine alone.
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.folder}/no-system-bus",
            "XDG_DATA_DIRS": str(self.folder / "share"),
        }
        # What a sanitizer is told counts for the daemons too.
        self.environment |= {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
        for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
            self.environment[variable] = str(self.folder / variable.removeprefix("XDG_").lower())
        for variable, folder in self.environment.items():
            if variable == "HOME" or variable.startswith("XDG_"):
                Path(folder).mkdir(mode=0o700)
        self.port = 0
        # The host that its bridge is on: one of this machine's network namespaces, or this machine itself.
        self.host = ""
        self.host_address = "127.0.0.1"
        # Otherwise the bridge chooses one, from those that a firewall can name.
        self.has_own_port = True
        # Whether its user has been told before that Handoff is there.
        self.is_welcomed = True
        configuration = self.folder / "config_home" / "handoff"
        configuration.mkdir()
        (configuration / "handoff.conf").write_text(f"[Device]\nName={name}\n")
        self.start_bus()

    # Processes

    def start(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Starts a program of this machine, whose output goes to its log. It ends with this process."""
        if program == "handoff-agent" and self.is_welcomed:
            state = self.folder / "state_home" / "handoff"
            state.mkdir(mode=0o700, exist_ok=True)
            (state / "welcomed").touch()
        path = shutil.which(program, path=self.environment["PATH"])
        assert path, f"there is no {program} in {self.environment['PATH']}"
        # A test may be run from a thread with signals blocked, and a child would inherit that.
        with open(self.log_file(program), "ab") as log:
            process = subprocess.Popen([*self.prefix(program), "setpriv", "--pdeathsig", "TERM", path, *arguments],
                                       env=self.environment, cwd=self.folder,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes[program] = process
        return process

    def prefix(self, program: str) -> list[str]:
        """What comes before the command that starts a program, so that it runs where it should."""
        return ["ip", "netns", "exec", self.host] if self.host and program == "handoff-bridge" else []

    def start_bus(self) -> None:
        self.start("dbus-daemon", "--session", "--nofork", "--nopidfile", "--address", self.address)
        self.wait_for_bus()

    def wait_for_bus(self) -> None:
        """Waits until the bus takes connections, which is after its socket exists."""
        def connected() -> Session | None:
            try:
                return self.connect()
            except GLib.Error:
                return None

        self.session = wait(connected, f"the bus of {self.name}")

    def start_broker(self, *options: str) -> None:
        self.start("handoffd", *options)
        self.wait_for(BROKER, "handoffd")

    def start_bridge(self, *options: str) -> None:
        """Starts the bridge, at the same port as before if it was running before."""
        if not self.port and self.has_own_port:
            self.port = own_port(self.host_address)
        self.start("handoff-bridge", "--no-discovery", f"--listen={self.host_address}:{self.port}", *options)
        self.wait_for(BRIDGE, "handoff-bridge")
        self.port = self.session.get(BRIDGE_ROOT, "Bridge.Port")

    def wait_for(self, name: str, program: str) -> None:
        """Waits until a daemon owns its name, which means that it is ready."""
        process = self.processes[program]
        wait(lambda: self.session.owner(name) or process.poll() is not None, f"{name} on the bus")
        assert process.poll() is None, f"{program} has ended with status {process.returncode}:\n{self.log(program)}"

    def kill(self, program: str, number: int = signal.SIGKILL) -> int:
        """Ends a program of this machine and returns its exit status."""
        process = self.processes.pop(program)
        process.send_signal(number)
        wait(lambda: process.poll() is not None, f"the end of {program}")
        return process.returncode

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Runs a command as the user of this machine would, serving the bus meanwhile."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], env=self.environment,
                                       stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
            try:
                wait(lambda: process.poll() is not None, f"the end of {' '.join(command)}")
            except AssertionError:
                process.kill()
                process.wait()
                raise
            output.seek(0)
            errors.seek(0)
            return subprocess.CompletedProcess(command, process.returncode, output.read().decode(),
                                               errors.read().decode())

    def log_file(self, program: str) -> Path:
        return self.folder / f"{Path(program).name}.log"

    def log(self, program: str) -> str:
        """What a program of this machine has logged so far."""
        file = self.log_file(program)
        return file.read_text(errors="replace") if file.exists() else self.last_words.get(file.stem, "")

    def logs(self) -> dict[str, str]:
        """What all of its programs have logged so far."""
        return {file.stem: file.read_text(errors="replace") for file in sorted(self.folder.glob("*.log"))} or self.last_words

    def stop(self) -> dict[str, int]:
        """Ends everything; returns the exit statuses of the daemons that were asked to end."""
        for session in self.sessions:
            session.close()
        statuses = {}
        for program in [program for program in self.processes if program != "dbus-daemon"]:
            statuses[program] = self.kill(program, signal.SIGTERM)
        if "dbus-daemon" in self.processes:
            self.kill("dbus-daemon", signal.SIGTERM)
        return statuses

    def remove(self) -> None:
        """Removes the folder of this machine; what was logged can still be read."""
        self.last_words = self.logs()
        shutil.rmtree(self.folder, ignore_errors=True)

    # The bus

    def connect(self) -> Session:
        """A new connection to the bus of this machine, closed with the machine."""
        session = Session(self.address)
        self.sessions.append(session)
        return session

    @property
    def device_id(self) -> str:
        return self.session.get(BRIDGE_ROOT, "Bridge.DeviceId")

    def set_enabled(self, enabled: bool) -> None:
        """The user's switch."""
        self.session.set(ROOT, "Manager.Enabled", GLib.Variant("b", enabled))

    def trust(self, device_id: str, name: str) -> None:
        """Pairs with a device of this identity."""
        self.session.call(BRIDGE_ROOT, "Bridge.Trust", GLib.Variant("(ss)", (device_id, name)))

    def dial(self, port: int, address: str = "127.0.0.1") -> str:
        """Connects to a device by its port, and returns its object."""
        arguments = GLib.Variant("(s)", (f"{address}:{port}",))
        return self.session.call(BRIDGE_ROOT, "Bridge.Connect", arguments).unpack()[0]

    def connected_to(self, device_id: str) -> bool:
        """Whether there is a link to this paired device."""
        try:
            device = self.session.get_all(device_path(device_id), "Device")
        except BusError:
            return False
        return device["Paired"].unpack() and device["Connected"].unpack()


def start_machine(machines: list[Machine], name: str, *options: str, has_own_port: bool = True) -> Machine:
    """A machine with both daemons running with these options, added to those of the test, which ends it."""
    machine = Machine(name)
    machine.has_own_port = has_own_port
    machines.append(machine)
    machine.start_broker(*options)
    machine.start_bridge(*options)
    return machine


def trust_each_other(one: Machine, other: Machine) -> None:
    """Makes two machines peers, by their identities. They know no address of each other."""
    one.trust(other.device_id, other.name)
    other.trust(one.device_id, one.name)


def pair(one: Machine, other: Machine) -> None:
    """Makes two machines peers, and waits until they are connected."""
    trust_each_other(one, other)
    one.dial(other.port)
    wait_for_link(one, other)


def wait_for_link(one: Machine, other: Machine) -> None:
    wait(lambda: one.connected_to(other.device_id) and other.connected_to(one.device_id),
         f"a link between {one.name} and {other.name}")


def memory(machine: Machine, program: str, kind: str = "Private_Dirty") -> int:
    """What a daemon takes of the memory of this computer, in bytes; `kind` is a line of smaps_rollup (proc(5))."""
    return private_memory(machine.processes[program].pid, kind)


def private_memory(pid: int, kind: str = "Private_Dirty") -> int:
    """The same of any process."""
    # What of a program that was just built is not on the disk yet counts as written to by the process.
    with open(f"/proc/{pid}/exe", "rb") as built:
        os.fsync(built)
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(f"{kind}:"))


def processor_time(pid: int) -> float:
    """The seconds of a processor that a process has used (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def count(records: list, matches: Callable[..., bool]) -> int:
    """How many records match."""
    return sum(1 for record in records if matches(record))


@contextmanager
def case(*what: object) -> Iterator[None]:
    """One row of a table that a session is asked about: a failure in it names the row."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in the case {' '.join(map(str, what))!r}")
        raise


@contextmanager
def few_descriptors(process: subprocess.Popen[bytes], spare: int) -> Iterator[None]:
    """Meanwhile a process can open so many descriptors more, and no others."""
    former = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
    used = {int(name) for name in os.listdir(f"/proc/{process.pid}/fd")}
    limit = 0
    while spare or limit in used:
        spare -= limit not in used
        limit += 1
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (limit, former[1]))
    try:
        yield
    finally:
        if process.poll() is None:
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, former)


@contextmanager
def refused(*names: str, containing: tuple[str, ...] = ()) -> Iterator[None]:
    """Expects that what is done is answered with an error of one of these names, whose message says why."""
    try:
        yield
    except BusError as error:
        assert error.short_name in names, f"refused with {error}, and not with {' or '.join(names)}"
        assert len(error.message) >= 10, f"the message says nothing: “{error.message}”"
        for text in containing:
            assert text in error.message, f"“{text}” is not in the message “{error.message}”"
    else:
        raise AssertionError(f"accepted, though {' or '.join(names)} was expected")
