// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import Foundation
import HandoffCore
import HandoffInterfaces
import MainLoop
import TestSupport
import Testing

@testable import HandoffTesting

@Suite("The clipboard, on the bus", .timeLimit(.minutes(1)))
struct ClipboardTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Two linked devices, each with a clipboard and a user who wants `mode`.
    @MainLoop
    private struct Two {
        let desk: TestDevice
        let lap: TestDevice
        let origin: PlayedDesktop
        let target: PlayedDesktop

        init(_ mode: ClipboardMode = .ask) async throws {
            (desk, lap) = try await linkedDevices()
            (origin, target) = (try await PlayedDesktop(desk), try await PlayedDesktop(lap))
            for side in [origin, target] { try await side.preferences.setClipboard(mode.rawValue) }
            // Each broker knows the other device once it was added.
            for (side, other) in [(origin, lap), (target, desk)] {
                try await eventuallyKnown(side, other)
            }
        }

        private func eventuallyKnown(_ side: PlayedDesktop, _ other: TestDevice) async throws {
            for _ in 0..<1000 {
                do {
                    _ = try await side.proxy.paste(deviceId: other.device.id.description)
                    return
                } catch {
                    if DBusError.converting(error).name != HandoffFailure.Code.notPaired.errorName { return }
                }
                try await MainLoop.sleep(for: .milliseconds(1))
            }
        }

        var deskID: String { desk.device.id.description }
        var lapID: String { lap.device.id.description }
    }

    @Test(
        "what was copied is pasted on the other device, as all that it is, and the user there can see that it was taken"
    )
    func paste() async throws {
        try await onLoop {
            let two = try await Two()
            two.origin.contents = [(.text, Array("Größe".utf8)), (.image, Self.png)]
            let about = try await two.target.proxy.paste(deviceId: two.deskID)
            #expect(about["Types"]?.strings == ["text/plain", "image/png"])
            #expect(about["Sizes"]?.numbers == [7, 8] && about["Characters"] == .uint64(5))
            let written = try #require(two.target.writes.last)
            #expect(written.device == two.deskID)
            #expect(try written.content.file(of: .image)?.bytes() == Self.png)
            let fetches = try await two.origin.manager.recentFetches()
            #expect(fetches.first?["Kind"] == .string("clipboard"))
            #expect(fetches.first?["Title"] == .string("text/plain, image/png"))
            // Nothing was said before.
            #expect(two.target.follows.isEmpty)
        }
    }

    @Test("what is too large for an answer comes whole as a document does")
    func large() async throws {
        try await onLoop {
            let two = try await Two()
            let image = Self.png + (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            two.origin.contents = [(.image, image)]
            for _ in 1...2 {
                _ = try await two.target.proxy.paste(deviceId: two.deskID)
                #expect(try two.target.writes.last?.content.file.bytes() == image)
            }
        }
    }

    @Test("read gives it to a program, and puts it nowhere; it needs nobody who has registered here")
    func read() async throws {
        try await onLoop {
            let two = try await Two()
            two.origin.contents = [(.text, [65]), (.html, [66])]
            try await two.target.proxy.unregister()
            let reply = try await two.target.proxy.read(deviceId: two.deskID, type: "text/html")
            let contents = reply.contents
            let content = try ClipboardContent(contents, reply.content)
            #expect(try content.kinds == [.html] && content.file.bytes() == [66])
            #expect(two.target.writes.isEmpty && two.origin.reads.last == "text/html")
            #expect(
                await isRefused(.notSupported) { _ = try await two.target.proxy.paste(deviceId: two.deskID) })
            #expect(
                await isRefused(.invalidArguments) {
                    _ = try await two.target.proxy.read(deviceId: two.deskID, type: "text/rtf").contents
                })
        }
    }

    @Test(
        "what was copied is told to a device that follows, by its types alone, and only if both follow; the latest at a time"
    )
    func follow() async throws {
        try await onLoop {
            let two = try await Two(.follow)
            try await two.origin.copy("first")
            try await eventually { two.target.follows.count == 1 }
            #expect(two.target.follows[0].types == ["text/plain"] && two.origin.reads.count <= 1)
            for text in ["second", "third", "fourth"] { try await two.origin.copy(text) }
            try await eventually { two.target.follows.count == 2 }
            try await two.target.preferences.setClipboard("ask")
            // What was taken over is given up.
            try await eventually { two.target.follows.last?.types == [] }
            let count = two.target.follows.count
            try await MainLoop.sleep(for: .milliseconds(1100))
            try await two.origin.copy("fifth")
            _ = try await two.target.proxy.paste(deviceId: two.deskID)
            #expect(two.target.follows.count == count)
        }
    }

    @Test("a device that asks tells nobody what is copied there")
    func ask() async throws {
        try await onLoop {
            let two = try await Two(.ask)
            try await two.target.preferences.setClipboard("follow")
            try await two.origin.copy("quiet")
            _ = try await two.target.proxy.paste(deviceId: two.deskID)
            #expect(two.target.follows.isEmpty)
        }
    }

    @Test("switched off here or there, nothing comes and nothing goes; what is what is said")
    func off() async throws {
        try await onLoop {
            let two = try await Two()
            two.origin.contents = [(.text, [65])]
            for side in [two.origin, two.target] {
                try await side.preferences.setClipboard("off")
                #expect(
                    await isRefused(.disabled) {
                        _ = try await two.target.proxy.paste(deviceId: two.deskID)
                    })
                #expect(
                    await isRefused(.disabled) {
                        _ = try await two.origin.proxy.send(deviceId: two.lapID)
                    })
                try await side.preferences.setClipboard("ask")
            }
            #expect(two.target.writes.isEmpty && two.target.asks.isEmpty)
            #expect(
                await isRefused(.invalidArguments) { try await two.origin.preferences.setClipboard("always") }
            )
        }
    }

    @Test(
        "what is sent is asked about there, and had once within ten minutes; nothing else is taken for it, and after that the clipboard itself is had"
    )
    func send() async throws {
        try await onLoop {
            let two = try await Two()
            two.origin.contents = [(.text, Array("in the clipboard".utf8))]
            let given = try ClipboardContent([(.html, ClipboardFile(Array("<b>sent</b>".utf8)))])
            for isKept in [true, false] {
                _ = try await two.origin.proxy.sendContent(
                    deviceId: two.lapID, contents: given.contents, content: try given.file.handedOut())
                #expect(two.target.asks.last == ["text/html"])
                if isKept {
                    _ = try await two.target.proxy.paste(deviceId: two.deskID)
                    #expect(two.target.writes.last?.content.kinds == [.html])
                } else {
                    await two.desk.pass(.seconds(601))
                    // Nothing else is taken for it.
                    #expect(
                        await isRefused(.offerWithdrawn) {
                            _ = try await two.target.proxy.paste(deviceId: two.deskID)
                        })
                }
                _ = try await two.target.proxy.paste(deviceId: two.deskID)
                #expect(two.target.writes.last?.content.kinds == [.text])
            }
            let about = try await two.origin.proxy.send(deviceId: two.lapID)
            #expect(about["Characters"] == .uint64(16) && two.target.asks.last == ["text/plain"])
        }
    }

    @Test("who sends is told if nobody is asked: a locked session, a device without a desktop")
    func notAsked() async throws {
        try await onLoop {
            let two = try await Two()
            two.origin.contents = [(.text, [65])]
            two.target.failure = HandoffFailure(.accessDenied, "locked")
            #expect(
                await isRefused(.accessDenied) { _ = try await two.origin.proxy.send(deviceId: two.lapID) })
            try await two.target.proxy.unregister()
            #expect(
                await isRefused(.notSupported) { _ = try await two.origin.proxy.send(deviceId: two.lapID) })
        }
    }

    @Test("what is not what it says goes nowhere: text that is no UTF-8, an image that is none")
    func unlike() async throws {
        try await onLoop {
            let two = try await Two()
            two.origin.contents = [(.text, [0xFF]), (.image, [1, 2, 3])]
            #expect(
                await isRefused(.offerWithdrawn) {
                    _ = try await two.target.proxy.paste(deviceId: two.deskID)
                })
            let wrong = try ClipboardContent([(.image, ClipboardFile([1, 2, 3]))])
            #expect(
                await isRefused(.invalidArguments) {
                    _ = try await two.origin.proxy.sendContent(
                        deviceId: two.lapID, contents: wrong.contents, content: try wrong.file.handedOut())
                })
        }
    }

    @Test("switched off while the clipboard is being read, nothing leaves")
    func meanwhile() async throws {
        try await onLoop {
            let two = try await Two()
            two.origin.contents = [(.text, [65])]
            two.origin.pause = { try? await two.origin.preferences.setClipboard("off") }
            #expect(
                await isRefused(.disabled) {
                    _ = try await two.target.proxy.paste(deviceId: two.deskID)
                })
            #expect(two.target.writes.isEmpty)
        }
    }

    @Test(
        "of files those in a folder that both share are pasted, as the files here; of others nothing is said, and no link is followed"
    )
    func files() async throws {
        try await onLoop {
            let two = try await Two()
            let (there, here) = (try TemporaryDirectory(), try TemporaryDirectory())
            for (side, folder) in [(two.origin, there), (two.target, here)] {
                try await side.preferences.setSharedFolders(["Cloud": folder.url.path])
            }
            #expect(symlink("/etc", here.path("away")) == 0)
            let urls = ["a%20b.txt", "away/passwd"].map { "file://\(there.path($0))" }
            let list = (urls + ["file:///etc/passwd", "https://example.com/", "# a comment"]).joined(
                separator: "\r\n")
            two.origin.contents = [(.text, [65]), (.files, Array(list.utf8))]
            _ = try await two.target.proxy.paste(deviceId: two.deskID)
            let written = try #require(two.target.writes.last?.content)
            #expect(written.kinds == [.text, .files])
            #expect(
                try written.file(of: .files)?.bytes() == Array("file://\(here.path("a%20b.txt"))\r\n".utf8))
            try await two.target.preferences.setSharedFolders([:])
            _ = try await two.target.proxy.paste(deviceId: two.deskID)
            #expect(two.target.writes.last?.content.kinds == [.text])
            two.origin.contents = [(.files, Array(list.utf8))]
            #expect(
                await isRefused(.offerWithdrawn) {
                    _ = try await two.target.proxy.paste(deviceId: two.deskID)
                })
        }
    }

    @Test("for a program in a sandbox there is no clipboard, and only who has registered last tells of it")
    func others() async throws {
        try await onLoop {
            let device = try await oneDevice()
            let desktop = try await PlayedDesktop(device)
            #expect(try await desktop.proxy.desktop() == "Played")
            let sandboxed = try await PlayedDesktop(
                device, registered: false, in: .flatpak(application: "com.example.app"))
            #expect(
                await isRefused([.unknownObject, .unknownInterface, .unknownMethod, .accessDenied]) {
                    try await sandboxed.proxy.register(clipboard: "/clipboard", desktop: "Mine")
                })
            let second = try await PlayedDesktop(device)
            #expect(await isRefused(.accessDenied) { try await desktop.proxy.changed(types: []) })
            try await second.proxy.changed(types: [])
            second.bus.leave()
            try await eventuallyEmpty(desktop)
        }
    }

    @MainLoop
    private func eventuallyEmpty(_ desktop: PlayedDesktop) async throws {
        for _ in 0..<1000 {
            if try await desktop.proxy.desktop().isEmpty { return }
            try await MainLoop.sleep(for: .milliseconds(1))
        }
        Issue.record("the one that has left is still named")
    }
}
