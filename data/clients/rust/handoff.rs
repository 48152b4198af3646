// SPDX-License-Identifier: LGPL-2.1-or-later

//! Handoff for applications in Rust, on libdbus. Copy this file beside your own; it needs the crates `dbus` 0.9 and `libc`.
//!
//! ```ignore
//! let notes = HandoffApplication::new("org.example.Notes", &["org.example.notes.edit"]);
//! notes.on_continue(|activity, _device| {
//!     Ok(show(activity.user_info().text("text").ok_or("This note is of a newer version.")?))
//! });
//! notes.start();
//!
//! let editing = UserActivity::new(&notes, "org.example.notes.edit", "Shopping");
//! editing.on_will_save(|_activity, user_info| Ok(user_info.set("text", current_text())));
//! editing.become_current();
//! editing.set_needs_save(true);    // whenever the note has changed
//! ```
//!
//! Nothing here waits. Brokers may come and go; without one, everything is accepted and does nothing. All of it belongs to the
//! thread that has made it. A program without a main loop ends with `run()`; another one has its loop wait for `descriptor()`
//! too, and calls `dispatch()` whenever that can be read.
//!
//! What is refused, and what your functions fail with, is printed on standard error, unless there is a function for failures.
//! A function that panics ends the program as anywhere else. The end of the session bus does not end it.

// This file is long because it is to be copied as one file, and no application uses all of it. It is for older compilers too.
#![allow(dead_code, clippy::type_complexity, clippy::unnecessary_map_or)]

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::CString;
use std::fmt;
use std::io::{self, Read, Write};
use std::ops::{Deref, DerefMut};
use std::os::unix::io::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::rc::{Rc, Weak};
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dbus::arg::{ArgType, Iter, IterAppend, OwnedFd};
use dbus::channel::{default_reply, Channel};
use dbus::strings::{BusName, ErrorName, Interface, Member, Path};
use dbus::{Message, MessageType, Signature};

/// The type of an activity that is nothing but a web page.
pub const BROWSING_WEB: &str = "org.example.Handoff.BrowsingWeb";

const BROKER: &str = "org.example.Handoff";
const ROOT: &str = "/org/example/Handoff";
const CLIENT: &str = "/org/example/Handoff/client";
const BUS: &str = "org.freedesktop.DBus";
const BUS_PROPERTIES: &str = "org.freedesktop.DBus.Properties";
/// What a state may be: its bytes as the body of a message, its containers, and the levels of the bus beneath a value.
const MAXIMUM_SIZE: usize = 131_072;
const MAXIMUM_DEPTH: usize = 32;
const MAXIMUM_LEVELS: usize = 58;
const NO_STREAM: &str = "What has come is no stream socket. Send one end of socketpair(AF_UNIX, SOCK_STREAM).";
const NO_DESCRIPTOR: &str = "The application has no descriptor left. Close some in it, or raise its limit (ulimit -n).";
const PROPERTIES: &[(&str, &str)] = &[
    ("Title", "s"), ("UserInfo", "a{sv}"), ("NeedsSave", "b"), ("WebpageURL", "s"), ("DocumentURL", "s"),
    ("ReferrerURL", "s"), ("TargetContentIdentifier", "s"), ("PersistentIdentifier", "s"), ("Keywords", "as"),
    ("RequiredUserInfoKeys", "as"), ("ExpirationDate", "x"), ("EligibleForHandoff", "b"), ("EligibleForSearch", "b"),
    ("SupportsContinuationStreams", "b"),
];
const OPTIONS: &[(&str, &str)] =
    &[("Team", "s"), ("DocumentTypes", "a{ss}"), ("Domains", "as"), ("Receives", "b"), ("Adapter", "b")];

/// What functions of the application return: `Err("why".into())`, or `?`, says why it has failed.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A refusal: `name` is the D-Bus name of the error, and `message` says what was wrong and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub name: String,
    pub message: String,
}

impl Error {
    fn new(name: &str, message: impl Into<String>) -> Error {
        Error { name: format!("{}.Error.{}", BROKER, name), message: message.into() }
    }

    fn of_bus(name: &str, message: impl Into<String>) -> Error {
        Error { name: format!("{}.Error.{}", BUS, name), message: message.into() }
    }

    fn broker_ended() -> Error {
        Error::new("ConnectionUnavailable", "The broker of Handoff has ended. Continue the activity again.")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// The other device of a continuation. Its name was chosen by its user: it is plain text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    pub id: String,
    pub name: String,
}

impl Device {
    fn of(context: &UserInfo) -> Device {
        Device { id: context.string("DeviceId"), name: context.string("DeviceName") }
    }
}

/// Prints a mistake, and whose it is: an activity type or the id of an application.
fn warn(whose: &str, message: &str) {
    // Where nobody reads, there is nobody to be told.
    let _ = writeln!(io::stderr(), "{}: {}", whose, message);
}

// Values

/// A value of a state, with the type that it has on D-Bus. Most are made by `into()`; see also `Value::date` and the like.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Byte(u8),
    Bool(bool),
    Int16(i16),
    Uint16(u16),
    Int32(i32),
    Uint32(u32),
    Int64(i64),
    Uint64(u64),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
    /// A list of anything, `av`.
    List(Vec<Value>),
    /// Anything by name, `a{sv}`.
    Dictionary(UserInfo),
    /// A list whose elements are all of one type.
    Array(Array),
    /// A dictionary whose keys, and whose values, are all of one type.
    Map(Map),
    Structure(Vec<Value>),
    Variant(Box<Value>),
    // These two mean nothing on another device.
    Path(String),
    Signature(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    of: Signature<'static>,
    items: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    key: Signature<'static>,
    value: Signature<'static>,
    entries: Vec<(Value, Value)>,
}

/// The state of an activity: values by their names. It is a `BTreeMap` with a few words more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserInfo(BTreeMap<String, Value>);

impl UserInfo {
    pub fn new() -> UserInfo {
        UserInfo::default()
    }

    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    /// The text of this name, if there is one.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }

    fn string(&self, key: &str) -> String {
        self.text(key).unwrap_or_default().to_owned()
    }

