// SPDX-License-Identifier: LGPL-2.1-or-later

//! An application that does what it is told, a line each, and tells what happens to it; see README.md.

#[path = "../../../data/clients/rust/handoff.rs"]
mod handoff;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::thread;

use handoff::{HandoffApplication, UserActivity, UserInfo, Value};

/// One line, its words parted by tabs; written at once.
fn tell(words: &[&str]) {
    let line = words.join("\t") + "\n";
    if io::stdout().write_all(line.as_bytes()).is_err() {
        eprintln!("Nobody listens.");
    }
}

fn word(value: bool) -> &'static str {
    if value { "1" } else { "0" }
}

/// So many lists, each in the one before.
fn nested(levels: usize) -> Value {
    (1..levels).fold(Value::List(vec![]), |list, _| Value::List(vec![list]))
}

fn entry(key: &str, value: impl Into<Value>) -> UserInfo {
    let mut state = UserInfo::new();
    state.set(key, value);
    state
}

/// A question, or what comes and then an answer.
fn talk(number: String, mut stream: UnixStream, asks: bool) {
    thread::spawn(move || -> io::Result<()> {
        let mut text = String::new();
        if asks {
            stream.write_all(b"ping")?;
            stream.shutdown(Shutdown::Write)?;
        }
        stream.read_to_string(&mut text)?;
        if !asks {
            stream.write_all(b"pong")?;
        }
        drop(stream);
        tell(&[if asks { "opened" } else { "stream" }, &number, &text]);
        Ok(())
    });
}

struct Driver {
    application: HandoffApplication,
    activities: RefCell<BTreeMap<String, UserActivity>>,
    others: RefCell<Vec<HandoffApplication>>,
    answer: RefCell<Vec<String>>,
    shows: Cell<bool>,
    silent: Cell<bool>,
    stops: Cell<bool>,
}

impl Driver {
    fn keep(&self, number: &str, activity: &UserActivity) {
        let (refused, continued) = (number.to_owned(), number.to_owned());
        if !self.silent.get() {
            activity.on_failure(move |_, error| tell(&["refused", &refused, &error.name, &error.message]));
        }
        activity.on_was_continued(move |_, device| tell(&["wasContinued", &continued, &device.name]));
        self.activities.borrow_mut().insert(number.to_owned(), activity.clone());
    }

    fn start(self: &Rc<Driver>) {
        let (driver, application) = (Rc::downgrade(self), &self.application);
        if !self.silent.get() {
            let driver = driver.clone();
            application.on_failure(move |kind, error| {
                tell(&["failed", kind, &error.name, &error.message]);
                driver.upgrade().filter(|driver| driver.stops.get()).iter().for_each(|driver| driver.application.stop());
            });
        }
        application.on_continue(move |activity, device| {
            let driver = driver.upgrade().ok_or("It has ended.")?;
            let number = format!("c{}", driver.activities.borrow().len());
            driver.keep(&number, activity);
            tell(&["continue", &number, activity.activity_type(), &activity.title(), &device.name]);
            let answer = driver.answer.borrow().clone();
            match answer.get(1) {
                Some(reason) => Err(reason.clone().into()),
                None => Ok(answer.first().map(String::as_str) == Some("yes")),
            }
        });
        let driver = Rc::downgrade(self);
        application.on_will_continue(move |kind, device| {
            tell(&["willContinue", kind, &device.name]);
            driver.upgrade().map_or(false, |driver| driver.shows.get())
        });
        application.start();
    }

    fn told(self: &Rc<Driver>, words: &[&str]) {
        match words {
            ["start"] => self.start(),
            ["stop"] => self.application.stop(),
            ["available"] => tell(&["available", word(self.application.is_available())]),
            ["shows", shows] => self.shows.set(*shows == "yes"),
            ["answer", answer @ ..] => *self.answer.borrow_mut() = answer.iter().map(|&one| one.to_owned()).collect(),
            ["stopsAtFailure"] => self.stops.set(true),
            ["silent"] => self.silent.set(true),
            ["second", id] => {
                let other = HandoffApplication::new(id, &[]);
                other.start();
                let refusal = other.registration_error();
                tell(&["second", refusal.as_ref().map_or("ok", |error| &error.message)]);
                self.others.borrow_mut().push(other);
            }
            ["make", number, kind, title] => self.keep(number, &UserActivity::new(&self.application, kind, title)),
            [command, number, words @ ..] => {
                let activity = self.activities.borrow().get(*number).cloned();
                if let Some(activity) = activity {
                    act(command, number, words, &activity);
                }
            }
            _ => eprintln!("What is {:?}?", words),
        }
    }
}

