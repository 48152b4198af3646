// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// The applications of this session: those that are installed, those that have registered, what the user has chosen among
/// them, and how much is kept for each of their connections.
@MainLoop
final class Applications {
    /// What the user has chosen.
    let preferences: Preferences
    /// Who has registered, and what is installed.
    private(set) var registry = Registry()
    /// Which names of files stand for which types, as far as that has been read.
    private(set) var fileNameTypes = FileNameTypes()
    private var holdings = ClientHoldings()
    private(set) lazy var defaults = DefaultApplications { [weak self] in self?.onChange() }
    private lazy var sites = Sites(isEnabled: preferences.isEnabled) { [weak self] in self?.onChange() }
    private lazy var installed = InstalledApplications { [weak self] in self?.setInstalled($0, isWhole: $1) }
    /// Who can continue what may be another application now.
    var onChange: @MainLoop () -> Void = {}
    /// The desktop entries have been read, all of them or some, and those of these connections have changed.
    var onInstalled: @MainLoop (_ connections: [String], _ isWhole: Bool) -> Void = { _, _ in }

    /// Those of a user who has chosen this.
    init(_ preferences: Preferences) {
        self.preferences = preferences
        registry.excluded = preferences.excludedApplications
        registry.disabledAdapters = preferences.disabledAdapters
    }

    // MARK: Continuing

    /// What can continue `offer` here, best first.
    func handlers(for offer: Offer) -> [Handler] { registry.handlers(for: offer, with: choices(for: offer)) }

    /// What could continue it if the user had not excluded it.
    func keptOut(from offer: Offer) -> KeptOut { registry.keptOut(from: offer, with: choices(for: offer)) }

    /// Whether `application` continues `offer` only because the site of its web page has given it its pages.
    func getsPageAlone(_ application: ApplicationID, of offer: Offer) -> Bool {
        registry.getsPageAlone(application, of: offer, with: choices(for: offer))
    }

    /// What decides beside the applications themselves which of them is best for `offer`.
    private func choices(for offer: Offer) -> HandlerChoices {
        var choices = HandlerChoices()
        choices.chosen = preferences.applications[offer.type]
        if offer.webpageHost != nil || offer.type == .browsingWeb { choices.browser = defaults.browser }
        if offer.type == .browsingWeb, let host = offer.webpageHost.flatMap({ WebHost($0) }) {
            choices.claimants = sites.claimants(of: host)
        }
        choices.documentApplication = offer.documentType.flatMap {
            defaults.application(forDocumentsOf: $0)
        }
        return choices
    }

    // MARK: Registering

    /// What `connection` has registered; nil if that is nothing.
    func registration(of connection: String) -> Registration? { registry.registration(of: connection) }

    /// Whether the user keeps out `application`, or what `connection` has registered.
    func isExcluded(_ application: ApplicationID?, _ connection: String?) -> Bool {
        application.map { registry.isExcluded($0) } ?? false
            || connection.flatMap { registration(of: $0) }.map { registry.isExcluded($0) } ?? false
    }

    /// Takes in a registration of `caller`, in place of what it registered before, which is returned.
    /// - Throws: `limitsExceeded` if it, its process, or all together declare too much; what was registered then stays.
    func register(_ registration: Registration, from caller: Caller) throws -> Registration? {
        let connection = registration.connection
        holdings.joined(connection, process: caller.credentials?.processID)
        let former = registry.registration(of: connection)?.declared ?? ClientHoldings.Declared()
        try holdings.declare(registration.declared, of: connection)
        do throws(HandoffFailure) {
            return try registry.register(registration)
        } catch {
            // What was declared before fits, and may be declared again.
            try? holdings.declare(former, of: connection)
            throw error
        }
    }

    /// Removes what `connection` registered.
    /// - Returns: whether that was anything.
    func remove(_ connection: String) -> Bool {
        guard registry.remove(connection) != nil else { return false }
        // Declaring nothing is never too much.
        try? holdings.declare(ClientHoldings.Declared(), of: connection)
        return true
    }

    /// The registration of `connection` has been ended here, for this reason.
    func ended(_ connection: String, _ application: ApplicationID, _ reason: String) {
        registry.ended(connection, application, reason)
    }

    /// `connection` has left the bus, and what it had has ended.
    func vanished(_ connection: String) {
        holdings.left(connection)
        registry.vanished(connection)
    }

    // MARK: What is kept for them

    /// All connections of the process of `connection`, which is one of them.
    func relatives(of connection: String) -> Set<String> { holdings.relatives(of: connection) }

    /// An activity of `size` bytes begins.
    /// - Throws: `limitsExceeded` if `connection`, its process, or all together have too much.
    func begin(_ size: Int, of connection: String) throws(HandoffFailure) {
        try holdings.begin(size, of: connection)
    }

    /// An activity has another size. It throws as ``begin(_:of:)`` does.
    func change(from former: Int, to size: Int, of connection: String) throws(HandoffFailure) {
        try holdings.change(from: former, to: size, of: connection)
    }

    /// An activity of `size` bytes has ended.
    func end(_ size: Int, of connection: String) { holdings.end(size, of: connection) }

    // MARK: The user

    /// The user excludes these applications and no others; this takes effect at once, for those that are registered and
    /// for those that come.
    /// - Throws: if that cannot be stored; then nothing has changed.
    func setExcluded(_ excluded: ExcludedApplications) throws {
        try preferences.setExcludedApplications(excluded)
        registry.excluded = excluded
    }

    /// The user has switched off these adapters and no others. What their desktop entries declare is not offered as a
    /// handler any more, once that has been looked up again, and not started from now on.
    /// - Throws: if that cannot be stored; then nothing has changed.
    func setDisabledAdapters(_ adapters: Set<AdapterName>) throws {
        try preferences.setDisabledAdapters(adapters)
        registry.disabledAdapters = adapters
    }

    /// The user has switched Handoff on or off.
    func setEnabled(_ isEnabled: Bool) { sites.setEnabled(isEnabled) }

    // MARK: Installed applications

    /// Whether the desktop entries have been read; if not, the registry knows some of them at most.
    var areInstalledKnown: Bool { installed.areKnown }

    /// The applications with desktop entries have changed to these, or `isWhole` is false: these are known so far.
    func setInstalled(_ reading: InstalledReading, isWhole: Bool) {
        fileNameTypes = reading.names
        let applications = reading.contents.applications
        let connections = registry.setInstalled(applications)
        defaults.lookAgain()
        // What the sites of the others have said is not to be forgotten, nor to be asked for again.
        if isWhole { sites.setInstalled(applications) }
        onInstalled(connections, isWhole)
    }

    /// Which names of files stand for which types is read from this file, and no installed applications are looked for.
    func readFileNameTypes(_ file: String) { fileNameTypes.read(file) }
}

extension Applications: InstalledReader {
    func readInstalled() { installed.begin() }
    func useWhatIsKnownOfInstalled() { installed.useWhatIsKnown() }
}
