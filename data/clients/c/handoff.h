/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Handoff for applications in C, on GDBus. Copy this file and handoff.c beside your own; they need gio-unix-2.0.
 *
 *   const char *types[] = { "org.example.notes.edit", NULL };
 *   HandoffApplication *notes = handoff_application_new ("org.example.Notes", types);
 *   handoff_application_on_continue (notes, show_note, window, NULL);
 *   handoff_application_start (notes);
 *
 *   HandoffUserActivity *editing = handoff_user_activity_new (notes, "org.example.notes.edit", "Shopping");
 *   handoff_user_activity_on_will_save (editing, save_note, window, NULL);
 *   handoff_user_activity_become_current (editing);
 *   handoff_user_activity_set_needs_save (editing, TRUE);    // whenever the note has changed
 *
 * Nothing here waits. Brokers may come and go; without one, everything is accepted and does nothing. All of it belongs to
 * the thread that runs GLib's default main context. A GVariant that is given is taken if it is floating.
 *
 * What is refused, and what your functions fail with, is printed as a warning of the log domain Handoff, unless there is a
 * function for failures. The end of the session bus does not end the application.
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/** The type of an activity that is nothing but a web page. */
#define HANDOFF_BROWSING_WEB "org.example.Handoff.BrowsingWeb"

/** The other device of a continuation. Its name was chosen by its user: it is plain text. */
typedef struct {
  const char *id;
  const char *name;
} HandoffDevice;

#define HANDOFF_TYPE_APPLICATION (handoff_application_get_type ())
G_DECLARE_FINAL_TYPE (HandoffApplication, handoff_application, HANDOFF, APPLICATION, GObject)
#define HANDOFF_TYPE_USER_ACTIVITY (handoff_user_activity_get_type ())
G_DECLARE_FINAL_TYPE (HandoffUserActivity, handoff_user_activity, HANDOFF, USER_ACTIVITY, GObject)

/** Continue this; take a reference to keep it. Returns whether it was handled; an error is shown to the user. */
typedef gboolean (*HandoffContinueFunc) (HandoffUserActivity *activity, const HandoffDevice *device, gpointer data,
                                         GError **error);
/** Something is coming. Returns whether the application shows that. */
typedef gboolean (*HandoffWillContinueFunc) (const char *activity_type, const HandoffDevice *device, gpointer data);
/** What was coming does not come. */
typedef void (*HandoffApplicationFailureFunc) (const char *activity_type, const char *error_name, const char *message,
                                               gpointer data);
/**
 * The state is needed: what is put into `user_info` is the whole new state. If that is nothing, or an error is set, or it is
 * refused, the former stays. It has two seconds.
 */
typedef void (*HandoffWillSaveFunc) (HandoffUserActivity *activity, GVariantDict *user_info, gpointer data, GError **error);
/** It is continued there, and otherwise left as it is: resign or invalidate it, if that fits. */
typedef void (*HandoffWasContinuedFunc) (HandoffUserActivity *activity, const HandoffDevice *device, gpointer data);
/** The continuing application has opened a stream, a connected stream socket, which is to be closed by whoever is called. */
typedef void (*HandoffStreamFunc) (HandoffUserActivity *activity, int stream, gpointer data);
/** Something was refused, or a save has failed; what was set has its former value again. */
typedef void (*HandoffFailureFunc) (HandoffUserActivity *activity, const char *error_name, const char *message, gpointer data);
/** A stream was opened, to be closed by whoever is called; or it was not: then `stream` is -1. */
typedef void (*HandoffOpenedFunc) (HandoffUserActivity *activity, int stream, const char *error_name, const char *message,
                                   gpointer data);

/** This application: the id is the name of the desktop entry without .desktop, and what that declares counts too. */
HandoffApplication *handoff_application_new (const char *id, const char *const *activity_types);
/**
 * Declares something else before the start: Team (s), DocumentTypes (a{ss}), Domains (as), Receives, Adapter (b). Another name,
 * or another type, is warned of, and left out.
 */
void handoff_application_declare (HandoffApplication *application, const char *option, GVariant *value);
/** Sets what is called, before the start. */
void handoff_application_on_continue (HandoffApplication *application, HandoffContinueFunc function, gpointer data,
                                      GDestroyNotify destroy);
void handoff_application_on_will_continue (HandoffApplication *application, HandoffWillContinueFunc function, gpointer data,
                                           GDestroyNotify destroy);
void handoff_application_on_failure (HandoffApplication *application, HandoffApplicationFailureFunc function, gpointer data,
                                     GDestroyNotify destroy);
