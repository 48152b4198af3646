// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Foundation
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("What the user chooses, on the bus and in the file", .timeLimit(.minutes(1)))
struct PreferencesObjectTests {
    private static func defaults() throws -> [String: Value] {
        [
            "Enabled": .boolean(true), "ShowUnhandledOffers": .boolean(false), "DeviceName": .string(""),
            "Port": .uint16(0), "Applications": try texts([:]), "SharedFolders": try texts([:]),
            "Sessions": try texts([:]),
            "NotifyOffers": .string("arrival"), "NotifyContinued": .boolean(true), "Park": .boolean(true),
            "ShareAddresses": .boolean(true), "Introduces": .boolean(true),
            "ShareOpenActivities": .boolean(true), "Clipboard": .string("ask"),
            "ExcludedApplications": .strings([]), "DisabledAdapters": .strings([]),
            "DocumentsFolder": .string(""),
        ]
    }

    private static func chosen() throws -> [String: Value] {
        [
            "Enabled": .boolean(false), "ShowUnhandledOffers": .boolean(true),
            "DeviceName": .string("Büro; 2"), "Port": .uint16(45731),
            "Applications": try texts(["com.example.edit": "com.example.notes"]),
            "SharedFolders": try texts(["Cloud": "/home/me/Cloud"]),
            "Sessions": try texts([String(repeating: "ab", count: 32): "me@host.example"]),
            "NotifyOffers": .string("never"),
            "NotifyContinued": .boolean(false), "Park": .boolean(false), "ShareAddresses": .boolean(false),
            "Introduces": .boolean(false), "ShareOpenActivities": .boolean(false),
            "Clipboard": .string("follow"),
            "ExcludedApplications": .strings(["com.example.a", "org.b"]),
            "DisabledAdapters": .strings(["kate", "mpv-2"]),
            "DocumentsFolder": .string("~/Meine Dokumente; ü"),
        ]
    }

    /// A device whose user has chosen all of it.
    @MainLoop
    private static func chosenDevice() async throws -> (TestDevice, SessionClient) {
        let device = try await oneDevice()
        let user = SessionClient(unregisteredOn: device)
        for (name, value) in try chosen() { try await user.choose(name, value) }
        return (device, user)
    }

    private static let byHand = """
        # Mine, to be kept.
        [Device]
        # How others see it.
        Unknown=1;2
        Unknown[de]=eins

        [Mine]
        Key=2

        """

    // MARK: Keeping

    @Test(
        "each has its default, is announced when it changes and not when it does not, is kept over a restart, and can go back to its default; whatever else is in the file stays"
    )
    func kept() async throws {
        try await onLoop {
            let (defaults, chosen) = (try Self.defaults(), try Self.chosen())
            let device = try await oneDevice()
            try await device.restart(with: Self.byHand)
            let user = SessionClient(unregisteredOn: device)
            #expect(try await user.chosen() == defaults)
            for (name, value) in chosen {
                for _ in 1...2 { try await user.choose(name, value) }
                // An answer comes behind all that was told before.
                #expect(try await user.chosen()[name] == value)
                #expect(user.changes == [[name: value]])
                user.forget()
            }
            try await user.exclude("org.b", "com.example.a", "org.b")
            try await device.restart()
            #expect(try await user.chosen() == chosen)
            #expect(try await !user.manager.enabled())
            for (name, value) in defaults { try await user.choose(name, value) }
            for _ in 1...2 {
                #expect(try await user.chosen() == defaults)
                let lines = try device.file().split(separator: "\n")
                #expect(Self.byHand.split(separator: "\n").allSatisfy { lines.contains($0) })
                for key in ["Name=", "Port=", "Folder=", "Cloud="] {
                    #expect(try !device.file().contains(key))
                }
                try await device.restart()
            }
        }
    }

