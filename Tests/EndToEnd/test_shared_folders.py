# SPDX-License-Identifier: LGPL-2.1-or-later
"""Folders that both machines have, each in a place of its own: what lies in them is named alike."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import ROOT, wait
from clients import Client, Dock, handed_over, user_info
from link import Device, offer
from samples import tagged
from support import Machine, refused

Machines = tuple[Machine, Machine]

CLOUD = """[General]
clientVersion=3.12.0

[Accounts]
0\\Folders\\1\\localPath={path}/
0\\Folders\\1\\targetPath=/
0\\dav_user=me
0\\url=https://cloud.example.com
version=2
"""
SYNCTHING = """<configuration version="37">
    <folder id="abcde-fghij" label="Papers" path="{path}" type="sendreceive"></folder>
    <defaults><folder id="" path="~"></folder></defaults>
</configuration>
"""


def shared(machine: Machine, **folders: Path) -> None:
    """The user names these folders."""
    machine.session.set(ROOT, "Preferences.SharedFolders",
                        GLib.Variant("a{ss}", {name: str(path) for name, path in folders.items()}))


def place(machine: Machine, name: str = "Cloud") -> Path:
    """A folder of a machine, which no other has in that place."""
    folder = machine.folder / name
    folder.mkdir(exist_ok=True)
    return folder


def url(path: Path | str) -> GLib.Variant:
    return tagged("url", GLib.Variant("s", path if isinstance(path, str) else path.as_uri()))


def handed(machines: Machines, **user_info_values: GLib.Variant) -> dict[str, GLib.Variant]:
    """Hands this over, and returns what has arrived."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    title = f"Letters {len(desk.sessions)}"
    origin.offer(title, UserInfo=user_info_values)
    dock.continue_offer(dock.offer(title))
    return user_info(target.wait_for("ContinueActivity"))


def found_by_itself(machine: Machine, client: str, folder: Path) -> None:
    """The configuration of a sync client says that it keeps this folder alike."""
    file, text = {
        "Nextcloud": ("config_home/Nextcloud/nextcloud.cfg", CLOUD),
        "ownCloud": ("config_home/ownCloud/owncloud.cfg", CLOUD),
        "Syncthing": ("state_home/syncthing/config.xml", SYNCTHING),
        "older Syncthing": ("config_home/syncthing/config.xml", SYNCTHING),
    }[client]
    path = machine.folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.format(path=folder))


def test_tagged_urls(machines: Machines) -> None:
    """A tagged file URL into a shared folder arrives pointing to the same item in the receiver's folder of that name;
    other URLs arrive as they left, and so does all else."""
    desk, lap = machines
    here, there = place(desk, "Cloud"), place(lap, "My cloud")
    shared(desk, Cloud=here)
    shared(lap, Cloud=there)
    arrived = handed(
        machines, file=url(here / "a b" / "c.txt"), folder=url(here),
        list=GLib.Variant("a(sv)", [("url", GLib.Variant("s", (here / "d").as_uri() + "#page=2"))]),
        other=url("file:///etc/passwd"), beside=url(f"file://{here}2/a"), out=url(f"file://{here}/../a"),
        page=url("https://example.com/"), text=GLib.Variant("s", (here / "a").as_uri()))
    assert arrived["file"].unpack() == ("url", (there / "a b" / "c.txt").as_uri())
    assert arrived["folder"].unpack() == ("url", there.as_uri())
    assert arrived["list"].unpack() == [("url", (there / "d").as_uri() + "#page=2")]
    for key, text in (("other", "file:///etc/passwd"), ("beside", f"file://{here}2/a"), ("out", f"file://{here}/../a"),
                      ("page", "https://example.com/")):
        assert arrived[key].unpack() == ("url", text)
    assert arrived["text"].unpack() == (here / "a").as_uri()
    assert {value.get_type_string() for key, value in arrived.items() if key != "list" and key != "text"} == {"(sv)"}


def test_document(machines: Machines) -> None:
    """The document of an activity that both machines have in a shared folder arrives as the receiver's own file, however
    the folder came to be shared, and nothing is copied."""
    desk, lap = machines
    here, there = place(desk, "Cloud"), place(lap, "My cloud")
    found_by_itself(desk, "Nextcloud", here)
    found_by_itself(lap, "Nextcloud", there)
    for folder in (here, there):
        (folder / "Briefe & mehr").mkdir()
        letter = folder / "Briefe & mehr" / "Brief 50%.txt"
        letter.write_text("hello")
        os.utime(letter, ns=(0, 1_700_000_000_123_456_000))
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("Brief", DocumentURL=(here / "Briefe & mehr" / "Brief 50%.txt").as_uri())
    dock.continue_offer(dock.offer("Brief"))
    arrived = handed_over(target.wait_for("ContinueActivity"))
    expected = str(there / "Briefe & mehr" / "Brief 50%.txt")
    assert arrived["DocumentURL"].unpack() == GLib.filename_to_uri(expected)
    assert not {"SharedFolders", "DocumentSize", "DocumentModified"} & set(arrived)
    assert dock.outcome()[1] == ""
    assert not list(lap.folder.glob("home/**/*Brief*"))


