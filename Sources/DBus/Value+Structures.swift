// SPDX-License-Identifier: LGPL-2.1-or-later

extension Value {
    /// This value with other fields in some of the structures that are anywhere in it; everything else, and each type,
    /// is as it was.
    /// - Parameter replacement: the fields of a structure from then on, of the same types as before; nil to leave it
    ///   as it is. It is not asked about structures in a structure that it has replaced.
    /// - Returns: nil if nothing was replaced.
    package func replacingStructures(_ replacement: (StructureValue) -> [Value]?) -> Value? {
        switch self {
        case .structure(let structure):
            if let fields = replacement(structure),
                fields.map(\.typeSignature) == structure.fields.map(\.typeSignature)
            {
                return .structure(StructureValue(checked: fields))
            }
            return Self.replacing(in: structure.fields, replacement)
                .map { .structure(StructureValue(checked: $0)) }
        case .array(let array) where Self.mayHoldStructures(array.elementSignature):
            return Self.replacing(in: array.elements, replacement)
                .map { .array(ArrayValue(checkedSignature: array.elementSignature, $0)) }
        case .dictionary(let dictionary) where Self.mayHoldStructures(dictionary.valueSignature):
            return Self.replacing(in: dictionary, replacement).map { .dictionary($0) }
        case .variant(let content): return content.replacingStructures(replacement).map { .variant($0) }
        default: return nil
        }
    }

    private static func mayHoldStructures(_ signature: String) -> Bool {
        signature.utf8.contains { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "v") }
    }

    private static func replacing(
        in values: [Value], _ replacement: (StructureValue) -> [Value]?
    ) -> [Value]? {
        var changed: [Value]?
        for (index, value) in values.enumerated() {
            guard let new = value.replacingStructures(replacement) else { continue }
            changed = changed ?? values
            changed?[index] = new
        }
        return changed
    }

    private static func replacing(
        in dictionary: DictionaryValue, _ replacement: (StructureValue) -> [Value]?
    ) -> DictionaryValue? {
        var changed: [DictionaryValue.Entry]?
        for (index, entry) in dictionary.entries.enumerated() {
            guard let new = entry.value.replacingStructures(replacement) else { continue }
            changed = changed ?? dictionary.entries
            changed?[index] = DictionaryValue.Entry(key: entry.key, value: new)
        }
        return changed.map {
            DictionaryValue(checkedKey: dictionary.keySignature, checkedValue: dictionary.valueSignature, $0)
        }
    }
}