fn act(command: &str, number: &str, words: &[&str], activity: &UserActivity) {
    let owner = number.to_owned();
    match (command, words) {
        ("set", ["title", value]) => activity.set_title(value),
        ("set", ["webpageURL", value]) => activity.set("WebpageURL", *value),
        ("set", ["needsSave", value]) => activity.set_needs_save(*value == "yes"),
        ("set", ["supportsContinuationStreams", value]) => activity.set("SupportsContinuationStreams", *value == "yes"),
        ("userInfo", [key, value]) => activity.set_user_info(entry(key, *value)),
        ("add", [key, value]) => activity.add_user_info_entries(entry(key, *value)),
        ("deep", [levels]) => activity.set_user_info(entry("a", nested(levels.parse().unwrap()))),
        ("large", [bytes]) => activity.set_user_info(entry("a", "a".repeat(bytes.parse().unwrap()))),
        ("odd", []) => activity.set_user_info(entry("a", Value::Path("/".to_owned()))),
        ("becomeCurrent", []) => activity.become_current(),
        ("becomeOpen", []) => activity.become_open(),
        ("leaveCurrent", []) => activity.leave_current(),
        ("resignCurrent", []) => activity.resign_current(),
        ("invalidate", []) => activity.invalidate(),
        ("willSave", what) => {
            let what: Vec<String> = what.iter().map(|&one| one.to_owned()).collect();
            activity.on_will_save(move |_, state| {
                tell(&["saving", &owner, &state.len().to_string()]);
                match what[0].as_str() {
                    "text" => state.set("text", &what[1]),
                    "fail" => return Err("the disk is full".into()),
                    "raise" => return Err("nokey".into()),
                    "deep" => state.set("a", nested(what[1].parse()?)),
                    _ => {}
                }
                Ok(())
            });
        }
        ("takeStreams", []) => activity.on_stream(move |_, stream| talk(owner.clone(), stream, false)),
        ("openStream", []) => activity.continuation_stream(move |opened| match opened {
            Ok(stream) => talk(owner, stream, true),
            Err(error) => tell(&["notOpened", &owner, &error.name, &error.message]),
        }),
        ("get", []) => {
            let state = activity.user_info();
            let texts = state.iter().filter_map(|(key, value)| value.as_str().map(|text| format!("{}={}", key, text)));
            let page = activity.get("WebpageURL");
            tell(&[
                "got", number, word(activity.is_current()), word(activity.is_valid()), word(activity.needs_save()),
                &activity.title(), page.as_ref().and_then(Value::as_str).unwrap_or(""), &texts.collect::<Vec<_>>().join(","),
            ]);
        }
        _ => eprintln!("What is {} {:?}?", command, words),
    }
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let driver = Rc::new(Driver {
        application: HandoffApplication::new(&arguments[1], &[&arguments[2]]),
        activities: RefCell::default(),
        others: RefCell::default(),
        answer: RefCell::new(vec!["yes".to_owned()]),
        shows: Cell::default(),
        silent: Cell::default(),
        stops: Cell::default(),
    });
    driver.application.declare("Team", "org.example.team");
    let mut rest = String::new();
    loop {
        handoff::run_until_readable(&io::stdin());
        // What has come together is done in one turn, as what an application does in one function is.
        let some = io::stdin().lock().fill_buf()?.to_vec();
        io::stdin().lock().consume(some.len());
        if some.is_empty() {
            return Ok(());
        }
        rest += &String::from_utf8_lossy(&some);
        while let Some(end) = rest.find('\n') {
            let line: String = rest.drain(..=end).collect();
            driver.told(&line.trim_end_matches('\n').split('\t').collect::<Vec<_>>());
        }
    }
}
