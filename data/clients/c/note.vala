// SPDX-License-Identifier: LGPL-2.1-or-later

// A note in a terminal: each line that is typed is the note from then on, and can be continued where its user goes.

const string TYPE = "org.example.Note.edit";

class Note {
	Handoff.Application application = new Handoff.Application ("org.example.Note", { TYPE });
	Handoff.UserActivity editing;
	string text = "";

	public Note () {
		editing = new Handoff.UserActivity (application, TYPE);
		editing.on_will_save ((activity, user_info) => user_info.insert_value ("text", new Variant.string (text)));
		editing.on_was_continued ((activity, device) => {
			activity.resign_current ();
			print ("Continued on %s.\n", device.name);
		});
		application.on_continue ((activity, device) => {
			var state = activity.get_user_info ().lookup_value ("text", VariantType.STRING);
			if (state == null)
				throw new IOError.NOT_SUPPORTED ("This note is of a newer version of the application. Update it here.");
			print ("%s\n  from %s\n", state.get_string (), device.name);
			// From now on it is the note of this device, and can be continued from here.
			edit (state.get_string ());
			return true;
		});
		application.start ();
	}

	public void edit (string new_text) {
		text = new_text;
		editing.set_title (text);
		editing.become_current ();
		editing.set_needs_save (true);
	}
}

int main () {
	var note = new Note ();
	var input = new IOChannel.unix_new (0);
	input.add_watch (IOCondition.IN | IOCondition.HUP, () => {
		var line = stdin.read_line ();
		if (line == null)
			return Source.REMOVE;
		note.edit (line);
		return Source.CONTINUE;
	});
	new MainLoop ().run ();
	return 0;
}
