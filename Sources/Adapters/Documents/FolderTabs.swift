// SPDX-License-Identifier: LGPL-2.1-or-later

/// The places that the tabs of one window of a file manager show. Which of the tabs is in front is not told, so it is taken to
/// be the one that has changed last.
struct FolderTabs: Equatable {
    /// The URL of the place that the user is at, as far as is known; nil if there is none.
    private(set) var current: String?
    private var places: [String] = []

    /// How many tabs are looked at.
    private static let maximum = 64

    /// No tab.
    init() {}

    /// The tabs show `places` now.
    /// - Returns: whether ``current`` is another, or the window was not known before.
    mutating func take(_ places: [String]) -> Bool {
        let places = Array(places.prefix(Self.maximum))
        let (former, isNew) = (current, self.places.isEmpty && current == nil)
        let known = Set(self.places)
        if let new = places.last(where: { !known.contains($0) }) {
            current = new
        } else if current.map({ !places.contains($0) }) ?? true {
            current = places.first
        }
        self.places = places
        return isNew || current != former
    }
}
