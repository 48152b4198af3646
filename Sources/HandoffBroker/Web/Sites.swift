// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// The sites whose pages installed applications claim: has them asked when it is time, and remembers what they said.
@MainLoop
final class Sites {
    private var claims: SiteClaims
    private let helper = AssociationHelper()
    private let memory = SitesMemory()
    private let onChange: @MainLoop () -> Void
    private lazy var timer = WallClockTimer { [weak self] in self?.askNext() }
    private var isRemembered = false
    private var isAsking = false
    /// Whether something has been answered that is not kept yet.
    private var isNews = false

    /// Calls `onChange` when what sites have said may have changed.
    init(isEnabled: Bool, _ onChange: @escaping @MainLoop () -> Void) {
        claims = SiteClaims(isEnabled: isEnabled)
        self.onChange = onChange
    }

    /// The applications to which the site of `host` has given its pages, best first.
    func claimants(of host: WebHost) -> [ApplicationID] { claims.claimants(of: host, at: MainLoop.wallClock) }

    /// These applications are installed now.
    func setInstalled(_ applications: [InstalledApplication]) {
        claims.setInstalled(applications)
        remember()
    }

    /// The user has switched Handoff on or off.
    func setEnabled(_ isEnabled: Bool) {
        claims.setEnabled(isEnabled)
        if !isEnabled { helper.giveUp() }
        remember()
    }

    /// Makes sure that what sites said before is known, then asks what is to be asked.
    private func remember() {
        guard !isRemembered else { return askNext() }
        // Without claims, nothing is read either.
        guard claims.nextTime != nil else { return }
        memory.read { [weak self] known in
            guard let self, !isRemembered else { return }
            isRemembered = true
            claims.restore(known)
            onChange()
            askNext()
        }
    }

    /// Asks the next site that is due, or waits until one is.
    private func askNext() {
        guard isRemembered, !isAsking else { return }
        if let host = claims.begin(at: MainLoop.wallClock) {
            isAsking = true
            MainLoop.start { [weak self] in await self?.ask(host) }
        } else if isNews {
            isNews = false
            memory.write(claims.known)
        }
        if let time = claims.nextTime { timer.set(time) } else { timer.cancel() }
    }

    private func ask(_ host: WebHost) async {
        let answer = await helper.ask(host)
        (isAsking, isNews) = (false, true)
        claims.answered(host, answer, at: MainLoop.wallClock)
        onChange()
        askNext()
    }
}
