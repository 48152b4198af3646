// SPDX-License-Identifier: LGPL-2.1-or-later

//! A note in a terminal: each line that is typed is the note from then on, and can be continued where its user goes.

mod handoff;

use handoff::{HandoffApplication, UserActivity};
use std::cell::RefCell;
use std::io::{self, BufRead};
use std::rc::Rc;

const TYPE: &str = "org.example.Note.edit";

struct Note {
    text: RefCell<String>,
    editing: UserActivity,
}

impl Note {
    fn edit(&self, text: &str) {
        self.text.replace(text.to_owned());
        self.editing.set_title(text);
        self.editing.become_current();
        self.editing.set_needs_save(true);
    }
}

fn main() -> io::Result<()> {
    let application = HandoffApplication::new("org.example.Note", &[TYPE]);
    let editing = UserActivity::new(&application, TYPE, "");
    let note = Rc::new(Note { text: RefCell::default(), editing });

    let saved = Rc::downgrade(&note);
    note.editing.on_will_save(move |_activity, user_info| {
        let note = saved.upgrade().ok_or("There is no note any more.")?;
        user_info.set("text", &*note.text.borrow());
        Ok(())
    });
    note.editing.on_was_continued(|activity, device| {
        activity.resign_current();
        println!("Continued on {}.", device.name);
    });
    let shown = note.clone();
    application.on_continue(move |activity, device| {
        let state = activity.user_info();
        let text = state.text("text").ok_or("This note is of a newer version of the application. Update it here.")?;
        println!("{}\n  from {}", text, device.name);
        // From now on it is the note of this device, and can be continued from here.
        shown.edit(text);
        Ok(true)
    });
    application.start();

    loop {
        handoff::run_until_readable(&io::stdin());
        let typed = io::stdin().lock().fill_buf()?.to_vec();
        io::stdin().lock().consume(typed.len());
        if typed.is_empty() {
            // Nothing more will be typed; the note is still continued.
            handoff::run();
        }
        String::from_utf8_lossy(&typed).lines().for_each(|line| note.edit(line));
    }
}
