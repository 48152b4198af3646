/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <gio/gio.h>
#include <locale.h>

/* What is used of GTK 4.8 and libadwaita 1.2. Their own headers are reached only by way of their files for pkg-config, because
   of which SwiftPM would warn about -pthread and -msse on every build. Since no type is complete here, Swift sees one kind of
   pointer for all of them. "meson-helpers/test" compares this with those headers. */

typedef struct _GtkApplication GtkApplication;
typedef struct _GtkBuilder GtkBuilder;
typedef struct _GtkEditable GtkEditable;
typedef struct _GtkFlowBox GtkFlowBox;
typedef struct _GtkListBox GtkListBox;
typedef struct _GtkListBoxRow GtkListBoxRow;
typedef struct _GtkListItem GtkListItem;
typedef struct _GtkListItemFactory GtkListItemFactory;
typedef struct _GtkSingleSelection GtkSingleSelection;
typedef struct _GtkStringList GtkStringList;
typedef struct _GtkStringObject GtkStringObject;
typedef struct _GtkText GtkText;
typedef struct _GtkTextBuffer GtkTextBuffer;
typedef struct _GtkWidget GtkWidget;
typedef struct _GtkWindow GtkWindow;
typedef struct _AdwApplication AdwApplication;
typedef struct _AdwMessageDialog AdwMessageDialog;
typedef struct _AdwToast AdwToast;
typedef struct _AdwToastOverlay AdwToastOverlay;
typedef struct _GdkClipboard GdkClipboard;

/* Windows and the application. */

AdwApplication *adw_application_new(const char *application_id, GApplicationFlags flags);
void gtk_application_set_accels_for_action(
    GtkApplication *application, const char *detailed_action_name, const char *const *accels);
void gtk_window_set_transient_for(GtkWindow *window, GtkWindow *parent);
void gtk_window_set_application(GtkWindow *window, GtkApplication *application);
void gtk_window_present(GtkWindow *window);
void gtk_window_destroy(GtkWindow *window);
void gtk_window_close(GtkWindow *window);
GtkWidget *gtk_window_get_focus(GtkWindow *window);
void gtk_window_set_focus(GtkWindow *window, GtkWidget *focus);
void gtk_window_set_startup_id(GtkWindow *window, const char *startup_id);
void gtk_window_set_default_icon_name(const char *name);

/* Templates. */

GtkBuilder *gtk_builder_new(void);
gboolean gtk_builder_add_from_string(GtkBuilder *builder, const char *buffer, gssize length, GError **error);
GObject *gtk_builder_get_object(GtkBuilder *builder, const char *name);

/* Widgets. */

gboolean gtk_widget_grab_focus(GtkWidget *widget);
GtkWidget *gtk_widget_get_first_child(GtkWidget *widget);
void gtk_flow_box_append(GtkFlowBox *self, GtkWidget *child);
void gtk_flow_box_remove(GtkFlowBox *box, GtkWidget *widget);
gboolean gtk_widget_is_ancestor(GtkWidget *widget, GtkWidget *ancestor);
void gtk_widget_queue_resize(GtkWidget *widget);
void gtk_widget_insert_action_group(GtkWidget *widget, const char *name, GActionGroup *group);
GdkClipboard *gtk_widget_get_clipboard(GtkWidget *widget);
void gdk_clipboard_set_text(GdkClipboard *clipboard, const char *text);

/* How widgets look. */

typedef struct _GtkCssProvider GtkCssProvider;
typedef struct _GtkStyleProvider GtkStyleProvider;
typedef struct _GdkDisplay GdkDisplay;
GdkDisplay *gdk_display_get_default(void);
GtkCssProvider *gtk_css_provider_new(void);
void gtk_css_provider_load_from_data(GtkCssProvider *css_provider, const char *data, gssize length);
void gtk_style_context_add_provider_for_display(
    GdkDisplay *display, GtkStyleProvider *provider, guint priority);

/* Text. */

GtkEditable *gtk_editable_get_delegate(GtkEditable *editable);
void gtk_editable_set_position(GtkEditable *editable, int position);
int gtk_editable_get_position(GtkEditable *editable);
gboolean gtk_text_grab_focus_without_selecting(GtkText *self);

/* The text of a view. An iterator is made on the stack, where there is more room than GtkTextIter needs, and is
   protected against writing past it, as what is inlined into Swift is not. */

typedef struct _GtkTextIter GtkTextIter;
#define HANDOFF_TEXT_ITERATOR_ROOM 128
void gtk_text_buffer_get_iter_at_offset(GtkTextBuffer *buffer, GtkTextIter *iter, int char_offset);
void gtk_text_buffer_place_cursor(GtkTextBuffer *buffer, const GtkTextIter *where);

static __attribute__((noinline)) void handoff_place_cursor(GtkTextBuffer *buffer, int offset)
{
    guint64 room[HANDOFF_TEXT_ITERATOR_ROOM / sizeof(guint64)];

    gtk_text_buffer_get_iter_at_offset(buffer, (GtkTextIter *)room, offset);
    gtk_text_buffer_place_cursor(buffer, (const GtkTextIter *)room);
}

/* Lists. */

GtkStringList *gtk_string_list_new(const char *const *strings);
void gtk_string_list_splice(
    GtkStringList *self, guint position, guint n_removals, const char *const *additions);
const char *gtk_string_object_get_string(GtkStringObject *self);
GtkListItemFactory *gtk_signal_list_item_factory_new(void);
gpointer gtk_list_item_get_item(GtkListItem *self);
void gtk_list_item_set_child(GtkListItem *self, GtkWidget *child);
guint gtk_single_selection_get_selected(GtkSingleSelection *self);
void gtk_single_selection_set_selected(GtkSingleSelection *self, guint position);

