// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffCore
internal import HandoffStatus
internal import Platform

/// What the page shows that has what is open at another device.
package struct EverythingPage: Equatable, Sendable {
    /// What stands in its middle.
    package enum Place: String, Sendable {
        /// That the device is asked.
        case waiting
        /// What is open there.
        case list
        /// That nothing is.
        case empty
        /// Why it is not known.
        case refused
    }

    /// What can be done with all of it.
    package enum Action: Equatable, Sendable {
        /// Continuing so many; nothing can be done if that is none.
        case begin(Int)
        /// Ending what is under way, which is possible once the broker has answered.
        case cancel(isPossible: Bool)
        /// Asking the device again.
        case again
    }

    /// What it is called.
    package let title: String
    package let place: Place
    package let rows: [OpenRow]
    /// Why it is not known what is open there; empty if it is.
    package let reason: String
    /// How far what was begun is, or why it was not; empty if nothing was.
    package let standing: String
    package let action: Action
    /// Whether the device can be asked again.
    package let canList: Bool
    /// Whether what was chosen here is shown here, until it is over and afterwards, so that nobody else has to say it.
    package let showsOutcome: Bool

    /// What is visible of `everything` at the time `now`, in microseconds since the Unix epoch.
    package init(_ everything: Everything, at now: Int64, _ name: ApplicationNames) {
        let device = everything.known?.label ?? .device(name: "", id: everything.device)
        title = Self.title(device.shown)
        rows = everything.entries.map { OpenRow($0, in: everything, at: now, name) }
        canList = everything.canList
        let problem: String
        if case .refused(let text) = everything.step { problem = text } else { problem = "" }
        reason = problem
        showsOutcome = everything.isRunning || everything.run != nil
        standing = everything.problem.isEmpty ? Self.standing(everything) : everything.problem
        switch everything.step {
        case .waiting, .listing: place = rows.isEmpty ? .waiting : .list
        case .refused: place = rows.isEmpty ? .refused : .list
        case .listed, .beginning, .running: place = rows.isEmpty ? .empty : .list
        }
        switch everything.step {
        case .refused: action = .again
        case .beginning: action = .cancel(isPossible: false)
        case .running: action = .cancel(isPossible: true)
        case .waiting, .listing, .listed: action = .begin(everything.chosen.count)
        }
    }

    /// What the page of the device is called that is called `device`.
    package static func title(_ device: String) -> String {
        tr("Everything on {device}", ["device": device])
    }

    private static func standing(_ everything: Everything) -> String {
        guard let run = everything.run else {
            return everything.isRunning ? tr("Continuing…") : ""
        }
        return tr("{done} of {total} continued", ["done": "\(run.done)", "total": "\(run.total)"])
    }
}

/// Something that is open at another device.
package struct OpenRow: Equatable, Sendable, Identifiable {
    /// Where the broker has it.
    package let path: ObjectPath
    /// What it is.
    package let title: String
    /// The application, when it was used last, and in a line of its own what has become of it, or why it cannot be continued.
    package let detail: String
    /// The applications whose picture stands for it, the best first.
    package let pictures: [String]
    /// Whether the user wants it.
    package let isTicked: Bool
    /// Whether the user can change that.
    package let canTick: Bool
    /// Whether it was continued here.
    package let isContinued: Bool

    /// What distinguishes it from others.
    package var id: String { path.text }

    init(_ entry: Everything.Entry, in everything: Everything, at now: Int64, _ name: ApplicationNames) {
        let offer = entry.offer
        path = offer.path
        title = offer.label.shown
        pictures = offer.applications
        isTicked = everything.chosen.contains { $0.path == offer.path }
        canTick = entry.isPossible && !everything.isRunning
        isContinued = everything.result(of: offer.path)?.state == .continued
        let best = offer.handlers.first ?? offer.applicationID
        let application = name.name(of: best, continuing: offer)
        let used = offer.lastUsed == 0 ? offer.since : offer.lastUsed
        let facts = [application, Ages.ago(used, at: now)].filter { !$0.isEmpty }.joined(separator: " · ")
        detail = [facts, Self.standing(of: entry, in: everything)].filter { !$0.isEmpty }
            .joined(separator: "\n")
    }

    /// What has become of it, or why it cannot be continued; empty if there is nothing to say.
    private static func standing(of entry: Everything.Entry, in everything: Everything) -> String {
        let result = everything.result(of: entry.offer.path)
        switch result?.state {
        case .continued?: return tr("Continued")
        case .failed?: return result?.failure?.line ?? ""
        case .continuing? where everything.isRunning: return tr("Continuing…")
        case .waiting? where everything.isRunning: return ""
        case .continuing?, .waiting?: return tr("Handoff has ended meanwhile. Try again once it runs.")
        case nil: break
        }
        if entry.isGone { return tr("No longer open") }
        let obstacle = entry.offer.obstacle
        return ObstacleText.known(obstacle) ?? ChosenText(message: obstacle).shown
    }
}
