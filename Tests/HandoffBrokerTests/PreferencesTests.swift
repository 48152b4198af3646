// SPDX-License-Identifier: LGPL-2.1-or-later
import CGio
import Foundation
import HandoffCore
import MainLoop
import Platform
import Synchronization
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("What the configuration file says")
struct PreferencesTests {
    /// What a broker takes from a file with this text.
    @MainLoop
    private func read(_ text: String) throws -> Preferences {
        let folder = try TemporaryDirectory()
        return try Preferences(try folder.write(text, to: "handoff.conf"))
    }

    @Test("without a file, and in an empty one, everything has its default")
    func defaults() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            for preferences in [try Preferences(folder.path("none")), try read("")] {
                #expect(
                    preferences.offerNotices == .arrival && preferences.notifiesContinued && preferences.parks
                        && preferences.sharesAddresses && preferences.introduces)
                #expect(preferences.excludedApplications.ids.isEmpty && preferences.disabledAdapters.isEmpty)
                #expect(preferences.documentsFolder == nil)
            }
        }
    }

    @Test("what people write by hand is understood, with spaces between the elements of lists")
    func byHand() async throws {
        try await onLoop {
            let preferences = try read(
                """
                [Handoff]
                ExcludedApplications=com.b; com.a ;;com.b
                [Notifications]
                Offers=never
                Continued=false
                [Adapters]
                Disabled= mpv ; kate-1
                [Documents]
                Folder=~/Incoming/
                """)
            #expect(preferences.excludedApplications.texts == ["com.a", "com.b"])
            #expect(preferences.offerNotices == .never && !preferences.notifiesContinued)
            #expect(preferences.disabledAdapters.map(\.description).sorted() == ["kate-1", "mpv"])
            #expect(preferences.documentsFolder?.path == "\(UserDirectories.home)/Incoming")
            #expect(preferences.documentsFolder?.text == "~/Incoming/")
        }
    }

    @Test("what cannot be understood counts as not chosen, and what else is in a list counts")
    func nonsense() async throws {
        try await onLoop {
            let names = (0..<100).map { "a\($0)" }.joined(separator: ";")
            let preferences = try read(
                """
                [Handoff]
                ExcludedApplications=a/b;com.a;\u{202e};.x;\(String(repeating: "x", count: 300))
                [Notifications]
                Offers=Sometimes
                Continued=perhaps
                [Adapters]
                Disabled=../x;\(names);ä
                [Documents]
                Folder=../In
                """)
            #expect(preferences.excludedApplications.texts == ["com.a"])
            #expect(preferences.offerNotices == .arrival && preferences.notifiesContinued)
            #expect(preferences.disabledAdapters.count == 64 && preferences.documentsFolder == nil)
            for folder in ["/", "a\\x", "/a/../b", "~", "\\n", ""] {
                #expect(try read("[Documents]\nFolder=\(folder)\n").documentsFolder == nil)
            }
            #expect(try read("[Adapters]\nDisabled=a\\x\n").disabledAdapters.isEmpty)
            #expect(try !read("[Handoff]\nPark=maybe\n").parks)
            #expect(try !read("[Network]\nShareAddresses=maybe\n").sharesAddresses)
            #expect(try !read("[Handoff]\nIntroduces=maybe\n").introduces)
        }
    }

    @Test("if it cannot be told which applications are to be kept out, the broker does not guess")
    func undecidable() async throws {
        try await onLoop {
            let many = (0..<257).map { "com.a\($0)" }.joined(separator: ";")
            for value in ["com.a;\\x", many] {
                #expect {
                    try read("[Handoff]\nExcludedApplications=\(value)\n")
                } throws: {
                    let text = "\($0)"
                    return text.contains("handoff.conf") && text.contains("ExcludedApplications")
                }
            }
            let enough = many.replacing(";com.a256", with: ";com.a1")
            let preferences = try read("[Handoff]\nExcludedApplications=\(enough)\n")
            #expect(preferences.excludedApplications.ids.count == 256)
        }
    }

    @Test("a choice is found again as it was made, and one that goes back to its default leaves no key")
    func stored() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            let path = try folder.write("# mine\n[Handoff]\nOther=1\n", to: "handoff.conf")
            let preferences = try Preferences(path)
            try preferences.setOfferNotices(.always)
            try preferences.setNotifiesContinued(false)
            try preferences.setExcludedApplications(try ExcludedApplications(["com.b", "com.a"]))
            try preferences.setDisabledAdapters(try AdapterName.set(["mpv"]))
            try preferences.setDocumentsFolder(try DocumentsFolder("~/a;b \\ ü", home: UserDirectories.home))
            let again = try Preferences(path)
            #expect(again.offerNotices == .always && !again.notifiesContinued)
            #expect(again.excludedApplications == preferences.excludedApplications)
            #expect(again.disabledAdapters == preferences.disabledAdapters)
            #expect(again.documentsFolder == preferences.documentsFolder && again.documentsFolder != nil)
            try preferences.setExcludedApplications(ExcludedApplications())
            try preferences.setDisabledAdapters([])
            try preferences.setDocumentsFolder(nil)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.contains("# mine") && text.contains("Other=1") && text.contains("Offers=always"))
            #expect(!["Excluded", "Disabled", "Folder"].contains { text.contains($0) })
        }
    }

    private final class Swapping: Sendable {
        let isOver = Atomic<Bool>(false)
        let hasEnded = Atomic<Bool>(false)
    }

    @Test("a link that is led elsewhere while a choice is written has nothing replaced but what was read")
    func swappedLink() async throws {
        try await onLoop {
            let folder = try TemporaryDirectory()
            let path = folder.path("handoff.conf")
            // Only files of this test's own folder are led to: a pipe stands for what must not be replaced.
            try folder.write("", to: "real.conf")
            let pipe = folder.path("pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            symlink("real.conf", path)
            let preferences = try Preferences(path)
            let swapping = Swapping()
            let next = folder.path("next")
            Thread {
                while !swapping.isOver.load(ordering: .relaxed) {
                    for target in ["pipe", "real.conf"] {
                        symlink(target, next)
                        rename(next, path)
                    }
                }
                swapping.hasEnded.store(true, ordering: .relaxed)
            }.start()
            var written = 0
            for port in 1...300 where (try? preferences.setPort(UInt16(port))) != nil { written += 1 }
            swapping.isOver.store(true, ordering: .relaxed)
            try await eventually { swapping.hasEnded.load(ordering: .relaxed) }
            var status = stat()
            #expect(lstat(pipe, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
            #expect(written > 0)
        }
    }
}
