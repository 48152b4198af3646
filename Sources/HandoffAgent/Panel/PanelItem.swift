// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffInterfaces
package import MainLoop

/// What the panel's item needs of the panel.
@MainLoop
package protocol PanelItemOwner: AnyObject {
    /// What is shown.
    var content: PanelContent { get }

    /// The user has chosen the item itself.
    func activate(_ call: MethodCall)

    /// `caller` has given this token for what the user chooses next.
    func keep(_ token: String, of caller: Caller)
}

/// Answers whoever shows the panel's item.
@MainLoop
package final class PanelItem: StatusNotifierItemServer {
    private weak var owner: (any PanelItemOwner)?

    /// The item of `owner`.
    package init(_ owner: any PanelItemOwner) { self.owner = owner }

    private var content: PanelContent { owner?.content ?? PanelContent() }

    package func activate(x: Int32, y: Int32, _ call: MethodCall) throws { owner?.activate(call) }

    package func secondaryActivate(x: Int32, y: Int32, _ call: MethodCall) throws {
        owner?.activate(call)
    }

    package func contextMenu(x: Int32, y: Int32, _ call: MethodCall) throws {}

    package func scroll(delta: Int32, orientation: String, _ call: MethodCall) throws {}

    package func provideXdgActivationToken(token: String, _ call: MethodCall) throws {
        owner?.keep(token, of: call.caller)
    }

    package var category: String { "ApplicationStatus" }
    package var id: String { HandoffNames.agentApplication.text }
    package var title: String { content.title }
    package var status: String { content.status }
    package var windowId: Int32 { 0 }
    package var iconName: String { content.icon }
    package var iconPixmap: [Structure<Int32, Int32, [UInt8]>] { [] }
    package var overlayIconName: String { "" }
    package var overlayIconPixmap: [Structure<Int32, Int32, [UInt8]>] { [] }
    package var attentionIconName: String { "" }
    package var attentionIconPixmap: [Structure<Int32, Int32, [UInt8]>] { [] }
    package var attentionMovieName: String { "" }
    package var toolTip: Structure<String, [Structure<Int32, Int32, [UInt8]>], String, String> {
        Structure(content.icon, [], content.title, content.toolTip)
    }
    package var menu: ObjectPath { HandoffNames.agentMenu }
    package var itemIsMenu: Bool { true }
}

extension PanelContent {
    /// Whether the item is to be seen, in the words of `org.kde.StatusNotifierItem`. There is no way to take an item back
    /// while its program runs; panels hide one that is passive, or put it where it is out of the way.
    package var status: String { isActive ? "Active" : "Passive" }
}
