// SPDX-License-Identifier: LGPL-2.1-or-later

/// The few things that look other than libadwaita has them.
enum Looks {
    /// How they look, in the CSS of GTK.
    static let sheet = """
        .handoff-code { font-size: 3.4em; letter-spacing: 0.12em; }
        .handoff-bars { background: alpha(@warning_bg_color, 0.2); border-bottom: 1px solid @borders; }
        .handoff-bars row:hover { background: none; }
        """
}
