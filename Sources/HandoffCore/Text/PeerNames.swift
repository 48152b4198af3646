// SPDX-License-Identifier: LGPL-2.1-or-later

/// The names that peers are shown under: whatever they call themselves, no two look the same.
package struct PeerNames: Sendable {
    private struct Name {
        /// What the peer calls itself, made fit to be shown.
        var own: String
        /// What it is shown as.
        var shown: String
    }

    private var names: [DeviceID: Name] = [:]

    /// No peers yet.
    package init() {}

    /// Notes that `device` calls itself `name`, and returns what it is to be shown as, which stays the same
    /// until the peer calls itself something else. One without a name is shown by the start of its
    /// identifier.
    package mutating func name(_ device: DeviceID, _ name: String) -> String {
        let cleaned = PeerText.name(name)
        let own = cleaned.isEmpty ? String(device.description.prefix(8)) : cleaned
        if let known = names[device], known.own == own { return known.shown }
        names[device] = nil
        let shown = unused(own)
        names[device] = Name(own: own, shown: shown)
        return shown
    }

    /// What `device` is shown as; nil if it never had a name.
    package func name(of device: DeviceID) -> String? {
        names[device]?.shown
    }

    /// Forgets `device`, whose name becomes free.
    package mutating func remove(_ device: DeviceID) {
        names[device] = nil
    }

    /// `name`, numbered if somebody already looks like it.
    private func unused(_ name: String) -> String {
        let taken = Set(names.values.map { Self.look(of: $0.shown) })
        var candidate = name
        var number = 2
        while taken.contains(Self.look(of: candidate)) {
            candidate = Self.numbered(name, number)
            number += 1
        }
        return candidate
    }

    /// `name` with a number that is still there when the name is made fit to stand beside a code: digits that would be
    /// blotted out together with the number are blotted out before.
    private static func numbered(_ name: String, _ number: Int) -> String {
        let suffix = " (\(number))"
        var base = PeerText.clean(name, limit: PeerText.maximumName - suffix.utf8.count)
        // Each round blots out at least six digits of the name, or none is needed.
        for _ in 0..<PeerText.maximumName {
            let shown = ChosenText(name: base + suffix).shown
            if shown.hasSuffix(suffix) { break }
            base = String(shown.dropLast(suffix.count))
        }
        return base + suffix
    }

    /// What is left of a name for the eye, as it is shown: no invisible characters, no white space, no case.
    private static func look(of name: String) -> String {
        let visible = ChosenText(name: name).shown.unicodeScalars.filter { !PeerText.isUnseen($0) }
        return String(String.UnicodeScalarView(visible)).lowercased()
    }
}
