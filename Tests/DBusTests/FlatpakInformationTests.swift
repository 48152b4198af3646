// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import Platform
import TestSupport
import Testing

@testable import DBus

@Suite("What Flatpak says about a sandbox")
struct FlatpakInformationTests {
    private func information(_ text: String) throws -> FlatpakInformation {
        let pair = try FileDescriptor.socketPair()
        let bytes = Array(text.utf8)
        #expect(write(pair.theirs.number, bytes, bytes.count) == bytes.count)
        shutdown(pair.theirs.number, Int32(SHUT_WR))
        return FlatpakInformation(pair.ours)
    }

    @Test("the application and the instance are read, and nothing else is needed")
    func reading() throws {
        let full = try information("[Application]\nname=com.example.A\n[Instance]\ninstance-id=123\n")
        #expect(full.application == "com.example.A" && full.instance == "123")
        #expect(try information("[Application]\nname=com.example.A\n").instance == "")
        for text in ["", "garbage", "[Application]\n", "\u{0}"] {
            let empty = try information(text)
            #expect(empty.application == "" && empty.instance == "")
        }
    }

    @Test(
        "the first process is read from what bubblewrap has written",
        arguments: [
            (#"{"child-pid": 12}"#, UInt32(12)), ("{\n    \"child-pid\"  :\n 34,\n \"net\": 5 }", 34),
            (#"{"other": 1, "child-pid":56}"#, 56), (#"{"child-pid": 0}"#, nil), (#"{"child-pid": -1}"#, nil),
            (#"{"child-pid": "7"}"#, nil), (#"{"child-pid": 99999999999}"#, nil), (#"{"child-pid"}"#, nil),
            ("", nil), ("\"child-pid\":", nil),
        ])
    func firstProcess(json: String, process: UInt32?) throws {
        #expect(FlatpakInformation.process(in: Array(json.utf8)) == process)
        let folder = try TemporaryDirectory()
        try SmallFile.write(Array(json.utf8), to: folder.path(".flatpak/123/bwrapinfo.json"))
        let instance = try information("[Application]\nname=a.b.C\n[Instance]\ninstance-id=123\n")
        #expect(instance.firstProcess(in: folder.path(".")) == process)
    }

    @Test(
        "an instance is a number, and no way to another folder",
        arguments: ["..", "../123", "1/2", "", "a", "1\t"])
    func instance(text: String) throws {
        let folder = try TemporaryDirectory()
        try SmallFile.write(Array(#"{"child-pid": 1}"#.utf8), to: folder.path(".flatpak/bwrapinfo.json"))
        let instance = try information("[Application]\nname=a.b.C\n[Instance]\ninstance-id=\(text)\n")
        #expect(instance.firstProcess(in: folder.path(".")) == nil)
    }
}
