// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffCore
import Testing

@Suite("The window that has the focus")
struct FocusedWindowTests {
    @Test("a window is what a shell says of it, and what it does not say is not known")
    func described() throws {
        let all = try FocusedWindow.described(by: [
            "ApplicationId": .string("com.example.editor"), "Title": .string("A letter"),
            "ProcessId": .int32(42), "BusName": .string(":1.7"), "WindowPath": .objectPath("/a/window/1"),
            "SomethingElse": .boolean(true),
        ])
        #expect(all?.application?.description == "com.example.editor")
        #expect(all?.title == "A letter")
        #expect(all?.processID == 42)
        #expect(all?.busName == ":1.7")
        #expect(all?.windowPath == "/a/window/1")
        #expect(try FocusedWindow.described(by: ["Title": .string("x")])?.application == nil)
        #expect(try FocusedWindow.described(by: ["ProcessId": .int32(-1)])?.processID == nil)
        #expect(try FocusedWindow.described(by: [:]) == nil)
    }

    @Test("of a title only so much is kept that it can be shown, and nothing that could steer anything")
    func title() throws {
        let title = try FocusedWindow.described(by: [
            "Title": .string("\u{202E}" + String(repeating: "a", count: 10_000))
        ])?.title
        #expect(title?.count == PeerText.maximumTitle)
        #expect(title?.unicodeScalars.contains { PeerText.isControl($0) } == false)
    }

    @Test(
        "a key of another type or form is refused by its name",
        arguments: [
            ("ApplicationId", Value.boolean(true)), ("ApplicationId", .string("../x")),
            ("Title", .int32(1)), ("ProcessId", .uint32(1)), ("ProcessId", .string("1")),
            ("BusName", .string("com.example.editor")), ("BusName", .string("nonsense")),
            ("WindowPath", .string("/a")),
        ])
    func refused(key: String, value: Value) {
        #expect {
            try FocusedWindow.described(by: [key: value])
        } throws: { error in
            guard let failure = error as? HandoffFailure else { return false }
            return failure.code == .invalidArguments
                && (failure.message.contains(key) || failure.message.contains("application id"))
        }
    }
}
