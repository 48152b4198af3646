// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import Platform

/// What a shell may put into the command line, and what it may show beside it.
struct CompletionCandidate: Equatable {
    /// The word. It means nothing to a shell but itself.
    let value: String
    /// What it is, on one line; others may have chosen the words.
    let description: String

    /// How wide a description may be.
    private static let widest = 60
    /// What no shell takes for anything but text; brackets, which addresses have, are for the scripts to quote.
    private static let harmless = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/[]%".unicodeScalars)

    /// A candidate; nil if `value` is not a word that a shell takes as it is, or would be taken for a directive.
    init?(_ value: String, _ description: String) {
        guard !value.isEmpty, !value.hasPrefix(":"), value.unicodeScalars.allSatisfy(Self.harmless.contains)
        else { return nil }
        self.value = value
        self.description = description.shown.cut(to: Self.widest)
    }

    /// The line for the script of the shell.
    func line(after prefix: String) -> String {
        prefix + value + (description.isEmpty ? "" : "\t" + description)
    }
}

extension [KnownDevice] {
    /// Each device by its name, if that is a plain word and no other's, or else by its id.
    var candidates: [CompletionCandidate] { candidates(where: { _ in true }) }

    /// The same, of those among them that are meant.
    func candidates(where isMeant: (KnownDevice) -> Bool) -> [CompletionCandidate] {
        let ids = ShortIDs(map(\.id))
        return filter(isMeant).compactMap { device in
            let name = device.name
            let isPlain =
                name.first?.isLetter == true && !name.allSatisfy(\.isHexDigit)
                && CompletionCandidate(name, "") != nil && named(name) == [device]
            return isPlain
                ? CompletionCandidate(name, device.state(among: self))
                : CompletionCandidate(
                    ids.short(device.id), device.label.inQuotes + ", " + device.state(among: self))
        }
    }

    /// Each device by its id, whatever it calls itself.
    var strangers: [CompletionCandidate] {
        let ids = ShortIDs(map(\.id))
        return compactMap { device in
            let values = ["device": device.label.shown]
            let what =
                if device.pairingAsked {
                    tr("asks: “{device}”", values)
                } else if device.isIntroduced {
                    tr("introduced: “{device}”", values)
                } else {
                    device.label.inQuotes
                }
            return CompletionCandidate(ids.short(device.id), what)
        }
    }
}

extension [NearbyDevice] {
    /// Each device by its addresses, whatever it calls itself.
    var candidates: [CompletionCandidate] {
        flatMap { device in
            device.addresses.filter { !$0.hasPrefix("-") }
                .compactMap { CompletionCandidate($0, device.label.inQuotes) }
        }
    }
}

extension [RemoteOffer] {
    /// Each offer by its id.
    var candidates: [CompletionCandidate] {
        let ids = ShortIDs(map(\.id))
        return compactMap {
            CompletionCandidate(name(of: $0, ids), $0.label.inQuotes + ", " + $0.device.inQuotes)
        }
    }

    /// The applications that can continue them, each once.
    var handlerCandidates: [CompletionCandidate] {
        Set(flatMap(\.handlers)).sorted().filter { !$0.hasPrefix("-") }
            .compactMap { CompletionCandidate($0, "") }
    }
}