/* Lists of rows. */

void gtk_list_box_insert(GtkListBox *box, GtkWidget *child, int position);
void gtk_list_box_remove(GtkListBox *box, GtkWidget *child);
GtkListBoxRow *gtk_list_box_get_row_at_index(GtkListBox *box, int index);

typedef struct _AdwActionRow AdwActionRow;
typedef struct _AdwExpanderRow AdwExpanderRow;
typedef struct _AdwPreferencesGroup AdwPreferencesGroup;
GtkWidget *adw_action_row_new(void);
void adw_expander_row_add_row(AdwExpanderRow *self, GtkWidget *child);
void adw_expander_row_remove(AdwExpanderRow *self, GtkWidget *child);
void adw_preferences_group_add(AdwPreferencesGroup *self, GtkWidget *child);

/* What assistive technology is told. */

typedef struct _GtkAccessible GtkAccessible;
#define HANDOFF_ACCESSIBLE_PROPERTY_DESCRIPTION 1u
#define HANDOFF_ACCESSIBLE_PROPERTY_LABEL 4u
#define HANDOFF_ACCESSIBLE_RELATION_LABELLED_BY 10u
void gtk_accessible_reset_relation(GtkAccessible *self, guint relation);
void gtk_accessible_update_property(GtkAccessible *self, guint first_property, ...);

static inline void handoff_set_accessible_label(GtkAccessible *accessible, const char *label)
{
    gtk_accessible_reset_relation(accessible, HANDOFF_ACCESSIBLE_RELATION_LABELLED_BY);
    gtk_accessible_update_property(accessible, HANDOFF_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

static inline void handoff_set_accessible_description(GtkAccessible *accessible, const char *description)
{
    gtk_accessible_update_property(accessible, HANDOFF_ACCESSIBLE_PROPERTY_DESCRIPTION, description, -1);
}

/* A button whose label has a mnemonic is labelled by it as well as by the name that its template gives it, because GTK would
   say the underscore too. GTK 4.8 says both, one after the other: here the name alone counts. A button that gets its label
   later is named then. */

typedef struct _GtkButton GtkButton;
GType gtk_button_get_type(void);
const char *gtk_button_get_label(GtkButton *button);
gboolean gtk_button_get_use_underline(GtkButton *button);
GSList *gtk_builder_get_objects(GtkBuilder *builder);

static inline void handoff_say_names_once(GtkBuilder *builder)
{
    GSList *objects = gtk_builder_get_objects(builder);

    for (GSList *next = objects; next != NULL; next = next->next)
        if (g_type_check_instance_is_a((GTypeInstance *)next->data, gtk_button_get_type()) &&
            gtk_button_get_use_underline((GtkButton *)next->data) && gtk_button_get_label((GtkButton *)next->data) != NULL)
            gtk_accessible_reset_relation((GtkAccessible *)next->data, HANDOFF_ACCESSIBLE_RELATION_LABELLED_BY);
    g_slist_free(objects);
}

/* Pictures of applications. */

typedef struct _GtkImage GtkImage;
void gtk_image_set_from_gicon(GtkImage *image, GIcon *icon);
void gtk_image_set_from_icon_name(GtkImage *image, const char *icon_name);

typedef struct _GtkProgressBar GtkProgressBar;
void gtk_progress_bar_pulse(GtkProgressBar *pbar);

/* Looks of our own. */

typedef struct _GdkDisplay GdkDisplay;
GdkDisplay *gdk_display_get_default(void);
typedef struct _GtkCssProvider GtkCssProvider;
typedef struct _GtkStyleProvider GtkStyleProvider;
GtkCssProvider *gtk_css_provider_new(void);
void gtk_css_provider_load_from_data(GtkCssProvider *provider, const char *data, gssize length);
void gtk_style_context_add_provider_for_display(GdkDisplay *display, GtkStyleProvider *provider, guint priority);

/* Starting programs with the right to come to the front. */

typedef struct _GdkAppLaunchContext GdkAppLaunchContext;
GdkDisplay *gtk_widget_get_display(GtkWidget *widget);
GdkAppLaunchContext *gdk_display_get_app_launch_context(GdkDisplay *display);

/* Choosing files. */

typedef struct _GtkFileChooser GtkFileChooser;
typedef struct _GtkFileChooserNative GtkFileChooserNative;
typedef struct _GtkNativeDialog GtkNativeDialog;
GtkFileChooserNative *gtk_file_chooser_native_new(
    const char *title, GtkWindow *parent, guint action, const char *accept_label, const char *cancel_label);
GFile *gtk_file_chooser_get_file(GtkFileChooser *chooser);
void gtk_native_dialog_show(GtkNativeDialog *self);
void gtk_native_dialog_set_modal(GtkNativeDialog *self, gboolean modal);

/* Dialogs and toasts. */

GtkWidget *adw_about_window_new(void);
GtkWidget *adw_message_dialog_new(GtkWindow *parent, const char *heading, const char *body);
void adw_message_dialog_add_response(AdwMessageDialog *self, const char *id, const char *label);
void adw_message_dialog_set_response_appearance(
    AdwMessageDialog *self, const char *response, guint appearance);
void adw_message_dialog_set_default_response(AdwMessageDialog *self, const char *response);
void adw_message_dialog_set_close_response(AdwMessageDialog *self, const char *response);
AdwToast *adw_toast_new(const char *title);
void adw_toast_overlay_add_toast(AdwToastOverlay *self, AdwToast *toast);
