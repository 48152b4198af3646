// SPDX-License-Identifier: LGPL-2.1-or-later
import Platform
import Testing

@testable import HandoffCommand

@Suite("What handoff carry is told")
struct CarryTests {
    private static func bytes(_ words: String...) -> [[UInt8]] { words.map { Array($0.utf8) } }

    /// What these words behind “handoff carry” mean.
    private static func task(_ words: [String]) throws -> CarryTask {
        var command: [[UInt8]]?
        if let separator = words.firstIndex(of: "--") {
            command = words[(separator + 1)...].map { Array($0.utf8) }
        }
        return try CarryTask(try CarryVerb.options.parse(["handoff"] + words), command: command)
    }

    @Test("a device and a command are a carrier, which is called as the command is unless it is named")
    func device() throws {
        let plain = try CarrierEntry(device: "lap", command: Self.bytes("/usr/bin/ssh", "-T", "--", "x"))
        #expect(plain.label == "ssh")
        #expect(try Self.task(["lap", "--", "/usr/bin/ssh", "-T", "--", "x"]) == .device(plain))
        let named = try CarrierEntry(device: "lap", command: Self.bytes("ssh", "--accept"), label: "Work")
        #expect(try Self.task(["--label", "Work", "lap", "--", "ssh", "--accept"]) == .device(named))
    }

    @Test("the other end is one connection, or all that come to a path")
    func otherEnd() throws {
        #expect(try Self.task(["--accept"]) == .accept)
        #expect(try Self.task(["--listen", "/tmp/x"]) == .listen("/tmp/x"))
        #expect(try Self.task(["--all"]) == .all)
    }

    @Test(
        "what is not enough, too much, or does not go together is refused",
        arguments: [
            [], ["lap"], ["lap", "ssh"], ["--"], ["lap", "--"], ["--", "ssh"], ["lap", "pad", "--", "ssh"],
            ["lap", "--", ""], ["--accept", "--all"], ["--accept", "lap"], ["--all", "--", "ssh"],
            ["--listen", ""], ["--listen", "/tmp/x", "--label", "x"], ["--label", "", "lap", "--", "ssh"],
            ["--label", "a\nb", "lap", "--", "ssh"], ["--label", " a", "lap", "--", "ssh"],
            ["--label", String(repeating: "x", count: 65), "lap", "--", "ssh"],
        ] as [[String]])
    func refused(_ words: [String]) {
        let failure = #expect(throws: CommandFailure.self) { try Self.task(words) }
        #expect(failure?.status == 2)
    }

    @Test("what a command is called can be shown, whatever that is")
    func labels() throws {
        func label(_ program: [UInt8]) throws -> String {
            try CarrierEntry(device: "lap", command: [program]).label
        }
        #expect(try label(Array("/opt/my tools/dial".utf8)) == "dial")
        #expect(try label(Array("/".utf8)) == "a command")
        #expect(try label(Array(repeating: UInt8(ascii: "x"), count: 100)).count == 64)
        #expect(try label([0x61, 0x0A, 0xFF]).unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test("a program is looked for where a shell would look for it")
    func programs() throws {
        let found = try CarrierEntry(device: "lap", command: Self.bytes("sh", "-c", "true")).located()
        #expect(found.dropFirst() == Self.bytes("-c", "true")[...])
        #expect(found.first?.first == UInt8(ascii: "/"))
        let missing = try CarrierEntry(device: "lap", command: Self.bytes("no-such-program"))
        #expect(#expect(throws: CommandFailure.self) { try missing.located() }?.status == 1)
    }

    @Test("each line of [Carriers] is a device and its command, in which nothing but quotes is replaced")
    func section() throws {
        let file = try KeyFile(
            text: """
                [Device]
                Name=desk
                [Carriers]
                My Laptop=ssh -o "ControlPath=~/.ssh/%r@%h" $HOST 'a  b' # c
                0a1b2c3d=/opt/bin/dial
                nothing=
                open=ssh "x
                slash=ssh \\x
                [Other]
                pad=ssh
                """)
        let (entries, flaws) = CarrierEntry.all(in: file)
        #expect(entries.map(\.device) == ["My Laptop", "0a1b2c3d"])
        #expect(entries.map(\.label) == ["ssh", "dial"])
        #expect(
            entries.first?.command
                == Self.bytes("ssh", "-o", "ControlPath=~/.ssh/%r@%h", "$HOST", "a  b"))
        #expect(flaws.count == 3)
        for (flaw, device) in zip(flaws, ["nothing", "open", "slash"]) {
            #expect(flaw.contains("“\(device)”"))
        }
    }

    @Test("a file without the group has no carriers")
    func noSection() throws {
        let file = try KeyFile(text: "[Device]\nName=desk\n")
        #expect(CarrierEntry.all(in: file).entries.isEmpty)
        #expect(!file.groups.contains(CarrierEntry.group))
    }
}