/**
 * Registers from now on, again with each new broker. There may be several applications in a process, each with an id of its
 * own: if another one with this id has started and not stopped, there is a warning, and nothing happens.
 */
void handoff_application_start (HandoffApplication *application);
/** Takes the registration and all activities back. */
void handoff_application_stop (HandoffApplication *application);
/** Whether there is a broker, and it knows the application. */
gboolean handoff_application_is_available (HandoffApplication *application);
/** Why the broker, or the start, has refused the application; NULL if it has not. It was printed as a warning. */
const char *handoff_application_get_registration_error (HandoffApplication *application);

/** What the user is doing, which can be continued on another device while it is current. */
HandoffUserActivity *handoff_user_activity_new (HandoffApplication *application, const char *activity_type,
                                                const char *title);
void handoff_user_activity_on_will_save (HandoffUserActivity *activity, HandoffWillSaveFunc function, gpointer data,
                                         GDestroyNotify destroy);
void handoff_user_activity_on_was_continued (HandoffUserActivity *activity, HandoffWasContinuedFunc function, gpointer data,
                                             GDestroyNotify destroy);
void handoff_user_activity_on_stream (HandoffUserActivity *activity, HandoffStreamFunc function, gpointer data,
                                      GDestroyNotify destroy);
void handoff_user_activity_on_failure (HandoffUserActivity *activity, HandoffFailureFunc function, gpointer data,
                                       GDestroyNotify destroy);

/**
 * Sets a property of org.example.Handoff.Activity by its name, with the type that it has there, and sends it together with
 * whatever else is set in this turn: WebpageURL, DocumentURL, ReferrerURL, TargetContentIdentifier, PersistentIdentifier (s),
 * Keywords, RequiredUserInfoKeys (as), ExpirationDate (x), EligibleForHandoff, EligibleForSearch,
 * SupportsContinuationStreams (b). Another name, or another type, is refused.
 */
void handoff_user_activity_set (HandoffUserActivity *activity, const char *name, GVariant *value);
/** A property by its name; NULL if it is not set. The activity keeps it. */
GVariant *handoff_user_activity_get (HandoffUserActivity *activity, const char *name);
void handoff_user_activity_set_title (HandoffUserActivity *activity, const char *title);
const char *handoff_user_activity_get_title (HandoffUserActivity *activity);
/** The state that the continuing application needs, an a{sv} of at most 128 KiB and 32 containers one in another. */
void handoff_user_activity_set_user_info (HandoffUserActivity *activity, GVariant *user_info);
GVariant *handoff_user_activity_get_user_info (HandoffUserActivity *activity);
/** Adds entries, which take the place of those with the same keys. */
void handoff_user_activity_add_user_info_entries (HandoffUserActivity *activity, GVariant *entries);
/** To be set whenever the user has changed something. A save clears it. */
void handoff_user_activity_set_needs_save (HandoffUserActivity *activity, gboolean needs_save);
gboolean handoff_user_activity_get_needs_save (HandoffUserActivity *activity);

/** Makes it the session's current activity, which can be continued elsewhere. The application keeps it until it ends. */
void handoff_user_activity_become_current (HandoffUserActivity *activity);
/**
 * It is open from now on, with the next broker too, without becoming current: whoever looks from another device at what is
 * open here finds it. Resigning closes it. The application keeps it until it ends.
 */
void handoff_user_activity_become_open (HandoffUserActivity *activity);
/** It is no longer current, as when another one becomes current, and stays open. */
void handoff_user_activity_leave_current (HandoffUserActivity *activity);
/** It is no longer current, and closed until it becomes current or open again. */
void handoff_user_activity_resign_current (HandoffUserActivity *activity);
/** Ends it everywhere; for what was continued here, its streams too. It can't be revived. */
void handoff_user_activity_invalidate (HandoffUserActivity *activity);
gboolean handoff_user_activity_is_current (HandoffUserActivity *activity);
gboolean handoff_user_activity_is_valid (HandoffUserActivity *activity);
const char *handoff_user_activity_get_activity_type (HandoffUserActivity *activity);
/** The token to raise a window with; empty if there is none. */
const char *handoff_user_activity_get_activation_token (HandoffUserActivity *activity);
/** Opens a stream to the application that this was continued from. */
void handoff_user_activity_continuation_stream (HandoffUserActivity *activity, HandoffOpenedFunc function, gpointer data,
                                                GDestroyNotify destroy);

G_END_DECLS