    /// The object of the continuation that this is the context of.
    fn continuation(&self) -> String {
        match self.0.get("Continuation") {
            Some(Value::Path(path)) => path.clone(),
            _ => String::new(),
        }
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.0.get(key)?.as_bool()
    }
}

impl Deref for UserInfo {
    type Target = BTreeMap<String, Value>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for UserInfo {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

macro_rules! value_from {
    ($($from:ty, $value:ident => $made:expr;)*) => {
        $(impl From<$from> for Value { fn from($value: $from) -> Value { $made } })*
    };
}

value_from! {
    u8, value => Value::Byte(value);
    bool, value => Value::Bool(value);
    i16, value => Value::Int16(value);
    u16, value => Value::Uint16(value);
    i32, value => Value::Int32(value);
    u32, value => Value::Uint32(value);
    i64, value => Value::Int64(value);
    u64, value => Value::Uint64(value);
    f64, value => Value::Double(value);
    String, value => Value::Text(value);
    &String, value => Value::Text(value.clone());
    &str, value => Value::Text(value.to_owned());
    Vec<u8>, value => Value::Bytes(value);
    Vec<Value>, value => Value::List(value);
    UserInfo, value => Value::Dictionary(value);
    SystemTime, value => Value::date(value);
    Vec<String>, value => Value::Array(Array { of: signature("s"), items: value.into_iter().map(Value::Text).collect() });
    Vec<&str>, value => Value::from(value.into_iter().map(str::to_owned).collect::<Vec<String>>());
    BTreeMap<String, String>, value => Value::Map(Map {
        key: signature("s"), value: signature("s"),
        entries: value.into_iter().map(|(key, value)| (Value::Text(key), Value::Text(value))).collect(),
    });
}

impl Value {
    /// A moment.
    pub fn date(date: SystemTime) -> Value {
        // A moment that has no number becomes the first or the last one that has.
        let microseconds = match date.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
            Err(error) => i64::try_from(error.duration().as_micros()).map_or(i64::MIN, |before| -before),
        };
        Value::tagged("date", Value::Int64(microseconds))
    }

    /// A URL. One of the scheme file that points into a shared folder is translated for the other device.
    pub fn url(url: &str) -> Value {
        Value::tagged("url", url.into())
    }

    /// A list without an order.
    pub fn set(values: Vec<Value>) -> Value {
        Value::tagged("set", Value::List(values))
    }

    /// What stands for nothing.
    pub fn null() -> Value {
        Value::tagged("null", Value::Bool(false))
    }

    fn tagged(tag: &str, value: Value) -> Value {
        Value::Structure(vec![tag.into(), Value::Variant(Box::new(value))])
    }

    fn content(&self, wanted: &str) -> Option<&Value> {
        match self {
            Value::Structure(fields) => match fields.as_slice() {
                [Value::Text(tag), Value::Variant(content)] if tag == wanted => Some(content),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// A whole number of any size, if an `i64` has it.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Byte(value) => Some((*value).into()),
            Value::Int16(value) => Some((*value).into()),
            Value::Uint16(value) => Some((*value).into()),
            Value::Int32(value) => Some((*value).into()),
            Value::Uint32(value) => Some((*value).into()),
            Value::Int64(value) => Some(*value),
            Value::Uint64(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Double(value) => Some(*value),
            _ => self.as_i64().map(|value| value as f64),
        }
    }

    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub fn as_url(&self) -> Option<&str> {
        self.content("url")?.as_str()
    }

    pub fn as_date(&self) -> Option<SystemTime> {
        let microseconds = match self.content("date")? {
            Value::Int64(microseconds) => *microseconds,
            _ => return None,
        };
        let distance = Duration::from_micros(microseconds.unsigned_abs());
        if microseconds < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
    }

    /// The elements of a list of any kind, also those of a set.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            Value::Array(array) => Some(&array.items),
            _ => self.content("set")?.as_list(),
        }
    }

    pub fn as_dictionary(&self) -> Option<&UserInfo> {
        match self {
            Value::Dictionary(dictionary) => Some(dictionary),
            _ => None,
        }
    }

    /// The type of the value on D-Bus.
    fn signature(&self) -> String {
        let code = match self {
            Value::Byte(_) => "y",
            Value::Bool(_) => "b",
            Value::Int16(_) => "n",
            Value::Uint16(_) => "q",
            Value::Int32(_) => "i",
            Value::Uint32(_) => "u",
            Value::Int64(_) => "x",
            Value::Uint64(_) => "t",
            Value::Double(_) => "d",
            Value::Text(_) => "s",
            Value::Path(_) => "o",
            Value::Signature(_) => "g",
            Value::Bytes(_) => "ay",
            Value::List(_) => "av",
            Value::Dictionary(_) => "a{sv}",
            Value::Variant(_) => "v",
            Value::Array(array) => return format!("a{}", &*array.of),
            Value::Map(map) => return format!("a{{{}{}}}", &*map.key, &*map.value),
            Value::Structure(fields) => return format!("({})", fields.iter().map(Value::signature).collect::<String>()),
        };
        code.to_owned()
    }

    /// At least so many bytes the value takes in a message.
    fn bulk(&self) -> usize {
        match self {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Variant(value) => value.bulk(),
            Value::List(items) | Value::Structure(items) => items.iter().map(Value::bulk).sum(),
            Value::Array(array) => array.items.iter().map(Value::bulk).sum(),
            Value::Dictionary(dictionary) => dictionary.iter().map(|(key, value)| key.len() + value.bulk()).sum(),
            Value::Map(map) => map.entries.iter().map(|(key, value)| key.bulk() + value.bulk()).sum(),
            _ => 1,
        }
    }

    /// What the value takes as the body of a message; less if that is far too much.
    fn size(&self) -> usize {
        // libdbus ends the program over an array that no message takes.
        let bulk = self.bulk();
        if bulk > MAXIMUM_SIZE {
            return bulk;
        }
        let mut size = 0;
        if let Ok(mut message) = Message::new_signal("/", BROKER, "State") {
            self.append(&mut IterAppend::new(&mut message));
            message.set_serial(1);
            // The second number of a message is the size of its body.
            let _ = message.marshal(|bytes| {
                let number = bytes.get(4..8).and_then(|bytes| bytes.try_into().ok()).map(u32::from_ne_bytes);
                size = number.unwrap_or(u32::MAX) as usize;
                Ok::<(), ()>(())
            });
        }
        size
    }

    /// Why a value is refused, by the broker's rules and in its words; None if it is not. It lies in so many containers as the
    /// rule counts them, and in so many levels as a bus does, which cuts off who nests too deeply.
    fn refusal(&self, containers: usize, levels: usize, is_type_checked: bool) -> Option<String> {
        let (containers, levels) = match self {
            Value::Text(text) => return nul_refusal(text),
            Value::Path(_) | Value::Signature(_) => {
                return Some(format!(
                    "holds a value of type {}, which means nothing on another device. Use a string.",
                    self.signature()
                ))
            }
            Value::Variant(value) => return value.variant_refusal(containers, levels),
            // A bus counts the entries of dictionaries too.
            Value::Dictionary(_) | Value::Map(_) => (containers + 1, levels + 2),
            Value::Bytes(_) | Value::List(_) | Value::Array(_) | Value::Structure(_) => (containers + 1, levels + 1),
            _ => return None,
        };
        if let Some(reason) = depth_refusal(containers, levels) {
            return Some(reason);
        }
        match self {
            Value::List(items) => items.iter().find_map(|item| item.variant_refusal(containers, levels)),
            Value::Dictionary(dictionary) => dictionary
                .iter()
                .find_map(|(key, value)| nul_refusal(key).or_else(|| value.variant_refusal(containers, levels))),
            Value::Structure(fields) => structure_refusal(&self.signature(), fields, containers, levels),
            Value::Array(_) | Value::Map(_) if !is_type_checked && type_refusal(&self.signature()).is_some() => {
                type_refusal(&self.signature())
            }
            Value::Array(array) => array.items.iter().find_map(|item| item.refusal(containers, levels, true)),
            Value::Map(map) => map.entries.iter().find_map(|(key, value)| {
                key.refusal(containers, levels, true).or_else(|| value.refusal(containers, levels, true))
            }),
            _ => None,
        }
    }

    fn variant_refusal(&self, containers: usize, levels: usize) -> Option<String> {
        depth_refusal(containers + 1, levels + 1).or_else(|| self.refusal(containers + 1, levels + 1, false))
    }

    /// What is sent was checked before, so that libdbus, which ends the program otherwise, takes it.
    fn append(&self, out: &mut IterAppend<'_>) {
        match self {
            Value::Byte(value) => out.append(*value),
            Value::Bool(value) => out.append(*value),
            Value::Int16(value) => out.append(*value),
            Value::Uint16(value) => out.append(*value),
            Value::Int32(value) => out.append(*value),
            Value::Uint32(value) => out.append(*value),
            Value::Int64(value) => out.append(*value),
            Value::Uint64(value) => out.append(*value),
            Value::Double(value) => out.append(*value),
            Value::Text(text) => out.append(text.as_str()),
            Value::Path(path) => Path::new(path.as_str()).into_iter().for_each(|path| out.append(path)),
            Value::Signature(text) => Signature::new(text.as_str()).into_iter().for_each(|text| out.append(text)),
            Value::Bytes(bytes) => out.append(bytes.as_slice()),
            Value::List(items) => {
                out.append_array(&signature("v"), |out| items.iter().for_each(|item| item.append_variant(out)))
            }
            Value::Dictionary(dictionary) => out.append_dict(&signature("s"), &signature("v"), |out| {
                for (key, value) in dictionary.iter() {
                    out.append_dict_entry(|out| {
                        out.append(key.as_str());
                        value.append_variant(out);
                    });
                }
            }),
            Value::Array(array) => out.append_array(&array.of, |out| array.items.iter().for_each(|item| item.append(out))),
            Value::Map(map) => out.append_dict(&map.key, &map.value, |out| {
                for (key, value) in &map.entries {
                    out.append_dict_entry(|out| {
                        key.append(out);
                        value.append(out);
                    });
                }
            }),
            Value::Structure(fields) => out.append_struct(|out| fields.iter().for_each(|field| field.append(out))),
            Value::Variant(value) => value.append_variant(out),
        }
    }

    fn append_variant(&self, out: &mut IterAppend<'_>) {
        out.append_variant(&signature(&self.signature()), |out| self.append(out));
    }

    /// What has come; None if it holds a descriptor, which no state may.
    fn read(iter: &mut Iter<'_>) -> Option<Value> {
        Some(match iter.arg_type() {
            ArgType::Byte => Value::Byte(iter.get()?),
            ArgType::Boolean => Value::Bool(iter.get()?),
            ArgType::Int16 => Value::Int16(iter.get()?),
            ArgType::UInt16 => Value::Uint16(iter.get()?),
            ArgType::Int32 => Value::Int32(iter.get()?),
            ArgType::UInt32 => Value::Uint32(iter.get()?),
            ArgType::Int64 => Value::Int64(iter.get()?),
            ArgType::UInt64 => Value::Uint64(iter.get()?),
            ArgType::Double => Value::Double(iter.get()?),
            ArgType::String => Value::Text(iter.get()?),
            ArgType::ObjectPath => Value::Path(iter.get::<Path<'static>>()?.to_string()),
            ArgType::Signature => Value::Signature(iter.get::<Signature<'static>>()?.to_string()),
            ArgType::Variant => Value::Variant(Box::new(Value::read(&mut iter.recurse(ArgType::Variant)?)?)),
            ArgType::Struct => Value::Structure(Value::read_all(iter.recurse(ArgType::Struct)?)?),
            ArgType::Array => Value::read_array(iter)?,
            ArgType::DictEntry | ArgType::UnixFd | ArgType::Invalid => return None,
        })
    }

    fn read_all(mut iter: Iter<'_>) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        while iter.arg_type() != ArgType::Invalid {
            values.push(Value::read(&mut iter)?);
            iter.next();
        }
        Some(values)
    }

    fn read_array(iter: &mut Iter<'_>) -> Option<Value> {
        let of = iter.signature().to_string();
        let mut inner = iter.recurse(ArgType::Array)?;
        if of == "ay" {
            return iter.get::<&[u8]>().map(|bytes| Value::Bytes(bytes.to_vec()));
        }
        if !of.starts_with("a{") {
            let items = Value::read_all(inner)?;
            return Some(match of.as_str() {
                "av" => Value::List(items.into_iter().map(Value::unwrapped).collect()),
                _ => Value::Array(Array { of: Signature::new(of.get(1..)?).ok()?, items }),
            });
        }
        let mut entries = Vec::new();
        while inner.arg_type() != ArgType::Invalid {
            let mut entry = inner.recurse(ArgType::DictEntry)?;
            let key = Value::read(&mut entry)?;
            entry.next();
            entries.push((key, Value::read(&mut entry)?));
            inner.next();
        }
        if of == "a{sv}" {
            let pairs = entries.into_iter().filter_map(|(key, value)| match key {
                Value::Text(key) => Some((key, value.unwrapped())),
                _ => None,
            });
            return Some(Value::Dictionary(UserInfo(pairs.collect())));
        }
        let key = Signature::new(of.get(2..3)?).ok()?;
        Some(Value::Map(Map { key, value: Signature::new(of.get(3..of.len() - 1)?).ok()?, entries }))
    }

    fn unwrapped(self) -> Value {
        match self {
            Value::Variant(value) => *value,
            value => value,
        }
    }
}

/// A type that is made of valid parts.
fn signature(text: &str) -> Signature<'static> {
    Signature::new(text).expect("a value was sent that was not checked")
}

fn nul_refusal(text: &str) -> Option<String> {
    text.contains('\0').then(|| "holds a text with a NUL character, which D-Bus does not have. Use bytes.".to_owned())
}

fn depth_refusal(containers: usize, levels: usize) -> Option<String> {
    (containers > MAXIMUM_DEPTH || levels > MAXIMUM_LEVELS)
        .then(|| format!("nests more than {} containers. Flatten it.", MAXIMUM_DEPTH))
}

/// Why no value of this type may stand anywhere, not even in an empty array; None if it may.
fn type_refusal(of: &str) -> Option<String> {
    for (place, code) in of.char_indices() {
        let rest = &of[place..];
        if matches!(code, 'o' | 'g' | 'h') {
            return Some(format!("holds values of type {}, which mean nothing on another device. Use strings.", of));
        }
        if code == '(' && !rest.starts_with("(sv)") {
            return Some(format!(
                "holds a structure of type {}. Use a dictionary; only (sv) with a known tag is allowed.",
                of
            ));
        }
        if code == '{' && !rest.starts_with("{s") {
            return Some(format!("holds a dictionary of type {}, whose keys are not strings. Use string keys.", of));
        }
    }
    depth_refusal(of.matches('a').count(), 0)
}

/// The same of a structure, whose fields lie in so many containers and levels.
fn structure_refusal(of: &str, fields: &[Value], containers: usize, levels: usize) -> Option<String> {
    let (tag, content) = match fields {
        [Value::Text(tag), Value::Variant(content)] => (tag.as_str(), &**content),
        _ => {
            return Some(format!(
                "holds a structure of type {}. Use a dictionary; only (sv) with a known tag is allowed.",
                of
            ))
        }
    };
    match (tag, content) {
        _ if depth_refusal(containers + 1, levels + 1).is_some() => depth_refusal(containers + 1, levels + 1),
        ("date", Value::Int64(_)) | ("null", Value::Bool(false)) => None,
        ("url", Value::Text(_)) | ("set", Value::List(_)) => content.refusal(containers + 1, levels + 1, true),
        ("date" | "null" | "url" | "set", _) => Some(format!(
            "tags a value of type {} as \"{}\". Allowed are (\"date\", x), (\"url\", s), (\"set\", av) and (\"null\", false).",
            content.signature(), tag
        )),
        _ => Some(format!("has the unknown tag \"{}\". Allowed are date, url, set and null.", tag)),
    }
}

/// What is wrong with the value of this name; None if nothing is. A broker would take a name that it does not know, and leave
/// it out.
fn problem(types: &[(&str, &str)], name: &str, value: &Value) -> Option<Error> {
    let invalid = |message| Some(Error::of_bus("InvalidArgs", message));
    let wanted = match types.iter().find(|(known, _)| *known == name) {
        Some((_, wanted)) => *wanted,
        None => return invalid(format!("There is no \"{}\". Names are written as in handoff.rs.", name)),
    };
    if value.signature() != wanted {
        return invalid(format!("{} must have the type {}, not {}.", name, wanted, value.signature()));
    }
    let reason = match value {
        // The state is one container, and the variant that holds the value another.
        Value::Dictionary(state) => state.iter().find_map(|(key, value)| {
            let reason = nul_refusal(key).or_else(|| value.refusal(2, 0, false))?;
            Some(format!("{} key \"{}\" {}", name, key, reason))
        }),
        _ => value.refusal(2, 0, false).map(|reason| format!("{} {}", name, reason)),
    };
    if let Some(reason) = reason {
        return invalid(reason);
    }
    let size = value.size();
    if size <= MAXIMUM_SIZE {
        return None;
    }
    let message = format!("{} takes {} bytes, more than the {} allowed.", name, size, MAXIMUM_SIZE);
    if name != "UserInfo" {
        return invalid(message);
    }
    Some(Error::new("UserInfoTooLarge", message + " Send less, or the bulk of it through a stream."))
}

// Connections, and the loop that serves those of a thread

type Reply = Result<Message, Error>;
type Then = Box<dyn FnOnce(&Application, Reply)>;

/// A call that was not answered yet.
struct Pending {
    to: String,
    then: Then,
    /// Whether it is told that the broker has ended. Else it is forgotten then.
    hears_of_end: bool,
}

struct Connection {
    channel: Channel,
    application: Weak<Application>,
    /// What the loop waits for.
    events: Cell<Option<u32>>,
    pending: RefCell<HashMap<u32, Pending>>,
    /// The answer with which the connection ends, since the application has stopped.
    last: Cell<Option<u32>>,
    has_ended: Cell<bool>,
}

impl Connection {
    /// None without a session bus, which is no error.
    fn open(application: &Weak<Application>, served: &Loop) -> Option<Rc<Connection>> {
        let mut channel = match Channel::open_private(&bus_address()?) {
            Ok(channel) if channel.is_connected() => channel,
            _ => {
                if served.is_out_of_descriptors() {
                    warn("Handoff", NO_DESCRIPTOR);
                }
                return None;
            }
        };
        channel.set_watch_enabled(true);
        let connection = Rc::new(Connection {
            channel,
            application: application.clone(),
            events: Cell::default(),
            pending: RefCell::default(),
            last: Cell::default(),
            has_ended: Cell::default(),
        });
        served.connections.borrow_mut().push(connection.clone());
        // Nobody has to wait for the answers: calls of one connection take effect in their order.
        connection.tell_bus("Hello", &[]);
        for rule in [
            format!("type='signal',sender='{}',member='NameOwnerChanged',arg0='{}'", BUS, BROKER),
            format!("type='signal',interface='{}.Manager',member='RegistrationEnded'", BROKER),
            format!("type='signal',interface='{}',member='PropertiesChanged',arg0='{}.Activity'", BUS_PROPERTIES, BROKER),
        ] {
            connection.tell_bus("AddMatch", &[rule.into()]);
        }
        Some(connection)
    }

