// SPDX-License-Identifier: LGPL-2.1-or-later

/// The names that the clipboard of X11 goes by, as numbers of one display.
struct X11Atoms: Sendable {
    /// The selection that is the clipboard.
    let clipboard: UInt32
    /// Asks for the types that the content can be had as.
    let targets: UInt32
    /// Asks since when the owner has owned the clipboard.
    let timestamp: UInt32
    /// Asks for several types at once.
    let multiple: UInt32
    /// Asks a clipboard manager to keep the content.
    let saveTargets: UInt32
    /// The type of a property whose content comes piece by piece.
    let incremental: UInt32
    /// The property of our window that is changed to learn what time it is.
    let stamp: UInt32
    /// The properties of our window that owners write into. One after another is used: what is still written for a reading that
    /// was given up does not get into the next one.
    let properties: [UInt32]

    /// The numbers of all names, each of which `atom` gives; nil if one of them is 0.
    init?(_ atom: (String) -> UInt32) {
        clipboard = atom("CLIPBOARD")
        targets = atom("TARGETS")
        timestamp = atom("TIMESTAMP")
        multiple = atom("MULTIPLE")
        saveTargets = atom("SAVE_TARGETS")
        incremental = atom("INCR")
        stamp = atom("HANDOFF_TIME")
        properties = (0..<16).map { atom("HANDOFF_CLIPBOARD_\($0)") }
        let all = [clipboard, targets, timestamp, multiple, saveTargets, incremental, stamp] + properties
        guard !all.contains(0) else { return nil }
    }

    /// Which of the targets of an owner are types of its content, each once; none if they are more than
    /// ``ClipboardTypes/maximum``.
    func types(among targets: [UInt32]) -> [UInt32] {
        var seen: Set<UInt32> = [0, self.targets, timestamp, multiple, saveTargets]
        let types = targets.filter { seen.insert($0).inserted }
        return types.count <= ClipboardTypes.maximum ? types : []
    }
}
