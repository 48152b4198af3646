// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// Tells one adapter which of its windows has the focus: one call at a time, and then the latest that there is to tell.
@MainLoop
final class FrontTeller {
    private let bus: Bus
    /// The connection that is told; nil while the adapter does not run.
    private var adapter: BusName?
    /// What it was told last; nil for nothing yet.
    private var told: [String: Value]?
    /// What it is to know; nil while nobody knows where the user works.
    private var wanted: [String: Value]?
    private var isCalling = false
    /// How many calls in a row were not answered.
    private var silences = 0

    /// How long a call may take. The next one waits for it.
    private static let patience = Duration.seconds(2)
    /// After so many calls without an answer there is none any more.
    static let maximumSilences = 3

    /// For an adapter on `bus` that does not run yet.
    init(_ bus: Bus) { self.bus = bus }

    /// The adapter runs as the connection `adapter`, or does not run. One that starts knows nothing yet; what it is to know
    /// has to be said anew by ``show(_:isKnown:)``.
    func runs(_ adapter: BusName?) {
        guard adapter != self.adapter else { return }
        (self.adapter, wanted, told, silences, isCalling) = (adapter, nil, nil, 0, false)
    }

    /// The user works in `window`, or nil: in none of its windows. Without `isKnown` nobody says so, and an adapter that was
    /// told something is told that it is known no longer; others need not be.
    func show(_ window: FocusedWindow?, isKnown: Bool) {
        if isKnown {
            wanted = window?.toldToAdapters ?? [:]
        } else {
            wanted = told == nil ? nil : ["Known": .boolean(false)]
        }
        tell()
    }

    private func tell() {
        guard let adapter, let wanted, wanted != told, !isCalling, silences < Self.maximumSilences else {
            return
        }
        (isCalling, told) = (true, wanted)
        let object = RemoteObject(bus.connection, adapter, HandoffNames.adapterPath)
        MainLoop.start { [weak self] in
            var isSilent = false
            do {
                _ = try await object.call(
                    AdapterProxy.interface, "FrontChanged", output: "", timeout: Self.patience
                ) { (writer) throws(DBusError) in try writer.write(wanted) }
            } catch {
                let error = DBusError.converting(error)
                isSilent = error.name == .noReply
                agentLog.debug("\(adapter) does not take which window has the focus: \(error.message)")
            }
            self?.answered(adapter, isSilent)
        }
    }

    private func answered(_ adapter: BusName, _ isSilent: Bool) {
        guard adapter == self.adapter else { return }
        isCalling = false
        silences = isSilent ? silences + 1 : 0
        if silences == Self.maximumSilences {
            agentLog.warning(
                "\(adapter), an adapter, does not answer, and is not told any more which window has the focus."
            )
        }
        tell()
    }
}

extension FocusedWindow {
    /// What adapters are told of it: all but its title, which may be private and is of no use to them.
    var toldToAdapters: [String: Value] {
        var dictionary: [String: Value] = [:]
        if let application { dictionary["ApplicationId"] = .string(application.description) }
        if let processID { dictionary["ProcessId"] = .int32(processID) }
        if let busName { dictionary["BusName"] = .string(busName.text) }
        if let windowPath { dictionary["WindowPath"] = .objectPath(windowPath) }
        return dictionary
    }
}
