// SPDX-License-Identifier: LGPL-2.1-or-later
import CGio
import Foundation
import HandoffCore
import Synchronization
import TestSupport
import Testing

@testable import HandoffBroker

@Suite("Documents on their way")
struct PartialFileTests {
    /// Where the only file in `folder` is.
    private func path(in folder: TemporaryDirectory) throws -> String {
        let path = folder.path("Handoff")
        return "\(path)/\(try #require(try FileManager.default.contentsOfDirectory(atPath: path).first))"
    }

    /// How many bytes of the disk that file takes.
    private func space(in folder: TemporaryDirectory) throws -> Int {
        var status = stat()
        try #require(lstat(try path(in: folder), &status) == 0)
        return Int(status.st_blocks) * 512
    }

    @Test("space is set aside a little ahead of what comes, however much was announced")
    func space() throws {
        let folder = try TemporaryDirectory()
        let received = try ReceivedFolder(at: folder.path("Handoff"))
        let step = 64 << 20
        let file = try PartialFile(in: received, size: 200 << 20)
        let first = try space(in: folder)
        // Not every file system can set space aside.
        #expect(first == 0 || step...(step + 4096) ~= first)
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        for _ in 0..<65 { try bytes.withUnsafeBytes { try file.write($0) } }
        let second = try space(in: folder)
        #expect(65 << 20...(2 * step + 2 << 20) ~= second)
    }

    @Test("what has been set aside is not set aside again, which takes the longer the more it is")
    func spaceOnce() throws {
        let folder = try TemporaryDirectory()
        let received = try ReceivedFolder(at: folder.path("Handoff"))
        let file = try PartialFile(in: received, size: 200 << 20)
        // Not every file system can set space aside.
        guard try space(in: folder) > 0 else { return }
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        for _ in 0..<63 { try bytes.withUnsafeBytes { try file.write($0) } }
        // All of it is given back, so that what is taken from now on can be seen.
        try #require(truncate(try path(in: folder), 0) == 0)
        try #require(try space(in: folder) == 0)
        try bytes.withUnsafeBytes { try file.write($0) }
        #expect(64 << 20...67 << 20 ~= (try space(in: folder)))
    }

    @Test(
        "brokers that start meanwhile, and look for what was left behind, take nothing that somebody writes to"
    )
    func notAbandoned() throws {
        let folder = try TemporaryDirectory()
        let received = try ReceivedFolder(at: folder.path("Handoff"))
        let isOver = Atomic<Bool>(false)
        let group = DispatchGroup()
        for _ in 0..<2 {
            group.enter()
            let other = try ReceivedFolder(at: folder.path("Handoff"))
            Thread.detachNewThread {
                while !isOver.load(ordering: .relaxed) { _ = PartialFile.removeAbandoned(from: other) }
                group.leave()
            }
        }
        defer {
            isOver.store(true, ordering: .relaxed)
            group.wait()
        }
        let bytes = [UInt8](repeating: 1, count: 100)
        for number in 0..<300 {
            let file = try PartialFile(in: received, size: 100)
            try bytes.withUnsafeBytes { try file.write($0) }
            // That takes longer than all else.
            guard number.isMultiple(of: 10) else { continue }
            let placed = try file.place(DocumentName("\(number)"), replacing: nil)
            #expect(placed.name == "\(number)")
        }
    }
}