    fn send(&self, message: Message) -> Option<u32> {
        let serial = self.channel.send(message).ok();
        self.refresh();
        serial
    }

    fn tell_bus(&self, method: &str, arguments: &[Value]) {
        self.ask(BUS, "/org/freedesktop/DBus", BUS, method, arguments, None);
    }

    /// Calls; returns the number of the call if it was sent.
    fn ask(
        &self, to: &str, path: &str, interface: &str, method: &str, arguments: &[Value], then: Option<(bool, Then)>,
    ) -> Option<u32> {
        let interface = Interface::new(interface).ok()?;
        let mut message =
            Message::new_method_call(BusName::new(to).ok()?, Path::new(path).ok()?, interface, Member::new(method).ok()?).ok()?;
        message.set_auto_start(false);
        append_all(&mut message, arguments);
        let serial = self.send(message)?;
        if let Some((hears_of_end, then)) = then {
            self.pending.borrow_mut().insert(serial, Pending { to: to.to_owned(), then, hears_of_end });
        }
        Some(serial)
    }

    /// Has the loop wait for what libdbus waits for.
    fn refresh(&self) {
        // One that has ended has closed its descriptor, which may be another one by now.
        if !self.channel.is_connected() {
            return;
        }
        let watch = self.channel.watch();
        let events = if watch.read { libc::EPOLLIN as u32 } else { 0 } | if watch.write { libc::EPOLLOUT as u32 } else { 0 };
        let former = self.events.replace(Some(events));
        if former != Some(events) {
            let how = if former.is_none() { libc::EPOLL_CTL_ADD } else { libc::EPOLL_CTL_MOD };
            with_loop(|served| unsafe {
                libc::epoll_ctl(served.all, how, watch.fd, &mut libc::epoll_event { events, u64: 0 });
            });
        }
    }

