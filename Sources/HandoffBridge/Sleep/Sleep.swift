// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop
internal import Platform

/// What the sleep of the machine concerns.
@MainLoop
protocol SleepOwner: AnyObject {
    /// Whether there is something that could be left with others before the machine sleeps, and somebody to leave it with.
    var canLeave: Bool { get }
    /// Leaves it with them, and ends all links; the machine waits for that.
    func leave() async
    /// The machine has woken up.
    func resumed()
}

/// The sleep of the machine: it waits until what is offered is left with others, and meanwhile nothing begins.
///
/// The machine is asked to wait only while there is something to leave, since each such wait is shown to the user
/// (`systemd-inhibit --list`), and delays whoever closes a lid.
@MainLoop
final class Sleep {
    private let owner: any SleepOwner
    private var watch: SleepWatch?
    /// As long as this is open, the machine waits.
    private var delay: FileDescriptor?
    private var isAsking = false
    /// Counts the connections with logind.
    private var meetings = 0
    /// Whether the machine is about to sleep, or asleep.
    private(set) var isAsleep = false
    private var isLeaving = false
    private var doubt: LoopSource?

    /// How long the machine is awake before a sleep that is not said to have ended counts as one that never began.
    private static let patience = Duration.seconds(30)

    init(_ owner: any SleepOwner) { self.owner = owner }

    /// There is another connection with the system bus, or none.
    func busChanged(_ bus: Bus?) {
        watch = bus.map {
            SleepWatch($0) { [weak self] in
                if $0 { self?.prepare() } else { self?.wokeUp() }
            } ownerChanged: { [weak self] in
                self?.met()
            }
        }
        met()
    }

    /// A logind does not know of what another one was asked for.
    private func met() {
        meetings += 1
        delay = nil
        isAsking = false
        update()
    }

    /// To be called when ``SleepOwner/canLeave`` may have changed.
    func update() {
        guard owner.canLeave, !isAsleep else {
            if !isAsleep { delay = nil }
            return
        }
        guard delay == nil, !isAsking, let watch else { return }
        isAsking = true
        let meeting = meetings
        MainLoop.start { [weak self] in
            do {
                let given = try await watch.delay(why: "Activities are left with the user's other devices.")
                guard let self, meeting == meetings else { return }
                if owner.canLeave, !isAsleep { delay = consume given }
            } catch {
                let error = DBusError.converting(error)
                bridgeLog.info("The machine does not wait before it sleeps: \(error.message)")
                // One that refuses is not asked again and again; the next logind is.
                guard error.name == .noReply || error.name == .timeout else { return }
                guard self?.meetings == meeting else { return }
            }
            self?.isAsking = false
        }
    }

    private func prepare() {
        guard !isAsleep else { return }
        bridgeLog.debug("The machine is about to sleep.")
        (isAsleep, isLeaving) = (true, true)
        doubt = .timer(after: Self.patience) { [weak self] in self?.wokeUp() }
        MainLoop.start { [self] in
            await owner.leave()
            delay = nil
            isLeaving = false
            if !isAsleep { resume() }
        }
    }

    private func wokeUp() {
        isAsleep = false
        doubt = nil
        if !isLeaving { resume() }
    }

    private func resume() {
        bridgeLog.debug("The machine has woken up.")
        owner.resumed()
        update()
    }
}
