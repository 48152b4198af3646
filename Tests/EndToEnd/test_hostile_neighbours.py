# SPDX-License-Identifier: LGPL-2.1-or-later
"""What hostile neighbours on the network try: it is of no avail, and two peers do not notice.

Not to notice means that the median of nine or more continuations under attack is at most twice that of eighteen or
more in peace, plus by how much those in peace differed at most, which is how far the measurement itself can be
trusted; those in peace are taken before, after and, where the attack can pause, between. The trust store is the same
afterwards, byte by byte.
"""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Callable

import pytest
from gi.repository import GLib
from attacks import ATTACKS, UGLY_NAME
from buses import BRIDGE_ROOT, HANDOFF_ERROR, let_pass, wait
from bystanders import Attack, Bystanders, Echo, Impostor, connecting
from clients import Client, Dock
from link import NO_FLAGS, Device, Identity, Link, method_call, offer
from proxy import Direction, Proxy
from pairing import discoverable
from support import Machine, device_path, refused, start_machine
from transcript import Scribe

# How often an attack is made while some continuations are measured.
ROUNDS = 8


@pytest.mark.parametrize("name", ATTACKS)
def test_peer_is_served_under_attack(bystanders: Bystanders, name: str) -> None:
    """Whatever a neighbour does again and again while strangers are welcome: it is refused, and peers do not notice."""
    discoverable(bystanders.desk)
    with bystanders.undisturbed() as times, Attack(name, bystanders.desk) as attack:
        for _time in range(2):
            before = attack.rounds
            times.take_under_attack(lambda: attack.rounds < before + ROUNDS and attack.process.poll() is None)
            with attack.paused():
                times.take_in_peace()
        attack.end()


def trickle(links: dict[str, Link], data: dict[str, bytes], meanwhile: Callable[[], None]) -> dict[str, float]:
    """Sends a byte every 0.3 s on each link until it is closed, and gives back after how many seconds each was."""
    begin, closed = time.monotonic(), {}
    for position in range(30):
        for name, link in links.items():
            if name not in closed:
                link.send_bytes(data[name][position:position + 1])
        if position == 2:
            meanwhile()
        until = begin + 0.3 * (position + 1)
        while time.monotonic() < until:
            # Until it is looked again which links are closed.
            let_pass(0.05)
            closed |= {name: time.monotonic() - begin
                       for name, link in links.items() if name not in closed and link.has_ended()}
        if len(closed) == len(links):
            break
    return closed


def client_hello(device: Device) -> bytes:
    """The first bytes of a TLS client."""
    outgoing = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        device.identity.context.wrap_bio(ssl.MemoryBIO(), outgoing).do_handshake()
    return outgoing.read()


def test_slow_bytes(bystanders: Bystanders) -> None:
    """Who sends a byte every 0.3 s is cut off after 2 s before TLS, after 5 s within the handshake, and after 5 s if
    Hello has not come by then; peers do not notice."""
    discoverable(bystanders.desk)
    device = Device()
    hello = method_call("Link.Hello", GLib.Variant("(ua{sv})", (1, {"Paired": GLib.Variant("b", False)})))
    hello.set_serial(1)
    data = {"the knock": b"\x01\x3e" + bytes(16 + 62 * 16), "the handshake": client_hello(device),
            "Hello": hello.to_blob(NO_FLAGS)}
    with bystanders.undisturbed() as times:
        links = {name: Link(bystanders.desk) for name in data}
        links["the handshake"].knock()
        links["Hello"].start_tls(device.identity)
        closed = trickle(links, data, times.take_under_attack)
    for name, seconds in {"the knock": 2, "the handshake": 5, "Hello": 5}.items():
        assert name in closed, f"{name} may take for ever"
        assert seconds - 1 < closed[name] < seconds + 2, name


def peer_at(impostor: Impostor, machine: Machine) -> tuple[Scribe, Link]:
    """A peer of this machine that was dialled at this port."""
    device = Scribe()
    machine.trust(device.id, "other")
    finish = connecting(machine, impostor.port)
    link = impostor.answer(device.identity)
    link.hello(paired=True)
    finish()
    wait(lambda: link.read_messages() and machine.connected_to(device.id), "the link")
    return device, link


