// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffStatus
internal import Platform

/// What each kind of notification says. What others have chosen stands in quotation marks, which it cannot leave, or in a
/// line of its own, after what is ours.
extension Notice {
    /// The question whether the user wants to continue `offer`, in this place.
    static func question(_ offer: ShownOffer, in slot: NoticeSlot) -> Notice? {
        guard let path = try? ObjectPath(offer.path) else { return nil }
        let press = NoticePress.continueOffer(path)
        return Notice(
            slot: slot, title: tr("Continue “{title}”?", ["title": offer.label.shown]),
            lines: [offer.device.whereabouts(parkedAt: offer.parkedAt)], applications: offer.applications,
            buttons: [Button(label: tr("Continue"), press: press)], press: press)
    }

    /// A device asks to be paired.
    static func pairing(_ device: PairingNotices.Device) -> Notice {
        Notice(
            slot: .pairing(device.id), title: tr("Pair with another device?"),
            lines: [tr("Both devices then show six digits for you to compare."), device.label.shown],
            icon: "network-wireless", buttons: [Button(label: tr("Pair"), press: .pair(device.id))],
            press: .openWindow)
    }

    /// The code that both devices show, first and alone. Nothing is answered by pressing elsewhere than on an answer.
    static func comparing(_ device: PairingNotices.Device) -> Notice {
        let (id, code) = (device.id, device.code)
        return Notice(
            slot: .pairing(id), title: code,
            lines: [tr("Does the other device show the same six digits?"), device.label.shown],
            icon: "network-wireless", weight: .urgent,
            buttons: [
                Button(
                    label: tr("They match"), press: .confirm(deviceID: id, code: code, matches: true)),
                Button(
                    label: tr("They don’t match"), press: .confirm(deviceID: id, code: code, matches: false)),
            ])
    }

    /// A peer introduces devices of which the user has yet to say whether to pair with them.
    static func introduced(_ introduction: IntroductionNotices.Introduction) -> Notice {
        let (peer, devices) = (introduction.introducer, introduction.devices)
        let slot = NoticeSlot.introduced(by: peer.id)
        if devices.count == 1, let device = devices.first {
            return Notice(
                slot: slot, title: tr("Pair with “{device}”?", ["device": device.label.shown]),
                lines: [
                    tr("“{device}” says that it is one of your devices.", ["device": peer.label.shown])
                ],
                icon: "network-wireless",
                buttons: [
                    Button(label: tr("Pair"), press: .acceptIntroduction(device.id)),
                    Button(label: tr("No"), press: .declineIntroduction(device.id)),
                ],
                press: .openWindow)
        }
        return several(
            slot,
            trn(
                "“{device}” knows {count} more of your devices",
                "“{device}” knows {count} more of your devices", count: devices.count,
                ["device": peer.label.shown]), devices.map(\.label.quoted))
    }

    /// Several devices are asked about, which is answered in the window.
    private static func several(_ slot: NoticeSlot, _ title: String, _ names: [String]) -> Notice {
        Notice(
            slot: slot, title: title,
            lines: Array(names.prefix(maximumNames)) + (names.count > maximumNames ? ["…"] : []),
            icon: "network-wireless", buttons: [Button(label: tr("Choose…"), press: .openWindow)],
            press: .openWindow)
    }

    /// How many devices are named in one notification.
    private static let maximumNames = 5

    /// The user of `peer` has unpaired `devices`, which are peers here.
    static func retracted(_ devices: [KnownDevice], by peer: KnownDevice) -> Notice {
        let slot = NoticeSlot.retracted(by: peer.id)
        guard devices.count == 1, let device = devices.first else {
            return several(
                slot,
                trn(
                    "“{device}” no longer counts {count} of your devices",
                    "“{device}” no longer counts {count} of your devices", count: devices.count,
                    ["device": peer.label.shown]), devices.map(\.label.quoted))
        }
        return Notice(
            slot: slot,
            title: tr("Unpair “{device}” here too?", ["device": device.label.shown]),
            lines: [
                tr("“{device}” no longer counts it among your devices.", ["device": peer.label.shown])
            ],
            icon: "network-wireless",
            buttons: [
                Button(label: tr("Unpair here too"), press: .unpair(device.id)),
                Button(label: tr("Keep"), press: .keep(device.id)),
            ],
            press: .openWindow)
    }