    /// Takes what has come, and sends what could not be sent, without waiting.
    fn dispatch(&self) {
        with_loop(|served| served.reserve.take());
        let _ = self.channel.read_write(Some(Duration::from_secs(0)));
        with_loop(|served| served.keep_reserve());
        while let Some(message) = self.channel.pop_message() {
            self.handle(message);
            // It was in use for what came along.
            with_loop(|served| served.keep_reserve());
        }
        self.refresh();
        if !self.channel.is_connected() && !self.has_ended.get() {
            self.end();
        }
    }

    fn end(&self) {
        self.has_ended.set(true);
        // The loop closes it in the next turn.
        soon(|| {});
        if let Some(application) = self.application.upgrade() {
            application.lost_bus(self);
        }
    }

    /// What comes along with a message is closed with it, unless it was taken.
    fn handle(&self, message: Message) {
        let sender = message.sender().map(|sender| sender.to_string()).unwrap_or_default();
        if let Some(serial) = message.get_reply_serial() {
            return self.answered(serial, &sender, message);
        }
        let application = self.application.upgrade();
        match (message.msg_type(), application) {
            (MessageType::Signal, Some(application)) => application.signalled(&sender, &message),
            (MessageType::MethodCall, application) => {
                let answer = application.and_then(|application| application.called(&sender, &message));
                let answer = answer.or_else(|| default_reply(&message));
                if !message.get_no_reply() {
                    answer.and_then(|answer| self.send(answer));
                }
            }
            _ => {}
        }
    }

    fn answered(&self, serial: u32, sender: &str, mut message: Message) {
        if self.last.get() == Some(serial) {
            return self.end();
        }
        // The bus answers in place of who can't.
        let is_expected = self.pending.borrow().get(&serial).map_or(false, |one| one.to == sender || sender == BUS);
        let (pending, application) = match (is_expected, self.application.upgrade()) {
            (true, Some(application)) => (self.pending.borrow_mut().remove(&serial), application),
            _ => return,
        };
        let failure = message.as_result().err().map(|error| Error {
            name: error.name().unwrap_or_default().to_owned(),
            message: error.message().unwrap_or_default().to_owned(),
        });
        if let Some(pending) = pending {
            let ends = ["NoReply", "ServiceUnknown", "NameHasNoOwner"].map(|name| format!("{}.Error.{}", BUS, name));
            match failure {
                None => (pending.then)(&application, Ok(message)),
                Some(error) if pending.to == BUS || !ends.contains(&error.name) => (pending.then)(&application, Err(error)),
                // A broker that ends takes its answers along, and the loss of its name is told too.
                Some(_) if pending.hears_of_end => (pending.then)(&application, Err(Error::broker_ended())),
                Some(_) => {}
            }
        }
    }
}

/// Where the session bus is.
fn bus_address() -> Option<String> {
    if let Some(address) = std::env::var("DBUS_SESSION_BUS_ADDRESS").ok().filter(|address| !address.is_empty()) {
        return Some(address);
    }
    let mut address = "unix:path=".to_owned();
    for byte in format!("{}/bus", std::env::var("XDG_RUNTIME_DIR").ok()?).bytes() {
        match byte {
            b'-' | b'_' | b'/' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => address.push(byte.into()),
            _ => address += &format!("%{:02x}", byte),
        }
    }
    Some(address)
}

fn append_all(message: &mut Message, values: &[Value]) {
    let mut out = IterAppend::new(message);
    values.iter().for_each(|value| value.append(&mut out));
}

/// What a message holds, up to the first descriptor.
fn arguments(message: &Message) -> Vec<Value> {
    let (mut iter, mut values) = (message.iter_init(), Vec::new());
    while let Some(value) = Value::read(&mut iter) {
        values.push(value);
        iter.next();
    }
    values
}

/// The stream socket that is at this place in a message, or why there is none.
fn stream_in(message: &Message, place: usize) -> Result<UnixStream, &'static str> {
    let mut iter = message.iter_init();
    for _ in 0..place {
        iter.next();
    }
    // A descriptor of ours; -1 if there are too many already.
    let descriptor = iter.get::<OwnedFd>().ok_or(NO_STREAM)?.into_raw_fd();
    if descriptor < 0 {
        return Err(NO_DESCRIPTOR);
    }
    // Closes it if it is no stream.
    let stream = unsafe { UnixStream::from_raw_fd(descriptor) };
    let (mut kind, mut size) = (0 as libc::c_int, std::mem::size_of::<libc::c_int>() as libc::socklen_t);
    let asked = unsafe {
        libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_TYPE, (&mut kind as *mut libc::c_int).cast(), &mut size)
    };
    if asked == 0 && kind == libc::SOCK_STREAM {
        Ok(stream)
    } else {
        Err(NO_STREAM)
    }
}

/// What serves the applications of a thread.
struct Loop {
    /// Can be read when there is something to do.
    all: RawFd,
    /// Can be read when something is due.
    wake: Option<std::fs::File>,
    /// A descriptor that is given up while libdbus reads, which ends a connection if there is none for what comes along.
    reserve: RefCell<Option<std::fs::File>>,
    due: RefCell<Vec<Box<dyn FnOnce()>>>,
    connections: RefCell<Vec<Rc<Connection>>>,
}

impl Loop {
    /// Without descriptors, which a process may have too many of, there is no Handoff, and that is told.
    fn new() -> Loop {
        let (all, wake) = unsafe {
            (libc::epoll_create1(libc::EPOLL_CLOEXEC), libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))
        };
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        unsafe { libc::epoll_ctl(all, libc::EPOLL_CTL_ADD, wake, &mut event) };
        let wake = (wake >= 0).then(|| unsafe { std::fs::File::from_raw_fd(wake) });
        if all < 0 || wake.is_none() {
            warn("Handoff", NO_DESCRIPTOR);
        }
        Loop { all, wake, reserve: RefCell::default(), due: RefCell::default(), connections: RefCell::default() }
    }

    fn is_out_of_descriptors(&self) -> bool {
        self.wake.as_ref().map_or(false, |wake| wake.try_clone().is_err())
    }

    fn keep_reserve(&self) {
        let mut reserve = self.reserve.borrow_mut();
        if reserve.is_none() {
            *reserve = self.wake.as_ref().and_then(|wake| wake.try_clone().ok());
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        unsafe { libc::close(self.all) };
    }
}

thread_local! {
    static LOOP: Rc<Loop> = Rc::new(Loop::new());
}

/// Does nothing at the end of a thread, when there is no loop any more.
fn with_loop<T>(what: impl FnOnce(&Rc<Loop>) -> T) -> Option<T> {
    LOOP.try_with(|served| served.clone()).ok().map(|served| what(&served))
}

/// Calls this in the next turn.
fn soon(what: impl FnOnce() + 'static) {
    with_loop(|served| {
        served.due.borrow_mut().push(Box::new(what));
        served.wake.as_ref().map(|mut wake| wake.write(&1u64.to_ne_bytes()))
    });
}

/// A descriptor that can be read, as long as it is not, whenever `dispatch()` has something to do. It is that of the calling
/// thread, for all of its applications, and never changes.
pub fn descriptor() -> RawFd {
    with_loop(|served| served.all).unwrap_or(-1)
}

