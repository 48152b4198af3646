# SPDX-License-Identifier: LGPL-2.1-or-later
"""What there is for applications on the bus is in HandoffKit, and what there is for those who show Handoff to the user is in
HandoffStatus: each member of the interfaces has one declaration there, with documentation."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from support import SOURCE

INTERFACES = SOURCE / "data" / "dbus-1" / "interfaces"
KIT = SOURCE / "Sources" / "HandoffKit"
STATUS = SOURCE / "Sources" / "HandoffStatus"
ACTIVITY, LIFE = "Activities/UserActivity.swift", "Activities/UserActivity+Life.swift"
APPLICATION, DEVICE = "Application/HandoffApplication.swift", "Application/ContinuationDevice.swift"
DELEGATE, APPLICATION_DELEGATE = "Activities/UserActivityDelegate.swift", "Application/HandoffApplicationDelegate.swift"
# Each member that concerns applications: the file, and what begins its declaration there.
MEMBERS = {
    "Manager.RegisterApplication": (APPLICATION, "public func start("),
    "Manager.UnregisterApplication": (APPLICATION, "public func stop("),
    "Manager.RegistrationEnded": (APPLICATION, "public private(set) var isRegistered"),
    "Manager.CreateActivity": (ACTIVITY, "public init("),
    "Activity.BecomeCurrent": (LIFE, "public func becomeCurrent("),
    "Activity.ResignCurrent": (LIFE, "public func resignCurrent("),
    "Activity.LeaveCurrent": (LIFE, "public func leaveCurrent("),
    "Activity.BecomeOpen": (LIFE, "public func becomeOpen("),
    "Activity.Invalidate": (LIFE, "public func invalidate("),
    "Activity.Update": (ACTIVITY, "public func set<Property>("),
    "Activity.AddUserInfoEntries": ("Activities/UserActivity+Payload.swift", "public func addUserInfoEntries("),
    "Activity.ActivityType": (ACTIVITY, "public var activityType"),
    "Activity.ApplicationId": (APPLICATION, "public let id"),
    "Activity.Current": (ACTIVITY, "public internal(set) var isCurrent"),
    "Activity.Title": (ACTIVITY, "public var title"),
    "Activity.UserInfo": (ACTIVITY, "public var userInfo"),
    "Activity.RequiredUserInfoKeys": (ACTIVITY, "public var requiredUserInfoKeys"),
    "Activity.WebpageURL": (ACTIVITY, "public var webpageURL"),
    "Activity.DocumentURL": (ACTIVITY, "public var documentURL"),
    "Activity.ReferrerURL": (ACTIVITY, "public var referrerURL"),
    "Activity.TargetContentIdentifier": (ACTIVITY, "public var targetContentIdentifier"),
    "Activity.PersistentIdentifier": (ACTIVITY, "public var persistentIdentifier"),
    "Activity.Keywords": (ACTIVITY, "public var keywords"),
    "Activity.ExpirationDate": (ACTIVITY, "public var expirationDate"),
    "Activity.EligibleForHandoff": (ACTIVITY, "public var isEligibleForHandoff"),
    "Activity.EligibleForSearch": (ACTIVITY, "public var isEligibleForSearch"),
    "Activity.SupportsContinuationStreams": (ACTIVITY, "public var supportsContinuationStreams"),
    "Activity.NeedsSave": (ACTIVITY, "public var needsSave"),
    "Activity.Delegate": (ACTIVITY, "public weak var delegate"),
    "ActivityDelegate.WillSave": (DELEGATE, "func userActivityWillSave("),
    "ActivityDelegate.WasContinued": (DELEGATE, "func userActivityWasContinued("),
    "ActivityDelegate.DidReceiveStream": (DELEGATE, "func userActivity(_ activity: UserActivity, didReceive "),
    "Application.WillContinueActivity": (APPLICATION_DELEGATE, "func application(", "willContinueActivityOfType"),
    "Application.ContinueActivity": (APPLICATION_DELEGATE, "func application(", "continue activity"),
    "Application.DidFailToContinueActivity": (APPLICATION_DELEGATE, "func application(", "didFailToContinueActivityOfType"),
    "Continuation.OpenStream": ("Activities/UserActivity+Streams.swift", "public func continuationStream("),
    # A continuation ends with the activity that it has brought; whoever needs it no longer says so by this.
    "Continuation.Release": (LIFE, "public func invalidate("),
    "Continuation.ActivityType": (ACTIVITY, "public var activityType"),
    "Continuation.DeviceId": (DEVICE, "public let id"),
    "Continuation.DeviceName": (DEVICE, "public let name"),
    "Continuation.SupportsContinuationStreams": (ACTIVITY, "public var supportsContinuationStreams"),
}
# What the kit does by itself: it refuses by the same rule, before anything is sent.
RULES = {"Manager.MaximumUserInfoSize"}
# The properties for those who show Handoff to the user: where each is read, by its name, into a field that says what it is.
READ = {"Manager": "BrokerStatus.swift", "RemoteActivity": "Offers/RemoteOffer.swift",
        "Bridge": "BridgeStatus.swift", "Device": "KnownDevice.swift"}
# What the path of the object says.
FROM_PATH = {"RemoteActivity.DeviceId", "Device.DeviceId"}
# What nothing shows yet.
NOT_SHOWN = {"RemoteActivity.Parked"}


def members(interface: str, *kinds: str) -> list[str]:
    """The names of the members of an interface that are of these kinds."""
    root = ElementTree.parse(INTERFACES / f"org.example.Handoff.{interface}.xml").getroot()
    return [f"{interface}.{member.get('name')}" for kind in kinds for member in root.iter(kind)]


def declarations(file: Path, beginning: str, within: str = "") -> list[bool]:
    """For each declaration in a file that begins like this and has that within it, whether it has documentation."""
    lines = file.read_text(encoding="utf-8").splitlines()
    public = [number for number, line in enumerate(lines) if line.strip().startswith(beginning)
              or line.strip().startswith(("@discardableResult", "@ObservationIgnored")) and f" {beginning}" in line]
    # Where there is more than one, those in an extension are what is done by default.
    extension = next((number for number, line in enumerate(lines) if line.startswith("extension ")), len(lines))
    if within:
        public = [number for number in public if number < extension and within in " ".join(lines[number:number + 3])]
    return [lines[number - 1].strip().startswith(("///", "@")) for number in public]


def test_members_for_applications() -> None:
    """Each member of the interfaces for applications has one declaration in HandoffKit, with documentation"""
    found = [member for interface in ("Activity", "ActivityDelegate", "Application", "Continuation")
             for member in members(interface, "method", "signal", "property")]
    found += members("Manager", "method", "signal")
    # These are for whoever shows Handoff.
    assert set(found) - {"Manager.ActivityContinued", "Manager.ContinueAll"} == set(MEMBERS)
    for member, (file, beginning, *within) in MEMBERS.items():
        assert declarations(KIT / file, beginning, *within) == [True], member


def test_members_for_desktops() -> None:
    """Each property of the interfaces for those who show Handoff is read in one place of the client library"""
    for interface, name in READ.items():
        lines = (STATUS / name).read_text(encoding="utf-8").splitlines()
        for member in members(interface, "property"):
            places = [line for line in lines if f'"{member.split(".")[1]}"' in line]
            assert len(places) == (member not in RULES | FROM_PATH | NOT_SHOWN), member
