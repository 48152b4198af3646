// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The Handoff window, which is a program of its own.
@MainLoop
final class HandoffWindow {
    /// What it shows when it is opened.
    enum Page: Sendable {
        /// What it shows already, or at first.
        case any
        /// What is open at the device of this id.
        case everything(String)
    }

    /// Called if the window cannot be opened, with the reason and what to do, for people to read.
    var onFailure: (@MainLoop (String) -> Void)?

    private let bus: Bus
    private var isOpening = false
    /// What was asked for last while the window was being opened, with a token; nil if nothing was.
    private var next: (page: Page, token: String)?
    /// How long a program may take to start.
    private static let patience = Duration.seconds(30)
    /// How long one that runs may take to answer.
    private static let patienceWithAnswer = Duration.seconds(10)

    /// The window on `bus`.
    init(_ bus: Bus) { self.bus = bus }

    /// Opens it, or brings it to the front; the bus starts the program if it does not run. `token` lets it come to the front,
    /// and may be empty.
    func open(_ page: Page = .any, token: String) {
        guard !isOpening else {
            next = (page, token)
            return
        }
        isOpening = true
        MainLoop.start { [weak self] in
            await self?.activate(page, token)
            self?.opened()
        }
    }

    private func opened() {
        isOpening = false
        guard let (page, token) = next else { return }
        next = nil
        open(page, token: token)
    }

    private func activate(_ page: Page, _ token: String) async {
        let data: [String: Value] =
            token.isEmpty
            ? [:] : ["activation-token": .string(token), "desktop-startup-id": .string(token)]
        guard let program = await program() else { return }
        let window = ApplicationProxy(RemoteObject(bus.connection, program, HandoffNames.settingsPath))
        do {
            switch page {
            case .any: try await window.activate(platformData: data, timeout: Self.patienceWithAnswer)
            case .everything(let device):
                try await window.activateAction(
                    actionName: HandoffNames.everythingAction, parameter: [.string(device)],
                    platformData: data, timeout: Self.patienceWithAnswer)
            }
        } catch {
            failed(
                DBusError.converting(error),
                tr("Its program answers with an error. Close it, then try again."))
        }
    }

    /// The program, which is started if it does not run; nil if there is none that is believed, which has been said then.
    /// Its name says nothing: a program in a sandbox that has taken it must not have what brings a window to the front.
    private func program() async -> BusName? {
        do {
            let owner = try await bus.identifiedOwner(
                starting: HandoffNames.settings, timeout: Self.patience)
            if let owner, let name = owner.name {
                if owner.sandbox == nil { return name }
                failed(
                    "\(owner.label) has taken \(HandoffNames.settings) from within a sandbox.",
                    tr("Another program has taken its place. Close that program, then try again."))
                return nil
            }
            failed("nobody owns \(HandoffNames.settings).", Self.missing)
        } catch {
            failed(DBusError.converting(error), Self.missing)
        }
        return nil
    }

    private static var missing: String {
        tr("Install handoff-settings, or use the command “handoff” instead.")
    }

    /// People are told `text`, unless the program is there and silent.
    private func failed(_ error: DBusError, _ text: String) {
        let isSilent = error.name == .noReply
        failed(
            error.message,
            isSilent
                ? tr("Its program does not answer. Close it, then try again.") : text)
    }

    private func failed(_ reason: String, _ text: String) {
        agentLog.info("The Handoff window cannot be opened: \(reason)")
        onFailure?(text)
    }
}
