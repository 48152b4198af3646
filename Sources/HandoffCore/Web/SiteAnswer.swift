// SPDX-License-Identifier: LGPL-2.1-or-later

/// What came of asking a site to which applications it gives its pages, as `handoff-associations` prints it.
///
/// The first line is `handoff-associations 1 ` and one of `approved`, `none` and `failed`. After `approved`, each further
/// line is one that the site has approved of, written `TEAM.APPLICATION_ID`.
package enum SiteAnswer: Hashable, Sendable {
    /// The site approves of these, and of no others.
    case approved(Set<String>)
    /// The site has no file that approves of anything.
    case nothing
    /// What the site says could not be found out.
    case failed

    /// How many may be approved of in one answer.
    package static let maximumCount = 256
    /// How many bytes the name of one may have: a team, a dot and an application id.
    package static let maximumLength = 511
    /// How many bytes an answer may have.
    package static let maximumSize = 160 * 1024

    private static let program = "handoff-associations 1"

    /// What `output` says; nil if it is not an answer.
    package init?(output: some BidirectionalCollection<UInt8>) {
        guard output.count <= Self.maximumSize, output.last == UInt8(ascii: "\n") else { return nil }
        let lines = output.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        switch lines[0] {
        case "\(Self.program) none" where lines.count == 1: self = .nothing
        case "\(Self.program) failed" where lines.count == 1: self = .failed
        case "\(Self.program) approved":
            let names = lines.dropFirst()
            guard names.count <= Self.maximumCount, names.allSatisfy(Self.isName) else { return nil }
            self = .approved(Set(names))
        default: return nil
        }
    }

    /// The answer as it is printed.
    package var text: String {
        switch self {
        case .approved(let names): (["\(Self.program) approved"] + names.sorted()).map { $0 + "\n" }.joined()
        case .nothing: "\(Self.program) none\n"
        case .failed: "\(Self.program) failed\n"
        }
    }

    /// What a file that names `names` approves of: those that can be names of applications, each once, as many as there
    /// may be.
    package static func approving(of names: some Sequence<String>) -> SiteAnswer {
        var approved: Set<String> = []
        for name in names where approved.count < maximumCount && isName(name) { approved.insert(name) }
        return .approved(approved)
    }

    /// Whether `text` can be a team, a dot and an application id.
    package static func isName(_ text: String) -> Bool {
        let dot = UInt8(ascii: ".")
        return 3...maximumLength ~= text.utf8.count && text.utf8.first != dot && text.utf8.contains(dot)
            && text.utf8.allSatisfy { $0 == dot || $0.isLabelCharacter }
    }
}
