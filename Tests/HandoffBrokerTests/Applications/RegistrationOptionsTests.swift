// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("The options of RegisterApplication")
struct RegistrationOptionsTests {
    private static func documentTypes(_ entries: [(String, String)]) throws -> Value {
        try .dictionary(
            key: "s", value: "s", entries.map { (key: .string($0.0), value: .string($0.1)) })
    }

    @Test("without any, the application is alone in its team and is handed what is continued")
    func none() throws {
        let options = try RegistrationOptions([:])
        #expect(options.team == nil && options.domains.isEmpty && options.documentTypes.isEmpty)
        #expect(options.receives && !options.isAdapter)
    }

    @Test("each is read, and what is not known is ignored")
    func all() throws {
        let options = try RegistrationOptions([
            "Team": .string("com.example"), "Domains": .strings(["www.example.com", "*.bücher.example.net"]),
            "DocumentTypes": try Self.documentTypes([("text/plain", "a.b"), ("text/html", "a.c")]),
            "Receives": .boolean(false), "Adapter": .boolean(true), "Colour": .string("red"),
        ])
        #expect(options.team?.description == "com.example" && !options.receives && options.isAdapter)
        #expect(options.domains == ["www.example.com", "*.xn--bcher-kva.example.net"])
        #expect(
            options.documentTypes.mapValues(\.description) == ["text/plain": "a.b", "text/html": "a.c"])
    }

    @Test(
        "an option of a wrong type is refused, naming it",
        arguments: ["Team", "Domains", "Receives", "Adapter", "DocumentTypes"])
    func types(_ key: String) {
        let failure = failure { _ = try RegistrationOptions([key: .byte(1)]) }
        #expect(failure?.code == .invalidArguments)
        #expect(failure?.message.hasPrefix("\(key) must have the type ") == true)
    }

    @Test(
        "what is no host is no domain",
        arguments: [
            "", ".", "localhost", "*", "*.com", "*.*.com", "a..b", ".example.com", "example.com.",
            "exa mple.com", "127.0.0.1", "[::1]", "printer.local", "*.1.2", "user@example.com",
            "http://example.com", "example.com:80", "example.com/", "a_b.example.net", "-\u{0}.example.net",
            String(repeating: "a", count: 64) + ".example.net",
            String(repeating: "abcdefg.", count: 32) + "example",
        ])
    func domains(_ domain: String) {
        let failure = failure {
            _ = try RegistrationOptions(["Domains": .strings(["a.example.net", domain])])
        }
        #expect(failure?.code == .invalidArguments)
    }

    @Test("32 domains pass, one more does not")
    func manyDomains() throws {
        let domains = (0...Quota.domains).map { "a\($0).example.net" }
        _ = try RegistrationOptions(["Domains": .strings(Array(domains.dropLast()))])
        #expect(
            failure { _ = try RegistrationOptions(["Domains": .strings(domains)]) }?.code == .limitsExceeded)
    }

    @Test(
        "a document type maps a MIME type to an activity type",
        arguments: [
            ("", "a.b"), ("text", "a.b"), ("text/", "a.b"), ("/plain", "a.b"), ("a/b/c", "a.b"),
            ("text/pl ain", "a.b"), ("text/plain\u{7F}", "a.b"), ("text/ü", "a.b"), ("text/plain", ""),
            ("text/plain", "a\nb"), (String(repeating: "a", count: 254) + "/b", "a.b"),
        ])
    func documentTypes(_ mimeType: String, _ type: String) throws {
        let value = try Self.documentTypes([(mimeType, type)])
        #expect(
            failure { _ = try RegistrationOptions(["DocumentTypes": value]) }?.code == .invalidArguments)
    }

    @Test("256 document types pass, one more does not")
    func manyDocumentTypes() throws {
        let entries = (0...Quota.types).map { ("text/a\($0)", "a.b") }
        let fitting = try Self.documentTypes(Array(entries.dropLast()))
        _ = try RegistrationOptions(["DocumentTypes": fitting])
        let value = try Self.documentTypes(entries)
        #expect(failure { _ = try RegistrationOptions(["DocumentTypes": value]) }?.code == .limitsExceeded)
    }
}
