// SPDX-License-Identifier: LGPL-2.1-or-later

/// The word among several that somebody has probably meant.
package enum NearestWord {
    /// Longer words are not looked at, so that no input costs much.
    private static let longest = 64

    /// The one of `words` that comes nearest to `typed`, if it is near enough to have been meant: a third of its letters at
    /// most may be missing, too many, wrong, or swapped with the next one. The first of those that are equally near.
    package static func to(_ typed: String, among words: [String]) -> String? {
        let given = Array(typed.lowercased().unicodeScalars)
        guard !given.isEmpty, given.count <= longest else { return nil }
        let candidates = words.filter { $0.unicodeScalars.count <= longest }.map { word in
            (word: word, distance: distance(given, Array(word.lowercased().unicodeScalars)))
        }
        guard let best = candidates.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, (best.word.unicodeScalars.count + 1) / 3) ? best.word : nil
    }

    /// How many letters have to be added, removed, changed or swapped with their neighbours to make one word the other
    /// (optimal string alignment).
    private static func distance(_ first: [Unicode.Scalar], _ second: [Unicode.Scalar]) -> Int {
        guard !first.isEmpty, !second.isEmpty else { return max(first.count, second.count) }
        var (before, last) = ([Int](), Array(0...second.count))
        for row in 1...first.count {
            var current = [row]
            for column in 1...second.count {
                let isEqual = first[row - 1] == second[column - 1]
                var cost = min(
                    last[column] + 1, current[column - 1] + 1, last[column - 1] + (isEqual ? 0 : 1))
                if row > 1, column > 1, first[row - 1] == second[column - 2],
                    first[row - 2] == second[column - 1]
                {
                    cost = min(cost, before[column - 2] + 1)
                }
                current.append(cost)
            }
            (before, last) = (last, current)
        }
        return last[second.count]
    }
}
