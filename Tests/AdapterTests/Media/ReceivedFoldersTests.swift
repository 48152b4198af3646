// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import Testing

@testable import MediaAdapter

@Suite("the folders of what has come from other devices")
struct ReceivedFoldersTests {
    @Test("hold what is below them, and nothing else")
    func holding() {
        var folders = ReceivedFolders()
        #expect(!folders.hold("/home/me/Handoff/film.ogg"))
        let isNew = [folders.insert("/home/me/Handoff"), folders.insert("/home/me/Handoff")]
        #expect(isNew == [true, false])
        for path in ["/home/me/Handoff/film.ogg", "/home/me/Handoff/old/film.ogg"] {
            #expect(folders.hold(path))
        }
        for path in ["/home/me/Handoff", "/home/me/Handoff/", "/home/me/Handoff 2/film.ogg", "/film.ogg", ""]
        {
            #expect(!folders.hold(path))
        }
    }

    @Test("are so many at most")
    func number() {
        var folders = ReceivedFolders()
        let isNew = (0...ReceivedFolders.maximum).map { folders.insert("/folder\($0)") }
        #expect(isNew == Array(repeating: true, count: ReceivedFolders.maximum) + [false])
        #expect(
            folders.hold("/folder0/film.ogg") && !folders.hold("/folder\(ReceivedFolders.maximum)/film.ogg"))
    }

    @Test("are where links lead, also before they are made")
    func real() {
        var template = Array("/tmp/handoff-received-XXXXXX".utf8CString)
        _ = mkdtemp(&template)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        mkdir("\(folder)/disk", 0o700)
        symlink("disk", "\(folder)/Downloads")
        #expect(MediaFile.realPlace("\(folder)/Downloads/Handoff") == "\(folder)/disk/Handoff")
        mkdir("\(folder)/disk/Handoff", 0o700)
        #expect(MediaFile.realPlace("\(folder)/Downloads/Handoff") == "\(folder)/disk/Handoff")
        #expect(MediaFile.realPlace("/nowhere/at/all") == "/nowhere/at/all")
        #expect(MediaFile.realPlace("relative") == "relative")
        for path in ["disk/Handoff", "disk"] { rmdir("\(folder)/\(path)") }
        unlink("\(folder)/Downloads")
        rmdir(folder)
    }
}
