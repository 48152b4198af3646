// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import FoundationEssentials

/// Both ways between what the application sees and what a bus carries; nothing is lost on either. Messages of errors
/// continue a sentence that names the key.
extension UserInfoValue {
    /// How deep containers may nest here; the broker allows less.
    private static let maximumDepth = 40

    /// The value that a bus has carried.
    package init(_ value: DBus.Value) throws(HandoffError) { try self.init(value, depth: 0) }

    private init(_ value: DBus.Value, depth: Int) throws(HandoffError) {
        guard depth <= Self.maximumDepth else { throw Self.tooDeep }
        switch value {
        case .byte(let number): self = .byte(number)
        case .boolean(let value): self = .boolean(value)
        case .int16(let number): self = .int16(number)
        case .uint16(let number): self = .uint16(number)
        case .int32(let number): self = .int32(number)
        case .uint32(let number): self = .uint32(number)
        case .int64(let number): self = .int64(number)
        case .uint64(let number): self = .uint64(number)
        case .double(let number): self = .double(number)
        case .string(let text): self = .string(text)
        case .bytes(let bytes): self = .data(Data(bytes))
        case .array(let array):
            let elements = try Self.values(array.elements, depth: depth + 1)
            self =
                array.elementSignature == "v"
                ? .array(elements) : .typedArray(of: array.elementSignature, elements)
        case .dictionary(let dictionary): self = try Self.dictionary(dictionary, depth: depth + 1)
        case .structure(let structure): self = try Self.structure(structure, depth: depth + 1)
        case .variant(let content): self = .variant(try UserInfoValue(content, depth: depth + 1))
        case .objectPath, .signature:
            throw HandoffError(
                .invalidArguments,
                "has a value of type \(value.typeSignature), which means nothing on another device.")
        }
    }

    /// Those of an array, out of the variants in which they are if they can have any type.
    private static func values(
        _ values: [DBus.Value], depth: Int
    ) throws(HandoffError) -> [UserInfoValue] {
        var result: [UserInfoValue] = []
        result.reserveCapacity(values.count)
        for value in values { result.append(try UserInfoValue(content(of: value), depth: depth)) }
        return result
    }

    private static func content(of value: DBus.Value) -> DBus.Value {
        if case .variant(let content) = value { content } else { value }
    }

    private static func dictionary(
        _ dictionary: DictionaryValue, depth: Int
    ) throws(HandoffError) -> UserInfoValue {
        var entries: [String: UserInfoValue] = [:]
        for entry in dictionary.entries {
            guard case .string(let key) = entry.key else { break }
            entries[key] = try UserInfoValue(content(of: entry.value), depth: depth)
        }
        guard dictionary.keySignature == "s" else {
            throw HandoffError(.invalidArguments, "has a dictionary whose keys are not strings.")
        }
        return dictionary.valueSignature == "v"
            ? .dictionary(entries) : .typedDictionary(of: dictionary.valueSignature, entries)
    }

    private static func structure(
        _ structure: StructureValue, depth: Int
    ) throws(HandoffError) -> UserInfoValue {
        guard structure.fields.count == 2, case .string(let tag) = structure.fields[0],
            case .variant(let content) = structure.fields[1]
        else { throw HandoffError(.invalidArguments, "has a structure that Handoff does not know.") }
        switch (tag, content) {
        case ("date", .int64(let microseconds)):
            let date = Date(microseconds: microseconds)
            return date.microseconds == microseconds ? .date(date) : .tagged(tag, .int64(microseconds))
        case ("url", .string(let text)):
            guard let url = URL(string: text, encodingInvalidCharacters: false), url.absoluteString == text
            else { return .tagged(tag, .string(text)) }
            return .url(url)
        case ("set", .array(let array)) where array.elementSignature == "v":
            return .set(Set(try values(array.elements, depth: depth)))
        case ("null", .boolean(false)): return .null
        default:
            throw HandoffError(
                .invalidArguments, "has a value that is tagged in a way that Handoff does not know.")
        }
    }

    /// The value as a bus carries it.
    package func dbusValue() throws(HandoffError) -> DBus.Value { try dbusValue(depth: 0) }