def test_other_certificate_at_a_known_address(bystanders: Bystanders) -> None:
    """Who answers at the address of a peer with another certificate is shown no certificate, and gets no link."""
    desk = bystanders.desk
    with Impostor() as impostor:
        device, link = peer_at(impostor, desk)
        with bystanders.undisturbed() as times:
            link.close()
            identity = Identity()
            for shown_to, error in ((device.identity, ssl.SSLCertVerificationError), (identity, ConnectionError)):
                # Python takes no certificate of an authority that it doesn't know: so it tells that there was one.
                shown_to.server_context.verify_mode = ssl.CERT_REQUIRED
                with pytest.raises(error):
                    impostor.answer(shown_to)
            times.take_under_attack()
        wait(lambda: f"it is {identity.id}, not {device.id}" in desk.log("handoff-bridge"), "the reason in the log")
        assert not desk.connected_to(device.id)


def test_knock_for_somebody_else(bystanders: Bystanders) -> None:
    """Who has a peer knock for it is let into TLS, and cut off there, not being that peer."""
    desk, lap = bystanders.desk, bystanders.lap
    with Impostor() as impostor, bystanders.undisturbed() as times:
        finish = connecting(lap, impostor.port)
        link, other = Link(desk), impostor.accept()
        link.send_bytes(other.greet(link.take(24)))
        intruder = Device()
        link.shake(intruder.identity)
        times.take_under_attack()
        link.wait_until_closed()
        assert not link.received_bytes
        other.close()
        with refused("ConnectionUnavailable"):
            finish()
    wait(lambda: f"it is {intruder.id}, not {lap.device_id}" in desk.log("handoff-bridge"), "the reason in the log")


def known_device(bystanders: Bystanders) -> tuple[Scribe, bytes]:
    """A peer that has no link now, and its secret."""
    device = Scribe()
    link = device.paired_link_to(bystanders.desk)
    secret = device.transcript(link, bystanders.desk).secret
    wait(lambda: link.read_messages() and secret.hex().encode() in bystanders.trust(), "the secret")
    link.close()
    return device, secret


def test_knock_is_good_for_one_greeting(bystanders: Bystanders) -> None:
    """A knock that was good once is none for another greeting."""
    device, secret = known_device(bystanders)
    with bystanders.undisturbed() as times:
        link = Link(bystanders.desk)
        knock = device.knock(link.take(24), secret)
        link.send_bytes(knock)
        link.shake(device.identity)
        link.close()
        link = Link(bystanders.desk)
        link.take(24)
        link.send_bytes(knock)
        times.take_under_attack()
        with pytest.raises(OSError):
            link.shake(device.identity)


class Mirror(Proxy):
    """A proxy that gives greetings another challenge."""

    def _pass(self, direction: Direction, record: bytes) -> bool:
        return super()._pass(direction, record[:8] + os.urandom(16) if record.startswith(b"HANDOFF1") else record)


@pytest.mark.parametrize("proxy_type", [Proxy, Mirror], ids=["as it is", "with another challenge"])
def test_connected_to_itself(bystanders: Bystanders, proxy_type: type[Proxy]) -> None:
    """A bridge that is connected to itself by somebody between notices it, even where strangers are welcome."""
    desk = bystanders.desk
    discoverable(desk)
    proxy = proxy_type(desk.port)
    try:
        with bystanders.undisturbed() as times:
            for _time in range(3):
                with refused("InvalidArgs", containing=("this device",)):
                    desk.dial(proxy.port)
            times.take_under_attack()
    finally:
        proxy.close()


def test_bytes_sent_back(bystanders: Bystanders) -> None:
    """Whoever greets as this machine has greeted before, and sends back every byte, is no device."""
    desk = bystanders.desk
    link = Link(desk)
    greeting = link.take(24)
    link.close()
    with bystanders.undisturbed() as times, Echo(greeting) as echo:
        for _time in range(3):
            with refused("ConnectionUnavailable"):
                desk.dial(echo.port)
        assert echo.echoed > 3 * 18, "the knock, and what begins TLS"
        times.take_under_attack()