@pytest.mark.parametrize("client", ["Nextcloud", "ownCloud", "Syncthing", "older Syncthing"])
def test_found_by_themselves(machines: Machines, client: str) -> None:
    """The folders of a sync client are shared without anybody naming them, from the moment when the client knows them."""
    desk, lap = machines
    here, there = place(desk), place(lap)
    unknown = handed(machines, file=url(here / "a"))
    assert unknown["file"].unpack() == ("url", (here / "a").as_uri())
    found_by_itself(desk, client, here)
    found_by_itself(lap, client, there)
    known = handed(machines, file=url(here / "a"))
    assert known["file"].unpack() == ("url", (there / "a").as_uri())


def test_link_out_of_the_folder(machines: Machines) -> None:
    """What a link in a shared folder leads to elsewhere is not handed over instead of the document, which is brought over
    at once."""
    desk, lap = machines
    here, there = place(desk, "Cloud"), place(lap, "My cloud")
    shared(desk, Cloud=here)
    shared(lap, Cloud=there)
    (here / "Papers").mkdir()
    private = lap.folder / "private"
    private.mkdir()
    (there / "Papers").symlink_to(private)
    for folder, text in ((here / "Papers", "hello"), (private, "mine!")):
        (folder / "id").write_text(text)
        os.utime(folder / "id", (1_600_000_000, 1_600_000_000))
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("Brief", DocumentURL=(here / "Papers" / "id").as_uri())
    dock.continue_offer(dock.offer("Brief"))
    arrived = handed_over(target.wait_for("ContinueActivity"))
    path = Path(GLib.filename_from_uri(arrived["DocumentURL"].unpack())[0])
    assert not path.is_relative_to(there) and path.read_text() == "hello"
    assert dock.outcome()[1] == ""


def test_tagged_url_behind_a_link(machines: Machines) -> None:
    """A tagged URL that a link in the shared folder would lead out of it arrives as it left; others are not affected."""
    desk, lap = machines
    here, there = place(desk, "Cloud"), place(lap, "My cloud")
    shared(desk, Cloud=here)
    shared(lap, Cloud=there)
    private = lap.folder / "private"
    private.mkdir()
    (private / "key").write_text("mine")
    (there / "Papers").symlink_to(private)
    (there / "key").symlink_to(private / "key")
    (there / "later").symlink_to(private / "later")
    arrived = handed(machines, plain=url(here / "a"), folder=url(here / "Papers"), file=url(here / "Papers" / "key"),
                     link=url(here / "key"), nothing=url(here / "later"))
    ways = {"folder": "Papers", "file": "Papers/key", "link": "key", "nothing": "later"}
    assert {key: arrived[key].unpack()[1] for key in ways} == {key: (here / way).as_uri() for key, way in ways.items()}
    assert arrived["plain"].unpack() == ("url", (there / "a").as_uri())


def test_only_one_of_them_has_it(machines: Machines) -> None:
    """A URL into a folder that only one of the machines shares arrives as it left."""
    desk, lap = machines
    here = place(desk)
    shared(desk, Cloud=here)
    shared(lap, Other=place(lap))
    assert handed(machines, file=url(here / "a"))["file"].unpack() == ("url", (here / "a").as_uri())


@pytest.mark.parametrize("content", [
    b"", b"\x00\xff" * 1000, b"[Accounts]\n" + b"0\\Folders\\1\\localPath=/a\n" * 40_000, b'"' * 200_000,
    b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>]><c><folder id='&b;' path='/a'/></c>",
    b"<a>" * 80_000, None], ids=["empty", "binary", "huge", "quotes", "bomb", "deep", "pipe"])
def test_hostile_configurations(machines: Machines, content: bytes | None) -> None:
    """Configurations of sync clients that are huge, binary, a pipe, or made to become huge do no harm, and named folders
    are shared nevertheless."""
    desk, lap = machines
    here, there = place(desk), place(lap)
    for machine in machines:
        for file in ("config_home/Nextcloud/nextcloud.cfg", "config_home/ownCloud/owncloud.cfg",
                     "state_home/syncthing/config.xml"):
            path = machine.folder / file
            path.parent.mkdir(parents=True)
            if content is None:
                os.mkfifo(path)
            else:
                path.write_bytes(content)
    shared(desk, Cloud=here)
    shared(lap, Cloud=there)
    assert handed(machines, file=url(here / "a"))["file"].unpack() == ("url", (there / "a").as_uri())
    for machine in machines:
        assert machine.processes["handoffd"].poll() is None