    private func dbusValue(depth: Int) throws(HandoffError) -> DBus.Value {
        guard depth <= Self.maximumDepth else { throw Self.tooDeep }
        switch self {
        case .string(let text): return .string(try Self.checked(text))
        case .boolean(let value): return .boolean(value)
        case .byte(let number): return .byte(number)
        case .int16(let number): return .int16(number)
        case .uint16(let number): return .uint16(number)
        case .int32(let number): return .int32(number)
        case .uint32(let number): return .uint32(number)
        case .int64(let number): return .int64(number)
        case .uint64(let number): return .uint64(number)
        case .double(let number): return .double(number)
        case .data(let data): return .bytes([UInt8](data))
        case .date(let date): return try Self.structure("date", .int64(try Self.microseconds(of: date)))
        case .url(let url): return try Self.structure("url", .string(try Self.checked(url.absoluteString)))
        case .array(let elements), .typedArray(of: "v", let elements):
            return try Self.array(of: "v", elements, depth: depth)
        case .typedArray(of: let type, let elements): return try Self.array(of: type, elements, depth: depth)
        case .dictionary(let entries), .typedDictionary(of: "v", let entries):
            return try Self.dictionary(of: "v", entries, depth: depth)
        case .typedDictionary(of: let type, let entries):
            return try Self.dictionary(of: type, entries, depth: depth)
        case .set(let elements):
            return try Self.structure("set", try Self.array(of: "v", Array(elements), depth: depth + 1))
        case .null: return try Self.structure("null", .boolean(false))
        case .variant(let content): return .variant(try content.dbusValue(depth: depth + 1))
        case .tagged(let tag, let content):
            return try Self.structure(try Self.checked(tag), try content.dbusValue(depth: depth + 1))
        }
    }

    private static func array(
        of type: String, _ elements: [UserInfoValue], depth: Int
    ) throws(HandoffError) -> DBus.Value {
        var values: [DBus.Value] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            let value = try element.dbusValue(depth: depth + 1)
            values.append(type == "v" ? .variant(value) : value)
        }
        do throws(DBusError) {
            return try .array(of: type, values)
        } catch {
            throw HandoffError(.invalidArguments, "has an array that cannot be: \(error.message)")
        }
    }

    private static func dictionary(
        of type: String, _ entries: [String: UserInfoValue], depth: Int
    ) throws(HandoffError) -> DBus.Value {
        var values: [(key: DBus.Value, value: DBus.Value)] = []
        values.reserveCapacity(entries.count)
        for (key, element) in entries.sorted(by: { $0.key < $1.key }) {
            let value = try element.dbusValue(depth: depth + 1)
            values.append((.string(try checked(key)), type == "v" ? .variant(value) : value))
        }
        do throws(DBusError) {
            return try .dictionary(key: "s", value: type, values)
        } catch {
            throw HandoffError(.invalidArguments, "has a dictionary that cannot be: \(error.message)")
        }
    }

    private static func structure(_ tag: String, _ content: DBus.Value) throws(HandoffError) -> DBus.Value {
        do throws(DBusError) {
            return try .structure([.string(tag), .variant(content)])
        } catch {
            throw HandoffError(.invalidArguments, "has a structure that cannot be: \(error.message)")
        }
    }

    /// `text` if a bus can carry it.
    static func checked(_ text: String) throws(HandoffError) -> String {
        guard !text.utf8.contains(0) else {
            throw HandoffError(.invalidArguments, "has NUL in a text. Use data for bytes.")
        }
        return text
    }

    /// Microseconds since 1970.
    static func microseconds(of date: Date) throws(HandoffError) -> Int64 {
        guard let microseconds = date.microseconds else {
            throw HandoffError(.invalidArguments, "has a date that is too far away.")
        }
        return microseconds
    }

    private static var tooDeep: HandoffError {
        HandoffError(.invalidArguments, "nests more than \(maximumDepth) containers. Flatten it.")
    }
}

extension Date {
    /// The microseconds between 1970 and 2001, from which dates are counted.
    private static let reference: Int64 = 978_307_200_000_000

    /// The date so many microseconds after 1970, or as near as a `Date` comes to it.
    init(microseconds: Int64) {
        let (sinceReference, isTooFar) = microseconds.subtractingReportingOverflow(Self.reference)
        guard !isTooFar else {
            self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
            return
        }
        // Apart, so that the whole seconds do not cost the others their precision.
        let (seconds, rest) = sinceReference.quotientAndRemainder(dividingBy: 1_000_000)
        self.init(timeIntervalSinceReferenceDate: Double(seconds) + Double(rest) / 1_000_000)
    }

    /// The whole microseconds since 1970; nil if that is no date, or too far away.
    var microseconds: Int64? {
        let seconds = timeIntervalSinceReferenceDate.rounded(.down)
        guard let whole = Int64(exactly: seconds) else { return nil }
        let rest = Int64(((timeIntervalSinceReferenceDate - seconds) * 1_000_000).rounded())
        let (product, isTooMuch) = whole.multipliedReportingOverflow(by: 1_000_000)
        let (sum, isTooFar) = product.addingReportingOverflow(rest)
        let (result, isTooFarBehind) = sum.addingReportingOverflow(Self.reference)
        return isTooMuch || isTooFar || isTooFarBehind ? nil : result
    }
}
