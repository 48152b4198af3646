// SPDX-License-Identifier: LGPL-2.1-or-later

/// Finds offers by what the user types into a search.
///
/// A text is found by the beginnings of its words. How letters are told apart (upper and lower case, with and without
/// accents) is up to the function that folds them, which is given each text once.
package struct OfferSearch<ID: Sendable>: Sendable {
    /// What an offer is found by.
    package struct Entry: Sendable {
        let id: ID
        let title: String
        let device: String
        let application: String

        /// The offer `id`.
        package init(_ id: ID, title: String, device: String, application: String) {
            self.id = id
            self.title = title
            self.device = device
            self.application = application
        }
    }

    /// An offer that was found.
    package struct Match: Sendable {
        /// Which.
        package let id: ID
        /// How well it matches, from 0 to 1.
        package let relevance: Double
    }

    /// The words of one text, and how much it counts if one of them is what was looked for.
    private struct Words: Sendable {
        let words: [String]
        let weight: Int
        /// How many letters of a word are needed.
        let least: Int
    }

    private let entries: [(id: ID, fields: [Words])]
    private let keywords: [Words]
    private let fold: @Sendable (String) -> String

    /// The most terms that are looked at; those after them change nothing.
    package static var maximumTerms: Int { 64 }
    /// The longest term that can be found, in characters.
    package static var maximumTerm: Int { 256 }
    /// The most that is found.
    package static var maximumMatches: Int { 16 }

    /// A search in `entries`.
    /// - Parameters:
    ///   - keywords: words that find every offer, as long as enough of one is typed to know that it is meant.
    ///   - fold: a text as it is compared.
    package init(
        _ entries: [Entry], keywords: [String], fold: @escaping @Sendable (String) -> String
    ) {
        func words(_ text: String, _ weight: Int) -> Words {
            Words(words: Self.words(fold(bounded(text))), weight: weight, least: 1)
        }
        self.fold = fold
        self.entries = entries.map {
            ($0.id, [words($0.title, 4), words($0.device, 3), words($0.application, 3)])
        }
        self.keywords = keywords.map { keyword in
            let words = Self.words(fold(keyword))
            return Words(words: words, weight: 1, least: min(3, words.first?.count ?? 1))
        }
    }

    /// The offers that all of `terms` match, the best first, and of those that match alike those that were given first.
    package func matches(for terms: [String]) -> [Match] {
        var wanted: [String] = []
        for term in terms.prefix(Self.maximumTerms) {
            // What is longer stands in no title.
            guard term.unicodeScalars.count <= Self.maximumTerm else { return [] }
            wanted += Self.words(fold(term))
        }
        if wanted.isEmpty { return [] }
        wanted = Array(wanted.prefix(Self.maximumTerms))
        let found = entries.compactMap { entry in
            points(of: entry.fields + keywords, wanted).map { (entry.id, $0) }
        }
        // The order of Swift's sort is stable.
        return found.sorted { $0.1 > $1.1 }.prefix(Self.maximumMatches).map {
            Match(id: $0.0, relevance: Double($0.1) / Double(2 * 4 * wanted.count))
        }
    }

    /// How well these texts match `wanted`; nil if one of the words is in none of them.
    private func points(of fields: [Words], _ wanted: [String]) -> Int? {
        var sum = 0
        for word in wanted {
            let best = fields.reduce(0) { max($0, points(of: $1, word)) }
            if best == 0 { return nil }
            sum += best
        }
        return sum
    }

    private func points(of field: Words, _ wanted: String) -> Int {
        guard wanted.count >= field.least else { return 0 }
        if field.words.contains(wanted) { return 2 * field.weight }
        return field.words.contains { $0.hasPrefix(wanted) } ? 2 * field.weight - 1 : 0
    }

    // MARK: Words

    /// The words of `text`. In a script that puts no spaces between words, one begins at each character.
    static func words(_ text: String) -> [String] {
        let scalars = Array(text.unicodeScalars)
        var words: [String] = []
        var start = 0
        while start < scalars.count {
            guard belongsToWord(scalars[start]) else {
                start += 1
                continue
            }
            var end = start + 1
            while end < scalars.count, belongsToWord(scalars[end]) { end += 1 }
            let word = scalars[start..<end]
            words.append(String(String.UnicodeScalarView(word)))
            for middle in word.indices.dropFirst()
            where isUnspaced(word[middle]) || isUnspaced(word[middle - 1]) {
                words.append(String(String.UnicodeScalarView(word[middle...].prefix(maximumUnspaced))))
            }
            start = end
        }
        return words
    }

    /// How much is kept of a word that begins within another.
    private static var maximumUnspaced: Int { 16 }

    private static func belongsToWord(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isAlphabetic || properties.numericType != nil { return true }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark: return true
        default: return false
        }
    }

    /// Whether it is of a script that puts no spaces between words: Thai, Lao, Burmese and Khmer; Kana; Han.
    private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF: true
        default: scalar.properties.isIdeographic
        }
    }
}

/// As much of `text` as is searched, a little more than a title can hold.
private func bounded(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(512)))
}