@pytest.mark.parametrize("dials", [True, False], ids=["a dialler", "somebody dialled"])
def test_messages_sent_back(bystanders: Bystanders, dials: bool) -> None:
    """A device that sends back every message can't be paired with, whichever side it is."""
    desk = bystanders.desk
    discoverable(desk)
    device, sent = Device(), 0
    with bystanders.undisturbed() as times, Impostor() as impostor:
        if dials:
            link = device.link_to(desk)
        else:
            connecting(desk, impostor.port)
            link = impostor.answer(device.identity)

        def shown(name: str) -> bool | str:
            nonlocal sent
            link.has_ended()
            data = link.received_bytes[sent:]
            link.send_bytes(data)
            sent += len(data)
            paths = desk.session.managed_objects(BRIDGE_ROOT)
            return paths.get(device_path(device.id), {}).get("org.example.Handoff.Device", {}).get(name, False)

        wait(lambda: shown("Connected"), "the link")
        times.take_under_attack()
        desk.session.call(device_path(device.id), "Device.Pair")
        wait(lambda: shown("PairingError"), "the reason")
        assert not shown("Paired")
        link.wait_until_closed()


def test_unpair_before_hello_by_a_peer(bystanders: Bystanders) -> None:
    """Not even a peer can unpair before Hello."""
    desk = bystanders.desk
    device, secret = known_device(bystanders)
    with bystanders.undisturbed() as times:
        link = device.known_link_to(desk, secret)
        link.send(method_call("Link.Unpair"))
        times.take_under_attack()
        link.wait_until_closed()
        assert desk.session.get(device_path(device.id), "Device.Paired")


def test_name_and_id_of_a_peer(bystanders: Bystanders) -> None:
    """A stranger that says to be a peer, by name and by all kinds of keys, is another device of another name, and by
    saying that it is not paired it ends nothing."""
    desk, lap = bystanders.desk, bystanders.lap
    discoverable(desk)
    device = Device()
    with bystanders.undisturbed() as times:
        link = device.link_to(desk)
        claims = {key: GLib.Variant("s", lap.device_id) for key in ("DeviceId", "Device", "Id", "Sender")}
        link.hello(paired=False, Name=GLib.Variant("s", "lap"), **claims)
        wait(lambda: link.read_messages() and desk.connected_to(lap.device_id), "lap")
        times.take_under_attack()
        assert desk.session.get(device_path(device.id), "Device.Name") == "lap (2)"
        assert not desk.session.get(device_path(device.id), "Device.Paired")
        assert desk.session.get(device_path(lap.device_id), "Device.Name") == "lap"


def assert_clean(text: str, limit: int) -> None:
    """What somebody else wrote is there, cut to so many characters; it steers nothing, and markup is text."""
    assert "<b>&amp;</b>" in text
    for line in text.splitlines():
        assert "x" * limit not in line
        assert not set(line) & set("\x1b\u202e\x07\u2028")


def test_texts_that_steer_terminals(machine_list: list[Machine]) -> None:
    """What a device says of itself, and why it refuses or cancels, is shown and logged cleaned and cut."""
    desk = start_machine(machine_list, "desk", "--verbose")
    dock, _target = Dock(desk), Client(desk)
    discoverable(desk)
    about = {name: GLib.Variant("s", UGLY_NAME) for name in ("Name", "Type", UGLY_NAME[:200])}
    peer = Device()
    link = peer.paired_link_to(desk)
    link.hello(paired=True, **about)
    link.call("Peer.Offer", offer())
    names = [dock.offers[dock.offer("From afar")]["DeviceName"]]
    for how in ("refuses", "cancels"):
        device = Device()
        link = device.link_to(desk)
        link.hello(paired=False, **about)
        if how == "refuses":
            link.errors["Request"] = (f"{HANDOFF_ERROR}.PairingFailed", UGLY_NAME)
        path = device_path(device.id)
        wait(lambda: path in desk.session.managed_objects(BRIDGE_ROOT), "the device")
        names.append(desk.session.get(path, "Device.Name"))
        assert desk.session.get(path, "Device.Type") == ""
        desk.session.call(path, "Device.Pair")
        wait(lambda: link.calls("Request"), "the request")
        if how == "cancels":
            link.call("Pairing.Cancel", GLib.Variant("(s)", (UGLY_NAME,)))
        reason = wait(lambda: desk.session.get(path, "Device.PairingError"), "the reason")
        assert_clean(reason, 257)
    assert len(set(names)) == 3, "no two show one name"
    for name in names:
        assert_clean(name, 65)
        assert len(name) <= 64
    for command in (["devices"], ["devices", "--json"], ["status"], ["list"]):
        assert_clean(desk.run("handoff", *command).stdout, 257)
    for program in ("handoffd", "handoff-bridge"):
        assert_clean(desk.log(program), 257)
