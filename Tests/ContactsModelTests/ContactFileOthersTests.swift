// SPDX-License-Identifier: LGPL-2.1-or-later
import ContactsModel
import Foundation
import Glibc
import MainLoop
import TestSupport
import Testing

/// What others do to the file, or have written into it.
struct ContactFileOthersTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.path("contacts.json")
    }

    /// Opens the file of the lock and takes the lock, as another process does; closing the descriptor gives it back.
    private func locked() -> CInt {
        let descriptor = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(descriptor, LOCK_EX) == 0)
        return descriptor
    }

    @Test("who waits for a lock that another program keeps is told so after a while, and nothing was changed")
    func lockedForEver() throws {
        let file = ContactFile(path: path, patience: .seconds(1))
        let ada = contact("Ada")
        _ = try file.change { $0.save(ada) }
        let other = locked()
        let clock = ContinuousClock()
        var failure: ContactFile.Failure?
        let taken = clock.measure {
            failure = #expect(throws: ContactFile.Failure.self) {
                try file.change { $0.save(contact("Zoë")) }
            }
        }
        #expect(
            failure?.description
                == "Another program has kept \(path).lock locked for 1 second. End it, and try again.")
        #expect((.seconds(1)..<(.seconds(15))).contains(taken))
        #expect(throws: ContactFile.Failure.self) { try file.read() }
        close(other)
        // Who gave up does not get the lock later, and keeps nobody out.
        #expect(try ContactFile(path: path).read().list.contacts == [ada])
    }

    @Test("who waits for a lock gets it as soon as the other program gives it back")
    func lockedForAWhile() async throws {
        let file = ContactFile(path: path, patience: .seconds(60))
        let other = locked()
        let saving = Task.detached { try file.change { $0.save(contact("Ada")) } }
        try await onLoop { try await MainLoop.sleep(for: .milliseconds(200)) }
        close(other)
        #expect(try await saving.value.list.count == 1)
        #expect(try file.read().list.count == 1)
    }

    @Test(
        "what a file says was changed after the file itself is as old as the file, each time that it is read")
    func notYet() throws {
        let id = Contact.newID()
        let entry = "{\"id\":\"\(id)\",\"modified\":\(Int64.max),\"values\":{\"name\":\"Ada\"}}"
        try folder.write("{\"version\":1,\"contacts\":[\(entry)]}", to: "contacts.json")
        let file = ContactFile(path: path)
        let found = try #require(try file.read().list[id])
        #expect(found.modified <= Moment.now)
        #expect(try file.read().list[id] == found)
        let later = contact("Ada King", modified: found.modified + 3_000_000, id: id)
        let changed = try file.change { _ = $0.merge([later]) }
        #expect(changed.list[id] == later)
    }

    @Test(
        "the time of a file that is in the future, or none, does no harm", arguments: [Int.max, Int.min, 0])
    func strangeTimes(seconds: Int) throws {
        let file = ContactFile(path: path)
        _ = try file.change { $0.save(contact("Ada", modified: 5)) }
        // A file system cuts off what it can't keep.
        let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
        let found = try file.read().list.contacts.map(\.modified)
        #expect(found.allSatisfy { $0 <= 5 })
    }
}