    /// The user of a device has ended the pairing with this one.
    static func unpaired(by device: EndedPairing) -> Notice {
        Notice(
            slot: .unpaired(by: device.id),
            title: tr("“{device}” is no longer paired", ["device": device.label.shown]),
            lines: [
                tr("Its user has ended the pairing with this device. If that was a mistake, pair them again.")
            ],
            icon: "network-wireless", press: .openWindow)
    }

    /// Another device has continued something from here.
    static func continued(_ one: ContinuedNotices.Continued) -> Notice {
        let title = ChosenText(title: one.title.isEmpty ? one.applicationID : one.title)
        return Notice(
            slot: .continued, title: tr("Continued on another device"),
            lines: [title.quoted, ChosenText.device(name: one.deviceName, id: one.deviceID).shown],
            applications: [one.applicationID], weight: .quiet)
    }

    /// Several activities were continued here together, and why the first was not that was not.
    static func continuedAll(_ run: ContinuedAllNotices.Run) -> Notice {
        let device = ChosenText.device(name: run.deviceName, id: run.deviceID).shown
        let title = tr("{done} of {total} continued", ["done": "\(run.done)", "total": "\(run.total)"])
        let show = NoticePress.openEverything(run.deviceID)
        var lines = [device]
        if let failure = run.failure {
            let what = ChosenText(title: failure.title.isEmpty ? failure.applicationID : failure.title)
            lines = [
                PeerText.message(failure.message).sentence, saying(failure.detail), what.quoted, device,
            ].filter { !$0.isEmpty }
        }
        return Notice(
            slot: .continuedAll, title: title, lines: lines,
            applications: run.failure.map { [$0.applicationID] } ?? [],
            icon: run.failure == nil ? "computer" : "dialog-warning",
            weight: run.failure == nil ? .quiet : .normal,
            buttons: [Button(label: tr("Show"), press: show)], press: show)
    }

    /// The continuation of `offer` is under way.
    static func progress(_ offer: ShownOffer) -> Notice? {
        guard let path = try? ObjectPath(offer.path) else { return nil }
        let percentage = offer.percentage.map {
            [tr("{percentage} % are here.", ["percentage": "\($0)"])]
        }
        return Notice(
            slot: .progress(path), title: tr("Continuing “{title}”…", ["title": offer.label.shown]),
            lines: (percentage ?? []) + [offer.device.shown], applications: offer.applications,
            percentage: offer.percentage,
            buttons: [Button(label: tr("Cancel"), press: .cancelOffer(path))])
    }

    /// A continuation has failed.
    static func failure(_ failure: ProgressNotices.Failure) -> Notice? {
        guard let path = try? ObjectPath(failure.offer.path) else { return nil }
        let again = NoticePress.continueOffer(path)
        return Notice(
            slot: .progress(path), title: tr("Nothing was continued"),
            lines: [
                PeerText.message(failure.message).sentence, saying(failure.detail),
                failure.offer.label.quoted, failure.offer.device.shown,
            ].filter { !$0.isEmpty },
            applications: failure.offer.applications, icon: "dialog-warning",
            buttons: failure.canTryAgain ? [Button(label: tr("Try again"), press: again)] : [])
    }

    /// What a daemon, or another device through it, says in its own words, which could imitate ours; empty if nothing.
    private static func saying(_ detail: String) -> String {
        detail.isEmpty ? "" : ChosenText(title: detail).quoted
    }

