// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import Testing

@testable import DBus

@Suite("The sandbox of a caller")
struct SandboxTests {
    /// A folder that stands for that of a process in `/proc`, with these files in its root directory.
    private final class Process {
        let folder: String

        init(
            _ files: [String: String] = [:], controlGroups: String? = "0::/user.slice/session-2.scope\n",
            state: String? = "S", mounts: String? = nil
        ) {
            var template = Array("/tmp/handoff-sandbox-XXXXXX".utf8CString)
            folder = mkdtemp(&template).map { String(cString: $0) } ?? ""
            mkdir("\(folder)/root", 0o700)
            for (name, text) in files { Self.write(text, to: "\(folder)/root/\(name)") }
            if let controlGroups { Self.write(controlGroups, to: "\(folder)/cgroup") }
            if let state { Self.write("1 (Web) Z) \(state) 0 1 1\n", to: "\(folder)/stat") }
            Self.write(mounts ?? Self.ownMounts, to: "\(folder)/mountinfo")
        }

        /// The mounts of this process.
        static var ownMounts: String {
            guard let process = ProcessDirectory("/proc/\(getpid())") else { return "" }
            return process.text("mountinfo") ?? ""
        }

        deinit {
            for name in ["root/.flatpak-info", "root/else", "cgroup", "stat", "mountinfo", "root"] {
                remove("\(folder)/\(name)")
            }
            rmdir(folder)
        }

        private static func write(_ text: String, to path: String) {
            guard let file = fopen(path, "w") else { return }
            fputs(text, file)
            fclose(file)
        }

        var sandbox: Sandbox? { Sandbox.of(processDirectory: folder) }
        /// The sandbox that is found if the root directory of the process is in another mount than our own.
        var sandboxElsewhere: Sandbox? { Sandbox.of(processDirectory: folder, ownMount: nil) }
    }

    @Test("a process without .flatpak-info and outside a snap's control group is in none")
    func unsandboxed() {
        #expect(Process().sandbox == nil)
        #expect(Process(controlGroups: "").sandbox == nil)
        #expect(
            Process(controlGroups: "1:name=systemd:/user.slice/snapshot.service/app-snap.notes.scope\n")
                .sandbox == nil)
    }

    @Test("this process is in no sandbox, and one of another user or without a process id is not looked into")
    func credentials() {
        let own: [String: Value] = ["UnixUserID": .uint32(getuid()), "ProcessID": .uint32(UInt32(getpid()))]
        #expect(Sandbox.of(Credentials(own)) == nil)
        #expect(Sandbox.of(Credentials(own.merging(["UnixUserID": .uint32(4_000_000)]) { $1 })) == .unknown)
        #expect(Sandbox.of(Credentials(own.filter { $0.key == "UnixUserID" })) == .unknown)
        #expect(Sandbox.of(Credentials([:])) == .unknown)
        // There is no such process.
        #expect(Sandbox.of(Credentials(own.merging(["ProcessID": .uint32(0x7FFF_FFF0)]) { $1 })) == .unknown)
    }

    @Test("a Flatpak application has the id in its .flatpak-info")
    func flatpak() {
        let text = """
            [Application]
            name=org.example.Notes
            runtime=runtime/org.gnome.Platform/x86_64/45

            [Instance]
            instance-id=1234567
            app-path=/app
            """
        #expect(Process([".flatpak-info": text]).sandbox == .flatpak(application: "org.example.Notes"))
    }

    @Test(
        "a .flatpak-info that does not say which application it is makes a sandbox without an identity",
        arguments: ["", "nonsense", "[Runtime]\nname=org.example.Notes\n", "[Application]\n", "\u{0}\u{0}"])
    func unreadable(_ text: String) {
        #expect(Process([".flatpak-info": text]).sandbox == .flatpak(application: ""))
    }

    @Test("a .flatpak-info that is no file, or far too long, is not read")
    func hostile() {
        let pipe = Process()
        mkfifo("\(pipe.folder)/root/.flatpak-info", 0o600)
        #expect(pipe.sandbox == .flatpak(application: ""))
        let link = Process(["else": "[Application]\nname=org.example.Notes\n"])
        symlink("else", "\(link.folder)/root/.flatpak-info")
        #expect(link.sandbox == .unknown)
        let long = "[Application]\nname=org.example.Notes\n" + String(repeating: "#\n", count: 1 << 19)
        #expect(Process([".flatpak-info": long]).sandbox == .flatpak(application: ""))
    }

    @Test(
        "an application of a snap is told by its control group",
        arguments: [
            (
                "0::/user.slice/user-1000.slice/user@1000.service/app.slice/snap.notes.notes-42.scope\n",
                "notes"
            ),
            (
                "12:pids:/user.slice\n1:name=systemd:/user.slice/snap.notes_beta.edit.1f-2a.scope\n",
                "notes_beta"
            ),
            ("0::/system.slice/snap.notes.daemon.service\n", "notes"),
            ("0::/user.slice/snap.notes.hook.configure-1.scope\n", "notes"),
        ])
    func snap(_ controlGroups: String, _ name: String) {
        #expect(Process(controlGroups: controlGroups).sandbox == .snap(name: name))
    }

    @Test("what cannot be looked into is a sandbox without an identity")
    func unknown() {
        #expect(Process(controlGroups: nil).sandbox == .unknown)
        #expect(Sandbox.of(processDirectory: "/proc/self/cmdline") == .unknown)
        #expect(Sandbox.of(processDirectory: "/proc/self/fdinfo") == .unknown)
        let rootless = Process()
        rmdir("\(rootless.folder)/root")
        #expect(rootless.sandbox == .unknown)
    }

    @Test("a process that has ended is in a sandbox without an identity, whatever there is to see of it")
    func ended() {
        #expect(Process(state: "R").sandbox == nil)
        for state in ["Z", "X", "x", ""] { #expect(Process(state: state).sandbox == .unknown) }
        #expect(Process(state: nil).sandbox == .unknown)
    }

    @Test("a process that has ended and was not waited for is in a sandbox without an identity")
    func zombie() throws {
        var process: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
        defer { free(arguments[0]) }
        try #require(posix_spawn(&process, "/bin/true", nil, nil, &arguments, nil) == 0)
        var information = siginfo_t()
        // Waits for the end, and leaves the zombie where it is.
        try #require(waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) == 0)
        defer { waitpid(process, nil, 0) }
        #expect(Sandbox.of(processDirectory: "/proc/\(process)") == .unknown)
    }

    @Test(
        "a root directory that a program serves is not looked into: it need not answer",
        arguments: ["fuse", "overlay"])
    func served(_ type: String) throws {
        let types = ["overlay", "ext4", "tmpfs", "btrfs", "xfs"]
        var mounts = Process.ownMounts
        for known in types { mounts = mounts.replacing(" - \(known) ", with: " - \(type) ") }
        // This is another device than that of our own root directory.
        let lines = mounts.split(separator: "\n").map { line in
            var fields = line.split(separator: " ")
            fields[2] = "0:99999"
            return fields.joined(separator: " ")
        }
        #expect(Process(mounts: lines.joined(separator: "\n")).sandboxElsewhere == .unknown)
        #expect(Process(mounts: "").sandboxElsewhere == .unknown)
        let text = "[Application]\nname=org.example.Notes\n"
        let served = Process([".flatpak-info": text], mounts: lines.joined(separator: "\n"))
        #expect(served.sandboxElsewhere == .unknown)
    }

    @Test(
        "a root directory in the mount of our own is looked into, also if that is not listed, as after chroot(2)"
    )
    func ownMount() {
        #expect(Process(mounts: "").sandbox == nil)
    }
}
