// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// The telephones that others reach: it tells the broker of them, and hands on what is sent to one.
@MainLoop
final class PhoneService {
    private let service: AdapterService
    private let looks = FileLooks()
    private let links: [PhoneLink]
    private var broker: NameWatch?
    private var brokerName: BusName?
    private var told: [String: FoundPhone] = [:]
    private lazy var idleEnd = IdleEnd(of: service, after: Self.idle) { [weak self] in
        self?.links.contains(where: \.isPresent) == true
    }

    /// How long it stays when nobody reaches any.
    private static let idle = Duration.seconds(10)
    /// Where it is called.
    private static let path: ObjectPath = "/org/example/Handoff/Phone"

    /// What there is on the bus of `service`.
    init(_ service: AdapterService) throws {
        self.service = service
        let languages: [any PhoneLanguage] = [KDEConnect(), ActionPhones.gsConnect, ActionPhones.valent]
        links = try languages.map { PhoneLink(service.bus, $0, try ApplicationID($0.application)) }
        service.bus.connection.objects.export(Self.path, [PhoneAdapterBinding(SharingObject(self))])
    }

    /// Begins to look for them.
    func begin() {
        service.onChoicesChange = { [weak self] in self?.choose() }
        for link in links { link.onChange = { [weak self] in self?.changed() } }
        broker = service.bus.watch(HandoffNames.broker) { [weak self] owner in
            self?.brokerName = owner
            self?.told = [:]
            self?.changed()
        }
        idleEnd.check()
    }

    private func choose() {
        for link in links { link.follow(!service.isExcluded(link.application)) }
        idleEnd.check()
    }

    /// Each telephone once, by whoever comes first, with what it is told by: whoever reaches it is part of that, since a
    /// telephone chooses its own id.
    private var phones: [String: FoundPhone] {
        var (known, found): (Set<String>, [String: FoundPhone]) = ([], [:])
        for link in links {
            for phone in link.phones where found.count < maximumPhones && known.insert(phone.id).inserted {
                found["\(link.name)/\(phone.id)"] = phone
            }
        }
        return found
    }

    private func changed() {
        idleEnd.check()
        let phones = phones
        guard let brokerName, phones != told else { return }
        told = phones
        let proxy = PhonesProxy(RemoteObject(service.bus.connection, brokerName, HandoffNames.brokerPath))
        MainLoop.start { [weak self] in
            do {
                try await proxy.announce(
                    phones: phones.sorted { $0.value.name < $1.value.name }.map {
                        ["Id": .string($0.key), "Name": .string($0.value.name)]
                    },
                    adapter: Self.path)
            } catch {
                // With the next change it is said once more.
                if self?.told == phones { self?.told = [:] }
                adapterLog.warning(
                    "Telephones are not shown: \(PeerText.message(DBusError.converting(error).message))")
            }
        }
    }

    /// Sends `url` to the telephone `id`.
    func share(_ url: String, with id: String) async throws {
        for link in links {
            guard let phone = link.phones.first(where: { "\(link.name)/\($0.id)" == id }) else { continue }
            let isFile = try await looks.find(.sentDocument, of: url) { Self.isFile(url) }
            guard isFile || PhonePage.isPage(url) else {
                throw HandoffFailure(
                    .notSupported,
                    "What is shown is neither a page of the web nor a file with anything in it that could be read. Save it,"
                        + " and try again.")
            }
            return try await link.share(url, isFile: isFile, with: phone)
        }
        throw HandoffFailure.noPhone
    }

    /// Whether `url` is that of a file with something in it: KDE Connect sends nothing any more after a folder or an empty file.
    private nonisolated static func isFile(_ url: String) -> Bool {
        guard let path = UserFile.path(url), access(path, R_OK) == 0 else { return false }
        var status = stat()
        return stat(path, &status) == 0 && status.st_size > 0
    }
}

/// Pages that a telephone may be sent.
enum PhonePage {
    /// Whether `url` is a page of the web, which nobody takes for a file.
    static func isPage(_ url: String) -> Bool {
        url.utf8.count <= 8192 && url.utf8.allSatisfy { 0x21...0x7E ~= $0 } && WebAddress(url) != nil
    }
}

/// What the broker calls.
@MainLoop
private final class SharingObject: PhoneAdapterServer {
    private unowned let service: PhoneService

    init(_ service: PhoneService) { self.service = service }

    func share(phoneId: String, url: String, _ call: MethodCall) async throws {
        try await service.share(url, with: phoneId)
    }
}

/// One of the programs that reach telephones.
@MainLoop
final class PhoneLink {
    /// The application that it is.
    let application: ApplicationID
    /// Its bus name.
    var name: BusName { language.name }
    /// Called when ``phones`` or ``isPresent`` may be others.
    var onChange: (@MainLoop () -> Void)?
    /// The telephones that can be sent something now.
    private(set) var phones: [FoundPhone] = []

    private let bus: Bus
    private let language: any PhoneLanguage
    private var watch: OwnerWatch?
    private var tokens: [SignalToken] = []
    private lazy var refresher = Refresher { [weak self] in await self?.look() }

    /// The program that understands `language`.
    init(_ bus: Bus, _ language: any PhoneLanguage, _ application: ApplicationID) {
        (self.bus, self.language, self.application) = (bus, language, application)
    }

    /// Whether the program is there, as far as it is followed.
    var isPresent: Bool { watch?.hasOwner == true }

    private var rules: [MatchRule] {
        language.signals.map { MatchRule(sender: language.name, interface: $0.interface, member: $0.member) }
    }

    /// Follows the program, or leaves it alone.
    func follow(_ isWanted: Bool) {
        guard isWanted != (watch != nil) else { return }
        guard isWanted else {
            refresher.cancel()
            for rule in rules { bus.removeMatch(rule) }
            (watch, tokens, phones) = (nil, [], [])
            onChange?()
            return
        }
        tokens = language.signals.map { signal in
            bus.connection.onSignal(signal.interface, signal.member) { [weak self] message in
                guard let self, let owner = watch?.name, message.sender == owner else { return }
                refresher.refresh()
            }
        }
        for rule in rules { bus.addMatch(rule) }
        watch = OwnerWatch(bus, language.name, log: adapterLog) { [weak self] owner in
            guard let self else { return }
            phones = []
            if owner != nil { refresher.refresh() }
            onChange?()
        }
    }

    private func look() async {
        guard let owner = watch?.name else { return }
        let found = (try? await language.phones(of: owner, on: bus)) ?? []
        guard owner == watch?.name else { return }
        phones = found
        onChange?()
    }

    /// Sends `url` to `phone`.
    func share(_ url: String, isFile: Bool, with phone: FoundPhone) async throws {
        guard let owner = watch?.name else { throw HandoffFailure.noPhone }
        do {
            try await language.share(url, isFile: isFile, with: phone, of: owner, on: bus)
        } catch let error as DBusError {
            guard error.name.text == "org.freedesktop.DBus.Error.UnknownObject" else {
                throw HandoffFailure(.applicationFailed, foreignMessage: error.message)
            }
            throw HandoffFailure.noPhone
        }
    }
}
