// SPDX-License-Identifier: LGPL-2.1-or-later
import DBusGeneratorLibrary
import FuzzSupport

@testable import DBus
@testable import HandoffCore

/// Text that claims to be a signature, a name, an identifier or fit to be shown.
enum NameTest {
    static func run(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        checkSignature(text)
        checkPath(text)
        checkNames(text)
        checkIdentifiers(text)
        checkShownText(text)
        checkCommandLine(text)
        checkLastWords(bytes)
    }

    /// Checks that what is opened becomes an argument of its own, or ends one that no shell would look into.
    private static func checkCommandLine(_ text: String) {
        let words = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let line = try? ExecLine(words: words) else { return }
        let (page, entry) = (
            "https://example.com/;$(a)", ExecLine.Entry(name: "A name", icon: "i", path: "/p")
        )
        guard let arguments = try? line.arguments(opening: .page(page), of: entry) else { return }
        require(
            arguments.first == line.program && !line.program.contains(page), "\(words) run \(line.program)")
        let holders = arguments.filter { $0.contains(page) }
        require(!holders.isEmpty, "\(words) open nothing")
        for holder in holders {
            let rest = holder.replacing(page, with: "")
            require(
                !rest.unicodeScalars.contains { " \"'$;&|`()<>".unicodeScalars.contains($0) },
                "\(holder) is opened")
        }
    }

    /// Checks that the last line of a program is short, and fit to be shown.
    private static func checkLastWords(_ bytes: [UInt8]) {
        var words = LastWords()
        let lines = words.wrote(bytes, lines: 4)
        require(lines.count <= 4, "\(lines.count) lines")
        for line in lines + [words.text] {
            require(
                line.utf8.count <= LastWords.maximumLength && PeerText.message(line) == line,
                "“\(line)” is shown")
        }
    }

    private static func checkSignature(_ text: String) {
        let isSingle = Signature.isSingle(text)
        // libdbus forgets the arrays around a dictionary; the generator counts to 32 (D-Bus Specification, "Valid
        // Signatures").
        let isDeep = text.utf8.count { $0 == UInt8(ascii: "a") } > 32
        require(
            (CompleteType(text) != nil) == isSingle || isSingle && isDeep,
            "the generator does not agree on “\(text)”")
        guard let signature = try? Signature(text) else {
            return require(!isSingle && !Signature.isValid(text), "“\(text)” is refused")
        }
        let types = signature.types
        require(types.joined() == text && types.allSatisfy(Signature.isSingle), "\(types) are not “\(text)”")
        require((types.count == 1) == isSingle, "“\(text)” is \(types.count) types")
    }

    private static func checkPath(_ text: String) {
        if let child = try? ObjectPath("/org/example").appending(text) {
            require(child.suffix(below: "/org/example").map(String.init) == text, "\(child) is not below")
            require(child.suffix(below: "/org/exam") == nil, "\(child) is below another")
        }
        guard let path = try? ObjectPath(text) else { return }
        require(
            path.suffix(below: .root).map(String.init) ?? "" == text.dropFirst(), "\(path) is not below /")
        require(path.text.hasSuffix(path.lastElement), "\(path) ends with \(path.lastElement)")
    }

    /// Checks that whatever counts as a name is also a name for libdbus, which otherwise ends the process.
    private static func checkNames(_ text: String) {
        let (path, interface) = (try? ObjectPath(text), try? InterfaceName(text))
        let (member, bus) = (try? MemberName(text), try? BusName(text))
        let error = try? ErrorName(text)
        guard path != nil || interface != nil || member != nil || bus != nil || error != nil else { return }
        guard let call = try? Message.call(to: bus, path ?? "/", interface ?? "a.b", member ?? "C") else {
            return require(
                text.hasPrefix("/org/freedesktop") || text.hasPrefix("org.freedesktop"), "“\(text)”")
        }
        call.setSerial(1)
        let bytes = require("“\(text)” cannot be marshalled") { try call.marshal() }
        let decoded = require("“\(text)” cannot be decoded") { try Message.demarshal(bytes) }
        require(decoded.path == path ?? "/" && decoded.destination == bus?.text, "“\(text)” has changed")
        require(decoded.isMember(member ?? "C", of: interface ?? "a.b"), "“\(text)” has changed")
        if let error {
            let answer = require("“\(text)”") { try Message.error(DBusError(error, text), to: call) }
            require(answer.error == DBusError(error, text), "“\(text)” has changed")
        }
    }

    private static func checkIdentifiers(_ text: String) {
        require(DeviceID(text).map(\.description) ?? text == text, "“\(text)” has changed")
        require(ActivityID(text).map(\.description) ?? text == text, "“\(text)” has changed")
        require(ContinuationID(text).map(\.description) ?? text == text, "“\(text)” has changed")
        if let id = DeviceID(text) { require(DeviceID(bytes: id.bytes) == id, "“\(text)” has changed") }
        if let application = try? ApplicationID(text) {
            require(Team(application).isClaimable(by: application), "\(application) cannot claim itself")
        }
        if let type = try? ActivityType(text) { _ = type.isReverseDNS }
    }

    private static func checkShownText(_ text: String) {
        check("a name", PeerText.name, PeerText.maximumName)
        check("a short text", { PeerText.clean($0, limit: 8) }, 8)

        func check(_ what: String, _ clean: (String) -> String, _ limit: Int) {
            let once = clean(text)
            require(
                once.count <= limit && once.utf8.count <= 4 * limit, "\(what) of \(once.count) characters")
            require(clean(once) == once, "\(what), “\(once)”, is cleaned twice")
            require(!once.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "\(what) has control characters")
        }
    }
}
