// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffClient
package import HandoffCore
internal import HandoffInterfaces
package import MainLoop
internal import Platform

/// `org.example.Handoff.Agent`: what the desktop's shell tells the agent, and is asked for.
///
/// Only the connection that owns the name of a shell is listened to, and only while it does. That it does not run in a
/// sandbox is seen to before a call arrives here.
@MainLoop
package final class ShellObject: AgentServer, FocusSource, ActivationTokens {
    /// The names that shells own.
    private static let shells: [BusName] = ["org.gnome.Shell", "org.kde.KWin"]
    /// The longest token, in bytes.
    private static let maximumTokenSize = 256

    package private(set) var window: FocusedWindow?
    package var onFocusChange: (@MainLoop () -> Void)?

    /// Whether a shell has attached, which shows an indicator of its own.
    package var isAttached: Bool { minter != nil }
    /// Called when ``isAttached`` may be another.
    package var onAttachmentChange: (@MainLoop () -> Void)?

    private let bus: Bus
    private let log = Log(domain: "handoff-agent")
    private let requests: TokenRequests
    private var watches: [NameWatch] = []
    /// Who owns the name of each shell.
    private var owners: [BusName: BusName] = [:]
    /// Who has said which window has the focus.
    private var teller: BusName?
    package var isTelling: Bool { teller != nil }
    /// Who makes tokens.
    private var minter: BusName? {
        didSet { if minter != oldValue { onAttachmentChange?() } }
    }

    /// For the shells on `bus`.
    package init(_ bus: Bus, by clock: LoopClock = .machine) {
        self.bus = bus
        requests = TokenRequests(by: clock)
    }

    /// What it serves at the agent's root object.
    package var rootInterfaces: [any InterfaceBinding] { [AgentBinding(self)] }

    /// Begins to look for shells. To be called before the agent's bus name is requested: then it is known who a shell is
    /// before it calls.
    package func begin() {
        for shell in Self.shells {
            watches.append(bus.watch(shell) { [weak self] in self?.ownerChanged(of: shell, $0) })
        }
    }

    private func ownerChanged(of shell: BusName, _ owner: BusName?) {
        let former = owners[shell]
        owners[shell] = owner
        if let former, former != owner { forget(former) }
    }

    /// Takes back what `shell` has said.
    private func forget(_ shell: BusName) {
        if minter == shell {
            minter = nil
            requests.end()
        }
        if teller == shell {
            teller = nil
            show(nil, hasChanged: true)
        }
    }

    private func show(_ window: FocusedWindow?, hasChanged: Bool = false) {
        guard hasChanged || window != self.window else { return }
        if window?.application != self.window?.application || (window == nil) != (self.window == nil) {
            log.debug(
                window.map {
                    "A window of \($0.application?.description ?? "an unknown application") has the focus."
                }
                    ?? "No window has the focus.")
        }
        self.window = window
        onFocusChange?()
    }

    /// The shell that calls.
    /// - Throws: `AccessDenied` if it is none.
    private func shell(_ call: MethodCall) throws(HandoffFailure) -> BusName {
        guard let name = call.caller.name, owners.values.contains(name) else {
            let names = Self.shells.map(\.text).joined(separator: " or ")
            throw HandoffFailure(
                .accessDenied,
                "This is for the desktop's shell, which owns \(names); \(call.caller.label) does not. Other programs"
                    + " have no use for it.")
        }
        return name
    }

    // MARK: What shells call

    package func focusChanged(window: [String: Value], _ call: MethodCall) throws {
        let shell = try shell(call)
        let isFirst = teller == nil
        teller = shell
        do {
            show(try FocusedWindow.described(by: window), hasChanged: isFirst)
        } catch {
            // Whichever window it is, the former one has the focus no longer.
            show(nil, hasChanged: isFirst)
            throw error
        }
    }

    package func attach(_ call: MethodCall) throws {
        let shell = try shell(call)
        if minter != shell { requests.end() }
        minter = shell
    }

    package func detach(_ call: MethodCall) throws { forget(try shell(call)) }

    package func provideToken(request: UInt32, token: String, _ call: MethodCall) throws {
        let shell = try shell(call)
        guard token.utf8.count <= Self.maximumTokenSize else {
            throw HandoffFailure(
                .invalidArguments,
                "The token has \(token.utf8.count) bytes, more than the \(Self.maximumTokenSize) allowed.")
        }
        if shell == minter { requests.answer(request, token) }
    }

    // MARK: Tokens

    package func token(for application: ApplicationID) async -> String {
        guard let minter else { return "" }
        return await requests.ask { [bus] number in
            guard
                let signal = try? AgentBinding.tokenWanted(
                    from: HandoffNames.agentPath, request: number, applicationId: application.description),
                (try? signal.setDestination(minter)) != nil
            else { return false }
            bus.connection.post(signal)
            return true
        }
    }
}
