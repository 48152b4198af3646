// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces

/// The place of a notification: what is shown in one replaces what was shown there.
enum NoticeSlot: Hashable, Sendable {
    /// The question whether the user, who has just come, wants to continue something.
    case arrival
    /// The same for what was pushed here by the device with this id.
    case invited(String)
    /// The device with this id is being paired.
    case pairing(String)
    /// The peer with this id introduces devices.
    case introduced(by: String)
    /// The user of the peer with this id has unpaired others.
    case retracted(by: String)
    /// The user of the device with this id has ended the pairing with this one.
    case unpaired(by: String)
    /// Another device has continued something from here.
    case continued
    /// The continuation of the offer at this path.
    case progress(ObjectPath)
    /// Several activities of other devices were continued here together.
    case continuedAll
    /// What is current here was not sent.
    case sending
    /// What was in the clipboard of another device was pasted here, or was not.
    case pasting
    /// What the user of the device with this id has sent here to be copied.
    case copying(String)
    /// What waited for a device, under this id, has arrived there.
    case arrived(String)
    /// There are two versions of a document.
    case versions
    /// The Handoff window cannot be opened.
    case window
    /// Handoff is there.
    case welcome

    /// What desktops call it.
    var id: String {
        switch self {
        case .arrival: "arrival"
        case .invited(let device): "invited-\(device)"
        case .pairing(let device): "pairing-\(device)"
        case .introduced(let peer): "introduced-\(peer)"
        case .retracted(let peer): "retracted-\(peer)"
        case .unpaired(let device): "unpaired-\(device)"
        case .continued: "continued"
        case .progress(let path): "progress\(path.text.replacing("/", with: "-"))"
        case .continuedAll: "continued-all"
        case .sending: "sending"
        case .pasting: "pasting"
        case .copying(let device): "copying-\(device)"
        case .arrived(let id): "arrived-\(id)"
        case .versions: "versions"
        case .window: "window"
        case .welcome: "welcome"
        }
    }
}

/// What the Handoff window may show to its user, who then needs no notification of it.
enum WindowView: CaseIterable {
    case offers
    case pairing
    case devices
    case everything

    /// The bus name that the window has meanwhile.
    var name: BusName {
        switch self {
        case .offers: HandoffNames.offersInView
        case .pairing: HandoffNames.pairingInView
        case .devices: HandoffNames.devicesInView
        case .everything: HandoffNames.everythingInView
        }
    }
}

extension NoticeSlot {
    /// Where the window shows the same.
    var views: [WindowView] {
        switch self {
        case .arrival, .invited, .welcome: [.offers]
        case .pairing: [.pairing]
        case .introduced: [.pairing, .devices]
        case .retracted: [.devices]
        case .continuedAll: [.everything]
        case .unpaired, .continued, .progress, .sending, .pasting, .copying, .arrived, .versions, .window: []
        }
    }

    /// Whether the user who has seen it has no need of it any more, whatever the answer was.
    var isAskedOnce: Bool {
        switch self {
        case .arrival, .welcome, .introduced, .retracted, .unpaired, .continuedAll: true
        case .invited, .pairing, .continued, .progress, .sending, .pasting, .copying, .arrived, .versions,
            .window:
            false
        }
    }
}

/// What the user wants by pressing something.
enum NoticePress: Hashable, Sendable {
    case continueOffer(ObjectPath)
    case cancelOffer(ObjectPath)
    /// Agree to pair with the device of this id.
    case pair(String)
    /// Whether the other device, of this id, shows this code too.
    case confirm(deviceID: String, code: String, matches: Bool)
    /// Pair with the introduced device of this id.
    case acceptIntroduction(String)
    /// Do not pair with it, and do not ask again.
    case declineIntroduction(String)
    /// Unpair the device of this id.
    case unpair(String)
    /// Keep the device of this id, which others have unpaired.
    case keep(String)
    /// Put what is in the clipboard of the device of this id, or what it has sent, into the clipboard here.
    case paste(String)
    case openWindow
    /// Show what is open at the device of this id.
    case openEverything(String)

    /// What desktops call it.
    var action: String {
        switch self {
        case .continueOffer: "continue"
        case .cancelOffer: "cancel"
        case .pair: "pair"
        case .confirm(_, _, let matches): matches ? "matches" : "differs"
        case .acceptIntroduction: "accept"
        case .declineIntroduction: "decline"
        case .unpair: "unpair"
        case .keep: "keep"
        case .paste: "copy"
        case .openWindow: "open"
        case .openEverything: "show"
        }
    }
}

/// What is shown to the user in a notification. Whatever others have chosen in it is fit to be shown, as plain text.
struct Notice: Equatable, Sendable {
    /// How much it asks for the user's attention.
    enum Weight: Sendable {
        case quiet
        case normal
        /// It stays until it is answered or taken back.
        case urgent
    }

    /// Something to press.
    struct Button: Equatable, Sendable {
        let label: String
        let press: NoticePress
    }

    let slot: NoticeSlot
    let title: String
    /// What stands below it, each in a line of its own.
    let lines: [String]
    /// The applications whose picture it has, the best one that is installed.
    var applications: [String] = []
    /// The picture if there is none of them, by its name in the user's theme.
    var icon = "computer"
    var weight = Weight.normal
    /// How far something has come, in hundredths.
    var percentage: Int?
    var buttons: [Button] = []
    /// What happens when it is pressed elsewhere.
    var press: NoticePress?

    /// All that can be pressed.
    var presses: [NoticePress] { buttons.map(\.press) + (press.map { [$0] } ?? []) }
}
