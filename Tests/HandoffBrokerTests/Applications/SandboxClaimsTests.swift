// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffCore
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("What a sandboxed application may claim")
struct SandboxClaimsTests {
    private static let id = "com.example.notes"
    private let edit: ActivityType
    private let read: ActivityType
    private let entry: InstalledApplication

    init() throws {
        edit = try ActivityType("com.example.notes.edit")
        read = try ActivityType("com.example.notes.read")
        entry = InstalledApplication(
            try ApplicationID(Self.id),
            declaration: Declaration(
                activityTypes: [edit], documentTypes: ["text/plain": edit], domains: ["www.example.com"]))
    }

    private func check(
        _ sandbox: Sandbox?, id: String = id, team: String? = nil, _ declaration: Declaration = Declaration(),
        hasEntry: Bool = true
    ) throws -> HandoffFailure? {
        let caller = Caller(name: ":1.1", credentials: nil, sandbox: sandbox)
        let (id, team) = (try ApplicationID(id), try team.map { try Team($0) })
        return failure { try SandboxClaims.check(caller, id, team, declaration, hasEntry ? entry : nil) }
    }

    @Test("what cannot be checked yet is refused as such; what needs no entry, or is in a known one, is not")
    func notKnownYet() throws {
        let caller = Caller(name: ":1.1", credentials: nil, sandbox: .flatpak(application: Self.id))
        let id = try ApplicationID(Self.id)
        func check(_ declaration: Declaration, _ entry: InstalledApplication?) -> HandoffFailure? {
            failure { try SandboxClaims.check(caller, id, nil, declaration, entry, isKnown: false) }
        }
        let refused = check(Declaration(activityTypes: [edit]), nil)
        #expect(refused?.code == .connectionUnavailable)
        #expect(refused?.message.contains("has not been read") == true)
        #expect(check(Declaration(), nil) == nil)
        #expect(check(Declaration(activityTypes: [edit]), entry) == nil)
        #expect(check(Declaration(activityTypes: [read]), entry)?.code == .accessDenied)
    }

    @Test(
        "it registers its own id and no other",
        arguments: [
            (nil, id, true), (.flatpak(application: id), id, true),
            (.flatpak(application: "com.example.other"), id, false), (.flatpak(application: ""), id, false),
            (.snap(name: "notes"), "notes", true), (.snap(name: "notes"), "notes_editor", true),
            (.snap(name: "notes"), "notesx", false), (.snap(name: "notes"), id, false), (.unknown, id, false),
        ] as [(Sandbox?, String, Bool)])
    func ids(_ sandbox: Sandbox?, _ id: String, _ isAllowed: Bool) throws {
        #expect(try check(sandbox, id: id)?.code == (isAllowed ? nil : .accessDenied))
    }

    @Test(
        "its team is its id, or three labels or more of it",
        arguments: [
            (nil, true), (id, true), ("com.example", false), ("com", false), ("com.example.other", false),
            ("com.example.notes.more", false),
        ] as [(String?, Bool)])
    func teams(_ team: String?, _ isAllowed: Bool) throws {
        #expect(
            try check(.flatpak(application: Self.id), team: team)?.code == (isAllowed ? nil : .accessDenied))
        // Nobody else is asked.
        #expect(try check(nil, team: team) == nil)
    }

    @Test("it declares what its desktop entry declares, or less, and the claim that is too much is named")
    func declarations() throws {
        let sandbox = Sandbox.flatpak(application: Self.id)
        #expect(try check(sandbox, Declaration(activityTypes: [edit])) == nil)
        #expect(try check(sandbox, entry.declaration) == nil)
        let claims: [(Declaration, String)] = [
            (Declaration(activityTypes: [edit, read]), "com.example.notes.read"),
            (Declaration(documentTypes: ["text/html": edit]), "text/html"),
            (Declaration(documentTypes: ["text/plain": read]), "text/plain"),
            (Declaration(domains: ["www.example.com", "example.com"]), "declare example.com"),
        ]
        for (declaration, claim) in claims {
            let failure = try check(sandbox, declaration)
            #expect(failure?.code == .accessDenied)
            #expect(failure?.message.contains(claim) == true, "\(failure?.message ?? "")")
            #expect(try check(nil, declaration) == nil)
        }
        #expect(
            try check(sandbox, Declaration(activityTypes: [edit]), hasEntry: false)?.code == .accessDenied)
        #expect(try check(sandbox, hasEntry: false) == nil)
    }
}
