// SPDX-License-Identifier: LGPL-2.1-or-later

/// What somebody has put into a clipboard: the types that it can be had as.
struct WaylandOffer: Equatable, Sendable {
    /// The types that count, in the order in which they were offered, each once; none if there are more than
    /// ``ClipboardTypes/maximum``.
    var types: [String] { all.count <= ClipboardTypes.maximum ? all : [] }
    private var all: [String] = []
    /// The type by which an agent knows again what it has offered itself. It is no content.
    private(set) var mark: String?

    /// What the types that are marks begin with.
    static let markPrefix = "application/x-handoff-owned-"

    /// It can also be had as `type`.
    mutating func add(_ type: String) {
        guard !type.isEmpty, type.utf8.count <= ClipboardTypes.maximumLength else { return }
        if type.hasPrefix(Self.markPrefix) {
            mark = type
        } else if all.count <= ClipboardTypes.maximum, !all.contains(type) {
            all.append(type)
        }
    }
}
