// SPDX-License-Identifier: LGPL-2.1-or-later
import CGio
import DBus
import MainLoop
import Platform
import TestSupport
import Testing

@Suite("Introspection", .timeLimit(.minutes(1)))
struct IntrospectionTests {
    @MainLoop private func xml(_ pair: Pair, _ path: ObjectPath) async throws -> String {
        var reader = MessageReader(try await pair.call("Introspect", .introspectable, on: path, output: "s"))
        return try reader.read()
    }

    @Test("objects and their parents are described, by well-formed XML")
    func nodes() async throws {
        try await onLoop {
            let pair = try await Pair()
            let children: [ObjectPath: [String]] = [
                "/": ["org"], "/org": ["example"], "/org/example": ["deep", "log"], "/org/example/log": [],
                "/org/example/deep": ["settings"], "/org/example/deep/settings": [],
            ]
            for (path, names) in children {
                let text = try await xml(pair, path)
                for name in names { #expect(text.contains("<node name=\"\(name)\"/>")) }
                let node = try throwingGError { g_dbus_node_info_new_for_xml(text, $0) }
                g_dbus_node_info_unref(node)
                #expect(text.components(of: "<node name=") == names.count)
            }
            #expect(try await xml(pair, "/org/example/log").contains("org.example.CallLog"))
            #expect(try await xml(pair, "/org/example").contains("org.freedesktop.DBus.Introspectable"))
            #expect(try await !xml(pair, "/org/example").contains("org.freedesktop.DBus.Properties"))
            let error = await pair.error { _ = try await xml(pair, "/org/other") }
            #expect(error == .unknownObject)
        }
    }

    @Test("an object manager says that it is one")
    func manager() async throws {
        try await onLoop {
            let pair = try await Pair()
            pair.server.connection.objects.manage("/org/example/log")
            #expect(try await xml(pair, "/org/example/log").contains("GetManagedObjects"))
            #expect(try await !xml(pair, "/org/example/deep/settings").contains("GetManagedObjects"))
        }
    }

    @Test("unlisted objects are described only to those who know of them")
    func unlisted() async throws {
        try await onLoop {
            let pair = try await Pair()
            pair.server.connection.objects.export("/org/example/unlisted", [pair.log], isListed: false)
            #expect(try await !xml(pair, "/org/example").contains("unlisted"))
            #expect(try await xml(pair, "/org/example/unlisted").contains("org.example.CallLog"))
        }
    }

    @Test("a hidden object, and a parent of nothing else, do not exist")
    func hidden() async throws {
        try await onLoop {
            let pair = try await Pair(policy: ByClass())
            pair.server.connection.objects.export("/org/example/secret/a", [pair.log], access: "hidden")
            #expect(try await !xml(pair, "/org/example").contains("secret"))
            for path in ["/org/example/secret", "/org/example/secret/a"] as [ObjectPath] {
                let error = await pair.error { _ = try await xml(pair, path) }
                #expect(error == .unknownObject)
            }
        }
    }

    @Test("what is unexported is gone, with its parents")
    func unexported() async throws {
        try await onLoop {
            let pair = try await Pair()
            let objects = pair.server.connection.objects
            objects.unexport("/org/example/deep/settings")
            objects.unexport("/org/example/deep/settings")
            #expect(
                await pair.error { _ = try await xml(pair, "/org/example/deep/settings") } == .unknownObject)
            #expect(try await !xml(pair, "/org/example/log").isEmpty)
            #expect(try await !xml(pair, "/org/example").contains("deep"))
            #expect(await pair.error { _ = try await xml(pair, "/org/example/deep") } == .unknownObject)
        }
    }

    @Test("gdbus walks the whole tree")
    func gdbus() async throws {
        try await onLoop {
            let pair = try await Pair()
            let child = try ChildProcess(
                [
                    "gdbus", "introspect", "--address", pair.bus.address, "--dest",
                    pair.server.uniqueName.text,
                    "--object-path", "/", "--recurse",
                ])
            #expect(try await child.finished() == .exited(0), "\(child.errors)")
            for text in [
                "node /org/example/log", "interface org.example.CallLog", "node /org/example/deep/settings",
                "readwrite s Title = 'first'", "readonly as Tags = ['a', 'b']",
            ] {
                #expect(child.output.contains(text), "\(text) in \(child.output)")
            }
        }
    }

    @Test("gdbus calls a method and reads a property")
    func gdbusCall() async throws {
        try await onLoop {
            let pair = try await Pair()
            let name = pair.server.uniqueName.text
            let call = try ChildProcess(
                [
                    "gdbus", "call", "--address", pair.bus.address, "--dest", name, "--object-path",
                    "/org/example/log", "--method", "org.example.CallLog.Echo", "héllo",
                ], environment: ["LC_ALL": "C.UTF-8"])
            #expect(try await call.finished() == .exited(0), "\(call.errors)")
            #expect(call.output == "('héllo',)\n")
        }
    }

    @Test("busctl shows the tree and an object")
    func busctl() async throws {
        try await onLoop {
            let pair = try await Pair()
            let (address, name) = ("--address=\(pair.bus.address)", pair.server.uniqueName.text)
            let tree = try ChildProcess(["busctl", address, "--list", "tree", name])
            #expect(try await tree.finished() == .exited(0), "\(tree.errors)")
            #expect(
                tree.output.split(separator: "\n").map(String.init) == [
                    "/", "/org", "/org/example", "/org/example/deep", "/org/example/deep/settings",
                    "/org/example/log",
                ])
            let object = try ChildProcess(
                ["busctl", address, "introspect", name, "/org/example/deep/settings", "org.example.Settings"])
            #expect(try await object.finished() == .exited(0), "\(object.errors)")
            #expect(object.output.contains(".Title") && object.output.contains("\"first\""))
        }
    }
}

extension String {
    /// How often `text` occurs.
    fileprivate func components(of text: String) -> Int {
        var (count, rest) = (0, self[...])
        while let range = rest.firstRange(of: text) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