/// Does what there is to do: sends what was set, takes what has come, and calls your functions. It does not wait.
pub fn dispatch() {
    with_loop(|served| {
        served.wake.as_ref().map(|mut wake| wake.read(&mut [0; 8]));
        let due = served.due.take();
        due.into_iter().for_each(|what| what());
        let connections = served.connections.borrow().clone();
        connections.iter().for_each(|connection| connection.dispatch());
        served.connections.borrow_mut().retain(|connection| !connection.has_ended.get());
    });
}

/// Waits; returns whether this descriptor can be read.
fn wait(input: RawFd) -> bool {
    dispatch();
    let of = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut polled = [of(descriptor()), of(input)];
    unsafe { libc::poll(polled.as_mut_ptr(), 2, -1) };
    polled[1].revents != 0
}

/// Serves the applications of this thread until this, such as the standard input, can be read.
pub fn run_until_readable(input: &impl AsRawFd) {
    while !wait(input.as_raw_fd()) {}
}

/// Serves the applications of this thread forever.
pub fn run() -> ! {
    loop {
        wait(-1);
    }
}

// Activities

type Slot<F> = RefCell<Option<Rc<F>>>;

#[derive(Default)]
struct Activity {
    application: Weak<Application>,
    activity_type: String,
    origin: Option<Device>,
    activation_token: String,
    continuation: RefCell<String>,
    path: RefCell<String>,
    is_current: Cell<bool>,
    is_valid: Cell<bool>,
    is_creating: Cell<bool>,
    is_updating: Cell<bool>,
    is_refused: Cell<bool>,
    /// Whether it is open while it is not current; with the next broker too.
    is_open: Cell<bool>,
    /// How many calls that end its being current wait for their answers.
    ending: Cell<usize>,
    on_will_save: Slot<dyn Fn(&UserActivity, &mut UserInfo) -> Outcome<()>>,
    on_was_continued: Slot<dyn Fn(&UserActivity, &Device)>,
    on_stream: Slot<dyn Fn(&UserActivity, UnixStream)>,
    on_failure: Slot<dyn Fn(&UserActivity, &Error)>,
    /// What is wanted, what the broker has, which of it is to be sent, and what it has refused and is to be sent alone.
    properties: RefCell<UserInfo>,
    confirmed: RefCell<UserInfo>,
    changed: RefCell<BTreeSet<String>>,
    alone: RefCell<Vec<String>>,
}

/// What the user is doing, which can be continued on another device while it is current. Clones are the same activity. It ends
/// with `invalidate()`; the application keeps what has become current until then.
#[derive(Clone)]
pub struct UserActivity(Rc<Activity>);

impl PartialEq for UserActivity {
    fn eq(&self, other: &UserActivity) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl UserActivity {
    pub fn new(application: &HandoffApplication, activity_type: &str, title: &str) -> UserActivity {
        let made = UserActivity::made(&application.0, activity_type, &UserInfo::new(), None);
        if !title.is_empty() {
            made.set_title(title);
        }
        made
    }

    fn made(application: &Application, activity_type: &str, context: &UserInfo, origin: Option<Device>) -> UserActivity {
        UserActivity(Rc::new(Activity {
            application: application.me.clone(),
            activity_type: activity_type.to_owned(),
            origin,
            activation_token: context.string("ActivationToken"),
            is_valid: Cell::new(true),
            ..Activity::default()
        }))
    }

    /// The state is needed: what is put into it is the whole new one. If that is nothing, or it fails, or is refused, the
    /// former stays. It has two seconds.
    pub fn on_will_save(&self, function: impl Fn(&UserActivity, &mut UserInfo) -> Outcome<()> + 'static) {
        self.0.on_will_save.replace(Some(Rc::new(function)));
    }

    /// It is continued there, and otherwise left as it is: resign or invalidate it, if that fits.
    pub fn on_was_continued(&self, function: impl Fn(&UserActivity, &Device) + 'static) {
        self.0.on_was_continued.replace(Some(Rc::new(function)));
    }

    /// The continuing application has opened a stream.
    pub fn on_stream(&self, function: impl Fn(&UserActivity, UnixStream) + 'static) {
        self.0.on_stream.replace(Some(Rc::new(function)));
    }

    /// Something was refused, or a save has failed; what was set has its former value again.
    pub fn on_failure(&self, function: impl Fn(&UserActivity, &Error) + 'static) {
        self.0.on_failure.replace(Some(Rc::new(function)));
    }

    /// Sets a property of org.example.Handoff.Activity by its name, with the type that it has there, and sends it together with
    /// whatever else is set in this turn: WebpageURL, DocumentURL, ReferrerURL, TargetContentIdentifier, PersistentIdentifier
    /// (`&str`), Keywords, RequiredUserInfoKeys (`Vec<String>`), ExpirationDate (`i64`), EligibleForHandoff,
    /// EligibleForSearch, SupportsContinuationStreams (`bool`). Another name, or another type, is refused.
    pub fn set(&self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        if self.0.properties.borrow().get(name) == Some(&value) {
            return;
        }
        if let Some(error) = problem(PROPERTIES, name, &value) {
            // When the function that has set it has returned, as if the broker had refused it.
            let activity = self.clone();
            return soon(move || activity.fail(&error));
        }
        self.0.properties.borrow_mut().set(name, value);
        self.0.changed.borrow_mut().insert(name.to_owned());
        self.0.alone.borrow_mut().retain(|other| other != name);
        if let Some(application) = self.0.application.upgrade() {
            application.flush_soon();
        }
    }

    /// A property by its name; None if it is not set.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.properties.borrow().get(name).cloned()
    }

    pub fn set_title(&self, title: &str) {
        self.set("Title", title);
    }

    pub fn title(&self) -> String {
        self.0.properties.borrow().string("Title")
    }

    /// The state that the continuing application needs, of at most 128 KiB and 32 containers one in another.
    pub fn set_user_info(&self, user_info: UserInfo) {
        self.set("UserInfo", user_info);
    }

    pub fn user_info(&self) -> UserInfo {
        self.0.properties.borrow().get("UserInfo").and_then(Value::as_dictionary).cloned().unwrap_or_default()
    }

    /// Adds entries, which take the place of those with the same keys.
    pub fn add_user_info_entries(&self, entries: UserInfo) {
        let mut merged = self.user_info();
        merged.extend(entries.0);
        self.set_user_info(merged);
    }

    /// To be set whenever the user has changed something. A save clears it.
    pub fn set_needs_save(&self, needs_save: bool) {
        self.set("NeedsSave", needs_save);
    }

    pub fn needs_save(&self) -> bool {
        self.0.properties.borrow().flag("NeedsSave").unwrap_or(false)
    }

    pub fn is_current(&self) -> bool {
        self.0.is_current.get()
    }

    pub fn is_valid(&self) -> bool {
        self.0.is_valid.get()
    }

    pub fn activity_type(&self) -> &str {
        &self.0.activity_type
    }

    /// Where it comes from; only for what was continued here.
    pub fn origin(&self) -> Option<&Device> {
        self.0.origin.as_ref()
    }

    /// The token to raise a window with; empty if there is none.
    pub fn activation_token(&self) -> &str {
        &self.0.activation_token
    }

    /// Makes it the session's current activity, which can be continued elsewhere.
    pub fn become_current(&self) {
        if let Some(application) = self.checked() {
            application.become_current(self);
        }
    }

    /// It is open from now on, with the next broker too, without becoming current: whoever looks from another device at what is
    /// open here finds it. `resign_current()` or `invalidate()` closes it.
    pub fn become_open(&self) {
        if let Some(application) = self.checked() {
            application.keep_open(self);
            application.say_open(self);
        }
    }

    /// It is no longer current, as when another one becomes current, and stays open.
    pub fn leave_current(&self) {
        if let Some(application) = self.checked() {
            self.end_current(&application, "LeaveCurrent");
        }
    }

    /// It is no longer current, and closed until it becomes current or open again.
    pub fn resign_current(&self) {
        if let Some(application) = self.checked() {
            self.0.is_open.set(false);
            self.end_current(&application, "ResignCurrent");
        }
    }

    fn end_current(&self, application: &Application, method: &str) {
        application.forget_current(self);
        if self.path().is_empty() {
            return;
        }
        self.0.ending.set(self.0.ending.get() + 1);
        self.flush(application);
        let activity = self.clone();
        application.ask(&self.path(), "Activity", method, &[], move |_, reply| {
            activity.0.ending.set(activity.0.ending.get().saturating_sub(1));
            reply.err().iter().for_each(|error| activity.fail(error));
        });
    }

    /// Ends it everywhere; for what was continued here, its streams too. It can't be revived.
    pub fn invalidate(&self) {
        if !self.0.is_valid.replace(false) {
            return;
        }
        self.0.is_current.set(false);
        let (path, continuation) = (self.0.path.take(), self.0.continuation.take());
        if let Some(application) = self.0.application.upgrade() {
            application.forget_current(self);
            application.tell(&path, "Activity", "Invalidate");
            application.tell(&continuation, "Continuation", "Release");
            application.activities.borrow_mut().retain(|other| other != self);
        }
    }

