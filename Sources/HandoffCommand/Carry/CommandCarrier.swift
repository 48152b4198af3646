// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// A carrier whose connections are runs of a command, as the bridge calls it.
@MainLoop
final class CommandCarrier: CarrierServer {
    /// How many connections there may be at a time.
    private static let maximum = 32

    private let device: String
    private let command: [[UInt8]]
    private let said: SaidOnce
    private var running: [Int: CarrierProcess] = [:]
    private var nextNumber = 0
    private var isEnding = false

    /// A carrier to `device`, as the user names it, by `command`, which begins with the path of a program. What goes wrong is
    /// told by `said`.
    init(to device: String, by command: [[UInt8]], _ said: SaidOnce) {
        (self.device, self.command, self.said) = (device, command, said)
    }

    /// The other device greets first (protocol.md, "Opening"): the connection is there once something has come, and otherwise the
    /// command says why not.
    func connect(_ call: MethodCall) async throws -> FileDescriptor {
        guard !isEnding else { throw DBusError.unknownObject(tr("“handoff carry” is about to end.")) }
        guard running.count < Self.maximum else {
            throw HandoffFailure(
                .limitsExceeded,
                tr(
                    "There are {count} connections to “{device}” already. End what is no longer needed.",
                    ["count": "\(Self.maximum)", "device": device.shown]))
        }
        let pair = try FileDescriptor.socketPair()
        let ours = pair.ours
        let process = try start(with: pair.theirs)
        nextNumber += 1
        let number = nextNumber
        running[number] = process
        MainLoop.start { [weak self] in
            await process.isOver()
            self?.running[number] = nil
        }
        if let failure = await process.failure(toConnect: ours.number) {
            if !isEnding { tell(failure) }
            throw DBusError(.failed, failure)
        }
        return ours
    }

    /// Starts the command with this end of a connection, which is closed here, so that it ends with the command.
    private func start(with end: consuming FileDescriptor) throws(DBusError) -> CarrierProcess {
        do {
            return try CarrierProcess(command, end.number)
        } catch {
            let reason = CommandFailure(error).message
            tell(reason)
            throw DBusError(.failed, reason)
        }
    }

    private func tell(_ what: String) {
        said.say(tr("Carrying to “{device}”: {reason}", ["device": device.shown, "reason": what.sentence]))
    }

    /// Ends all connections, with what has made them. There are no others from now on.
    func end() async {
        isEnding = true
        let ends = running.values.map { process -> Task<Void, Never> in
            MainLoop.start { await process.end() }
        }
        for end in ends { await end.value }
    }
}
