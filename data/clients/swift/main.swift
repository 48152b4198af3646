// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import HandoffKit

// A note in a terminal: each line that is typed is the note from then on, and can be continued where its user goes.

struct Note: Codable {
    var text = ""
}

let type = "org.example.Note.edit"
var note = Note()
let editing = UserActivity(activityType: type)

@MainActor
func edit(_ new: Note) {
    note = new
    editing.title = new.text
    editing.becomeCurrent()
    editing.needsSave = true
}

/// Unlike `print`, this keeps nothing back where standard output is a file.
func tell(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

let application = HandoffApplication(id: "org.example.Note", activityTypes: [type])
application.onContinue { activity, device in
    let new = try activity.typedPayload(Note.self)
    tell("\(new.text)\n  from \(device.name)")
    // From now on it is the note of this device, and can be continued from here.
    edit(new)
    return true
}
application.start()
editing.onWillSave { try $0.setTypedPayload(note) }
editing.onWasContinued { activity, device in
    activity.resignCurrent()
    tell("Continued on \(device.name).")
}

// What is typed is waited for on another thread.
Task.detached {
    while let line = readLine() { await MainActor.run { edit(Note(text: line)) } }
}
HandoffApplication.run()