    /// Opens a stream to the application that this was continued from, and calls `done` with it, or with an error.
    /// `shutdown(Shutdown::Write)` ends one direction of it.
    pub fn continuation_stream(&self, done: impl FnOnce(Result<UnixStream, Error>) + 'static) {
        let continuation = self.0.continuation.borrow().clone();
        let application = match self.0.application.upgrade() {
            Some(application) if !continuation.is_empty() && !application.owner.borrow().is_empty() => application,
            _ => {
                let error = Error::new(
                    "StreamsNotSupported",
                    "Streams are opened by who has continued an activity that supports them, as long as its broker lives.",
                );
                return soon(move || done(Err(error)));
            }
        };
        let no_stream = |reason| Error::new("ConnectionUnavailable", reason);
        application.ask_to_the_end(&continuation, "Continuation", "OpenStream", &[], true, move |_, reply| {
            done(reply.and_then(|message| stream_in(&message, 0).map_err(no_stream)))
        });
    }

    fn path(&self) -> String {
        self.0.path.borrow().clone()
    }

    fn checked(&self) -> Option<Rc<Application>> {
        if !self.is_valid() {
            self.tell(&Error::of_bus("UnknownObject", "This activity has ended. Make a new one."));
            return None;
        }
        self.0.application.upgrade()
    }

    fn tell(&self, error: &Error) {
        let function = self.0.on_failure.borrow().clone();
        match function {
            Some(function) => function(self, error),
            None => warn(&self.0.activity_type, &error.message),
        }
    }

    /// Something was refused. Once the activity has ended, that matters to nobody.
    fn fail(&self, error: &Error) {
        if self.is_valid() {
            self.tell(error);
        }
    }

    fn forget_broker(&self) {
        self.0.path.take();
        for flag in [&self.0.is_current, &self.0.is_creating, &self.0.is_updating, &self.0.is_refused] {
            flag.set(false);
        }
        self.0.ending.set(0);
        self.0.confirmed.take();
        self.0.changed.take();
        self.0.alone.take();
    }

    /// The properties of these names.
    fn taken(&self, names: impl IntoIterator<Item = String>) -> UserInfo {
        let properties = self.0.properties.borrow();
        UserInfo(names.into_iter().filter_map(|name| properties.get(&name).cloned().map(|value| (name, value))).collect())
    }

    fn confirm(&self, sent: UserInfo) {
        self.0.confirmed.borrow_mut().extend(sent.0);
    }

    /// Sends what has changed: one message at a time, and after a refusal one property at a time.
    fn flush(&self, application: &Application) {
        if !self.is_valid() {
            return;
        }
        if self.path().is_empty() {
            return application.create(self);
        }
        if self.0.is_updating.get() {
            return;
        }
        let alone = self.0.alone.borrow_mut().pop();
        let sent = match alone {
            Some(name) => self.taken([name]),
            None => self.taken(self.0.changed.take()),
        };
        if sent.is_empty() {
            return;
        }
        self.0.is_updating.set(true);
        let activity = self.clone();
        application.ask(&self.path(), "Activity", "Update", &[sent.clone().into()], move |application, reply| {
            activity.updated(application, sent, reply)
        });
    }

    fn updated(&self, application: &Application, sent: UserInfo, reply: Reply) {
        self.0.is_updating.set(false);
        match reply {
            Ok(_) => self.confirm(sent),
            Err(error) => {
                let is_one = sent.len() == 1;
                for name in sent.0.into_keys().filter(|name| !self.0.changed.borrow().contains(name)) {
                    if !is_one {
                        // All or none was taken: one bad property must not cost the others.
                        self.0.alone.borrow_mut().push(name);
                        continue;
                    }
                    // It has the value again that the broker has.
                    match self.0.confirmed.borrow().get(&name) {
                        Some(value) => self.0.properties.borrow_mut().set(&name, value.clone()),
                        None => drop(self.0.properties.borrow_mut().remove(&name)),
                    }
                }
                if is_one {
                    self.fail(&error);
                }
            }
        }
        self.flush(application);
    }

    /// Asks the application for the state; returns what has changed.
    fn save(&self) -> Result<UserInfo, Error> {
        self.set_needs_save(false);
        self.0.changed.borrow_mut().remove("NeedsSave");
        let mut state = UserInfo::new();
        let function = self.0.on_will_save.borrow().clone();
        if let Some(Err(why)) = function.map(|function| function(self, &mut state)) {
            let message = format!("on_will_save has failed: {}", why);
            // It is printed in any case, here if it is not when it is told.
            if self.0.on_failure.borrow().is_some() || !self.is_valid() {
                warn(&self.0.activity_type, &message);
            }
            return Err(Error::new("ApplicationFailed", message));
        }
        if !self.is_valid() {
            return Err(Error::of_bus("UnknownObject", "The activity has ended."));
        }
        let state = Value::Dictionary(state);
        if let Some(error) = problem(PROPERTIES, "UserInfo", &state) {
            return Err(error);
        }
        if state.as_dictionary().map_or(false, |state| !state.is_empty()) {
            self.set("UserInfo", state);
        }
        let changes = self.taken(self.0.changed.take());
        self.confirm(changes.clone());
        Ok(changes)
    }
}

// The application

#[derive(Default)]
struct Application {
    me: Weak<Application>,
    id: String,
    types: Vec<String>,
    options: RefCell<UserInfo>,
    on_continue: Slot<dyn Fn(&UserActivity, &Device) -> Outcome<bool>>,
    on_will_continue: Slot<dyn Fn(&str, &Device) -> bool>,
    on_failure: Slot<dyn Fn(&str, &Error)>,
    registration_error: RefCell<Option<Error>>,
    has_started: Cell<bool>,
    is_flushing: Cell<bool>,
    connection: RefCell<Option<Rc<Connection>>>,
    /// The broker's unique name, and whether it knows the application.
    owner: RefCell<String>,
    is_registered: Cell<bool>,
    activities: RefCell<Vec<UserActivity>>,
    /// The one that is current or is to be, and the one of which the broker has yet to hear that.
    current: RefCell<Option<UserActivity>>,
    becoming: RefCell<Option<UserActivity>>,
    /// From continuation to type: what was announced and has not come.
    announced: RefCell<BTreeMap<String, String>>,
}

/// The ids of the applications of this process that have started.
static STARTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// This application, as Handoff knows it, which has to be kept: it stops when the last clone of it is dropped. A process may
/// have several, each with an id of its own.
#[derive(Clone)]
pub struct HandoffApplication(Rc<Application>);

impl HandoffApplication {
    /// The id is the name of the desktop entry without .desktop, and what that declares counts too.
    pub fn new(id: &str, activity_types: &[&str]) -> HandoffApplication {
        HandoffApplication(Rc::new_cyclic(|me| {
            let mut made = Application::default();
            made.me = me.clone();
            made.id = id.to_owned();
            made.types = activity_types.iter().map(|&one| one.to_owned()).collect();
            made
        }))
    }

    /// Declares something else before the start: Team (`&str`), DocumentTypes (`BTreeMap<String, String>`), Domains
    /// (`Vec<String>`), Receives, Adapter (`bool`). Another name, or another type, is printed, and left out.
    pub fn declare(&self, option: &str, value: impl Into<Value>) {
        let value = value.into();
        match problem(OPTIONS, option, &value) {
            Some(error) => warn(&self.0.id, &error.message),
            None => self.0.options.borrow_mut().set(option, value),
        }
    }

    /// Continue this; whether it was handled. What it fails with is shown to the user.
    pub fn on_continue(&self, function: impl Fn(&UserActivity, &Device) -> Outcome<bool> + 'static) {
        self.0.on_continue.replace(Some(Rc::new(function)));
    }

    /// Something of this type is coming; whether the application shows that.
    pub fn on_will_continue(&self, function: impl Fn(&str, &Device) -> bool + 'static) {
        self.0.on_will_continue.replace(Some(Rc::new(function)));
    }

    /// What was coming, of this type, does not come.
    pub fn on_failure(&self, function: impl Fn(&str, &Error) + 'static) {
        self.0.on_failure.replace(Some(Rc::new(function)));
    }

    /// Registers from now on, again with each new broker. If another application of this process with this id has started and
    /// not stopped, it prints that and does nothing.
    pub fn start(&self) {
        self.0.start();
    }

    /// Takes the registration and all activities back.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Whether there is a broker, and it knows the application.
    pub fn is_available(&self) -> bool {
        self.0.is_registered.get()
    }