    /// What is current here was not sent to `device`.
    static func notSent(to device: ChosenText, _ failure: FailureText) -> Notice {
        Notice(
            slot: .sending, title: tr("Nothing was sent"),
            lines: [failure.summary, saying(failure.detail), device.shown].filter { !$0.isEmpty },
            icon: "dialog-warning")
    }

    /// What is in the clipboard of `device` is in the one here now: what it is, never what it says.
    static func pasted(_ summary: ClipboardSummary, from device: ChosenText) -> Notice {
        Notice(
            slot: .pasting, title: tr("Pasted from “{device}”", ["device": device.shown]),
            lines: [tr("In the clipboard now: {what}", ["what": summary.text])], icon: "edit-paste",
            weight: .quiet)
    }

    /// What is in the clipboard of `device` was not pasted here.
    static func notPasted(from device: ChosenText, _ failure: FailureText) -> Notice {
        Notice(
            slot: .pasting, title: tr("Nothing was pasted from “{device}”", ["device": device.shown]),
            lines: [failure.summary, saying(failure.detail)].filter { !$0.isEmpty }, icon: "dialog-warning")
    }

    /// The user of `device` has sent something here to be copied. Only its button does that, since what is in the
    /// clipboard is lost by it.
    static func copying(_ sent: PasteNotices.Sent, from device: ChosenText) -> Notice {
        let isImage = sent.kinds.contains(.image) && !sent.kinds.contains(.text)
        let name = ["device": device.shown]
        return Notice(
            slot: .copying(sent.deviceID),
            title: isImage
                ? tr("“{device}” has sent you an image to copy", name)
                : tr("“{device}” has sent you text to copy", name),
            lines: [tr("It can be put into the clipboard here for ten minutes.")], icon: "edit-paste",
            buttons: [Button(label: tr("Copy"), press: .paste(sent.deviceID))])
    }

    /// What was sent to `device` while it was away has arrived there.
    static func arrived(_ item: WaitingSend, at device: KnownDevice) -> Notice {
        Notice(
            slot: .arrived(item.id), title: tr("Arrived on another device"),
            lines: [item.label.quoted, device.label.shown],
            applications: [item.applicationID], weight: .quiet)
    }

    /// What was continued has a document of which there are two versions now; `note` says where.
    static func versions(of offer: ShownOffer, _ note: String) -> Notice {
        Notice(
            slot: .versions, title: tr("There are two versions now"),
            lines: [saying(PeerText.message(note)), offer.device.shown], applications: offer.applications)
    }

    /// Handoff is there, and what to do first.
    static var welcome: Notice {
        Notice(
            slot: .welcome, title: tr("Handoff is installed"),
            lines: [tr("Pair your other computer, and continue there what you do here.")],
            icon: ListedOffer.ownIcon, buttons: [Button(label: tr("Pair…"), press: .openWindow)],
            press: .openWindow)
    }

    /// The Handoff window cannot be opened, for this reason, which says what to do too.
    static func noWindow(_ reason: String) -> Notice {
        Notice(
            slot: .window, title: tr("The Handoff window cannot be opened"),
            lines: [PeerText.message(reason).sentence], icon: "dialog-warning")
    }
}

extension ShownOffer {
    /// What to call it.
    fileprivate var label: ChosenText { ChosenText(title: title.isEmpty ? applicationID : title) }
    /// What to call its device.
    fileprivate var device: ChosenText { .device(name: deviceName, id: deviceID) }
    /// The applications whose picture it may have, in the order of ``RemoteOffer/applications``.
    fileprivate var applications: [String] { StandIn.applications(handler, applicationID) }
}

extension PairingNotices.Device {
    /// What to call it.
    fileprivate var label: ChosenText { .device(name: name, id: id) }
}

extension IntroductionNotices.Device {
    /// What to call it.
    fileprivate var label: ChosenText { .device(name: name, id: id) }
}
