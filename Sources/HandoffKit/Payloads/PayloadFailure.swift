// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// What went wrong with a payload, in words that say nothing of how the application is programmed: they are shown to
/// people, here and on the other device.
enum PayloadFailure {
    /// What is there instead of what was to be decoded; it goes with a `DecodingError`, which applications may catch.
    struct Found: Error {
        let value: UserInfoValue
    }

    /// `error`, which an `Encodable` or a `Decodable` has thrown, as ours.
    static func of(_ error: any Error) -> HandoffError {
        switch error {
        case let error as HandoffError: error
        case let error as DecodingError: unreadable(error)
        case EncodingError.invalidValue(_, let context):
            HandoffError(
                .invalidArguments,
                "The payload has, at \(path(context.codingPath)), a value that cannot be sent. Change it, or leave it out."
            )
        default:
            HandoffError(
                .invalidArguments,
                "The payload was refused by the application itself\(words(of: error)). Change what it objects to."
            )
        }
    }

    private static func unreadable(_ error: DecodingError) -> HandoffError {
        let what =
            switch error {
            case .keyNotFound(let key, let context):
                "has nothing called “\(PeerText.message(key.stringValue))” at \(path(context.codingPath))"
            case .typeMismatch(let type, let context): mismatch(type, context)
            case .valueNotFound(_, let context): "ends at \(path(context.codingPath)), where more is expected"
            case .dataCorrupted(let context):
                "has, at \(path(context.codingPath)), a value that this application does not know"
            @unknown default: "cannot be read"
            }
        return HandoffError(
            .invalidArguments,
            "The payload \(what). Use the same version of the application on both devices.")
    }

    private static func mismatch(_ type: Any.Type, _ context: DecodingError.Context) -> String {
        let found = (context.underlyingError as? Found).map { kind(of: $0.value) } ?? "something"
        let objection = kind(of: type).map { "where \($0) is expected" } ?? "that does not fit"
        return "has, at \(path(context.codingPath)), \(found) \(objection)"
    }

    /// What an error says that the application itself has thrown, if it has words of its own.
    private static func words(of error: any Error) -> String {
        guard let error = error as? any CustomStringConvertible else { return "" }
        return ": \(PeerText.message(error.description))"
    }

    /// Where something is, such as `list.3.name`. The names may be those of somebody else.
    static func path(_ codingPath: [any CodingKey]) -> String {
        guard !codingPath.isEmpty else { return "its top" }
        return "“\(PeerText.message(codingPath.map(\.stringValue).joined(separator: ".")))”"
    }
}