    /// Why the broker, or the start, has refused the application. It was printed.
    pub fn registration_error(&self) -> Option<Error> {
        self.0.registration_error.borrow().clone()
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Application {
    fn start(&self) {
        if self.has_started.get() {
            return;
        }
        {
            let mut started = STARTED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if started.contains(&self.id) {
                let message = "Another HandoffApplication of this process has this id. Use that one, or stop it first.";
                warn(&self.id, message);
                *self.registration_error.borrow_mut() = Some(Error::of_bus("InvalidArgs", message));
                return;
            }
            started.push(self.id.clone());
        }
        self.registration_error.take();
        self.has_started.set(true);
        // One on which the application has yet to be taken back is used again: the broker hears of both in their order.
        let former = self.connection.take();
        let opened = former.or_else(|| with_loop(|served| Connection::open(&self.me, served)).flatten());
        *self.connection.borrow_mut() = opened.clone();
        if let Some(connection) = opened {
            connection.last.set(None);
            let then: Then = Box::new(|application, reply| application.found(reply));
            connection.ask(BUS, "/org/freedesktop/DBus", BUS, "GetNameOwner", &[BROKER.into()], Some((false, then)));
        }
    }

    fn stop(&self) {
        if !self.has_started.replace(false) {
            self.current.take();
            drop(self.activities.take());
            return;
        }
        STARTED.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).retain(|id| *id != self.id);
        let owner = self.owner.take();
        let unheard = self.leave_broker();
        let activities = self.activities.take();
        self.current.take();
        let connection = self.connection.borrow().clone();
        if let Some(connection) = connection {
            // Also if the registration was not answered yet: calls of one connection take effect in their order. The connection
            // ends with the answer.
            let manager = format!("{}.Manager", BROKER);
            connection.last.set(connection.ask(&owner, ROOT, &manager, "UnregisterApplication", &[], None));
            if connection.last.get().is_none() {
                connection.end();
            }
        }
        self.tell_of_end(unheard);
        drop(activities);
    }

    fn lost_bus(&self, connection: &Connection) {
        let is_ours = self.connection.borrow().as_ref().map_or(false, |ours| std::ptr::eq(&**ours, connection));
        if is_ours {
            self.owner.take();
            if with_loop(|served| served.is_out_of_descriptors()) == Some(true) {
                warn(&self.id, NO_DESCRIPTOR);
            }
            let unheard = self.leave_broker();
            self.connection.take();
            self.tell_of_end(unheard);
        }
    }

    // Calls to the broker

    /// Calls the broker of the moment. If that ends before it answers, `then` is not called, unless it is to hear of that.
    fn ask_to_the_end(
        &self, path: &str, interface: &str, method: &str, arguments: &[Value], hears_of_end: bool,
        then: impl FnOnce(&Application, Reply) + 'static,
    ) {
        let owner = self.owner.borrow().clone();
        let connection = self.connection.borrow().clone();
        if let (Some(connection), false) = (connection, owner.is_empty()) {
            let interface = format!("{}.{}", BROKER, interface);
            connection.ask(&owner, path, &interface, method, arguments, Some((hears_of_end, Box::new(then))));
        }
    }

    fn ask(
        &self, path: &str, interface: &str, method: &str, arguments: &[Value], then: impl FnOnce(&Application, Reply) + 'static,
    ) {
        self.ask_to_the_end(path, interface, method, arguments, false, then);
    }

    /// The same of an object that need not be there, and whatever the answer is.
    fn tell(&self, path: &str, interface: &str, method: &str) {
        if !path.is_empty() {
            self.ask(path, interface, method, &[], |_, _| {});
        }
    }

    // Brokers

    fn found(&self, reply: Reply) {
        if !self.has_started.get() || !self.owner.borrow().is_empty() {
            return;
        }
        let owner = reply.ok().map(|message| arguments(&message));
        let connection = self.connection.borrow().clone();
        match (owner.as_deref(), connection) {
            (Some([Value::Text(owner)]), _) => self.appeared(owner),
            // Once: if the user ends it later, it is not started again.
            (None, Some(connection)) => connection.tell_bus("StartServiceByName", &[BROKER.into(), Value::Uint32(0)]),
            _ => {}
        }
    }

    fn appeared(&self, owner: &str) {
        *self.owner.borrow_mut() = owner.to_owned();
        let (id, types) = (self.id.as_str().into(), self.types.clone().into());
        let described = [id, types, Value::Path(CLIENT.to_owned()), self.options.borrow().clone().into()];
        self.ask(ROOT, "Manager", "RegisterApplication", &described, |application, reply| {
            let error = reply.err();
            if let Some(error) = &error {
                warn(&application.id, &error.message);
            }
            application.is_registered.set(error.is_none());
            *application.registration_error.borrow_mut() = error;
            application.flush();
        });
    }

    /// What the broker had of this application is worth nothing from now on. Returns what it was asked and has announced: who is
    /// told of that may stop the application, or start it, so that comes last.
    fn leave_broker(&self) -> (Vec<Pending>, BTreeMap<String, String>) {
        self.is_registered.set(false);
        self.becoming.take();
        self.activities.borrow().iter().for_each(UserActivity::forget_broker);
        let mut ended = Vec::new();
        let connection = self.connection.borrow().clone();
        if let Some(connection) = connection {
            let (kept, taken) = connection.pending.take().into_iter().partition(|(_, one)| one.to == BUS);
            connection.pending.replace(kept);
            let taken: HashMap<u32, Pending> = taken;
            ended.extend(taken.into_values().filter(|one| one.hears_of_end));
        }
        (ended, self.announced.take())
    }

    fn tell_of_end(&self, (ended, announced): (Vec<Pending>, BTreeMap<String, String>)) {
        ended.into_iter().for_each(|one| (one.then)(self, Err(Error::broker_ended())));
        announced.values().for_each(|activity_type| self.failed(activity_type, &Error::broker_ended()));
    }

    fn failed(&self, activity_type: &str, error: &Error) {
        let function = self.on_failure.borrow().clone();
        match function {
            Some(function) => function(activity_type, error),
            None => warn(activity_type, &error.message),
        }
    }

    /// What the bus, and the broker, say to all. Anybody can send a signal.
    fn signalled(&self, sender: &str, message: &Message) {
        if !self.has_started.get() {
            return;
        }
        let (interface, member, path) = described(message);
        let is_of_broker = sender == *self.owner.borrow() && !sender.is_empty();
        match (interface.as_str(), member.as_str()) {
            (BUS, "NameOwnerChanged") if sender == BUS => {
                if let [Value::Text(name), Value::Text(former), Value::Text(owner)] = arguments(message).as_slice() {
                    if name == BROKER {
                        self.owner_changed(former, owner);
                    }
                }
            }
            ("org.example.Handoff.Manager", "RegistrationEnded") if is_of_broker && self.is_registered.get() => {
                let unheard = self.leave_broker();
                self.appeared(sender);
                self.tell_of_end(unheard);
            }
            (BUS_PROPERTIES, "PropertiesChanged") if is_of_broker => {
                if let [Value::Text(of), Value::Dictionary(changed), ..] = arguments(message).as_slice() {
                    if of == "org.example.Handoff.Activity" {
                        self.find(&path).iter().for_each(|activity| self.properties_changed(activity, changed));
                    }
                }
            }
            _ => {}
        }
    }

    fn owner_changed(&self, former: &str, owner: &str) {
        let is_ours = !former.is_empty() && former == *self.owner.borrow();
        let unheard = is_ours.then(|| {
            self.owner.take();
            self.leave_broker()
        });
        if !owner.is_empty() && owner != *self.owner.borrow() {
            self.appeared(owner);
        }
        unheard.into_iter().for_each(|unheard| self.tell_of_end(unheard));
    }

    fn properties_changed(&self, activity: &UserActivity, changed: &UserInfo) {
        if let Some(is_current) = changed.flag("Current") {
            activity.0.is_current.set(is_current);
            // What the broker said before it heard of the latest wish is older than that.
            if self.becoming.borrow().is_none() && activity.0.ending.get() == 0 {
                if is_current {
                    self.current.replace(Some(activity.clone()));
                } else {
                    forget(&self.current, activity);
                }
            }
        }
        if let Some(needs_save) = changed.flag("NeedsSave") {
            if !activity.0.is_updating.get() && !activity.0.changed.borrow().contains("NeedsSave") {
                activity.0.properties.borrow_mut().set("NeedsSave", needs_save);
            }
        }
    }

    // Activities at the broker of the moment

    fn flush_soon(&self) {
        if !self.is_flushing.replace(true) {
            let me = self.me.clone();
            soon(move || {
                if let Some(application) = me.upgrade() {
                    application.is_flushing.set(false);
                    application.flush();
                }
            });
        }
    }

    fn flush(&self) {
        // What is called here may end activities.
        let activities = self.activities.borrow().clone();
        for activity in activities {
            if self.is_registered.get() && self.activities.borrow().contains(&activity) {
                activity.flush(self);
            }
        }
    }

    fn keep_open(&self, activity: &UserActivity) {
        // The last one is the one that was used last, for the next broker too.
        self.activities.borrow_mut().retain(|other| other != activity);
        self.activities.borrow_mut().push(activity.clone());
        activity.0.is_refused.set(false);
        activity.0.is_open.set(true);
        if self.is_registered.get() {
            activity.flush(self);
        }
    }

    fn become_current(&self, activity: &UserActivity) {
        self.current.replace(Some(activity.clone()));
        self.becoming.replace(Some(activity.clone()));
        self.keep_open(activity);
        self.say_current(activity);
    }

    fn say_open(&self, activity: &UserActivity) {
        let path = activity.path();
        if path.is_empty() {
            return;
        }
        let activity = activity.clone();
        self.ask(&path, "Activity", "BecomeOpen", &[], move |_, reply| {
            if let Err(error) = reply {
                activity.0.is_open.set(false);
                activity.fail(&error);
            }
        });
    }

    fn say_current(&self, activity: &UserActivity) {
        let path = activity.path();
        if path.is_empty() {
            return;
        }
        self.becoming.replace(Some(activity.clone()));
        let activity = activity.clone();
        self.ask(&path, "Activity", "BecomeCurrent", &[], move |application, reply| {
            forget(&application.becoming, &activity);
            if let Err(error) = reply {
                forget(&application.current, &activity);
                activity.0.is_open.set(false);
                activity.fail(&error);
            }
        });
    }

    fn forget_current(&self, activity: &UserActivity) {
        forget(&self.current, activity);
        forget(&self.becoming, activity);
    }

    fn create(&self, activity: &UserActivity) {
        let is_hopeless = activity.0.is_refused.get() && activity.0.changed.borrow().is_empty();
        if activity.0.is_creating.get() || is_hopeless {
            return;
        }
        activity.0.is_creating.set(true);
        activity.0.is_refused.set(false);
        activity.0.changed.take();
        let sent = activity.0.properties.borrow().clone();
        let arguments = [activity.activity_type().into(), sent.clone().into()];
        let activity = activity.clone();
        self.ask(ROOT, "Manager", "CreateActivity", &arguments, move |application, reply| {
            application.created(&activity, sent, reply)
        });
    }

    fn created(&self, activity: &UserActivity, sent: UserInfo, reply: Reply) {
        activity.0.is_creating.set(false);
        let answer = match reply {
            Ok(message) => arguments(&message),
            Err(error) => {
                activity.0.is_refused.set(true);
                forget(&self.becoming, activity);
                activity.fail(&error);
                return self.flush();
            }
        };
        let path = match answer.as_slice() {
            [Value::Path(path)] => path,
            _ => return,
        };
        if !activity.is_valid() {
            return self.tell(path, "Activity", "Invalidate");
        }
        activity.0.path.replace(path.clone());
        activity.confirm(sent);
        activity.flush(self);
        // Only what was current, or was to be: another application may have what is now.
        let is_current = self.current.borrow().as_ref() == Some(activity);
        if is_current {
            self.say_current(activity);
        } else if activity.0.is_open.get() {
            self.say_open(activity);
        }
    }

    fn find(&self, path: &str) -> Option<UserActivity> {
        self.activities.borrow().iter().find(|activity| !path.is_empty() && *activity.0.path.borrow() == path).cloned()
    }

    // Calls of the broker

    /// The answer to a call; None to what nobody here knows.
    fn called(&self, sender: &str, message: &Message) -> Option<Message> {
        let (interface, member, path) = described(message);
        let methods: &[&str] = match interface.as_str() {
            "org.example.Handoff.Application" => &["WillContinueActivity", "ContinueActivity", "DidFailToContinueActivity"],
            "org.example.Handoff.ActivityDelegate" => &["WillSave", "WasContinued", "DidReceiveStream"],
            _ => &[],
        };
        if path != CLIENT || !methods.contains(&member.as_str()) {
            return None;
        }
        let answer = if sender.is_empty() || sender != *self.owner.borrow() {
            Err(Error::of_bus("AccessDenied", format!("Only the owner of {} may call this.", BROKER)))
        } else {
            self.answer(&member, message)
        };
        match answer {
            Ok(values) => {
                let mut reply = message.method_return();
                append_all(&mut reply, &values);
                Some(reply)
            }
            Err(error) => {
                let text = CString::new(error.message.replace('\0', " ")).unwrap_or_default();
                ErrorName::new(error.name).ok().map(|name| message.error(&name, &text))
            }
        }
    }

    fn answer(&self, member: &str, message: &Message) -> Result<Vec<Value>, Error> {
        match (member, arguments(message).as_slice()) {
            ("WillContinueActivity", [Value::Text(activity_type), Value::Dictionary(context)]) => {
                self.announced.borrow_mut().insert(context.continuation(), activity_type.clone());
                let function = self.on_will_continue.borrow().clone();
                let shows = function.map_or(false, |function| function(activity_type, &Device::of(context)));
                Ok(vec![shows.into()])
            }
            ("ContinueActivity", [Value::Dictionary(properties), Value::Dictionary(context)]) => {
                self.announced.borrow_mut().remove(&context.continuation());
                self.received(properties, context)
            }
            ("DidFailToContinueActivity", [Value::Text(activity_type), Value::Text(name), Value::Text(message)]) => {
                let mut announced = self.announced.borrow_mut();
                let path = announced.iter().find(|(_, one)| *one == activity_type).map(|(path, _)| path.clone());
                path.and_then(|path| announced.remove(&path));
                drop(announced);
                self.failed(activity_type, &Error { name: name.clone(), message: message.clone() });
                Ok(vec![])
            }
            ("WillSave", [Value::Path(path)]) => {
                let activity = self.known(path)?;
                let saved = activity.save();
                if let Err(error) = saved.clone() {
                    // Once the broker has its answer.
                    soon(move || activity.fail(&error));
                }
                saved.map(|changes| vec![changes.into()])
            }
            ("WasContinued", [Value::Path(path), Value::Dictionary(context)]) => {
                let activity = self.known(path)?;
                let function = activity.0.on_was_continued.borrow().clone();
                function.iter().for_each(|function| function(&activity, &Device::of(context)));
                Ok(vec![])
            }
            ("DidReceiveStream", [Value::Path(path)]) => {
                let activity = self.known(path)?;
                let function = activity.0.on_stream.borrow().clone();
                let function = function.ok_or_else(|| Error::of_bus("UnknownMethod", "This activity takes no streams."))?;
                let stream = stream_in(message, 1).map_err(|reason| Error::of_bus("InvalidArgs", reason))?;
                function(&activity, stream);
                Ok(vec![])
            }
            _ => Err(Error::of_bus("InvalidArgs", format!("{} takes other arguments.", member))),
        }
    }

    fn known(&self, path: &str) -> Result<UserActivity, Error> {
        let unknown = || Error::of_bus("UnknownObject", "This is not an activity of the application, or no longer.");
        self.find(path).ok_or_else(unknown)
    }

    /// An activity that another device has sent.
    fn received(&self, properties: &UserInfo, context: &UserInfo) -> Result<Vec<Value>, Error> {
        let function = self.on_continue.borrow().clone();
        let function = function.ok_or_else(|| Error::of_bus("UnknownMethod", "This application continues nothing."))?;
        let device = Device::of(context);
        let activity = UserActivity::made(self, &properties.string("ActivityType"), context, Some(device.clone()));
        for (name, of) in PROPERTIES {
            if let Some(value) = properties.get(*name).filter(|value| value.signature() == *of) {
                activity.0.properties.borrow_mut().set(name, value.clone());
            }
        }
        if properties.flag("SupportsContinuationStreams") == Some(true) {
            activity.0.continuation.replace(context.continuation());
        }
        match function(&activity, &device) {
            Ok(is_handled) => Ok(vec![is_handled.into()]),
            Err(why) => {
                warn(activity.activity_type(), &format!("on_continue has failed: {}", why));
                Err(Error::new("ApplicationFailed", why.to_string()))
            }
        }
    }
}

fn forget(slot: &RefCell<Option<UserActivity>>, activity: &UserActivity) {
    let is_it = slot.borrow().as_ref() == Some(activity);
    if is_it {
        slot.take();
    }
}

/// The interface, member and object of a message.
fn described(message: &Message) -> (String, String, String) {
    (
        message.interface().map(|name| name.to_string()).unwrap_or_default(),
        message.member().map(|name| name.to_string()).unwrap_or_default(),
        message.path().map(|path| path.to_string()).unwrap_or_default(),
    )
}
