// SPDX-License-Identifier: LGPL-2.1-or-later

/// What went wrong with a payload, in words.
enum PayloadFailure {
    /// `error`, which an `Encodable` or a `Decodable` has thrown, as ours.
    static func of(_ error: any Error) -> HandoffError {
        switch error {
        case let error as HandoffError: error
        case DecodingError.keyNotFound(let key, let context):
            wrong("has nothing called “\(key.stringValue)”", context.codingPath)
        case DecodingError.typeMismatch(let type, let context):
            wrong("is no \(type). \(context.debugDescription)", context.codingPath)
        case DecodingError.valueNotFound(let type, let context):
            wrong("lacks a \(type)", context.codingPath)
        case DecodingError.dataCorrupted(let context):
            wrong("is not what it should be. \(context.debugDescription)", context.codingPath)
        default: HandoffError(.invalidArguments, "The payload was refused: \(error)")
        }
    }

    private static func wrong(_ what: String, _ codingPath: [any CodingKey]) -> HandoffError {
        HandoffError(.invalidArguments, "The payload, at \(path(codingPath)), \(what)")
    }

    /// Where something is, such as `list.3.name`.
    static func path(_ codingPath: [any CodingKey]) -> String {
        codingPath.isEmpty ? "its top" : codingPath.map(\.stringValue).joined(separator: ".")
    }

    /// What kind of value this is, without the value itself.
    static func kind(of value: UserInfoValue) -> String {
        switch value {
        case .string: "a text"
        case .boolean: "yes or no"
        case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64: "a whole number that does not fit"
        case .double: "a number"
        case .data: "data"
        case .date: "a date"
        case .url: "a URL"
        case .array, .typedArray: "an array"
        case .dictionary, .typedDictionary: "a dictionary"
        case .set: "a set"
        case .null: "nothing"
        case .variant, .tagged: "something else"
        }
    }
}