    @Test("a file that its user keeps elsewhere, with a link to it, is changed there")
    func link() async throws {
        try await onLoop {
            let (device, user) = try await Self.chosenDevice()
            let files = FileManager.default
            try files.moveItem(atPath: device.configuration, toPath: device.configuration + ".mine")
            try files.createSymbolicLink(
                atPath: device.configuration, withDestinationPath: device.configuration + ".mine")
            try await user.choose("DeviceName", .string("Other"))
            #expect(
                try files.attributesOfItem(atPath: device.configuration)[.type] as? FileAttributeType
                    == .typeSymbolicLink)
            #expect(try device.file().contains("Name=Other"))
        }
    }

    @Test(
        "a file that was edited by hand counts from the next start on; what somebody adds while the broker runs is not undone when it changes another key"
    )
    func edited() async throws {
        try await onLoop {
            let device = try await oneDevice()
            try await device.restart(
                with: """
                    [Handoff]
                    Enabled=false
                    ExcludedApplications= com.b ;com.a
                    [Adapters]
                    Disabled=mpv

                    """)
            let user = SessionClient(unregisteredOn: device)
            let read = try await user.chosen()
            #expect(read["ExcludedApplications"] == .strings(["com.a", "com.b"]))
            #expect(read["DisabledAdapters"] == .strings(["mpv"]) && read["Enabled"] == .boolean(false))
            let more = try device.file().replacing("Disabled=mpv", with: "Disabled=mpv;kate")
            try more.write(toFile: device.configuration, atomically: true, encoding: .utf8)
            try await user.choose("DeviceName", .string("Other"))
            #expect(try await user.chosen()["DisabledAdapters"] == .strings(["mpv"]))
            let text = try device.file()
            for line in ["Enabled=false", "Disabled=mpv;kate", "Name=Other"] { #expect(text.contains(line)) }
            try await device.restart()
            #expect(try await user.chosen()["DisabledAdapters"] == .strings(["kate", "mpv"]))
        }
    }

    @Test("what several programs change at the same time is all in the file afterwards")
    func atOnce() async throws {
        try await onLoop {
            let device = try await oneDevice()
            let user = SessionClient(unregisteredOn: device)
            var values: [String: Value] = [:]
            for turn in 0..<10 {
                values = try turn % 2 == 0 ? Self.chosen() : Self.defaults()
                let writers = values.map { name, value in
                    MainLoop.start {
                        try await SessionClient(unregisteredOn: device).choose(name, value)
                    }
                }
                for writer in writers { try await writer.value }
                #expect(try await user.chosen() == values)
            }
            try await device.restart()
            #expect(try await user.chosen() == values)
        }
    }

    // MARK: Refusals

    private static let illegal: [(String, [Value])] = [
        (
            "DeviceName",
            ["a\nb", "\u{202e}name", "\u{2028}", " name", String(repeating: "x", count: 65)].map {
                .string($0)
            }
        ),
        (
            "Clipboard",
            ["", "Ask", "on", "off "].map { .string($0) }
        ),
        (
            "NotifyOffers",
            ["", "Never", "sometimes", "never\n", String(repeating: "x", count: 100_000)].map { .string($0) }
        ),
        (
            "ExcludedApplications",
            [
                [""], ["com.a", "a/b"], ["../x"], ["a;b"], ["a b"], [String(repeating: "x", count: 256)],
                ["\u{202e}"], [".a"],
            ].map { .strings($0) }
        ),
        (
            "DisabledAdapters",
            [
                [""], ["a_b"], ["a", "ä"], ["../x"], ["a;b"], [String(repeating: "x", count: 65)], ["\n"],
            ].map { .strings($0) }
        ),
        (
            "DocumentsFolder",
            [
                "/", "//", "In", "~", "~me/x", "~/../x", "/a/./b", "/a//b", "/a\nb", "/a\u{202e}b",
                "file:///a",
                "/" + String(repeating: "x", count: 5000),
            ].map { .string($0) }
        ),
        (
            "Applications",
            [
                ["": "com.example.notes"], ["com.example.edit": "../notes"], ["a\nb": "com.example.notes"],
            ].compactMap { try? texts($0) }
        ),
    ]

    @Test(
        "a value that is not legal is refused with InvalidArgs, and nothing has changed, here or in the file")
    func refused() async throws {
        try await onLoop {
            let (device, user) = try await Self.chosenDevice()
            let (before, text) = (try await user.chosen(), try device.file())
            for (name, values) in Self.illegal {
                #expect(values.count > 2)
                for value in values {
                    #expect(
                        await isRefused(.invalidArguments) { try await user.choose(name, value) },
                        "\(name) \(value)")
                }
            }
            for name in before.keys {
                #expect(
                    await isRefused(.invalidArguments, saying: [name]) {
                        try await user.choose(name, .int32(70_000))
                    })
            }
            #expect(try await user.chosen() == before)
            #expect(try device.file() == text)
        }
    }

    @Test(
        "as many applications, adapters and choices as there may be are taken, one more is LimitsExceeded, and nothing has changed"
    )
    func tooMany() async throws {
        try await onLoop {
            let device = try await oneDevice()
            let user = SessionClient(unregisteredOn: device)
            let ids = (0..<10_000).map { "com-example-a\($0)" }
            func value(_ name: String, _ count: Int) throws -> Value {
                guard name == "Applications" else { return .strings(ids[..<count].sorted()) }
                return try .dictionary(
                    key: "s", value: "s", ids[..<count].sorted().map { (.string($0), .string("a")) })
            }
            let limits = ["ExcludedApplications": 256, "DisabledAdapters": 64, "Applications": 256]
            for (name, limit) in limits {
                try await user.choose(name, try value(name, limit))
                for count in [limit + 1, ids.count] {
                    #expect(
                        await isRefused(.limitsExceeded, saying: ["\(limit)"]) {
                            try await user.choose(name, try value(name, count))
                        })
                }
            }
            for _ in 1...2 {
                let chosen = try await user.chosen()
                #expect(chosen["DisabledAdapters"]?.strings?.count == 64)
                #expect(chosen["ExcludedApplications"]?.strings?.count == 256)
                try await device.restart()
            }
        }
    }

    @Test("where the file cannot be written the answer says why, and nothing has changed")
    func notWritable() async throws {
        try await onLoop {
            let (device, user) = try await Self.chosenDevice()
            try await user.choose("Enabled", .boolean(true))
            let activity = try await SessionClient(device).offer("Still offered")
            let before = try await user.chosen()
            try FileManager.default.removeItem(atPath: device.configuration)
            try FileManager.default.createDirectory(
                atPath: device.configuration, withIntermediateDirectories: false)
            for (name, value) in try Self.defaults() where before[name] != value {
                #expect(
                    await isRefused([.failed], ["handoff.conf"]) { try await user.choose(name, value) },
                    "\(name)")
            }
            #expect(
                await isRefused([.failed], ["handoff.conf"]) {
                    try await user.choose("Enabled", .boolean(false))
                })
            #expect(try await user.chosen() == before)
            withExtendedLifetime(activity) {}
        }
    }

    @Test(
        "a name that is none, a port that is none and a choice that is none count as not chosen, stay, and can be put right"
    )
    func nonsense() async throws {
        try await onLoop {
            let device = try await oneDevice()
            try await device.restart(
                with: """
                    [Device]
                    Name=\\x
                    [Network]
                    Port=70000
                    [Applications]
                    %zz=a
                    b=/c/d
                    com.example.edit=com.example.notes

                    """)
            let user = SessionClient(unregisteredOn: device)
            let chosen = try await user.chosen()
            #expect(chosen["DeviceName"] == .string("") && chosen["Port"] == .uint16(0))
            #expect(chosen["Applications"] == (try texts(["com.example.edit": "com.example.notes"])))
            for (name, value) in try Self.chosen() { try await user.choose(name, value) }
            #expect(try await user.chosen() == Self.chosen())
            try await user.choose("Applications", try texts([:]))
            #expect(try device.file().contains("%zz=a"))
        }
    }
}