def test_what_is_said_of_a_document(machine: Machine) -> None:
    """Of a document in a shared folder a peer is told the folder, the size and the time; of one elsewhere nothing."""
    folder = place(machine)
    (folder / "a.txt").write_text("hello")
    os.utime(folder / "a.txt", ns=(0, 1_700_000_000_123_456_000))
    (machine.folder / "b.txt").write_text("elsewhere")
    os.symlink(folder, machine.folder / "Documents")
    shared(machine, Cloud=folder)
    device = Device()
    link = device.paired_link_to(machine)
    client = Client(machine)

    def fetched(path: Path, **user_info_values: GLib.Variant) -> dict:
        activity = client.offer("A document", DocumentURL=path.as_uri(), UserInfo=user_info_values)
        arguments = GLib.Variant("(ss)", (activity.id, os.urandom(16).hex()))
        return link.call("Peer.Fetch", arguments).unpack()[0]

    for path in (folder / "a.txt", machine.folder / "Documents" / "a.txt"):
        inside = fetched(path)
        assert inside["DocumentURL"] == (folder / "a.txt").as_uri()
        assert inside["SharedFolders"] == {"Cloud": folder.as_uri()}
        assert (inside["DocumentSize"], inside["DocumentModified"]) == (5, 1_700_000_000_123_456)
    outside = fetched(machine.folder / "b.txt")
    assert not {"SharedFolders", "DocumentSize", "DocumentModified"} & set(outside)
    only_tagged = fetched(machine.folder / "b.txt", file=url(folder / "c"))
    assert only_tagged["SharedFolders"] == {"Cloud": folder.as_uri()} and "DocumentSize" not in only_tagged


def test_preference(machine: Machine) -> None:
    """The named folders are kept in the file; ~/ stands for the home folder; what cannot be a shared folder is refused,
    and nothing has changed."""
    good = {"Cloud": "/srv/cloud", "Mine": "~/My files"}
    machine.session.set(ROOT, "Preferences.SharedFolders", GLib.Variant("a{ss}", good))
    file = machine.folder / "config_home" / "handoff" / "handoff.conf"
    assert "[Shared Folders]\nCloud=/srv/cloud\nMine=~/My files\n" in file.read_text()
    for bad in ({"Cloud": "/"}, {"Cloud": "relative"}, {"Cloud": "/a/../b"}, {"Cloud": "/a\nb"}, {"a=b": "/a"},
                {"a[de]": "/a"}, {"": "/a"}, {" a": "/a"}, {"#a": "/a"}, {"a\nb": "/a"}, {"Cloud": "~other/a"}):
        with refused("InvalidArgs"):
            machine.session.set(ROOT, "Preferences.SharedFolders", GLib.Variant("a{ss}", bad))
    with refused("LimitsExceeded"):
        machine.session.set(ROOT, "Preferences.SharedFolders",
                            GLib.Variant("a{ss}", {f"n{number}": f"/a{number}" for number in range(65)}))
    machine.kill("handoffd")
    file.write_text(file.read_text() + "Broken=relative\nBroken too=\\q\n")
    machine.start_broker()
    assert machine.session.get(ROOT, "Preferences.SharedFolders") == good
    assert "“Broken”" in machine.log("handoffd")
    machine.session.set(ROOT, "Preferences.SharedFolders", GLib.Variant("a{ss}", {"Mine": "~/My files"}))
    text = file.read_text()
    assert "Cloud=" not in text and "Mine=~/My files" in text and "Broken=relative" in text


def test_hostile_peer_names_folders(machine: Machine) -> None:
    """A peer that names folders it should not, or thousands of them, changes nothing but its own continuation."""
    folder = place(machine)
    shared(machine, Cloud=folder)
    target, dock = Client(machine), Dock(machine)
    device = Device()
    link = device.paired_link_to(machine)

    def continued(number: int, folders: GLib.Variant, text: str) -> None:
        identity = f"{number:032x}"
        link.call("Peer.Offer", offer(identity, Title=GLib.Variant("s", f"Letter {number}")))
        link.answers["Fetch"] = GLib.Variant("(a{sv})", ({
            "ActivityType": GLib.Variant("s", "com.example.editor.edit"),
            "ApplicationId": GLib.Variant("s", "com.example.editor"), "SharedFolders": folders,
            "UserInfo": GLib.Variant("a{sv}", {"file": url(text)})},))
        dock.continue_offer(dock.offer(f"Letter {number}"))
        wait(lambda: link.read_messages() is not None and len(dock.finished()) > number, "the outcome")

    text = "file:///home/me/Cloud/a"
    cases = [({"Cloud": "file:///"}, text), ({"Cloud": "file://host/home/me/Cloud"}, text), ({"Cloud": "home"}, text),
             ({"Other": "file:///home/me/Cloud"}, text), ({"Cloud": "file:///home/me/Cloud"}, f"{text}/../../b"),
             ({"Cloud": "file:///home/me/Cloud"}, "file:///home/me/Cloud/%2e%2e/b"),
             ({"Cloud": "file:///home/me/Cloud"}, "file:///home/me/Cloud2/b")]
    for number, (folders, sent) in enumerate(cases):
        continued(number, GLib.Variant("a{ss}", folders), sent)
        assert dock.finished()[-1][1] == ""
        assert user_info(target.called("ContinueActivity")[-1])["file"].unpack() == ("url", sent)
    for bad in (GLib.Variant("as", ["Cloud"]), GLib.Variant("a{sv}", {}),
                GLib.Variant("a{ss}", {f"n{number}": "file:///a" for number in range(65)})):
        continued(len(dock.finished()), bad, text)
        assert dock.finished()[-1][1] != ""
    assert len(target.called("ContinueActivity")) == len(cases)
