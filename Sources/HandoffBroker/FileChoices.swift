// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffSession
internal import Platform

/// What a configuration file, which somebody may have edited by hand, says of choices whose values have rules. What cannot
/// be understood counts as not chosen, with a warning, and stays in the file.
struct FileChoices {
    private let file: KeyFile
    private let path: String

    /// What `file` says, which is at `path`.
    init(_ file: KeyFile, _ path: String) { (self.file, self.path) = (file, path) }

    /// When there is a notification for offers.
    var offerNotices: OfferNotices {
        understood(.notifiesOffers) { try file.string($0).map { try OfferNotices($0) } } ?? .arrival
    }

    /// Whether there is a notification when something was continued elsewhere.
    var notifiesContinued: Bool { understood(.notifiesContinued) { try file.boolean($0) } ?? true }

    /// Whether what is offered is left with peers before this machine sleeps. Who has written something else than a truth there has
    /// hardly wanted that.
    var parks: Bool { understood(.parks) { try file.boolean($0) ?? true } ?? false }

    /// Whether peers are told where this device can be reached from other networks; the same holds for it.
    var sharesAddresses: Bool { understood(.sharesAddresses) { try file.boolean($0) ?? true } ?? false }

    /// Whether peers are told of each other, and what they tell of theirs is shown; the same holds for it.
    var introduces: Bool { understood(.introduces) { try file.boolean($0) ?? true } ?? false }

    /// Whether all that is open is listed for peers whose users ask for it; the same holds for it.
    var sharesOpenActivities: Bool {
        understood(.sharesOpenActivities) { try file.boolean($0) ?? true } ?? false
    }

    /// What becomes of the clipboard. Who has written something else there has hardly wanted that it goes anywhere.
    var clipboard: ClipboardMode {
        understood(.clipboard) { try file.string($0).map { try ClipboardMode($0) } ?? .ask } ?? .off
    }

    /// The adapters that are switched off; what is no name of one, and what there is more of than may be, is left out.
    var disabledAdapters: Set<AdapterName> {
        let key = ConfigurationKey.disabledAdapters
        let names = Set(
            elements(key, of: understood(key) { try texts($0) } ?? []) { (text) throws(HandoffFailure) in
                try AdapterName(text)
            })
        guard names.count > AdapterName.maximumCount else { return names }
        ignored(key, "There are more than \(AdapterName.maximumCount) names; those that come first count.")
        return Set(names.sorted().prefix(AdapterName.maximumCount))
    }

    /// Where documents that come over are put; nil for the usual place.
    var documentsFolder: DocumentsFolder? {
        understood(.documentsFolder) { key in
            guard let text = try file.string(key), !text.isEmpty else { return nil }
            return try DocumentsFolder(text, home: UserDirectories.home)
        }
    }

    /// The applications that are kept out. What is no application id is left out, since no application can have it.
    /// - Throws: if it cannot be told which the user means: then it would be wrong to keep out only some of them.
    func excludedApplications() throws -> ExcludedApplications {
        let key = ConfigurationKey.excludedApplications
        let ids = Set(
            elements(key, of: try texts(key)) { (text) throws(HandoffFailure) in try ApplicationID(text) })
        do throws(HandoffFailure) {
            return try ExcludedApplications(ids.map(\.description))
        } catch {
            throw KeyFileError("\(path), \(key.place): \(error.message)")
        }
    }

    /// The elements of a list as people write them, with spaces after what separates them.
    private func texts(_ key: ConfigurationKey) throws -> [String] {
        let space = UInt8(ascii: " ")
        return (try file.strings(key) ?? []).compactMap { text in
            var bytes = text.utf8[...]
            while bytes.first == space { bytes.removeFirst() }
            while bytes.last == space { bytes.removeLast() }
            return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
        }
    }

    /// What `make` makes of `texts`. However many cannot be understood, there is one warning.
    private func elements<Element>(
        _ key: ConfigurationKey, of texts: [String], _ make: (String) throws(HandoffFailure) -> Element
    ) -> [Element] {
        var (elements, failures): ([Element], [HandoffFailure]) = ([], [])
        for text in texts {
            do throws(HandoffFailure) {
                elements.append(try make(text))
            } catch {
                failures.append(error)
            }
        }
        if let first = failures.first {
            let rest = failures.count > 1 ? " (and \(failures.count - 1) more)" : ""
            ignored(key, first.message + rest)
        }
        return elements
    }

    private func understood<Choice>(
        _ key: ConfigurationKey, _ read: (ConfigurationKey) throws -> Choice?
    ) -> Choice? {
        do {
            return try read(key)
        } catch let failure as HandoffFailure {
            ignored(key, failure.message)
        } catch {
            ignored(key, PeerText.message("\(error)"))
        }
        return nil
    }

    private func ignored(_ key: ConfigurationKey, _ why: String) {
        brokerLog.warning(
            "\(PeerText.message(path)), \(key.place): what cannot be understood there is ignored. \(why)")
    }
}
