// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// What is in a clipboard, as one or several types: the types with their sizes, and a file that has the bytes of all of them, one
/// after the other (`org.example.Handoff.Clipboard`).
package struct ClipboardContent: Sendable {
    /// One type of it.
    package struct Part: Hashable, Sendable {
        /// Its type, which need not be known here.
        package let type: String
        /// How many bytes it has.
        package let size: Int

        /// What it is; nil if that is not known here.
        package var kind: ClipboardKind? { ClipboardKind(rawValue: type) }
    }

    /// The types, the best first.
    package let parts: [Part]
    /// The bytes of all.
    package let file: ClipboardFile

    /// How many types there may be.
    package static let maximumTypes = 16
    /// How many bytes a type has at most.
    package static let maximumType = 255

    /// The content of `file`.
    /// - Throws: `InvalidArgs` if the types and sizes break a rule.
    package init(_ types: [(type: String, size: UInt64)], _ file: ClipboardFile) throws(HandoffFailure) {
        try Self.check(types)
        parts = types.map { Part(type: $0.type, size: Int($0.size)) }
        guard parts.reduce(0, { $0 + $1.size }) == file.size else {
            throw Self.broken("its sizes together are not the \(file.size) bytes that there are")
        }
        self.file = file
    }

    /// What others have given by the two arguments of an interface.
    package init(
        _ contents: [Structure<String, UInt64>], _ descriptor: consuming FileDescriptor
    ) throws(HandoffFailure) {
        try self.init(contents.map { ($0.fields.0, $0.fields.1) }, ClipboardFile(checking: descriptor))
    }

    /// These kinds, one after the other.
    /// - Throws: `LimitsExceeded` if they are too large together.
    package init(_ files: [(kind: ClipboardKind, file: ClipboardFile)]) throws(HandoffFailure) {
        parts = files.map { Part(type: $0.kind.rawValue, size: $0.file.size) }
        if files.count == 1 {
            file = files[0].file
            return
        }
        var writer = try ClipboardFile.Writer()
        for (_, file) in files { try writer.append(file, from: 0, count: file.size) }
        file = try writer.finish()
    }

    /// Checks what is said of a content before it is there.
    static func check(_ types: [(type: String, size: UInt64)]) throws(HandoffFailure) {
        guard !types.isEmpty, types.count <= maximumTypes else {
            throw broken("it has \(types.count) types; at least one, and at most \(maximumTypes), may be")
        }
        guard Set(types.map(\.type)).count == types.count else { throw broken("it has a type twice") }
        guard types.allSatisfy({ !$0.type.isEmpty && $0.type.utf8.count <= maximumType }) else {
            throw broken("a type is empty, or has more than \(maximumType) bytes")
        }
        // Each is looked at before they are added up.
        guard types.allSatisfy({ $0.size <= UInt64(ClipboardFile.maximum) }),
            types.reduce(0, { $0 + $1.size }) <= UInt64(ClipboardFile.maximum)
        else { throw ClipboardFile.tooLarge }
    }

    private static func broken(_ why: String) -> HandoffFailure {
        HandoffFailure(
            .invalidArguments,
            "The content of the clipboard is not as it has to be: \(why). Copy it once more."
        )
    }

    // MARK: What there is

    /// The types and sizes as D-Bus carries them.
    package var contents: [Structure<String, UInt64>] { parts.map { Structure($0.type, UInt64($0.size)) } }

    /// The kinds that are known here.
    package var kinds: [ClipboardKind] { parts.compactMap(\.kind) }

    /// The content of this kind alone; nil if there is none.
    package func only(_ kind: ClipboardKind) throws(HandoffFailure) -> ClipboardContent? {
        guard let file = try file(of: kind) else { return nil }
        return try ClipboardContent([(kind, file)])
    }

    /// A file with what is there of this kind; nil if there is none.
    package func file(of kind: ClipboardKind) throws(HandoffFailure) -> ClipboardFile? {
        guard let index = parts.firstIndex(where: { $0.kind == kind }) else { return nil }
        if parts.count == 1 { return file }
        var writer = try ClipboardFile.Writer()
        try writer.append(file, from: offset(index), count: parts[index].size)
        return try writer.finish()
    }

    private func offset(_ index: Int) -> Int { parts[..<index].reduce(0) { $0 + $1.size } }

    /// It without what is not what it says: text or a list of files that is no UTF-8, an image that is no PNG, types that are not known here.
    /// - Returns: nil if nothing is left.
    package func checked() throws(HandoffFailure) -> ClipboardContent? {
        var good: [(kind: ClipboardKind, file: ClipboardFile)] = []
        for part in parts {
            guard let kind = part.kind, let file = try file(of: kind) else { continue }
            guard kind.canBegin(with: file.bytes(atMost: ClipboardKind.headSize)) else { continue }
            if kind == .text || kind == .files, String(validating: try file.bytes(), as: UTF8.self) == nil {
                continue
            }
            good.append((kind, file))
        }
        if good.count == parts.count { return self }
        return good.isEmpty ? nil : try ClipboardContent(good)
    }

    /// What is told of it.
    package var about: [String: Value] {
        var about: [String: Value] = [
            "Types": .strings(parts.map(\.type)), "Sizes": .numbers(parts.map { UInt64($0.size) }),
        ]
        if let text = (try? file(of: .text)).flatMap({ $0 }), let bytes = try? text.bytes() {
            // Every byte but those that go on with a character.
            about["Characters"] = .uint64(UInt64(bytes.count { $0 & 0xC0 != 0x80 }))
        }
        return about
    }
}

extension ClipboardFile.Writer {
    /// Adds a part of another file.
    package mutating func append(_ file: ClipboardFile, from offset: Int, count: Int) throws(HandoffFailure) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
        defer { buffer.deallocate() }
        var done = 0
        while done < count {
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, count - done)])
            let more = file.read(piece, at: offset + done)
            guard more > 0 else { throw ClipboardFile.tooLarge }
            try append(UnsafeRawBufferPointer(rebasing: piece[..<more]))
            done += more
        }
    }
}
