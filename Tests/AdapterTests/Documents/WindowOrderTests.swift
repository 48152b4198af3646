// SPDX-License-Identifier: LGPL-2.1-or-later
import AdapterSupport
import DBus
import HandoffClient
import HandoffCore
import Testing

@testable import DocumentsAdapter

@Suite("The window in front")
struct WindowOrderTests {
    private func window(_ application: String, _ number: Int, path: String? = nil) throws -> ViewerWindow {
        let name = try BusName(":1.\(number)")
        let caller = Caller(
            name: name, credentials: Credentials(["ProcessID": .uint32(UInt32(number))]), sandbox: nil)
        return ViewerWindow(
            try ApplicationID(application), caller, name: name, path: try path.map { try ObjectPath($0) })
    }

    private func front(_ properties: [String: Value]) throws -> Front {
        .window(try #require(try FocusedWindow.described(by: properties)))
    }

    @Test("is the one that has changed last as long as nobody tells, and none if there is none")
    func unknown() throws {
        var order = WindowOrder()
        #expect(order.inFront(.unknown) == nil)
        let (first, second) = (try window("a", 1), try window("b", 2))
        order.changed(first)
        order.changed(second)
        #expect(order.inFront(.unknown) == second && order.inFront(.none) == nil)
        order.changed(first)
        #expect(order.inFront(.unknown) == first)
        order.gone(first)
        #expect(order.inFront(.unknown) == second)
        order.forget(try ApplicationID("b"))
        #expect(order.inFront(.unknown) == nil)
    }

    @Test("is told by its process, its connection, or its object, and never is another application's")
    func told() throws {
        var order = WindowOrder()
        let viewers = [try window("a", 1), try window("a", 2), try window("b", 3)]
        let folders = [try window("f", 4, path: "/w/1"), try window("f", 4, path: "/w/2")]
        for window in viewers + folders { order.changed(window) }
        #expect(order.inFront(try front(["ProcessId": .int32(2)])) == viewers[1])
        #expect(order.inFront(try front(["BusName": .string(":1.1")])) == viewers[0])
        let object = ["BusName": .string(":1.4"), "WindowPath": .objectPath("/w/1")] as [String: Value]
        #expect(order.inFront(try front(object)) == folders[0])
        #expect(
            order.inFront(try front(["ApplicationId": .string("b"), "ProcessId": .int32(2)])) == viewers[2])
        #expect(order.inFront(try front(["ApplicationId": .string("a"), "ProcessId": .int32(9)])) == nil)
        #expect(order.inFront(try front(["ApplicationId": .string("other"), "ProcessId": .int32(1)])) == nil)
    }

    @Test("is one of so many of an application at most, and whatever happens is one that there is")
    func bounded() throws {
        var (order, generator) = (WindowOrder(), SystemRandomNumberGenerator())
        for _ in 0..<5000 {
            let one = try window(["a", "b"].randomElement(using: &generator) ?? "a", Int.random(in: 1...200))
            if Bool.random(using: &generator) { order.changed(one) } else { order.gone(one) }
            #expect(Set(order.windows).count == order.windows.count)
            #expect(
                order.windows.filter { $0.application == one.application }.count
                    <= WindowOrder.maximumOfApplication)
            #expect(order.inFront(.unknown) == order.windows.last)
        }
    }
}
